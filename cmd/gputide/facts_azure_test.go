package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Addresses of Azure. The filters of its requests are told apart by a word.
const (
	azurePrices = "https://prices.azure.com/api/retail/prices?api-version=2023-01-01-preview&currencyCode=%27USD%27&$filter="
	azureARM    = "https://management.azure.com"
	azureGraph  = azureARM + "/providers/Microsoft.ResourceGraph/resources?api-version=2024-04-01"
)

// azureRecordings are the recorded answers of Azure and what must come out.
// Figures: payloads/azure/SOURCES.md of the shared recordings. anchors are the
// Linux on-demand prices that others took from the same API on 2026-06-18.
func azureRecordings(read func(name string) []byte) []recording {
	anchors := read("derived_anchor.ondemand_linux_n_series.2026-06-18.json")
	return slices.Concat(
		azurePriceRecordings(), azureCardRecordings(anchors), []recording{azureSKURecording(), azureLocationRecording()}, azureGraphRecordings(),
	)
}

// azureFiles is a fixture of the pages of some regions and the index that leads
// to them.
func azureFiles(pages map[string][]byte) fixture {
	filter := func(text string) string { return azurePrices + "*" + url.QueryEscape(text) + "*" }
	f := fixture{files: map[string][]byte{}}
	var index [][]byte
	for _, region := range slices.Sorted(maps.Keys(pages)) {
		index = append(index, fmt.Appendf(nil, `{"armRegionName":%q}`, region))
		file := "prices-" + region + ".json"
		f.exchanges = append(f.exchanges, exchange{Source: "retail-prices", URL: filter("armRegionName eq '" + region + "'"), File: file})
		f.files[file] = pages[region]
	}
	f.exchanges = append(f.exchanges, exchange{Source: "retail-regions", URL: filter("armSkuName eq"), File: "regions.json"})
	f.files["regions.json"] = azurePage(index)
	return f
}

// azurePage is the envelope of a page around rows.
func azurePage(rows [][]byte) []byte {
	return fmt.Appendf(nil, `{"BillingCurrency":"USD","Items":[%s],"NextPageLink":null,"Count":%d}`, bytes.Join(rows, []byte(",")), len(rows))
}

// azureByRegion puts recorded rows into one page for each of their regions. A row
// without a start, which its recording dropped, gets one.
func azureByRegion(rows []json.RawMessage) fixture {
	pages := map[string][][]byte{}
	for _, raw := range rows {
		var row struct {
			Region string `json:"armRegionName"`
			Start  string `json:"effectiveStartDate"`
		}
		if err := json.Unmarshal(raw, &row); err != nil {
			row.Region = "eastus" // a mutation broke it
		}
		text := []byte(raw)
		if row.Start == "" {
			text = append([]byte(`{"effectiveStartDate":"2021-01-01T00:00:00Z",`), bytes.TrimPrefix(text, []byte("{"))...)
		}
		pages[row.Region] = append(pages[row.Region], text)
	}
	all := map[string][]byte{}
	for region, rows := range pages {
		all[region] = azurePage(rows)
	}
	return azureFiles(all)
}

// azureItems are the rows of a recorded page, in pages of their regions.
func azureItems(body []byte) fixture {
	var page struct{ Items []json.RawMessage }
	if err := json.Unmarshal(body, &page); err != nil {
		return azureFiles(map[string][]byte{"eastus": body})
	}
	return azureByRegion(page.Items)
}

func azureOffers(more ...string) []string {
	return append([]string{"query", "offers", "--provider", "azure", "--all"}, more...)
}

// azureOmitted checks how many rows of prices were left out by rule.
func azureOmitted(want map[string]float64) claim {
	counts := map[string]float64{}
	for reason, n := range want {
		counts["omitted."+reason] = n
	}
	return claim{"rows that are no offers are counted", []string{"runs", "show"}, sourceCounts("retail-prices", counts)}
}

