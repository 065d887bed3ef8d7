package store_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

func changesOf(t *testing.T, db *store.DB, f gputide.ChangeFilter) ([]gputide.Change, error) {
	t.Helper()
	var out []gputide.Change
	for c, err := range db.Changes(t.Context(), f) {
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

// TestPruneChanges prunes the feed before and after it was packed: what is left
// is told, what is gone is an error, and nothing but the feed changes.
func TestPruneChanges(t *testing.T) {
	for name, packed := range map[string]bool{"live": false, "packed": true} {
		t.Run(name, func(t *testing.T) {
			clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			path := filepath.Join(t.TempDir(), "prune.db")
			db := openAt(t, path, store.Options{Now: func() time.Time { return clock }})
			var horizon time.Time
			for n := range 10 {
				if n == 6 {
					horizon = clock
				}
				fill(t, db, n, n+1)
				clock = clock.Add(time.Hour)
			}
			if packed {
				if _, err := db.Compact(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			all, err := changesOf(t, db, gputide.ChangeFilter{})
			if err != nil {
				t.Fatal(err)
			}
			left := 0
			for i := range all {
				if !all[i].RecordedAt.Before(horizon) {
					left++
				}
			}
			if left == 0 || left == len(all) {
				t.Fatalf("%d of %d changes are to be left", left, len(all))
			}
			history := exported(t, db)
			n, err := db.PruneChanges(t.Context(), horizon)
			if err != nil || n <= 0 {
				t.Fatalf("%d pruned, %v", n, err)
			}
			if again, err := db.PruneChanges(t.Context(), horizon); err != nil || again != 0 {
				t.Errorf("again: %d pruned, %v", again, err)
			}
			got, err := changesOf(t, db, gputide.ChangeFilter{})
			if err != nil || len(got) != left || got[0].Seq != uint64(n)+1 {
				t.Errorf("%d changes from %d on, %v, want %d after %d", len(got), got[0].Seq, err, left, n)
			}
			for _, f := range []gputide.ChangeFilter{{AfterSeq: 1}, {AfterSeq: uint64(n) - 1}, {From: horizon.Add(-time.Second)}} {
				if _, err := changesOf(t, db, f); !errors.Is(err, gputide.ErrNotFound) {
					t.Errorf("%+v: %v, want it told that changes are gone", f, err)
				}
			}
			for _, f := range []gputide.ChangeFilter{{AfterSeq: uint64(n)}, {From: horizon}} {
				if _, err := changesOf(t, db, f); err != nil {
					t.Errorf("%+v: %v", f, err)
				}
			}
			if len(exported(t, db)) != len(history) {
				t.Error("the history changed")
			}
			last := got[len(got)-1].Seq
			if _, err := db.PruneChanges(t.Context(), clock); err != nil { // all of it
				t.Fatal(err)
			}
			fill(t, db, 10, 11)
			more, err := changesOf(t, db, gputide.ChangeFilter{AfterSeq: last})
			if err != nil || len(more) == 0 || more[0].Seq != last+1 {
				t.Errorf("the feed goes on with %d changes, %v; the first is to be %d", len(more), err, last+1)
			}
		})
	}
}
