package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// gcpRecordings are the recorded SKUs, machine types and page of Google Cloud,
// and derived tables rewritten in their form. Figures: payloads/gcp/SOURCES.md.
func gcpRecordings(read func(name string) []byte) []recording {
	return slices.Concat(
		[]recording{gcpA2(read("catalog_v1_sku.tiered_rates.json")), gcpAmericas(), gcpParts()},
		gcpTPUs(), gcpPages(), gcpTypes(),
	)
}

func gcpOffers(more ...string) []string {
	return append([]string{"query", "offers", "--provider", "gcp", "--all"}, more...)
}

const (
	gcpList = "https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus?currencyCode=USD&pageSize=5000"

	// gcpSold are the fields of an offer that most facts name.
	gcpSold = "instance_type region price"
)

// gcpSKUs serves pages of the SKU list: the first is asked for without a token,
// each further one with the token the page before it ends with.
func gcpSKUs(pages ...[]byte) fixture {
	f := fixture{files: map[string][]byte{}}
	token := ""
	for i, page := range pages {
		url := gcpList
		if token != "" {
			url += "&pageToken=" + strings.ReplaceAll(token, "=", "%3D")
		}
		name := fmt.Sprintf("skus-%d.json", i)
		f.exchanges = append(f.exchanges, exchange{Source: "skus", URL: url, Headers: map[string]string{"Content-Type": "application/json"}, File: name})
		f.files[name] = page
		_, rest, _ := bytes.Cut(page, []byte(`"nextPageToken": "`))
		next, _, _ := bytes.Cut(rest, []byte(`"`))
		token = string(next)
	}
	return f
}

// gcpSKU writes a SKU with a recorded rate, for the fixture around a recording.
func gcpSKU(description, unit, units string, nanos int, regions ...string) []byte {
	return asJSON(map[string]any{
		"description": description, "category": map[string]any{}, "serviceRegions": regions,
		"pricingInfo": []any{map[string]any{"pricingExpression": map[string]any{
			"usageUnit": unit, "tieredRates": []any{map[string]any{
				"startUsageAmount": 0, "unitPrice": map[string]any{"currencyCode": "USD", "units": units, "nanos": nanos},
			}},
		}}},
	})
}

func gcpPage(skus ...[]byte) []byte {
	return slices.Concat([]byte(`{"skus": [`), bytes.Join(skus, []byte(",")), []byte(`]}`))
}

// gcpA2Rates are the A2 parts of the first recording in three regions.
func gcpA2Rates() [][]byte {
	americas := []string{"us-central1", "us-east1", "us-west1"}
	return [][]byte{
		gcpSKU("A2 Instance Core running in Americas", "h", "0", 31611000, americas...),
		gcpSKU("A2 Instance Ram running in Americas", "GiBy.h", "0", 4237000, americas...),
		gcpSKU("Nvidia Tesla A100 GPU running in Americas", "h", "2", 933908000, americas...),
	}
}

// inAmericas returns rows "type region price" of each region "Americas" covers.
func inAmericas(rows ...string) []string {
	var out []string
	for _, r := range rows {
		name, rest, _ := strings.Cut(r, " ")
		for _, region := range []string{"us-central1", "us-east1", "us-west1"} {
			out = append(out, name+" "+region+" "+rest)
		}
	}
	return out
}

// among checks that rows come out, each given as the values of fields, whatever
// else does.
func among(fields string, want ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		got := map[string]bool{}
		for _, row := range rows {
			var cells []string
			for name := range strings.SplitSeq(fields, " ") {
				cells = append(cells, row.text(name))
			}
			got[strings.Join(cells, " ")] = true
		}
		for _, w := range want {
			if !got[w] {
				return fmt.Errorf("%q is missing of %d rows", w, len(rows))
			}
		}
		return nil
	}
}

// gcpRefused asks for the refused rows: sums that lack a part name the others.
func gcpRefused() []string { return []string{"quarantine", "list", "--provider", "gcp"} }

