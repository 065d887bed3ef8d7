package alibaba

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

// list is a price list of the China site.
func list(entries ...string) string {
	return `{"currency":"CNY","version":"2.0.9","publicationDate":"2026-11-20T00:00:00Z","pricingInfo":{` +
		strings.Join(entries, ",") + `},"type":"Instance"}`
}

func entry(key, lists string) string { return fmt.Sprintf("%q:%s", key, lists) }

const (
	goodKey   = "cn-hangzhou::ecs.gn6i-c4g1.xlarge::vpc::linux::optimized"
	goodLists = `{"hours":[{"price":"11.63","period":"1"}]}`
)

func page(text string) providertest.Exchange {
	return providertest.Exchange{
		Source: "page-cn", URL: pageCN, Body: "<html><body>" + text + "</body></html>",
		Header: map[string]string{"Content-Type": "text/html"},
	}
}

// crawl reads a list of the China site; the fixture has nothing of the other.
func crawl(t testing.TB, body string) (*providertest.Collector, error) {
	t.Helper()
	return providertest.Collect(t.Context(), New(providertest.Replay(
		t, "alibaba", page("<script src=//g.alicdn.com/aliyun/ecs-price-info/2.0.9/x.js></script>"),
		providertest.Exchange{Source: "list-cn", URL: sites()[0].url("2.0.9"), Body: body, Header: map[string]string{"Content-Type": "application/json"}},
	), Config{}))
}

func said(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Offers {
		k := &o.Key
		out = append(out, strings.Join(strings.Fields(fmt.Sprintln(k.Market, k.Term, k.Region, k.InstanceType, k.OS, k.Currency, o.Price.Amount, o.Price.Unit)), " "))
	}
	for _, s := range c.Skips {
		if s.Key != nil {
			out = append(out, fmt.Sprint(s.Key.Market, " ", s.Key.Term, " ", s.Reason))
		} else {
			out = append(out, fmt.Sprint(s.Scope, " ", s.Reason))
		}
	}
	for _, o := range c.Omits {
		out = append(out, fmt.Sprint(o.Reason, " ", o.Rows))
	}
	slices.Sort(out)
	return out
}

