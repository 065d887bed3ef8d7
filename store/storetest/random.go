package storetest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gputide/gputide"
)

// origin is the first moment of every test history.
var origin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func at(d time.Duration) time.Time { return origin.Add(d) }

// offer makes an offer of the provider the tests crawl.
func offer(region, typ string, price gputide.Nano) gputide.Offer {
	return gputide.Offer{
		Key: gputide.Key{
			Provider: "acme", Region: region, InstanceType: typ, Market: gputide.OnDemand, Stat: gputide.StatList, Currency: "USD",
		},
		Price:     price,
		Published: gputide.Published{Amount: price.String(), Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	}
}

func fromSource(source string, offers ...gputide.Offer) []gputide.Offer {
	for i := range offers {
		offers[i].Source = source
	}
	return offers
}

func rowsOf(rows []gputide.ImportRow) iter.Seq2[gputide.ImportRow, error] {
	return func(yield func(gputide.ImportRow, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// step is one write of a random history.
type step struct {
	run     *gputide.Run
	profile string
	kind    gputide.ImportKind
	rows    []gputide.ImportRow

	replaced bool // a later step replaces it
}

// history makes a random history: runs of two regions from two sources with
// every outcome, event feeds and imports, at distinct seconds.
func history(rng *rand.Rand, ordered bool) []step {
	var steps []step
	seconds := map[int64]bool{}
	pick := func() time.Time {
		for {
			t := origin.Add(time.Duration(rng.IntN(90*24)) * time.Hour).Add(time.Duration(rng.IntN(3600)) * time.Second)
			if !seconds[t.Unix()] {
				seconds[t.Unix()] = true
				return t
			}
		}
	}
	var moments []time.Time
	for range 8 + rng.IntN(16) {
		moments = append(moments, pick())
	}
	if ordered {
		slices.SortFunc(moments, time.Time.Compare)
	}
	for _, t := range moments {
		steps = append(steps, step{run: randomRun(rng, t, pick, ordered)})
	}
	for _, kind := range []gputide.ImportKind{gputide.ImportEvents, gputide.ImportSnapshot} {
		if rng.IntN(2) == 0 {
			s := step{profile: string(kind), kind: kind, rows: randomRows(rng, kind, pick)}
			steps = slices.Insert(steps, rng.IntN(len(steps)+1), s)
		}
	}
	// What was held before there was a price leaves no trace, so replacing the
	// run that brought the price loses it: holds and replacements do not mix.
	for range rng.IntN(4) {
		if ordered {
			break
		}
		i := rng.IntN(len(steps))
		if steps[i].run == nil || steps[i].replaced {
			continue
		}
		r := randomRun(rng, steps[i].run.At, pick, ordered)
		r.Replace = true
		if rng.IntN(2) == 0 {
			r.Cause = gputide.CauseReplay
		}
		for _, s := range steps[i].run.Scopes { // all that was there, or nothing of it could be committed again
			if !slices.ContainsFunc(r.Scopes, func(o gputide.ScopeRun) bool { return o.Scope == s.Scope && o.EventFeed == s.EventFeed }) {
				r.Scopes = append(r.Scopes, gputide.ScopeRun{
					Scope: s.Scope, Status: gputide.ScopeFailed, Source: s.Source, EventFeed: s.EventFeed,
				})
			}
		}
		steps[i].replaced = true
		steps = slices.Insert(steps, i+1+rng.IntN(len(steps)-i), step{run: r})
	}
	return steps
}

var prices = []gputide.Nano{1_000_000_000, 1_250_000_000, 999_999_999, 2_000_000_000, 123_456_000_000}

func randomOffer(rng *rand.Rand, region string, i int) gputide.Offer {
	o := offer(region, fmt.Sprintf("t%d", i), prices[rng.IntN(len(prices))])
	if i%3 == 0 {
		o.SKU = fmt.Sprintf("sku-%d", rng.IntN(2))
		o.Published.Amount = fmt.Sprintf("%s00", o.Published.Amount)
	}
	if i%4 == 1 {
		o.Published = gputide.Published{
			Amount: "0.5", Unit: gputide.PerMonth, Basis: gputide.BasisAccelerator, Multiplier: gputide.NewCount(8, 1),
			Components: []gputide.Component{{Kind: "core", Amount: o.Price.String(), Unit: gputide.PerHour, Quantity: "4"}},
		}
		o.Flags = []gputide.Flag{gputide.FlagMaskedAccelerator}
	}
	return o
}

const typesPerRegion = 6

// randomRun makes one run; with holds, rows may be unusable.
func randomRun(rng *rand.Rand, t time.Time, pick func() time.Time, holds bool) *gputide.Run {
	r := &gputide.Run{Provider: "acme", At: t, Cause: gputide.CauseCrawl, Cadence: []time.Duration{0, day, 3 * day}[rng.IntN(3)]}
	for _, region := range []string{"east", "west"} {
		if rng.IntN(5) == 0 {
			continue
		}
		s := gputide.ScopeRun{
			Scope: gputide.Scope{Region: region, Market: gputide.OnDemand}, Status: gputide.ScopeDone,
			Source: []string{"api", "page"}[max(0, rng.IntN(4)-2)],
		}
		switch rng.IntN(8) {
		case 0:
			s.Status = gputide.ScopeFailed
		case 1:
			s.Status = gputide.ScopeHeld
		case 2:
			s.NoWithdraw = holds
		case 3:
			randomFeed(rng, r, &s, t, pick)
		}
		if s.Status == gputide.ScopeDone && !s.EventFeed {
			for i := range typesPerRegion {
				switch n := rng.IntN(10); {
				case n < 2 || (n == 2 && !holds):
				case n == 2:
					r.HeldKeys = append(r.HeldKeys, gputide.HeldKey{Key: offer(region, fmt.Sprintf("t%d", i), 1).Key, Source: s.Source})
					s.Count++
				default:
					r.Offers = append(r.Offers, fromSource(s.Source, randomOffer(rng, region, i))...)
					s.Count++
				}
			}
		}
		r.Scopes = append(r.Scopes, s)
	}
	return r
}

// randomFeed makes a scope an event feed with rows at their own moments.
func randomFeed(rng *rand.Rand, r *gputide.Run, s *gputide.ScopeRun, t time.Time, pick func() time.Time) {
	s.EventFeed, s.Source, s.From, s.To = true, "feed", origin, t
	for range rng.IntN(4) {
		o := randomOffer(rng, s.Scope.Region, rng.IntN(typesPerRegion))
		if o.At = pick(); o.At.After(t) {
			continue
		}
		r.Offers = append(r.Offers, fromSource("feed", o)...)
		s.Count++
	}
}

func randomRows(rng *rand.Rand, kind gputide.ImportKind, pick func() time.Time) []gputide.ImportRow {
	var rows []gputide.ImportRow
	for range 3 + rng.IntN(6) {
		t := pick()
		for _, region := range []string{"east", "west"} {
			for i := range typesPerRegion + 1 {
				if rng.IntN(3) > 0 {
					continue
				}
				o := randomOffer(rng, region, i)
				if kind == gputide.ImportEvents {
					t = pick()
				}
				rows = append(rows, gputide.ImportRow{At: t, Offer: o})
			}
		}
	}
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

func runRandom(t *testing.T, open func(t *testing.T) Store) {
	seeds := uint64(16)
	if testing.Short() {
		seeds = 6
	}
	if n, err := strconv.ParseUint(os.Getenv("GPUTIDE_SEEDS"), 10, 32); err == nil {
		seeds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 2))
			steps := history(rng, seed%2 == 0)
			s, m := open(t), &model{}
			for _, st := range steps {
				write(t, s, m, st)
			}
			compare(t, s, m, rng)
			for _, st := range steps { // the same again changes nothing
				if !st.replaced {
					write(t, s, &model{}, st)
				}
			}
			compare(t, s, m, rng)
		})
	}
}

func write(t *testing.T, s Store, m *model, st step) {
	t.Helper()
	if st.run == nil {
		if _, err := s.Import(t.Context(), st.profile, st.kind, rowsOf(st.rows)); err != nil {
			t.Fatal(err)
		}
		m.imported(st.profile, st.kind, st.rows)
		return
	}
	if _, err := s.CommitRun(t.Context(), st.run); err != nil {
		t.Fatal(err)
	}
	m.run(st.run)
}

// compare asks a store and the model the same questions.
func compare(t *testing.T, s Store, m *model, rng *rand.Rand) {
	t.Helper()
	for range 12 {
		compareQuotes(t, s, m, origin.Add(time.Duration(rng.IntN(100*24*3600))*time.Second))
	}
	var ids []gputide.OfferID
	intervals := map[gputide.OfferID][]gputide.Interval{}
	for k, want := range m.fold(1 << 40) {
		intervals[k.ID()] = compareSeries(t, s, m, k, want)
		ids = append(ids, k.ID())
	}
	for _, a := range m.acts { // the very moments, where off-by-one hides
		at := time.Unix(a.at, 0).UTC()
		compareIntervals(t, intervals, compareQuotes(t, s, m, at), at)
		if a.status != "event" { // what holds longest before it is another
			at = at.Add(-time.Second)
			compareIntervals(t, intervals, compareQuotes(t, s, m, at), at)
		}
	}
	compareScans(t, s, ids)
	var got []gputide.Change
	for c, err := range s.Changes(t.Context(), gputide.ChangeFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		c.Seq, c.RecordedAt, c.Cause = 0, time.Time{}, ""
		got = append(got, c)
	}
	sortChanges(got)
	if d := cmp.Diff(m.changes(), got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("changes (-model +store):\n%s", d)
	}
}

func compareQuotes(t *testing.T, s Store, m *model, at time.Time) []gputide.Quote {
	t.Helper()
	got, err := s.Quotes(t.Context(), gputide.Selection{}, at)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m.quotes(at.Unix()), got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("quotes at %s (-model +store):\n%s", at, d)
	}
	return got
}

