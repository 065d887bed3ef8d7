package providertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// Collector is a [gputide.Sink] that keeps everything a crawl reads. After
// [Collect] its lists are sorted, so that two crawls can be compared.
type Collector struct {
	Offers  []gputide.RawOffer
	Specs   []gputide.Spec
	Signals []gputide.Signal
	Rates   []gputide.Rate
	Skips   []gputide.Skipped
	Omits   []Omitted
	Scopes  []gputide.ScopeRun
	Sources []SourceNote
	Bodies  []gputide.Body
}

// Omitted counts the rows of one source that were left out for one reason.
type Omitted struct {
	Source, Reason string
	Rows           int64
}

// SourceNote is what a provider said of one of its sources.
type SourceNote struct {
	Source string
	Status gputide.SourceStatus
	Err    error
}

var _ gputide.Sink = (*Collector)(nil)

// Offer keeps o.
func (c *Collector) Offer(o gputide.RawOffer) { c.Offers = append(c.Offers, o) }

// Spec keeps s.
func (c *Collector) Spec(s gputide.Spec) { c.Specs = append(c.Specs, s) }

// Signal keeps s.
func (c *Collector) Signal(s gputide.Signal) { c.Signals = append(c.Signals, s) }

// Rate keeps r.
func (c *Collector) Rate(r gputide.Rate) { c.Rates = append(c.Rates, r) }

// Skip keeps s.
func (c *Collector) Skip(s gputide.Skipped) { c.Skips = append(c.Skips, s) }

// Scope keeps s.
func (c *Collector) Scope(s gputide.ScopeRun) { c.Scopes = append(c.Scopes, s) }

// Source keeps what was said of a source.
func (c *Collector) Source(source string, status gputide.SourceStatus, err error) {
	c.Sources = append(c.Sources, SourceNote{source, status, err})
}

// Omit adds rows to the count of their source and reason.
func (c *Collector) Omit(source, reason string, rows int64) {
	for i, o := range c.Omits {
		if o.Source == source && o.Reason == reason {
			c.Omits[i].Rows += rows
			return
		}
	}
	c.Omits = append(c.Omits, Omitted{source, reason, rows})
}

// Errors returns every error said of the given source.
func (c *Collector) Errors(source string) []error {
	var errs []error
	for _, s := range c.Sources {
		if s.Source == source && s.Err != nil {
			errs = append(errs, s.Err)
		}
	}
	return errs
}

// Moment is the moment that [Collect] observes.
func Moment() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }

// Collect crawls p with all its abilities as the crawler does, at [Moment], and
// returns what it read and its errors joined.
func Collect(ctx context.Context, p gputide.Provider) (*Collector, error) {
	return CollectAt(ctx, p, Moment())
}

// CollectAt is [Collect] at a given moment.
func CollectAt(ctx context.Context, p gputide.Provider, at time.Time) (*Collector, error) {
	c := new(Collector)
	var mu sync.Mutex
	ctx = fetch.WithRun(fetch.WithRecorder(ctx, func(b gputide.Body) {
		mu.Lock()
		defer mu.Unlock()
		c.Bodies = append(c.Bodies, b)
	}), at)
	b := gputide.NewBatch(p.Info().Name, at, c)
	var errs []error
	if r, ok := p.(gputide.RateCrawler); ok {
		errs = append(errs, r.CrawlRates(ctx, b))
	}
	if s, ok := p.(gputide.SpecCrawler); ok {
		errs = append(errs, s.CrawlSpecs(ctx, b))
	}
	errs = append(errs, p.Crawl(ctx, b))
	mu.Lock()
	defer mu.Unlock()
	c.sort()
	return c, errors.Join(errs...)
}

func (c *Collector) sort() {
	sortBy(c.Offers, func(o gputide.RawOffer) string {
		return o.Key.Canonical() + "\x00" + o.Part + "\x00" + o.Source + "\x00" + o.At.String() + fmt.Sprint(o.Price)
	})
	sortBy(c.Specs, func(s gputide.Spec) string { return s.Partition + "\x00" + s.InstanceType + "\x00" + s.Source })
	sortBy(c.Signals, func(s gputide.Signal) string {
		return s.Name + "\x00" + s.Key.Canonical() + "\x00" + s.Part + "\x00" + s.Source + fmt.Sprint(s.Value)
	})
	sortBy(c.Rates, func(r gputide.Rate) string {
		return r.Date.Format(time.DateOnly) + string(r.Base) + string(r.Quote) + "\x00" + r.Source + "\x00" + r.Amount
	})
	sortBy(c.Skips, func(s gputide.Skipped) string {
		key := ""
		if s.Key != nil {
			key = s.Key.Canonical()
		}
		return s.Source + "\x00" + s.Reason + "\x00" + key + "\x00" + s.Part + s.Scope.String() + "\x00" + s.Detail
	})
	sortBy(c.Omits, func(o Omitted) string { return o.Source + "\x00" + o.Reason })
	sortBy(c.Scopes, func(s gputide.ScopeRun) string {
		return s.Scope.String() + "\x00" + s.Source + "\x00" + string(s.Status)
	})
	sortBy(c.Sources, func(s SourceNote) string { return s.Source + "\x00" + string(s.Status) + "\x00" + fmt.Sprint(s.Err) })
	sortBy(c.Bodies, func(b gputide.Body) string { return b.Source + "\x00" + b.URL + "\x00" + b.Hash })
}

func sortBy[T any](list []T, by func(T) string) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(by(a), by(b)) })
}
