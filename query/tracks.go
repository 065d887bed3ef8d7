package query

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// trackAsk names the history of one series in a window.
type trackAsk struct {
	id       gputide.OfferID
	key      *gputide.Key
	from, to time.Time
}

// tracks reads histories, in the order asked; each is valid until the next. The
// store reads many at once where neighbours end at the same moment.
func (e *Engine) tracks(ctx context.Context, stock *stockPast, asks []trackAsk, over Over) iter.Seq2[*track, error] {
	return func(yield func(*track, error) bool) {
		for len(asks) > 0 {
			n := 1
			for n < len(asks) && asks[n].to.Equal(asks[0].to) {
				n++
			}
			if !e.tracksTo(ctx, stock, asks[:n], over, yield) {
				return
			}
			asks = asks[n:]
		}
	}
}

// tracksTo reads histories that end at one moment. It reports whether to go on.
func (e *Engine) tracksTo(ctx context.Context, stock *stockPast, asks []trackAsk, over Over, yield func(*track, error) bool) bool {
	ids, from := make([]gputide.OfferID, len(asks)), asks[0].from
	for i := range asks {
		ids[i], from = asks[i].id, earlier(from, asks[i].from)
	}
	to := asks[0].to
	nextRows, stop := func() ([]gputide.Observation, error, bool) { return nil, nil, true }, func() {}
	if over == OverRows {
		nextRows, stop = iter.Pull2(e.Reader.ObservationsOf(ctx, ids, from, to))
	}
	defer stop()
	i, t := 0, &track{}
	for list, err := range e.Reader.IntervalsOf(ctx, ids, from.Add(-time.Second), to) {
		if err != nil {
			return yield(nil, fmt.Errorf("history of %s: %w", ids[min(i, len(ids)-1)], err)) && false
		}
		rows, err, _ := nextRows()
		if err != nil {
			return yield(nil, fmt.Errorf("observations of %s: %w", ids[i], err)) && false
		}
		if t.read(&asks[i], cutSoldOut(list, stock.of(asks[i].key)), rows); !yield(t, nil) {
			return false
		}
		i++
	}
	if i < len(ids) {
		return yield(nil, fmt.Errorf("%w: %d histories of %d", gputide.ErrNotFound, i, len(ids))) && false
	}
	return true
}

// read cuts a history to its window, in place of what was read before. list
// holds what reaches into the window or its last second before; it may begin
// earlier, as may rows.
func (t *track) read(ask *trackAsk, list []gputide.Interval, rows []gputide.Observation) {
	*t = track{from: ask.from.Unix(), to: ask.to.Unix(), stretches: t.stretches[:0], steps: t.steps[:0]}
	var last *gputide.Interval
	for i := range list {
		iv := &list[i]
		if iv.State == gputide.StateUnknown {
			continue
		}
		t.take(iv, last)
		last = iv
	}
	if last != nil && last.To.Unix() >= t.to {
		t.end, t.ends = *last, true
	}
	for len(rows) > 0 && rows[0].At.Unix() < t.from {
		rows = rows[1:]
	}
	t.rows = rows
}

// clone returns a history that stays.
func (t *track) clone() *track {
	kept := *t
	kept.stretches, kept.steps, kept.rows = slices.Clone(t.stretches), slices.Clone(t.steps), slices.Clone(t.rows)
	return &kept
}
