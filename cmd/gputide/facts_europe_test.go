package main

import (
	"bytes"
	"fmt"
)

// scalewayCatalogue is the address of the first page of the products of a zone.
const scalewayCatalogue = "https://api.scaleway.com/product-catalog/v2alpha1/public-catalog/products?product_types=instance&zone=%s&page=1&page_size=100"

// europeRecordings are the recorded answers of the European clouds and what must
// come out. Figures: the SOURCES.md of the shared recordings. beside reads a file
// of the folder of a provider.
func europeRecordings(beside func(provider string) func(name string) []byte) []recording {
	all := append(scalewayRecordings(beside("scaleway")), ovhRecordings()...)
	all = append(all, exoscaleRecordings()...)
	return append(all, seewebRecordings()...)
}

func scalewayRecordings(read func(string) []byte) []recording {
	const catalogue, types1 = "public-catalog_products_instance_fr-par-1.json", "products_servers_fr-par-1_page1.json"
	const excerpt = "public-catalog_excerpt_retired_and_b300_2026-08.json"
	region := []string{"--region", "fr-par-1"}
	return []recording{{
		name: catalogue, provider: "scaleway", at: "2026-07-01T15:09:00Z", crawl: region,
		wrap:    func(body []byte) fixture { return scalewayZone(read, body, nil) },
		wrapped: "types and stock of the zone",
		facts: []claim{
			{"GPU instances are priced per minute, but for the oldest; L4 are sold out", scalewayOffers("--at", "2026-07-01T15:10:00Z"), has(
				"instance_type zone price currency published.amount published.unit tax accelerator.slug accelerator.count accelerator.memory_gb state",
				"L4-1-24G fr-par-1 0.7875 EUR 0.013125 min excluded l4-24gb 1 24 sold_out",
				"L4-2-24G fr-par-1 1.575 EUR 0.02625 min excluded l4-24gb 2 24 sold_out",
				"L4-4-24G fr-par-1 3.15 EUR 0.0525 min excluded l4-24gb 4 24 sold_out",
				"L4-8-24G fr-par-1 6.3 EUR 0.105 min excluded l4-24gb 8 24 sold_out",
				"RENDER-S fr-par-1 1.221 EUR 1.221 h excluded p100-pcie-16gb 1 16 priced",
			)},
			{"96 products, 5 of them with cards", []string{"runs", "show", "1"}, leftOut("catalogue", "5", `{"not_accelerated":91}`)},
		},
		edits: []mutation{
			{"one digit of a price", `"nanos":13125000`, `"nanos":13126000`},
			{"another unit", `"unit":"minute"`, `"unit":"hour"`},
			{"another currency", `"EUR"`, `"USD"`},
			{"a product retired", `"general_availability"`, `"retired"`},
			{"a count of cards that the types do not have", `"count":8, "type":"L4"`, `"count":4, "type":"L4"`},
		},
	}, {
		name: types1, provider: "scaleway", at: "2026-07-01T15:09:00Z", crawl: region,
		wrap:    func(body []byte) fixture { return scalewayZone(read, read(catalogue), body) },
		wrapped: "the other pages, the catalogue and the stock of the zone",
		facts: []claim{
			{"machines of the GPU types", []string{"query", "types", "--provider", "scaleway", "--gpu", "l4-24gb"}, has(
				"instance_type vcpu memory_gib network_gbps accelerator.memory_gb",
				"L4-1-24G 8 48 2.5 24", "L4-2-24G 16 96 5 24", "L4-4-24G 32 192 10 24", "L4-8-24G 64 384 20 24",
			)},
		},
		edits: []mutation{
			{"one digit of a memory size", `"ram": 412316860416`, `"ram": 412316860418`},
			{"vCPUs changed", `"ncpus": 64`, `"ncpus": 65`},
			{"cards renamed", `"gpu_name": "L4"`, `"gpu_name": "L5"`},
			{"the count renamed", `"gpu": `, `"gpus": `},
		},
	}, {
		name: excerpt, provider: "scaleway", at: "2026-08-14T00:00:00Z", crawl: []string{"--region", "fr-par-1,fr-par-2,nl-ams-1", "--collect", "all"},
		wrap:    scalewayExcerpt,
		wrapped: "the count of the excerpt instead of that of the whole catalogue; each zone answers with all rows",
		facts: []claim{
			{"7 live rows, one with cards, by the minute; none that is retired", scalewayOffers(), has(
				"instance_type zone price published.unit accelerator.slug accelerator.count",
				"B300-SXM-8-288G fr-par-2 60 min b300-sxm-288gb 8",
				"BASIC2-A2C-4G nl-ams-1 0.023 h <null> <null>", "COMPUTE3-X2C-4G fr-par-1 0.0585 h <null> <null>",
				"MEMORY3-X2C-16G fr-par-1 0.1133 h <null> <null>", "POP2-HC-2C-4G fr-par-1 0.0532 h <null> <null>",
				"POP2-HM-2C-16G fr-par-1 0.103 h <null> <null>", "POP2-2C-8G fr-par-1 0.0735 h <null> <null>",
			)},
			{"the machine of the B300", []string{"query", "types", "--provider", "scaleway", "--type", "B300-SXM-8-288G"}, has("vcpu memory_gib", "224 3840")},
			{"10 retired rows, seen in each of three zones", []string{"runs", "show", "1"}, leftOut("catalogue", "7", `{"not_sold":30,"other_zone":14}`)},
		},
		edits: []mutation{
			{"a retired product sold again", `"retired"`, `"general_availability"`},
			{"one digit of a price", `58500000`, `58600000`},
			{"another unit", `"minute"`, `"hour"`},
			{"cards lost", `"gpu"`, `"card"`},
		},
	}}
}

