package main

import "strings"

const (
	huaweiPortal = "https://portal.huaweicloud.com/api/calculator/rest/cbc/portalcalculatornodeservice/v4/api/"
	huaweiBSS    = "https://bss.myhuaweicloud.com/v2/bills/ratings/"
	huaweiECS    = "https://ecs.cn-north-4.myhuaweicloud.com/v1/replay/cloudservers/flavors"
	huaweiArts   = "https://modelarts.cn-north-4.myhuaweicloud.com/v1/replay/notebooks/flavors"
	huaweiMenu   = `{"menuInfos":[{"urlPath":"ecs","regionOnline":{"regionList":["cn-north-4"]}}]}`
)

// huaweiRecordings are the documented answers and fragments of Huawei Cloud and
// what must come out. Figures: payloads/huawei/SOURCES.md of the shared
// recordings. The region is that of a replay: the answers name none, but for the
// calculator.
func huaweiRecordings() []recording {
	return []recording{
		huaweiFlavors(), huaweiGPUFlavor(), huaweiOnDemand(), huaweiPeriod(), huaweiModelArts(), huaweiReserved(), huaweiShape(),
	}
}

func huaweiTypes(name string) []string {
	return []string{"query", "types", "--provider", "huawei", "--type", name}
}

func huaweiFlavors() recording {
	return recording{
		name: "ecs_flavors_doc.json", provider: "huawei", at: "2026-09-20T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "nothing",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{{Source: "ecs-flavors", URL: huaweiECS, File: "flavors.json"}},
				files:     map[string][]byte{"flavors.json": body},
			}
		},
		facts: []claim{{"text and number read alike, no card, no architecture", huaweiTypes("c3.2xlarge.2"), has("vcpu memory_gib accelerator cpu_arch", "8 16 <null> <null>")}},
		edits: []mutation{
			{"one digit of the vCPUs", `"vcpus": "8"`, `"vcpus": "9"`},
			{"one digit of the memory", `16384`, `16385`},
			{"a required field renamed", `"id": "c3`, `"flavor": "c3`},
			{"the memory renamed", `"ram"`, `"memory"`},
		},
	}
}

func huaweiGPUFlavor() recording {
	return recording{
		name: "ecs_flavor_gpu_fragment.json", provider: "huawei", at: "2026-09-20T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "the list around the flavor",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{{Source: "ecs-flavors", URL: huaweiECS, File: "flavors.json"}},
				files:     map[string][]byte{"flavors.json": []byte(`{"flavors":[` + string(body) + `]}`)},
			}
		},
		facts: []claim{
			{"a T4", huaweiTypes("pi2.2xlarge.4"), has("vcpu memory_gib accelerator.slug accelerator.count", "8 32 t4-16gb 1")},
			{
				"on sale in one zone, sold out in the other",
				[]string{"query", "signals", "--provider", "huawei"},
				has("instance_type zone value", "pi2.2xlarge.4 ap-southeast-3a 4", "pi2.2xlarge.4 ap-southeast-3b 0"),
			},
		},
		edits: []mutation{
			{"one digit of the memory", `32768`, `32769`},
			{"another number of cards", `nvidia-t4:1`, `nvidia-t4:2`},
			{"another card", `nvidia-t4:1`, `nvidia-p4:1`},
			{"the zones swapped", `3a(normal),ap-southeast-3b(sellout)`, `3a(sellout),ap-southeast-3b(normal)`},
			{"the status renamed", `cond:operation:az`, `cond:operation:zones`},
		},
	}
}

