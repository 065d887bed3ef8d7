package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func pctText(p *Percent) string {
	if p == nil {
		return "-"
	}
	return p.String()
}

// off writes the discount of a row as "now min p50 max reason".
func off(r *DiscountRow) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", pctText(r.NowPct), pctText(r.MinPct), pctText(r.P50Pct), pctText(r.MaxPct), r.Reason))
}

func one(t *testing.T, ans DiscountAnswer) *DiscountRow {
	t.Helper()
	if len(ans.Rows) != 1 {
		t.Fatalf("%d rows: %+v", len(ans.Rows), ans.Empty)
	}
	return &ans.Rows[0]
}

func TestDiscountIsASeries(t *testing.T) {
	w := cardWorld(t)
	k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5", OS: "linux"}
	demand := w.series(k, leg{"2026-09-26T12:00", "100"}, leg{"2026-09-28T12:00", "80"}, leg{"2026-09-29T12:00", ""}, leg{"2026-09-30", "80"})
	k.Market = gputide.Spot
	w.series(k, leg{"2026-09-26T12:00", "40"}, leg{"2026-09-27T12:00", "120"}, leg{"2026-09-28T12:00", "20"})
	w.signal(gputide.SignalInterruption, gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5"}, 3)
	ans := w.discount(DiscountRequest{AtLeast: "60", Budget: "5/gpu", Lines: 3})
	r := one(t, ans)
	// 60 % for a day, -20 % for a day, 75 % for a day; then the reference is a
	// gap for twelve hours; then 75 % for twelve more.
	if got := off(r); got != "75 -20 60 75" {
		t.Errorf("over time: %s", got)
	}
	if r.ShareOfTimeGE.String() != "0.714286" || r.ShareOfTimeLE.String() != "0.75" {
		t.Errorf("shares of time: discount %s, price %s", r.ShareOfTimeGE, r.ShareOfTimeLE)
	}
	if r.CoveredShare.String() != "0.875" || r.PriceCoveredShare.String() != "1" || r.Samples != 4 || r.PriceSamples != 3 {
		t.Errorf("covered %s of %s, samples %d of %d", r.CoveredShare, r.PriceCoveredShare, r.Samples, r.PriceSamples)
	}
	if r.Changes != 2 || r.ChangesPerDay.String() != "0.5" || r.MaxDrawdownPct.String() != "83.3333" || r.PriceMean.String() != "50" {
		t.Errorf("changes %d, %s a day, fall %s, mean %s", r.Changes, r.ChangesPerDay, r.MaxDrawdownPct, r.PriceMean)
	}
	// ln 3 and ln 1/6: half their difference times the root of two
	if r.Volatility.String() != "2.043801" {
		t.Errorf("volatility %s", r.Volatility)
	}
	if r.OnDemand.String() != "80" || string(r.OnDemandOffer) != demand.String() || r.Interruption.Text != "15-20%" || r.BreakEvenUtilisation != nil {
		t.Errorf("%+v", r)
	}
	rows := one(t, w.discount(DiscountRequest{Over: "rows"}))
	if got := off(rows); got != "75 60 67.5 75" || rows.Samples != 2 {
		t.Errorf("over rows, only pairs of one moment: %s of %d", got, rows.Samples)
	}
	last := ans.Lines[0][len(ans.Lines[0])-1]
	if len(ans.Lines) != 1 || len(ans.Lines[0]) != 5 || !last.At.Equal(noon) || last.Pct.String() != "75" {
		t.Errorf("lines %+v", ans.Lines)
	}
}

func TestDiscountReference(t *testing.T) {
	base := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5", OS: "linux"}
	key := func(edit func(*gputide.Key)) gputide.Key {
		k := base
		edit(&k)
		return k
	}
	day := "2026-09-29"
	for name, tt := range map[string]struct {
		spot   gputide.Key
		others []gputide.Key
		want   string
	}{
		"none":               {base, nil, "- - - - no_reference"},
		"equal":              {base, []gputide.Key{base}, "60 60 60 60"},
		"another os":         {base, []gputide.Key{key(func(k *gputide.Key) { k.OS = "windows" })}, "- - - - no_reference"},
		"no zone":            {key(func(k *gputide.Key) { k.Zone = "a" }), []gputide.Key{base}, "60 60 60 60"},
		"another zone":       {key(func(k *gputide.Key) { k.Zone = "a" }), []gputide.Key{key(func(k *gputide.Key) { k.Zone = "b" })}, "- - - - no_reference"},
		"zone and none":      {key(func(k *gputide.Key) { k.Zone = "a" }), []gputide.Key{base, key(func(k *gputide.Key) { k.Zone = "a" })}, "- - - - ambiguous_reference"},
		"first volume":       {base, []gputide.Key{key(func(k *gputide.Key) { k.Volume = "h<=96" }), key(func(k *gputide.Key) { k.Volume = "h<=360" })}, "60 60 60 60"},
		"bid floor and min":  {key(func(k *gputide.Key) { k.Stat = gputide.StatBidFloor }), []gputide.Key{key(func(k *gputide.Key) { k.Stat = gputide.StatMin })}, "60 60 60 60"},
		"min and list":       {key(func(k *gputide.Key) { k.Stat = gputide.StatMin }), []gputide.Key{base}, "- - - - no_reference"},
		"another seller":     {base, []gputide.Key{key(func(k *gputide.Key) { k.Seller = "x" })}, "- - - - no_reference"},
		"another tax":        {base, []gputide.Key{key(func(k *gputide.Key) { k.Tax = gputide.TaxIncluded })}, "- - - - no_reference"},
		"another tier":       {key(func(k *gputide.Key) { k.Tier = "secure" }), []gputide.Key{base}, "- - - - no_reference"},
		"unverified sidekey": {base, []gputide.Key{base, key(func(k *gputide.Key) { k.Tier = "unverified" })}, "60 60 60 60"},
	} {
		t.Run(name, func(t *testing.T) {
			w := cardWorld(t)
			tt.spot.Market = gputide.Spot
			w.series(tt.spot, leg{day, "40"})
			for _, k := range tt.others {
				w.series(k, leg{day, "100"})
			}
			r := one(t, w.discount(DiscountRequest{}))
			if got := off(r); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if r.PriceP50 == nil || r.PriceP50.String() != "40" || r.CoveredShare == nil {
				t.Errorf("the price statistics are not filled: %+v", r)
			}
		})
	}
}

func TestDiscountOfAWithdrawnReference(t *testing.T) {
	w := cardWorld(t)
	k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5"}
	w.series(k, leg{"2026-09-28", "100"}, leg{"2026-09-29", "-"})
	k.Market = gputide.Spot
	w.series(k, leg{"2026-09-28", "40"})
	r := one(t, w.discount(DiscountRequest{}))
	if got := off(r); got != "- 60 60 60" || r.OnDemand != nil || r.CoveredShare.String() != "0.4" {
		t.Errorf("%s, on demand %v, covered %s", got, r.OnDemand, r.CoveredShare)
	}
}

// Prices of different times say nothing of each other.
func TestDiscountNeedsTheSameTime(t *testing.T) {
	w := cardWorld(t)
	k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5"}
	w.series(k, leg{"2026-09-28", "100"})
	k.Market = gputide.Spot
	id := w.series(k, leg{"2026-01-01", "40"})
	ended := moment(t, "2026-02-01")
	w.pasts[id] = []gputide.Interval{
		{From: w.pasts[id][0].From, To: ended.Add(time.Second), Price: w.pasts[id][0].Price, State: gputide.StatePriced},
		{From: ended.Add(time.Second), To: noon.Add(time.Second), Price: w.pasts[id][0].Price, State: gputide.StateImportedEnd},
	}
	q := &w.quotes[len(w.quotes)-1]
	q.State, q.Imported, q.ObservedAt = gputide.StateImportedEnd, true, ended
	r := one(t, w.discount(DiscountRequest{}))
	if got := off(r); got != "- - - - no_reference" || r.OnDemand != nil || !r.To.Equal(ended.Add(time.Second)) {
		t.Errorf("%s, on demand %v, until %s", got, r.OnDemand, r.To)
	}
	r = one(t, w.discount(DiscountRequest{To: noon}))
	if got := off(r); got != "- - - -" || r.OnDemand.String() != "100" {
		t.Errorf("with a window that holds both: %s, on demand %v", got, r.OnDemand)
	}
}

func TestDiscountOfCommitments(t *testing.T) {
	w := cardWorld(t)
	k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5"}
	w.series(k, leg{"2026-09-28", "98.32"})
	k.Market = gputide.Spot
	w.series(k, leg{"2026-09-28", "10"})
	k.Market, k.Plan, k.Term, k.Payment = gputide.Commitment, "ri_standard", "1y", gputide.PaymentAll
	w.series(k, leg{"2026-09-28", "63.296"})
	r := one(t, w.discount(DiscountRequest{Filter: Filter{Market: []string{"commitment"}}}))
	if r.BreakEvenUtilisation.String() != "0.643775" || off(r) != "35.6225 35.6225 35.6225 35.6225" {
		t.Errorf("break even at %s, %s", r.BreakEvenUtilisation, off(r))
	}
	if n := len(w.discount(DiscountRequest{Filter: Filter{Market: []string{"commitment", "spot"}}}).Rows); n != 2 {
		t.Errorf("%d rows of two markets", n)
	}
	_, err := newEngine(w.memory).Discount(t.Context(), DiscountRequest{Filter: Filter{Market: []string{"on_demand"}}})
	if !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("on demand against itself: %v", err)
	}
}

