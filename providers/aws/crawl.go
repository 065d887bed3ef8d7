package aws

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gputide/gputide"
)

// atOnce is how many regions are read at a time: enough to keep one core busy,
// few enough to stay small.
const atOnce = 4

// Partitions of AWS. GovCloud is listed with the commercial regions.
const (
	partitionCommercial = "aws"
	partitionChina      = "aws-cn"
	partitionGov        = "aws-us-gov"
)

// partitionOf returns the partition of a region code.
func partitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return partitionChina
	case strings.HasPrefix(region, "us-gov-"):
		return partitionGov
	}
	return partitionCommercial
}

// listMarkets are the markets a bulk list feeds.
func listMarkets() []gputide.Market { return []gputide.Market{gputide.OnDemand, gputide.Commitment} }

// run is one crawl.
type run struct {
	*Provider
	b        *gputide.Batch
	families families

	long   sync.Mutex // held while a long spot history is read
	events int        // rows of long spot histories; guarded by long

	mu     sync.Mutex
	done   int
	failed []error
	tabled map[string]*gputide.Spec // see tableSpec
}

// Crawl reads the lists of every region, each from the first of its sources
// that answers, the spot advisor, and what EC2 tells of each region; for spot
// prices alone, only the latter. What fails of one region touches no other.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	r := &run{Provider: p, b: b, families: table}
	if b.Wants(gputide.OnDemand) {
		for _, k := range books() {
			r.book(ctx, k)
		}
		r.advisor(ctx)
		r.blockRates(ctx)
	}
	r.account(ctx)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return r.outcome()
}

// outcome returns what failed, all or in part.
func (r *run) outcome() error {
	switch {
	case len(r.failed) == 0:
		return nil
	case r.done == 0:
		return errors.Join(r.failed...)
	}
	return &gputide.PartialError{Done: r.done, Failed: r.failed}
}

// wants reports whether a region of a book is to be read.
func (r *run) wants(k book, region string) bool {
	return k.holds(region) && (len(r.cfg.Regions) == 0 || slices.Contains(r.cfg.Regions, region))
}

// book reads all lists of one book.
func (r *run) book(ctx context.Context, k book) {
	if len(r.cfg.Regions) > 0 && !slices.ContainsFunc(r.cfg.Regions, k.holds) {
		return
	}
	lists, source, err := r.indexes(ctx, k)
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		return
	case err != nil:
		r.fail(source, err, r.scopes(k)...)
		return
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, l := range lists {
		g.Go(func() error {
			if ctx.Err() == nil {
				r.region(ctx, k, l)
			}
			return nil
		})
	}
	_ = g.Wait() // no member returns an error: each reports its own scopes
}

// scopes returns what a book was to feed, as far as that is known without its
// index.
func (r *run) scopes(k book) []gputide.Scope {
	var out []gputide.Scope
	for _, m := range listMarkets() {
		for _, region := range r.cfg.Regions {
			if k.holds(region) {
				out = append(out, gputide.Scope{Partition: partitionOf(region), Region: region, Market: m})
			}
		}
		for _, p := range k.partitions {
			if len(r.cfg.Regions) == 0 {
				out = append(out, gputide.Scope{Partition: p, Market: m})
			}
		}
	}
	return out
}

// region reads one region: its prices, and then its savings plans.
func (r *run) region(ctx context.Context, k book, l listing) {
	w := r.prices(ctx, k, l)
	if ctx.Err() == nil {
		r.savingsPlans(ctx, k, l, w)
	}
}

// prices reads the list of a region from the first of its sources that answers
// and returns what savings plans are joined with, nil when there is nothing.
func (r *run) prices(ctx context.Context, k book, l listing) *wares {
	var errs []error
	for _, s := range []struct {
		id   string
		read func(context.Context, book, listing) (*wares, error)
	}{{k.id(sourceCSV), r.csv}, {k.id(sourceJSON), r.json}, {sourcePage, r.page}} {
		w, err := s.read(ctx, k, l)
		switch {
		case err == nil:
			r.count(nil)
			return w
		case errors.Is(err, gputide.ErrNotInFixture):
			r.b.Source(s.id, gputide.SourceSkipped, err)
			continue
		case errors.Is(err, errNoFeed):
			continue
		}
		errs = append(errs, err)
		for _, m := range listMarkets() {
			if m == gputide.OnDemand || s.id != sourcePage {
				r.b.Fail(s.id, l.scope(k, m), err)
			}
		}
	}
	if len(errs) > 0 {
		r.count(errors.Join(errs...))
	}
	return nil
}

// count notes the outcome of a region.
func (r *run) count(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed = append(r.failed, err)
		return
	}
	r.done++
}

// fail reports scopes that could not be read at all.
func (r *run) fail(source string, err error, scopes ...gputide.Scope) {
	for _, s := range scopes {
		r.b.Fail(source, s, err)
	}
	r.count(err)
}
