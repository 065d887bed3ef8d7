package alibaba_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
	"github.com/gputide/gputide/providers/alibaba"
	"github.com/gputide/gputide/providers/providertest"
)

// shared returns a stored file; the test is skipped without it.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	body, err := os.ReadFile(filepath.Join(dir, "payloads", "alibaba", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// crawl reads body as the list of the named site.
func crawl(t *testing.T, site, body string) (*providertest.Collector, error) {
	t.Helper()
	page, folder := "https://www.aliyun.com/price/ecs/ecs-pricing/zh", "ecs-price-info"
	if site == "intl" {
		page, folder = "https://www.alibabacloud.com/en/product/ecs/pricing", "ecs-price-info-intl"
	}
	return providertest.Collect(t.Context(), alibaba.New(providertest.Replay(
		t, "alibaba",
		providertest.Exchange{
			Source: "page-" + site, URL: page, Header: map[string]string{"Content-Type": "text/html"},
			Body: `<html><script src="https://g.alicdn.com/aliyun/` + folder + `/2.0.7/price/index.js"></script></html>`,
		},
		providertest.Exchange{
			Source: "list-" + site, URL: "https://g.alicdn.com/aliyun/" + folder + "/2.0.7/price/download/instancePrice.json",
			Body: body, Header: map[string]string{"Content-Type": "application/json"},
		},
	), alibaba.Config{}))
}

// points returns the offers of a crawl: everything of the key and the price.
func points(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Live() {
		k := &o.Key
		out = append(out, fmt.Sprintf("%s %s %s %s %s %s %s per %s of %s",
			k.Partition, k.Region, k.InstanceType, k.OS, o.Price.Amount, k.Currency, k.Term, o.Price.Unit, o.Price.Basis))
	}
	slices.Sort(out)
	return out
}

// knownPoints are the two keys and fourteen prices of the list of 2018-10-08.
func knownPoints() []string {
	var out []string
	for _, of := range []struct {
		name   string
		prices []string // hour, month, 1 to 5 years
	}{
		{"ecs.t5-c1m1.xlarge", []string{"0.09", "45.74", "466.56", "933.1", "1399.64", "1866.18", "2332.74"}},
		{"ecs.r5.6xlarge", []string{"1.92", "883.01", "9006.71", "18013.4", "27020.11", "36026.8", "45033.51"}},
	} {
		for i, price := range of.prices {
			period := []string{" per h", "1mo per term", "1y per term", "2y per term", "3y per term", "4y per term", "5y per term"}[i]
			out = append(out, fmt.Sprintf("intl ap-southeast-1 %s linux %s USD %s of instance", of.name, price, period))
		}
	}
	slices.Sort(out)
	return out
}

const transcribed = "instancePrice_intl_2018_transcribed.json"

// TestFacts proves what is known of the transcribed list.
func TestFacts(t *testing.T) {
	c, err := crawl(t, "intl", shared(t, transcribed))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(knownPoints(), points(c)); d != "" {
		t.Errorf("facts (-known +read):\n%s", d)
	}
	if len(c.Skips)+len(c.Omits) != 0 {
		t.Errorf("skipped %v, omitted %v", c.Skips, c.Omits)
	}
}

// TestFactsNotice proves that the facts fail when the list is spoilt.
func TestFactsNotice(t *testing.T) {
	body := shared(t, transcribed)
	swap := func(a, b string) string { return strings.NewReplacer(a, b, b, a).Replace(body) }
	for name, spoilt := range map[string]string{
		"digit of an hour":        strings.Replace(body, "1.92", "1.93", 1),
		"digit of a month":        strings.Replace(body, "883.01", "883.02", 1),
		"digit of five years":     strings.Replace(body, "45033.51", "45033.61", 1),
		"digit of a period":       strings.Replace(body, `"period": "4"`, `"period": "6"`, 1),
		"hours and months":        swap(`"hours"`, `"months"`),
		"months and years":        swap(`"months"`, `"years"`),
		"prices and periods":      swap(`"price"`, `"period"`),
		"types exchanged":         swap("ecs.t5-c1m1.xlarge", "ecs.r5.6xlarge"),
		"another region":          strings.Replace(body, "ap-southeast-1", "ap-southeast-2", 1),
		"another system":          strings.Replace(body, "::linux::", "::windows::", 1),
		"another network":         strings.Replace(body, "::vpc::", "::classic::", 1),
		"parts of the key turned": strings.ReplaceAll(body, "::vpc::linux::", "::linux::vpc::"),
		"another currency":        strings.Replace(body, "USD", "CNY", 1),
		"another site":            strings.Replace(body, "Intl", "China", 1),
		"hours renamed":           strings.ReplaceAll(body, `"hours"`, `"hour"`),
		"years renamed in one":    strings.Replace(body, `"years"`, `"year"`, 1),
		"price renamed":           strings.ReplaceAll(body, `"price"`, `"amount"`),
		"period renamed":          strings.ReplaceAll(body, `"period"`, `"count"`),
	} {
		t.Run(name, func(t *testing.T) {
			if spoilt == body {
				t.Fatal("the list has nothing to spoil")
			}
			c, err := crawl(t, "intl", spoilt)
			if err == nil && cmp.Equal(knownPoints(), points(c)) {
				t.Error("nothing is noticed")
			}
		})
	}
}

