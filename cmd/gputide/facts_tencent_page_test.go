package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
		{"482 rows with a GPU, of 502", tencentOffers("--volume", "h<=96", "--limit", "0"), count(482)},
		{"34 types with a GPU, neither FPGAs nor CPU rows", []string{"query", "types", "--provider", "tencent"}, count(34)},
	}
}
