package azure

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gputide/gputide"
)

// atOnce is how many regions are read at a time: the next page of a region is
// only known with the one before.
const atOnce = 4

// Partitions of Azure. The Retail Prices API lists all clouds.
const (
	partitionCommercial = "azure"
	partitionChina      = "azure-cn"
	partitionGov        = "azure-us-gov"
)

// partitionOf returns the partition of a region code.
func partitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "china"):
		return partitionChina
	case strings.HasPrefix(region, "usgov"), strings.HasPrefix(region, "usdod"):
		return partitionGov
	}
	return partitionCommercial
}

// run is one crawl.
type run struct {
	*Provider
	b *gputide.Batch

	mu     sync.Mutex
	table  *families
	specs  map[specKey]*gputide.Spec // of sizes seen, nil for one without accelerator
	names  map[string]string         // size in lower case → as priced
	done   int
	failed []error
}

type specKey struct{ partition, size string }

// Crawl reads the prices of every region, then spot eviction rates and the
// history of spot prices. What fails of one region touches no other.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	r := &run{Provider: p, b: b, table: table, specs: map[specKey]*gputide.Spec{}, names: map[string]string{}}
	r.prices(ctx)
	if ctx.Err() == nil {
		r.graph(ctx)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	switch {
	case len(r.failed) == 0:
		return nil
	case r.done == 0:
		return errors.Join(r.failed...)
	}
	return &gputide.PartialError{Done: r.done, Failed: r.failed}
}

// wants reports whether a region is to be read.
func (p *Provider) wants(region string) bool {
	return len(p.cfg.Regions) == 0 || slices.Contains(p.cfg.Regions, region)
}

// prices reads the price list of every region.
func (r *run) prices(ctx context.Context) {
	regions, err := r.regions(ctx)
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		r.b.Source(sourceRegions, gputide.SourceSkipped, err)
		return
	case err != nil:
		for _, s := range scopes("", "") {
			r.b.Fail(sourceRegions, s, err)
		}
		r.count(err)
		return
	}
	r.b.Source(sourceRegions, gputide.SourceOK, nil)
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, region := range regions {
		g.Go(func() error {
			if ctx.Err() == nil {
				r.region(ctx, region)
			}
			return nil
		})
	}
	_ = g.Wait() // no member returns an error: each reports its own scopes
	r.b.Source(sourceFamilies, gputide.SourceOK, nil)
}

// partSavings is the part of savings plans: their rates stand inside the rows of
// others, and a list without any says nothing of them.
const partSavings = "savings_plan"

// scopes returns what the list of a region feeds; with no region that of all.
func scopes(partition, region string) []gputide.Scope {
	at := gputide.Scope{Partition: partition, Region: region}
	var out []gputide.Scope
	for _, m := range []gputide.Market{gputide.OnDemand, gputide.Spot, gputide.Commitment} {
		at.Market = m
		out = append(out, at)
	}
	at.Part = partSavings
	return append(out, at)
}

// region reads the list of one region and reports its scopes.
func (r *run) region(ctx context.Context, region string) {
	list := newList(region, r.b.At())
	url, err := r.pages(ctx, sourcePrices, regionURL(region), list.row)
	if err == nil {
		err = list.check()
	}
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		r.b.Source(sourcePrices, gputide.SourceSkipped, err)
	case err != nil:
		for _, s := range scopes(partitionOf(region), region) {
			r.b.Fail(sourcePrices, s, err)
		}
		r.count(err)
	default:
		r.take(list, url)
		r.count(nil)
	}
}

// count notes the outcome of a region or another list.
func (r *run) count(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed = append(r.failed, err)
		return
	}
	r.done++
}

// spec returns what the table says of a size, one value per size; nil when it is
// none with an accelerator.
func (r *run) spec(partition, size string) *gputide.Spec {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := specKey{partition, size}
	if s, ok := r.specs[k]; ok {
		return s
	}
	r.names[strings.ToLower(size)] = size
	var s *gputide.Spec
	if d, ok := r.table.find(size); ok {
		s = &gputide.Spec{Source: sourceFamilies, Provider: "azure", Partition: partition, InstanceType: size, Device: d}
	}
	r.specs[k] = s
	return s
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: got}
}