func TestDiscountZonesAndOrder(t *testing.T) {
	w := cardWorld(t)
	k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5"}
	w.series(k, leg{"2026-09-20", "100"})
	k.Market = gputide.Spot
	for zone, legs := range map[string][]leg{
		"a": {{"2026-09-20", "40"}, {"2026-09-30", "70"}},
		"b": {{"2026-09-20", "60"}},
		"c": {{"2026-09-20", "55"}, {"2026-09-30", "-"}},
		"d": {{"2026-09-20", "120"}},
	} {
		k.Zone = zone
		w.series(k, legs...)
	}
	k.Zone, k.InstanceType = "", "pcie"
	w.series(k, leg{"2026-09-20", "1"})
	ans := w.discount(DiscountRequest{})
	var got []string
	for _, r := range ans.Rows {
		got = append(got, fmt.Sprintf("%s%s %s now %s, mostly %s", r.InstanceType, r.Zone, pctText(r.NowPct), r.BestZoneNow, r.BestZone))
	}
	want := []string{
		"p5b 40 now b, mostly a", "p5a 30 now b, mostly a", "p5d -20 now b, mostly a", "pcie - now , mostly ", "p5c - now b, mostly a",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	byPrice := w.discount(DiscountRequest{Sort: []string{"-price"}, Limit: 1})
	if byPrice.Rows[0].Zone != "d" || byPrice.Total != 5 {
		t.Errorf("dearest first: %s of %d", byPrice.Rows[0].Zone, byPrice.Total)
	}
}

func TestDiscountRefusesAndExplains(t *testing.T) {
	w := cardWorld(t)
	k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5", Market: gputide.Spot}
	w.series(k, leg{"2026-09-28", "40"})
	for want, req := range map[string]DiscountRequest{
		"did you mean now_pct": {Sort: []string{"now-pc"}},
		"write percent":        {AtLeast: "half"},
		"write it as 2.5":      {Budget: "0"},
		`over "rowz"`:          {Over: "rowz"},
		"did you mean spot":    {Filter: Filter{Market: []string{"spt"}}},
		"limit -2":             {Limit: -2},
	} {
		_, err := newEngine(w.memory).Discount(t.Context(), req)
		if !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%+v: %v, want %q", req, err, want)
		}
	}
	for want, req := range map[string]DiscountRequest{
		"market=commitment emptied": {Filter: Filter{Market: []string{"commitment"}}},
		"to=2026-09-01T00:00:00Z":   {To: moment(t, "2026-09-01")},
	} {
		ans := w.discount(req)
		if ans.Empty == nil || !strings.Contains(ans.Empty.Text, want) {
			t.Errorf("%+v: %+v, want %q", req, ans.Empty, want)
		}
	}
	k.Tier, k.Zone = "unverified", "z"
	w2 := cardWorld(t)
	w2.series(k, leg{"2026-09-28", "40"})
	if ans := w2.discount(DiscountRequest{}); ans.Empty == nil || !strings.Contains(ans.Empty.Text, "tier=unverified shows them") {
		t.Errorf("%+v", ans.Empty)
	}
}

