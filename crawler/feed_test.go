package crawler_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler"
)

// paced is a shop with a market that is crawled by itself.
type paced struct{ shop }

func (p paced) Info() gputide.Info {
	info := p.shop.Info()
	info.Paces = []gputide.Pace{{Market: gputide.Spot, Cadence: time.Hour}}
	return info
}

var spotEast = gputide.Scope{Region: "east", Market: gputide.Spot}

// spot adds a spot row of t0; a zero moment is a row of a snapshot.
func spot(b *gputide.Batch, price string, at time.Time) {
	b.Add(gputide.RawOffer{
		Source: "api", At: at,
		Spec:  &gputide.Spec{Device: gputide.Device{Name: "NVIDIA H100 SXM", Kind: gputide.DeviceGPU, Count: gputide.NewCount(8, 1)}},
		Key:   gputide.Key{Region: "east", InstanceType: "t0", Market: gputide.Spot, OS: "linux", Currency: "USD"},
		Price: gputide.Published{Amount: price, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	})
}

func hour(n float64) time.Time { return start.Add(time.Duration(n * float64(time.Hour))) }

// feed crawls the paced shop at an hour.
func (b *bench) feed(t *testing.T, n float64, opt crawler.Options, f func(b *gputide.Batch) error) crawler.Result {
	t.Helper()
	opt.At = func(string) time.Time { return hour(n) }
	return b.Crawl(t.Context(), []gputide.Provider{paced{shop{f}}}, opt)[0]
}

// moments returns the changes of t0 on spot: the hour, and the price or what
// happened.
func (b *bench) moments(t *testing.T, to float64) map[float64]string {
	t.Helper()
	out := map[float64]string{}
	sel := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldMarket, Values: []string{"spot"}}}}
	for c, err := range b.db.Changes(t.Context(), gputide.ChangeFilter{
		Selection: sel, Kinds: []gputide.ChangeKind{gputide.ChangePrice, gputide.ChangeFirstSeen, gputide.ChangeWithdrawn}, To: hour(to),
	}) {
		if err != nil {
			t.Fatal(err)
		}
		price := string(c.Kind)
		if c.After != nil {
			price = c.After.String()
		}
		out[c.SeenAt.Sub(start).Hours()] = price
	}
	return out
}

// TestFeedBesideSnapshot stores events of one scope at their own moments, beside
// what the same source says is on offer now.
func TestFeedBesideSnapshot(t *testing.T) {
	b := newBench(t)
	night := func(from float64, now string, events map[float64]string) func(*gputide.Batch) error {
		return func(b *gputide.Batch) error {
			for at, price := range events {
				spot(b, price, hour(at))
			}
			if now != "" {
				spot(b, now, time.Time{})
			}
			b.DoneFeed("api", spotEast, hour(from), b.At())
			b.Done("api", spotEast)
			return nil
		}
	}
	res := b.feed(t, 10, crawler.Options{}, night(0, "3", map[float64]string{1: "1", 4: "2", 8: "3"}))
	if res.Err != nil || len(res.Scopes) != 2 || res.Offers != 4 {
		t.Fatalf("%v, %d offers, scopes %+v", res.Err, res.Offers, res.Scopes)
	}
	if d := cmp.Diff(map[float64]string{1: "1", 4: "2", 8: "3"}, b.moments(t, 11)); d != "" {
		t.Errorf("first run (-want +got):\n%s", d)
	}
	// The overlap adds nothing; one event is new.
	res = b.feed(t, 12, crawler.Options{}, night(4, "5", map[float64]string{4: "2", 8: "3", 11: "5"}))
	if res.Err != nil || res.Commit.Changed != 1 {
		t.Errorf("second run: %v, %+v", res.Err, res.Commit)
	}
	// Events alone withdraw nothing; the snapshot does.
	res = b.feed(t, 14, crawler.Options{}, func(b *gputide.Batch) error {
		b.DoneFeed("api", spotEast, hour(6), b.At())
		b.Fail("api", spotEast, gputide.ErrUnavailable)
		return gputide.ErrUnavailable
	})
	if !errors.Is(res.Err, gputide.ErrUnavailable) {
		t.Errorf("third run: %v", res.Err)
	}
	for _, s := range res.Scopes {
		if want := map[bool]gputide.ScopeStatus{true: gputide.ScopeDone, false: gputide.ScopeFailed}[s.EventFeed]; s.Status != want {
			t.Errorf("third run: scope %+v", s)
		}
	}
	want := map[float64]string{1: "1", 4: "2", 8: "3", 11: "5"}
	if d := cmp.Diff(want, b.moments(t, 15)); d != "" {
		t.Errorf("after three runs (-want +got):\n%s", d)
	}
}

