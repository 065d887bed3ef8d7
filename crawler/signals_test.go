package crawler

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func TestRates(t *testing.T) {
	rate := func(n int, quote gputide.Currency, amount string) gputide.Rate {
		return gputide.Rate{Date: day(n), Base: "EUR", Quote: quote, Amount: amount, Source: "ecb"}
	}
	r := newRig(t)
	i := gputide.Info{Name: "fake", Sources: []gputide.Source{{ID: "ecb"}}}
	none := func(context.Context, *gputide.Batch) error { return nil }
	crawl := func(n int, rates func(context.Context, *gputide.Batch) error) Result {
		return r.Crawl(t.Context(), []gputide.Provider{&rateProvider{&fakeProvider{i, none}, rates}},
			Options{At: func(string) time.Time { return day(n) }})[0]
	}
	res := crawl(0, func(_ context.Context, b *gputide.Batch) error {
		for _, rt := range []gputide.Rate{
			rate(1, "USD", "1.2"), rate(0, "USD", "1.1"), rate(0, "USD", "1.1"), rate(0, "CNY", "7.9"), rate(0, "CNY", "8"),
			rate(0, "JPY", "0"), rate(0, "GBP", "N/A"), rate(0, "usd", "1"),
		} {
			b.Rate(rt)
		}
		return nil
	})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	run := r.last(t)
	if diff := cmp.Diff([]gputide.Rate{rate(0, "USD", "1.1"), rate(1, "USD", "1.2")}, run.Rates); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	want := gputide.SourceReport{
		Source: "ecb", Status: gputide.SourceOK, Read: 8, Kept: 2,
		Skipped: map[string]int64{"bad_rate": 3, "two_rates": 2}, Omitted: map[string]int64{"twin": 1},
	}
	if diff := cmp.Diff([]gputide.SourceReport{want}, run.Report.Sources); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	res = crawl(1, func(context.Context, *gputide.Batch) error { return gputide.ErrUnavailable })
	if !errors.Is(res.Err, gputide.ErrUnavailable) || r.last(t).Err == "" {
		t.Errorf("error %v, want that of the rates", res.Err)
	}
}

func TestSignals(t *testing.T) {
	band := func(source, name string, v int64) gputide.Signal {
		return gputide.Signal{Source: source, Name: gputide.SignalInterruption, Value: v, Key: gputide.Key{InstanceType: name, Region: "x"}}
	}
	bands := gputide.Scope{Signal: gputide.SignalInterruption}
	values := func(run *gputide.Run) map[string]int64 {
		out := map[string]int64{}
		for _, s := range run.Signals {
			out[s.Key.InstanceType] = s.Value
		}
		return out
	}
	fill := func(b *gputide.Batch, n int) {
		for i := range n {
			b.Signal(band("advisor", fmt.Sprintf("t%d", i), 1))
		}
		b.Done("advisor", bands)
		lists(1, 0)(b)
	}
	t.Run("authority and disagreement", func(t *testing.T) {
		r := newRig(t, "list", "advisor")
		r.run(t, 0, func(b *gputide.Batch) {
			b.Signal(band("advisor", "torn", 1))
			b.Signal(band("advisor", "torn", 2))
			b.Signal(band("advisor", "twin", 3))
			b.Signal(band("advisor", "twin", 3))
			b.Signal(band("list", "other", 4))
			b.Done("advisor", bands)
			lists(1, 0)(b)
		})
		run := r.last(t)
		if diff := cmp.Diff(map[string]int64{"twin": 3}, values(run)); diff != "" {
			t.Errorf("signals (-want +got):\n%s", diff)
		}
		if got := scopeOf(t, run, bands); got.Count != 1 || got.Source != "advisor" {
			t.Errorf("scope %+v", got)
		}
		if len(run.Report.Notes) != 2 {
			t.Errorf("notes %q, want one for each kind left out", run.Report.Notes)
		}
	})
	t.Run("shrunken scope is held", func(t *testing.T) {
		r := newRig(t, "list", "advisor")
		r.run(t, 0, func(b *gputide.Batch) { fill(b, 10) })
		r.run(t, 1, func(b *gputide.Batch) { fill(b, 4) })
		run := r.last(t)
		if got := scopeOf(t, run, bands); got.Status != gputide.ScopeHeld || len(run.Signals) != 0 {
			t.Errorf("scope is %s with %d signals, want held", got.Status, len(run.Signals))
		}
		if got := scopeOf(t, run, everything); got.Status != gputide.ScopeDone {
			t.Errorf("prices are %s, want done: signals do not touch them", got.Status)
		}
	})
	t.Run("availability may vanish", func(t *testing.T) {
		r := newRig(t, "list")
		stock := gputide.Scope{Signal: gputide.SignalAvailability}
		r.run(t, 0, func(b *gputide.Batch) {
			b.Stock("list", gputide.Key{InstanceType: "a"}, gputide.AvailabilityYes, "x", "y", "z")
			b.Done("list", stock)
			lists(1, 0)(b)
		})
		r.run(t, 1, func(b *gputide.Batch) {
			b.Done("list", stock)
			lists(1, 0)(b)
		})
		if got := scopeOf(t, r.last(t), stock); got.Status != gputide.ScopeDone {
			t.Errorf("scope is %s (%s), want done", got.Status, got.Reason)
		}
	})
	t.Run("beside prices", func(t *testing.T) {
		r := newRig(t, "list", "page", "stock")
		key := gputide.Key{InstanceType: "a", Market: gputide.OnDemand}
		r.run(t, 0, func(b *gputide.Batch) {
			b.Stock("list", key, gputide.AvailabilityHigh, "x")
			b.Stock("page", key, gputide.AvailabilityNone, "y")
			b.Stock("stock", key, gputide.AvailabilityLow, "z")
			b.Done("page", gputide.Scope{Market: gputide.OnDemand})
			b.Add(offer("list", "a", "3"))
			b.Done("list", gputide.Scope{Market: gputide.OnDemand})
		})
		regions := map[string]int64{}
		for _, s := range r.last(t).Signals {
			regions[s.Key.Region] = s.Value
		}
		want := map[string]int64{"x": gputide.AvailabilityHigh, "z": gputide.AvailabilityLow}
		if diff := cmp.Diff(want, regions); diff != "" {
			t.Errorf("signals (-want +got):\n%s", diff)
		}
	})
}
