// Package huawei reads what Huawei Cloud charges for ECS flavors and ModelArts
// notebooks: on demand, by the month and year, and as reserved instances.
//
// Source: the node service behind the price calculator,
// https://www.huaweicloud.com/pricing/calculator.html (undocumented; its form is
// that of public clients), for the China and the international site. With a key
// and a project of the China site: the ECS flavors
// (https://support.huaweicloud.com/api-ecs/zh-cn_topic_0020212656.html), the
// ModelArts flavors (https://support.huaweicloud.com/api-modelarts/ListFlavors.html)
// of the project's region, and the ratings of BSS
// (https://support.huaweicloud.com/api-oce/bss_api_00050.html), which price
// ModelArts, and ECS where the calculator does not answer.
//
// Auth: none for the calculator; SDK-HMAC-SHA256
// (https://support.huaweicloud.com/devg-apisign/api-sign-algorithm.html) for the
// others. Markets: on_demand, subscription and commitment. Amounts are CNY on the
// China site and USD on the international one, of the whole instance without
// disks: by the hour, by the month or year in advance, of a reserved instance
// upfront and by the month. The calculator does not print its currency; BSS does.
// No source says whether taxes are in an amount, or states a rhythm. The price
// of a ModelArts flavor is that of one billing unit times its units.
//
// The calculator is read strictly: a mode, unit or text of unknown form is drift,
// and nothing of the region is stored. Of two rows of one flavor and term the
// lower amount holds, as on the page.
//
// Known gaps: terms of several months or years, whose amounts no source explains,
// spot, disks, ModelArts in the calculator and by the month or year, BSS of the
// international site.
//
// Verified: nothing live. The ratings, flavors and a reserved instance are as
// documented or tested by public clients; no GPU price is in any recording.
package huawei

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
	sourceFlavors    = "ecs-flavors"
	sourceModelArts  = "modelarts-flavors"
	sourceMenu       = "calculator-menu"
	sourceCalculator = "calculator"
	sourceMenuIntl   = "calculator-intl-menu"
	sourceIntl       = "calculator-intl"
	sourceOnDemand   = "ratings"
	sourcePeriod     = "ratings-period"

	envAccessKey = "GPUTIDE_HUAWEI_ACCESS_KEY"
	envSecretKey = "GPUTIDE_HUAWEI_SECRET_KEY"
	envProject   = "GPUTIDE_HUAWEI_PROJECT_ID"
	envRegion    = "GPUTIDE_HUAWEI_REGION"

	// The parts of a region that are read by themselves.
	partECS       = "ecs"
	partModelArts = "modelarts"

	portal            = "portal.huaweicloud.com"
	portalIntl        = "portal-intl.huaweicloud.com"
	docCalculator     = "https://www.huaweicloud.com/pricing/calculator.html"
	docCalculatorIntl = "https://www.huaweicloud.com/intl/en-us/pricing/calculator.html"

	// maxProductInfo caps the answer for one region: thousands of rows with their
	// plans, some tens of MB.
	maxProductInfo = 128 << 20
	timeout        = 3 * time.Minute

	domain  = ".myhuaweicloud.com"
	bssHost = "bss" + domain

	// maxCards bounds the cards of one flavor: a larger number is a misread field.
	maxCards = 64
)

// Config is what the provider is asked with. The zero value asks the calculator
// for every region.
type Config struct {
	AccessKey, SecretKey string           // of an account of the China site
	ProjectID, Region    string           // a project and the region it is in
	Regions              []string         // region codes to read; empty is all
	Now                  func() time.Time // signs requests; nil is time.Now
}

