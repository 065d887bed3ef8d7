// Package oci reads what Oracle Cloud Infrastructure charges for compute
// shapes, on demand and preemptible.
//
// Source: the files behind the cost estimator,
// https://www.oracle.com/a/ocom/docs/cloudestimator2/data/shapes.json and
// products.json beside it (undocumented); below them the price list API,
// https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/, documented at
// https://docs.oracle.com/en-us/iaas/Content/Billing/Tasks/signingup_topic-Estimating_Costs.htm.
// The API names parts and no shapes; shapes.csv says which part a shape is
// billed by. With an API signing key, ListShapes of the Compute API adds local
// disks, network and RDMA, and what the files leave open.
//
// Auth: none for prices; https://docs.oracle.com/en-us/iaas/Content/API/Concepts/signingrequests.htm
// for ListShapes. Markets: on_demand and spot. Amounts are USD, one list price
// for every commercial region: of a GPU shape per GPU and hour, with CPU, memory
// and local disk included; of any other shape the sum of its OCPUs, memory and
// disk. Spot is preemptible capacity, for which no amount is published: it costs
// half of the on-demand price by rule
// (https://docs.oracle.com/en-us/iaas/Content/Compute/Concepts/preemptible.htm),
// for the shapes that allow it. Such a price is recorded as the published amount
// with a quantity of a half. No source states a rhythm.
//
// Known gaps: currencies other than USD, government and sovereign regions,
// flexible shapes (no size, no price), negotiated commitments, VMware, Roving
// Edge and Compute Cloud@Customer; parts without a public shape (GPU - E4, H100T)
// are counted and left out. No source says what is in stock: ListShapes names
// what a tenancy may ask for.
//
// Verified: 2026-10-01, against excerpts of the estimator's files of September
// 2026, a price list of October 2026 and a whole one of January 2024, and two
// shapes of ListShapes, whose path and paging are from its documentation.
package oci

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	sourceShapes   = "estimator-shapes"
	sourceProducts = "estimator-products"
	sourceList     = "price-list"
	sourceTable    = "shapes"

	estimator   = "https://www.oracle.com/a/ocom/docs/cloudestimator2/data/"
	shapesURL   = estimator + "shapes.json"
	productsURL = estimator + "products.json"
	listURL     = "https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/?currencyCode=" + currency

	currency = "USD"

	// maxGPUs bounds the cards of one shape: a larger number is a misread field.
	maxGPUs = 128
)

// Provider crawls OCI.
type Provider struct {
	http *fetch.Client
	cfg  Config
}

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f. Without a key in cfg the Compute API is not
// asked.
func New(f *fetch.Fetcher, cfg Config) *Provider {
	p := &Provider{http: f.Client(info()), cfg: cfg}
	if cfg.PrivateKey != "" {
		p.http.AddSecret(cfg.PrivateKey)
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	return gputide.Info{
		Name:  "oci",
		Title: "Oracle Cloud Infrastructure Compute",
		Home:  "https://www.oracle.com/cloud/price-list/",
		Sources: []gputide.Source{{
			ID: sourceShapes, Title: "Shapes of the cost estimator", URL: shapesURL, Doc: "https://www.oracle.com/cloud/costestimator.html",
			Hosts: []string{"www.oracle.com"}, Auth: gputide.AuthNone, MaxBytes: 16 << 20,
		}, {
			ID: sourceProducts, Title: "Prices of the cost estimator", URL: productsURL, Doc: "https://www.oracle.com/cloud/costestimator.html",
			Hosts: []string{"www.oracle.com"}, Auth: gputide.AuthNone, Prices: true, MaxBytes: 64 << 20,
		}, {
			ID: sourceList, Title: "Price list API, GPU shapes only", URL: listURL,
			Doc:   "https://docs.oracle.com/en-us/iaas/Content/Billing/Tasks/signingup_topic-Estimating_Costs.htm",
			Hosts: []string{"apexapps.oracle.com"}, Auth: gputide.AuthNone, Prices: true, MaxBytes: 16 << 20,
		}, {
			ID: sourceCompute, Title: "ListShapes of the Compute API", URL: "https://" + fmt.Sprintf(computeHost, "*") + computePath,
			Doc:   "https://docs.oracle.com/en-us/iaas/api/#/en/iaas/latest/Shape/ListShapes",
			Hosts: []string{".oraclecloud.com"}, Auth: gputide.AuthKey, Env: envs(), MaxBytes: 16 << 20,
			Gives: "local disks, network and RDMA of the shapes a tenancy may ask for",
		}, {
			ID: sourceTable, Title: "GPU shapes and the parts they are billed by",
			Doc: "https://docs.oracle.com/en-us/iaas/Content/Compute/References/computeshapes.htm", Auth: gputide.AuthNone,
		}},
		Markets:    markets(),
		Currencies: []gputide.Currency{currency},
		Cadence:    24 * time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note: "No currency but USD, no flexible shapes, no stock. A preemptible price is half of the published on-demand price, " +
			"as Oracle's rule says; no amount is published for it.",
	}
}

func markets() []gputide.Market { return []gputide.Market{gputide.OnDemand, gputide.Spot} }

// run is one crawl.
type run struct {
	*Provider
	b     *gputide.Batch
	table *table
}

// Crawl reads the prices from the first source that answers.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	t, err := loadTable()
	if err != nil {
		return err
	}
	b.Source(sourceTable, gputide.SourceOK, nil)
	r := &run{Provider: p, b: b, table: t}
	var failed []error
	for _, s := range []struct {
		id   string
		read func(context.Context) (urls []string, err error)
	}{{sourceProducts, r.estimator}, {sourceList, r.list}} {
		urls, err := s.read(ctx)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err == nil {
			for _, m := range markets() {
				b.Done(s.id, gputide.Scope{Market: m}, urls...)
			}
			return nil
		}
		r.fail(s.id, err)
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// fail reports a source of prices that could not be used. What a fixture lacks
// is no failure. The source to blame may be one it needs.
func (r *run) fail(source string, err error) {
	blamed := source
	if e, ok := errors.AsType[*sourceError](err); ok {
		blamed = e.source
	}
	if errors.Is(err, gputide.ErrNotInFixture) {
		r.b.Source(blamed, gputide.SourceSkipped, err)
		return
	}
	r.b.Source(blamed, gputide.SourceFailed, err)
	for _, m := range markets() {
		r.b.Report(gputide.ScopeRun{Scope: gputide.Scope{Market: m}, Status: gputide.ScopeFailed, Source: source, Reason: err.Error()})
	}
}

// sourceError says which source an error is of.
type sourceError struct {
	source string
	err    error
}

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// skipUnknown counts a row that may be of any offer.
func (r *run) skipUnknown(source, reason, detail string) {
	for _, m := range markets() {
		r.b.SkipUnknown(source, gputide.Scope{Market: m}, reason, detail)
	}
}

func newKey(shape string, m gputide.Market) gputide.Key {
	return gputide.Key{InstanceType: shape, Market: m, Stat: gputide.StatList, Currency: currency}
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
