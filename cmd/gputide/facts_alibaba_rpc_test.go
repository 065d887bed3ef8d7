package main

import (
	"strings"
)

// alibabaHome is the region that is asked for what is the same everywhere.
const alibabaHome = "cn-hangzhou"

// alibabaAsk is an action of ECS at the host of a region. params are parameters
// beside those of every request.
func alibabaAsk(source, action, file string, params ...string) exchange {
	query := append([]string{"Action=" + action, "Format=JSON", "Version=2014-05-26"}, params...)
	return exchange{Source: source, URL: "https://ecs." + alibabaHome + ".aliyuncs.com/?" + strings.Join(query, "&"), File: file}
}

// alibabaRegion is what leads to the answers of a region: the region itself and
// a type in stock, which they are asked for.
func alibabaRegion(body []byte, exchanges ...exchange) fixture {
	stock := []string{"DestinationResource=InstanceType", "InstanceChargeType=PostPaid", "RegionId=" + alibabaHome}
	return fixture{
		exchanges: append([]exchange{
			alibabaAsk("regions", "DescribeRegions", "regions.json"),
			alibabaAsk("stock", "DescribeAvailableResource", "stock.json", stock...),
			alibabaAsk("stock", "DescribeAvailableResource", "stock.json", append(stock, "SpotStrategy=SpotAsPriceGo")...),
		}, exchanges...),
		files: map[string][]byte{
			"body.json":    body,
			"regions.json": []byte(`{"Regions":{"Region":[{"RegionId":"` + alibabaHome + `","LocalName":"华东 1"}]}}`),
			"stock.json": []byte(`{"AvailableZones":{"AvailableZone":[{"ZoneId":"cn-hangzhou-g","AvailableResources":{"AvailableResource":[` +
				`{"SupportedResources":{"SupportedResource":[{"Value":"ecs.gn6i-c4g1.xlarge","Status":"Available"}]}}]}}]}}`),
		},
	}
}

const alibabaWrapped = "composed list of regions, and stock that names a type to ask for"

// alibabaRPCRecordings are the answers of the signed API. Figures:
// payloads/alibaba/SOURCES.md.
func alibabaRPCRecordings() []recording {
	return append(alibabaTypeRecordings(), alibabaPriceRecording(), alibabaSpotRecording(), alibabaAdviceRecording())
}

func alibabaTypes(more ...string) []string {
	return append([]string{"query", "types", "--provider", "alibaba", "--partition", "cn"}, more...)
}

// alibabaTypesPage is a page of instance types; next answers the second one.
func alibabaTypesPage(body []byte, next string) fixture {
	return fixture{
		exchanges: []exchange{
			alibabaAsk("instance-types", "DescribeInstanceTypes", "next.json", "MaxResults=100", "NextToken=*"),
			alibabaAsk("instance-types", "DescribeInstanceTypes", "body.json", "MaxResults=100"),
		},
		files: map[string][]byte{"body.json": body, "next.json": []byte(next)},
	}
}