func TestEntry(t *testing.T) {
	key := func(region, name, os string) string { return region + "::" + name + "::vpc::" + os + "::optimized" }
	for _, tt := range []struct {
		name, entry string
		want        []string
	}{
		{
			"every list", entry(key("cn-beijing", "ecs.x", "windows"), `{"hours":[{"price":"1.5","period":"1"}],"months":[{"price":"500","period":"1"}],"years":[{"price":"5000.10","period":"1"},{"price":"25000","period":"5"}]}`),
			[]string{"on_demand cn-beijing ecs.x windows CNY 1.5 h", "subscription 1mo cn-beijing ecs.x windows CNY 500 term", "subscription 1y cn-beijing ecs.x windows CNY 5000.10 term", "subscription 5y cn-beijing ecs.x windows CNY 25000 term", "not_offered 2"},
		},
		{"numbers for texts", entry(key("r", "ecs.x", "linux"), `{"hours":[{"price":1.50,"period":1}]}`), []string{"on_demand r ecs.x linux CNY 1.50 h", "not_offered 4"}},
		{"empty lists", entry(key("r", "ecs.x", "linux"), `{"hours":[],"months":[],"years":null}`), []string{"not_offered 5"}},
		{"no lists", entry(key("r", "ecs.x", "linux"), `{}`), []string{"not_offered 5"}},
		{"zero", entry(key("r", "ecs.x", "linux"), `{"hours":[{"price":"0","period":"1"}],"years":[{"price":"0.00","period":"3"}]}`), []string{"on_demand  no_price", "subscription 3y no_price", "not_offered 3"}},
		{"blank, negative, NaN", entry(key("r", "ecs.x", "linux"), `{"hours":[{"price":"","period":"1"}],"years":[{"price":"-1","period":"1"},{"price":"NaN","period":"2"},{"period":"3"}]}`), []string{"on_demand  no_price", "subscription 1y no_price", "subscription 2y no_price", "subscription 3y no_price", "not_offered 3"}},
		{"not offered", entry(key("r", "ecs.x", "linux"), `{"hours":[{"price":null,"period":"1"}],"months":[{"price":"N/A","period":"1"}]}`), []string{"not_offered 5"}},
		{"other periods", entry(key("r", "ecs.x", "linux"), `{"hours":[{"price":"1","period":"24"}],"months":[{"price":"1","period":"0"},{"price":"2","period":"6"}],"years":[{"price":"1","period":"x"},{"price":"1"}]}`), []string{"on_demand  bad_period", "partition=cn market=subscription bad_period", "partition=cn market=subscription bad_period", "partition=cn market=subscription bad_period", "subscription 6mo r ecs.x linux CNY 2 term", "not_offered 2"}},
		{"list of another form", entry(key("r", "ecs.x", "linux"), `{"hours":{"price":"1"},"months":"1"}`), []string{"on_demand  bad_row", "partition=cn market=subscription bad_row", "not_offered 3"}},
		{"another member", entry(key("r", "ecs.x", "linux"), `{"hour":[{"price":"1","period":"1"}],"months":[],"years":[]}`), []string{"on_demand  bad_row", "not_offered 4"}},
		{"entry of another form", entry(key("r", "ecs.x", "linux"), `7`), []string{"partition=cn market=on_demand bad_row", "partition=cn market=subscription bad_row", "not_offered 2"}},
		{"short key", entry("r::ecs.x::vpc::linux", goodLists), []string{"partition=cn market=on_demand bad_row", "partition=cn market=subscription bad_row", "not_offered 2"}},
		{"key without a region", entry(key("", "ecs.x", "linux"), goodLists), []string{"partition=cn market=on_demand bad_row", "partition=cn market=subscription bad_row", "not_offered 2"}},
		{"classic network", entry("r::ecs.x::classic::linux::optimized", goodLists), []string{"other_network 1", "not_offered 2"}},
		{"not optimized", entry("r::ecs.x::vpc::linux::none", goodLists), []string{"other_network 1", "not_offered 2"}},
		{"another system", entry(key("r", "ecs.x", "aix"), goodLists), []string{"other_os 1", "not_offered 2"}},
		{"leaked test type", entry(key("r", "ecs.poc-test.t13", "linux"), goodLists), []string{"test_type 1", "not_offered 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawl(t, list(entry(goodKey, goodLists), tt.entry))
			if err != nil {
				t.Fatal(err)
			}
			want := append([]string{"on_demand cn-hangzhou ecs.gn6i-c4g1.xlarge linux CNY 11.63 h"}, tt.want...)
			slices.Sort(want)
			if d := cmp.Diff(want, said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(c.Scopes) != 2 {
				t.Fatalf("scopes %v", c.Scopes)
			}
			for _, s := range c.Scopes {
				if s.Status != gputide.ScopeDone || s.Scope.Partition != "cn" || s.Scope.Region != "" {
					t.Errorf("scope %s is %s: %s", s.Scope, s.Status, s.Reason)
				}
			}
		})
	}
}

func TestList(t *testing.T) {
	good := entry(goodKey, goodLists)
	for _, tt := range []struct {
		name, body string
		want       error
	}{
		{"no list", `{"currency":"CNY"}`, gputide.ErrSchemaDrift},
		{"no entries", list(), gputide.ErrEmpty},
		{"another currency", strings.Replace(list(good), "CNY", "USD", 1), gputide.ErrSchemaDrift},
		{"no currency", strings.Replace(list(good), "currency", "x", 1), gputide.ErrSchemaDrift},
		{"other site", strings.Replace(list(good), `"type"`, `"site":"Intl","type"`, 1), gputide.ErrSchemaDrift},
		{"a list of entries", `{"currency":"CNY","pricingInfo":[]}`, gputide.ErrSchemaDrift},
		{"something behind it", list(good) + "{}", gputide.ErrSchemaDrift},
		{"hours renamed", list(entry(goodKey, `{"hour":[],"months":[],"years":[]}`)), gputide.ErrSchemaDrift},
		{"prices renamed", list(entry(goodKey, `{"hours":[{"amount":"1","period":"1"}]}`)), gputide.ErrSchemaDrift},
		{"periods renamed", list(entry(goodKey, `{"hours":[{"price":"1","term":"1"}]}`)), gputide.ErrSchemaDrift},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawl(t, tt.body)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if len(c.Live()) != 0 || len(c.Scopes) != 2 || len(c.Omits) != 0 {
				t.Errorf("offers %v, scopes %v, omitted %v", c.Live(), c.Scopes, c.Omits)
			}
		})
	}
	// The currency may stand behind the prices.
	c, err := crawl(t, `{"pricingInfo":{`+good+`},"currency":"CNY"}`)
	if err != nil || len(c.Live()) != 1 {
		t.Errorf("offers %v, error %v", c.Live(), err)
	}
}

