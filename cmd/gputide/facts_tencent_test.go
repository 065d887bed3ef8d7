package main

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	tencentAPI     = "https://cvm.tencentcloudapi.com/"
	tencentGateway = "https://workbench.cloud.tencent.com/cgi/"
	tencentTIONE   = "https://tione.tencentcloudapi.com/"
	tencentHAI     = "https://hai.tencentcloudapi.com/"

	tencentOneRegion = `{"Response":{"RegionSet":[{"Region":"ap-guangzhou","RegionState":"AVAILABLE"}]}}`
)

// tencentRecordings are the documented answers of Tencent Cloud and the shapes of
// the gateway, and what must come out. Figures: payloads/tencent/SOURCES.md of the
// shared recordings. What the adapter never asks for, or answers with an error, is
// proven beside it.
func tencentRecordings(read func(name string) []byte) []recording {
	spot := read("SHAPE_ONLY_DescribeZoneInstanceConfigInfos_spot_gpu.json")
	return []recording{
		tencentRow("cvm_DescribeZoneInstanceConfigInfos_doc1.json", "ap-guangzhou-6"),
		tencentRow("batch_DescribeCvmZoneInstanceConfigInfos_doc1.json", "ap-guangzhou-2"),
		tencentSpot(),
		tencentZones(spot),
		tencentRegions(spot),
		tencentTypes(spot),
		tencentSpecs(),
		tencentSpecPrices(),
		tencentBundle(read),
	}
}

// tencentPost is one answer of the fixture around a recording; body_contains tells
// actions and regions apart.
func tencentPost(source, url, contains, file string) exchange {
	return exchange{Source: source, Method: "POST", URL: url, BodyContains: contains, File: file}
}

func tencentOffers(more ...string) []string {
	return append([]string{"query", "offers", "--provider", "tencent", "--all"}, more...)
}

// tencentCVM is the API with a list of regions and the same rows for each.
func tencentCVM(regions, rows []byte, more ...exchange) fixture {
	return fixture{
		exchanges: append(more,
			tencentPost("cvm", tencentAPI, "DescribeRegions", "regions.json"),
			tencentPost("cvm", tencentAPI, "DescribeZoneInstanceConfigInfos ", "rows.json")),
		files: map[string][]byte{"regions.json": regions, "rows.json": rows},
	}
}

// tencentCharged adds the way of paying, which the literal of spot rows leaves to
// its request.
func tencentCharged(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(`"InstanceFamily"`), []byte(`"InstanceChargeType": "SPOTPAID", "InstanceFamily"`))
}

func tencentRow(name, zone string) recording {
	return recording{
		name: name, provider: "tencent", at: "2026-08-21T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "a composed list of one region", wrap: func(body []byte) fixture { return tencentCVM([]byte(tencentOneRegion), body) },
		facts: []claim{
			{"no hourly price, a month and a year, as listed and as paid", tencentOffers(), has(
				"instance_type region zone market term volume stat published.amount currency accelerator available",
				"S2.SMALL1 ap-guangzhou "+zone+" subscription 1mo <null> list 59 CNY <null> <null>",
				"S2.SMALL1 ap-guangzhou "+zone+" subscription 1mo <null> payable 59 CNY <null> <null>",
				"S2.SMALL1 ap-guangzhou "+zone+" subscription 1y <null> list 708 CNY <null> <null>",
				"S2.SMALL1 ap-guangzhou "+zone+" subscription 1y <null> payable 587.64 CNY <null> <null>",
			)},
			{
				"an hourly price of 0 is skipped, terms of 0 are not offered",
				[]string{"runs", "show", "1"},
				became("cvm", "4", `{"not_offered":2}`, `{"no_price":2}`),
			},
		},
		edits: []mutation{
			{"one digit of a price", "587.64", "587.65"},
			{"two prices swapped", `"OriginalPriceOneYear"`, `"OriginalPriceThreeYear"`},
			{"a price lost", `"OriginalPrice": 59`, `"OriginalPrice": 0`},
			{"a required field renamed", `"InstanceChargeType"`, `"ChargeType"`},
			{"another way of paying", "POSTPAID_BY_HOUR", "PREPAID"},
			{"another zone", zone, "ap-guangzhou-9"},
			{"an hourly price", `"UnitPrice": 0`, `"UnitPrice": 0.15`},
		},
	}
}

