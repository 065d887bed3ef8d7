package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

// TestTencentPricePage proves the download of the China price page of 2022-05
// through `gputide import`, and that a spoilt one is noticed.
func TestTencentPricePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(shared(t), "payloads", "tencent", "cvm-price_gpu_2022-05.csv"))
	if err != nil {
		t.Fatal(err)
	}
	facts := tencentPageFacts()
	db, report := importPage(t, page)
	for _, part := range []string{`"accepted":3856`, `"rejected":0`, `"no_accelerator":160`} {
		if !strings.Contains(strings.NewReplacer(" ", "", "\n", "").Replace(report), part) {
			t.Errorf("the report has no %s: %s", part, report)
		}
	}
	for _, f := range facts {
		tally.all.Add(1)
		if err := f.prove(t, db); err != nil {
			t.Errorf("%s: gputide %s: %v", f.name, strings.Join(f.query, " "), err)
			continue
		}
		tally.proven.Add(1)
	}
	for _, e := range []mutation{
		{"one digit of a price", "8.68,4.34,2.95,2500", "8.68,4.34,2.96,2500"},
		{"two columns swapped", "按量T1(元/小时),按量T2(元/小时)", "按量T2(元/小时),按量T1(元/小时)"},
		{"months and years swapped", "包月(元),包年(元)", "包年(元),包月(元)"},
		{"a column renamed", "3年(元)", "三年"},
		{"another zone", "广州六区", "广州七区"},
		{"another system", "LINUX", "WINDOWS"},
	} {
		if !bytes.Contains(page, []byte(e.old)) {
			t.Fatalf("the page has no %q", e.old)
		}
		db, _ := importPage(t, bytes.ReplaceAll(page, []byte(e.old), []byte(e.new)))
		noticed := db == ""
		for _, f := range facts {
			noticed = noticed || f.prove(t, db) != nil
		}
		if !noticed {
			t.Errorf("%s is not noticed", e.name)
		}
	}
}

// importPage imports a price page and returns the database and the report; no
// database for a page that is refused.
func importPage(t *testing.T, page []byte) (db, report string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "page.csv")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		t.Fatal(err)
	}
	db = filepath.Join(dir, "page.db")
	stdout, _, code := runMain(t, "import", file, "--profile", "tencent_price_page", "--at", "2022-05-20", "--db", db, "-o", "json")
	if code != exitOK {
		return "", stdout
	}
	return db, stdout
}

// TestTencentPageAndCrawlAreOneSeries imports a price page and crawls the same
// types: their offers must be the same, and so must their cards, which the profile
// and the adapter know from tables of their own.
func TestTencentPageAndCrawlAreOneSeries(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(shared(t), "payloads", "tencent", "cvm-price_gpu_2022-05.csv"))
	if err != nil {
		t.Fatal(err)
	}
	imported, _ := importPage(t, page)
	const fields = "instance_type accelerator.slug accelerator.count"
	var cards, rows []string
	types := claim{query: []string{"query", "types", "--provider", "tencent"}, check: func(found []answerRow) error {
		for _, r := range found {
			cards = append(cards, strings.Join([]string{r.text("instance_type"), r.text("accelerator.slug"), r.text("accelerator.count")}, " "))
			rows = append(rows, fmt.Sprintf(`{"Zone":"ap-guangzhou-6","InstanceType":%q,"InstanceChargeType":"POSTPAID_BY_HOUR","Status":"SELL",
				"Price":{"UnitPrice":3,"UnitPriceDiscount":3,"UnitPriceSecondStep":2,"UnitPriceDiscountSecondStep":2,"UnitPriceThirdStep":1,"UnitPriceDiscountThirdStep":1}}`,
				r.text("instance_type")))
		}
		return count(34)(found)
	}}
	if err := types.prove(t, imported); err != nil {
		t.Fatal(err)
	}
	list := `"InstanceType":"GN7.2XLARGE32","InstanceChargeType":"PREPAID","Status":"SELL","Price":{"UnitPrice":0,"OriginalPrice":2500,"DiscountPrice":2500,
		"OriginalPriceOneYear":30000,"DiscountPriceOneYear":24900,"OriginalPriceThreeYear":90000,"DiscountPriceThreeYear":45000,
		"OriginalPriceFiveYear":150000,"DiscountPriceFiveYear":75000}}`
	rows = append(rows, `{"Zone":"ap-guangzhou-6",`+list)
	r := recording{provider: "tencent", at: "2022-05-21T00:00:00Z", wrap: func([]byte) fixture {
		return tencentCVM([]byte(tencentOneRegion), []byte(`{"Response":{"InstanceTypeQuotaSet":[`+strings.Join(rows, ",")+`]}}`))
	}}
	crawled, out, code := r.crawlBody(t, nil)
	if code != exitOK {
		t.Fatalf("crawl ended with %d:\n%s", code, out)
	}
	same := claim{query: types.query, check: has(fields, cards...)}
	if err := same.prove(t, crawled); err != nil {
		t.Errorf("cards of the page and of the adapter: %v", err)
	}
	live := make(map[string]bool)
	one := tencentOffers("--zone", "ap-guangzhou-6", "--type", "GN7.2XLARGE32", "--os", "linux")
	note := claim{query: one, check: func(found []answerRow) error {
		for _, r := range found {
			live[r.text("offer_id")] = true
		}
		return count(14)(found)
	}}
	if err := note.prove(t, crawled); err != nil {
		t.Error(err)
	}
	meet := claim{query: one, check: func(found []answerRow) error {
		for _, r := range found {
			if !live[r.text("offer_id")] {
				return fmt.Errorf("no crawl has %v", r)
			}
		}
		return count(8)(found)
	}}
	if err := meet.prove(t, imported); err != nil {
		t.Error(err)
	}
}

