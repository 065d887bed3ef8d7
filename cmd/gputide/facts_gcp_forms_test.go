package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

func gcpTPUs() []recording {
	const sold = "instance_type region market term price accelerator.vendor accelerator.model"
	return []recording{
		{
			name: "catalog_v1_skus.tpu.2026-06-14.projected.json", provider: "gcp", at: "2026-06-14T00:00:00Z",
			wrap: func(body []byte) fixture { return gcpSKUs(body) },
			facts: []claim{
				{"per chip: six on demand, calendar mode, spot and a commitment", gcpOffers(), has(
					sold,
					"TpuV5e×1 asia-south2 on_demand <null> 1.44132 Google tpu-v5e", "TpuV5p×1 southamerica-east1 on_demand <null> 6.430995 Google tpu-v5p",
					"TpuV6e×1 us-south1 on_demand <null> 2.7 Google tpu-v6e", "TPU7x×1 us-west1 on_demand <null> 12 Google tpu-v7x",
					"TPU7x×1 us-central1 on_demand <null> 12 Google tpu-v7x", "TPU7x×1 us-east1 on_demand <null> 12 Google tpu-v7x",
					"TpuV5p×1 asia-south2 capacity_block <null> 2.94 Google tpu-v5p", "TpuV5e×1 asia-southeast1 spot <null> 0.78 Google tpu-v5e",
					"TpuV5p×1 europe-west4 commitment 3y 1.911 Google tpu-v5p",
				)},
			},
			edits: []mutation{
				{"one digit", `"nanos": 441320000`, `"nanos": 441320001`},
				{"a required field renamed", `"currencyCode"`, `"currency"`},
				{"two generations swapped", "TpuV5e running", "TpuV5p running"},
				{"calendar mode read as on demand", " in Calendar Mode", ""},
			},
		},
		{
			name: "catalog_v1_skus.tpu_v6e.us-east5.2026-08-07.projected.json", provider: "gcp", at: "2026-08-07T00:00:00Z",
			wrapped: "the currency, USD",
			wrap: func(body []byte) fixture {
				return gcpSKUs(bytes.ReplaceAll(body, []byte(`"unitPrice": {`), []byte(`"unitPrice": {"currencyCode": "USD", `)))
			},
			facts: []claim{
				{"six ways to buy a chip, under four spellings", gcpOffers(), has(
					sold,
					"TpuV6e×1 us-east5 on_demand <null> 2.7 Google tpu-v6e", "TpuV6e×1 us-east5 flex <null> 1.35 Google tpu-v6e",
					"TpuV6e×1 us-east5 spot <null> 1.4033 Google tpu-v6e", "TpuV6e×1 us-east5 capacity_block <null> 1.89 Google tpu-v6e",
					"TpuV6e×1 us-east5 commitment 1y 1.89 Google tpu-v6e", "TpuV6e×1 asia-northeast1 on_demand <null> 3.24 Google tpu-v6e",
				)},
				{"Capacity Optimized is another product", []string{"runs", "show", "1"}, sourceCounts("skus", map[string]float64{"kept": 6, "omitted.capacity_optimized": 1})},
			},
			edits: []mutation{
				{"one digit", `"nanos": 403300000`, `"nanos": 403300001`},
				{"a required field renamed", `"description"`, `"name"`},
				{"flex-start read as on demand", "DWS Defined Duration V6e", "TpuV6e"},
				{"Capacity Optimized read as on demand", "Capacity Optimized TpuV6e running in Columbus", "TpuV6e running in Tokyo"},
				{"two fields swapped", `"units": "1"`, `"units": "2"`},
			},
		},
		{
			name: "tpu_prices.pricing_page_table.json", provider: "gcp", at: "2024-12-23T00:00:00Z",
			wrapped: "each price of the derived table as a SKU; v2 to v4 under the table's own words",
			wrap:    func(body []byte) fixture { return gcpSKUs(gcpTPUTable(body)) },
			facts: []claim{
				{"two prices of each of 21 rows", gcpOffers(), count(42)},
				{"v6e, v5p and v5e of a few regions", gcpOffers("--gpu", "tpu-v6e,tpu-v5p,tpu-v5e", "--region", "us-east5"), has(
					"instance_type market price", "TpuV6e×1 on_demand 2.7", "TpuV6e×1 spot 1.89", "TpuV5p×1 on_demand 4.2",
					"TpuV5p×1 spot 2.415", "TpuV5e×1 on_demand 1.2", "TpuV5e×1 spot 0.6",
				)},
				{"a chip, not a device", gcpOffers("--type", "TPU v3 device×1"), has(
					"region market price accelerator.count", "europe-west4 on_demand 2.2 1", "europe-west4 spot 2.244 1",
				)},
				{"five spot prices above on demand are kept and flagged", gcpOffers("--flag", "spot_above_on_demand"), has(
					"instance_type region price", "TPU v4 pod×1 us-central2 3.686", "TPU v3 pod×1 europe-west4 2.64", "TPU v3 device×1 europe-west4 2.244",
					"TPU v2 pod×1 us-central1 1.53", "TPU v2 pod×1 europe-west4 1.53", "TPU v2 device×1 europe-west4 1.26225",
				)},
			},
			edits: []mutation{
				{"one digit", "2.415", "2.416"},
				{"a region renamed", "us-central2", "us-central3"},
				{"two columns swapped", `"Spot (USD)": 2.2440`, `"Spot (USD)": 2.1440`},
				{"a generation renamed", `"TPU v5e"`, `"TPU v9e"`},
			},
		},
	}
}

