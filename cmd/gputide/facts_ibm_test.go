package main

import "fmt"

// ibmRecordings are the recorded answers of IBM Cloud and what must come out.
// Figures: payloads/ibm/SOURCES.md of the shared recordings.
func ibmRecordings() []recording {
	return []recording{ibmPrices(), ibmProfiles()}
}

const ibmPlan = "99548819-fcbc-486c-8eeb-0355a56b035e"

func ibmPrices() recording {
	offers := func(market string) []string {
		return []string{"query", "offers", "--provider", "ibm", "--market", market, "--all"}
	}
	rows := func(prices ...string) []string {
		var out []string
		for i, region := range []string{"us-south", "us-east", "ca-tor", "eu-gb", "eu-de", "eu-es", "au-syd", "jp-tok", "br-sao"} {
			out = append(out, fmt.Sprintf("gx3d-160x1792x8h100 %s %s h100-sxm-80gb 8", region, prices[i]))
		}
		return out
	}
	const fields = "instance_type region price accelerator.slug accelerator.count"
	return recording{
		name: "global_catalog_pricing_deployment.gx3d-160x1792x8h100.2026-10-05.json", provider: "ibm", at: "2026-10-05T12:00:00Z",
		wrapped: "a composed list of plans that names this one",
		wrap: func(body []byte) fixture {
			const api = "https://globalcatalog.cloud.ibm.com/api/v1/"
			plans := `{"offset":0,"limit":50,"count":1,"resource_count":1,"resources":[{"id":"` + ibmPlan + `","kind":"plan","name":"gx3d-160x1792x8h100"}]}`
			return fixture{
				exchanges: []exchange{
					{Source: "plans", URL: api + "is.instance/plan?_limit=200&_offset=0", File: "plans.json"},
					{Source: "prices", URL: api + ibmPlan + "/pricing/deployment", File: "prices.json"},
				},
				files: map[string][]byte{"plans.json": []byte(plans), "prices.json": body},
			}
		},
		facts: []claim{
			{"on demand in nine regions", offers("on_demand"), has(fields, rows("85.85", "85.85", "91", "97.01", "99.6", "99.6", "104.73", "104.73", "118.5")...)},
			{
				"spot as published, not computed", offers("spot"),
				has(fields, rows("21.4625", "21.4625", "22.75025", "24.252625", "24.8965", "24.8965", "26.18425", "26.18425", "29.61825")...),
			},
			{
				"the price of one card",
				append(offers("on_demand"), "--region", "us-south,eu-de"),
				has("region price_per_accelerator currency vcpu memory_gib", "us-south 10.73125 USD 160 1792", "eu-de 12.45 USD 160 1792"),
			},
			{
				"each spot series finds its partner",
				[]string{"query", "spot", "--provider", "ibm", "--region", "us-south,au-syd"},
				has("region on_demand now_pct", "us-south 85.85 75", "au-syd 104.73 74.9983"),
			},
			{"the reservation at 0 is no offer", []string{"runs", "show", "1"}, leftOut("prices", "18", `{"reservation":9}`)},
		},
		edits: []mutation{
			{"one digit of a price", `"price": 118.5`, `"price": 118.6`},
			{"one digit of a spot price", `"price": 26.18425`, `"price": 26.1825`},
			{"a price lost", `"price": 91`, `"price": 0`},
			{"a required field renamed", `"charge_unit_name"`, `"unit_name"`},
			{"the region renamed", `"deployment_region"`, `"region"`},
			{"two metrics swapped", `"charge_unit_name": "INSTANCE_MULTI_TENANT_SPOT"`, `"charge_unit_name": "INSTANCE_HOURS_RESERVATION"`},
			{"another unit", `"charge_unit": "Instance-Hour"`, `"charge_unit": "Instance-Month"`},
			{"another currency", `"currency": "USD"`, `"currency": "EUR"`},
			{"no longer in force", `9999-12-31`, `2026-10-02`},
			{"a list that is longer", `"count": 9`, `"count": 10`},
		},
	}
}

func ibmProfiles() recording {
	return recording{
		name: "vpc_instance_profiles.excerpt.json", provider: "ibm", at: "2026-10-05T12:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "the other region asked answers the same",
		wrap: func(body []byte) fixture {
			f := fixture{files: map[string][]byte{"profiles.json": body}}
			for _, region := range []string{"us-south", "us-east"} {
				url := "https://" + region + ".iaas.cloud.ibm.com/v1/instance/profiles?version=2026-01-01&generation=2"
				f.exchanges = append(f.exchanges, exchange{Source: "profiles", URL: url, File: "profiles.json"})
			}
			return f
		},
		facts: []claim{
			{"a profile with a card", []string{"query", "types", "--provider", "ibm", "--type", "gx2-8x64x1v100"}, has(
				"vcpu memory_gib network_gbps cpu_arch accelerator.count accelerator.raw accelerator.slug",
				"8 64 16 x86_64 1 NVIDIA_TESLA_V100 v100-pcie-16gb",
			)},
			{"one without", []string{"query", "types", "--provider", "ibm", "--type", "bx2-2x8"}, has(
				"vcpu memory_gib network_gbps accelerator", "2 8 4 <null>",
			)},
		},
		edits: []mutation{
			{"one digit of a bandwidth", `"value": 16000`, `"value": 1600`},
			{"a required field renamed", `"vcpu_count"`, `"cpus"`},
			{"another card", `NVIDIA_TESLA_V100`, `NVIDIA_L4`},
			{"a value that is not fixed", `"type": "fixed"`, `"type": "range"`},
			{"the count renamed", `"gpu_count"`, `"gpus"`},
		},
	}
}