func gcpA2(tiered []byte) recording {
	machines := inAmericas(
		"a2-highgpu-1g 3.673385", "a2-highgpu-2g 7.34677", "a2-highgpu-4g 14.69354", "a2-highgpu-8g 29.38708", "a2-megagpu-16g 55.739504",
	)
	return recording{
		name: "catalog_v1_skus.a2_a100.opencost.json", provider: "gcp", at: "2023-03-24T00:00:00Z",
		wrapped: "a second page with the recorded SKU of several tiers, and a third, empty one",
		wrap:    func(body []byte) fixture { return gcpSKUs(body, tiered, []byte(`{"skus": [], "nextPageToken": ""}`)) },
		facts: []claim{
			{"five machine types in three regions, as the sum of their parts, equal to the page and the anchor", gcpOffers(), has(gcpSold, machines...)},
			{"in dollars", gcpOffers("--currency", "USD"), count(15)},
			{"the parts as published", gcpOffers("--type", "a2-highgpu-1g", "--region", "us-central1"), has(
				"components",
				`[{"amount":"0.031611","kind":"core","quantity":"12","sku":"2922-40C5-B19F","unit":"h"},`+
					`{"amount":"0.004237","kind":"ram","quantity":"85","sku":"2390-DCAF-DA38","unit":"h"},`+
					`{"amount":"2.933908","kind":"accelerator","quantity":"1","sku":"039F-D0DA-4055","unit":"h"}]`,
			)},
			{"four SKUs in rupiah and one of egress in tiers are none of an accelerator", []string{"runs", "show", "1"}, sourceCounts("skus", map[string]float64{
				"kept": 15, "omitted.other_product": 5,
			})},
			{"A100 80 GB are listed nowhere", gcpOffers("--gpu", "a100-sxm-80gb"), count(0)},
		},
		edits: []mutation{
			{"one digit", `"nanos": 31611000`, `"nanos": 31611001`},
			{"a required field renamed", `"usageUnit"`, `"unit"`},
			{"two fields swapped", "A2 Instance Core", "A2 Instance Ram"},
			{"dollars become rupiah", `"currencyCode": "USD"`, `"currencyCode": "IDR"`},
			{"a rate in rupiah beside one in dollars", "E2 Instance Core running in Americas", "A2 Instance Core running in Americas"},
			{"a region more", `"us-west1"`, `"us-west9"`},
			{"a usage type that contradicts", `"usageType": "OnDemand"`, `"usageType": "Commit1Yr"`},
		},
	}
}

func gcpAmericas() recording {
	refused := func(rows ...string) func([]answerRow) error {
		return among("key.instance_type key.region key.market key.term reason detail", rows...)
	}
	const lacks = "incomplete_components without core, ram"
	return recording{
		name: "catalog_v1_skus.gpu_americas.2026-05-18.json", provider: "gcp", at: "2026-05-18T07:00:00Z",
		wrap: func(body []byte) fixture { return gcpSKUs(body) },
		facts: []claim{
			{"attachable cards on demand, without a machine", gcpOffers("--market", "on_demand", "--flag", "accelerator_only"), has(gcpSold, inAmericas(
				"nvidia-tesla-t4×1 0.35", "nvidia-tesla-t4×2 0.7", "nvidia-tesla-t4×4 1.4",
				"nvidia-tesla-p4×1 0.6", "nvidia-tesla-p4×2 1.2", "nvidia-tesla-p4×4 2.4",
				"nvidia-tesla-p100×1 1.46", "nvidia-tesla-p100×2 2.92", "nvidia-tesla-p100×4 5.84",
				"nvidia-tesla-v100×1 2.48", "nvidia-tesla-v100×2 4.96", "nvidia-tesla-v100×4 9.92", "nvidia-tesla-v100×8 19.84",
			)...)},
			{"T4 spot, 1 year and flex-start, which is no on-demand price", gcpOffers("--type", "nvidia-tesla-t4×1", "--region", "us-central1"), has(
				"market plan term price", "on_demand <null> <null> 0.35", "spot <null> <null> 0.1654", "commitment cud 1y 0.22", "flex dws_flex <null> 0.35",
			)},
			{"a slice of an RTX PRO 6000 is a whole machine", gcpOffers("--gpu", "rtx-pro-6000"), has(
				"instance_type region price accelerator.count accelerator.share",
				"g4-standard-6 us-central1 0.64688 1/8 vgpu", "g4-standard-12 us-central1 1.29376 1/4 vgpu", "g4-standard-24 us-central1 2.58752 1/2 vgpu",
			)},
			{"the other rates, of machines whose cores are not listed", gcpRefused(), refused(
				"a2-highgpu-1g us-central1 on_demand <null> "+lacks+": accelerator 1 × 2.933908/h",
				"a2-ultragpu-1g us-west1 on_demand <null> "+lacks+", local_ssd: accelerator 1 × 3.92808/h",
				"a3-highgpu-8g us-east1 on_demand <null> "+lacks+", local_ssd: accelerator 8 × 9.796550569/h",
				"a3-megagpu-8g us-central1 on_demand <null> "+lacks+", local_ssd: accelerator 8 × 10.344275712/h",
				"a3-ultragpu-8g us-west1 on_demand <null> "+lacks+", local_ssd: accelerator 8 × 9.31174/h",
				"g2-standard-96 us-central1 on_demand <null> "+lacks+": accelerator 8 × 0.560040239/h",
				"a3-highgpu-1g us-central1 commitment 1y "+lacks+", local_ssd: accelerator 1 × 6.79880857/h",
				"g2-standard-4 us-central1 commitment 3y "+lacks+": accelerator 1 × 0.252018107/h",
				"a2-ultragpu-8g us-central1 commitment 3y "+lacks+", local_ssd: accelerator 8 × 3.09659/h",
			)},
			{"the placeholder at 0 is left out, and no sum is stored for less", []string{"runs", "show", "1"}, sourceCounts("skus", map[string]float64{
				"kept": 39 + 3*9 + 3, "omitted.reserved_placeholder": 1, "skipped.incomplete_components": 3 * (23 + 4 + 8 + 4),
			})},
		},
		edits: []mutation{
			{"one digit", `"nanos": 344275712`, `"nanos": 344275713`},
			{"a required field renamed", `"serviceRegions"`, `"regions"`},
			{"two fields swapped", `"units": "0"`, `"units": "1"`},
			{"flex-start read as on demand", " attached to DWS Defined Duration VMs", ""},
			{"a placeholder read as a rate", "Reserved Nvidia Tesla A100 GPU in", "Nvidia Tesla A100 GPU running in"},
			{"Plus is not the plain H100", "80GB Plus GPU", "80GB GPU"},
			{"40 GB for 80 GB", "A100 80GB GPU", "A100 GPU"},
			{"one usage type for another", "Commit1Yr", "Commit3Yr"},
		},
	}
}