// TestFeedFails discards the events of a feed that was not read to its end, and
// keeps what is on offer now.
func TestFeedFails(t *testing.T) {
	b := newBench(t)
	res := b.feed(t, 10, crawler.Options{}, func(b *gputide.Batch) error {
		spot(b, "1", hour(3))
		spot(b, "2", time.Time{})
		b.FailFeed("api", spotEast, gputide.ErrTooLarge)
		b.Done("api", spotEast)
		return gputide.ErrTooLarge
	})
	if !errors.Is(res.Err, gputide.ErrTooLarge) || res.Offers != 1 {
		t.Errorf("%v, %d offers", res.Err, res.Offers)
	}
	for _, s := range res.Scopes {
		if s.EventFeed && s.Reason != gputide.ErrTooLarge.Error() {
			t.Errorf("the feed failed because of %q", s.Reason)
		}
	}
	if d := cmp.Diff(map[float64]string{10: "2"}, b.moments(t, 11)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestFeedContradictsItself refuses two prices of one offer at one moment, and
// only those.
func TestFeedContradictsItself(t *testing.T) {
	b := newBench(t)
	res := b.feed(t, 10, crawler.Options{}, func(b *gputide.Batch) error {
		spot(b, "1", hour(3))
		spot(b, "2", hour(5))
		spot(b, "4", hour(5))
		b.DoneFeed("api", spotEast, hour(0), b.At())
		return nil
	})
	if res.Err != nil || res.Skips != 2 {
		t.Errorf("%v, %d skips", res.Err, res.Skips)
	}
	if d := cmp.Diff(map[float64]string{3: "1"}, b.moments(t, 11)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestEventWithoutFeed leaves out an event that no feed covers, visibly.
func TestEventWithoutFeed(t *testing.T) {
	b := newBench(t)
	res := b.feed(t, 10, crawler.Options{}, func(b *gputide.Batch) error {
		spot(b, "1", hour(3))
		spot(b, "2", time.Time{})
		b.Done("api", spotEast)
		return nil
	})
	if res.Err != nil || res.Skips != 1 || res.Report.Sources[0].Skipped["no_scope"] != 1 {
		t.Errorf("%v, %+v", res.Err, res.Report.Sources)
	}
}

// TestFed tells an adapter up to which moment a feed was read: by the newest
// done run of the feed older than the run, whatever became of the snapshot.
func TestFed(t *testing.T) {
	b := newBench(t)
	var fed []time.Time
	run := func(at float64, end func(b *gputide.Batch)) {
		b.feed(t, at, crawler.Options{Replace: true}, func(b *gputide.Batch) error {
			fed = append(fed, b.Fed(spotEast))
			spot(b, "1", time.Time{})
			b.Done("api", spotEast)
			end(b)
			return nil
		})
	}
	done := func(b *gputide.Batch) { b.DoneFeed("api", spotEast, hour(0), b.At()) }
	run(1, func(*gputide.Batch) {})
	run(2, done)
	run(3, func(b *gputide.Batch) { b.FailFeed("api", spotEast, gputide.ErrUnavailable) })
	run(4, done)
	run(5, done)
	run(4, done) // again
	if d := cmp.Diff([]time.Time{{}, {}, hour(2), hour(2), hour(4), hour(2)}, fed); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestOneMarket asks a provider for one market: what it does not read of the
// others is neither failed nor withdrawn, however the crawl ends.
func TestOneMarket(t *testing.T) {
	b := newBench(t)
	full := func(b *gputide.Batch) error {
		if b.Wants(gputide.OnDemand) {
			add(b, "t0", "10")
			b.Done("api", gputide.Scope{Market: gputide.OnDemand})
		}
		spot(b, "2", time.Time{})
		b.Done("api", spotEast)
		return nil
	}
	scopes := func(r crawler.Result) (out []string) {
		for _, s := range r.Scopes {
			out = append(out, string(s.Scope.Market)+" "+string(s.Status))
		}
		slices.Sort(out)
		return out
	}
	only := crawler.Options{Markets: []gputide.Market{gputide.Spot}}
	for _, c := range []struct {
		at   float64
		opt  crawler.Options
		f    func(*gputide.Batch) error
		want []string
	}{
		{1, crawler.Options{}, full, []string{"on_demand done", "spot done"}},
		{2, only, full, []string{"spot done"}},
		{3, only, func(*gputide.Batch) error { panic("broken") }, []string{"spot failed"}},
		{4, crawler.Options{}, func(*gputide.Batch) error { panic("broken") }, []string{"on_demand failed", "spot failed"}},
	} {
		if d := cmp.Diff(c.want, scopes(b.feed(t, c.at, c.opt, c.f))); d != "" {
			t.Errorf("hour %g (-want +got):\n%s", c.at, d)
		}
	}
	for _, c := range []struct {
		markets []gputide.Market
		want    time.Time
	}{
		{nil, hour(4)},
		{[]gputide.Market{gputide.Spot}, hour(4)},
		{[]gputide.Market{gputide.Commitment}, time.Time{}},
		{[]gputide.Market{gputide.Commitment, gputide.OnDemand}, hour(4)},
	} {
		if at, err := b.db.LastRun(t.Context(), "shop", c.markets); err != nil || !at.Equal(c.want) {
			t.Errorf("last run of %v: %s, %v", c.markets, at, err)
		}
	}
	b.feed(t, 4.5, only, full)
	if at, err := b.db.LastRun(t.Context(), "shop", []gputide.Market{gputide.OnDemand}); err != nil || !at.Equal(hour(4)) {
		t.Errorf("last run of the others: %s, %v", at, err)
	}
	// A provider without a pace is read whole.
	whole := b.Crawl(context.WithoutCancel(t.Context()), []gputide.Provider{shop{full}}, crawler.Options{
		At: func(string) time.Time { return hour(5) }, Markets: only.Markets,
	})[0]
	if d := cmp.Diff([]string{"on_demand done", "spot done"}, scopes(whole)); d != "" {
		t.Errorf("without a pace (-want +got):\n%s", d)
	}
}