// quote is one row of a derived table: an hourly price on Linux, with the number
// of its cards where the table has it.
type quote struct {
	region, name, price string
	cards               int
}

// karpenter returns the rows of the table region → type → price.
func karpenter(t *testing.T) []quote {
	t.Helper()
	var regions map[string]map[string]json.Number
	if err := json.Unmarshal([]byte(shared(t, "derived_gpu_prices_karpenter_2024-12.json")), &regions); err != nil {
		t.Fatal(err)
	}
	var out []quote
	for region, types := range regions {
		for name, price := range types {
			out = append(out, quote{region, name, price.String(), 0})
		}
	}
	return out
}

// cloudpilot returns the rows of the table region → type → price and cards.
func cloudpilot(t *testing.T) []quote {
	t.Helper()
	var regions map[string]struct {
		Types map[string]struct {
			Price json.Number `json:"onDemandPricePerHour"`
			GPU   int         `json:"gpu"`
		} `json:"instanceTypePrices"`
	}
	if err := json.Unmarshal([]byte(shared(t, "derived_gpu_prices_cloudpilot_2024-10.json")), &regions); err != nil {
		t.Fatal(err)
	}
	var out []quote
	for region, table := range regions {
		for name, row := range table.Types {
			out = append(out, quote{region, name, row.Price.String(), row.GPU})
		}
	}
	return out
}

