package query

import (
	"context"
	"iter"
	"time"

	"github.com/gputide/gputide"
)

// Contract is the version of the output contract: the names, types and meaning
// of the rows. It grows by one when a reader of the old rows would misread the
// new ones; an added field is no such change.
const Contract = 1

// Reader is what queries need of a store.
type Reader interface {
	// Quotes returns the selected offers as known at a moment, sorted by ID, in
	// every state except sold_out.
	Quotes(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Quote, error)

	// IntervalsOf returns, for each offer in the order of ids, its price and state
	// over [from, to), as stretches in which neither changed, oldest first. Time
	// before it was first seen has none, or one of state unknown. A slice is valid
	// until the next.
	IntervalsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Interval, error]

	// ObservationsOf returns, for each offer in the order of ids, every moment in
	// [from, to) at which a source stated its price, oldest first. A slice is valid
	// until the next.
	ObservationsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Observation, error]

	// Changes returns the selected changes in order of Seq.
	Changes(ctx context.Context, f gputide.ChangeFilter) iter.Seq2[gputide.Change, error]

	// Signals returns the signals of one name as known at a moment. Matches of
	// key fields hold for the signal's own key.
	Signals(ctx context.Context, sel gputide.Selection, name string, at time.Time) ([]gputide.SignalValue, error)

	// SignalIntervals returns the signals of one name over [from, to), the values
	// carried in included, selected as by Signals.
	SignalIntervals(ctx context.Context, sel gputide.Selection, name string, from, to time.Time) ([]gputide.SignalHistory, error)

	// Specs returns the specs in force at a moment. It is asked with matches of
	// provider, partition and instance type only.
	Specs(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Spec, error)

	// Benchmarks returns the stored benchmark results that match.
	Benchmarks(ctx context.Context, f gputide.BenchmarkFilter) ([]gputide.Benchmark, error)

	// Rate returns how much of quote one euro bought, of the latest day not
	// after the UTC day of at. It reports false when there is none.
	Rate(ctx context.Context, quote gputide.Currency, at time.Time) (gputide.Rate, bool, error)

	// Values returns the distinct non-empty values of a field, sorted.
	Values(ctx context.Context, f gputide.Field) ([]string, error)

	// Runs returns the newest runs of a provider, newest first; limit 0 is all.
	Runs(ctx context.Context, provider string, limit int) ([]gputide.RunRecord, error)
}

// Catalogue reads device names.
type Catalogue interface {
	// Version names the catalogue's contents.
	Version() string

	// Resolve reads a device as a provider names it. It reports false for a name
	// it does not know; the accelerator then has only Raw.
	Resolve(provider string, d *gputide.Device) (gputide.Accelerator, bool)

	// Match returns the slugs a pattern names: a slug, a model, a model with its
	// variant, or an alias. It reports false when there is none.
	Match(pattern string) (slugs []string, ok bool)

	// Near returns at most n names close to a pattern that matches nothing.
	Near(pattern string, n int) []string

	// Entry returns the row of a slug.
	Entry(slug string) (gputide.CatalogueEntry, bool)
}

// Regions knows where region codes lie.
type Regions interface {
	// Lookup reports false for a region it does not know.
	Lookup(provider, partition, region string) (gputide.Place, bool)
}

// Engine answers queries. It holds no state of its own and may be used by many
// goroutines when its parts may.
type Engine struct {
	Reader    Reader
	Catalogue Catalogue
	Regions   Regions
	Now       func() time.Time

	// Providers are the names that exist beside those stored, so that a provider
	// not yet crawled is an empty answer and not an unknown value. May be nil.
	Providers []string

	// Called are other names of providers, in lower case: 阿里云 is alibaba. May be
	// nil.
	Called map[string]string

	// Arithmetic writes out, one line a step, how an hourly price follows from
	// its published text. Nil leaves the steps out of explanations.
	Arithmetic func(q *gputide.Quote) ([]string, error)
}

// moment returns at in whole UTC seconds, or now when at is zero.
func (e *Engine) moment(at time.Time) time.Time {
	if at.IsZero() {
		at = e.Now()
	}
	return at.UTC().Truncate(time.Second)
}
