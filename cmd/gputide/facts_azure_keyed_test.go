package main

import "fmt"

// azureSKURecording is the answer of Resource SKUs, with a composed price page
// of its region: without an offer there is no type to query.
func azureSKURecording() recording {
	const region = "southcentralus"
	return recording{
		name: "resource_skus.southcentralus.json", provider: "azure", at: "2025-06-03T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "composed list of locations",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{
					{Source: "locations", URL: azureARM + "/subscriptions/*/locations?api-version=*", File: "locations.json"},
					{Source: "resource-skus", URL: azureARM + "/subscriptions/*/providers/Microsoft.Compute/skus?api-version=*&$filter=*" + region + "*", File: "skus.json"},
				},
				files: map[string][]byte{
					"locations.json": []byte(`{"value":[{"name":"` + region + `","metadata":{"regionType":"Physical"}}]}`), "skus.json": body,
				},
			}
		},
		facts: []claim{
			{"20 sizes", azureTypes(), count(20)},
			{"three with a card", azureTypes("--type", "Standard_NC24ads_A100_v4,Standard_NC16as_T4_v3,Standard_NC6s_v3"), has(
				"instance_type vcpu memory_gib accelerator.slug accelerator.count cpu_arch local_disk_gb",
				"Standard_NC24ads_A100_v4 24 220 a100-pcie-80gb 1 x86_64 960", "Standard_NC16as_T4_v3 16 110 t4-16gb 1 x86_64 377.957",
				"Standard_NC6s_v3 6 112 v100-pcie-16gb 1 x86_64 790.274",
			)},
			{"usable vCPUs of a constrained size", azureTypes("--type", "Standard_M8-2ms"), has("vcpu accelerator", "2 <null>")},
			{"ARM", azureTypes("--type", "Standard_D16plds_v5"), has("cpu_arch vcpu", "arm64 16")},
			{"zones that offer them, none for one", []string{"query", "signals", "--provider", "azure", "--name", "availability"}, has(
				"instance_type region zone label",
				"Standard_NC24ads_A100_v4 southcentralus 1 available", "Standard_NC24ads_A100_v4 southcentralus 3 available",
				"Standard_NC16as_T4_v3 southcentralus 1 available", "Standard_NC16as_T4_v3 southcentralus 2 available",
				"Standard_NC16as_T4_v3 southcentralus 3 available", "Standard_NC6s_v3 southcentralus <null> available",
			)},
		},
		edits: []mutation{
			{"one digit of a memory size", `"value": "220"`, `"value": "221"`},
			{"one digit of the usable vCPUs", "\"name\": \"vCPUsAvailable\",\n     \"value\": \"2\"", "\"name\": \"vCPUsAvailable\",\n     \"value\": \"4\""},
			{"a capability renamed", `"vCPUsAvailable"`, `"vCPUsUsable"`},
			{"one digit of the GPUs", "\"name\": \"GPUs\",\n     \"value\": \"1\"", "\"name\": \"GPUs\",\n     \"value\": \"2\""},
			{"a required field renamed", `"capabilities"`, `"features"`},
			{"the zones renamed", `"zones"`, `"zone"`},
			{"two columns swapped", `"resourceType"`, `"tier2"`},
		},
	}
}

func azureTypes(more ...string) []string {
	return append([]string{"query", "types", "--provider", "azure"}, more...)
}

// azureLocationRecording is the list of locations, with an empty answer of
// Resource SKUs behind each that is read.
func azureLocationRecording() recording {
	return recording{
		name: "list_locations.json", provider: "azure", at: "2026-01-15T00:00:00Z",
		wrapped: "composed envelope; behind each location one size that is sold nowhere",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{
					{Source: "locations", URL: azureARM + "/subscriptions/*/locations?api-version=*", File: "locations.json"},
					{Source: "resource-skus", URL: azureARM + "/subscriptions/*/providers/Microsoft.Compute/skus?api-version=*&$filter=*", File: "skus.json"},
				},
				files: map[string][]byte{
					"locations.json": fmt.Appendf(nil, `{"value":%s}`, body),
					"skus.json":      []byte(`{"value":[{"resourceType":"disks","name":"none","capabilities":[]}]}`),
				},
			}
		},
		facts: []claim{
			{"100 locations: 40 logical, 60 physical of which two are canaries", []string{"runs", "show"}, both(
				sourceCounts("locations", map[string]float64{"omitted.logical_location": 40, "omitted.canary_region": 2}),
				sourceCounts("resource-skus", map[string]float64{"omitted.other_resource": 58}),
			)},
		},
		edits: []mutation{
			{"a logical location more", `"regionType": "Physical"`, `"regionType": "Logical"`},
			{"a required field renamed", `"regionType"`, `"type2"`},
			{"a canary for sale", `"Canary (US)"`, `"United States"`},
			{"names renamed", `"name": "eastus2euap"`, `"title": "eastus2euap"`},
		},
	}
}

