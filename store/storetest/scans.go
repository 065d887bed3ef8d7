package storetest

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// scanned is how often a scan reads each series of a history: enough that it is
// not over with its first batch.
const scanned = 50

// compareScans compares what is read of many series at once with what is read of
// each.
func compareScans(t *testing.T, s Store, ids []gputide.OfferID) {
	t.Helper()
	ids = slices.Repeat(ids, scanned)
	from, to := origin.Add(10*day), origin.Add(120*day)
	sameScan(t, ids, s.IntervalsOf(t.Context(), ids, from, to), func(id gputide.OfferID) ([]gputide.Interval, error) {
		return s.Intervals(t.Context(), id, from, to)
	})
	sameScan(t, ids, s.ObservationsOf(t.Context(), ids, from, to), func(id gputide.OfferID) ([]gputide.Observation, error) {
		return s.Observations(t.Context(), id, from, to)
	})
	for range s.IntervalsOf(t.Context(), ids, from, to) { // what is left unread keeps nothing running
		break
	}
	unknown := append(slices.Clone(ids), gputide.OfferID{1})
	n, last := 0, error(nil)
	for _, err := range s.IntervalsOf(t.Context(), unknown, from, to) {
		n, last = n+1, err
	}
	if n != len(unknown) || !errors.Is(last, gputide.ErrNotFound) {
		t.Fatalf("a scan of %d series and an unknown one yields %d times and ends with %v", len(ids), n, last)
	}
}

func sameScan[T comparable](t *testing.T, ids []gputide.OfferID, got iter.Seq2[[]T, error], one func(gputide.OfferID) ([]T, error)) {
	t.Helper()
	want := map[gputide.OfferID][]T{}
	i := 0
	for list, err := range got {
		if err != nil {
			t.Fatal(err)
		}
		id := ids[i]
		if _, ok := want[id]; !ok {
			if want[id], err = one(id); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(want[id], list) {
			t.Fatalf("series %d of a scan (-alone +scan):\n%s", i, cmp.Diff(want[id], list))
		}
		i++
	}
	if i != len(ids) {
		t.Fatalf("a scan of %d series yields %d", len(ids), i)
	}
}
