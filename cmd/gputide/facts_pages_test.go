package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// lambdaRecordings are the recorded page and API answers of Lambda. Figures:
// payloads/lambda/SOURCES.md of the shared recordings.
func lambdaRecordings() []recording {
	offers := func(more ...string) []string {
		return append([]string{"query", "offers", "--provider", "lambda", "--all"}, more...)
	}
	api := func(body []byte) fixture {
		return fixture{
			exchanges: []exchange{{Source: "api", URL: "https://cloud.lambda.ai/api/v1/instance-types", File: "types.json"}},
			files:     map[string][]byte{"types.json": body},
		}
	}
	return []recording{
		{
			name: "pricing_page_instances_section_2026-08.html", provider: "lambda", at: "2026-08-28T00:00:00Z",
			wrapped: "html and body elements around the section",
			wrap: func(body []byte) fixture {
				page := slices.Concat([]byte("<!DOCTYPE html><html><body>"), body, []byte("</body></html>"))
				return fixture{
					exchanges: []exchange{{
						Source: "page", URL: "https://lambda.ai/pricing", Headers: map[string]string{"Content-Type": "text/html; charset=utf-8"}, File: "page.html",
					}},
					files: map[string][]byte{"page.html": page},
				}
			},
			facts: []claim{
				{"22 offers", offers(), count(22)},
				{"5, 4, 4 and 9 of them by the tab", offers(), perCount(map[string]int{"8": 5, "4": 4, "2": 4, "1": 9})},
				{"H100 SXM by the number of cards", offers("--gpu", "h100-sxm-80gb"), has(
					"accelerator.count published.amount price", "8 3.99 31.92", "4 4.09 16.36", "2 4.19 8.38", "1 4.29 4.29",
				)},
				{"B200 by the number of cards", offers("--gpu", "b200"), has(
					"accelerator.count published.amount", "8 6.69", "4 6.79", "2 6.89", "1 6.99",
				)},
				{"one card each", offers("--count", "1"), has(
					"accelerator.slug price", "b200-sxm-180gb 6.99", "h100-sxm-80gb 4.29", "h100-pcie-80gb 3.29", "gh200-96gb 2.29",
					"a100-sxm-40gb 1.99", "a100-pcie-40gb 1.99", "a10-24gb 1.29", "rtx-a6000-48gb 1.09", "quadro-rtx-6000-24gb 0.69",
				)},
				{"A100 SXM twice, told apart by its memory", offers("--gpu", "a100", "--count", "8"), has(
					"accelerator.slug published.amount", "a100-sxm-80gb 2.79", "a100-sxm-40gb 1.99",
				)},
				{"V100 by eight only", offers("--gpu", "v100"), has("accelerator.count published.amount", "8 0.79")},
			},
			edits: []mutation{
				{"one digit", "$3.99", "$3.98"},
				{"a label renamed", `data-label="PRICE/GPU/HR*"`, `data-label="PRICE"`},
				{"the heading renamed", "Instances pricing", "Pricing"},
				{"two columns swapped", `data-label="VRAM/GPU"`, `data-label="RAM"`},
				{"two tabs swapped", ">8x<", ">4x<"},
			},
		},
		{
			name: "api_instance_types_trimmed_2026-07-30.json", provider: "lambda", at: "2026-07-30T00:00:00Z", wrap: api,
			facts: []claim{
				{"6 types", offers(), has(
					"instance_type price accelerator.slug accelerator.count",
					"gpu_1x_a10 1.29 a10-24gb 1", "gpu_1x_a100 1.99 a100-pcie-40gb 1", "gpu_1x_a100_sxm4 1.99 a100-sxm-40gb 1",
					"gpu_1x_h100_pcie 3.29 h100-pcie-80gb 1", "gpu_1x_a6000 1.09 rtx-a6000-48gb 1", "gpu_8x_a100 15.92 a100-sxm-40gb 8",
				)},
				{"1.99 per GPU of eight", offers("--type", "gpu_8x_a100"), has("price_per_accelerator", "1.99")},
				{"A10 in two regions", offers("--type", "gpu_1x_a10"), has("regions available", `["us-east-1","us-west-1"] true`)},
				{"A6000 has capacity nowhere and keeps its price", offers("--type", "gpu_1x_a6000", "--at", "2026-07-30T00:00:00Z"), has("price state available", "1.09 sold_out false")},
			},
			edits: []mutation{
				{"one digit", "1592", "1593"},
				{"a required field renamed", "price_cents_per_hour", "price"},
				{"two fields swapped", "regions_with_capacity_available", "regions"},
			},
		},
		{
			name: "api_instance_types_doc_example.json", provider: "lambda", at: "2026-07-30T00:00:00Z", wrap: api, crawl: []string{"--collect", "all"},
			facts: []claim{
				{"the full field set of the documented form", offers(), has(
					"instance_type price published.amount vcpu memory_gib local_disk_gb accelerator.count accelerator.raw regions",
					`gpu_8x_example 15.92 15.92 124 1800 6597.069766656 8 Example GPU (40 GB SXM4) ["us-west-1"]`,
				)},
				{"an unknown card keeps its price", offers("--flag", "unknown_accelerator"), count(1)},
			},
			edits: []mutation{
				{"one digit", "1592", "1593"},
				{"a required field renamed", `"price_cents_per_hour"`, `"price_per_hour"`},
				{"two fields swapped", `"vcpus": 124`, `"gpu": 124`},
				{"a number of cards", `"gpus": 8`, `"gpus": 4`},
			},
		},
	}
}