// anchored checks that every Linux on-demand price is that of the anchors, where
// they have the size and the region, and that some do.
func anchored(anchors []byte) func([]answerRow) error {
	return func(rows []answerRow) error {
		var known map[string]map[string]json.Number
		if err := json.Unmarshal(anchors, &known); err != nil {
			return err
		}
		compared := 0
		for _, r := range rows {
			want, ok := known[r.text("region")][r.text("instance_type")]
			if !ok {
				continue
			}
			compared++
			if got := r.text("price"); got != strings.TrimSuffix(want.String(), ".0") {
				return fmt.Errorf("%s in %s: %s, the anchor has %s", r.text("instance_type"), r.text("region"), got, want)
			}
		}
		if compared == 0 {
			return fmt.Errorf("none of %d rows has an anchor", len(rows))
		}
		return nil
	}
}

const azureWrapped = "index, envelope and dropped fields composed; rows in pages of their regions"

// azurePriceRecordings are pages of machines without a card.
func azurePriceRecordings() []recording {
	all := []string{"--collect", "all"}
	return []recording{
		{
			name: "retail.d2als_v7.eastus.nofilter.preview.json", provider: "azure", at: "2026-09-15T00:00:00Z", crawl: all, wrapped: "composed index",
			wrap: func(body []byte) fixture { return azureFiles(map[string][]byte{"eastus": body}) },
			facts: []claim{
				{"eight offers in eight rows, of which two are Dev/Test", azureOffers(), has(
					"market plan term os price published.amount published.unit",
					"on_demand <null> <null> linux 0.0804 0.0804 h", "on_demand <null> <null> windows 0.172 0.172 h",
					"spot <null> <null> linux 0.015598 0.015598 h", "spot <null> <null> windows 0.033368 0.033368 h",
					"commitment sp_compute 1y linux 0.053868 0.053868 h", "commitment sp_compute 3y linux 0.035376 0.035376 h",
					"commitment reservation 1y linux 0.047488584 416.0 term", "commitment reservation 3y linux 0.030555556 803.0 term",
				)},
				azureOmitted(map[string]float64{"dev_test": 2}),
				{
					"every commitment has its partner and breaks even somewhere",
					[]string{"query", "discount", "--market", "commitment", "--provider", "azure"},
					has("plan term on_demand break_even_utilisation",
						"sp_compute 1y 0.0804 0.67", "sp_compute 3y 0.0804 0.44", "reservation 1y 0.0804 0.590654", "reservation 3y 0.0804 0.380044"),
				},
			},
			edits: []mutation{
				{"one digit of a savings plan", `"retailPrice":0.053868`, `"retailPrice":0.053867`},
				{"one digit of a reservation", `"retailPrice":803.0`, `"retailPrice":804.0`},
				{"a required field renamed", `"reservationTerm"`, `"term"`},
				{"the list of plans renamed", `"savingsPlan"`, `"plans"`},
				{"two columns swapped", `"retailPrice":416.0,"unitPrice":416.0,"armRegionName":"eastus"`, `"retailPrice":"eastus","unitPrice":416.0,"armRegionName":416.0`},
				{"terms swapped", `"reservationTerm":"1 Year"`, `"reservationTerm":"5 Years"`},
				{"Dev/Test sold to all", `"DevTestConsumption"`, `"Consumption"`},
				{"another currency", `"BillingCurrency":"USD"`, `"BillingCurrency":"EUR"`},
				{"a row less than counted", `"Count":8`, `"Count":9`},
			},
		},
		{
			name: "retail.reservation_page1.head.json", provider: "azure", at: "2026-10-05T00:00:00Z", crawl: all, wrapped: azureWrapped,
			wrap: azureItems,
			facts: []claim{
				{"five reservations of machines", azureOffers(), has(
					"instance_type region plan term published.amount published.unit accelerator",
					"Standard_D4as_v7 brazilsouth reservation 1y 1505.0 term <null>", "Standard_D4as_v7 brazilsouth reservation 3y 2908.0 term <null>",
					"Standard_E64-16ds_v4 chilecentral reservation 1y 33229.0 term <null>",
					"Standard_D64ds_v5 westus2 reservation 1y 18689.0 term <null>", "Standard_L32ps_v5 malaysiawest reservation 1y 21090.0 term <null>",
				)},
				azureOmitted(map[string]float64{"other_service": 1, "dedicated_host": 1}),
			},
			edits: []mutation{
				{"one digit", "33229.0", "33228.0"},
				{"a required field renamed", `"reservationTerm"`, `"term"`},
				{"a host sold as a machine", "Easv4 Series Dedicated Host", "Easv4 Series"},
				{"a database sold as a machine", `"Azure Database for MySQL"`, `"Virtual Machines"`},
				{"two columns swapped", `"armSkuName":"Standard_D4as_v7"`, `"skuName":"Standard_D4as_v7"`},
			},
		},
	}
}

