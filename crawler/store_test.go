package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler"
	"github.com/gputide/gputide/normalize"
	"github.com/gputide/gputide/store"
)

var _ crawler.Store = (*store.DB)(nil)

// shop lists what it is told to.
type shop struct{ crawl func(b *gputide.Batch) error }

func (shop) Info() gputide.Info {
	return gputide.Info{
		Name: "shop", Title: "Shop", Currencies: []gputide.Currency{"USD"}, Cadence: 24 * time.Hour,
		Sources: []gputide.Source{{ID: "api", Prices: true}, {ID: "page", Prices: true}},
	}
}

func (s shop) Crawl(_ context.Context, b *gputide.Batch) error { return s.crawl(b) }

// bench is a crawler on a real database.
type bench struct {
	*crawler.Crawler
	db  *store.DB
	day int // of the last crawl
}

var start = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

func newBench(t *testing.T) *bench {
	t.Helper()
	catalogue, err := normalize.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	regions, err := normalize.LoadRegions()
	if err != nil {
		t.Fatal(err)
	}
	norm := &normalize.Normalizer{Catalogue: catalogue, Regions: regions}
	now := func() time.Time { return start }
	db, err := store.Open(filepath.Join(t.TempDir(), "test.db"), store.Options{Deriver: norm, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Check(context.WithoutCancel(t.Context())), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return &bench{Crawler: &crawler.Crawler{Store: db, Normalizer: norm, Now: now}, db: db}
}

func (b *bench) crawl(t *testing.T, day int, f func(b *gputide.Batch) error, replace bool) crawler.Result {
	t.Helper()
	b.day = day
	return b.Crawl(t.Context(), []gputide.Provider{shop{f}}, crawler.Options{
		At: func(string) time.Time { return start.AddDate(0, 0, day) }, Replace: replace,
	})[0]
}

// states returns the state and price of t0, t1 and t2, as known on the last day.
func (b *bench) states(t *testing.T) string {
	t.Helper()
	quotes, err := b.db.Quotes(t.Context(), gputide.Selection{}, start.AddDate(0, 0, b.day))
	if err != nil {
		t.Fatal(err)
	}
	s := ""
	for i := range 3 {
		for _, q := range quotes {
			if q.Key.InstanceType == fmt.Sprintf("t%d", i) {
				s += fmt.Sprintf("%s %s; ", q.State, q.Price)
			}
		}
	}
	return s
}

func add(b *gputide.Batch, name, price string) {
	b.Add(gputide.RawOffer{
		Source: "api",
		Spec: &gputide.Spec{Device: gputide.Device{
			Name: "NVIDIA H100 SXM", Kind: gputide.DeviceGPU, Count: gputide.NewCount(8, 1),
		}},
		Key:   gputide.Key{InstanceType: name, Market: gputide.OnDemand, OS: "linux", Currency: "USD"},
		Price: gputide.Published{Amount: price, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	})
}

// list lists t0 … at the prices, "-" for one that is not listed, beside others
// types at price each.
func list(others int, price string, prices ...string) func(b *gputide.Batch) error {
	return func(b *gputide.Batch) error {
		for i, p := range prices {
			if p != "-" {
				add(b, fmt.Sprintf("t%d", i), p)
			}
		}
		for i := range others {
			add(b, fmt.Sprintf("base%d", i), price)
		}
		b.Done("api", gputide.Scope{Market: gputide.OnDemand})
		return nil
	}
}

// TestRunsInTheStore drives the guards through a real database: what is held,
// accepted, withdrawn and left alone.
func TestRunsInTheStore(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		name string
		at   int
		f    func(b *gputide.Batch) error
		want string
		noOp bool
		fail error
	}{
		{name: "first", at: 0, f: list(20, "3", "16", "5"), want: "priced 16; priced 5; "},
		{name: "the same again", at: 0, f: list(20, "3", "16", "5"), want: "priced 16; priced 5; ", noOp: true},
		{name: "the same moment, other prices", at: 0, f: list(20, "3", "17", "5"), want: "priced 16; priced 5; ", fail: gputide.ErrConflict},
		{name: "one price moves", at: 1, f: list(20, "3", "17", "5"), want: "priced 17; priced 5; "},
		{name: "a step of the accelerator count", at: 2, f: list(20, "3", "136", "5"), want: "held 17; priced 5; "},
		{name: "the step again, not independent", at: 2, f: list(20, "3", "136", "5"), want: "held 17; priced 5; ", noOp: true},
		{name: "the step confirmed", at: 3, f: list(20, "3", "136", "5"), want: "priced 136; priced 5; "},
		{name: "no price", at: 4, f: list(20, "3", "0", "5"), want: "held 136; priced 5; "},
		{name: "gone", at: 5, f: list(20, "3", "136", "-"), want: "priced 136; withdrawn 5; "},
		{name: "back", at: 6, f: list(20, "3", "136", "6"), want: "priced 136; priced 6; "},
		{name: "nothing listed", at: 7, want: "gap 136; gap 6; ", fail: crawler.ErrHeld, f: func(b *gputide.Batch) error {
			b.Done("api", gputide.Scope{Market: gputide.OnDemand})
			return nil
		}},
		{name: "the source is down", at: 8, f: func(*gputide.Batch) error { return gputide.ErrUnavailable }, want: "gap 136; gap 6; ", fail: gputide.ErrUnavailable},
		{name: "well again", at: 9, f: list(20, "3", "136", "6"), want: "priced 136; priced 6; "},
		{name: "a row that does not say what it is", at: 10, want: "priced 136; held 6; ", f: func(b *gputide.Batch) error {
			b.SkipUnknown("api", gputide.Scope{Market: gputide.OnDemand}, "bad_row", "")
			return list(20, "3", "136", "-")(b)
		}},
		{name: "a step that is not repeated", at: 11, f: list(20, "3", "17", "6"), want: "held 136; priced 6; "},
		{name: "is forgotten", at: 12, f: list(20, "3", "136", "6"), want: "priced 136; priced 6; "},
		{name: "and held when it comes back", at: 13, f: list(20, "3", "17", "6"), want: "held 136; priced 6; "},
	} {
		res := b.crawl(t, tt.at, tt.f, false)
		if (res.Err != nil) != (tt.fail != nil) || (tt.fail != nil && !errors.Is(res.Err, tt.fail)) {
			t.Errorf("%s: error %v, want %v", tt.name, res.Err, tt.fail)
		}
		if res.Commit.NoOp != tt.noOp {
			t.Errorf("%s: no change %v, want %v", tt.name, res.Commit.NoOp, tt.noOp)
		}
		if got := b.states(t); got != tt.want {
			t.Errorf("%s: %s, want %s; notes %q", tt.name, got, tt.want, res.Report.Notes)
		}
	}
	if res := b.crawl(t, 13, list(20, "3", "17", "6"), true); res.Err != nil || b.states(t) != "priced 17; priced 6; " {
		t.Errorf("replaced: %v, %s", res.Err, b.states(t))
	}
}

// TestHeldScopesInTheStore holds whole scopes back, and accepts them when they
// say the same again.
func TestHeldScopesInTheStore(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		name string
		at   int
		f    func(b *gputide.Batch) error
		want string
		held bool
		rows int // in quarantine
	}{
		{name: "first", at: 0, f: list(10, "3", "16", "5"), want: "priced 16; priced 5; "},
		{name: "shrunken", at: 1, f: list(3, "3", "17"), want: "gap 16; gap 5; ", held: true},
		{name: "shrunken again, not independent", at: 1, f: list(3, "3", "17"), want: "gap 16; gap 5; ", held: true},
		{name: "shrunken and confirmed, whatever the price", at: 2, f: list(3, "3", "18"), want: "priced 18; withdrawn 5; "},
		{name: "per accelerator, all of it", at: 3, f: list(3, "0.375", "2.25"), want: "gap 18; withdrawn 5; ", held: true, rows: 4},
		{name: "confirmed", at: 4, f: list(3, "0.375", "2.25"), want: "priced 2.25; withdrawn 5; "},
	} {
		res := b.crawl(t, tt.at, tt.f, false)
		if res.Failed() != tt.held || (tt.held && !errors.Is(res.Err, crawler.ErrHeld)) {
			t.Errorf("%s: error %v", tt.name, res.Err)
		}
		if got := b.states(t); got != tt.want {
			t.Errorf("%s: %s, want %s; notes %q", tt.name, got, tt.want, res.Report.Notes)
		}
		rows, err := b.db.Quarantine(t.Context(), "shop")
		if err != nil || len(rows) != tt.rows {
			t.Errorf("%s: %d rows in quarantine (%v), want %d", tt.name, len(rows), err, tt.rows)
		}
	}
}
