package fetch

import (
	"context"
	"time"

	"github.com/gputide/gputide"
)

type recorderKey struct{}

// WithRecorder returns a context whose requests report each body to record, once
// it was read to its end or given up. Body.Hash is set when the body was read to
// its end and is kept somewhere: in the archive, or in the fixture it came from.
// record may be called from several goroutines at once.
func WithRecorder(ctx context.Context, record func(gputide.Body)) context.Context {
	return context.WithValue(ctx, recorderKey{}, record)
}

func recorderOf(ctx context.Context) func(gputide.Body) {
	if record, ok := ctx.Value(recorderKey{}).(func(gputide.Body)); ok {
		return record
	}
	return func(gputide.Body) {}
}

type runKey struct{}

// run is one crawl of one or more providers, as the archive files it.
type run struct {
	at     time.Time
	served *served
	index  runIndexes
}

// WithRun returns a context whose requests belong to one run at the given
// moment: the archive files them under it, and [Archive.Replay] serves them
// again. Fixtures with a limited number of servings count anew in each run.
func WithRun(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, runKey{}, &run{at: wholeSecond(at), served: newServed()})
}

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

func wholeSecond(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
