package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

// tables is a deriver whose model of an instance type is its first letter, with
// a prefix per version, and whose vendor comes from the spec.
type tables struct{ version string }

func (d tables) Version() string { return d.version }

func (d tables) Derive(k *gputide.Key, s *gputide.Spec) []gputide.Attr {
	out := []gputide.Attr{{Field: gputide.FieldModel, Value: d.version + "-" + k.InstanceType[:1]}}
	if s != nil {
		out = append(out, gputide.Attr{Field: gputide.FieldVendor, Value: s.Device.Vendor})
	}
	return out
}

func selected(t *testing.T, db *store.DB, f gputide.Field, v string) int {
	t.Helper()
	qs, err := db.Quotes(t.Context(), gputide.Selection{Matches: []gputide.Match{{Field: f, Values: []string{v}}}}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return len(qs)
}

func TestDerivedAttributes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gputide.db")
	expect := func(db *store.DB, want map[string]int) {
		t.Helper()
		for value, n := range want {
			f := gputide.FieldModel
			if strings.HasPrefix(value, "vendor") {
				f = gputide.FieldVendor
			}
			if got := selected(t, db, f, value); got != n {
				t.Errorf("%s selects %d offers, want %d", value, got, n)
			}
		}
	}
	run := func(n int, vendor string) *gputide.Run {
		r := killRun(n)
		for i := range 10 {
			r.Specs = append(r.Specs, gputide.Spec{
				Provider: "acme", InstanceType: fmt.Sprintf("t%03d", i), Device: gputide.Device{Name: "x", Vendor: vendor},
			})
		}
		return r
	}
	session := func(opt store.Options, fn func(*store.DB)) {
		t.Helper()
		db, err := store.Open(path, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		fn(db)
		if err := db.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	session(store.Options{Deriver: tables{"v1"}}, func(db *store.DB) {
		mustCommit(t, db, run(0, "vendor1"))
		expect(db, map[string]int{"v1-t": killOffers, "vendor1": 10})
		mustCommit(t, db, run(2, "vendor2"))
		expect(db, map[string]int{"vendor1": 0, "vendor2": 10})
		mustCommit(t, db, run(1, "vendor3")) // a spec of the past derives nothing
		expect(db, map[string]int{"vendor3": 0, "vendor2": 10})
		values, err := db.Values(t.Context(), gputide.FieldModel)
		if err != nil || !slices.Equal(values, []string{"v1-t"}) {
			t.Errorf("models: %v, %v", values, err)
		}
		specs, err := db.Specs(t.Context(), gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldVendor, Values: []string{"vendor2"}}}}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil || len(specs) != 10 {
			t.Errorf("specs of vendor2: %d, %v", len(specs), err)
		}
	})
	session(store.Options{Deriver: tables{"v2"}, ReadOnly: true}, func(db *store.DB) {
		expect(db, map[string]int{"v1-t": 0, "v2-t": killOffers, "vendor2": 10})
	})
	session(store.Options{Deriver: tables{"v2"}}, func(db *store.DB) {
		expect(db, map[string]int{"v1-t": 0, "v2-t": killOffers, "vendor2": 10})
		st, err := db.Stats(t.Context())
		if err != nil || st.Catalogue != "v2" || st.Series != killOffers || st.Observations != 3*killOffers || st.Runs != 3 || st.Specs == 0 {
			t.Errorf("stats %+v, %v", st, err)
		}
	})
}

func TestForeignAndNewerFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, fn func(*bolt.Tx) error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		b, err := bolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.Update(fn), b.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, bytes.Repeat([]byte("not a database\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, hint string }{
		"newer": {write("newer.db", func(tx *bolt.Tx) error {
			m, err := tx.CreateBucket([]byte("meta"))
			return errors.Join(err, m.Put([]byte("schema"), []byte{0, 0, 0, 99}))
		}), "update gputide"},
		"another program's": {write("other.db", func(tx *bolt.Tx) error {
			_, err := tx.CreateBucket([]byte("users"))
			return err
		}), "--db"},
		"no bbolt file": {text, "--db"},
	} {
		for _, readOnly := range []bool{false, true} {
			db, err := store.Open(c.path, store.Options{ReadOnly: readOnly})
			if db != nil {
				t.Fatalf("%s opens", name)
			}
			hint, ok := errors.AsType[*gputide.HintError](err)
			if !errors.Is(err, gputide.ErrInvalid) || !ok || !strings.Contains(hint.Hint, c.hint) {
				t.Errorf("%s: %v, want ErrInvalid with a hint at %q", name, err, c.hint)
			}
		}
	}
}

// A reader that is in the middle of an export holds no transaction: the writer
// commits, and the file grows, while it looks on.
func TestReaderDoesNotBlockWriter(t *testing.T) {
	db := open(t, store.Options{})
	mustCommit(t, db, killRun(0))
	n := 1
	for _, err := range db.Export(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n < 30 {
			mustCommit(t, db, killRun(n))
			n++
		}
	}
	for _, err := range db.Changes(t.Context(), gputide.ChangeFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n < 40 {
			mustCommit(t, db, killRun(n))
			n++
		}
	}
	if n != 40 {
		t.Errorf("%d nights were written during the reads", n)
	}
}

