// Package ovh reads what OVHcloud charges for the instances of its Public Cloud,
// by the hour and by the month.
//
// Source: the order catalogue, one for each subsidiary,
// https://eu.api.ovh.com/console/?section=%2Forder&branch=v1#get-/order/catalog/public/cloud,
// keyless. Read are those of Germany (EUR) and of the United States (USD); each is
// a price book of its own and so a partition.
//
// Markets: on_demand, per hour, and subscription, per month; neither is derived
// from the other. Amounts are whole hundred-millionths of the currency, per
// instance, without tax. The catalogue has one price everywhere, but for classes
// of deployment such as 3AZ and LZ.EU, which are the tier. No source states a
// rhythm.
//
// Known gaps: regions and stock (they need a signed account), savings plans, AI
// products billed per minute, other subsidiaries and their currencies.
//
// Verified: 2026-08-14, against a recorded excerpt of the German catalogue. That of
// the United States is known from a public client: its prices have no interval.
package ovh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const doc = "https://eu.api.ovh.com/console/?section=%2Forder&branch=v1#get-/order/catalog/public/cloud"

// book is the catalogue of a subsidiary.
type book struct {
	partition string
	source    string
	host      string
	query     string // the subsidiary as the API spells it
	currency  gputide.Currency
	title     string
}

func books() []book {
	return []book{
		{"de", "catalogue-de", "eu.api.ovh.com", "DE", "EUR", "Order catalogue of Germany"},
		{"us", "catalogue-us", "api.us.ovhcloud.com", "US", "USD", "Order catalogue of the United States"},
	}
}

func (k *book) url() string {
	return fmt.Sprintf("https://%s/v1/order/catalog/public/cloud?ovhSubsidiary=%s", k.host, k.query)
}

// Provider crawls OVHcloud.
type Provider struct{ http *fetch.Client }

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f.
func New(f *fetch.Fetcher) *Provider { return &Provider{http: f.Client(info())} }

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	i := gputide.Info{
		Name:     "ovh",
		Title:    "OVHcloud Public Cloud",
		Home:     "https://www.ovhcloud.com/en/public-cloud/prices/",
		Markets:  []gputide.Market{gputide.OnDemand, gputide.Subscription},
		Cadence:  24 * time.Hour,
		Evidence: gputide.EvidenceComposed,
		Note:     "Catalogues of Germany and the United States; no regions or stock, no savings plans, no AI products.",
	}
	for _, k := range books() {
		i.Sources = append(i.Sources, gputide.Source{
			ID: k.source, Title: k.title, URL: k.url(), Doc: doc, Hosts: []string{k.host},
			Auth: gputide.AuthNone, Prices: true, MaxBytes: 64 << 20, Timeout: 2 * time.Minute,
		})
		i.Currencies = append(i.Currencies, k.currency)
		i.Partitions = append(i.Partitions, k.partition)
	}
	return i
}

// Crawl reads one catalogue after the other. What fails of one touches no other.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	var failed []error
	done := 0
	for _, k := range books() {
		url, err := p.read(ctx, b, &k)
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case errors.Is(err, gputide.ErrNotInFixture):
			b.Source(k.source, gputide.SourceSkipped, err)
		case err != nil:
			b.Fail(k.source, k.scope(), err)
			failed = append(failed, err)
		default:
			b.Done(k.source, k.scope(), url)
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

func (k *book) scope() gputide.Scope { return gputide.Scope{Partition: k.partition} }

func (k *book) drift(path, want, got string) error {
	return &gputide.DriftError{Source: k.source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
