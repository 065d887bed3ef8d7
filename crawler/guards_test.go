package crawler

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

var everything = gputide.Scope{}

func TestPriceStep(t *testing.T) {
	units := func(f float64) gputide.Nano { return gputide.Nano(math.Round(f * 1e9)) }
	for _, tt := range []struct {
		name          string
		before, after gputide.Nano
		count         gputide.Count
		want          bool
	}{
		{"same price", units(8), units(8), gputide.NewCount(8, 1), false},
		{"per accelerator for per instance", units(55.04), units(6.88), gputide.NewCount(8, 1), true},
		{"per instance for per accelerator", units(6.88), units(55.04), gputide.NewCount(8, 1), true},
		{"count unknown", units(55.04), units(6.88), gputide.Count{}, false},
		{"one accelerator", units(55.04), units(55.05), gputide.NewCount(1, 1), false},
		{"a share of one", units(8), units(1), gputide.NewCount(1, 8), false},
		{"near the count", units(55.04), units(6.89), gputide.NewCount(8, 1), false},
		{"rounded to a nano", units(10), units(3.333333333), gputide.NewCount(3, 1), true},
		{"beyond rounding", units(10), units(3.333333330), gputide.NewCount(3, 1), false},
		{"cents for dollars", units(1.29), units(129), gputide.Count{}, true},
		{"dollars for cents", units(129), units(1.29), gputide.Count{}, true},
		{"a factor of ten", units(1.29), units(12.9), gputide.Count{}, false},
		{"halved with two", units(4), units(2), gputide.NewCount(2, 1), true},
		{"halved with eight", units(4), units(2), gputide.NewCount(8, 1), false},
		{"largest prices", gputide.MaxNano, gputide.MaxNano / 100, gputide.Count{}, true},
		{"no price before", 0, units(2), gputide.NewCount(2, 1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if detail, got := priceStep(tt.before, tt.after, tt.count); got != tt.want {
				t.Errorf("priceStep(%s, %s, %s) = %q, %v, want %v", tt.before, tt.after, tt.count, detail, got, tt.want)
			}
		})
	}
}

func TestPriceStepGuard(t *testing.T) {
	replay := func(o *Options) { o.Cause = gputide.CauseReplay }
	replace := func(o *Options) { o.Replace = true }
	for _, tt := range []struct {
		name string
		row  []func(*gputide.RawOffer)
		opt  func(*Options)
		at   int
		held bool
	}{
		{name: "list price on demand", held: true},
		{name: "commitment", row: []func(*gputide.RawOffer){market(gputide.Commitment), func(o *gputide.RawOffer) { o.Key.Term = "1y" }}, held: true},
		{name: "spot", row: []func(*gputide.RawOffer){market(gputide.Spot)}},
		{name: "marketplace minimum", row: []func(*gputide.RawOffer){stat(gputide.StatMin)}},
		{name: "replay", opt: replay},
		{name: "replacement", opt: replace},
		{name: "backfill", at: -5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "list")
			crawl := func(price string) func(b *gputide.Batch) {
				return func(b *gputide.Batch) {
					b.Add(offer("list", "a", price, tt.row...))
					many(b, "list", "other", 20, "3", tt.row...)
					b.Done("list", everything)
				}
			}
			r.run(t, 0, crawl("16"))
			at := 1
			if tt.at != 0 {
				at = tt.at
			}
			var more []func(*Options)
			if tt.opt != nil {
				more = append(more, tt.opt)
			}
			res := r.run(t, at, crawl("2"), more...)
			if res.Err != nil {
				t.Fatal(res.Err)
			}
			_, stored := prices(r.last(t))["a"]
			if stored == tt.held {
				t.Errorf("row stored: %v, want %v; notes %q", stored, !tt.held, res.Report.Notes)
			}
			if !tt.held {
				return
			}
			run := r.last(t)
			if len(run.HeldKeys) != 1 || run.HeldKeys[0].Key.InstanceType != "a" || run.HeldKeys[0].Reason != "price_step" {
				t.Errorf("held keys %+v, want the one of a", run.HeldKeys)
			}
			if len(run.Quarantined) != 1 || run.Quarantined[0].Price == nil || run.Quarantined[0].Price.String() != "2" {
				t.Errorf("quarantined %+v, want a at 2", run.Quarantined)
			}
			if got := scopeOf(t, run, everything).Count; got != 21 {
				t.Errorf("scope counts %d, want the 21 listed", got)
			}
		})
	}
}