// scalewayExcerpt answers each of three zones with the rows of all.
func scalewayExcerpt(body []byte) fixture {
	f := fixture{files: map[string][]byte{
		"catalogue.json": bytes.Replace(body, []byte(`"total_count": 5452`), []byte(`"total_count": 17`), 1),
	}}
	for _, zone := range []string{"fr-par-1", "fr-par-2", "nl-ams-1"} {
		f.exchanges = append(f.exchanges, exchange{Source: "catalogue", File: "catalogue.json", URL: fmt.Sprintf(scalewayCatalogue, zone)})
	}
	return f
}

func scalewayOffers(more ...string) []string {
	return append([]string{"query", "offers", "--provider", "scaleway", "--all"}, more...)
}

// scalewayZone is fr-par-1 as recorded. page replaces the first page of its types.
func scalewayZone(read func(string) []byte, catalogue, page []byte) fixture {
	const base = "https://api.scaleway.com/"
	f := fixture{files: map[string][]byte{"catalogue.json": catalogue}, exchanges: []exchange{{
		Source: "catalogue", File: "catalogue.json",
		URL: fmt.Sprintf(scalewayCatalogue, "fr-par-1"),
	}}}
	for n := 1; n <= 3; n++ {
		for source, list := range map[string][2]string{
			"server-types": {"", "products_servers_fr-par-1_page%d.json"},
			"availability": {"/availability", "products_servers_availability_fr-par-1_page%d.json"},
		} {
			name := fmt.Sprintf(list[1], n)
			f.files[name] = read(name)
			if page != nil && source == "server-types" && n == 1 {
				f.files[name] = page
			}
			f.exchanges = append(f.exchanges, exchange{
				Source: source, URL: fmt.Sprintf(base+"instance/v1/zones/fr-par-1/products/servers%s?page=%d&per_page=50", list[0], n),
				Headers: map[string]string{"X-Total-Count": "107"}, File: name,
			})
		}
	}
	return f
}

