// Package ucloud reads what UCloud charges for GPU hosts by the hour.
//
// Source: the signed API, https://api.ucloud.cn/, documented at
// https://docs.ucloud.cn/api/uhost-api/: the regions, the machine types of a
// region with their stock, and the price of every combination of card, count,
// vCPUs and memory. The product has no names of instance types: one is made of
// the combination, as in G.T4x1.c4m8.
//
// Auth: a key pair, signed as in https://docs.ucloud.cn/api/summary/signature.
// Market: on_demand. Amounts are CNY by the hour (the documentation says yuan;
// the answer prints neither) and are asked for with the smallest system disk of
// a Linux image, 20 GB of the first kind a type lists, which the price includes.
// ListPrice is the list price; Price is what the account of the key pays, and
// never stands in for it. No source says whether taxes are in an amount, or
// states a rhythm.
//
// Known gaps: months, years and preemptible hosts (documented, without an example
// of an answer), CompShare, hosts without cards. Nothing is read without a key.
//
// Verified: nothing live. One price answer is a documented example; that the name
// of a GPU machine type is its GpuType, and the answer of GetRegion, are as
// documented in words only.
package ucloud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	sourceRegions = "regions"
	sourceTypes   = "types"
	sourcePrices  = "prices"

	address = "https://api.ucloud.cn/"
	docs    = "https://docs.ucloud.cn/api/"

	envPublic  = "GPUTIDE_UCLOUD_PUBLIC_KEY"
	envPrivate = "GPUTIDE_UCLOUD_PRIVATE_KEY"

	currency = "CNY"

	// maxCards bounds the cards of one host, maxAsks the combinations of one
	// region: larger numbers are misread fields.
	maxCards = 64
	maxAsks  = 2000
)

// Config is what the provider is asked with.
type Config struct {
	PublicKey, PrivateKey string
	Regions               []string // region codes to read; empty is all
}

// Provider crawls UCloud.
type Provider struct {
	http *fetch.Client
	cfg  Config
}

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f. Without keys nothing is asked.
func New(f *fetch.Fetcher, cfg Config) *Provider {
	p := &Provider{http: f.Client(info()), cfg: cfg}
	for _, key := range []string{cfg.PrivateKey, cfg.PublicKey} { // the latter stands in addresses
		if key != "" {
			p.http.AddSecret(key)
		}
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	source := func(id, title, action, doc, gives string, prices bool) gputide.Source {
		return gputide.Source{
			ID: id, Title: title, URL: address + "?Action=" + action + "&*", Doc: docs + doc, Hosts: []string{"api.ucloud.cn"},
			Auth: gputide.AuthKey, Env: []string{envPublic, envPrivate}, Gives: gives, Prices: prices, MaxBytes: 8 << 20,
		}
	}
	return gputide.Info{
		Name:    "ucloud",
		Title:   "UCloud GPU hosts",
		TitleZH: "优刻得",
		Home:    "https://www.ucloud.cn/site/product/gpu.html",
		Sources: []gputide.Source{
			source(sourceRegions, "Regions", actionRegions, "summary/get_region", "the regions", false),
			source(sourceTypes, "Machine types of a region", actionTypes, "uhost-api/describe_available_instance_types", "cards, sizes and stock", false),
			source(sourcePrices, "Price of one size", actionPrice, "uhost-api/get_uhost_instance_price", "hourly prices", true),
		},
		Markets:    []gputide.Market{gputide.OnDemand},
		Currencies: []gputide.Currency{currency},
		Cadence:    24 * time.Hour,
		Deadline:   3 * time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note: "Not verified live: one documented price, in a composed list. Needs a key. Hourly prices of GPU hosts with a disk of 20 GB; " +
			"no months or years, no preemptible hosts, no CompShare.",
	}
}

func scope(region string) gputide.Scope {
	return gputide.Scope{Region: region, Market: gputide.OnDemand}
}

func stock(region string) gputide.Scope {
	return gputide.Scope{Region: region, Signal: gputide.SignalAvailability}
}

// run is one crawl.
type run struct {
	*Provider
	b *gputide.Batch
}

// Crawl reads every region. What fails of one touches no other.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	r := &run{Provider: p, b: b}
	regions, err := r.regions(ctx)
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case isAbsent(err):
		for _, s := range info().Sources {
			b.Source(s.ID, gputide.SourceSkipped, err)
		}
		return nil
	case err != nil:
		b.Source(sourceRegions, gputide.SourceFailed, err)
		for _, s := range []gputide.Scope{scope(""), stock("")} {
			b.Report(gputide.ScopeRun{Scope: s, Status: gputide.ScopeFailed, Source: sourcePrices, Reason: err.Error()})
		}
		return err
	}
	b.Source(sourceRegions, gputide.SourceOK, nil)
	done := 0
	var failed []error
	for _, region := range regions {
		if len(p.cfg.Regions) > 0 && !slices.Contains(p.cfg.Regions, region) {
			continue
		}
		err := r.region(ctx, region)
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", region, err))
		default:
			done++
		}
	}
	switch {
	case len(failed) == 0:
		return nil
	case done == 0:
		return errors.Join(failed...)
	}
	return &gputide.PartialError{Done: done, Failed: failed}
}

// region feeds the scopes of a region.
func (r *run) region(ctx context.Context, region string) error {
	sizes, at, err := r.types(ctx, region)
	if err != nil {
		if ctx.Err() == nil {
			r.b.Fail(sourceTypes, stock(region), err)
			r.b.Report(gputide.ScopeRun{Scope: scope(region), Status: gputide.ScopeFailed, Source: sourcePrices, Reason: err.Error()})
		}
		return err
	}
	r.b.Done(sourceTypes, stock(region), at)
	urls, err := r.prices(ctx, sizes)
	if err != nil {
		if ctx.Err() == nil {
			r.b.Fail(sourcePrices, scope(region), err)
		}
		return err
	}
	r.b.Done(sourcePrices, scope(region), urls...)
	return nil
}

func isAbsent(err error) bool {
	return errors.Is(err, gputide.ErrNeedsKey) || errors.Is(err, gputide.ErrNotInFixture)
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