// compareIntervals holds the intervals of series against what quotes say of one
// moment.
func compareIntervals(t *testing.T, intervals map[gputide.OfferID][]gputide.Interval, quotes []gputide.Quote, at time.Time) {
	t.Helper()
	for i := range quotes {
		q := &quotes[i]
		for _, v := range intervals[q.ID] {
			if !at.Before(v.From) && at.Before(v.To) && (v.State != q.State || v.Price != q.Price || !v.KnownSince.Equal(q.Since)) {
				t.Fatalf("at %s interval [%s, %s) of %s says %s %s since %s, the quote %s %s since %s", at, v.From, v.To,
					q.Key.InstanceType, v.State, v.Price, v.KnownSince, q.State, q.Price, q.Since)
			}
		}
	}
}

// compareSeries compares the rows of a series, and its intervals second by
// second around every edge.
func compareSeries(t *testing.T, s Store, m *model, k gputide.Key, want *seen) []gputide.Interval {
	t.Helper()
	rows, err := s.Observations(t.Context(), k.ID(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.obs, rows); d != "" {
		t.Fatalf("observations of %q (-model +store):\n%s", k.Canonical(), d)
	}
	from, to := origin.Add(10*day), origin.Add(120*day)
	iv, err := s.Intervals(t.Context(), k.ID(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	at := from
	if first := time.Unix(want.first, 0).UTC(); first.After(at) {
		at = first
	}
	for i, v := range iv {
		if !v.From.Equal(at) || !v.To.After(v.From) {
			t.Fatalf("interval %d of %q is [%s, %s), want it to begin at %s", i, k.InstanceType, v.From, v.To, at)
		}
		at = v.To
		if i > 0 && iv[i-1].State == v.State && iv[i-1].Price == v.Price && iv[i-1].KnownSince.Equal(v.KnownSince) {
			t.Fatalf("intervals %d and %d of %q are one", i-1, i, k.InstanceType)
		}
		for _, probe := range []time.Time{v.From, v.From.Add(v.To.Sub(v.From) / 2).Truncate(time.Second), v.To.Add(-time.Second)} {
			q := m.fold(probe.Unix())[k]
			wantState := m.state(q, probe.Unix())
			if v.State != wantState || v.Price != q.offer.Price || v.KnownSince.Unix() != q.since {
				t.Fatalf("at %s interval [%s, %s) of %q says %s %s since %s, model says %s %s since %s", probe, v.From, v.To,
					k.InstanceType, v.State, v.Price, v.KnownSince, wantState, q.offer.Price, time.Unix(q.since, 0).UTC())
			}
			if n := len(q.obs); probe.Equal(v.To.Add(-time.Second)) && !v.LastObserved.Equal(q.obs[n-1].At) {
				t.Fatalf("interval [%s, %s) of %q was observed last at %s, want %s", v.From, v.To, k.InstanceType, v.LastObserved, q.obs[n-1].At)
			}
		}
	}
	if !at.Equal(to) {
		t.Fatalf("intervals of %q end at %s, want %s", k.InstanceType, at, to)
	}
	return iv
}
