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
const scanBatch = 64

// IntervalsOf returns what [DB.Intervals] returns of each offer, in the order of
// ids; a slice is valid until the next. Several series are read at once, ahead of
// the consumer. An unknown id ends it with [gputide.ErrNotFound].
func (db *DB) IntervalsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Interval, error] {
	a, b := bounds(from, to)
	read := func(out []stretch, p *past) ([]stretch, error) { return p.intervals(out, a, b) }
	return scan(ctx, db, ids, read, (*stretch).interval)
}

// ObservationsOf returns what [DB.Observations] returns of each offer, in the
// order of ids, as IntervalsOf does.
func (db *DB) ObservationsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Observation, error] {
	a, b := bounds(from, to)
	read := func(out []sighting, p *past) ([]sighting, error) { return p.observations(out, a, b) }
	return scan(ctx, db, ids, read, (*sighting).observation)
}

// scanned is what was read of many series, one behind the other.
type scanned[S any] struct {
	list []S
	ends []int // in list, by series
}

// scan reads series by id, several at once, and yields what read appends of
// each, in order and as tell tells it. What it takes is used again: it does not
// grow with the number of series.
func scan[S, T any](
	ctx context.Context, db *DB, ids []gputide.OfferID, read func([]S, *past) ([]S, error), tell func(*S) T,
) iter.Seq2[[]T, error] {
	parts := slices.Collect(slices.Chunk(ids, scanBatch))
	return func(yield func([]T, error) bool) {
		free := make(chan scanned[S], 1+2*runtime.GOMAXPROCS(0))
		work := func(ctx context.Context, i int) (scanned[S], error) {
			var out scanned[S]
			select {
			case out = <-free:
			default:
			}
			if err := ctx.Err(); err != nil {
				return out, err
			}
			err := db.view(func(v *view) error {
				out.list, out.ends = out.list[:0], out.ends[:0]
				r := v.loader(v.offers)
				for _, id := range parts[i] {
					l, err := r.find(id)
					if err != nil {
						return err
					}
					if out.list, err = read(out.list, &l.past); err != nil {
						return err
					}
					out.ends = append(out.ends, len(out.list))
				}
				return nil
			})
			return out, err
		}
		var told []T
		for part, err := range inOrder(ctx, len(parts), work) {
			start := 0
			for _, end := range part.ends {
				told = told[:0]
				for i := start; i < end; i++ {
					told = append(told, tell(&part.list[i]))
				}
				if start = end; !yield(told, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			select {
			case free <- part:
			default:
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