// TestEdition proves that a run says which list it read, and when it is old.
func TestEdition(t *testing.T) {
	for date, want := range map[string]string{
		"2026-11-20T00:00:00Z":      "list 2.0.9, published 2026-11-20T00:00:00Z",
		"2026-11-20T08:00:00+08:00": "list 2.0.9, published 2026-11-20T00:00:00Z",
		"2018-10-08T08:15:52Z":      "list 2.0.9, published 2018-10-08T08:15:52Z, 2975 days ago: a newer one may stand elsewhere",
		"yesterday":                 "list 2.0.9, without a date of publication: it may be an old one",
	} {
		c, err := crawl(t, strings.Replace(list(entry(goodKey, goodLists)), "2026-11-20T00:00:00Z", date, 1))
		if err != nil {
			t.Fatal(err)
		}
		if errs := c.Errors("list-cn"); len(errs) != 1 || errs[0].Error() != want {
			t.Errorf("%s: %v, want %s", date, errs, want)
		}
	}
}

func TestNewest(t *testing.T) {
	for text, want := range map[string]string{
		`"https://g.alicdn.com/aliyun/ecs-price-info/2.0.421"`:                                                                      "2.0.421",
		`//g.alicdn.com/aliyun/ecs-price-info/2.0.421/price/x.js`:                                                                   "2.0.421",
		`{"base":"https:\/\/g.alicdn.com\/aliyun\/ecs-price-info\/2.0.421\/price"}`:                                                 "2.0.421",
		`"g.alicdn.com\u002Faliyun\u002Fecs-price-info\u002F2.0.421\u002Fprice"`:                                                    "2.0.421",
		`//g.alicdn.com/aliyun/ecs-price-info/2.0.99/a //g.alicdn.com/aliyun/ecs-price-info/2.0.421/b`:                              "2.0.421",
		`//g.alicdn.com/aliyun/ecs-price-info/2.1/a //g.alicdn.com/aliyun/ecs-price-info/2.0.421/b`:                                 "2.1",
		`//g.alicdn.com/aliyun/ecs-price-info-intl/2.0.421/a`:                                                                       "",
		`//g.alicdn.com/aliyun/ecs-price-info/latest/a`:                                                                             "",
		`//g.alicdn.com/aliyun/ecs-price-info/2.0.421`:                                                                              "", // cut
		`//g.alicdn.com.evil.example/aliyun/ecs-price-info/2.0.421/a`:                                                               "",
		`//g.alicdn.com/aliyun/ecs-price-info/2.0.421-beta/a`:                                                                       "",
		`//g.alicdn.com/aliyun/ecs-price-info/` + strings.Repeat("9", 30) + `.1/a //g.alicdn.com/aliyun/ecs-price-info/../secret/a`: "",
	} {
		if got := newest(text, "ecs-price-info"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestVersionInOtherPage proves that the page of one site serves the other.
func TestVersionInOtherPage(t *testing.T) {
	c, err := providertest.Collect(t.Context(), New(providertest.Replay(
		t, "alibaba", page("<script src=//g.alicdn.com/aliyun/ecs-price-info-intl/2.0.9/x.js></script>"),
		providertest.Exchange{Source: "page-intl", URL: pageIntl, Status: 500},
		providertest.Exchange{Source: "list-intl", URL: sites()[1].url("2.0.9"), Body: strings.Replace(list(entry(goodKey, goodLists)), "CNY", "USD", 1)},
	), Config{}))
	if !errors.Is(err, gputide.ErrSchemaDrift) || len(c.Live()) != 1 || c.Live()[0].Key.Partition != "intl" {
		t.Errorf("offers %v, error %v", c.Live(), err)
	}
	if errs := c.Errors("page-intl"); len(errs) != 1 || !errors.Is(errs[0], gputide.ErrUnavailable) {
		t.Errorf("page-intl: %v", errs)
	}
}

// FuzzList proves that no list makes a panic or a price that is none.
func FuzzList(f *testing.F) {
	f.Add([]byte(list(entry(goodKey, goodLists))))
	f.Add([]byte(list(entry("r::ecs.gn7i-c8g1.2xlarge::vpc::windows::optimized", `{"hours":[{"price":1e-9,"period":1}],"years":[{"price":"1","period":"5"}],"x":[]}`))))
	f.Add([]byte(`{"pricingInfo":{"::::::::":null},"currency":null}`))
	rows := table(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		c := new(providertest.Collector)
		r := newReader(&sites()[0], gputide.NewBatch("alibaba", providertest.Moment(), c), rows)
		_ = r.decode(fetch.NewDecoder("list-cn", strings.NewReader(string(body))))
		for _, o := range c.Offers {
			v, err := gputide.ParseAmount(o.Price.Amount)
			_, termErr := o.Key.Term.Hours()
			if err != nil || v.Sign() <= 0 || o.Key.InstanceType == "" || o.Key.Region == "" || (termErr == nil) != (o.Key.Market == gputide.Subscription) {
				t.Errorf("price %q of %q", o.Price.Amount, o.Key.Canonical())
			}
		}
	})
}

// FuzzScan proves that the fast reader of entries agrees with encoding/json
// wherever it reads one.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		goodLists, `{ "hours" : [ {"period":"1","price":"2"} , {} ],"years":[]}`, `{"hours":[{"price":"1","price":"2"}]}`,
		`{"hours":[],"hours":[{"price":"1"}]}`, `{"hours":[{"price":"\u0031"}]}`, `{}`, `{"hours":null}`, `{"hours":[{"price":1}]}`,
		`{"hours":[{"price":"1"}]}x`, `{,"hours":[]}`, `{"hours":[],}`, `{"Hours":[]}`, "{\"hours\":[{\"price\":\"\xff\"}]}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var fast, want entryLists
		if !scan(raw, &fast) {
			return
		}
		ok := slow(raw, &want)
		if d := cmp.Diff(want, fast, cmp.AllowUnexported(entryLists{}, pointList{}, point{}, value{}), cmpopts.EquateEmpty()); !ok || d != "" {
			t.Errorf("%s: read %v (-json +scan):\n%s", raw, ok, d)
		}
	})
}

// TestIsPrice proves that the short way agrees with the parser of amounts.
func TestIsPrice(t *testing.T) {
	for _, amount := range []string{
		"1", "0.09", "00", "0", "0.000", "0.0001", "", ".", "1.", ".5", "-1", "+1", "1e-3", "0e5", "1,000", "1.2.3", " 1", "NaN", "inf",
		strings.Repeat("9", 20), strings.Repeat("9", 40), strings.Repeat("9", 70), "1." + strings.Repeat("3", 70),
	} {
		v, err := gputide.ParseAmount(amount)
		if want := err == nil && v.Sign() > 0; isPrice(amount) != want {
			t.Errorf("%q: %v, want %v", amount, !want, want)
		}
	}
}

// FuzzVersion proves that what is taken for a version is one.
func FuzzVersion(f *testing.F) {
	f.Add(`//g.alicdn.com/aliyun/ecs-price-info/2.0.421/x`)
	f.Fuzz(func(t *testing.T, text string) {
		if v := newest(text, "ecs-price-info"); v != "" && strings.Trim(v, "0123456789.") != "" {
			t.Errorf("version %q", v)
		}
	})
}
