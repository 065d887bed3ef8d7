package ibm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

const (
	profile = "gx3-16x80x1l4"
	good    = `{"deployment_region":"us-south","type":"Paid","metrics":[` +
		`{"charge_unit_name":"INSTANCE_HOURS_MULTI_TENANT","charge_unit":"Instance-Hour","charge_unit_quantity":1,"tier_model":"Linear Tier","amounts":[{"country":"USA","currency":"USD","prices":[{"quantity_tier":1,"price":7}]}]}]}`
)

// metricWith returns an on-demand metric with members replaced; a value of ""
// drops the member.
func metricWith(replace map[string]string) string {
	members := map[string]string{
		"charge_unit_name": `"INSTANCE_HOURS_MULTI_TENANT"`, "charge_unit": `"Instance-Hour"`, "charge_unit_quantity": "1", "tier_model": `"Linear Tier"`,
		"amounts": usd(`{"quantity_tier":1,"price":2.50}`),
	}
	for name, v := range replace {
		members[name] = v
	}
	var out []string
	for name, v := range members {
		if v != "" {
			out = append(out, fmt.Sprintf("%q:%s", name, v))
		}
	}
	slices.Sort(out)
	return "{" + strings.Join(out, ",") + "}"
}

func usd(prices string) string {
	return `[{"country":"DEU","currency":"EUR","prices":[{"quantity_tier":1,"price":1}]},{"country":"USA","currency":"USD","prices":[` + prices + `]}]`
}

// region returns a deployment with metrics.
func region(name string, metrics ...string) string {
	return fmt.Sprintf(`{"deployment_region":%q,"type":"Paid","metrics":[%s]}`, name, strings.Join(metrics, ","))
}

func list(offset, count int, rows ...string) string {
	return fmt.Sprintf(`{"offset":%d,"count":%d,"resources":[%s]}`, offset, count, strings.Join(rows, ","))
}

func exchange(source, url, body string) providertest.Exchange {
	return providertest.Exchange{Source: source, URL: url, Body: body, Header: map[string]string{"Content-Type": "application/json"}}
}

func onePlan() providertest.Exchange {
	return exchange(sourcePlans, plansURL+"?_limit=200&_offset=0", list(0, 1, `{"id":"p1","name":"`+profile+`"}`))
}

func collect(t testing.TB, exchanges ...providertest.Exchange) (*providertest.Collector, error) {
	t.Helper()
	return providertest.Collect(t.Context(), New(providertest.Replay(t, "ibm", exchanges...), ""))
}

func newBatch(c *providertest.Collector) *gputide.Batch {
	return gputide.NewBatch("ibm", providertest.Moment(), c)
}

// offersOf lists the offers as text.
func offersOf(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Offers {
		k := &o.Key
		out = append(out, strings.Join(strings.Fields(fmt.Sprintln(k.Market, k.Region, k.Volume, k.Currency, o.Price.Amount, o.Price.Unit)), " "))
	}
	slices.Sort(out)
	return out
}

