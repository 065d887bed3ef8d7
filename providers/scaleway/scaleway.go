// Package scaleway reads what Scaleway charges for its instances, zone by zone,
// and how many of them it has.
//
// Source: the product catalogue,
// https://www.scaleway.com/en/developers/api/product-catalog/public-catalog-api/,
// and the instance types and their stock of the Instances API,
// https://www.scaleway.com/en/developers/api/instances/. All are keyless.
//
// Market: on_demand. Amounts are EUR per instance, without tax; GPU instances are
// priced per minute, others per hour. Block storage and addresses are billed
// beside them. No source states a rhythm.
//
// Known gaps: bare metal, Apple silicon, Kubernetes, and the monthly price of the
// instance types, which is the hourly one times 730.
//
// Verified: 2026-07-01, against recorded answers of fr-par-1 and pl-waw-1. The
// list of zones is from documentation.
package scaleway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	sourceTypes     = "server-types"
	sourceCatalogue = "catalogue"
	sourceStock     = "availability"

	host         = "api.scaleway.com"
	catalogueURL = "https://" + host + "/product-catalog/v2alpha1/public-catalog/products?product_types=instance&zone=%s&page=%d&page_size=100"
	typesURL     = "https://" + host + "/instance/v1/zones/%s/products/servers?page=%d&per_page=50"
	stockURL     = "https://" + host + "/instance/v1/zones/%s/products/servers/availability?page=%d&per_page=50"
	instancesDoc = "https://www.scaleway.com/en/developers/api/instances/"

	currency = "EUR"

	// maxRows bounds a list of one zone: it has had 107.
	maxRows = 10000
)

// Provider crawls Scaleway.
type Provider struct {
	http    *fetch.Client
	regions []string
}

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f. regions names the regions or zones to read;
// none is all of them.
func New(f *fetch.Fetcher, regions []string) *Provider {
	return &Provider{http: f.Client(info()), regions: regions}
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	source := func(s gputide.Source) gputide.Source {
		s.Hosts, s.Auth, s.MaxBytes = []string{host}, gputide.AuthNone, 8<<20
		return s
	}
	return gputide.Info{
		Name:  "scaleway",
		Title: "Scaleway",
		Home:  "https://www.scaleway.com/en/pricing/gpu/",
		Sources: []gputide.Source{
			source(gputide.Source{
				ID: sourceTypes, Title: "Instance types of a zone, with the memory of their cards",
				URL: "https://" + host + "/instance/v1/zones/*/products/servers", Doc: instancesDoc,
			}),
			source(gputide.Source{
				ID: sourceCatalogue, Title: "Product catalogue of a zone", Prices: true,
				URL: "https://" + host + "/product-catalog/v2alpha1/public-catalog/products",
				Doc: "https://www.scaleway.com/en/developers/api/product-catalog/public-catalog-api/",
			}),
			source(gputide.Source{
				ID: sourceStock, Title: "Stock of the instance types of a zone",
				URL: "https://" + host + "/instance/v1/zones/*/products/servers/availability", Doc: instancesDoc,
			}),
		},
		Markets:    []gputide.Market{gputide.OnDemand},
		Currencies: []gputide.Currency{currency},
		Cadence:    6 * time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note:       "Instances only: no bare metal, Kubernetes, storage or addresses.",
	}
}

// zone is a zone and the region it lies in.
type zone struct{ region, name string }

func zones() []zone {
	return []zone{
		{"fr-par", "fr-par-1"},
		{"fr-par", "fr-par-2"},
		{"fr-par", "fr-par-3"},
		{"it-mil", "it-mil-1"},
		{"nl-ams", "nl-ams-1"},
		{"nl-ams", "nl-ams-2"},
		{"nl-ams", "nl-ams-3"},
		{"pl-waw", "pl-waw-1"},
		{"pl-waw", "pl-waw-2"},
		{"pl-waw", "pl-waw-3"},
	}
}