// tencentZoneURL is the gateway's address of the rows of a region.
func tencentZoneURL(region string) string {
	return tencentGateway + "api?i=cvm/DescribeZoneInstanceConfigInfos&uin=&region=" + region
}

func tencentSpot() recording {
	return recording{
		name: "SHAPE_ONLY_DescribeZoneInstanceConfigInfos_spot_gpu.json", provider: "tencent", at: "2026-09-20T00:00:00Z",
		wrapped: "a composed list of zones, the gateway's envelope and the way of paying",
		wrap: func(body []byte) fixture {
			zones := `{"code":0,"data":{"Response":{"RegionSet":[{"region":"ap-shanghai","zones":[{"zone":"ap-shanghai-2"}]}]}}}`
			return fixture{
				exchanges: []exchange{
					tencentPost("gateway", tencentGateway+"area/queryCvmRegion", "", "zones.json"),
					tencentPost("gateway", tencentZoneURL("ap-shanghai"), `"Platform":"LINUX"`, "rows.json"),
				},
				files: map[string][]byte{"zones.json": []byte(zones), "rows.json": []byte(`{"code":0,"data":` + string(tencentCharged(body)) + `}`)},
			}
		},
		facts: []claim{
			{"the price paid, not that of on-demand; sold out in one zone", tencentOffers("--at", "2026-09-20T01:00:00Z"), has(
				"instance_type region zone market os stat price currency state availability accelerator.slug accelerator.count vcpu memory_gib",
				"GN7.HAS ap-shanghai ap-shanghai-2 spot linux list 1.736 CNY priced low t4-16gb 1 10 32",
				"GN7.NONE ap-shanghai ap-shanghai-5 spot linux list 1.736 CNY sold_out none t4-16gb 1 10 32",
			)},
		},
		edits: []mutation{
			{"one digit of a price", "1.736", "1.737"},
			{"two prices swapped", `"UnitPriceDiscount"`, `"UnitPriceSecondStep"`},
			{"a required field renamed", `"Status"`, `"State"`},
			{"another number of cards", `"GpuCount": 1`, `"GpuCount": 2`},
			{"another stock", "UnderStock", "EnoughStock"},
			{"sold out", `"SELL"`, `"SOLD_OUT"`},
		},
	}
}

func tencentZones(rows []byte) recording {
	return recording{
		name: "SHAPE_ONLY_workbench_queryCvmRegion.json", provider: "tencent", at: "2026-09-20T00:00:00Z",
		wrapped: "the rows of each zone, composed of the spot literal",
		wrap: func(body []byte) fixture {
			f := fixture{
				exchanges: []exchange{tencentPost("gateway", tencentGateway+"area/queryCvmRegion", "", "zones.json")},
				files:     map[string][]byte{"zones.json": body},
			}
			for _, zone := range []string{"ap-nanjing-1", "ap-nanjing-3"} {
				f.exchanges = append(f.exchanges, tencentPost("gateway", tencentZoneURL("ap-nanjing"), `"`+zone+`"`, zone))
				f.files[zone] = []byte(strings.NewReplacer("ap-shanghai-2", zone, "ap-shanghai-5", zone).Replace(string(tencentCharged(rows))))
			}
			return f
		},
		facts: []claim{
			{"one region with two zones", tencentOffers("--type", "GN7.HAS"), has("region zone", "ap-nanjing ap-nanjing-1", "ap-nanjing ap-nanjing-3")},
		},
		edits: []mutation{
			{"another zone", "ap-nanjing-3", "ap-nanjing-2"},
			{"zones renamed", `"zones"`, `"areas"`},
			{"a list renamed", `"RegionSet"`, `"Regions"`},
			{"an error", `"code": 0`, `"code": 7`},
			{"another region", `"ap-nanjing"`, `"ap-beijing"`},
		},
	}
}