// said lists what came of the rows, but for those of the good one.
func said(c *providertest.Collector) []string {
	out := slices.DeleteFunc(offersOf(c), func(s string) bool { return strings.Contains(s, "us-south") })
	for _, s := range c.Skips {
		if s.Key != nil {
			out = append(out, fmt.Sprint(s.Key.Market, " ", s.Key.Region, " ", s.Reason))
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

func TestMetric(t *testing.T) {
	spot := map[string]string{"charge_unit_name": `"INSTANCE_MULTI_TENANT_SPOT"`}
	for _, tt := range []struct {
		name    string
		metrics []string
		want    []string
	}{
		{"as published", []string{metricWith(nil)}, []string{"on_demand r USD 2.50 h"}},
		{"spot beside it", []string{metricWith(nil), metricWith(spot)}, []string{"on_demand r USD 2.50 h", "spot r USD 2.50 h"}},
		{"spot alone", []string{metricWith(spot)}, []string{"on_demand r no_metric", "spot r USD 2.50 h"}},
		{"zero", []string{metricWith(map[string]string{"amounts": usd(`{"quantity_tier":1,"price":0}`)})}, []string{"on_demand r no_price"}},
		{"negative", []string{metricWith(map[string]string{"amounts": usd(`{"quantity_tier":1,"price":-1}`)})}, []string{"on_demand r no_price"}},
		{"null", []string{metricWith(map[string]string{"amounts": usd(`{"quantity_tier":1,"price":null}`)})}, []string{"on_demand r no_price"}},
		{"no tier", []string{metricWith(map[string]string{"amounts": usd("")})}, []string{"on_demand r no_price"}},
		{"no amounts", []string{metricWith(map[string]string{"amounts": ""})}, []string{"on_demand r no_price"}},
		{"another currency", []string{metricWith(map[string]string{"amounts": strings.Replace(usd(`{"price":1}`), "USD", "EUR", 1)})}, []string{"on_demand r other_currency"}},
		{"by the month", []string{metricWith(map[string]string{"charge_unit": `"Instance-Month"`})}, []string{"on_demand r charge_unit"}},
		{"ten hours", []string{metricWith(map[string]string{"charge_unit_quantity": "10"})}, []string{"on_demand r charge_unit_quantity"}},
		{"no quantity", []string{metricWith(map[string]string{"charge_unit_quantity": ""})}, []string{"on_demand r charge_unit_quantity"}},
		{"a block", []string{metricWith(map[string]string{"tier_model": `"Block Tier"`})}, []string{"on_demand r tier_model"}},
		{
			"tiers",
			[]string{metricWith(map[string]string{"tier_model": `"Graduated Tier"`, "amounts": usd(`{"quantity_tier":50000,"price":0.09},{"quantity_tier":150000,"price":0.07}`)})},
			[]string{"on_demand r h<=150000 USD 0.07 h", "on_demand r h<=50000 USD 0.09 h"},
		},
		{"tiers of a linear price", []string{metricWith(map[string]string{"amounts": usd(`{"quantity_tier":1,"price":1},{"quantity_tier":2,"price":2}`)})}, []string{"on_demand r tier_model"}},
		{"tier without an end", []string{metricWith(map[string]string{"tier_model": `"Graduated Tier"`, "amounts": usd(`{"price":1},{"quantity_tier":2,"price":2}`)})}, []string{"on_demand r bad_tier"}},
		{"reservation", []string{metricWith(nil), metricWith(map[string]string{"charge_unit_name": `"INSTANCE_HOURS_RESERVATION"`})}, []string{"on_demand r USD 2.50 h", "reservation 1"}},
		{"dedicated host", []string{metricWith(nil), metricWith(map[string]string{"charge_unit_name": `"INSTANCE_HOURS_DEDICATED_HOST"`})}, []string{"on_demand r USD 2.50 h", "other_metric 1"}},
		{"a metric without a name", []string{metricWith(map[string]string{"charge_unit_name": ""})}, []string{"part=" + profile + " bad_metric"}},
		{"not yet", []string{metricWith(map[string]string{"effective_from": `"2027-01-01T00:00:00Z"`})}, []string{"not_in_force 1"}},
		{"no more", []string{metricWith(map[string]string{"effective_until": `"2026-12-01T00:00:00Z"`})}, []string{"not_in_force 1"}},
		{"in force", []string{metricWith(map[string]string{"effective_from": `"2026-12-01T00:00:00Z"`, "effective_until": `"9999-12-31T00:00:00Z"`})}, []string{"on_demand r USD 2.50 h"}},
		{"no date", []string{metricWith(map[string]string{"effective_from": `"soon"`})}, []string{"on_demand r bad_date"}},
		{"no metric", nil, []string{"part=" + profile + " bad_row"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := collect(t, onePlan(), exchange(sourcePrices, pricesURL("p1"), list(0, 2, good, region("r", tt.metrics...))))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(c.Scopes) != 1 || c.Scopes[0].Status != gputide.ScopeDone || c.Scopes[0].Scope != scope(profile) {
				t.Errorf("scopes %v", c.Scopes)
			}
		})
	}
}

func TestDeploymentType(t *testing.T) {
	for kind, want := range map[string][]string{
		"paygo": {"on_demand r USD 2.50 h"}, "trial": {"other_type 1"}, "ibm-subscription": {"other_type 1"},
	} {
		row := strings.Replace(region("r", metricWith(nil)), "Paid", kind, 1)
		c, err := collect(t, onePlan(), exchange(sourcePrices, pricesURL("p1"), list(0, 2, good, row)))
		if d := cmp.Diff(want, said(c)); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", kind, err, d)
		}
	}
}

// TestPages proves that a list is read to its end or not at all.
func TestPages(t *testing.T) {
	next := func(offset int) string { return pricesURL("p1") + "?_limit=50&_offset=" + strconv.Itoa(offset) }
	row := func(name string) string { return region(name, metricWith(nil)) }
	for _, tt := range []struct {
		name  string
		pages []string // in order
		at    []string // addresses after the first
		want  int
		err   error
	}{
		{"two pages", []string{list(0, 3, row("a"), row("b")), list(2, 3, row("c"))}, []string{next(2)}, 3, nil},
		{"an empty page in the middle", []string{list(0, 3, row("a"), row("b")), list(2, 3)}, []string{next(2)}, 0, gputide.ErrSchemaDrift},
		{"a page given again", []string{list(0, 3, row("a"), row("b")), list(0, 3, row("a"), row("b"))}, []string{next(2)}, 0, gputide.ErrSchemaDrift},
		{"a page that shifts", []string{list(0, 3, row("a"), row("b")), list(1, 3, row("b"))}, []string{next(2)}, 0, gputide.ErrSchemaDrift},
		{"a list that grows", []string{list(0, 3, row("a"), row("b")), list(2, 4, row("c"), row("d"))}, []string{next(2)}, 0, gputide.ErrSchemaDrift},
		{"more than counted", []string{list(0, 1, row("a"), row("b"))}, nil, 0, gputide.ErrSchemaDrift},
		{"counted beyond reason", []string{list(0, 1<<30, row("a"))}, nil, 0, gputide.ErrSchemaDrift},
		{"nothing", []string{list(0, 0)}, nil, 0, gputide.ErrEmpty},
		{"no count", []string{`{"offset":0,"resources":[]}`}, nil, 0, gputide.ErrSchemaDrift},
	} {
		t.Run(tt.name, func(t *testing.T) {
			exchanges := []providertest.Exchange{onePlan(), exchange(sourcePrices, pricesURL("p1"), tt.pages[0])}
			for i, at := range tt.at {
				exchanges = append(exchanges, exchange(sourcePrices, at, tt.pages[i+1]))
			}
			c, err := collect(t, exchanges...)
			if !errors.Is(err, tt.err) || len(c.Live()) != tt.want {
				t.Errorf("%d offers, error %v; want %d, %v", len(c.Live()), err, tt.want, tt.err)
			}
			if failed := len(c.Scopes) == 1 && c.Scopes[0].Status == gputide.ScopeFailed; failed != (tt.err != nil) {
				t.Errorf("scopes %v", c.Scopes)
			}
		})
	}
}

// TestPlans proves that one plan touches no other, and that the known plans
// stand in for a list that cannot be read.
func TestPlans(t *testing.T) {
	plansOf := func(rows ...string) providertest.Exchange {
		return exchange(sourcePlans, plansURL+"?_limit=200&_offset=0", list(0, len(rows), rows...))
	}
	p1, p2 := `{"id":"p1","name":"`+profile+`"}`, `{"id":"p2","name":"gx3d-160x1792x8h100"}`
	prices := exchange(sourcePrices, pricesURL("p1"), list(0, 1, good))
	failing := providertest.Exchange{Source: sourcePrices, URL: pricesURL("p2"), Status: 403}
	for _, tt := range []struct {
		name      string
		exchanges []providertest.Exchange
		want      []string
		err       error
	}{
		{"one plan fails", []providertest.Exchange{plansOf(p2, p1), prices, failing}, []string{profile}, gputide.ErrAuth},
		{"a plan without an id", []providertest.Exchange{plansOf(p1, `{"name":"gx3-1x1x1l4"}`), prices}, []string{profile}, gputide.ErrSchemaDrift},
		{"an id that leads elsewhere", []providertest.Exchange{plansOf(p1, `{"id":"../../x","name":"gx3-1x1x1l4"}`), prices}, []string{profile}, gputide.ErrSchemaDrift},
		{"a plan twice", []providertest.Exchange{plansOf(p1, p1), prices}, []string{profile}, nil},
		{"a plan out of use", []providertest.Exchange{plansOf(p1, `{"id":"p2","name":"gx3-1x1x1l4","disabled":true}`), prices}, []string{profile}, nil},
		{"priced by its parts", []providertest.Exchange{
			plansOf(p1, p2), prices, exchange(sourcePrices, pricesURL("p2"), list(0, 1, region("r", metricWith(map[string]string{"charge_unit_name": `"VCPU_HOURS"`})))),
		}, []string{profile}, nil},
		{"no list of plans", []providertest.Exchange{
			{Source: sourcePlans, URL: plansURL + "?_limit=200&_offset=0", Status: 403},
			exchange(sourcePrices, pricesURL(knownPlans()[0].id), list(0, 1, good)), exchange(sourcePrices, pricesURL(knownPlans()[1].id), list(0, 1, good)),
		}, []string{"gx3d-160x1792x8h100", "gx3d-160x1792x8h200"}, gputide.ErrAuth},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := collect(t, tt.exchanges...)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			var got []string
			for _, o := range c.Live() {
				got = append(got, o.Key.InstanceType)
			}
			slices.Sort(got)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestNames(t *testing.T) {
	c, err := loadCards()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"gx2-16x128x2v100":      "16 128 2 NVIDIA V100 PCIe 16",
		"gx3-64x320x4l4":        "64 320 4 NVIDIA L4 24",
		"gx3d-24x120x1a100p":    "24 120 1 NVIDIA A100 PCIe 80",
		"gx3d-160x1792x8gaudi3": "160 1792 8 Intel Gaudi 3 128",
		"gx4d-232x3840x8b300":   "232 3840 8 b300 0",
		"bx2-2x8":               "",
		"bx2-2x8x":              "",
		"mx3d-176x1760":         "",
		"GX3-64X320X4L4":        "",
	} {
		got := ""
		if s := c.spec(name); s != nil {
			gb := 0.0
			if s.Device.MemoryGB != nil {
				gb = *s.Device.MemoryGB
			}
			got = fmt.Sprint(*s.VCPU, " ", *s.MemoryGiB, " ", s.Device.Count, " ", s.Device.Name, " ", gb)
		}
		if got != want || accelerated(name) != (want != "") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// FuzzRows proves that no row makes a price that is none, whatever stands in it.
func FuzzRows(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(region("r", metricWith(map[string]string{"tier_model": `"Graduated Tier"`, "amounts": usd(`{"quantity_tier":5,"price":1e-9}`)}))))
	f.Add([]byte(`{"name":"gx3d-160x1792x8h100","vcpu_count":{"type":"fixed","value":8},"gpu_count":{"type":"fixed","value":1e9},"disks":[{}]}`))
	table, err := loadCards()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		c := new(providertest.Collector)
		r := &run{b: newBatch(c), cards: table}
		var d deployment
		if json.Unmarshal(row, &d) == nil {
			r.addDeployment(&d, profile, table.spec(profile))
		}
		var p profileRow
		if json.Unmarshal(row, &p) == nil {
			if s := p.spec(table); s.Device.Count.Num > maxCards {
				t.Errorf("%s cards", s.Device.Count)
			}
		}
		for _, o := range c.Offers {
			if v, err := gputide.ParseAmount(o.Price.Amount); err != nil || v.Sign() <= 0 {
				t.Errorf("price %q of %q", o.Price.Amount, o.Key.Canonical())
			}
		}
	})
}