func TestPriceStepIsAcceptedWhenTheNextRunAgrees(t *testing.T) {
	crawl := func(price string) func(b *gputide.Batch) {
		return func(b *gputide.Batch) {
			b.Add(offer("list", "a", price))
			many(b, "list", "other", 20, "3")
			b.Done("list", everything)
		}
	}
	r := newRig(t, "list")
	r.run(t, 0, crawl("16"))
	r.run(t, 1, crawl("2"))
	if _, stored := prices(r.last(t))["a"]; stored {
		t.Fatal("the step is stored at first sight")
	}
	if res := r.run(t, 1, crawl("2")); !res.Commit.NoOp {
		t.Errorf("the same run again is %+v (%v), want no change: it is not independent", res.Commit, res.Err)
	}
	if res := r.run(t, 2, crawl("1600")); res.Err != nil {
		t.Fatal(res.Err)
	}
	if _, stored := prices(r.last(t))["a"]; stored {
		t.Fatal("another step is accepted although the runs disagree")
	}
	res := r.run(t, 3, crawl("1600"))
	if got := prices(r.last(t))["a"]; got != "1600" {
		t.Errorf("price %q after the second agreement, want 1600", got)
	}
	if !strings.Contains(strings.Join(res.Report.Notes, "\n"), "two runs agree") {
		t.Errorf("notes %q do not tell of the acceptance", res.Report.Notes)
	}
}

func TestTwoPricesForOneKey(t *testing.T) {
	r := newRig(t, "list")
	res := r.run(t, 0, func(b *gputide.Batch) {
		b.Add(offer("list", "twin", "5"))
		b.Add(offer("list", "twin", "5.00"))
		b.Add(offer("list", "torn", "5"))
		b.Add(offer("list", "torn", "6"))
		many(b, "list", "other", 40, "3")
		b.Done("list", everything)
	})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	run := r.last(t)
	got := prices(run)
	if got["twin"] != "5" || got["torn"] != "" {
		t.Errorf("prices of twin %q and torn %q, want 5 and none", got["twin"], got["torn"])
	}
	if len(run.Quarantined) != 2 || len(run.HeldKeys) != 1 {
		t.Fatalf("%d rows quarantined and %d keys held, want both rows and the one key", len(run.Quarantined), len(run.HeldKeys))
	}
	for i, want := range []string{"5", "6"} {
		if q := run.Quarantined[i]; q.Reason != "duplicate_key" || q.Price.String() != want || !strings.Contains(q.Detail, "5 and at 6 USD") {
			t.Errorf("quarantined %+v, want %s with both candidates named", q, want)
		}
	}
	rep := reportOf(t, run, "list")
	if rep.Omitted["twin"] != 1 || rep.Skipped["duplicate_key"] != 2 || rep.Kept != 41 || rep.Read != 44 {
		t.Errorf("report %+v", rep)
	}
}

func TestCurrencyGuard(t *testing.T) {
	r := newRig(t, "list")
	res := r.run(t, 0, func(b *gputide.Batch) {
		b.Add(offer("list", "a", "5", currency("CNY")))
		many(b, "list", "other", 20, "3")
		b.Done("list", everything)
	})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	run := r.last(t)
	if len(run.Offers) != 20 || len(run.Quarantined) != 1 || run.Quarantined[0].Reason != "wrong_currency" {
		t.Errorf("%d offers, quarantined %+v", len(run.Offers), run.Quarantined)
	}
}

func TestNoValidPriceKeepsTheLast(t *testing.T) {
	r := newRig(t, "list")
	crawl := func(price string) func(b *gputide.Batch) {
		return func(b *gputide.Batch) {
			b.Add(offer("list", "a", price))
			many(b, "list", "other", 20, "3")
			b.Done("list", everything)
		}
	}
	r.run(t, 0, crawl("16"))
	for i, bad := range []string{"0", "", "-1", "NaN", "N/A", "1e400"} {
		r.run(t, 1+i, crawl(bad))
		run := r.last(t)
		if _, ok := prices(run)["a"]; ok || len(run.HeldKeys) != 1 || len(run.Offers) != 20 {
			t.Errorf("price %q: stored %v, %d held keys, %d offers", bad, ok, len(run.HeldKeys), len(run.Offers))
		}
	}
}

// lists is a crawl that lists offers a-0 … a-(n-1) and fresh ones.
func lists(n, fresh int, more ...func(*gputide.RawOffer)) func(b *gputide.Batch) {
	return func(b *gputide.Batch) {
		many(b, "list", "a", n, "3", more...)
		many(b, "list", "new", fresh, "3", more...)
		b.Done("list", everything)
	}
}