func tencentRegions(rows []byte) recording {
	return recording{
		name: "cvm_DescribeRegions_doc1.json", provider: "tencent", at: "2026-08-21T00:00:00Z",
		wrapped: "the spot literal as the rows of every region",
		wrap:    func(body []byte) fixture { return tencentCVM(body, tencentCharged(rows)) },
		facts: []claim{
			{
				"eight regions, though the answer counts nine", tencentOffers("--type", "GN7.HAS"),
				has("region", "ap-beijing", "ap-guangzhou", "ap-hongkong", "ap-shanghai", "ap-shanghai-fsi", "ap-shenzhen-fsi", "ap-singapore", "na-siliconvalley"),
			},
		},
		edits: []mutation{
			{"a region not to be had", `"AVAILABLE"`, `"UNAVAILABLE"`},
			{"another region", "na-siliconvalley", "na-ashburn"},
			{"a required field renamed", `"Region"`, `"Id"`},
		},
	}
}

func tencentTypes(rows []byte) recording {
	return recording{
		name: "cvm_DescribeInstanceTypeConfigs_doc1.json", provider: "tencent", at: "2026-08-21T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "a composed list of one region, and an hourly row of each type",
		wrap: func(body []byte) fixture {
			var row []string
			for _, name := range []string{"S6.LARGE8", "S6.MEDIUM8", "S6.2XLARGE16"} {
				row = append(row, fmt.Sprintf(`{"Zone":"ap-guangzhou-6","InstanceType":%q,"InstanceChargeType":"POSTPAID_BY_HOUR","Status":"SELL","Price":{"UnitPrice":1,"UnitPriceDiscount":1}}`, name))
			}
			f := tencentCVM([]byte(tencentOneRegion), []byte(`{"Response":{"InstanceTypeQuotaSet":[`+strings.Join(row, ",")+`]}}`),
				tencentPost("instance-types", tencentAPI, "DescribeInstanceTypeConfigs ap-guangzhou\n", "types.json"))
			f.files["types.json"] = body
			return f
		},
		facts: []claim{
			{"three types in capital letters, without a card", []string{"query", "types", "--provider", "tencent"}, has(
				"instance_type vcpu memory_gib accelerator.count", "S6.LARGE8 4 8 <null>", "S6.MEDIUM8 2 8 <null>", "S6.2XLARGE16 8 16 <null>",
			)},
		},
		edits: []mutation{
			{"one digit of a size", `"CPU": 2`, `"CPU": 3`},
			{"a required field renamed", `"InstanceType"`, `"Type"`},
			{"another memory", `"Memory": 16`, `"Memory": 32`},
			{"a card", `"GPU": 0`, `"GPU": 1`},
			{"cards renamed", `"G`, `"X`},
		},
	}
}

// tencentTIONEFiles is TI-ONE with machines and their prices, in each region.
func tencentTIONEFiles(specs, prices []byte) fixture {
	return fixture{
		exchanges: []exchange{
			tencentPost("ti-one", tencentTIONE, "DescribeBillingSpecsPrice ", "prices.json"),
			tencentPost("ti-one", tencentTIONE, "DescribeBillingSpecs ", "specs.json"),
		},
		files: map[string][]byte{"prices.json": prices, "specs.json": specs},
	}
}

