// Package tencent reads what Tencent Cloud charges for CVM instances, by the
// hour, as spot, and bought for whole periods, with the stock of each zone; with
// a key also reserved instances and the machines that HAI and TI-ONE rent.
//
// Source: API 3.0, POST https://cvm.tencentcloudapi.com/ (version 2017-03-12,
// TC3-HMAC-SHA256), documented at https://cloud.tencent.com/document/api/213;
// without a key the gateway behind the purchase page,
// https://workbench.cloud.tencent.com/cgi/, which answers the same and is not
// documented. The international site has an API of its own,
// https://cvm.intl.tencentcloudapi.com/, and a price book in USD: partition intl.
// A table of families with its source names the cards where an answer does not.
//
// Markets: on_demand in steps by the hours an instance runs (volume), spot,
// subscription of a month and of one, three and five years, commitment (reserved
// instances). Each amount of the list (stat list) stands beside what is paid of it
// (payable), which depends on the account; of spot the amount paid is the price,
// for the list beside it is that of on-demand. Amounts are CNY in partition cn, of
// the instance without disks and traffic, for an hour or a whole term. Errors come
// with status 200. Stock and prices are live; Tencent states no rhythm.
//
// Known gaps: Windows, whose prices differ outside mainland China; the gateway of
// the international site, whose currency is not known. Unverified: that prices of
// API 3.0, which names no system, are those of Linux, that amounts of reserved
// instances are CNY by the hour, that those of TI-ONE, hundredths of a yuan, are
// by the hour, as is asked for, the regions of TI-ONE and the bundles of HAI, which
// no answer lists.
//
// Verified: not yet live. The form is that of the documented examples of 2026-08
// and of public clients that read the gateway.
package tencent

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
	sourceCVM      = "cvm"
	sourceGateway  = "gateway"
	sourceIntl     = "cvm-intl"
	sourceFamilies = "families"

	apiURL  = "https://cvm.tencentcloudapi.com/"
	intlURL = "https://cvm.intl.tencentcloudapi.com/"

	docAPI   = "https://cloud.tencent.com/document/api/213/17378"
	docTypes = "https://cloud.tencent.com/document/product/560/19700"

	envID      = "GPUTIDE_TENCENT_SECRET_ID"
	envKey     = "GPUTIDE_TENCENT_SECRET_KEY"
	envIntlID  = "GPUTIDE_TENCENT_INTL_SECRET_ID"
	envIntlKey = "GPUTIDE_TENCENT_INTL_SECRET_KEY"

	versionCVM = "2017-03-12"

	// maxQuotas caps the answer for one region: some thousand rows of 1.5 kB each.
	maxQuotas = 64 << 20
)

// Config is what the provider is asked with. The zero value asks the gateway for
// every region.
type Config struct {
	SecretID, SecretKey         string           // of an account of the China site
	IntlSecretID, IntlSecretKey string           // of an account of the international site
	Regions                     []string         // region codes to read; empty is all
	Now                         func() time.Time // signs requests; nil is time.Now
}