func TestDiscountGolden(t *testing.T) {
	w := cardWorld(t)
	k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5", OS: "linux"}
	w.series(k, leg{"2026-09-26T12:00", "98.32"})
	k.Market, k.Zone = gputide.Spot, "use1-az4"
	w.series(k, leg{"2026-09-26T12:00", "40"}, leg{"2026-09-28", "41.5"}, leg{"2026-09-29", "39"})
	k.Market, k.Zone, k.InstanceType = gputide.Spot, "", "bare"
	w.series(k, leg{"2026-09-28", "2"})
	w.signal(gputide.SignalInterruption, gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5"}, 0)
	ans := w.discount(DiscountRequest{AtLeast: "50", Budget: "40"})
	golden(t, "discount.json", "discount.golden.json", ans.Rows)
	var back []DiscountRow
	if err := json.Unmarshal([]byte(jsonOf(t, ans.Rows)), &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(ans.Rows, back); d != "" {
		t.Errorf("read back (-wrote +read):\n%s", d)
	}
}

// Converted prices take the rate of each day; discounts and moves stay those of
// the published ones.
func TestDiscountInAnotherCurrency(t *testing.T) {
	w := newWorld(t)
	w.rate("USD", "1.25", "2026-09-27")
	w.rate("USD", "1.6", "2026-09-29")
	k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "m"}
	w.series(k, leg{"2026-09-26", "16"})
	k.Market = gputide.Spot
	w.series(k, leg{"2026-09-27", "8"}, leg{"2026-09-28", "4"})
	req := DiscountRequest{In: "EUR", Budget: "3", From: moment(t, "2026-09-27"), To: moment(t, "2026-09-30"), Lines: 1}
	ans := w.discount(req)
	r := &ans.Rows[0]
	got := fmt.Sprint(r.Currency, r.Price, r.OnDemand, r.PriceMin, r.PriceP50, r.PriceMax, r.PriceMean, r.PriceFirst, r.PriceLast, r.ShareOfTimeLE,
		r.NowPct, r.MinPct, r.MaxPct, r.Changes, r.MaxDrawdownPct, r.PriceSamples, r.PriceCoveredShare)
	// 8 is 6.4 €, 4 is 3.2 € on the 28th and 2.5 € on the 29th
	if want := "EUR2.5 10 2.5 3.2 6.4 4.033333333 6.4 2.5 0.333333 75 50 75 1 50 2 1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if p := ans.Lines[0]; len(p) != 3 || p[0].Price.String() != "6.4" || p[1].Price.String() != "3.2" {
		t.Errorf("line %v", p)
	}
	req.FXNow = true
	if got := w.discount(req).Rows[0].PriceMax.String(); got != "5" {
		t.Errorf("at one rate the highest is %s", got)
	}
	before := w.discount(DiscountRequest{In: "EUR", From: moment(t, "2026-09-26"), To: moment(t, "2026-09-28"), Filter: Filter{Market: []string{"spot"}}}).Rows[0]
	if before.PriceMax.String() != "6.4" || before.PriceCoveredShare.String() != "0.5" {
		t.Errorf("%+v", before)
	}
	w.rates = w.rates[1:]
	lost := w.discount(DiscountRequest{In: "EUR", From: moment(t, "2026-09-27"), To: moment(t, "2026-09-30")}).Rows[0]
	if lost.PriceMax.String() != "2.5" || lost.PriceCoveredShare.String() != "0.333333" || !slices.Contains(lost.Flags, gputide.FlagNoFX) || lost.MaxPct.String() != "75" {
		t.Errorf("days without a rate: %+v", lost)
	}
	none := w.discount(DiscountRequest{In: "JPY", From: moment(t, "2026-09-27")}).Rows[0]
	if none.Price != nil || none.PriceMean != nil || none.OnDemand != nil || none.NowPct == nil || !slices.Contains(none.Flags, gputide.FlagNoFX) {
		t.Errorf("no rate: %+v", none)
	}
	if _, err := newEngine(w.memory).Discount(t.Context(), DiscountRequest{In: "euros"}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("euros: %v", err)
	}
}