func tencentSpecs() recording {
	return recording{
		name: "tione_DescribeBillingSpecs_doc1.json", provider: "tencent", at: "2026-08-21T00:00:00Z",
		wrapped: "a composed price of the machine",
		wrap: func(body []byte) fixture {
			return tencentTIONEFiles(body, []byte(`{"Response":{"SpecsPrice":[{"SpecName":"TI.GN7.2XLARGE32.POST","SpecCount":1,"TotalCost":868,"RealTotalCost":868}]}}`))
		},
		facts: []claim{
			{"one T4, 8 vCPUs, 32 GiB", tencentOffers("--region", "ap-guangzhou", "--stat", "list"), has(
				"instance_type tier price accelerator.slug accelerator.count vcpu memory_gib", "TI.GN7.2XLARGE32.POST ti-one 8.68 t4-16gb 1 8 32",
			)},
		},
		edits: []mutation{
			{"another number of cards", "GPU(T4)*1", "GPU(T4)*2"},
			{"another card", `"T4"`, `"V100"`},
			{"another size", "8C32GB", "8C64GB"},
			{"not to be had", `"Available": true`, `"Available": false`},
			{"a required field renamed", `"SpecName"`, `"Name"`},
		},
	}
}

func tencentSpecPrices() recording {
	return recording{
		name: "tione_DescribeBillingSpecsPrice_doc1.json", provider: "tencent", at: "2026-08-21T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: "a composed machine without a card",
		wrap: func(body []byte) fixture {
			return tencentTIONEFiles([]byte(`{"Response":{"Specs":[{"Available":true,"SpecName":"TI.S.MEDIUM.POST"}]}}`), body)
		},
		facts: []claim{
			{"70 hundredths of a yuan an hour", tencentOffers("--region", "ap-guangzhou"), has(
				"instance_type market tier stat price currency", "TI.S.MEDIUM.POST on_demand ti-one list 0.7 CNY", "TI.S.MEDIUM.POST on_demand ti-one payable 0.7 CNY",
			)},
		},
		edits: []mutation{
			{"one digit of a price", `"TotalCost": 70`, `"TotalCost": 71`},
			{"a price that is no whole number", `"TotalCost": 70`, `"TotalCost": 7.5`},
			{"a required field renamed", `"RealTotalCost"`, `"Cost"`},
			{"of several machines", `"SpecCount": 1`, `"SpecCount": 2`},
		},
	}
}

func tencentBundle(read func(name string) []byte) recording {
	return recording{
		name: "hai_InquirePriceRunInstances_doc1.json", provider: "tencent", at: "2026-08-21T00:00:00Z",
		wrapped: "the documented regions and applications of HAI; every bundle but XL is refused",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{
					tencentPost("hai", tencentHAI, "DescribeRegions", "regions.json"),
					tencentPost("hai", tencentHAI, "DescribeApplications ap-guangzhou\n", "applications.json"),
					tencentPost("hai", tencentHAI, `"BundleType":"XL","SystemDisk":{"DiskType":"CLOUD_PREMIUM","DiskSize":150}`, "price.json"),
					tencentPost("hai", tencentHAI, "InquirePriceRunInstances ap-guangzhou\n", "refused.json"),
				},
				files: map[string][]byte{
					"regions.json": read("hai_DescribeRegions_doc1.json"), "applications.json": read("hai_DescribeApplications_doc1.json"),
					"price.json": body, "refused.json": []byte(`{"Response":{"Error":{"Code":"ResourceUnavailable","Message":"not on sale"}}}`),
				},
			}
		},
		facts: []claim{
			{"0.88 an hour, a card that nobody names", tencentOffers(), has(
				"instance_type region tier stat price flags",
				`XL ap-guangzhou hai list 0.88 ["no_fx","unknown_accelerator"]`,
				`XL ap-guangzhou hai payable 0.88 ["no_fx","unknown_accelerator"]`,
			)},
		},
		edits: []mutation{
			{"one digit of a price", `"UnitPrice": 0.88`, `"UnitPrice": 0.89`},
			{"another unit", `"HOUR"`, `"MONTH"`},
			{"a required field renamed", `"DiscountUnitPrice"`, `"Discounted"`},
			{"a list renamed", `"InstancePrice"`, `"Instance"`},
		},
	}
}