func TestScopeGuards(t *testing.T) {
	empty := func(b *gputide.Batch) { b.Done("list", everything) }
	for _, tt := range []struct {
		name        string
		first, next func(b *gputide.Batch)
		want        gputide.ScopeStatus
		reason      string
	}{
		{name: "no row read at all", first: lists(4, 0), next: empty, want: gputide.ScopeHeld, reason: "lists nothing"},
		{name: "exactly half", first: lists(10, 0), next: lists(5, 0), want: gputide.ScopeDone},
		{name: "less than half", first: lists(10, 0), next: lists(4, 0), want: gputide.ScopeHeld, reason: "lists 4, its last good run 10"},
		{name: "a fifth is new", first: lists(80, 0), next: lists(80, 20), want: gputide.ScopeDone},
		{name: "more than a fifth is new", first: lists(79, 0), next: lists(79, 20), want: gputide.ScopeHeld, reason: "20 of 99 offers are new"},
		{name: "aggregates come", first: lists(4, 0, stat(gputide.StatMin)), next: lists(4, 40, stat(gputide.StatMin)), want: gputide.ScopeDone},
		{name: "aggregates go", first: lists(40, 0, stat(gputide.StatBidFloor)), next: lists(1, 0, stat(gputide.StatBidFloor)), want: gputide.ScopeDone},
		{
			name: "a tenth is refused", first: lists(9, 0), want: gputide.ScopeDone,
			next: func(b *gputide.Batch) { many(b, "list", "bad", 1, "0"); lists(9, 0)(b) },
		},
		{
			name: "more than a tenth is refused", first: lists(8, 0), want: gputide.ScopeHeld, reason: "1 of 9 rows refused",
			next: func(b *gputide.Batch) { many(b, "list", "bad", 1, "0"); lists(8, 0)(b) },
		},
		{
			name: "rows the adapter skipped are not refused", first: lists(8, 0), want: gputide.ScopeDone,
			next: func(b *gputide.Batch) {
				for i := range 6 {
					b.Skip("list", offer("list", fmt.Sprintf("a-%d", i), "").Key, "no_price", "null")
				}
				many(b, "list", "a", 8, "3")
				b.Done("list", everything)
			},
		},
		{
			name: "rows read and none kept", first: empty, want: gputide.ScopeDone,
			next: func(b *gputide.Batch) {
				many(b, "list", "cpu", 5, "1", spec(&gputide.Spec{VCPU: new(4.0)}))
				b.Done("list", everything)
			},
		},
		{
			name: "rows read and left out by the adapter", first: empty, want: gputide.ScopeDone,
			next: func(b *gputide.Batch) { b.Omit("list", "storage", 7); b.Done("list", everything) },
		},
		{
			name: "an empty window of an event feed", first: lists(4, 0), want: gputide.ScopeDone,
			next: func(b *gputide.Batch) {
				b.Report(gputide.ScopeRun{
					Status: gputide.ScopeDone, Source: "list", EventFeed: true, From: day(0), To: day(1),
				})
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "list")
			r.run(t, 0, tt.first)
			res := r.run(t, 1, tt.next)
			run := r.last(t)
			got := scopeOf(t, run, everything)
			if got.Status != tt.want || !strings.Contains(got.Reason, tt.reason) {
				t.Fatalf("scope is %s (%s), want %s (%s)", got.Status, got.Reason, tt.want, tt.reason)
			}
			if held := tt.want == gputide.ScopeHeld; res.Failed() != held || (held && !errors.Is(res.Err, ErrHeld)) {
				t.Errorf("result error %v", res.Err)
			}
			if tt.want == gputide.ScopeHeld && (len(run.Offers) > 0 || len(run.HeldKeys) > 0) {
				t.Errorf("a held scope stores %d offers and %d held keys", len(run.Offers), len(run.HeldKeys))
			}
			if again := r.run(t, 1, tt.next); !again.Commit.NoOp {
				t.Errorf("the same run again is not the same: %+v %v", again.Commit, again.Err)
			}
		})
	}
}

func TestNewOffersAreBounded(t *testing.T) {
	for fresh, held := range map[int]bool{maxFreshRows: false, maxFreshRows + 1: true} {
		st := &scopeState{
			run:  gputide.ScopeRun{Status: gputide.ScopeDone, Source: "list"},
			base: &gputide.ScopeBaseline{LastDone: map[string]int{"list": 95_000}, Sources: map[string]int64{"list": 3}},
			read: 100_000, kept: 100_000, fresh: fresh,
		}
		if err := st.judge(true); (err != nil) != held {
			t.Errorf("%d new of 100000: %v, want held %v", fresh, err, held)
		}
		if err := st.judge(false); err != nil {
			t.Errorf("%d new of 100000, not compared: %v", fresh, err)
		}
		st.base.Sources["list"] = 0
		if err := st.judge(true); err != nil {
			t.Errorf("%d new in its first run: %v", fresh, err)
		}
	}
}

