package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// BenchmarkRunLogYear reads a year of 1,000 scopes crawled every ten minutes or
// so. The log is written at once, as the commits would have left it.
func BenchmarkRunLogYear(b *testing.B) {
	for _, packed := range []bool{false, true} {
		b.Run(fmt.Sprintf("packed=%t", packed), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "runs.db")
			db, id, end := runLogYear(b, path)
			if packed {
				if _, err := db.Compact(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			size := fileBytes(b, path)
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			db, err := Open(path, Options{})
			if err != nil {
				b.Fatal(err)
			}
			reopen := time.Since(began)
			defer db.Close()
			sel := gputide.Selection{IDs: []gputide.OfferID{id}}
			for b.Loop() {
				q, err := db.Quotes(b.Context(), sel, end)
				if err != nil || len(q) != 1 || end.Sub(q[0].ObservedAt) > 10*time.Minute {
					b.Fatal(q, err)
				}
			}
			b.ReportMetric(float64(size)/1e6, "MB")
			b.ReportMetric(float64(reopen.Microseconds())/1e3, "reopen-ms")
		})
	}
}

func fileBytes(b *testing.B, path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// runLogYear returns a database, an offer of it and the end of the year.
func runLogYear(b *testing.B, path string) (*DB, gputide.OfferID, time.Time) {
	db, err := Open(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	run := &gputide.Run{Provider: "acme", At: start, Cause: gputide.CauseCrawl, Cadence: 10 * time.Minute}
	for i := range 1000 {
		run.Scopes = append(run.Scopes, gputide.ScopeRun{
			Scope: gputide.Scope{Region: fmt.Sprintf("r%d", i), Market: gputide.Spot}, Status: gputide.ScopeDone, Source: "api", Count: 1,
		})
	}
	run.Offers = []gputide.Offer{{
		Key:   gputide.Key{Provider: "acme", Region: "r500", InstanceType: "x", Market: gputide.Spot, Currency: "USD"},
		Price: 1e9, Source: "api",
	}}
	if _, err := db.CommitRun(b.Context(), run); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	at := []uint32{uint32(start.Unix())}
	for n := int64(1); n < 365*24*6; n++ { // the jitter of a schedule
		at = append(at, uint32(start.Unix()+600*n+rng.Int64N(60)))
	}
	err = db.write(func(tx *txn) error {
		d := newDict(tx, &db.dict)
		pid, _ := d.find("acme")
		scopes, err := loadScopes(tx.Bucket(bucketScope), d, pid)
		if err != nil {
			return err
		}
		var pairs []pair
		for i := range scopes {
			m := mark{source: 0, count: 1, cadence: 600}
			var month []mark
			for _, t := range at {
				if m.at = t; len(month) > 0 && monthOf(t) != monthOf(month[0].at) {
					pairs = append(pairs, pair{runsKey(scopes[i].id, monthOf(month[0].at)), encodeMarks(monthOf(month[0].at), month)})
					month = month[:0]
				}
				month = append(month, m)
			}
			pairs = append(pairs, pair{runsKey(scopes[i].id, monthOf(month[0].at)), encodeMarks(monthOf(month[0].at), month)})
		}
		b := tx.table(bucketRuns)
		b.fill(fillAppend)
		if err := b.putSorted(pairs); err != nil {
			return err
		}
		row, err := readRunRow(tx, 1)
		if err != nil {
			return err
		}
		log := tx.table(bucketRunLog)
		log.fill(fillAppend)
		for i, t := range at[1:] {
			row.at, row.recorded, row.plain = t, int64(t), true
			if err := log.Put(key64(uint64(i)+2), row.encode()); err != nil {
				return err
			}
		}
		return log.SetSequence(uint64(len(at)))
	})
	if err != nil {
		b.Fatal(err)
	}
	db.runs.reset()
	return db, run.Offers[0].Key.ID(), time.Unix(int64(at[len(at)-1]), 0).UTC().Add(time.Second)
}