// Provider crawls Tencent Cloud.
type Provider struct {
	http *fetch.Client
	cfg  Config
}

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f.
func New(f *fetch.Fetcher, cfg Config) *Provider {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Provider{http: f.Client(info()), cfg: cfg}
	for _, s := range []string{cfg.SecretKey, cfg.IntlSecretKey} {
		if s != "" {
			p.http.AddSecret(s)
		}
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	keys := []string{envID, envKey}
	return gputide.Info{
		Name:    "tencent",
		Title:   "Tencent Cloud CVM",
		TitleZH: "腾讯云",
		Home:    "https://buy.cloud.tencent.com/price/cvm",
		Sources: []gputide.Source{{
			ID: sourceCVM, Title: "Types, prices and stock of a region (API 3.0, China site)", URL: apiURL, Doc: docAPI,
			Hosts: []string{hostOf(apiURL)}, Auth: gputide.AuthKey, Env: keys, Prices: true, MaxBytes: maxQuotas,
			Gives: "the documented answer in place of the gateway's",
		}, {
			ID: sourceGateway, Title: "The same of a zone, from the gateway of the purchase page", URL: gatewayURL + "*",
			Doc: "https://buy.cloud.tencent.com/cvm", Hosts: []string{"workbench.cloud.tencent.com"}, Auth: gputide.AuthNone,
			Prices: true, MaxBytes: maxQuotas,
		}, {
			ID: sourceIntl, Title: "Types, prices and stock of a region (API 3.0, international site)", URL: intlURL,
			Doc: "https://www.tencentcloud.com/document/product/213/31575", Hosts: []string{hostOf(intlURL)}, Auth: gputide.AuthKey,
			Env: []string{envIntlID, envIntlKey}, Prices: true, MaxBytes: maxQuotas, Gives: "the price book in USD",
		}, {
			ID: sourceSpot, Title: "Spot prices alone (API 3.0), where neither answers", URL: apiURL, Doc: docAPI,
			Hosts: []string{hostOf(apiURL)}, Auth: gputide.AuthKey, Env: keys, Prices: true, MaxBytes: 16 << 20,
			Gives: "spot prices when the first two sources fail",
		}, {
			ID: sourceReserved, Title: "Reserved instances of a region (API 3.0)", URL: apiURL, Doc: docAPI,
			Hosts: []string{hostOf(apiURL)}, Auth: gputide.AuthKey, Env: keys, Prices: true, MaxBytes: 16 << 20,
			Gives: "commitments of one to five years",
		}, {
			ID: sourceTIONE, Title: "Machines of TI-ONE", URL: tioneURL, Doc: "https://cloud.tencent.com/document/api/851/75049",
			Hosts: []string{hostOf(tioneURL)}, Auth: gputide.AuthKey, Env: keys, Prices: true, MaxBytes: 16 << 20,
			Gives: "hourly prices of the machine learning platform",
		}, {
			ID: sourceHAI, Title: "Bundles of HAI", URL: haiURL, Doc: "https://cloud.tencent.com/document/api/1721/101612",
			Hosts: []string{hostOf(haiURL)}, Auth: gputide.AuthKey, Env: keys, Prices: true, MaxBytes: 16 << 20,
			Gives: "hourly prices of bundles, whose cards are not named",
		}, {
			ID: sourceTypes, Title: "Machines of a region, sold or not (API 3.0)", URL: apiURL, Doc: docAPI,
			Hosts: []string{hostOf(apiURL)}, Auth: gputide.AuthKey, Env: keys, MaxBytes: 16 << 20,
			Gives: "cards, vCPUs and memory of types that are not on sale",
		}, {
			ID: sourceFamilies, Title: "Accelerators of instance families", Doc: docTypes, Auth: gputide.AuthNone,
		}},
		Markets:    append(markets(), gputide.Commitment),
		Currencies: []gputide.Currency{"CNY", "USD"},
		Partitions: []string{"cn", "intl"},
		Cadence:    6 * time.Hour,
		Deadline:   time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note:       "No Windows prices. The price book in USD needs a key of the international site.",
	}
}

// markets are those that the rows of a region feed.
func markets() []gputide.Market {
	return []gputide.Market{gputide.OnDemand, gputide.Spot, gputide.Subscription}
}

// site is one of the two sites, with a price book of its own.
type site struct {
	partition string
	currency  gputide.Currency
	api       endpoint
	gateway   bool
}

func (p *Provider) sites() []site {
	return []site{{
		"cn", "CNY", endpoint{
			sourceCVM, "cvm", versionCVM, apiURL, secret{p.cfg.SecretID, p.cfg.SecretKey}, envID, envKey,
		}, true,
	}, {
		"intl", "USD", endpoint{
			sourceIntl, "cvm", versionCVM, intlURL, secret{p.cfg.IntlSecretID, p.cfg.IntlSecretKey}, envIntlID, envIntlKey,
		}, false,
	}}
}

// endpoint returns the CVM API of a site as another source.
func (s *site) endpoint(source string) endpoint {
	e := s.api
	e.source = source
	return e
}

// scopes returns what the rows of a region feed; with no region those of all.
func (s *site) scopes(region string) []gputide.Scope {
	var out []gputide.Scope
	for _, m := range markets() {
		out = append(out, gputide.Scope{Partition: s.partition, Region: region, Market: m})
	}
	return append(out, gputide.Scope{Partition: s.partition, Region: region, Signal: gputide.SignalAvailability})
}

// run is one crawl.
type run struct {
	*Provider
	b     *gputide.Batch
	table families
	zones *zoneList // of the gateway, once it was asked

	done   int
	failed []error
}

// Crawl reads every region of both sites. What fails of one touches no other.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	b.Source(sourceFamilies, gputide.SourceOK, nil)
	r := &run{Provider: p, b: b, table: table}
	for _, s := range p.sites() {
		r.site(ctx, &s)
	}
	r.others(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	switch {
	case len(r.failed) == 0:
		return nil
	case r.done == 0:
		return errors.Join(r.failed...)
	}
	return &gputide.PartialError{Done: r.done, Failed: r.failed}
}

// site reads the regions of one site.
func (r *run) site(ctx context.Context, s *site) {
	regions, err := r.regions(ctx, s)
	if err != nil {
		r.fail(s, err)
		return
	}
	for _, region := range regions {
		if ctx.Err() != nil || !r.wants(region) {
			continue
		}
		r.region(ctx, s, region)
		if s.gateway && ctx.Err() == nil { // the site with the sources beside the first
			r.count(r.reserved(ctx, s, region))
		}
	}
}

// others reads what is not rented as CVM.
func (r *run) others(ctx context.Context) {
	for _, region := range tioneRegions() {
		if ctx.Err() == nil && r.wants(region) {
			r.count(r.tione(ctx, region))
		}
	}
	if ctx.Err() == nil {
		for _, err := range r.hai(ctx) {
			r.count(err)
		}
	}
}

// count notes the outcome of a source for some scope.
func (r *run) count(err error) {
	switch {
	case err == nil:
		r.done++
	case !isAbsent(err):
		r.failed = append(r.failed, err)
	}
}

// wants reports whether a region is to be read.
func (p *Provider) wants(region string) bool {
	return len(p.cfg.Regions) == 0 || slices.Contains(p.cfg.Regions, region)
}

// region feeds the scopes of a region from the first source that answers.
func (r *run) region(ctx context.Context, s *site, region string) {
	var tried []error
	for _, source := range []struct {
		id   string
		read func(context.Context, *reader) ([]string, error)
	}{{s.api.source, r.quotas}, {sourceGateway, r.gatewayQuotas}} {
		if source.id == sourceGateway && !s.gateway {
			continue
		}
		rows := newReader(r.b, s, source.id, region, r.table)
		urls, err := source.read(ctx, rows)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = rows.take()
		}
		if err == nil {
			for _, scope := range s.scopes(region) {
				r.b.Done(source.id, scope, urls...)
			}
			r.count(nil)
			return
		}
		tried = append(tried, err)
		r.note(source.id, s.scopes(region), err)
	}
	for _, err := range tried {
		r.count(err)
	}
	if s.gateway {
		r.count(r.spotTypes(ctx, s, region))
	}
}

// isAbsent reports whether an error says that a source cannot be asked: that is
// no failure.
func isAbsent(err error) bool {
	return errors.Is(err, gputide.ErrNeedsKey) || errors.Is(err, gputide.ErrNotInFixture)
}

// note reports a source that could not be used for some scopes.
func (r *run) note(source string, scopes []gputide.Scope, err error) {
	if isAbsent(err) {
		r.b.Source(source, gputide.SourceSkipped, err)
		return
	}
	for _, s := range scopes {
		r.b.Fail(source, s, err)
	}
}

// fail reports a site whose regions are not known.
func (r *run) fail(s *site, err error) {
	if isAbsent(err) {
		return
	}
	source := s.api.source
	if s.gateway { // the last that was asked
		source = sourceGateway
	}
	for _, scope := range s.scopes("") {
		r.b.Report(gputide.ScopeRun{Scope: scope, Status: gputide.ScopeFailed, Source: source, Reason: err.Error()})
	}
	r.failed = append(r.failed, err)
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