func huaweiOnDemand() recording {
	return recording{
		name: "bss_on_demand_ratings_modelarts_doc.json", provider: "huawei", at: "2026-09-20T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "composed flavors that the two products stand for",
		wrap: func(body []byte) fixture {
			flavor := func(id string) string { return `{"id":"` + id + `","billing":{"code":"` + id + `","unit_num":1}}` }
			return fixture{
				exchanges: []exchange{
					{Source: "modelarts-flavors", URL: huaweiArts, File: "flavors.json"},
					{Source: "ratings", Method: "POST", URL: huaweiBSS + "on-demand-resources", BodyContains: "modelarts\n", File: "ratings.json"},
				},
				files: map[string][]byte{
					"flavors.json": []byte(`{"flavors":[` + flavor("gpu-part") + "," + flavor("cpu-part") + `]}`), "ratings.json": body,
				},
			}
		},
		facts: []claim{{
			"two parts by id, which make 15.82",
			[]string{"query", "offers", "--provider", "huawei", "--all"},
			has("instance_type price currency market", "gpu-part 12.52 CNY on_demand", "cpu-part 3.3 CNY on_demand"),
		}},
		edits: []mutation{
			{"one digit of a price", `"official_website_amount": 12.52`, `"official_website_amount": 12.53`},
			{"another total", `"official_website_amount": 15.82`, `"official_website_amount": 15.92`},
			{"ids swapped", `"id": "1"`, `"id": "3"`},
			{"the list price renamed", `"official_website_amount"`, `"price"`},
			{"another unit", `"measure_id": 1`, `"measure_id": 3`},
			{"another currency", `"CNY"`, `"EUR"`},
		},
	}
}

func huaweiPeriod() recording {
	return recording{
		name: "bss_period_ratings_ecs_doc.json", provider: "huawei", at: "2026-09-20T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "a composed list with its flavor, a calculator that does not answer, a rating of the year without a price",
		wrap: func(body []byte) fixture {
			const none = `{"official_website_rating_result":{"official_website_amount":0,"measure_id":1,` +
				`"product_rating_results":[{"id":"1","official_website_amount":0,"measure_id":1}]},"currency":"CNY"}`
			return fixture{
				exchanges: []exchange{
					{Source: "ecs-flavors", URL: huaweiECS, File: "flavors.json"},
					{Source: "calculator-menu", URL: huaweiPortal + "menuInfo?sign=common&language=zh-cn", File: "menu.json"},
					{Source: "ratings-period", Method: "POST", URL: huaweiBSS + "period-resources/subscribe-rate", BodyContains: "ecs 1mo\n", File: "month.json"},
					{Source: "ratings-period", Method: "POST", URL: huaweiBSS + "period-resources/subscribe-rate", BodyContains: "ecs 1y\n", File: "year.json"},
				},
				files: map[string][]byte{
					"flavors.json": []byte(`{"flavors":[{"id":"s6.small.1","vcpus":"1","ram":"1024"}]}`),
					"menu.json":    []byte(huaweiMenu), "month.json": body, "year.json": []byte(none),
				},
			}
		},
		facts: []claim{{
			"32.2 a month, the list price",
			[]string{"query", "offers", "--provider", "huawei", "--all"},
			has("instance_type market term published.amount published.unit currency stat", "s6.small.1 subscription 1mo 32.2 term CNY list"),
		}},
		edits: []mutation{
			{"one digit of the price", `"official_website_amount": 32.2`, `"official_website_amount": 32.3`},
			{"the list price renamed", `"official_website_amount"`, `"amount"`},
			{"another id", `"id": "1"`, `"id": "2"`},
			{"the official result renamed", `official_website_rating_result`, `optional_result`},
		},
	}
}

func huaweiModelArts() recording {
	return recording{
		name: "modelarts_flavors_doc.json", provider: "huawei", at: "2026-09-20T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "nothing",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{{Source: "modelarts-flavors", URL: huaweiArts, File: "flavors.json"}},
				files:     map[string][]byte{"flavors.json": body},
			}
		},
		facts: []claim{{
			"two sizes of an Ascend, the memory of a card as the catalogue has it",
			[]string{"query", "types", "--provider", "huawei"},
			has(
				"instance_type accelerator.vendor accelerator.raw accelerator.slug accelerator.count vcpu memory_gib cpu_arch accelerator.reported_mib",
				"modelarts.bm.snt9.xlarge.2 Huawei ascend-snt9 ascend-910a-32gb 2 48 192 arm64 <null>",
				"modelarts.bm.snt9.xlarge.8 Huawei ascend-snt9 ascend-910a-32gb 8 192 768 arm64 <null>",
			),
		}},
		edits: []mutation{
			{"one digit of a count", `"npu": 2`, `"npu": 3`},
			{"one digit of a memory", `201326592`, `301326592`},
			{"another chip", `ascend-snt9`, `ascend-snt3`},
			{"vCPUs renamed", `"vcpus"`, `"cpus"`},
			{"the chip renamed", `"ascend":`, `"npu":`},
		},
	}
}