func alibabaTypeRecordings() []recording {
	const next = `{"InstanceTypes":{"InstanceType":[{"InstanceTypeId":"ecs.gn7i-c8g1.2xlarge","CpuCoreCount":8,"MemorySize":30,` +
		`"GPUAmount":1,"GPUSpec":"NVIDIA A10","GPUMemorySize":24,"CpuArchitecture":"X86"}]},"NextToken":""}`
	const fields = "instance_type vcpu memory_gib accelerator"
	one := func(body []byte) fixture { return alibabaTypesPage(body, next) }
	return []recording{
		{
			name: "DescribeInstanceTypes_real_2017.json", provider: "alibaba", at: "2017-08-02T00:00:00Z", crawl: []string{"--collect", "accelerated"},
			wrapped: "nothing", wrap: one,
			facts: []claim{
				{"17 GPU types: none of the 5 with FPGAs", alibabaTypes(), both(count(17), withoutTypes(
					"ecs.f1-c4f1.xlarge", "ecs.f1-c8f1.2xlarge", "ecs.f1-c16f1.4xlarge", "ecs.f1-c4f1.2xlarge", "ecs.f1-c8f1.4xlarge",
				))},
				{"counts, halves and quarters without a memory", alibabaTypes("--type", "ecs.gn5-c8g1.8xlarge,ecs.gn4.14xlarge,ecs.ga1.xlarge,ecs.ga1.2xlarge,ecs.gn3.2xlarge"), has(
					"instance_type vcpu memory_gib accelerator.slug accelerator.count",
					"ecs.gn5-c8g1.8xlarge 32 240 p100-pcie-16gb 4", "ecs.gn4.14xlarge 56 96 m40-12gb 2", "ecs.ga1.xlarge 4 10 firepro-s7150 1/4",
					"ecs.ga1.2xlarge 8 20 firepro-s7150 1/2", "ecs.gn3.2xlarge 12 24 grid-k2 1",
				)},
				{"names as they stand", alibabaTypes("--type", "ecs.gn3.2xlarge"), has("accelerator.raw", "NVidia K2")},
			},
			edits: []mutation{
				{"one digit of a divisor", "S7150/4", "S7150/3"},
				{"a required field renamed", `"GPUAmount"`, `"GpuCount"`},
				{"two fields swapped", `"CpuCoreCount"`, `"MemorySize2"`},
				{"a GPU of a family of FPGAs", "ecs.gn4.8xlarge", "ecs.f1.8xlarge"},
				{"a row removed", "ecs.gn3.2xlarge", "ecs.poc-test.gn3"},
			},
		},
		{
			name: "DescribeInstanceTypes_real_2017.json", provider: "alibaba", at: "2017-08-02T00:00:00Z", crawl: []string{"--collect", "all"},
			wrapped: "nothing", wrap: one,
			facts: []claim{
				{"189 types", alibabaTypes(), count(189)},
				{"an FPGA is no accelerator", alibabaTypes("--type", "ecs.f1-c4f1.2xlarge"), has("vcpu memory_gib accelerator", "8 60 <null>")},
			},
			edits: []mutation{
				{"a row removed", "ecs.t1.xsmall", "ecs.poc-test.t1"},
				{"the list renamed", `"InstanceTypes"`, `"Types"`},
				{"another type", "ecs.f1-c4f1.2xlarge", "ecs.f1-c4f1.3xlarge"},
			},
		},
		{
			name: "DescribeInstanceTypes_doc_2021.json", provider: "alibaba", at: "2021-07-19T00:00:00Z", crawl: []string{"--collect", "all"},
			wrapped: "nothing", wrap: one,
			facts: []claim{{"2 vCPUs, 8 GiB and no GPU", alibabaTypes(), both(count(1), has(fields, "ecs.g6.large 2 8 <null>"))}},
			edits: []mutation{
				{"a GPU", `"GPUAmount": 0`, `"GPUAmount": 1`},
				{"one digit", `"MemorySize": 8`, `"MemorySize": 9`},
				{"two fields swapped", `"CpuCoreCount": 2`, `"CpuCoreCount": 8`},
			},
		},
		{
			name: "DescribeInstanceTypes_doc_2025.json", provider: "alibaba", at: "2025-06-01T00:00:00Z", crawl: []string{"--collect", "all"},
			wrapped: "a composed second page", wrap: one,
			facts: []claim{{"a named card of which there is none, and the next page", alibabaTypes(), both(count(2), has(
				"instance_type vcpu memory_gib accelerator.slug accelerator.count", "ecs.g6.large 4 16 <null> <null>", "ecs.gn7i-c8g1.2xlarge 8 30 a10-24gb 1",
			))}},
			edits: []mutation{
				{"a GPU", `"GPUAmount": 0`, `"GPUAmount": 1`},
				{"no next page", `"NextToken"`, `"Token"`},
				{"a required field renamed", `"InstanceTypeId"`, `"Id"`},
			},
		},
	}
}

