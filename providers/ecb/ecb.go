// Package ecb reads the euro foreign exchange reference rates of the European
// Central Bank. It sells nothing: it has no offers and no market, only the
// ability [gputide.RateCrawler].
//
// Source: https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml, and
// eurofxref-daily.xml beside it when that fails; keyless. The form is described at
// https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html.
// One euro is Amount units of the quoted currency, decimal text. Rates come
// about 16:00 CET on TARGET working days; weekends and holidays have none. The
// document of 90 days heals every gap shorter than that.
//
// Known gaps: days before the last 90; a currency not quoted on a day is absent.
// Reuse is free with the source named.
//
// Verified: not yet verified live; the form is that of a composed sample.
package ecb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	base = "https://www.ecb.europa.eu/stats/eurofxref/"
	doc  = "https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html"
)

// Provider crawls the reference rates.
type Provider struct{ http *fetch.Client }

var (
	_ gputide.Provider    = (*Provider)(nil)
	_ gputide.RateCrawler = (*Provider)(nil)
)

// New returns the provider on f.
func New(f *fetch.Fetcher) *Provider { return &Provider{http: f.Client(info())} }

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	source := func(id, title string) gputide.Source {
		return gputide.Source{
			ID: id, Title: title, URL: base + "eurofxref-" + id + ".xml", Doc: doc,
			Hosts: []string{"www.ecb.europa.eu"}, Auth: gputide.AuthNone, MaxBytes: 4 << 20,
		}
	}
	return gputide.Info{
		Name:  "ecb",
		Title: "European Central Bank",
		Home:  doc,
		Sources: []gputide.Source{
			source("hist-90d", "Reference rates of the last 90 days"),
			source("daily", "Reference rates of the latest day"),
		},
		Currencies: []gputide.Currency{"EUR"},
		Cadence:    24 * time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note:       "Exchange rates only. Days before the last 90 come from an import.",
	}
}

// Crawl adds nothing and returns nil: there are no offers.
func (*Provider) Crawl(context.Context, *gputide.Batch) error { return nil }

// CrawlRates adds the rates of the last 90 days, or of the latest day when the
// longer document cannot be read. A rate that is no price or dated after the
// moment observed is skipped.
func (p *Provider) CrawlRates(ctx context.Context, b *gputide.Batch) error {
	var failed []error
	for _, s := range info().Sources {
		err := p.crawl(ctx, b, s)
		switch {
		case err == nil:
			b.Source(s.ID, gputide.SourceOK, nil)
			return nil
		case errors.Is(err, gputide.ErrNotInFixture):
			b.Source(s.ID, gputide.SourceSkipped, err)
		default:
			b.Source(s.ID, gputide.SourceFailed, err)
		}
		failed = append(failed, fmt.Errorf("exchange rates: %w", err))
	}
	return errors.Join(failed...)
}

func (p *Provider) crawl(ctx context.Context, b *gputide.Batch, s gputide.Source) error {
	res, err := p.http.Do(ctx, fetch.Request{Source: s.ID, URL: s.URL})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	doc, err := decode(s.ID, res.Body)
	if err != nil {
		return err
	}
	rates, err := doc.rates(b, s.ID)
	if err != nil {
		return err
	}
	for _, r := range rates {
		b.Rate(r)
	}
	return nil
}

// rates returns the rates of doc; a row that is none is counted in b. Two rates
// of one day and currency that differ, or no rate at all, are drift.
func (doc *envelope) rates(b *gputide.Batch, source string) ([]gputide.Rate, error) {
	var rates []gputide.Rate
	skip := func(reason, detail string) { b.SkipUnknown(source, gputide.Scope{}, reason, detail) }
	seen := make(map[string]string)
	for _, d := range doc.Days {
		date, err := time.Parse(time.DateOnly, d.Date)
		if err != nil || date.After(b.At()) {
			skip("bad_date", d.Date)
			continue
		}
		for _, r := range d.Rates {
			id := d.Date + " " + r.Currency
			amount, err := gputide.ParseAmount(r.Amount)
			switch {
			case r.Amount == "N/A":
				b.Omit(source, "not_quoted", 1)
			case !gputide.Currency(r.Currency).Valid():
				skip("bad_currency", r.Currency)
			case err != nil || amount.Sign() <= 0:
				skip("no_price", id+" "+r.Amount)
			case seen[id] != "" && seen[id] != r.Amount:
				return nil, drift(source, id, "one rate", seen[id]+" and "+r.Amount)
			case seen[id] == "":
				seen[id] = r.Amount
				rates = append(rates, gputide.Rate{
					Date: date, Base: "EUR", Quote: gputide.Currency(r.Currency), Amount: r.Amount, Source: source,
				})
			}
		}
	}
	if len(rates) == 0 {
		return nil, drift(source, "Cube[@time]/Cube", "@currency and @rate in some row", "none")
	}
	return rates, nil
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: got}
}