// compose writes the rows as a price list of the true form.
func compose(rows []quote) string {
	entries := make(map[string]any)
	for _, q := range rows {
		entries[q.region+"::"+q.name+"::vpc::linux::optimized"] = map[string]any{
			"hours": []any{map[string]string{"price": q.price, "period": "1"}}, "months": []any{}, "years": []any{},
		}
	}
	text, err := json.Marshal(map[string]any{
		"currency": "CNY", "version": "2.0.7", "publicationDate": "2024-12-30T00:00:00Z", "pricingInfo": entries, "type": "Instance",
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestDerivedTables proves that every price of both tables comes out, each with
// the card and the number of cards of its type, and the zero of each as a skip.
func TestDerivedTables(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rows   func(*testing.T) []quote
		prices int
		zero   string
		counts map[string]int // offers by region
	}{
		{
			"karpenter", karpenter, 578, "cn-shanghai ecs.vgn6i-m16-vws.5xlarge",
			map[string]int{"cn-beijing": 71, "cn-hangzhou": 65, "cn-shanghai": 66},
		},
		{
			"cloudpilot", cloudpilot, 72, "cn-beijing ecs.gn6v-c8g1.4xlarge",
			map[string]int{"cn-beijing": 12, "cn-hangzhou": 9, "cn-hongkong": 14, "cn-shenzhen": 24, "eu-central-1": 13},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := tt.rows(t)
			c, err := crawl(t, "cn", compose(rows))
			if err != nil {
				t.Fatal(err)
			}
			var skipped []string
			for _, s := range c.Skips {
				skipped = append(skipped, s.Key.Region+" "+s.Key.InstanceType+" "+s.Reason)
			}
			if d := cmp.Diff([]string{tt.zero + " no_price"}, skipped); d != "" {
				t.Errorf("skipped (-want +got):\n%s", d)
			}
			live := c.Live()
			if len(live) != tt.prices {
				t.Errorf("%d prices, want %d", len(live), tt.prices)
			}
			counts := make(map[string]int)
			for i := range live {
				counts[live[i].Key.Region]++
			}
			for region, n := range tt.counts {
				if counts[region] != n {
					t.Errorf("%s: %d prices, want %d", region, counts[region], n)
				}
			}
			checkRows(t, rows, live)
		})
	}
}

// checkRows compares offers with the rows they were composed from, and their
// cards with the spec table.
func checkRows(t *testing.T, rows []quote, live []gputide.RawOffer) {
	t.Helper()
	want := make(map[string]quote)
	for _, q := range rows {
		want[q.region+q.name] = q
	}
	cards := specTable(t)
	norm := normalizer(t)
	for i := range live {
		o := &live[i]
		q, ok := want[o.Key.Region+o.Key.InstanceType]
		if !ok || o.Price.Amount != q.price || o.Price.Unit != gputide.PerHour || o.Key.OS != "linux" || o.Key.Currency != "CNY" {
			t.Errorf("%s %s: %v, want %v", o.Key.Region, o.Key.InstanceType, o.Price, q)
		}
		d := &o.Spec.Device
		spec := cards[o.Key.InstanceType]
		if d.Name != spec.model || (d.Count.Den == 1 && d.Count.Value() != spec.cards) {
			t.Errorf("%s: %s × %s, want %v", o.Key.InstanceType, d.Name, d.Count, spec)
		}
		if q.cards != 0 && d.Count.Den == 1 && int(d.Count.Num) != q.cards {
			t.Errorf("%s: %s cards, the price table has %d", o.Key.InstanceType, d.Count, q.cards)
		}
		o.Spec.Provider = "alibaba"
		n, err := norm.Offer(o, o.Spec)
		flags := slices.DeleteFunc(n.Flags, func(f gputide.Flag) bool { return f == gputide.FlagMaskedAccelerator })
		if err != nil || !norm.Accelerated(o.Spec) || len(flags) != 0 {
			t.Errorf("%s %s: %v, flags %v", o.Key.Region, o.Key.InstanceType, err, n.Flags)
		}
	}
}

type specRow struct {
	model string
	cards float64
}

func specTable(t *testing.T) map[string]specRow {
	t.Helper()
	var rows []struct {
		ID    string  `json:"id"`
		Model string  `json:"gpu_model"`
		Count float64 `json:"gpu_count"`
	}
	if err := json.Unmarshal([]byte(shared(t, "derived_gpu_specs_sparecores_2026-01.json")), &rows); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]specRow)
	for _, r := range rows {
		out[r.ID] = specRow{r.Model, r.Count}
	}
	return out
}

func normalizer(t *testing.T) *normalize.Normalizer {
	t.Helper()
	catalogue, err := normalize.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	regions, err := normalize.LoadRegions()
	if err != nil {
		t.Fatal(err)
	}
	return &normalize.Normalizer{Catalogue: catalogue, Regions: regions}
}

// TestAnchors proves single prices and fractions that the notes to the tables name.
func TestAnchors(t *testing.T) {
	c, err := crawl(t, "cn", compose(karpenter(t)))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, o := range c.Live() {
		got[o.Key.Region+" "+o.Key.InstanceType] = fmt.Sprintf("%s %s×%s", o.Price.Amount, o.Spec.Device.Name, o.Spec.Device.Count)
	}
	want := map[string]string{
		"cn-hangzhou ecs.gn6i-c4g1.xlarge":    "11.63 T4×1",
		"cn-hangzhou ecs.gn7i-c8g1.2xlarge":   "9.5326 A10×1",
		"cn-hangzhou ecs.gn6v-c8g1.2xlarge":   "26.46 V100×1",
		"cn-hangzhou ecs.gn7e-c16g1.4xlarge":  "34.742 A100×1",
		"cn-hangzhou ecs.gn7e-c16g1.32xlarge": "277.933 A100×8",
		"cn-beijing ecs.gn7-c12g1.3xlarge":    "31.583333 A100×1",
		"cn-hangzhou ecs.ebmgn7ix.32xlarge":   "80.7469 A10×8",
		"cn-hangzhou ecs.sgn7i-vws-m2.xlarge": "1.893534 A10×1/12",
	}
	maps.DeleteFunc(got, func(k, _ string) bool { return want[k] == "" })
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
