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

// TestRunsInTheStore drives the guards through a real database: what is held,
// accepted, withdrawn and left alone.
func TestRunsInTheStore(t *testing.T) {
	catalogue, err := normalize.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	regions, err := normalize.LoadRegions()
	if err != nil {
		t.Fatal(err)
	}
	norm := &normalize.Normalizer{Catalogue: catalogue, Regions: regions}
	start := time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)
	db, err := store.Open(filepath.Join(t.TempDir(), "test.db"), store.Options{Deriver: norm, Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Check(context.WithoutCancel(t.Context())), db.Close()); err != nil {
			t.Error(err)
		}
	})
	c := &crawler.Crawler{Store: db, Normalizer: norm, Now: func() time.Time { return start }}
	day := 0
	crawl := func(at int, f func(b *gputide.Batch) error, replace bool) crawler.Result {
		day = at
		return c.Crawl(t.Context(), []gputide.Provider{shop{f}}, crawler.Options{
			At: func(string) time.Time { return start.AddDate(0, 0, at) }, Replace: replace,
		})[0]
	}
	spec := &gputide.Spec{Device: gputide.Device{Name: "NVIDIA H100 SXM", Kind: gputide.DeviceGPU, Count: gputide.NewCount(8, 1)}}
	add := func(b *gputide.Batch, name, price string) {
		b.Add(gputide.RawOffer{
			Source: "api", Spec: spec,
			Key:   gputide.Key{InstanceType: name, Market: gputide.OnDemand, OS: "linux", Currency: "USD"},
			Price: gputide.Published{Amount: price, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		})
	}
	list := func(prices ...string) func(b *gputide.Batch) error {
		return func(b *gputide.Batch) error {
			for i, p := range prices {
				if p != "-" {
					add(b, fmt.Sprintf("t%d", i), p)
				}
			}
			for i := range 20 {
				add(b, fmt.Sprintf("base%d", i), "3")
			}
			b.Done("api", gputide.Scope{Market: gputide.OnDemand})
			return nil
		}
	}
	// states returns state and price of t0 … as known now.
	states := func() string {
		t.Helper()
		quotes, err := db.Quotes(t.Context(), gputide.Selection{}, start.AddDate(0, 0, day))
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
	for _, tt := range []struct {
		name string
		at   int
		f    func(b *gputide.Batch) error
		want string
		noOp bool
		fail error
	}{
		{name: "first", at: 0, f: list("16", "5"), want: "priced 16; priced 5; "},
		{name: "the same again", at: 0, f: list("16", "5"), want: "priced 16; priced 5; ", noOp: true},
		{name: "the same moment, other prices", at: 0, f: list("17", "5"), want: "priced 16; priced 5; ", fail: gputide.ErrConflict},
		{name: "one price moves", at: 1, f: list("17", "5"), want: "priced 17; priced 5; "},
		{name: "a step of the accelerator count", at: 2, f: list("136", "5"), want: "held 17; priced 5; "},
		{name: "the step again, not independent", at: 2, f: list("136", "5"), want: "held 17; priced 5; ", noOp: true},
		{name: "the step confirmed", at: 3, f: list("136", "5"), want: "priced 136; priced 5; "},
		{name: "no price", at: 4, f: list("0", "5"), want: "held 136; priced 5; "},
		{name: "gone", at: 5, f: list("136", "-"), want: "priced 136; withdrawn 5; "},
		{name: "back", at: 6, f: list("136", "6"), want: "priced 136; priced 6; "},
		{name: "nothing listed", at: 7, want: "gap 136; gap 6; ", fail: crawler.ErrHeld, f: func(b *gputide.Batch) error {
			b.Done("api", gputide.Scope{Market: gputide.OnDemand})
			return nil
		}},
		{name: "the source is down", at: 8, f: func(*gputide.Batch) error { return gputide.ErrUnavailable }, want: "gap 136; gap 6; ", fail: gputide.ErrUnavailable},
		{name: "well again", at: 9, f: list("136", "6"), want: "priced 136; priced 6; "},
		{name: "a row that does not say what it is", at: 10, want: "priced 136; held 6; ", f: func(b *gputide.Batch) error {
			b.SkipUnknown("api", gputide.Scope{Market: gputide.OnDemand}, "bad_row", "")
			return list("136", "-")(b)
		}},
		{name: "a step that is not repeated", at: 11, f: list("17", "6"), want: "held 136; priced 6; "},
		{name: "is forgotten", at: 12, f: list("136", "6"), want: "priced 136; priced 6; "},
		{name: "and held when it comes back", at: 13, f: list("17", "6"), want: "held 136; priced 6; "},
	} {
		res := crawl(tt.at, tt.f, false)
		if (res.Err != nil) != (tt.fail != nil) || (tt.fail != nil && !errors.Is(res.Err, tt.fail)) {
			t.Errorf("%s: error %v, want %v", tt.name, res.Err, tt.fail)
		}
		if res.Commit.NoOp != tt.noOp {
			t.Errorf("%s: no change %v, want %v", tt.name, res.Commit.NoOp, tt.noOp)
		}
		if got := states(); got != tt.want {
			t.Errorf("%s: %s, want %s; notes %q", tt.name, got, tt.want, res.Report.Notes)
		}
	}
	if res := crawl(13, list("17", "6"), true); res.Err != nil || states() != "priced 17; priced 6; " {
		t.Errorf("replaced: %v, %s", res.Err, states())
	}
}
