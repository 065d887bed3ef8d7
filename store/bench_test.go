package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

// night makes the run of one night: n offers in 24 regions, of which some move.
type nights struct {
	offers []gputide.Offer
	scopes []gputide.ScopeRun
	rng    *rand.Rand
	day    int
}

func newNights(n int) *nights {
	b := &nights{rng: rand.New(rand.NewPCG(1, 1))}
	const regions = 24
	for r := range regions {
		region := fmt.Sprintf("region-%02d", r)
		b.scopes = append(b.scopes, gputide.ScopeRun{
			Scope: gputide.Scope{Region: region, Market: gputide.OnDemand}, Status: gputide.ScopeDone, Source: "api", Count: n / regions,
		})
		for i := range n / regions {
			price := gputide.Nano(100_000_000 + 10_000*b.rng.IntN(3_000_000))
			b.offers = append(b.offers, gputide.Offer{
				Key: gputide.Key{
					Provider: "acme", Region: region, InstanceType: fmt.Sprintf("gpu%d.%dxlarge", i/4, 1<<(i%4)), Market: gputide.OnDemand,
					OS: "linux", Tenancy: "shared", Stat: gputide.StatList, Tax: gputide.TaxExcluded, Currency: "USD",
				},
				Price: price, Published: gputide.Published{Amount: price.String(), Unit: gputide.PerHour, Basis: gputide.BasisInstance},
				Source: "api",
			})
		}
	}
	return b
}

func (b *nights) next() *gputide.Run {
	for range len(b.offers) / 50 {
		o := &b.offers[b.rng.IntN(len(b.offers))]
		o.Price += gputide.Nano(10_000 * (b.rng.IntN(2000) - 999))
		if o.Price <= 0 {
			o.Price = 10_000
		}
		o.Published.Amount = o.Price.String()
	}
	b.day++
	return &gputide.Run{
		Provider: "acme", At: time.Date(2025, 1, 1, 3, 0, 0, 0, time.UTC).AddDate(0, 0, b.day), Cause: gputide.CauseCrawl,
		Cadence: 24 * time.Hour, Scopes: b.scopes, Offers: b.offers,
	}
}

// benchDB returns a database of 30,000 offers after some nights.
func benchDB(b testing.TB, days int) (*store.DB, *nights) {
	path := filepath.Join(b.TempDir(), "bench.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	n := newNights(30_000)
	for range days {
		if _, err := db.CommitRun(b.Context(), n.next()); err != nil {
			b.Fatal(err)
		}
	}
	if fi, err := os.Stat(path); err == nil {
		b.Logf("%d nights: %.1f MB file", days, float64(fi.Size())/1e6)
	}
	return db, n
}

func BenchmarkCommitNight(b *testing.B) {
	db, n := benchDB(b, 30)
	for b.Loop() {
		b.StopTimer()
		run := n.next()
		b.StartTimer()
		if _, err := db.CommitRun(b.Context(), run); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(n.offers))*float64(b.N)/b.Elapsed().Seconds(), "offers/s")
}

func BenchmarkLatest(b *testing.B) {
	db, _ := benchDB(b, 3)
	sel := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldRegion, Values: []string{"region-03", "region-07"}}}}
	var l store.Latest
	for b.Loop() {
		if err := db.Latest(b.Context(), sel, &l); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(l.Prices)), "prices")
}

func BenchmarkQuotes(b *testing.B) {
	db, _ := benchDB(b, 30)
	sel := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldRegion, Values: []string{"region-03", "region-07"}}}}
	at := time.Date(2025, 1, 28, 0, 0, 0, 0, time.UTC)
	for b.Loop() {
		if _, err := db.Quotes(b.Context(), sel, at); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkYear reads a year of 30,000 offers, as written and packed.
func BenchmarkYear(b *testing.B) {
	db, n := benchDB(b, 365)
	b.Run("live", func(b *testing.B) { benchYear(b, db, n) })
	if _, err := db.Compact(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Run("packed", func(b *testing.B) { benchYear(b, db, n) })
}

func benchYear(b *testing.B, db *store.DB, n *nights) {
	from := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(1, 0, 0)
	ids := make([]gputide.OfferID, 0, len(n.offers)/12)
	for i := range n.offers {
		if i%12 == 0 {
			ids = append(ids, n.offers[i].Key.ID())
		}
	}
	next := 0
	one := func() gputide.OfferID {
		next = (next + 7919) % len(n.offers)
		return n.offers[next].Key.ID()
	}
	for name, read := range map[string]func() error{
		"observations": func() error { _, err := db.Observations(b.Context(), one(), from, to); return err },
		"intervals":    func() error { _, err := db.Intervals(b.Context(), one(), from, to); return err },
		"scan": func() error {
			for _, err := range db.IntervalsOf(b.Context(), ids, from, to) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"export": func() error {
			for _, err := range db.Export(b.Context()) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	st, err := db.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%.3f bytes an observation of %d, %v", float64(st.UsedBytes)/float64(st.Observations), st.Observations, st.Buckets)
}

func BenchmarkImport(b *testing.B) {
	const series, rows = 5_000, 200
	for b.Loop() {
		b.StopTimer()
		db, err := store.Open(filepath.Join(b.TempDir(), "import.db"), store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := newNights(series)
		b.StartTimer()
		_, err = db.Import(b.Context(), "book", gputide.ImportSnapshot, func(yield func(gputide.ImportRow, error) bool) {
			for day := range rows {
				for i := range n.offers {
					if !yield(gputide.ImportRow{At: time.Date(2024, 1, 1+day, 0, 0, 0, 0, time.UTC), Offer: n.offers[i]}, nil) {
						return
					}
				}
				n.next()
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
	b.ReportMetric(series*rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkRunLog commits runs of 1,000 scopes in which nothing moves.
func BenchmarkRunLog(b *testing.B) {
	db, err := store.Open(filepath.Join(b.TempDir(), "runs.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	run := &gputide.Run{Provider: "acme", Cause: gputide.CauseCrawl, Cadence: 10 * time.Minute}
	for i := range 1000 {
		run.Scopes = append(run.Scopes, gputide.ScopeRun{
			Scope: gputide.Scope{Region: fmt.Sprintf("r%d", i), Market: gputide.Spot}, Status: gputide.ScopeDone, Source: "api", Count: 100,
		})
	}
	run.At = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for b.Loop() {
		run.At = run.At.Add(10 * time.Minute)
		if _, err := db.CommitRun(b.Context(), run); err != nil {
			b.Fatal(err)
		}
	}
	st, err := db.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(st.UsedBytes)/float64(b.N)/1000, "B/scope-run")
}