// huaweiCalculator is a fixture of the calculator of the China site around rows.
func huaweiCalculator(answer string) fixture {
	return fixture{
		exchanges: []exchange{
			{Source: "calculator-menu", URL: huaweiPortal + "menuInfo?sign=common&language=zh-cn", File: "menu.json"},
			{Source: "calculator", URL: huaweiPortal + "productInfo?urlPath=ecs&tag=general.online.portal&region=cn-north-4&tab=calc&sign=common", File: "products.json"},
		},
		files: map[string][]byte{"menu.json": []byte(huaweiMenu), "products.json": []byte(answer)},
	}
}

func huaweiReserved() recording {
	return recording{
		name: "calculator_ri_plans_test.json", provider: "huawei", at: "2026-09-20T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "the answer around the row, and what a row must say of its flavor",
		wrap: func(body []byte) fixture {
			row := strings.Replace(string(body), "{", `{"spec":"x1.small","imageSpec":"linux",`, 1)
			return huaweiCalculator(`{"region":"cn-north-4","product":{"ec2_vm":[` + row + `]}}`)
		},
		facts: []claim{
			{
				"a month and a year, each one period",
				[]string{"query", "offers", "--provider", "huawei", "--market", "subscription", "--all"},
				has("instance_type term published.amount published.unit", "x1.small 1mo 33.85 term", "x1.small 1y 310.28 term"),
			},
			{
				"reserved instances by the month, nothing upfront; 45.04 a month is 540.48 a year of 8760 hours",
				[]string{"query", "offers", "--provider", "huawei", "--market", "commitment", "--all"},
				has(
					"instance_type term payment plan published.amount published.unit upfront price",
					"x1.small 1y none ri 45.04 mo 0 0.06169863", "x1.small 3y none ri 40.04 mo 0 0.054849315",
				),
			},
			{"the hourly price of the page is derived", []string{"runs", "show", "1"}, leftOut("calculator", "4", `{"derived_price":1}`)},
		},
		edits: []mutation{
			{"one digit of a month", `33.85`, `33.86`},
			{"one digit of a reserved month", `40.04`, `40.05`},
			{"an hour that contradicts the month", `0.0617`, `0.0817`},
			{"an amount upfront", `"amount": 0` + "\n", `"amount": 9` + "\n"},
			{"the periods swapped", `"periodNum": 3`, `"periodNum": 2`},
			{"a mode that is not known", `"YEARLY"`, `"WEEKLY"`},
			{"the parts of a price renamed", `"perPrice"`, `"monthPrice"`},
		},
	}
}

func huaweiShape() recording {
	return recording{
		name: "SHAPE_ONLY_calculator_productInfo_ec2_vm.json", provider: "huawei", at: "2026-09-20T00:00:00Z",
		wrapped: "nothing; the amounts are invented, and prove the form alone",
		wrap:    func(body []byte) fixture { return huaweiCalculator(string(body)) },
		facts: []claim{
			{
				"cards, vCPUs, memory and local disks in words", huaweiTypes("g6.2xlarge.4"),
				has("vcpu memory_gib cpu_arch local_disk_gb accelerator.slug accelerator.count", "8 32 x86_64 3600 t4-16gb 2"),
			},
			{
				"three modes are prices",
				[]string{"query", "offers", "--provider", "huawei", "--all"},
				has("market term published.unit os", "on_demand <null> h linux", "subscription 1mo term linux", "subscription 1y term linux"),
			},
			{
				"a reserved instance that does not say what its amount pays for is none",
				[]string{"query", "offers", "--provider", "huawei", "--market", "commitment", "--all"},
				count(0),
			},
		},
		edits: []mutation{
			{"another number of cards", `2 * NVIDIA T4 / 2`, `4 * NVIDIA T4 / 4`},
			{"counts that contradict", `2 * NVIDIA T4 / 2`, `2 * NVIDIA T4 / 4`},
			{"another unit of vCPUs", `pluralUnit.23`, `pluralUnit.24`},
			{"vCPUs and memory swapped", `"cpu"`, `"mem0"`},
			{"a mode that is not known", `"ONDEMAND"`, `"PERDAY"`},
			{"another region", `cn-north-4`, `cn-north-1`},
		},
	}
}
