package tencent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// rowsOf crawls one region with the given rows, and returns the offers and the
// skipped keys in words.
func rowsOf(t *testing.T, rows ...string) (offers, skipped []string) {
	t.Helper()
	body := `{"Response":{"InstanceTypeQuotaSet":[` + strings.Join(rows, ",") + `]}}`
	c, err := crawl(t, answer("cvm", "DescribeZoneInstanceConfigInfos ", body))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Skips {
		if s.Key != nil {
			skipped = append(skipped, strings.Join(strings.Fields(string(s.Key.Market)+" "+s.Key.Volume+" "+string(s.Key.Term)+" "+string(s.Key.Stat)), " "))
		}
	}
	return said(c), skipped
}

func row(charge, prices string) string {
	return fmt.Sprintf(`{"Zone":"z1","InstanceType":"GN7.LARGE20","InstanceChargeType":%q,"Status":"SELL","Price":{%s}}`, charge, prices)
}

// TestPrices reads pairs of amounts: none stands in for the other, and 0 in both
// is none at all.
func TestPrices(t *testing.T) {
	for name, tt := range map[string]struct {
		rows          []string
		offers, skips []string
	}{
		"one hourly price": {
			[]string{row("POSTPAID_BY_HOUR", `"UnitPrice":8.68,"UnitPriceDiscount":5.5,"UnitPriceSecondStep":0,"UnitPriceThirdStep":0`)},
			[]string{"z1 GN7.LARGE20 on_demand list 8.68 h CNY", "z1 GN7.LARGE20 on_demand payable 5.5 h CNY"},
			nil,
		},
		"a step that lost its price": {
			[]string{row("POSTPAID_BY_HOUR", `"UnitPrice":3,"UnitPriceDiscount":3,"UnitPriceSecondStep":2,"UnitPriceDiscountSecondStep":2,"UnitPriceThirdStep":0`)},
			[]string{
				"z1 GN7.LARGE20 on_demand h<=360 list 2 h CNY", "z1 GN7.LARGE20 on_demand h<=360 payable 2 h CNY",
				"z1 GN7.LARGE20 on_demand h<=96 list 3 h CNY", "z1 GN7.LARGE20 on_demand h<=96 payable 3 h CNY",
			},
			[]string{"on_demand h>360 list", "on_demand h>360 payable"},
		},
		"paid and not listed": {
			[]string{row("PREPAID", `"UnitPrice":0,"OriginalPrice":0,"DiscountPrice":59,"OriginalPriceOneYear":0,"DiscountPriceOneYear":0,"OriginalPriceThreeYears":9,"DiscountPriceThreeYears":8,"OriginalPriceFiveYear":0,"DiscountPriceFiveYear":0`)},
			[]string{
				"z1 GN7.LARGE20 subscription 1mo payable 59 term CNY", "z1 GN7.LARGE20 subscription 3y list 9 term CNY",
				"z1 GN7.LARGE20 subscription 3y payable 8 term CNY",
			},
			[]string{"subscription 1mo list"},
		},
		"terms of an hourly row count only where no other row has them": {
			[]string{
				row("POSTPAID_BY_HOUR", `"UnitPrice":8.68,"UnitPriceDiscount":8.68,"OriginalPrice":60,"DiscountPrice":60`),
				row("PREPAID", `"OriginalPrice":59,"DiscountPrice":59,"OriginalPriceOneYear":0,"DiscountPriceOneYear":0,"OriginalPriceThreeYear":0,"DiscountPriceThreeYear":0,"OriginalPriceFiveYear":0,"DiscountPriceFiveYear":0`),
			},
			[]string{
				"z1 GN7.LARGE20 on_demand list 8.68 h CNY", "z1 GN7.LARGE20 on_demand payable 8.68 h CNY",
				"z1 GN7.LARGE20 subscription 1mo list 59 term CNY", "z1 GN7.LARGE20 subscription 1mo payable 59 term CNY",
			},
			nil,
		},
		"spot is what is paid": {
			[]string{row("SPOTPAID", `"UnitPrice":11.88,"UnitPriceDiscount":2.376,"UnitPriceSecondStep":5`)},
			[]string{"z1 GN7.LARGE20 spot list 2.376 h CNY"},
			nil,
		},
		"spot without it": {
			[]string{row("SPOTPAID", `"UnitPrice":11.88,"UnitPriceDiscount":0`)},
			[]string{},
			[]string{"spot list"},
		},
	} {
		offers, skips := rowsOf(t, tt.rows...)
		if d := cmp.Diff(tt.offers, offers); d != "" {
			t.Errorf("%s: offers %s", name, d)
		}
		if d := cmp.Diff(tt.skips, skips); d != "" {
			t.Errorf("%s: skips %s", name, d)
		}
	}
}

