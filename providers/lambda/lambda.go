// Package lambda reads the on-demand instances of Lambda: what each type costs,
// and, with a key, in which regions it can be had now.
//
// Source: https://cloud.lambda.ai/api/v1/instance-types (any account's key),
// documented at https://docs.lambda.ai/api/cloud; and, without a key, the page
// https://lambda.ai/pricing, section "Instances pricing". The API is the more
// authoritative: it feeds the prices where it answers, and the page where it
// does not. Both give an offer the same key, see types.csv.
//
// Markets: on_demand. Prices are USD and the same in every region: the API's in
// cents per instance and hour, the page's in dollars per card and hour. Taxes
// come on top, as the page says of its prices; the API says nothing of them and
// lists the same ones. Neither source states how often it changes.
//
// Known gaps: 1-Click Clusters, whose committed prices stand in a section of
// the page that no recording holds (its rows are counted and left out); and
// regions without stock, which the API does not name.
//
// Verified: 2026-08, against a recording of the page's section and a trimmed
// recording of the API's answer, which the facts test reads.
package lambda

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	sourceAPI  = "api"
	sourcePage = "page"

	apiURL  = "https://cloud.lambda.ai/api/v1/instance-types"
	pageURL = "https://lambda.ai/pricing"

	envKey = "GPUTIDE_LAMBDA_API_KEY"

	// maxCount bounds the cards of one instance: a larger number is a misread
	// field.
	maxCount = 128

	// billingIncrementS is what Lambda bills by (https://lambda.ai/pricing,
	// 2026-08): the minute.
	billingIncrementS = 60

	// bytesPerGiB and bytesPerGB turn the sizes of both sources into decimal GB.
	bytesPerGiB = 1 << 30
	bytesPerGB  = 1e9
)

// Provider crawls Lambda.
type Provider struct {
	http *fetch.Client
	key  string
}

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f. key is that of an account; without one the
// prices come from the page.
func New(f *fetch.Fetcher, key string) *Provider {
	p := &Provider{http: f.Client(info()), key: key}
	if key != "" {
		p.http.AddSecret(key)
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	return gputide.Info{
		Name:  "lambda",
		Title: "Lambda",
		Home:  pageURL,
		Sources: []gputide.Source{{
			ID:       sourceAPI,
			Title:    "Instance types with their prices, and the regions that have them",
			URL:      apiURL,
			Doc:      "https://docs.lambda.ai/api/cloud",
			Hosts:    []string{"cloud.lambda.ai"},
			Auth:     gputide.AuthKey,
			Env:      []string{envKey},
			Gives:    "availability by region, and prices under the API's own names",
			Prices:   true,
			MaxBytes: 4 << 20,
		}, {
			ID:       sourcePage,
			Title:    "Pricing page, section Instances pricing",
			URL:      pageURL,
			Doc:      pageURL,
			Hosts:    []string{"lambda.ai"},
			Auth:     gputide.AuthNone,
			Prices:   true,
			Page:     true,
			MaxBytes: 16 << 20,
		}},
		Markets:    []gputide.Market{gputide.OnDemand},
		Currencies: []gputide.Currency{"USD"},
		Cadence:    time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note:       "No 1-Click Clusters. Without a key no availability.",
	}
}

// scope is that of every price: Lambda has one price list for all regions.
func scope() gputide.Scope { return gputide.Scope{Market: gputide.OnDemand} }

// run is one crawl.
type run struct {
	*Provider
	b     *gputide.Batch
	table *names
	stock error // why the stock could not be read where the prices could
}

// Crawl reads the prices from the first source that answers.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	table, err := loadNames()
	if err != nil {
		return err
	}
	r := &run{Provider: p, b: b, table: table}
	var failed []error
	for _, s := range []struct {
		id   string
		read func(context.Context) error
	}{{sourceAPI, r.api}, {sourcePage, r.page}} {
		err := s.read(ctx)
		switch {
		case err == nil:
			return r.stock
		case errors.Is(err, gputide.ErrNeedsKey), errors.Is(err, gputide.ErrNotInFixture):
			b.Source(s.id, gputide.SourceSkipped, err)
		default:
			b.Fail(s.id, scope(), err)
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

func newKey(instanceType string) gputide.Key {
	return gputide.Key{
		InstanceType: instanceType, Market: gputide.OnDemand, Stat: gputide.StatList,
		Tax: gputide.TaxExcluded, Currency: "USD",
	}
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
