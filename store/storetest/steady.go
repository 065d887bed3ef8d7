package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// runSteady states what intervals come of a price that never moves: runs alike
// tell nothing apart, but a night that is missing, fails or reads another source
// between them does.
func runSteady(t *testing.T, open func(t *testing.T) Store) {
	const price = 2_000_000_000
	row := map[string]gputide.Nano{"a": price}
	done, failed, other := night{rows: row}, night{status: gputide.ScopeFailed}, night{source: "page", rows: prices1{"b": price}}
	type span struct {
		from, to, last time.Duration // days, in hours and seconds
		state          gputide.State
	}
	d := func(n int) time.Duration { return time.Duration(n) * day }
	stale := 2*day + time.Second // behind the last observation
	for name, c := range map[string]struct {
		nights map[int]night
		want   []span
	}{
		"every night": {
			map[int]night{0: done, 1: done, 2: done, 3: done, 4: done},
			[]span{{0, d(4) + stale, d(4), gputide.StatePriced}, {d(4) + stale, d(20), d(4), gputide.StateStale}},
		},
		"a week is missing": {
			map[int]night{0: done, 1: done, 2: done, 9: done, 10: done, 11: done},
			[]span{
				{0, d(2) + stale, d(2), gputide.StatePriced},
				{d(2) + stale, d(9), d(2), gputide.StateStale},
				{d(9), d(11) + stale, d(11), gputide.StatePriced},
				{d(11) + stale, d(20), d(11), gputide.StateStale},
			},
		},
		"nights that fail": {
			map[int]night{0: done, 1: done, 2: failed, 3: failed, 4: failed, 5: done, 6: done},
			[]span{
				{0, d(2), d(1), gputide.StatePriced},
				{d(2), d(5), d(1), gputide.StateGap},
				{d(5), d(6) + stale, d(6), gputide.StatePriced},
				{d(6) + stale, d(20), d(6), gputide.StateStale},
			},
		},
		"nights of another source": {
			map[int]night{0: done, 1: done, 2: other, 3: other, 4: other, 5: other, 6: done, 7: done},
			[]span{
				{0, d(1) + stale, d(1), gputide.StatePriced},
				{d(1) + stale, d(6), d(1), gputide.StateStale},
				{d(6), d(7) + stale, d(7), gputide.StatePriced},
				{d(7) + stale, d(20), d(7), gputide.StateStale},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			for n := range 20 {
				if night, ok := c.nights[n]; ok {
					if _, err := s.CommitRun(t.Context(), night.run(n)); err != nil {
						t.Fatal(err)
					}
				}
			}
			var want []gputide.Interval
			for _, w := range c.want {
				want = append(want, gputide.Interval{
					From: at(w.from), To: at(w.to), Price: price, State: w.state, LastObserved: at(w.last), KnownSince: at(0),
				})
			}
			got, err := s.Intervals(t.Context(), offer("east", "a", 1).Key.ID(), time.Time{}, at(d(20)))
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Errorf("intervals (-want +got), %v:\n%s", err, d)
			}
		})
	}
}
