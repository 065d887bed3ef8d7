package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// SignalSpanRow is a stretch of time in which a signal had one value.
type SignalSpanRow struct {
	KeyRow
	Name       Text  `json:"name"`
	Value      int64 `json:"value"`
	Label      Text  `json:"label"`
	From       Stamp `json:"from"`
	To         Stamp `json:"to"`
	ObservedAt Stamp `json:"observed_at"` // last observation of the value
}

// windowed reports whether signals are asked for over a window.
func (req *SignalsRequest) windowed() bool { return !req.From.IsZero() || !req.To.IsZero() }

// window returns the window asked for, from the first second where it is open.
func (e *Engine) signalWindow(req *SignalsRequest) (from, to time.Time, err error) {
	now := e.moment(time.Time{})
	from, to = req.From, req.To
	if from.IsZero() {
		from = timeOf(0)
	}
	if to.IsZero() || to.After(now) {
		to = now
	}
	switch {
	case !req.At.IsZero():
		return from, to, fmt.Errorf("%w: at is a moment, from and to are a window: give one", gputide.ErrInvalid)
	case from.After(now):
		return from, to, fmt.Errorf("%w: from lies in the future", gputide.ErrInvalid)
	case !from.Before(to):
		return from, to, fmt.Errorf("%w: from is not before to", gputide.ErrInvalid)
	}
	return from, to, nil
}

// signalSpans answers a request over a window, sorted by name, key and time.
func (e *Engine) signalSpans(ctx context.Context, req SignalsRequest) (SignalsAnswer, error) {
	found, at, err := e.signalPasts(ctx, &req)
	if err != nil {
		return SignalsAnswer{}, err
	}
	ans := SignalsAnswer{At: at}
	if len(found) == 0 {
		ans.Empty, err = e.emptySignals(ctx, req)
		return ans, err
	}
	if req.CountBy == countByValue {
		ans.Counts = countSpans(found)
		ans.Total = len(ans.Counts)
		ans.Counts = atMost(ans.Counts, req.Limit)
		return ans, nil
	}
	for i := range found {
		h := &found[i]
		for _, iv := range h.Intervals {
			ans.Spans = append(ans.Spans, SignalSpanRow{
				KeyRow: NewKeyRow(&h.Key), Name: Text(h.Name), Value: iv.Value, Label: Text(gputide.SignalLabel(h.Name, iv.Value)),
				From: Stamp{iv.From}, To: Stamp{iv.To}, ObservedAt: Stamp{iv.LastObserved},
			})
		}
	}
	ans.Total = len(ans.Spans)
	ans.Spans = atMost(ans.Spans, req.Limit)
	return ans, nil
}

// atMost cuts a list to a limit; 0 is none.
func atMost[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}

// signalPasts reads the signals that answer a request over a window.
func (e *Engine) signalPasts(ctx context.Context, req *SignalsRequest) ([]gputide.SignalHistory, time.Time, error) {
	from, to, err := e.signalWindow(req)
	if err != nil {
		return nil, to, err
	}
	ask, err := e.signalAsk(ctx, req, to)
	if err != nil {
		return nil, to, err
	}
	var out []gputide.SignalHistory
	for _, name := range ask.names {
		list, err := e.Reader.SignalIntervals(ctx, ask.selection(), name, from, to)
		if err != nil {
			return nil, to, fmt.Errorf("history of signal %s: %w", name, err)
		}
		for i := range list {
			if len(list[i].Intervals) > 0 && ask.keeps(&list[i].Key) {
				out = append(out, list[i])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b gputide.SignalHistory) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), compareKeys(&a.Key, &b.Key))
	})
	return out, to, nil
}

// countSpans counts, of each value, the signals that had it at some time, and
// measures for how much of the time in which signals of the name had any.
func countSpans(found []gputide.SignalHistory) []SignalCountRow {
	type class struct {
		name  string
		value int64
	}
	signals, seconds, all := map[class]int64{}, map[class]uint64{}, map[string]uint64{}
	for i := range found {
		seen := map[class]bool{}
		for _, iv := range found[i].Intervals {
			c := class{found[i].Name, iv.Value}
			if !seen[c] {
				seen[c] = true
				signals[c]++
			}
			n := uint64(iv.To.Unix() - iv.From.Unix())
			seconds[c] += n
			all[c.name] += n
		}
	}
	out := make([]SignalCountRow, 0, len(signals))
	for c, n := range signals {
		out = append(out, SignalCountRow{
			Name: Text(c.name), Value: c.value, Label: Text(gputide.SignalLabel(c.name, c.value)), Count: n,
			ShareOfTime: share(seconds[c], all[c.name]),
		})
	}
	sortCounts(out)
	return out
}