// Provider crawls Huawei Cloud.
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
	if p.http.Replaying() && cfg.Region == "" {
		p.cfg.ProjectID, p.cfg.Region = "replay", "cn-north-4"
	}
	if cfg.SecretKey != "" {
		p.http.AddSecret(cfg.SecretKey)
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	keys := []string{envAccessKey, envSecretKey, envProject, envRegion}
	return gputide.Info{
		Name:    "huawei",
		Title:   "Huawei Cloud ECS and ModelArts",
		TitleZH: "华为云",
		Home:    docCalculator,
		Sources: []gputide.Source{{
			ID: sourceMenu, Title: "Regions of the price calculator, China site", URL: calculatorURL(portal, "menuInfo"),
			Doc: docCalculator, Hosts: []string{portal}, Auth: gputide.AuthNone, MaxBytes: 16 << 20,
		}, {
			ID: sourceCalculator, Title: "ECS prices of a region, China site", URL: calculatorURL(portal, "productInfo"),
			Doc: docCalculator, Hosts: []string{portal}, Auth: gputide.AuthNone, Prices: true, MaxBytes: maxProductInfo, Timeout: timeout,
		}, {
			ID: sourceMenuIntl, Title: "Regions of the price calculator, international site", URL: calculatorURL(portalIntl, "menuInfo"),
			Doc: docCalculatorIntl, Hosts: []string{portalIntl}, Auth: gputide.AuthNone, MaxBytes: 16 << 20,
		}, {
			ID: sourceIntl, Title: "ECS prices of a region, international site", URL: calculatorURL(portalIntl, "productInfo"),
			Doc: docCalculatorIntl, Hosts: []string{portalIntl}, Auth: gputide.AuthNone, Prices: true, MaxBytes: maxProductInfo, Timeout: timeout,
		}, {
			ID: sourceFlavors, Title: "ECS flavors of a region", URL: flavorsURL("*", "*"),
			Doc:   "https://support.huaweicloud.com/api-ecs/zh-cn_topic_0020212656.html",
			Hosts: []string{domain}, Auth: gputide.AuthKey, Env: keys, MaxBytes: 32 << 20,
			Gives: "what is on sale in each zone of one region",
		}, {
			ID: sourceModelArts, Title: "ModelArts notebook flavors of a region", URL: modelArtsURL("*", "*"),
			Doc:   "https://support.huaweicloud.com/api-modelarts/ListFlavors.html",
			Hosts: []string{domain}, Auth: gputide.AuthKey, Env: keys, MaxBytes: 8 << 20,
			Gives: "Ascend and GPU notebooks of one region, and whether they are sold out",
		}, {
			ID: sourceOnDemand, Title: "BSS ratings on demand", URL: onDemandURL,
			Doc:   "https://support.huaweicloud.com/api-oce/bss_api_00050.html",
			Hosts: []string{bssHost}, Auth: gputide.AuthKey, Env: keys, Prices: true, MaxBytes: 8 << 20,
			Gives: "prices of ModelArts in one region, and of ECS where the calculator does not answer",
		}, {
			ID: sourcePeriod, Title: "BSS ratings of a month and a year", URL: periodURL,
			Doc:   "https://support.huaweicloud.com/api-oce/bss_api_00051.html",
			Hosts: []string{bssHost}, Auth: gputide.AuthKey, Env: keys, Prices: true, MaxBytes: 8 << 20,
			Gives: "subscriptions of ECS in one region where the calculator does not answer",
		}},
		Markets:    markets(),
		Currencies: []gputide.Currency{"CNY", "USD"},
		Partitions: []string{"cn", "intl"},
		Cadence:    24 * time.Hour,
		Deadline:   time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note: "Not verified live: the form is that of documentation and public clients, and no GPU price is in any recording. " +
			"No spot, no disks, no terms of several months or years; ModelArts on demand only.",
	}
}

func markets() []gputide.Market {
	return []gputide.Market{gputide.OnDemand, gputide.Subscription, gputide.Commitment}
}

// site is one of the two sites, with a price book of its own.
type site struct {
	partition string
	currency  gputide.Currency
	menu      string // source of the regions
	source    string // source of the prices of a region
	host      string // of the calculator
	language  string
	page      string
}

func sites() []site {
	return []site{
		{"cn", "CNY", sourceMenu, sourceCalculator, portal, "zh-cn", docCalculator},
		{"intl", "USD", sourceMenuIntl, sourceIntl, portalIntl, "en-us", docCalculatorIntl},
	}
}

// china is the site of keys, projects and ratings.
func china() site { return sites()[0] }

func (s *site) scope(region, part string, m gputide.Market) gputide.Scope {
	return gputide.Scope{Partition: s.partition, Region: region, Part: part, Market: m}
}

// run is one crawl.
type run struct {
	*Provider
	b       *gputide.Batch
	flavors []string // of ECS in the region of the key

	done   int
	failed []error
}

// Crawl reads the region of the key, then every region of both calculators. What
// fails of one touches no other.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	r := &run{Provider: p, b: b}
	r.keyed(ctx)
	for _, s := range sites() {
		if ctx.Err() == nil {
			r.site(ctx, &s)
		}
	}
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

// wants reports whether a region is to be read.
func (p *Provider) wants(region string) bool {
	return len(p.cfg.Regions) == 0 || slices.Contains(p.cfg.Regions, region)
}

// site reads the regions of one site.
func (r *run) site(ctx context.Context, s *site) {
	regions, err := r.regions(ctx, s)
	if err != nil {
		r.fail(s.menu, err)
		if !isAbsent(err) {
			r.failScopes(s.source, s, "", err)
		}
		if s.partition == china().partition && r.wants(r.cfg.Region) {
			r.rateECS(ctx)
		}
		return
	}
	for _, region := range regions {
		if ctx.Err() == nil && r.wants(region) {
			r.region(ctx, s, region)
		}
	}
}

// region feeds the ECS offers of a region from the calculator, else from ratings.
func (r *run) region(ctx context.Context, s *site, region string) {
	url, err := r.calculator(ctx, s, region)
	if err == nil {
		for _, m := range markets() {
			r.b.Done(s.source, s.scope(region, partECS, m), url)
		}
		r.done++
		return
	}
	if ctx.Err() != nil {
		return
	}
	r.fail(s.source, err)
	if !isAbsent(err) {
		r.failScopes(s.source, s, region, err)
	}
	if s.partition == china().partition && region == r.cfg.Region {
		r.rateECS(ctx)
	}
}

// failScopes marks the ECS offers of a region as not read; of every region where
// it is empty.
func (r *run) failScopes(source string, s *site, region string, err error) {
	for _, m := range markets() {
		r.b.Report(gputide.ScopeRun{
			Scope: s.scope(region, partECS, m), Status: gputide.ScopeFailed, Source: source, Reason: err.Error(),
		})
	}
}

// fail reports a source that could not be used. What cannot be asked, for lack
// of a key or of a fixture, is no failure.
func (r *run) fail(source string, err error) {
	if isAbsent(err) {
		r.b.Source(source, gputide.SourceSkipped, err)
		return
	}
	r.b.Source(source, gputide.SourceFailed, err)
	r.failed = append(r.failed, err)
}

func isAbsent(err error) bool {
	return errors.Is(err, gputide.ErrNeedsKey) || errors.Is(err, gputide.ErrNotInFixture)
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
