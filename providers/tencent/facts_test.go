package tencent

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// payload returns a documented answer; the test is skipped without them.
func payload(t *testing.T, name string) string {
	t.Helper()
	shared := os.Getenv("GPUTIDE_SHARED")
	if shared == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	body, err := os.ReadFile(filepath.Join(shared, "payloads", "tencent", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// answer is what one action answers.
func answer(source, action, body string) providertest.Exchange {
	address := map[string]string{"hai": haiURL, "ti-one": tioneURL}[source]
	if address == "" {
		address = apiURL
	}
	return providertest.Exchange{Source: source, Method: "POST", URL: address, BodyContains: action, Body: body}
}

const oneRegion = `{"Response":{"RegionSet":[{"Region":"ap-guangzhou","RegionState":"AVAILABLE"}]}}`

// crawl crawls the region ap-guangzhou from the answers.
func crawl(t *testing.T, answers ...providertest.Exchange) (*providertest.Collector, error) {
	t.Helper()
	answers = append(answers, answer("cvm", "DescribeRegions", oneRegion))
	return providertest.Collect(t.Context(), New(providertest.Replay(t, "tencent", answers...), Config{}))
}

// said words the offers that count.
func said(c *providertest.Collector) []string {
	out := []string{}
	for _, o := range c.Live() {
		k := o.Key
		words := []string{k.Zone, k.InstanceType, string(k.Market), string(k.Term), string(k.Payment), k.Volume, k.Tier, string(k.Stat)}
		words = append(words, o.Price.Upfront, o.Price.Amount, string(o.Price.Unit), string(k.Currency))
		out = append(out, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	slices.Sort(out)
	return out
}

// TestReservedFact proves the documented answer of reserved instances.
func TestReservedFact(t *testing.T) {
	body := payload(t, "cvm_DescribeReservedInstancesConfigInfos_doc1.json")
	read := func(body string) []string {
		c, err := crawl(t, answer("reserved", "DescribeReserved", body), answer("cvm", "Zone", payload(t, "cvm_DescribeZoneInstanceConfigInfos_doc1.json")))
		if err != nil {
			return []string{err.Error()}
		}
		var out []string
		for _, s := range said(c) {
			if strings.Contains(s, "commitment") {
				out = append(out, s)
			}
		}
		return out
	}
	want := []string{"ap-guangzhou-1 C3.LARGE8 commitment 1y none list 2.99 h CNY"}
	if d := cmp.Diff(want, read(body)); d != "" {
		t.Error(d)
	}
	for _, edit := range [][2]string{
		{"2.99", "2.98"},
		{`"Duration": 1`, `"Duration": 3`},
		{"No Upfront", "All Upfront"},
		{`"UsagePrice"`, `"Usage"`},
		{`"FixedPrice": 0`, `"FixedPrice": 100.99`},
		{"C3.LARGE8", "C3.LARGE16"},
	} {
		if cmp.Equal(want, read(strings.ReplaceAll(body, edit[0], edit[1]))) {
			t.Errorf("%s for %s is not noticed", edit[1], edit[0])
		}
	}
}

// TestSpotTypesFact proves the two documented answers of the spot action, of
// which the second is of another one, where neither other source answers.
func TestSpotTypesFact(t *testing.T) {
	read := func(body string) ([]string, error) {
		c, err := crawl(t, answer("spot-types", "DescribeSpotTypeConfig", body))
		return said(c), err
	}
	body := payload(t, "cvm_DescribeSpotTypeConfig_doc1.json")
	want := []string{"ap-guangzhou-2 S1.SMALL1 spot list 0.11 h CNY"}
	if got, _ := read(body); !cmp.Equal(want, got) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, edit := range [][2]string{{"0.11", "0.12"}, {"price_cur", "price"}, {"instance_type", "type"}, {`"zone"`, `"place"`}} {
		if got, _ := read(strings.ReplaceAll(body, edit[0], edit[1])); cmp.Equal(want, got) {
			t.Errorf("%s for %s is not noticed", edit[1], edit[0])
		}
	}
	got, err := read(payload(t, "cvm_DescribeSpotTypeConfig_doc2.json"))
	if len(got) != 0 || !errors.Is(err, gputide.ErrSchemaDrift) {
		t.Errorf("an answer about zones: %q, %v", got, err)
	}
}

// TestErrorFact proves that an error of status 200 is one.
func TestErrorFact(t *testing.T) {
	body := payload(t, "error_in_http200.json")
	for code, want := range map[string]error{
		"AuthFailure.SignatureFailure": gputide.ErrAuth,
		"RequestLimitExceeded":         gputide.ErrRateLimited,
		"InvalidAction":                gputide.ErrSchemaDrift,
		"InternalError":                gputide.ErrUnavailable,
	} {
		c, err := crawl(t, answer("cvm", "DescribeZone", strings.Replace(body, "AuthFailure.SignatureFailure", code, 1)))
		if len(c.Live()) != 0 || !errors.Is(err, want) {
			t.Errorf("%s: %d offers, %v; want %v", code, len(c.Live()), err, want)
		}
	}
}

// TestQuoteFacts proves the object of prices on the documented quotes, which the
// adapter does not ask for: they hold disks.
func TestQuoteFacts(t *testing.T) {
	for name, tt := range map[string]struct {
		hours []string
		month pair
	}{
		"cvm_InquiryPriceRunInstances_doc1.json": {[]string{"0 0", "0 0", "0 0"}, pair{"8884.5", "1804.9"}},
		"cvm_InquiryPriceRunInstances_doc2.json": {[]string{"16.09 3.33", "16.09 3.33", "16.09 3.33"}, pair{"0", "0"}},
		"cvm_InquiryPriceRunInstances_doc3.json": {[]string{"0.2 0.08", "0.12 0.06", "0.1 0.06"}, pair{"0", "0"}},
	} {
		var quote struct {
			Response struct {
				Price struct{ InstancePrice, BandwidthPrice price }
			}
		}
		if err := json.Unmarshal([]byte(payload(t, name)), &quote); err != nil {
			t.Fatal(err)
		}
		var hours []string
		for _, p := range quote.Response.Price.InstancePrice.hours() {
			hours = append(hours, string(p.list+" "+p.paid))
		}
		if month := quote.Response.Price.InstancePrice.totals()[0].pair; !cmp.Equal(tt.hours, hours) || month != tt.month {
			t.Errorf("%s: hours %q, month %q", name, hours, month)
		}
	}
}

// TestYuan turns hundredths into the amount, exactly.
func TestYuan(t *testing.T) {
	for fen, want := range map[number]number{
		"70": "0.70", "71": "0.71", "7": "0.07", "868": "8.68", "23751": "237.51", "0": "0.00", "": "", "7.5": "", "-7": "",
	} {
		if got := yuan(fen); got != want {
			t.Errorf("%s: %s, want %s", fen, got, want)
		}
	}
}

// TestDescribed reads what rows say of their cards.
func TestDescribed(t *testing.T) {
	for text, want := range map[string]string{
		"8 * NVIDIA V100":    "8 NVIDIA V100",
		"4 颗 NVIDIA T4":      "4 NVIDIA T4",
		"1/4 * NVIDIA T4":    "1/4 NVIDIA T4",
		"0.5*T4":             "1/2 T4",
		"0.3 * T4":           " T4",
		"8 × NVIDIA A100":    "8 NVIDIA A100",
		"":                   " ",
		"NVIDIA T4":          " ",
		"8":                  " ",
		"8 * ":               " ",
		"2 GPUs for rent":    " ",
		"100000000000 * A10": " A10",
	} {
		count, model, _ := described(text)
		if got := count.String() + " " + model; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzRows proves that no row breaks a crawl, and that every offer of one has a
// price above zero.
func FuzzRows(f *testing.F) {
	f.Add(`{"Zone":"z","InstanceType":"GN7.LARGE20","InstanceChargeType":"POSTPAID_BY_HOUR","Status":"SELL","GpuCount":0.25,"Price":{"UnitPrice":3.39}}`)
	f.Add(`{"Zone":"z","InstanceType":"PNV6s.x","InstanceChargeType":"PREPAID","Externals":[],"Price":{"UnitPrice":0,"OriginalPrice":1e2}}`)
	f.Add(`{"Zone":"z","InstanceType":"A.b","InstanceChargeType":"SPOTPAID","Externals":{"GPUDesc":"1/0 * T4"},"Price":{"UnitPrice":1,"UnitPriceDiscount":-1}}`)
	table, err := loadFamilies()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, row string) {
		c := new(providertest.Collector)
		b := gputide.NewBatch("tencent", providertest.Moment(), c)
		r := newReader(b, &site{partition: "cn", currency: "CNY"}, sourceCVM, "ap-guangzhou", table)
		r.raw = []json.RawMessage{json.RawMessage(row)}
		if r.take() != nil {
			return
		}
		for _, o := range c.Offers {
			if v, err := gputide.ParseAmount(o.Price.Amount); err != nil || v.Sign() <= 0 {
				t.Errorf("%q is a price of %q", o.Price.Amount, row)
			}
		}
	})
}