func ovhRecordings() []recording {
	const name = "order_catalog_public_cloud_excerpt_2026-08.json"
	offers := []string{"query", "offers", "--provider", "ovh", "--all"}
	return []recording{{
		name: name, provider: "ovh", at: "2026-08-14T00:00:00Z", crawl: []string{"--collect", "all"}, wrap: ovhCatalogue,
		wrapped: "the locale, which the excerpt lacks",
		facts: []claim{
			{"one GPU flavor, by the hour and by the month", append(offers, "--gpu", "a100-sxm-80gb,a100-pcie-80gb,a100-80gb"), has(
				"instance_type market term published.amount published.unit currency tax accelerator.count accelerator.memory_gb",
				"a100-180 on_demand <null> 2.75 h EUR excluded 1 80", "a100-180 subscription 1mo 1100 mo EUR excluded 1 80",
			)},
			{"10 rows by the hour, with classes of deployment", append(offers, "--market", "on_demand"), has(
				"instance_type tier price", "a100-180 <null> 2.75", "b3-8 <null> 0.0512", "b3-8 3AZ 0.0512", "b3-8 LZ.EU 0.0512",
				"b3-8 LZ.EUROZONE 0.0512", "b3-8 LZ.AF 0.093", "c3-8 <null> 0.0913", "c3-8 3AZ 0.0913", "d2-2 <null> 0.0104", "d2-4 <null> 0.0206",
			)},
			{"3 rows by the month", append(offers, "--market", "subscription"), has(
				"instance_type published.amount", "a100-180 1100", "d2-2 5.71", "d2-4 11.44",
			)},
			{"the machine", []string{"query", "types", "--provider", "ovh", "--type", "a100-180"}, has(
				"vcpu memory_gib local_disk_gb local_disk_kind accelerator.raw", "15 180 300 nvme A100",
			)},
		},
		edits: []mutation{
			{"one digit of a price", `275000000`, `276000000`},
			{"one digit of a monthly price", `110000000000`, `110100000000`},
			{"a required field renamed", `"planCode"`, `"plan"`},
			{"price and tax swapped", `"price": 9300000`, `"price": 1767000`},
			{"cards lost", `"gpu": {`, `"card": {`},
			{"another interval", `"intervalUnit": "month"`, `"intervalUnit": "day"`},
			{"tags lost", `"active"`, `"former"`},
			{"another product", `"publiccloud-instance"`, `"publiccloud-ai"`},
		},
	}}
}

// ovhCatalogue is the catalogue of Germany around an excerpt of its addons.
func ovhCatalogue(body []byte) fixture {
	locale := []byte(`{"locale":{"currencyCode":"EUR","subsidiary":"DE","taxRate":19},`)
	return fixture{
		exchanges: []exchange{{Source: "catalogue-de", URL: "https://eu.api.ovh.com/v1/order/catalog/public/cloud?ovhSubsidiary=DE", File: "de.json"}},
		files:     map[string][]byte{"de.json": bytes.Replace(body, []byte("{"), locale, 1)},
	}
}

func exoscaleRecordings() []recording {
	offers := func(more ...string) []string {
		return append([]string{"query", "offers", "--provider", "exoscale", "--all"}, more...)
	}
	return []recording{{
		name: "opencompute_pricing.json", provider: "exoscale", at: "2026-10-01T00:00:00Z",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{{Source: "pricing", URL: "https://portal.exoscale.com/api/pricing/opencompute", File: "pricing.json"}},
				files:     map[string][]byte{"pricing.json": body},
			}
		},
		facts: []claim{
			{"one number in three currencies is three offers", offers("--type", "gpu3.huge"), has(
				"instance_type currency published.amount published.unit tax accelerator.count",
				"gpu3.huge CHF 8.36270000 h excluded <null>", "gpu3.huge EUR 8.36270000 h excluded <null>", "gpu3.huge USD 8.36270000 h excluded <null>",
			)},
			{"the anchors, in euros", offers("--type", "gpu*.small,gpurtx6000pro.huge"), has(
				"instance_type currency published.amount accelerator.slug", exoscaleAnchors()...,
			)},
			{"26 of 60 prices are of GPU instances, 8 of no instance, in each currency", []string{"runs", "show", "1"}, leftOut(
				"pricing", "78", `{"not_accelerated":78,"other_product":24}`,
			)},
		},
		edits: []mutation{
			{"one digit of a price", `8.36270000`, `8.36280000`},
			{"a currency lost", `"chf"`, `"gbp"`},
			{"a price lost", `"running_gpu3_huge": "8.36270000"`, `"running_gpu3_huge": "0E-8"`},
			{"the prefix renamed", `"running_`, `"runs_`},
			{"two columns swapped", `running_gpu3_huge`, `running_gpu9_huge`},
		},
	}}
}

