// Package volcengine reads what Volcengine charges for ECS instances: by the
// hour, the month and one to three years.
//
// Source: the tables behind the pricing page,
// https://www.volcengine.com/pricing?product=ECS&tab=2 (undocumented; their form is
// that of public clients): a template that describes instance types, and the
// prices of each type and region. The template is named by a code of the page.
// The tables name no cards: families.csv has those of the families that are known.
//
// Auth: none. Markets: on_demand and subscription. Amounts are CNY, which the rows
// do not print, of the whole instance: by the hour, and the total of a month or of
// 12, 24 or 36 months. No source says whether taxes are in an amount, or states a
// rhythm. A type that is listed need not be in stock.
//
// Known gaps: spot, the signed API (DescribeInstanceTypes, stock, official quotes),
// prices by the day, zones, the ML platform. Cards of families that are not in the
// table are not seen, and their types count as having none.
//
// Verified: nothing live. The form is that of a public client's test, whose two
// prices are realistic and no recording; no GPU price is known.
package volcengine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	sourceTemplate = "template"
	sourceTable    = "table"
	sourceFamilies = "families"

	// templateCode names the tables of ECS on the pricing page (2026-08).
	templateCode = "CLT7310571628986405164"

	page        = "https://www.volcengine.com/pricing?product=ECS&tab=2"
	address     = "https://www.volcengine.com/anonymous-api/trade/price"
	templateURL = address + "?Action=ListTemplate&Version=2020-01-01&TemplateCode=" + templateCode
	tableURL    = address + "?Action=GetTable&Version=2020-01-01"

	currency = "CNY"

	// maxBody caps a table: thousands of types in some regions.
	maxBody = 64 << 20
)

// Provider crawls Volcengine.
type Provider struct{ http *fetch.Client }

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f.
func New(f *fetch.Fetcher) *Provider { return &Provider{http: f.Client(info())} }

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	hosts := []string{"www.volcengine.com"}
	return gputide.Info{
		Name:    "volcengine",
		Title:   "Volcengine ECS",
		TitleZH: "火山引擎",
		Home:    page,
		Sources: []gputide.Source{{
			ID: sourceTemplate, Title: "Instance types of the pricing page", URL: templateURL, Doc: page, Hosts: hosts,
			Auth: gputide.AuthNone, MaxBytes: maxBody,
		}, {
			ID: sourceTable, Title: "Prices of the pricing page", URL: tableURL, Doc: page, Hosts: hosts,
			Auth: gputide.AuthNone, Prices: true, MaxBytes: maxBody,
		}, {
			ID: sourceFamilies, Title: "Accelerators of instance families", Doc: "https://www.volcengine.com/docs/6396/70840", Auth: gputide.AuthNone,
		}},
		Markets:    markets(),
		Currencies: []gputide.Currency{currency},
		Cadence:    24 * time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note: "Not verified live: built on the form that a public client reads, and no GPU price is known. Cards of the families gni2 and pni2 only; " +
			"no spot, stock or zones.",
	}
}

func markets() []gputide.Market { return []gputide.Market{gputide.OnDemand, gputide.Subscription} }

// ask returns a request with the headers of the page.
func ask(source, address string, body []byte) fetch.Request {
	h := map[string][]string{"Origin": {"https://www.volcengine.com"}, "Referer": {page}}
	if body != nil {
		h["Content-Type"] = []string{"application/json"}
	}
	return fetch.Request{Source: source, URL: address, Header: h, Body: body, Accept: "application/json"}
}

// Crawl reads what the template says of types, then the prices. Prices stand
// without the template.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	known, err := loadFamilies()
	if err != nil {
		return err
	}
	b.Source(sourceFamilies, gputide.SourceOK, nil)
	var failed []error
	err = p.template(ctx, b)
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.Is(err, gputide.ErrNotInFixture):
		b.Source(sourceTemplate, gputide.SourceSkipped, err)
	case err != nil:
		b.Source(sourceTemplate, gputide.SourceFailed, err)
		failed = append(failed, err)
	default:
		b.Source(sourceTemplate, gputide.SourceOK, nil)
	}
	url, err := p.table(ctx, b, known)
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.Is(err, gputide.ErrNotInFixture):
		b.Source(sourceTable, gputide.SourceSkipped, err)
		return errors.Join(failed...)
	case err != nil:
		for _, m := range markets() {
			b.Fail(sourceTable, gputide.Scope{Market: m}, err)
		}
		return errors.Join(append(failed, err)...)
	}
	for _, m := range markets() {
		b.Done(sourceTable, gputide.Scope{Market: m}, url)
	}
	if len(failed) > 0 {
		return &gputide.PartialError{Done: len(markets()), Failed: failed}
	}
	return nil
}

// metadata is the head of every answer; an error comes with status 200.
type metadata struct {
	Error *struct {
		Code    string
		Message string
	}
}

// check returns an error of ours for one of the answer: a request that is no
// longer understood is drift.
func (m *metadata) check(source string) error {
	if m.Error == nil {
		return nil
	}
	kind := gputide.ErrUnavailable
	switch code := m.Error.Code; {
	case strings.HasPrefix(code, "Invalid"), strings.HasPrefix(code, "Missing"), strings.Contains(code, "NotFound"):
		return drift(source, "$.ResponseMetadata.Error", "no refusal of the request", code+": "+m.Error.Message)
	case strings.Contains(code, "AccessDenied"), strings.Contains(code, "Signature"):
		kind = gputide.ErrAuth
	case strings.Contains(code, "LimitExceeded"):
		kind = gputide.ErrRateLimited
	}
	return fmt.Errorf("%s: %w: %.80s: %.200q", source, kind, m.Error.Code, m.Error.Message)
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
