package store

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gputide/gputide"
)

// scanBatch is how many series a worker of a scan reads in one transaction.
const scanBatch = 256

// IntervalsOf returns what [DB.Intervals] returns of each offer, in the order of
// ids; a slice is the consumer's. Several series are read at once, ahead of the
// consumer. An unknown id ends it with [gputide.ErrNotFound].
func (db *DB) IntervalsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Interval, error] {
	a, b := bounds(from, to)
	return scan(ctx, db, ids, func(_ *view, l *loaded) ([]gputide.Interval, error) { return l.past.intervals(a, b) })
}

// ObservationsOf returns what [DB.Observations] returns of each offer, in the
// order of ids, as IntervalsOf does.
func (db *DB) ObservationsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Observation, error] {
	a, b := bounds(from, to)
	return scan(ctx, db, ids, func(_ *view, l *loaded) ([]gputide.Observation, error) { return l.past.observations(a, b) })
}

// scan reads series by id, several at once, and yields what read makes of each,
// in order.
func scan[T any](ctx context.Context, db *DB, ids []gputide.OfferID, read func(*view, *loaded) (T, error)) iter.Seq2[T, error] {
	parts := slices.Collect(slices.Chunk(ids, scanBatch))
	work := func(ctx context.Context, i int) ([]T, error) {
		out := make([]T, 0, len(parts[i]))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return out, db.view(func(v *view) error {
			r := v.loader(v.offers)
			for _, id := range parts[i] {
				l, err := r.find(id)
				if err != nil {
					return err
				}
				x, err := read(v, l)
				if err != nil {
					return err
				}
				out = append(out, x)
			}
			return nil
		})
	}
	return func(yield func(T, error) bool) {
		for part, err := range inOrder(ctx, len(parts), work) {
			for _, x := range part {
				if !yield(x, nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
		}
	}
}

// inOrder calls work with 0 to n-1, as many at once as there are processors, and
// yields the results in order. Workers are never more than a few results ahead,
// and have ended when the sequence has. It ends with the first error.
func inOrder[T any](ctx context.Context, n int, work func(context.Context, int) (T, error)) iter.Seq2[T, error] {
	type result struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		workers := min(runtime.GOMAXPROCS(0), n)
		if workers <= 1 {
			for i := range n {
				if v, err := work(ctx, i); !yield(v, err) || err != nil {
					return
				}
			}
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		ahead := make([]chan result, 2*workers) // slot i%len takes result i
		for i := range ahead {
			ahead[i] = make(chan result, 1)
		}
		free, next := make(chan struct{}, len(ahead)), make(chan int)
		all.Go(func() {
			defer close(next)
			for i := range n {
				select {
				case free <- struct{}{}:
				case <-ctx.Done():
					return
				}
				next <- i // a worker takes it: they end after this
			}
		})
		for range workers {
			all.Go(func() {
				for i := range next {
					v, err := work(ctx, i)
					ahead[i%len(ahead)] <- result{v, err} // free: its last result was taken
				}
			})
		}
		for i := range n {
			select {
			case r := <-ahead[i%len(ahead)]:
				<-free
				if !yield(r.value, r.err) || r.err != nil {
					return
				}
			case <-ctx.Done():
				var none T
				yield(none, ctx.Err())
				return
			}
		}
	}
}