// exoscaleAnchors are the prices of the shared notes, which are the same in each
// currency.
func exoscaleAnchors() []string {
	var rows []string
	for _, c := range []string{"CHF", "EUR", "USD"} {
		for _, row := range []string{
			"gpu.small %s 1.16806000 <null>", "gpu2.small %s 1.37500000 <null>", "gpu3.small %s 1.04530000 <null>",
			"gpua30.small %s 1.22645833 a30-24gb", "gpua5000.small %s 1.34028000 rtx-a5000-24gb", "gpu3080ti.small %s 0.92361000 rtx-3080-ti-12gb",
			"gpurtx6000pro.small %s 2.15277778 <null>", "gpurtx6000pro.huge %s 15.97222220 <null>",
		} {
			rows = append(rows, fmt.Sprintf(row, c))
		}
	}
	return rows
}

func seewebRecordings() []recording {
	offers := func(more ...string) []string {
		return append([]string{"query", "offers", "--provider", "seeweb", "--all"}, more...)
	}
	return []recording{{
		name: "cloud_server_gpu_page_2026-09-15.html", provider: "seeweb", at: "2026-09-15T00:00:00Z",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{{
					Source: "page", URL: "https://www.seeweb.it/en/products/cloud-server-gpu", File: "page.html",
					Headers: map[string]string{"Content-Type": "text/html; charset=utf-8"},
				}},
				files: map[string][]byte{"page.html": body},
			}
		},
		facts: []claim{
			{"prices per card, on demand and reserved", offers("--type", "*×1"), has(
				"instance_type market term published.amount published.basis currency accelerator.model", seewebPrices()...,
			)},
			{"the price of a server is that of its cards, whatever memory the page shows", offers("--type", "*×2,*×8", "--market", "on_demand"), has(
				"instance_type price", "NVIDIA H200×2 5.2", "NVIDIA H100×2 3.78", "NVIDIA A100×2 2.3",
				"NVIDIA H200×8 20.8", "NVIDIA H100×8 15.12", "NVIDIA A100×8 9.2",
			)},
			{"servers of 1, 2, 4 and 8 cards: 48 offers", []string{"runs", "show", "1"}, leftOut("page", "48", "{}")},
		},
		edits: []mutation{
			{"one digit of a price", `<span>1.89</span>`, `<span>1.88</span>`},
			{"one digit of a reserved price", `<span>2.21</span>`, `<span>2.22</span>`},
			{"a number of cards", `<option value="2">2<`, `<option value="3">3<`},
			{"a class renamed", `hourly_6mnths`, `hourly_half`},
			{"another currency", `&euro;`, `&#36;`},
			{"a card renamed", `NVIDIA A100`, `NVIDIA A10`},
		},
	}}
}

// seewebPrices are the prices per card of the shared notes. Which of the two A100
// it is, the page does not say.
func seewebPrices() []string {
	var rows []string
	for name, p := range map[string][5]string{
		"H200": {"2.60", "2.47", "2.34", "2.21", "h200"},
		"H100": {"1.89", "1.80", "1.70", "1.61", "h100"},
		"A100": {"1.15", "1.09", "1.03", "0.98", "<null>"},
	} {
		for i, term := range []string{"on_demand <null>", "commitment 3mo", "commitment 6mo", "commitment 1y"} {
			rows = append(rows, fmt.Sprintf("NVIDIA %s×1 %s %s accelerator EUR %s", name, term, p[i], p[4]))
		}
	}
	return rows
}