// perCount checks how many rows there are of each number of cards.
func perCount(want map[string]int) func([]answerRow) error {
	return func(rows []answerRow) error {
		got := map[string]int{}
		for _, r := range rows {
			got[r.text("accelerator.count")]++
		}
		if !maps.Equal(got, want) {
			return fmt.Errorf("rows by count %v, want %v", got, want)
		}
		return nil
	}
}

// alibabaList wraps a price list in a composed price page that names it.
func alibabaList(site string) func([]byte) fixture {
	page, folder := "https://www.aliyun.com/price/ecs/ecs-pricing/zh", "ecs-price-info"
	if site == "intl" {
		page, folder = "https://www.alibabacloud.com/en/product/ecs/pricing", "ecs-price-info-intl"
	}
	base := "https://g.alicdn.com/aliyun/" + folder + "/2.0.7/price/"
	return func(body []byte) fixture {
		return fixture{
			exchanges: []exchange{
				{Source: "page-" + site, URL: page, Headers: map[string]string{"Content-Type": "text/html"}, File: "page.html"},
				{Source: "list-" + site, URL: base + "download/instancePrice.json", File: "list.json"},
			},
			files: map[string][]byte{
				"page.html": []byte(`<html><body><script src="` + base + `index.js"></script></body></html>`),
				"list.json": body,
			},
		}
	}
}

