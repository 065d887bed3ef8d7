package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
)

// gcpTypeFixture serves machine types beside the A2 rates.
func gcpTypeFixture(types []byte) fixture {
	f := gcpSKUs(gcpPage(gcpA2Rates()...))
	f.exchanges = append(f.exchanges, exchange{
		Source: "machine-types", URL: "https://compute.googleapis.com/compute/v1/projects/*/aggregated/machineTypes?maxResults=500", File: "types.json",
	})
	f.files["types.json"] = types
	return f
}

func gcpTypesAsked() []string { return []string{"query", "types", "--provider", "gcp"} }

func gcpTypes() []recording {
	return []recording{
		{
			name: "compute_machineTypes.aggregated.a2_t2d.assembled.json", provider: "gcp", at: "2025-01-01T00:00:00Z",
			wrapped: "SKUs of A2 in three regions", wrap: gcpTypeFixture,
			facts: []claim{
				{"what the API says of a machine type", []string{"query", "types", "--provider", "gcp", "--type", "a2-highgpu-1g"}, has(
					"vcpu memory_gib accelerator.raw accelerator.count accelerator.slug source", "12 85 nvidia-tesla-a100 1 a100-sxm-40gb machine-types",
				)},
				{"no card, no accelerated type", gcpTypesAsked(), withoutTypes("t2d-standard-8")},
				{"sold where a zone has it, listed elsewhere", gcpOffers("--type", "a2-highgpu-1g"), has(
					"region flags", `us-central1 []`, `us-east1 ["listed_not_sold"]`, `us-west1 ["listed_not_sold"]`,
				)},
			},
			edits: []mutation{
				{"one digit", `"guestCpus": 12`, `"guestCpus": 13`},
				{"a required field renamed", `"machineTypes"`, `"types"`},
				{"two fields swapped", `"memoryMb": 87040`, `"memoryMb": 32768`},
				{"a zone of another region", "zones/us-central1-a", "zones/us-east1-b"},
				{"another card", "nvidia-tesla-a100", "nvidia-l4"},
			},
		},
		{
			name: "compute_acceleratorTypes.k80.json", provider: "gcp", at: "2026-05-18T00:00:00Z",
			wrapped: "the list of a zone as the list of all zones, and the recorded rate of T4",
			wrap: func(body []byte) fixture {
				f := gcpSKUs(gcpPage(gcpSKU("Nvidia Tesla T4 GPU running in Americas", "h", "0", 350000000, "us-central1", "us-east1")))
				var list struct {
					Items []json.RawMessage `json:"items"`
				}
				if json.Unmarshal(body, &list) != nil {
					return fixture{}
				}
				f.exchanges = append(f.exchanges, exchange{
					Source: "accelerator-types", URL: "https://compute.googleapis.com/compute/v1/projects/*/aggregated/acceleratorTypes?maxResults=500", File: "cards.json",
				})
				f.files["cards.json"] = asJSON(map[string]any{"items": map[string]any{"zones/us-central1-a": map[string]any{"acceleratorTypes": list.Items}}})
				return f
			},
			facts: []claim{
				{"a zone that has K80 has no T4", gcpOffers("--type", "nvidia-tesla-t4×1"), has(
					"region flags", `us-central1 ["accelerator_only","listed_not_sold"]`, `us-east1 ["accelerator_only","listed_not_sold"]`,
				)},
			},
			edits: []mutation{
				{"another card", "nvidia-tesla-k80", "nvidia-tesla-t4"},
				{"a required field renamed", `"maximumCardsPerInstance"`, `"maximum"`},
				{"the name renamed", `"name"`, `"title"`},
			},
		},
		{
			name: "machine_types_by_zone.accelerated.csv", provider: "gcp", at: "2023-05-02T00:00:00Z",
			wrapped: "its rows as an answer of the API, one type with its card, and SKUs of A2", wrap: func(body []byte) fixture { return gcpTypeFixture(gcpZones(body)) },
			facts: []claim{
				{"17 machine types with vCPUs and memory", gcpTypesAsked(), among(
					"instance_type vcpu memory_gib source",
					"a2-highgpu-1g 12 85 machine-types", "a2-highgpu-2g 24 170 machine-types", "a2-highgpu-4g 48 340 machine-types",
					"a2-highgpu-8g 96 680 machine-types", "a2-megagpu-16g 96 1360 machine-types", "a2-ultragpu-1g 12 170 machine-types",
					"a2-ultragpu-2g 24 340 machine-types", "a2-ultragpu-4g 48 680 machine-types", "a2-ultragpu-8g 96 1360 machine-types",
					"g2-standard-4 4 16 machine-types", "g2-standard-8 8 32 machine-types", "g2-standard-12 12 48 machine-types",
					"g2-standard-16 16 64 machine-types", "g2-standard-24 24 96 machine-types", "g2-standard-32 32 128 machine-types",
					"g2-standard-48 48 192 machine-types", "g2-standard-96 96 384 machine-types",
				)},
				{"the card of each is the table's", gcpTypesAsked(), among("instance_type accelerator.slug accelerator.count", "a2-ultragpu-8g a100-sxm-80gb 8", "g2-standard-24 l4-24gb 2")},
				{"A2 of 40 GB in all three regions, 16 cards in two", gcpOffers("--flag", "listed_not_sold"), has(
					"instance_type region", "a2-megagpu-16g us-west1",
				)},
			},
			edits: []mutation{
				{"one digit", ";680.00;", ";681.00;"},
				{"a machine type renamed", "a2-megagpu-16g", "a2-megagpu-17g"},
				{"two columns swapped", "a2-highgpu-1g;12;False;85.00", "a2-highgpu-1g;85;False;12.00"},
				{"another region", "us-west1-b", "us-west9-b"},
			},
		},
	}
}

// gcpZones writes the table of machine types by zone as the API answers.
func gcpZones(body []byte) []byte {
	r := csv.NewReader(bytes.NewReader(body))
	r.Comma = ';'
	rows, err := r.ReadAll()
	if err != nil {
		return nil
	}
	items := map[string]map[string][]any{}
	for _, row := range rows[1:] {
		zone := "zones/" + row[5]
		if items[zone] == nil {
			items[zone] = map[string][]any{}
		}
		var cpus, gib float64
		fmt.Sscan(row[1], &cpus)
		fmt.Sscan(row[3], &gib)
		t := map[string]any{"name": row[0], "guestCpus": cpus, "memoryMb": gib * 1024}
		if row[0] == "a2-highgpu-1g" {
			t["accelerators"] = []any{map[string]any{"guestAcceleratorType": "nvidia-tesla-a100", "guestAcceleratorCount": 1}}
		}
		items[zone]["machineTypes"] = append(items[zone]["machineTypes"], t)
	}
	return asJSON(map[string]any{"items": items})
}
