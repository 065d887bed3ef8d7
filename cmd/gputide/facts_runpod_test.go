package main

import "fmt"

// runpodRecordings are the recorded answers of RunPod and what must come out.
// Figures: payloads/runpod/SOURCES.md of the shared recordings.
func runpodRecordings() []recording {
	const fields = "instance_type tier price"
	single := func(market string) []string {
		return []string{"query", "offers", "--provider", "runpod", "--market", market, "--count", "1", "--all"}
	}
	perGPU := []string{
		"AMD Instinct MI300X OAM×1 secure 2.39", "NVIDIA B200×1 secure 6.79", "NVIDIA B300 SXM6 AC×1 secure 7.89",
		"NVIDIA GeForce RTX 4090×1 secure 0.74", "NVIDIA H100 80GB HBM3×1 secure 3.29", "NVIDIA H200×1 secure 4.59",
		"NVIDIA L40S×1 secure 0.99",
		"NVIDIA A100-SXM4-40GB×1 community 1", "NVIDIA B200×1 community 5.98", "NVIDIA B300 SXM6 AC×1 community 6.94",
		"NVIDIA GeForce RTX 3070×1 community 0.13", "NVIDIA GeForce RTX 4090×1 community 0.34",
		"NVIDIA H100 80GB HBM3×1 community 2.69", "NVIDIA H200×1 community 3.59", "NVIDIA L40S×1 community 0.79",
	}
	return []recording{{
		name: "graphql_gputypes_datacenters_2026-08.json", provider: "runpod", at: "2026-08-22T00:00:00Z",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{{
					Source: "gpu-types", Method: "POST", URL: "https://api.runpod.io/graphql", BodyContains: "gpuTypes",
					Headers: map[string]string{"Content-Type": "application/json"}, File: "gpu-types.json",
				}},
				files: map[string][]byte{"gpu-types.json": body},
			}
		},
		facts: []claim{
			{"15 on-demand offers of one GPU, 7 secure and 8 community", single("on_demand"), has(fields, perGPU...)},
			{"15 spot twins of one GPU at the same prices", single("spot"), both(
				has(fields, perGPU...),
				flagged("spot_equals_on_demand"),
			)},
			{
				"114 on-demand offers over every count",
				[]string{"query", "offers", "--provider", "runpod", "--market", "on_demand", "--all"},
				count(114),
			},
			{
				"114 spot offers over every count",
				[]string{"query", "offers", "--provider", "runpod", "--market", "spot", "--all"},
				count(114),
			},
			{
				"no community MI300X",
				[]string{"query", "offers", "--provider", "runpod", "--gpu", "mi300x", "--tier", "community", "--all"},
				count(0),
			},
			{
				"eight H100 cost eight times one",
				[]string{"query", "offers", "--gpu", "h100-sxm-80gb", "--market", "on_demand", "--count", "8"},
				has("tier price published.amount published.basis accelerator.slug accelerator.count", []string{
					"secure 26.32 3.29 accelerator h100-sxm-80gb 8", "community 21.52 2.69 accelerator h100-sxm-80gb 8",
				}...),
			},
			{
				"memory and cards by name",
				[]string{"query", "types", "--provider", "runpod", "--count", "1"},
				has("instance_type accelerator.slug accelerator.memory_gb", []string{
					"AMD Instinct MI300X OAM×1 mi300x-192gb 192", "NVIDIA B200×1 b200-sxm-180gb 180",
					"NVIDIA B300 SXM6 AC×1 b300-sxm-288gb 288", "NVIDIA GeForce RTX 4090×1 rtx-4090-24gb 24",
					"NVIDIA H100 80GB HBM3×1 h100-sxm-80gb 80", "NVIDIA H200×1 h200-sxm-141gb 141", "NVIDIA L40S×1 l40s-48gb 48",
					"NVIDIA A100-SXM4-40GB×1 a100-sxm-40gb 40", "NVIDIA GeForce RTX 3070×1 rtx-3070-8gb 8",
				}...),
			},
			{
				"availability in five listed data centres: seven cards that can be had",
				[]string{"query", "signals", "--provider", "runpod", "--name", "availability"},
				both(stocked(
					"AP-IN-1 NVIDIA H100 80GB HBM3×1", "EU-NL-1 NVIDIA B300 SXM6 AC×1", "EUR-IS-1 NVIDIA B300 SXM6 AC×1",
					"US-WA-2 NVIDIA B300 SXM6 AC×1", "EU-RO-1 NVIDIA GeForce RTX 4090×1", "EUR-IS-1 NVIDIA GeForce RTX 4090×1",
					"EU-RO-1 NVIDIA B200×1",
				), unlisted("AP-IN-2", "CA-MTL-2", "US-TX-6")),
			},
		},
		edits: []mutation{
			{"one digit of a secure price", `"securePrice": 3.29`, `"securePrice": 3.28`},
			{"one digit of a community price", `"communityPrice": 0.13`, `"communityPrice": 0.14`},
			{"one digit of a spot price", `"secureSpotPrice": 0.74`, `"secureSpotPrice": 0.75`},
			{"one digit of a memory size", `"memoryInGb": 141`, `"memoryInGb": 80`},
			{"one digit of a count", `"maxGpuCount": 2`, `"maxGpuCount": 3`},
			{"a required field renamed", `"communityPrice"`, `"communityPrices"`},
			{"a flag renamed", `"secureCloud"`, `"secured"`},
			{"the stock of a data centre renamed", `"gpuAvailability"`, `"gpus"`},
			{"two columns swapped", `"securePrice": 6.79,
    "communityPrice": 5.98`, `"securePrice": 5.98,
    "communityPrice": 6.79`},
			{"a cloud flag flipped", `"communityCloud": false`, `"communityCloud": true`},
			{"an unlisted data centre listed", `"listed": false`, `"listed": true`},
		},
	}}
}

// flagged checks that every row carries a flag.
func flagged(flag string) func([]answerRow) error {
	return func(rows []answerRow) error {
		for _, r := range rows {
			if flags, ok := r["flags"].([]any); !ok || !contains(flags, flag) {
				return fmt.Errorf("%s %s: flags %v lack %s", r.text("instance_type"), r.text("tier"), r["flags"], flag)
			}
		}
		return nil
	}
}

// stocked checks which region and instance type pairs can be had.
func stocked(want ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		var there []answerRow
		for _, r := range rows {
			if r.text("region") != "<null>" && r.text("value") != "0" {
				there = append(there, r)
			}
		}
		return has("region instance_type", want...)(there)
	}
}

// unlisted checks that regions do not come out at all.
func unlisted(regions ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		for _, r := range rows {
			for _, region := range regions {
				if r.text("region") == region {
					return fmt.Errorf("region %s is in the answer", region)
				}
			}
		}
		return nil
	}
}

func contains(values []any, want string) bool {
	for _, v := range values {
		if v == want {
			return true
		}
	}
	return false
}
