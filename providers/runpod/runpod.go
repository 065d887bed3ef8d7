// Package runpod reads the GPU pods of RunPod: secure cloud (data centres) and
// community cloud (hosts), on demand and spot, and the stock of both.
//
// Source: https://api.runpod.io/graphql (POST, keyless), documented at
// https://graphql-spec.runpod.io; prices also at https://www.runpod.io/pricing.
// Markets: on_demand and spot; the cloud is the tier. Prices are USD per card
// and hour, the same in every data centre, and one offer stands for each count
// of cards up to the published maximum. The source is live; it states no
// rhythm.
//
// Known gaps: savings plans (their fields are in no recording), serverless and
// clusters, CPU pods (no accelerator), the stock of the community cloud (asking
// for it answers null even where there is some). The REST API v2 is known from
// its documentation only and not used.
//
// Verified: not yet live with this query. Its fields, but for the maxima per
// cloud and the stock of more than one card, are those of an answer recorded in
// August 2026, which the facts test reads.
package runpod

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	source   = "gpu-types"
	endpoint = "https://api.runpod.io/graphql"

	secure    = "secure"
	community = "community"

	// maxCount bounds the cards of one pod: a larger number is a misread field.
	maxCount = 32
)

// Provider crawls RunPod.
type Provider struct{ http *fetch.Client }

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f.
func New(f *fetch.Fetcher) *Provider { return &Provider{http: f.Client(info())} }

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	return gputide.Info{
		Name:  "runpod",
		Title: "RunPod",
		Home:  "https://www.runpod.io/pricing",
		Sources: []gputide.Source{{
			ID:       source,
			Title:    "GPU types with their prices, and stock per data centre",
			URL:      endpoint,
			Doc:      "https://graphql-spec.runpod.io",
			Hosts:    []string{"api.runpod.io"},
			Auth:     gputide.AuthNone,
			Prices:   true,
			MaxBytes: 8 << 20,
		}},
		Markets:    []gputide.Market{gputide.OnDemand, gputide.Spot},
		Currencies: []gputide.Currency{"USD"},
		Cadence:    time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note: "No savings plans, serverless, clusters or CPU pods. Stock is that of the secure cloud; " +
			"that of the community cloud is not published.",
	}
}

// Crawl reads every pod offer and the stock of secure pods in one request.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	url, r, err := p.read(ctx)
	if err == nil {
		err = addTypes(b, r.Data.GPUTypes)
	}
	stockErr := err
	switch {
	case err != nil:
	case len(r.Errors) > 0: // in some field: a price it took is null and skipped, but a null stock would read as none
		stockErr = refusal(r.Errors[0])
	default:
		stockErr = addDataCenters(b, r.Data.DataCenters)
	}
	for _, m := range info().Markets {
		end(b, gputide.Scope{Market: m}, url, err)
	}
	end(b, stockScope(), url, stockErr)
	if err != nil {
		b.Source(source, gputide.SourceFailed, err)
		return err
	}
	return stockErr
}

// end closes one scope. It does not fail the source: the stock may be missing
// where the prices are well.
func end(b *gputide.Batch, s gputide.Scope, url string, err error) {
	if err != nil {
		b.Report(gputide.ScopeRun{Scope: s, Status: gputide.ScopeFailed, Source: source, Reason: err.Error()})
		return
	}
	b.Done(source, s, url)
}

func (p *Provider) read(ctx context.Context) (url string, r reply, err error) {
	body, err := json.Marshal(map[string]string{"query": query()})
	if err != nil {
		return "", r, fmt.Errorf("query: %w", err)
	}
	url, err = p.http.JSON(ctx, fetch.Request{
		Source: source,
		URL:    endpoint,
		Header: map[string][]string{"Content-Type": {"application/json"}},
		Body:   body,
	}, &r)
	if errors.Is(err, gputide.ErrInvalid) { // the query was fine before
		return "", r, &gputide.DriftError{Source: source, Path: "query", Want: "it taken", Got: "it refused", Err: err}
	}
	if err != nil {
		return "", r, err
	}
	switch {
	case r.Data != nil && r.Data.GPUTypes != nil:
		return url, r, nil
	case len(r.Errors) > 0:
		return "", r, refusal(r.Errors[0])
	}
	return "", r, drift("data.gpuTypes", "a list", "none")
}

// refusal turns an error inside an answer of status 200 into one of ours: a
// field the schema no longer has is drift, the rest is an outage.
func refusal(e replyError) error {
	if strings.HasPrefix(e.Extensions.Code, "GRAPHQL_") || strings.HasPrefix(e.Message, "Cannot query field") {
		return drift("errors[0]", "no refusal of the query", e.Message)
	}
	kind := gputide.ErrUnavailable
	if e.Extensions.Code == "UNAUTHENTICATED" || e.Extensions.Code == "FORBIDDEN" {
		kind = gputide.ErrAuth
	}
	return fmt.Errorf("%s: %w: %.200q", source, kind, e.Message)
}

func drift(path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}

// addTypes adds the offers of every row.
func addTypes(b *gputide.Batch, rows []json.RawMessage) error {
	if len(rows) == 0 {
		return fmt.Errorf("%s: %w: gpuTypes", source, gputide.ErrEmpty)
	}
	if err := lost(rows); err != nil {
		return err
	}
	read := 0
	for _, row := range rows {
		if addType(b, row) {
			read++
		}
	}
	if read == 0 {
		return drift("data.gpuTypes[]", "rows of the known form", fmt.Sprintf("none of %d", len(rows)))
	}
	return nil
}