// The same again adds no byte, and neither do nights in which nothing moves,
// beyond the run log.
func TestSameAgainCostsNothing(t *testing.T) {
	db := open(t, store.Options{})
	used := func() int64 {
		t.Helper()
		st, err := db.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st.UsedBytes - st.Buckets["runlog"] - st.Buckets["runs"]
	}
	for n := range 5 {
		mustCommit(t, db, killRun(n))
	}
	before := used()
	for n := range 5 {
		if res := mustCommit(t, db, killRun(n)); !res.NoOp {
			t.Errorf("night %d again: %+v", n, res)
		}
	}
	for n := 5; n < 40; n++ {
		r := killRun(4)
		r.At = killNight(n)
		if res := mustCommit(t, db, r); res.Confirmed != killOffers {
			t.Fatalf("night %d: %+v, want all confirmed", n, res)
		}
	}
	if after := used(); after != before {
		t.Errorf("%d bytes became %d without a change", before, after)
	}
}

// Snapshots are databases of their own.
func TestSnapshot(t *testing.T) {
	db := open(t, store.Options{})
	for n := range 3 {
		mustCommit(t, db, killRun(n))
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Snapshot(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(exported(t, db), exported(t, openAt(t, path, store.Options{ReadOnly: true}))); d != "" {
		t.Errorf("snapshot (-original +copy):\n%s", d)
	}
}

func TestLatest(t *testing.T) {
	db := open(t, store.Options{})
	mustCommit(t, db, killRun(0))
	r := killRun(1)
	r.Offers = r.Offers[:killOffers-1]
	mustCommit(t, db, r)
	var l store.Latest
	for range 2 {
		if err := db.Latest(t.Context(), gputide.Selection{}, &l); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.Refs) != killOffers || len(l.Prices) != killOffers || len(l.Changed) != killOffers {
		t.Fatalf("%d prices, want %d", len(l.Prices), killOffers)
	}
	for i, p := range l.Prices {
		gone := i == killOffers-1
		if want := killPrice(1); gone == l.Listed[i] || (!gone && p != want) || int64(l.Changed[i]) != killNight(1).Unix() {
			t.Errorf("offer %d: %s listed %t changed %d", i, p, l.Listed[i], l.Changed[i])
		}
	}
	sel := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldInstanceType, Values: []string{"t007", "t300", "nothing"}}}}
	if err := db.Latest(t.Context(), sel, &l); err != nil || len(l.Prices) != 2 {
		t.Errorf("two types: %d prices, %v", len(l.Prices), err)
	}
}

// A large first import must not cost quadratic time: keys reach bbolt in order.
// Pages written per series tell it, without a clock.
func TestImportIsNotQuadratic(t *testing.T) {
	pages := func(n int) float64 {
		t.Helper()
		db := open(t, store.Options{})
		offer := killRun(0).Offers[0]
		rows := func(yield func(gputide.ImportRow, error) bool) {
			for i := range n {
				o := offer
				o.Key.InstanceType = fmt.Sprintf("t%07d", i*7919%n)
				if !yield(gputide.ImportRow{At: killNight(0), Offer: o}, nil) {
					return
				}
			}
		}
		if _, err := db.Import(t.Context(), "book", gputide.ImportEvents, rows); err != nil {
			t.Fatal(err)
		}
		return float64(db.PagesWritten()) / float64(n)
	}
	small, large := pages(2_000), pages(24_000)
	if large > 2*small {
		t.Errorf("%.3f pages a series at 2,000 series, %.3f at 24,000", small, large)
	}
}

// Readers and a writer at once: every answer is of one whole night.
func TestConcurrentReads(t *testing.T) {
	db := open(t, store.Options{})
	mustCommit(t, db, killRun(0))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			var l store.Latest
			for {
				select {
				case <-done:
					return
				default:
				}
				qs, err := db.Quotes(t.Context(), gputide.Selection{}, killNight(100))
				if err != nil || len(qs) != killOffers {
					t.Errorf("%d quotes, %v", len(qs), err)
					return
				}
				for _, q := range qs {
					if q.Price != qs[0].Price || !q.ObservedAt.Equal(qs[0].ObservedAt) {
						t.Errorf("%s at %s beside %s at %s", q.Price, q.ObservedAt, qs[0].Price, qs[0].ObservedAt)
						return
					}
				}
				if err := db.Latest(t.Context(), gputide.Selection{}, &l); err != nil {
					t.Error(err)
				}
				if _, err := db.Intervals(t.Context(), qs[0].ID, killNight(0), killNight(100)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := 1; n < 25; n++ {
		mustCommit(t, db, killRun(n))
	}
	close(done)
	readers.Wait()
}