// gcpTPUTable writes the derived table of chip prices as SKUs.
func gcpTPUTable(body []byte) []byte {
	var table map[string]map[string]map[string]json.RawMessage
	if json.Unmarshal(body, &table) != nil {
		return nil
	}
	words := map[string]string{"TPU v6e": "TpuV6e", "TPU v5p": "TpuV5p", "TPU v5e": "TpuV5e"}
	var skus [][]byte
	for _, name := range slices.Sorted(maps.Keys(table)) {
		for _, region := range slices.Sorted(maps.Keys(table[name])) {
			for _, c := range [...]struct{ head, way string }{{"On Demand (USD)", ""}, {"Spot (USD)", " attached to Spot Preemptible VMs"}} {
				units, nanos, _ := strings.Cut(string(table[name][region][c.head]), ".")
				n := 0
				fmt.Sscanf((nanos + "000000000")[:9], "%d", &n)
				subject := words[name]
				if subject == "" {
					subject = name
				}
				sku := gcpSKU(subject+c.way+" running in "+region, "h", units, n, region)
				skus = append(skus, bytes.Replace(sku, []byte(`"category":{}`), []byte(`"category":{"resourceGroup":"TPU"}`), 1))
			}
		}
	}
	return gcpPage(skus...)
}

// gcpHeads are the headings of the recorded page.
func gcpHeads() []string {
	return []string{
		"Machine type", "GPU", "Components", "Price (USD)", "DWS Flex-start price (USD)", "DWS Calendar Mode price (USD)",
		"Current Spot pricing (USD)", "Compute Resource CUDs - 1 Year (USD)", "Compute Resource CUDs - 3 Year (USD)",
	}
}

// gcpEmbedded writes tables as the page hands them to its scripts: cells with
// their text at [3][1][1], tables of [heading, rows, place].
func gcpEmbedded(blocks ...any) string {
	data, err := json.Marshal([]any{blocks})
	if err != nil {
		return err.Error()
	}
	return "<script>AF_initDataCallback({key: 'ds:0', data:" + string(data) + ", sideChannel: {}});</script>"
}

func gcpBlock(place string, heads []string, rows [][]string) any {
	cells := func(texts []string) []any {
		var out []any
		for _, t := range texts {
			out = append(out, []any{nil, nil, nil, []any{nil, []any{nil, t}}})
		}
		return out
	}
	var body []any
	for _, r := range rows {
		body = append(body, cells(r))
	}
	return []any{cells(heads), body, place}
}

func gcpPageFixture(html string) fixture {
	return fixture{
		exchanges: []exchange{{
			Source: "page", URL: "https://cloud.google.com/products/compute/pricing/accelerator-optimized",
			Headers: map[string]string{"Content-Type": "text/html; charset=utf-8"}, File: "page.html",
		}},
		files: map[string][]byte{"page.html": []byte(html)},
	}
}