// Crawl reads one zone after the other. What fails of one touches no other.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	var failed []error
	done := 0
	absent := make(map[string]error) // sources that the fixture lacks, in every zone so far
	found := make(map[string]bool)
	for _, z := range zones() {
		if len(p.regions) > 0 && !slices.Contains(p.regions, z.region) && !slices.Contains(p.regions, z.name) {
			continue
		}
		for _, step := range p.crawlZone(ctx, b, z) {
			switch {
			case context.Cause(ctx) != nil:
				return context.Cause(ctx)
			case errors.Is(step.err, gputide.ErrNotInFixture):
				absent[step.source] = step.err
			case step.err != nil:
				found[step.source] = true
				failed = append(failed, fmt.Errorf("%s: %w", z.name, step.err))
			default:
				found[step.source] = true
				done++
			}
		}
	}
	for source, err := range absent {
		if !found[source] {
			b.Source(source, gputide.SourceSkipped, err)
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

// outcome is what became of one source in one zone.
type outcome struct {
	source string
	err    error
}

// crawlZone reads the sources of one zone.
func (p *Provider) crawlZone(ctx context.Context, b *gputide.Batch, z zone) []outcome {
	types, err := p.types(ctx, b, z)
	out := []outcome{{sourceTypes, err}}
	switch {
	case err == nil:
		b.Source(sourceTypes, gputide.SourceOK, nil)
	case context.Cause(ctx) != nil:
		return out
	case !errors.Is(err, gputide.ErrNotInFixture):
		b.Source(sourceTypes, gputide.SourceFailed, err)
	}
	out = append(out, outcome{sourceCatalogue, end(b, sourceCatalogue, gputide.Scope{Part: z.name}, func() ([]string, error) {
		return p.catalogue(ctx, b, z, types)
	})})
	stock := gputide.Scope{Part: z.name, Signal: gputide.SignalAvailability}
	return append(out, outcome{sourceStock, end(b, sourceStock, stock, func() ([]string, error) {
		return p.stock(ctx, b, z)
	})})
}

// end reads a scope and marks it done or failed.
func end(b *gputide.Batch, source string, s gputide.Scope, read func() ([]string, error)) error {
	urls, err := read()
	switch {
	case err == nil:
		b.Done(source, s, urls...)
	case !errors.Is(err, gputide.ErrNotInFixture):
		b.Fail(source, s, err)
	}
	return err
}

// pages reads a list to its end. read takes one page and returns how many rows
// it has and how many the list has; a list that does not add up is refused, for
// a part of it would look like the whole.
func (p *Provider) pages(ctx context.Context, source, pattern string, z zone, read func(*fetch.Response) (rows, total int, err error)) (urls []string, err error) {
	got, whole := 0, -1
	for page := 1; ; page++ {
		resp, err := p.http.Do(ctx, fetch.Request{
			Source: source, URL: fmt.Sprintf(pattern, z.name, page), Accept: "application/json",
		})
		if err != nil {
			return nil, err
		}
		rows, total, err := read(resp)
		if closed := resp.Body.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, err
		}
		got, urls = got+rows, append(urls, resp.URL)
		switch {
		case total < 0 || total > maxRows || (whole >= 0 && total != whole):
			return nil, drift(source, "total", fmt.Sprintf("a number up to %d, the same on each page", maxRows), strconv.Itoa(total))
		case got == 0:
			return nil, fmt.Errorf("%s: %w: %s", source, gputide.ErrEmpty, z.name)
		case got == total:
			return urls, nil
		case got > total || rows == 0:
			return nil, drift(source, "$", fmt.Sprintf("%d rows", total), strconv.Itoa(got))
		}
		whole = total
	}
}

// decode reads the body of a page.
func decode(source string, resp *fetch.Response, into any) error {
	d := fetch.NewDecoder(source, resp.Body)
	if err := d.Decode(into); err != nil {
		return err
	}
	return d.End()
}

// announced returns the number of rows of all pages of an instance list.
func announced(source string, resp *fetch.Response) (int, error) {
	text := resp.Header.Get("X-Total-Count")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, drift(source, "header X-Total-Count", "a number", text)
	}
	return n, nil
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