func tencentPageFacts() []claim {
	const fields = "market term volume stat published.amount published.unit accelerator.slug accelerator.count"
	at := func(zone, typ, os string, more ...string) []string {
		return tencentOffers(append([]string{"--zone", zone, "--type", typ, "--os", os}, more...)...)
	}
	return []claim{
		{"a T4 in every step and term", at("ap-guangzhou-6", "GN7.2XLARGE32", "linux"), has(
			fields,
			"on_demand <null> h<=96 list 8.68 h t4-16gb 1", "on_demand <null> h<=360 list 4.34 h t4-16gb 1", "on_demand <null> h>360 list 2.95 h t4-16gb 1",
			"subscription 1mo <null> list 2500 term t4-16gb 1", "subscription 1mo <null> payable 2500 term t4-16gb 1",
			"subscription 1y <null> payable 24900 term t4-16gb 1", "subscription 3y <null> payable 45000 term t4-16gb 1",
			"subscription 5y <null> payable 75000 term t4-16gb 1",
		)},
		{
			"a quarter of a T4", at("ap-guangzhou-4", "GN7.LARGE20", "linux", "--volume", "h<=96"),
			has("price accelerator.slug accelerator.count accelerator.count_value", "3.39 t4-16gb 1/4 0.25"),
		},
		{
			"four T4", at("ap-guangzhou-6", "GN7.20XLARGE320", "linux", "--market", "on_demand"),
			has("price accelerator.count", "55.55 4", "27.78 4", "18.89 4"),
		},
		{
			"one V100 in three steps", at("ap-guangzhou-3", "GN10X.2XLARGE40", "linux", "--market", "on_demand"),
			has("price accelerator.model accelerator.memory_gb", "18.04 v100 32", "9.02 v100 32", "6.13 v100 32"),
		},
		{
			"one V100 at one price", at("ap-guangzhou-4", "GN10Xp.2XLARGE40", "linux", "--market", "on_demand"),
			has("price accelerator.model accelerator.memory_gb", "11.98 v100 32", "11.98 v100 32", "11.98 v100 32"),
		},
		{
			"eight A100 at one price", at("ap-guangzhou-6", "GT4.41XLARGE948", "linux"),
			has(
				"market stat published.amount accelerator.count accelerator.memory_gb",
				"on_demand list 237.51 8 40", "on_demand list 237.51 8 40", "on_demand list 237.51 8 40", "subscription list 114016 8 40",
				"subscription payable 114016 8 40", "subscription payable 1135599.36 8 40", "subscription payable 2052288 8 40", "subscription payable 3420480 8 40",
			),
		},
		{
			"Windows is dearer in Hong Kong", tencentOffers("--zone", "ap-hongkong-2", "--type", "GN7.2XLARGE32", "--volume", "h<=96"),
			has("os price", "linux 7.16", "windows 8.85"),
		},
		{"251 pairs of zone and type, 482 rows but 20 without a GPU", tencentOffers("--volume", "h<=96", "--limit", "0"), count(482)},
		{"34 types with a GPU, neither FPGAs nor CPU rows", []string{"query", "types", "--provider", "tencent"}, count(34)},
	}
}