// azureGraphRecordings are the answers of Resource Graph, of which no recording
// exists: their form is documented, their figures are quoted. Prices of the sizes
// are composed: a row of price 0 names the size and sells nothing.
func azureGraphRecordings() []recording {
	sized := func(source, body string, sizes map[string][]string) fixture {
		pages := map[string][]byte{}
		for region, names := range sizes {
			var rows [][]byte
			for _, name := range names {
				rows = append(rows, fmt.Appendf(nil, `{"currencyCode":"USD","retailPrice":0,"armRegionName":%q,"effectiveStartDate":"2021-01-01T00:00:00Z",`+
					`"meterName":"","productName":"","unitOfMeasure":"1 Hour","type":"Consumption","armSkuName":%q}`, region, name))
			}
			pages[region] = azurePage(rows)
		}
		f := azureFiles(pages)
		f.exchanges = append(f.exchanges, exchange{Source: source, Method: "POST", URL: azureGraph, File: "graph.json"})
		f.files["graph.json"] = []byte(body)
		return f
	}
	return []recording{
		{
			name: "SHAPE_ONLY_resource_graph.spot_price_history.json", provider: "azure", at: "2025-08-15T00:00:00Z", crawl: []string{"--collect", "all"},
			wrapped: "composed price page that names the size",
			wrap: func(body []byte) fixture {
				return sized("spot-history", string(body), map[string][]string{"westeurope": {"Standard_D2ds_v6"}})
			},
			facts: []claim{{"two prices, in a list and in the text of one", azureOffers("--market", "spot"), has(
				"instance_type region os price observed_at", "Standard_D2ds_v6 westeurope linux 0.023468 2025-08-01T00:00:00Z",
				"Standard_D2ds_v6 westeurope windows 0.037958 2025-08-01T00:00:00Z",
			)}},
			edits: []mutation{
				{"one digit", "0.037958", "0.037959"},
				{"a required field renamed", "spotPrices", "prices"},
				{"two columns swapped", `"osType": "linux"`, `"osType": "windows"`},
				{"the moment renamed", "effectiveDate", "date"},
			},
		},
		{
			name: "SHAPE_ONLY_resource_graph.spot_eviction_rate.json", provider: "azure", at: "2025-08-15T00:00:00Z", crawl: []string{"--collect", "all"},
			wrapped: "composed price pages that name the sizes",
			wrap: func(body []byte) fixture {
				return sized("eviction-rates", string(body), map[string][]string{
					"eastus": {"Standard_NC24ads_A100_v4", "Standard_NC4as_T4_v3"}, "swedencentral": {"Standard_ND96isr_H100_v5"},
					"westeurope": {"Standard_NV36ads_A10_v5"},
				})
			},
			facts: []claim{{"bands, an open one, and none where it is not known", []string{"query", "signals", "--provider", "azure", "--name", "eviction_rate"}, has(
				"instance_type region value label", "Standard_NC24ads_A100_v4 eastus 20 20+%", "Standard_NC4as_T4_v3 eastus 5 5-10%",
				"Standard_ND96isr_H100_v5 swedencentral 0 0-5%",
			)}},
			edits: []mutation{
				{"another band", `"5-10"`, `"10-15"`},
				{"a required field renamed", "spotEvictionRate", "rate"},
				{"two columns swapped", `"location": "swedencentral"`, `"location": "eastus"`},
				{"a rate for none", `""`, `"0-5"`},
			},
		},
	}
}
