package crawler

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

// Defaults of [Options].
const (
	DefaultConcurrency = 8
	DefaultDeadline    = 15 * time.Minute
)

// Store is what a crawl needs of a database.
type Store interface {
	// Baseline returns what is known of a provider before a run at a moment; of
	// one never seen, an empty baseline.
	Baseline(ctx context.Context, provider string, at time.Time) (*gputide.Baseline, error)

	// CommitRun stores a run as a whole or not at all. It returns
	// [gputide.ErrConflict] when the same scope and moment hold other contents.
	CommitRun(ctx context.Context, run *gputide.Run) (gputide.CommitResult, error)
}

// Collect says which offers are stored.
type Collect string

// What may be collected.
const (
	CollectAccelerated Collect = "accelerated" // offers of instance types with an accelerator
	CollectAll         Collect = "all"
)

// Crawler crawls providers into a store. It is safe for concurrent use when its
// Store is.
type Crawler struct {
	Store       Store
	Normalizer  *normalize.Normalizer
	Logger      *slog.Logger     // nil discards
	Now         func() time.Time // nil is time.Now
	CodeVersion string
}

// Options says how to crawl. The zero value crawls live, now, and keeps
// accelerated offers.
type Options struct {
	// At returns the moment a provider's run observes; a zero time, like a nil
	// At, is the present.
	At func(provider string) time.Time

	Markets     []gputide.Market // of providers that have a pace: only these; empty is all
	Collect     Collect          // empty is CollectAccelerated
	Replace     bool             // overwrite a run of the same scope and moment
	Concurrency int              // providers at once; 0 is DefaultConcurrency
	Deadline    time.Duration    // of one provider, where its Info names none; 0 is DefaultDeadline
	Cause       gputide.Cause    // empty is CauseCrawl

	// Adjust, when set, changes the facts of a provider for this crawl: the
	// cadence it is really crawled at, its deadline.
	Adjust func(*gputide.Info)

	// Progress, when set, is told how far each provider has come. It is called
	// from several goroutines and must return at once.
	Progress func(Progress)
}

// Progress is how far the crawl of one source has come.
type Progress struct {
	Provider string
	Source   string
	Rows     int64 // read from the source so far
	Bytes    int64 // received from the source so far, in bodies read to their end
}

// Result is the outcome of one provider.
type Result struct {
	Provider string
	At       time.Time // the moment observed
	Duration time.Duration
	Scopes   []gputide.ScopeRun
	Report   gputide.Report
	Commit   gputide.CommitResult
	Offers   int   // stored
	Skips    int64 // rows that should have been offers and are not

	// SkippedAll is set when every source was skipped: it needs a credential or
	// is not in the fixture. Nothing is stored then, and nothing failed.
	SkippedAll bool

	// Err is why the crawl, a scope of it, or the commit failed; scopes marked
	// done are stored all the same, unless the commit itself failed.
	Err error
}

// Failed reports whether anything of the provider failed or was held back.
func (r *Result) Failed() bool { return r.Err != nil }

// Crawl crawls the providers, several at once, and returns one result for each,
// in their order. A provider that fails, hangs until its deadline or panics
// harms no other. When ctx is cancelled, what was read to its end is still
// stored, and providers not yet begun return the error of ctx.
func (c *Crawler) Crawl(ctx context.Context, providers []gputide.Provider, opt Options) []Result {
	opt = opt.withDefaults()
	results := make([]Result, len(providers))
	var g errgroup.Group
	g.SetLimit(opt.Concurrency)
	for i, p := range providers {
		g.Go(func() error {
			results[i] = c.isolated(ctx, p, opt)
			return nil
		})
	}
	_ = g.Wait() // the functions return no error; each result carries its own
	return results
}

func (o Options) withDefaults() Options {
	if o.Collect == "" {
		o.Collect = CollectAccelerated
	}
	if o.Concurrency <= 0 {
		o.Concurrency = DefaultConcurrency
	}
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Cause == "" {
		o.Cause = gputide.CauseCrawl
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}

// isolated crawls one provider; a panic outside the adapter's own calls, too,
// ends only this provider.
func (c *Crawler) isolated(ctx context.Context, p gputide.Provider, opt Options) (res Result) {
	name := ""
	defer func() {
		if v := recover(); v != nil {
			res = Result{Provider: name, Err: newPanic(v)}
			c.logger().ErrorContext(ctx, "crawl failed", "provider", name, "err", res.Err)
		}
	}()
	info := p.Info()
	name = info.Name
	if opt.Adjust != nil {
		opt.Adjust(&info)
	}
	if err := ctx.Err(); err != nil {
		return Result{Provider: name, Err: fmt.Errorf("not begun: %w", err)}
	}
	return c.crawl(ctx, p, info, opt)
}

func (c *Crawler) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *Crawler) logger() *slog.Logger {
	if c.Logger != nil {
		return c.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// PanicError is the panic of an adapter, caught.
type PanicError struct {
	Value any
	Stack []byte
}

func newPanic(v any) *PanicError { return &PanicError{Value: v, Stack: debug.Stack()} }

// Error names the value the adapter panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// protect calls f and returns its panic as an error.
func protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(v)
		}
	}()
	return f()
}