func alibabaPriceRecording() recording {
	ask := func(unit, n, file string, status int) exchange {
		e := alibabaAsk(
			"price", "DescribePrice", file, "RegionId="+alibabaHome, "ResourceType=instance", "InstanceType=ecs.gn6i-c4g1.xlarge",
			"SystemDisk.Category=*", "SystemDisk.Size=*", "PriceUnit="+unit, "Period="+n,
		)
		e.Status = status
		return e
	}
	return recording{
		name: "DescribePrice_doc_year_cny.json", provider: "alibaba", at: "2021-07-19T00:00:00Z",
		wrapped: alibabaWrapped + "; no price of other periods",
		wrap: func(body []byte) fixture {
			f := alibabaRegion(body, ask("Year", "1", "body.json", 200), ask("*", "*", "none.json", 404))
			f.files["none.json"] = []byte(`{"Code":"PriceNotFound","Message":"no price"}`)
			return f
		},
		facts: []claim{
			{"the list price and what is paid, of one year, and nothing else", []string{"query", "offers", "--provider", "alibaba", "--all"}, both(count(2), has(
				"partition market term stat currency published.amount published.unit",
				"cn subscription 1y list CNY 4368 term", "cn subscription 1y payable CNY 3712.8 term",
			))},
			{"one rule, beside what is paid", []string{"export", "--provider", "alibaba", "--stat", "payable"}, has("sku", "ONE_YEAR_85_PERCENT")},
		},
		edits: []mutation{
			{"another rule", "ONE_YEAR_85_PERCENT", "ONE_YEAR_80_PERCENT"},
			{"one digit", "4368", "4369"},
			{"a required field renamed", `"OriginalPrice"`, `"ListPrice"`},
			{"what is taken off for what is paid", `"TradePrice": 3712.8`, `"TradePrice": 655.2`},
			{"another currency", `"CNY"`, `"USD"`},
		},
	}
}

func alibabaSpotRecording() recording {
	return recording{
		name: "DescribeSpotPriceHistory_doc.json", provider: "alibaba", at: "2019-11-19T07:30:00Z", crawl: []string{"--collect", "all"},
		wrapped: alibabaWrapped,
		wrap: func(body []byte) fixture {
			return alibabaRegion(body, alibabaAsk(
				"spot-history", "DescribeSpotPriceHistory", "body.json", "RegionId="+alibabaHome, "InstanceType=*", "NetworkType=vpc",
				"OSType=linux", "IoOptimized=optimized", "StartTime=*", "EndTime=*",
			))
		},
		facts: []claim{
			{"the price in force, and that on demand", []string{"query", "offers", "--provider", "alibaba", "--all"}, both(count(2), has(
				"instance_type market region zone currency price", "ecs.g5.large spot cn-hangzhou cn-hangzhou-g CNY 0.036",
				"ecs.g5.large on_demand cn-hangzhou <null> CNY 0.354",
			))},
			{"two samples, from six o'clock", []string{"query", "spot", "--provider", "alibaba", "--over", "rows", "--from", "2019-11-19T06:00:00Z", "--to", "2019-11-19T07:00:01Z"}, has(
				"zone price_samples price_min price_max changes", "cn-hangzhou-g 2 0.036 0.036 0",
			)},
			{"the second at seven", []string{"query", "spot", "--provider", "alibaba", "--over", "rows", "--from", "2019-11-19T07:00:00Z", "--to", "2019-11-19T07:00:01Z"}, has(
				"zone price_samples", "cn-hangzhou-g 1",
			)},
		},
		edits: []mutation{
			{"one digit", "0.036", "0.037"},
			{"the two prices swapped", `"OriginPrice": 0.354`, `"OriginPrice": 0.036`},
			{"a required field renamed", `"Timestamp"`, `"Time"`},
			{"another moment", "T07:00:00Z", "T06:30:00Z"},
			{"another currency", `"CNY"`, `"JPY"`},
			{"another zone", "cn-hangzhou-g", "cn-hangzhou-h"},
		},
	}
}

func alibabaAdviceRecording() recording {
	signal := func(name string) []string {
		return []string{"query", "signals", "--provider", "alibaba", "--name", name}
	}
	const fields = "instance_type region zone value"
	return recording{
		name: "DescribeSpotAdvice_doc.json", provider: "alibaba", at: "2021-07-19T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: alibabaWrapped,
		wrap: func(body []byte) fixture {
			return alibabaRegion(body, alibabaAsk("spot-advice", "DescribeSpotAdvice", "body.json", "RegionId="+alibabaHome))
		},
		facts: []claim{
			{"a fifth of the on-demand price is 80 % below it; the zone is another element's", signal("savings"), has(fields, "ecs.c5.large cn-hangzhou <null> 80")},
			{"0 interruptions", signal("interruption"), has(fields, "ecs.c5.large cn-hangzhou <null> 0")},
		},
		edits: []mutation{
			{"one digit", `"AverageSpotDiscount": "20"`, `"AverageSpotDiscount": "21"`},
			{"a required field renamed", `"InstanceType"`, `"Type"`},
			{"another band", "0-3%", "5-10%"},
			{"two fields swapped", `"InterruptRateDesc"`, `"InterruptionRate2"`},
			{"the list renamed", `"AvailableSpotZones"`, `"Zones"`},
		},
	}
}
