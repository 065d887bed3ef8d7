package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// showcase has an offer of each shape that rows can take.
func showcase(t testing.TB) *world {
	w := newWorld(t)
	w.rate("USD", "1.1355", "2026-09-30")
	w.rate("CNY", "8.0823", "2026-09-28")

	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	s := &w.specs[0]
	s.Device.MemoryMiB, s.Device.Interconnect, s.Device.Passthrough = new(int64(81920)), "NVSwitch", new(true)
	s.CPUArch, s.CPUModel, s.LocalDiskGB, s.LocalDiskKind = "x86_64", "AMD EPYC 7R13", new(30400.0), "nvme"
	s.NetworkGbps, s.RDMAKind, s.RDMAGbps, s.BareMetal, s.OnDemand = new(3200.0), "efa", new(3200.0), new(false), new(true)
	s.BillingIncrementS, s.MinimumS, s.Use = new(int64(1)), new(int64(60)), []string{"training"}
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")

	spot := aws("p5.48xlarge", "us-east-1")
	spot.Market, spot.Zone = gputide.Spot, "use1-az4"
	w.offer(spot, "55.04")
	w.signal(gputide.SignalInterruption, gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5.48xlarge", OS: "linux"}, 4)

	ri := aws("p5.48xlarge", "us-east-1")
	ri.Market, ri.Plan, ri.Term, ri.Payment = gputide.Commitment, "ri_standard", "1y", gputide.PaymentPartial
	w.offer(ri, "38.528125", func(q *gputide.Quote) {
		q.Published = gputide.Published{Amount: "20", Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: "162306.375"}
	})

	w.shape("gcp", "", "a3-highgpu-1g", "h100-sxm-80gb", 1, 1)
	w.offer(gputide.Key{Provider: "gcp", Region: "us-central1", InstanceType: "a3-highgpu-1g"}, "11.061", func(q *gputide.Quote) {
		q.Published = gputide.Published{Basis: gputide.BasisInstance, Components: []gputide.Component{
			{Kind: "core", Amount: "0.03", Unit: gputide.PerHour, Quantity: "26", SKU: "A-1"},
			{Kind: "accelerator", Amount: "10.281", Unit: gputide.PerHour, Quantity: "1"},
		}}
		q.State = gputide.StateStale
		q.ObservedAt = noon.Add(-100 * time.Hour)
	})

	cny := gputide.Key{Provider: "alibaba", Partition: "cn", Region: "cn-hangzhou", InstanceType: "gn8v", Market: gputide.Subscription, Term: "1mo", Tax: gputide.TaxIncluded, Currency: "CNY"}
	w.shape("alibaba", "cn", "gn8v", "GPU H", 1, 1)
	w.specs[2].Device.MemoryGB = new(96.0)
	w.offer(cny, "3.424657534", func(q *gputide.Quote) {
		q.Published = gputide.Published{Amount: "2500", Unit: gputide.PerMonth, Basis: gputide.BasisInstance}
	})

	w.shape("runpod", "", "NVIDIA L4×1", "l4-24gb", 1, 1)
	l4 := gputide.Key{Provider: "runpod", InstanceType: "NVIDIA L4×1", Tier: "secure"}
	w.offer(l4, "0.39", func(q *gputide.Quote) {
		q.Published = gputide.Published{Amount: "0.39", Unit: gputide.PerHour, Basis: gputide.BasisAccelerator, Multiplier: gputide.NewCount(1, 1)}
	})
	w.signal(gputide.SignalAvailability, with(l4, gputide.FieldRegion, "EU-RO-1"), gputide.AvailabilityMedium)

	w.shape("aws", "aws", "g6f.large", "l4-24gb", 1, 8)
	w.offer(aws("g6f.large", "us-east-1"), "0.202")
	w.shape("aws", "aws", "m5.large", "", 0, 0)
	return w
}

func TestOffersGolden(t *testing.T) {
	w := showcase(t)
	golden(t, "offers.json", "offers.golden.json", w.offers(OffersRequest{All: true}).Rows)
	golden(t, "offers.json", "offers-eur.golden.json", w.offers(OffersRequest{In: "EUR", Filter: Filter{Provider: []string{"alibaba", "runpod"}}}).Rows)
}

func TestTypesGolden(t *testing.T) {
	ans, err := newEngine(showcase(t).memory).Types(t.Context(), TypesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "types.json", "types.golden.json", ans.Rows)
}

func TestTypesLimitAndEmpty(t *testing.T) {
	e := newEngine(showcase(t).memory)
	ans, err := e.Types(t.Context(), TypesRequest{Limit: 2})
	if err != nil || len(ans.Rows) != 2 || ans.Total != 6 {
		t.Errorf("limit 2: %d of %d rows, %v; want 2 of 6", len(ans.Rows), ans.Total, err)
	}
	ans, err = e.Types(t.Context(), TypesRequest{Filter: Filter{Provider: []string{"aws"}, MinRAM: "4TB"}})
	if err != nil {
		t.Fatal(err)
	}
	want := &Empty{Without: []Without{{"min-ram=4TB", 3}}, Text: "min-ram=4TB emptied the answer: 3 instance types without it"}
	if diff := cmp.Diff(want, ans.Empty); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// change adds a change of an offer of the world.
func (w *world) change(kind gputide.ChangeKind, k gputide.Key, before, after string, ago time.Duration) {
	w.Helper()
	price := func(s string) *gputide.Nano {
		if s == "" {
			return nil
		}
		return new(amount(w, s))
	}
	c := gputide.Change{
		Seq: uint64(len(w.changes) + 1), Key: k, Kind: kind, Before: price(before), After: price(after),
		SeenAt: noon.Add(-ago), NotBefore: noon.Add(-ago - 24*time.Hour), RecordedAt: noon.Add(-ago + time.Minute), Cause: gputide.CauseCrawl,
	}
	if kind != gputide.ChangeSpec {
		c.ID = k.ID()
	}
	if kind == gputide.ChangeFirstSeen {
		c.NotBefore = time.Time{}
	}
	w.changes = append(w.changes, c)
}

func changed(t testing.TB) *world {
	w := newWorld(t)
	p5, p4 := aws("p5.48xlarge", "us-east-1"), aws("p4d.24xlarge", "eu-west-1")
	for _, k := range []*gputide.Key{&p5, &p4} {
		k.Market, k.Stat, k.Currency = gputide.OnDemand, gputide.StatList, "USD"
	}
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "aws", "p4d.24xlarge", "v100-sxm2-16gb", 8, 1)
	w.offer(p5, "55.04")
	w.offer(p4, "21.957642")
	w.change(gputide.ChangeFirstSeen, p5, "", "98.32", 400*24*time.Hour)
	w.change(gputide.ChangePrice, p5, "98.32", "55.04", 100*24*time.Hour)
	w.change(gputide.ChangeSpec, gputide.Key{Provider: "aws", Partition: "aws", InstanceType: "p5.48xlarge"}, "", "", 99*24*time.Hour)
	w.change(gputide.ChangePrice, p4, "32.7726", "21.957642", 90*24*time.Hour)
	w.change(gputide.ChangeWithdrawn, p4, "21.957642", "", 24*time.Hour)
	w.change(gputide.ChangeReturned, p4, "", "21.957642", time.Hour)
	w.changes[3].Flags = []gputide.Flag{gputide.FlagSourceChanged}
	return w
}

func TestChangesGolden(t *testing.T) {
	ans, err := newEngine(changed(t).memory).Changes(t.Context(), ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "changes.json", "changes.golden.json", ans.Rows)
	if ans.Last != 6 || ans.More {
		t.Errorf("last %d, more %t; want 6 and no more", ans.Last, ans.More)
	}
	if got := ans.Rows[1].Pct.String(); got != "-44.0195" {
		t.Errorf("98.32 → 55.04 is %s %%, want -44.0195", got)
	}
}

func TestChangesSelect(t *testing.T) {
	for name, tt := range map[string]struct {
		req  ChangesRequest
		want []uint64
		last uint64
		more bool
	}{
		"all":          {ChangesRequest{}, []uint64{1, 2, 3, 4, 5, 6}, 6, false},
		"after":        {ChangesRequest{AfterSeq: 4}, []uint64{5, 6}, 6, false},
		"page":         {ChangesRequest{AfterSeq: 1, Limit: 2}, []uint64{2, 3}, 3, true},
		"last page":    {ChangesRequest{AfterSeq: 4, Limit: 2}, []uint64{5, 6}, 6, false},
		"newest":       {ChangesRequest{Limit: 1, Newest: true}, []uint64{6}, 6, true},
		"kind":         {ChangesRequest{Kinds: []string{"price", "first-seen"}}, []uint64{1, 2, 4}, 4, false},
		"since":        {ChangesRequest{From: noon.AddDate(0, 0, -90)}, []uint64{4, 5, 6}, 6, false},
		"to":           {ChangesRequest{To: noon.AddDate(0, 0, -90)}, []uint64{1, 2, 3}, 3, false},
		"gpu":          {ChangesRequest{Filter: Filter{GPU: []string{"h100"}}}, []uint64{1, 2, 3}, 3, false},
		"gpu memory":   {ChangesRequest{Filter: Filter{MinGPUMemory: "80GB"}}, []uint64{1, 2, 3}, 3, false},
		"country":      {ChangesRequest{Filter: Filter{Country: []string{"ie"}}}, []uint64{4, 5, 6}, 6, false},
		"flag":         {ChangesRequest{Filter: Filter{Flag: []string{"source_changed"}}}, []uint64{4}, 4, false},
		"zone not set": {ChangesRequest{Filter: Filter{Zone: []string{"-"}}, AfterSeq: 5}, []uint64{6}, 6, false},
		"nothing new":  {ChangesRequest{AfterSeq: 6}, nil, 6, false},
	} {
		t.Run(name, func(t *testing.T) {
			ans, err := newEngine(changed(t).memory).Changes(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			var got []uint64
			for _, r := range ans.Rows {
				got = append(got, r.Seq)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || ans.Last != tt.last || ans.More != tt.more {
				t.Errorf("%v, last %d, more %t; want %v, %d, %t", got, ans.Last, ans.More, tt.want, tt.last, tt.more)
			}
			if (ans.Empty == nil) != (len(got) > 0) {
				t.Errorf("empty %v beside %d rows", ans.Empty, len(got))
			}
		})
	}
	for name, req := range map[string]ChangesRequest{
		"kind":        {Kinds: []string{"prise"}},
		"window":      {From: noon, To: noon},
		"limit":       {Limit: -1},
		"state":       {Filter: Filter{State: []string{"gap"}}},
		"a max-price": {Filter: Filter{MaxPrice: "1"}},
	} {
		if _, err := newEngine(changed(t).memory).Changes(t.Context(), req); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%s: error %v, want invalid", name, err)
		}
	}
}

func TestEmptyChangesNameTheBound(t *testing.T) {
	for want, req := range map[string]ChangesRequest{
		"from=2026-10-01T00:00:00Z emptied the answer: 6 changes without it": {From: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)},
		"to=2020-01-01T00:00:00Z emptied the answer: 6 changes without it":   {To: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)},
		"kind=held emptied the answer: 6 changes without it":                 {Kinds: []string{"held"}},
		"after-seq=6 emptied the answer: 2 changes without it":               {AfterSeq: 6, Kinds: []string{"price"}},
		"no changes stored; `gputide crawl` fetches some":                    {},
	} {
		w := changed(t)
		if req.AfterSeq == 0 && req.From.IsZero() && req.To.IsZero() && req.Kinds == nil {
			w.changes = nil
		}
		ans, err := newEngine(w.memory).Changes(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if ans.Empty == nil || ans.Empty.Text != want {
			t.Errorf("empty %+v, want %q", ans.Empty, want)
		}
	}
}

// A change of an offer with one price everywhere belongs to the places that
// stock it, tier by tier.
func TestChangesOfOneEverywherePrice(t *testing.T) {
	w := changed(t)
	for _, tier := range []string{"secure", "community"} {
		k := gputide.Key{Provider: "runpod", InstanceType: "h100×1", Tier: tier, Market: gputide.OnDemand, Stat: gputide.StatList, Currency: "USD"}
		w.offer(k, "3.29")
		w.change(gputide.ChangePrice, k, "2.99", "3.29", time.Minute)
	}
	w.signal(gputide.SignalAvailability, gputide.Key{Provider: "runpod", InstanceType: "h100×1", Tier: "secure", Region: "EU-RO-1"}, gputide.AvailabilityHigh)
	ans, err := newEngine(w.memory).Changes(t.Context(), ChangesRequest{Filter: Filter{Continent: []string{"europe"}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, r := range ans.Rows {
		got = append(got, r.Seq)
	}
	if diff := cmp.Diff([]uint64{4, 5, 6, 7}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSignals(t *testing.T) {
	w := showcase(t)
	for i, typ := range []string{"a", "b", "c"} {
		w.signal(gputide.SignalInterruption, gputide.Key{Provider: "aws", Region: "eu-west-1", InstanceType: typ, OS: "linux"}, int64(i/2))
	}
	e := newEngine(w.memory)
	ask := func(req SignalsRequest) SignalsAnswer {
		t.Helper()
		ans, err := e.Signals(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return ans
	}
	golden(t, "signals.json", "signals.golden.json", ask(SignalsRequest{}).Rows)
	counts := ask(SignalsRequest{Name: "interruption", CountBy: "value"})
	golden(t, "signals.json", "signals-count.golden.json", counts.Counts)
	if counts.Rows != nil || counts.Total != 3 {
		t.Errorf("counted: %d rows, total %d; want none and 3 values", len(counts.Rows), counts.Total)
	}
	for name, tt := range map[string]struct {
		filter Filter
		want   int
	}{
		"gpu":          {Filter{GPU: []string{"h100"}}, 1},
		"country":      {Filter{Country: []string{"ie"}}, 3},
		"type and os":  {Filter{Type: []string{"p5.*"}, OS: []string{"linux"}}, 1},
		"nothing left": {Filter{GPU: []string{"mi300x"}}, 0},
	} {
		ans := ask(SignalsRequest{Name: "interruption", Filter: tt.filter})
		if len(ans.Rows) != tt.want || (ans.Empty == nil) != (tt.want > 0) {
			t.Errorf("%s: %d rows, empty %v; want %d", name, len(ans.Rows), ans.Empty, tt.want)
		}
	}
	if ans := ask(SignalsRequest{Name: "savings"}); !strings.Contains(ans.Empty.Text, "name=savings") {
		t.Errorf("empty %+v, want the name", ans.Empty)
	}
	for _, req := range []SignalsRequest{{Name: "interuption"}, {CountBy: "colour"}, {Filter: Filter{Stat: []string{"list"}}}} {
		if _, err := e.Signals(t.Context(), req); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%+v: error %v, want invalid", req, err)
		}
	}
}

func TestExplainGolden(t *testing.T) {
	w := showcase(t)
	e := newEngine(w.memory)
	e.Arithmetic = func(q *gputide.Quote) ([]string, error) {
		return []string{q.Published.Amount + " CNY a month ÷ 730 h"}, nil
	}
	scope := gputide.Scope{Partition: "cn", Region: "cn-hangzhou"}
	run := func(id uint64, at time.Time) gputide.RunRecord {
		return gputide.RunRecord{
			ID: id, Provider: "alibaba", At: at, Cause: gputide.CauseCrawl,
			Scopes: []gputide.ScopeRun{
				{Scope: gputide.Scope{Partition: "cn"}, Status: gputide.ScopeDone, Source: "wide"},
				{Scope: scope, Status: gputide.ScopeDone, Source: "list", URLs: []string{"https://example.com/instancePrice.json"}},
				{Scope: gputide.Scope{Partition: "cn", Region: "cn-beijing"}, Status: gputide.ScopeDone, Source: "list"},
			},
			Bodies: []gputide.Body{
				{Source: "list", URL: "https://example.com/instancePrice.json", Status: 200, Hash: strings.Repeat("ab", 32), Size: 1234, FetchedAt: at},
				{Source: "list", URL: "https://example.com/other.json", Status: 200},
				{Source: "wide", URL: "https://example.com/wide.json", Status: 200},
			},
		}
	}
	w.runs = []gputide.RunRecord{run(7, noon.Add(-24*time.Hour)), run(9, noon.Add(-time.Hour))}
	var id gputide.OfferID
	for _, q := range w.quotes {
		if q.Key.Provider == "alibaba" {
			id = q.ID
		}
	}
	x, err := e.Explain(t.Context(), id, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "explain.json", "explain.golden.json", x)

	x, err = e.Explain(t.Context(), id, noon.AddDate(-1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "explain.json", "explain-unknown.golden.json", x)

	if _, err = e.Explain(t.Context(), gputide.OfferID{1}, time.Time{}); !errors.Is(err, gputide.ErrNotFound) {
		t.Errorf("error %v, want not found", err)
	}
}

// The run that set a price may lie behind the recent ones.
func TestExplainFindsOldRuns(t *testing.T) {
	w := newWorld(t)
	id := w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	for i := range 300 {
		at := noon.Add(-time.Duration(i+1) * time.Hour)
		w.runs = append(w.runs, gputide.RunRecord{
			ID: uint64(1000 - i), Provider: "aws", At: at, Scopes: []gputide.ScopeRun{{Status: gputide.ScopeDone, Source: "list"}},
		})
	}
	w.quotes[0].Since = noon.Add(-250 * time.Hour)
	x, err := newEngine(w.memory).Explain(t.Context(), id, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if x.Confirmed == nil || x.Confirmed.RunID != 1000 || x.Priced == nil || x.Priced.RunID != 751 {
		t.Errorf("confirmed by %+v, priced by %+v; want runs 1000 and 751", x.Confirmed, x.Priced)
	}
	if x.Flags[0] != gputide.FlagSpecUnknown || x.Catalogue != nil || x.Accelerator != nil {
		t.Errorf("flags %v, catalogue %v; nothing is known of the type", x.Flags, x.Catalogue)
	}
}