func TestHeldScopeIsAcceptedWhenTheNextRunAgrees(t *testing.T) {
	for _, tt := range []struct {
		name string
		next func(b *gputide.Batch)
	}{
		{"nothing", func(b *gputide.Batch) { b.Done("list", everything) }},
		{"shrunken", lists(4, 0)},
		{"grown", lists(10, 10)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "list")
			r.run(t, 0, lists(10, 0))
			r.run(t, 1, tt.next)
			if got := scopeOf(t, r.last(t), everything); got.Status != gputide.ScopeHeld || got.Digest == "" {
				t.Fatalf("scope %+v, want held", got)
			}
			res := r.run(t, 2, tt.next)
			if got := scopeOf(t, r.last(t), everything); got.Status != gputide.ScopeDone || res.Err != nil {
				t.Fatalf("scope is %s (%s), want done: two runs agree", got.Status, got.Reason)
			}
			if !strings.Contains(strings.Join(res.Report.Notes, "\n"), "two runs agree") {
				t.Errorf("notes %q do not tell of the acceptance", res.Report.Notes)
			}
		})
	}
}

func TestHeldScopeStaysHeldWhenTheNextRunDiffers(t *testing.T) {
	r := newRig(t, "list")
	r.run(t, 0, lists(10, 0))
	r.run(t, 1, lists(4, 0))
	r.run(t, 2, lists(3, 0))
	if got := scopeOf(t, r.last(t), everything); got.Status != gputide.ScopeHeld {
		t.Errorf("scope is %s, want held: the runs do not agree", got.Status)
	}
	r.run(t, 3, lists(9, 0))
	if got := scopeOf(t, r.last(t), everything); got.Status != gputide.ScopeDone {
		t.Errorf("scope is %s (%s), want done: it lists what it did", got.Status, got.Reason)
	}
}

func TestDigestIsOfTheListNotOfPrices(t *testing.T) {
	r := newRig(t, "list")
	digest := func(n int, price string) string {
		r.run(t, n, func(b *gputide.Batch) {
			many(b, "list", "a", 5, price)
			b.Done("list", everything)
		})
		return scopeOf(t, r.last(t), everything).Digest
	}
	if a, b := digest(0, "3"), digest(1, "4"); a != b || a == "" {
		t.Errorf("digests %q and %q, want one: only prices moved", a, b)
	}
}

func TestAnotherSourceIsJudgedByItsOwnPast(t *testing.T) {
	r := newRig(t, "list", "page")
	r.run(t, 0, lists(40, 0))
	r.run(t, 1, func(b *gputide.Batch) {
		b.Fail("list", everything, gputide.ErrUnavailable)
		many(b, "page", "a", 4, "3")
		many(b, "page", "p", 4, "3")
		b.Done("page", everything)
	})
	if got := scopeOf(t, r.last(t), everything); got.Status != gputide.ScopeDone || got.Source != "page" {
		t.Errorf("scope %+v, want done by page, whose first run it is", got)
	}
}

func TestReplacementIsNotJudgedByWhatItReplaces(t *testing.T) {
	r := newRig(t, "list")
	r.run(t, 0, lists(40, 0))
	res := r.run(t, 0, lists(4, 40), func(o *Options) { o.Replace = true })
	if got := scopeOf(t, r.last(t), everything); got.Status != gputide.ScopeDone || res.Err != nil {
		t.Errorf("scope is %s (%s), want done", got.Status, got.Reason)
	}
}

// TestScopesOfOneBodyAreReadTogether holds that a list with on-demand rows and
// no reserved ones was read, and that one with no row at all was not.
func TestScopesOfOneBodyAreReadTogether(t *testing.T) {
	const url = "https://list.test/index.csv"
	scopes := []gputide.Scope{{Market: gputide.OnDemand}, {Market: gputide.Commitment}}
	for _, tt := range []struct {
		name string
		rows int
		want gputide.ScopeStatus
	}{
		{"rows of one market", 4, gputide.ScopeDone},
		{"no rows", 0, gputide.ScopeHeld},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "list")
			r.run(t, 0, func(b *gputide.Batch) {
				many(b, "list", "a", tt.rows, "3")
				for _, s := range scopes {
					b.Done("list", s, url)
				}
			})
			for _, s := range scopes {
				if got := scopeOf(t, r.last(t), s); got.Status != tt.want {
					t.Errorf("%s is %s (%s), want %s", s, got.Status, got.Reason, tt.want)
				}
			}
		})
	}
}