// TestDevices reads the card of a row: what the row says, then the table.
func TestDevices(t *testing.T) {
	table, err := loadFamilies()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		count number
		gpu   float64
		texts []string
		want  string
	}{
		{"GN7.LARGE20", "", 0, nil, "T4 1/4 vgpu 4096 MiB"},
		{"GN7vi.XLARGE", "0.125", 0, nil, "T4 1/8 vgpu 2048 MiB"},
		{"GN7.NEW", "", 2, nil, "T4 2 whole 16 GB"},
		{"GT4.4XLARGE96", "1", 1, []string{"", "1 * NVIDIA A100"}, "NVIDIA A100 1 whole 40 GB"},
		{"NEW9.BIG", "8", 8, []string{"8 * NVIDIA H20"}, "NVIDIA H20 8 whole"},
		{"NEW9.BIG", "8", 8, nil, "NEW9 8 whole"},
		{"PNV6s.X", "8", 8, nil, "PNV6s 8 whole 141 GB"},
		{"GI1.10XLARGE160", "", 0, nil, "GI1"},
		{"S5.SMALL4", "0", 0, nil, ""},
	} {
		m := &machine{InstanceType: &tt.name, GPUCount: tt.count, GPU: &tt.gpu}
		d := table.device(m, tt.texts...)
		words := []string{d.Name, d.Count.String(), string(d.Share)}
		if d.MemoryGB != nil {
			words = append(words, fmt.Sprintf("%g GB", *d.MemoryGB))
		}
		if d.MemoryMiB != nil {
			words = append(words, fmt.Sprintf("%d MiB", *d.MemoryMiB))
		}
		if got := strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " "); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.name, tt.texts, got, tt.want)
		}
	}
	one := 1.0
	if d := table.device(&machine{InstanceType: new("GN7.LARGE20"), FPGA: &one}); d.Known() {
		t.Errorf("an FPGA is %+v", d)
	}
}

// TestSites reads the international site in its own currency, and the regions
// that are asked for only.
func TestSites(t *testing.T) {
	rows := `{"Response":{"InstanceTypeQuotaSet":[` + row("POSTPAID_BY_HOUR", `"UnitPrice":1.2,"UnitPriceDiscount":1.2`) + `]}}`
	regions := strings.Replace(oneRegion, `"RegionSet":[`, `"RegionSet":[{"Region":"na-ashburn"},`, 1)
	intl := func(contains, body string) providertest.Exchange {
		return providertest.Exchange{Source: "cvm-intl", Method: "POST", URL: intlURL, BodyContains: contains, Body: body}
	}
	f := providertest.Replay(t, "tencent", intl("DescribeRegions", regions), intl("ConfigInfos na-ashburn\n", rows))
	c, err := providertest.Collect(t.Context(), New(f, Config{Regions: []string{"na-ashburn"}}))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"z1 GN7.LARGE20 on_demand list 1.2 h USD", "z1 GN7.LARGE20 on_demand payable 1.2 h USD"}, said(c)); d != "" {
		t.Error(d)
	}
	for _, o := range c.Offers {
		if o.Key.Partition != "intl" || o.Key.Region != "na-ashburn" {
			t.Errorf("%s", o.Key.Canonical())
		}
	}
}

// TestGatewayStandsIn proves that the gateway feeds what the API refuses, and
// that the refusal is reported.
func TestGatewayStandsIn(t *testing.T) {
	gateway := func(path, contains, body string) providertest.Exchange {
		return providertest.Exchange{Source: "gateway", Method: "POST", URL: gatewayURL + path, BodyContains: contains, Body: body}
	}
	rows := `{"code":0,"data":{"Response":{"InstanceTypeQuotaSet":[` + row("SPOTPAID", `"UnitPrice":8.68,"UnitPriceDiscount":1.736`) + `]}}}`
	c, err := crawl(t,
		answer("cvm", "ConfigInfos ap-guangzhou", `{"Response":{"Error":{"Code":"UnauthorizedOperation","Message":"no"}}}`),
		gateway("area/queryCvmRegion", "", `{"code":0,"data":{"Response":{"RegionSet":[{"region":"ap-guangzhou","zones":[{"zone":"z1"}]}]}}}`),
		gateway("api?i=cvm/DescribeZoneInstanceConfigInfos&uin=&region=ap-guangzhou", `"Values":["z1"]`, rows),
	)
	if d := cmp.Diff([]string{"z1 GN7.LARGE20 spot list 1.736 h CNY"}, said(c)); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	if errs := c.Errors("cvm"); len(errs) == 0 {
		t.Error("the refusal is not reported")
	}
	for _, s := range c.Scopes {
		if s.Status == gputide.ScopeDone && s.Source != "gateway" {
			t.Errorf("%s is fed by %s", s.Scope, s.Source)
		}
	}
}
