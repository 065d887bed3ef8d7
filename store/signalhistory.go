package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// SignalIntervals returns the values of the named signal over [from, to), those
// carried in included, in order of their canonical keys; of every signal when
// name is empty. At each moment they are the values [DB.Signals] returns. A
// signal that was not in force at any time of the window is left out.
func (db *DB) SignalIntervals(ctx context.Context, sel gputide.Selection, name string, from, to time.Time) ([]gputide.SignalHistory, error) {
	a, b := bounds(from, to)
	type sorted struct {
		key string
		gputide.SignalHistory
	}
	var found []sorted
	err := db.eachSignal(ctx, sel, name, func(l *loaded) error {
		list, err := l.past.values(a, b)
		if err != nil || len(list) == 0 {
			return err
		}
		h := gputide.SignalHistory{Key: l.key, Name: l.name, Intervals: list}
		found = append(found, sorted{l.key.Canonical() + "\n" + l.name, h})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b sorted) int { return strings.Compare(a.key, b.key) })
	out := make([]gputide.SignalHistory, len(found))
	for i := range found {
		out[i] = found[i].SignalHistory
	}
	return out, nil
}

// values returns the values of a signal over [a, b). Neighbours of one value are
// one.
func (p *past) values(a, b uint32) ([]gputide.SignalInterval, error) {
	var out []gputide.SignalInterval
	for i := max(segmentAt(p.segs, a), 0); i < len(p.segs) && p.segs[i].at < b; i++ {
		s := &p.segs[i]
		from, to := max(s.at, a), b
		if i+1 < len(p.segs) {
			to = min(to, p.segs[i+1].at)
		}
		if from >= to || s.status == statusWithdrawn {
			continue
		}
		observed, _, err := p.observed(to - 1)
		if err != nil {
			return nil, err
		}
		iv := gputide.SignalInterval{From: moment(from), To: moment(to), Value: s.price, LastObserved: moment(observed)}
		if n := len(out); n > 0 && out[n-1].To.Equal(iv.From) && out[n-1].Value == iv.Value {
			out[n-1].To, out[n-1].LastObserved = iv.To, iv.LastObserved
			continue
		}
		out = append(out, iv)
	}
	return out, nil
}