func gcpParts() recording {
	return recording{
		name: "catalog_v1_skus.g4_b200_localssd.projected.json", provider: "gcp", at: "2026-09-01T00:00:00Z",
		wrapped: "A2 parts of another recording, with its rate of A100 80 GB, on the page before",
		wrap: func(body []byte) fixture {
			first := gcpPage(append(gcpA2Rates(), gcpSKU("Nvidia Tesla A100 80GB GPU running in Americas", "h", "3", 928080000, "us-central1"))...)
			return gcpSKUs(append(bytes.TrimSuffix(first, []byte("}")), `, "nextPageToken": "second"}`...), body)
		},
		facts: []claim{
			{"whole cards with their machine", gcpOffers("--type", "g4-standard-*", "--region", "us-central1", "--market", "on_demand"), has(
				"instance_type price accelerator.count",
				"g4-standard-48 4.49993 1", "g4-standard-96 8.99986 2", "g4-standard-192 17.99972 4", "g4-standard-384 35.99944 8",
				"g4-standard-6 0.64688 1/8", "g4-standard-12 1.29376 1/4", "g4-standard-24 2.58752 1/2",
			)},
			{"slices by flex-start", gcpOffers("--market", "flex"), has("instance_type price", "g4-standard-6 0.32344", "g4-standard-12 0.64688", "g4-standard-24 1.29376")},
			{"a B200 slice is spot, whatever its usage type: eight are the page's price", gcpOffers("--gpu", "b200"), has(
				"instance_type market price price_per_accelerator", "a4-highgpu-8g spot 39.6336 4.9542",
			)},
			{"fixed local SSD by the month, of its own SKU", gcpOffers("--type", "a2-ultragpu-*"), has(
				gcpSold, "a2-ultragpu-1g us-central1 5.06879789", "a2-ultragpu-2g us-central1 10.137595781",
				"a2-ultragpu-4g us-central1 20.275191562", "a2-ultragpu-8g us-central1 40.550383123",
			)},
			{"SKUs of C4D and M4N are no parts of these", []string{"runs", "show", "1"}, sourceCounts("skus", map[string]float64{"omitted.other_product": 4})},
		},
		edits: []mutation{
			{"one digit", `"nanos": 48910000`, `"nanos": 48910001`},
			{"a required field renamed", `"tieredRates"`, `"tiers"`},
			{"two fields swapped", "G4 Instance Ram", "G4 Instance Core"},
			{"spot read as on demand", "Spot Preemptible A4", "A4"},
			{"the SSD of another family", "C4D Instance Local SSD", "SSD backed Local Storage"},
			{"memory of another family", "C4D Instance Ram", "A2 Instance Ram"},
			{"an hour for a month", "GiBy.mo", "GiBy.h"},
			{"decimal for binary gigabytes", `"GiBy.h"`, `"GBy.h"`},
		},
	}
}