// alibabaRecordings are the price list of Alibaba Cloud and two derived tables
// rewritten in its form. Figures: payloads/alibaba/SOURCES.md.
func alibabaRecordings() []recording {
	offers := func(more ...string) []string {
		return append([]string{"query", "offers", "--provider", "alibaba", "--all"}, more...)
	}
	everything := []string{"--collect", "all"}
	const card = "region instance_type price accelerator.slug accelerator.count"
	return []recording{
		{
			name: "instancePrice_intl_2018_transcribed.json", provider: "alibaba", at: "2018-10-08T08:15:52Z", crawl: everything,
			wrap: alibabaList("intl"), wrapped: "composed price page that names version 2.0.7",
			facts: []claim{
				{"14 price points", offers(), count(14)},
				{"an hour of each", offers("--market", "on_demand"), has("instance_type currency price", "ecs.t5-c1m1.xlarge USD 0.09", "ecs.r5.6xlarge USD 1.92")},
				{"months and years are subscriptions of their own", offers("--market", "subscription", "--term", "1mo,1y,5y"), has(
					"instance_type term published.amount",
					"ecs.t5-c1m1.xlarge 1mo 45.74", "ecs.t5-c1m1.xlarge 1y 466.56", "ecs.t5-c1m1.xlarge 5y 2332.74",
					"ecs.r5.6xlarge 1mo 883.01", "ecs.r5.6xlarge 1y 9006.71", "ecs.r5.6xlarge 5y 45033.51",
				)},
				{"the international site is a partition", offers("--partition", "intl"), count(14)},
			},
			edits: []mutation{
				{"one digit", "466.56", "466.57"},
				{"a required field renamed", `"price"`, `"cost"`},
				{"two parts of a key swapped", "::vpc::linux::", "::linux::vpc::"},
				{"two lists swapped", `"months"`, `"hours2"`},
				{"another currency", `"USD"`, `"CNY"`},
			},
		},
		{
			name: "derived_gpu_prices_karpenter_2024-12.json", provider: "alibaba", at: "2024-12-30T00:00:00Z", crawl: everything,
			wrap: func(body []byte) fixture { return alibabaList("cn")(priceList(body, karpenterHours)) }, wrapped: "derived table rewritten as a price list",
			facts: []claim{
				{"578 prices", offers(), count(578)},
				{"the zero row is a counted skip", []string{"runs", "show"}, sourceCounts("list-cn", map[string]float64{"kept": 578, "skipped.no_price": 1})},
				{"cards by the family table", offers("--region", "cn-hangzhou", "--type", "ecs.gn6i-c4g1.xlarge,ecs.gn7i-c8g1.2xlarge,ecs.gn6v-c8g1.2xlarge,ecs.gn7e-c16g1.4xlarge,ecs.gn7e-c16g1.32xlarge,ecs.ebmgn7ix.32xlarge,ecs.sgn7i-vws-m2.xlarge"), has(
					card,
					"cn-hangzhou ecs.gn6i-c4g1.xlarge 11.63 t4-16gb 1", "cn-hangzhou ecs.gn7i-c8g1.2xlarge 9.5326 a10-24gb 1",
					"cn-hangzhou ecs.gn6v-c8g1.2xlarge 26.46 v100-sxm2-16gb 1", "cn-hangzhou ecs.gn7e-c16g1.4xlarge 34.742 a100-sxm-80gb 1",
					"cn-hangzhou ecs.gn7e-c16g1.32xlarge 277.933 a100-sxm-80gb 8", "cn-hangzhou ecs.ebmgn7ix.32xlarge 80.7469 a10-24gb 8",
					"cn-hangzhou ecs.sgn7i-vws-m2.xlarge 1.893534 a10-24gb 1/12",
				)},
				{"three regions", offers("--region", "cn-beijing,cn-hangzhou,cn-shanghai"), perRegion(map[string]int{"cn-beijing": 71, "cn-hangzhou": 65, "cn-shanghai": 66})},
			},
			edits: []mutation{
				{"one digit", "277.933", "277.934"},
				{"a row removed", `"ecs.sgn7i-vws-m2.xlarge"`, `"ecs.poc-test.xlarge"`},
				{"two rows swapped", `"ecs.gn6i-c4g1.xlarge"`, `"ecs.gn6v-c8g1.2xlarge"`},
			},
		},
		{
			name: "derived_gpu_prices_cloudpilot_2024-10.json", provider: "alibaba", at: "2024-10-09T00:00:00Z", crawl: everything,
			wrap: func(body []byte) fixture { return alibabaList("cn")(priceList(body, cloudpilotHours)) }, wrapped: "derived table rewritten as a price list",
			facts: []claim{
				{"72 prices", offers(), perRegion(map[string]int{"cn-beijing": 12, "cn-hangzhou": 9, "cn-hongkong": 14, "cn-shenzhen": 24, "eu-central-1": 13})},
				{"the zero row is a counted skip", []string{"runs", "show"}, sourceCounts("list-cn", map[string]float64{"kept": 72, "skipped.no_price": 1})},
				{"a price with its card", offers("--region", "cn-beijing", "--type", "ecs.ebmgn7ix.32xlarge"), has(card, "cn-beijing ecs.ebmgn7ix.32xlarge 80.7469 a10-24gb 8")},
			},
			edits: []mutation{
				{"one digit", "80.7469", "80.7468"},
				{"a row removed", `"ecs.ebmgn7ix.32xlarge"`, `"ecs.poc-test.32xlarge"`},
				{"two fields swapped", `"onDemandPricePerHour": 0`, `"onDemandPricePerHour": 1`},
			},
		},
	}
}

func perRegion(want map[string]int) func([]answerRow) error {
	return func(rows []answerRow) error {
		got := map[string]int{}
		for _, r := range rows {
			got[r.text("region")]++
		}
		if !maps.Equal(got, want) {
			return fmt.Errorf("rows by region %v, want %v", got, want)
		}
		return nil
	}
}

// hours is region → instance type → CNY per hour as the table prints it.
type hours map[string]map[string]json.Number

func karpenterHours(body []byte) (h hours, err error) {
	err = decodeNumbers(body, &h)
	return h, err
}

func cloudpilotHours(body []byte) (hours, error) {
	var regions map[string]struct {
		Types map[string]struct {
			Hour json.Number `json:"onDemandPricePerHour"`
		} `json:"instanceTypePrices"`
	}
	if err := decodeNumbers(body, &regions); err != nil {
		return nil, err
	}
	out := hours{}
	for region, r := range regions {
		out[region] = map[string]json.Number{}
		for name, t := range r.Types {
			out[region][name] = t.Hour
		}
	}
	return out, nil
}

func decodeNumbers(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(into)
}

// priceList writes a table of hourly prices as a price list of the China site.
func priceList(body []byte, read func([]byte) (hours, error)) []byte {
	table, err := read(body)
	if err != nil {
		return []byte(err.Error()) // a mutation may break the table
	}
	info := map[string]any{}
	for region, types := range table {
		for name, price := range types {
			key := strings.Join([]string{region, name, "vpc", "linux", "optimized"}, "::")
			info[key] = map[string]any{"hours": []any{map[string]string{"price": price.String(), "period": "1"}}}
		}
	}
	return asJSON(map[string]any{
		"currency": "CNY", "version": "2.0.7", "publicationDate": "2024-10-01T00:00:00Z", "site": "China", "pricingInfo": info,
	})
}