// azureCardRecordings are pages of machines with cards.
func azureCardRecordings(anchors []byte) []recording {
	linux := []string{"--market", "on_demand", "--os", "linux"}
	return []recording{
		{
			name: "retail.gpu_nc_a100_t4.eastus.json", provider: "azure", at: "2026-09-15T00:00:00Z", wrapped: azureWrapped, wrap: azureItems,
			facts: []claim{
				{"two sizes on demand and spot, Linux and Windows", azureOffers(), has(
					"instance_type market os price accelerator.slug accelerator.count",
					"Standard_NC24ads_A100_v4 on_demand linux 3.673 a100-pcie-80gb 1", "Standard_NC24ads_A100_v4 on_demand windows 4.777 a100-pcie-80gb 1",
					"Standard_NC24ads_A100_v4 spot linux 0.67877 a100-pcie-80gb 1", "Standard_NC24ads_A100_v4 spot windows 0.88279 a100-pcie-80gb 1",
					"Standard_NC4as_T4_v3 on_demand linux 0.526 t4-16gb 1", "Standard_NC4as_T4_v3 on_demand windows 0.71 t4-16gb 1",
					"Standard_NC4as_T4_v3 spot linux 0.149174 t4-16gb 1", "Standard_NC4as_T4_v3 spot windows 0.201356 t4-16gb 1",
				)},
				azureOmitted(map[string]float64{"low_priority": 4}),
				{"each spot series finds its partner", []string{"query", "spot", "--provider", "azure"}, has(
					"instance_type os on_demand now_pct",
					"Standard_NC24ads_A100_v4 linux 3.673 81.52", "Standard_NC24ads_A100_v4 windows 4.777 81.52",
					"Standard_NC4as_T4_v3 linux 0.526 71.6399", "Standard_NC4as_T4_v3 windows 0.71 71.64",
				)},
				{"the anchors agree", azureOffers(linux...), anchored(anchors)},
			},
			edits: []mutation{
				{"one digit", `"retailPrice": 0.149174`, `"retailPrice": 0.149175`},
				{"a required field renamed", `"armSkuName"`, `"sku"`},
				{"low priority without its name", " Low Priority", ""},
				{"spot without its name", " Spot", ""},
				{"systems swapped", "Series Windows", "Series Linux"},
				{"two columns swapped", "\"unitPrice\": 4.777,\n      \"unitOfMeasure\": \"1 Hour\"", "\"unitPrice\": \"1 Hour\",\n      \"unitOfMeasure\": 4.777"},
			},
		},
		{
			name: "retail.nd96isr_h100_v5.eastus.projected.json", provider: "azure", at: "2026-09-16T00:00:00Z", wrapped: azureWrapped, wrap: azureItems,
			facts: []claim{
				{"three offers of eight H100, one meter name for both systems", azureOffers(), has(
					"market os price price_per_accelerator accelerator.slug accelerator.count accelerator.vendor",
					"on_demand linux 98.32 12.29 h100-sxm-80gb 8 NVIDIA", "spot linux 18.169536 2.271192 h100-sxm-80gb 8 NVIDIA",
					"on_demand windows 102.736 12.842 h100-sxm-80gb 8 NVIDIA",
				)},
				azureOmitted(map[string]float64{"low_priority": 1}),
			},
			edits: []mutation{
				{"one digit", "18.169536", "18.169537"},
				{"a required field renamed", `"productName"`, `"product"`},
				{"low priority without its name", " Low Priority", ""},
				{"two columns swapped", `"type": "Consumption"`, `"unit": "Consumption"`},
			},
		},
		{
			name: "retail.gpu_mixed_regions.projected.json", provider: "azure", at: "2026-09-29T00:00:00Z", wrapped: azureWrapped,
			wrap: func(body []byte) fixture {
				var rows []json.RawMessage
				if err := json.Unmarshal(body, &rows); err != nil {
					return azureFiles(map[string][]byte{"eastus": body})
				}
				return azureByRegion(rows)
			},
			facts: []claim{
				{"seven on demand on Linux", azureOffers("--partition", "azure", "--market", "on_demand", "--os", "linux"), has(
					"instance_type region price accelerator.slug accelerator.count",
					"Standard_NC48ads_A100_v4 eastus2 7.346 a100-pcie-80gb 2", "Standard_NC40ads_H100_v5 uaenorth 9.98 h100-nvl-94gb 1",
					"Standard_NC80adis_H100_v5 uksouth 17.45 h100-nvl-94gb 2", "Standard_ND96isr_H100_v5 westus3 98.32 h100-sxm-80gb 8",
					"Standard_ND96amsr_A100_v4 westeurope 40.962 a100-sxm-80gb 8", "Standard_ND96isr_MI300X_v5 northeurope 57.6 mi300x-192gb 8",
					"Standard_NC24ads_A100_v4 westus3 3.673 a100-pcie-80gb 1",
				)},
				{"four spot on Linux", azureOffers("--partition", "azure", "--market", "spot", "--os", "linux"), has(
					"instance_type region price accelerator.slug accelerator.vendor",
					"Standard_NC40ads_H100_v5 uaenorth 1.844304 h100-nvl-94gb NVIDIA", "Standard_ND96amsr_A100_v4 westeurope 10.551811 a100-sxm-80gb NVIDIA",
					"Standard_ND96asr_v4 eastus 5.904469 a100-sxm-40gb NVIDIA", "Standard_ND96isr_H200_v5 uksouth 106 h200-sxm-141gb NVIDIA",
				)},
				{"six on Windows", azureOffers("--os", "windows"), has(
					"instance_type region market price",
					"Standard_NC80adis_H100_v5 southcentralus on_demand 20.44", "Standard_ND96isr_H100_v5 centralus on_demand 125.35",
					"Standard_ND96amsr_A100_v4 canadaeast on_demand 43.74", "Standard_NC96ads_A100_v4 westus on_demand 23.516",
					"Standard_ND96isr_MI300X_v5 eastus2 spot 9.686477", "Standard_ND96isr_MI300X_v5 canadacentral on_demand 62.016",
				)},
				{"the government cloud is a price book of its own", azureOffers("--partition", "azure-us-gov"), has(
					"region instance_type price", "usgovvirginia Standard_ND96isr_H200_v5 106",
				)},
				{"four low priority rows in four regions", azureOffers(), count(18)},
				azureOmitted(map[string]float64{"low_priority": 4}),
				{"the anchors agree", azureOffers(append(linux, "--partition", "azure")...), anchored(anchors)},
			},
			edits: []mutation{
				{"one digit", "1.844304", "1.844305"},
				{"a required field renamed", `"armRegionName"`, `"region"`},
				{"another price book", "usgovvirginia", "eastus"},
				{"low priority without its name", " Low Priority", ""},
				{"two columns swapped", `"meterName": "ND96isrH200v5 Spot"`, `"skuName2": "ND96isrH200v5 Spot"`},
			},
		},
	}
}