// gcpWithScripts adds to the recorded page what it holds of its first region a
// second time, as its scripts do.
func gcpWithScripts(body []byte) fixture {
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(body))
	if err != nil {
		return fixture{}
	}
	var rows [][]string
	doc.Find("tr").Each(func(_ int, tr *goquery.Selection) {
		var row []string
		tr.Find("th,td").Each(func(_ int, c *goquery.Selection) {
			inner, _ := c.Html()
			row = append(row, inner)
		})
		rows = append(rows, row)
	})
	block := gcpBlock("Iowa (us-central1)", rows[0], rows[1:])
	return gcpPageFixture(strings.Replace(string(body), "</body>", gcpEmbedded(block)+"</body>", 1))
}

func gcpPages() []recording {
	priced := func(market string, more ...string) []string {
		return gcpOffers(append([]string{"--market", market}, more...)...)
	}
	const row = "instance_type price"
	return []recording{
		{
			name: "pricing_page_accelerator_optimized.us-central1.excerpt.html", provider: "gcp", at: "2026-10-01T00:00:00Z",
			wrapped: "the table once more, in a script, where the page has its regions", wrap: gcpWithScripts,
			facts: []claim{
				{"on demand: eight, A4 is N/A", priced("on_demand"), has(
					row, "a3-ultragpu-8g 84.806908493", "a3-megagpu-8g 93.400712807", "a3-highgpu-8g 88.490000119", "a2-ultragpu-1g 5.06879789",
					"a2-ultragpu-2g 10.137595781", "a2-ultragpu-4g 20.275191562", "a2-ultragpu-8g 40.550383123", "a2-highgpu-1g 3.673385",
				)},
				{"flex-start, odd blanks and all", priced("flex"), has(
					"instance_type published.amount", "a4-highgpu-8g 64.4400", "a3-ultragpu-8g 42.4000", "a3-megagpu-8g 40.3200", "a3-highgpu-8g 38.3200",
					"a2-ultragpu-1g 2.4000", "a2-ultragpu-2g 4.8000", "a2-ultragpu-4g 9.6000", "a2-ultragpu-8g 19.2000", "a2-highgpu-1g 2.0000",
				)},
				{"calendar mode: four", priced("capacity_block"), has(row+" plan term",
					"a4-highgpu-8g 90.22 dws_calendar <null>", "a3-ultragpu-8g 59.36 dws_calendar <null>",
					"a3-megagpu-8g 44 dws_calendar <null>", "a3-highgpu-8g 41.6 dws_calendar <null>")},
				{"spot", priced("spot"), has(
					row, "a4-highgpu-8g 39.6336", "a3-ultragpu-8g 50.874449096", "a3-megagpu-8g 55.894488548", "a3-highgpu-8g 52.962296548",
					"a2-ultragpu-1g 3.041237534", "a2-ultragpu-2g 6.082475068", "a2-ultragpu-4g 12.164950137", "a2-ultragpu-8g 24.329900274", "a2-highgpu-1g 2.20401",
				)},
				{"commitments, of A2 Ultra for one card only", priced("commitment"), has(
					row+" term", "a4-highgpu-8g 88.9272 1y", "a4-highgpu-8g 56.7072 3y", "a3-ultragpu-8g 58.471933151 1y", "a3-ultragpu-8g 37.208420822 3y",
					"a3-megagpu-8g 64.206558727 1y", "a3-megagpu-8g 40.650103355 3y", "a3-highgpu-8g 61.383674231 1y", "a3-highgpu-8g 38.864383195 3y",
					"a2-ultragpu-1g 4.199690411 1y", "a2-ultragpu-1g 3.499997559 3y", "a2-highgpu-1g 2.31420704 1y", "a2-highgpu-1g 1.285708338 3y",
				)},
				{"H200 on demand is listed and not sold", gcpOffers("--flag", "listed_not_sold"), has(row+" region", "a3-ultragpu-8g 84.806908493 us-central1")},
				{"Mega and plain are one card, 40 and 80 GB two", gcpOffers("--market", "spot", "--type", "a3-*gpu-8g,a2-*gpu-1g"), has(
					"instance_type accelerator.slug memory_gib", "a3-ultragpu-8g h200-sxm-141gb 2952", "a3-megagpu-8g h100-sxm-80gb 1872",
					"a3-highgpu-8g h100-sxm-80gb 1872", "a2-ultragpu-1g a100-sxm-80gb 170", "a2-highgpu-1g a100-sxm-40gb 85",
				)},
				{"nine machine rows and six of groups, each twice", []string{"runs", "show", "1"}, sourceCounts("page", map[string]float64{
					"kept": 42, "omitted.twin": 42, "omitted.group_row": 12, "omitted.not_offered": 2 * (54 - 42),
				})},
			},
			edits: []mutation{
				{"one digit", "$84.806908493", "$84.806908494"},
				{"the heading renamed", "<p>Machine type</p>", "<p>Machine</p>"},
				{"the heading of a price renamed", "Current Spot pricing", "Spot"},
				{"two columns swapped", "DWS Flex-start price", "DWS Calendar Mode price"},
				{"a blank inside a number", "$2 .0000/", "$2 .0001/"},
				{"a price for N/A", "<p>N/A</p>", "<p>$9.00 / 1 hour</p>"},
			},
		},
		{
			name: "derived_anchor.accelerator_vm_prices.2026-08-03.json", provider: "gcp", at: "2026-08-03T00:00:00Z",
			wrapped: "the derived totals in the form of the page, without the G4 slices, which nobody is billed", wrap: gcpAnchor,
			facts: []claim{
				{"29 regions", gcpOffers("--market", "on_demand"), distinct("region", 29)},
				{"none of a region the table does not know", gcpOffers("--flag", "unknown_region"), count(0)},
				{"us-central1 on demand: the totals the sums must give", priced("on_demand", "--region", "us-central1"), among(
					row, "a2-highgpu-1g 3.673385", "a2-highgpu-8g 29.38708", "a2-megagpu-16g 55.739504", "a2-ultragpu-1g 5.06879789",
					"a2-ultragpu-8g 40.550383123", "a3-highgpu-8g 88.489999903", "g2-standard-4 0.706832255", "g4-standard-48 4.49993", "g4-standard-384 35.99944",
				)},
				{"us-central1 spot", priced("spot", "--region", "us-central1"), among(row, "a2-highgpu-1g 1.92802", "a3-highgpu-8g 50.609540822", "g4-standard-48 1.79982")},
				{"Mega and A2 Ultra of other regions", gcpOffers("--region", "europe-west4", "--type", "a3-megagpu-8g,a2-ultragpu-8g"), has(
					row+" market", "a3-megagpu-8g 118.236831175 on_demand", "a3-megagpu-8g 46.243579397 spot",
					"a2-ultragpu-8g 44.647347836 on_demand", "a2-ultragpu-8g 23.561653699 spot",
				)},
				{"neither Mega nor Ultra in us-central1", gcpOffers("--region", "us-central1"), withoutTypes("a3-megagpu-8g", "a3-ultragpu-8g", "a4-highgpu-8g")},
			},
			edits: []mutation{
				{"one digit", "55.739504", "55.739505"},
				{"a region renamed", `"us-central1"`, `"us-central9"`},
				{"two markets swapped", `"on_demand"`, `"spot_"`},
				{"a machine type renamed", `"a2-megagpu-16g"`, `"a2-megagpu-8g"`},
			},
		},
	}
}

// gcpAnchor writes the derived totals in the form of the page.
func gcpAnchor(body []byte) fixture {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var totals map[string]map[string]map[string]json.Number
	if d.Decode(&totals) != nil {
		return fixture{}
	}
	var blocks []any
	for _, region := range slices.Sorted(maps.Keys(totals)) {
		byMarket := totals[region]
		names := map[string]bool{}
		for _, m := range byMarket {
			for name := range m {
				names[name] = true
			}
		}
		for _, slice := range []string{"g4-standard-6", "g4-standard-12", "g4-standard-24"} {
			delete(names, slice)
		}
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			cell := func(market string) string {
				if n, ok := byMarket[market][name]; ok {
					return "$" + n.String() + " / 1 hour"
				}
				return "N/A"
			}
			rows = append(rows, []string{name, "", "", cell("on_demand"), "N/A", "N/A", cell("spot"), "N/A", "N/A"})
		}
		blocks = append(blocks, gcpBlock("Place ("+region+")", gcpHeads(), rows))
	}
	return gcpPageFixture("<!doctype html><html><body>" + gcpEmbedded(blocks...) + "</body></html>")
}
