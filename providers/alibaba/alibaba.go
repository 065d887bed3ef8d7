// Package alibaba reads what Alibaba Cloud charges for ECS instances: by the
// hour, bought for a month or for one to five years, and at spot prices with
// their last 30 days; which types there are, where they can be had, and how
// often spot instances are interrupted.
//
// Source: the static price lists behind the pricing pages,
// https://g.alicdn.com/aliyun/ecs-price-info/<version>/price/download/instancePrice.json
// (China site, CNY) and the same under ecs-price-info-intl (international site,
// USD). Their version is read from https://www.aliyun.com/price/ecs/ecs-pricing/zh
// and https://www.alibabacloud.com/en/product/ecs/pricing. The ECS API of
// 2014-05-26 in each region, at https://ecs.<region>.aliyuncs.com:
// DescribeInstanceTypes, DescribeAvailableResource, DescribeSpotPriceHistory,
// DescribeSpotAdvice, DescribePrice, and DescribeRegions that leads to them.
//
// Auth: none for the lists, which a table of families completes; the API needs
// any account's key (signature version 1). An account belongs to one of the two
// sites, which the currency of its answers tells; stock and advice name none and
// hold for both.
//
// Markets: on_demand and subscription, Linux and Windows, and spot, Linux only.
// Amounts are CNY in partition cn and USD in intl, for an instance and an hour,
// or for the whole period bought. Those of the lists are of the instance alone,
// without disk or bandwidth; those of DescribePrice too where it tells the parts
// apart, else with a system disk of 40 GiB. They say nothing of taxes. Old
// versions of a list stay where they are, with old prices: the run notes the
// version and the date of the list, and when it is old.
//
// DescribePrice is asked for types that are in stock and not in the list only,
// as a part of its own; what the account would pay stands beside the list price
// as payable. Spot prices are stated hourly, changed or not: each is an event, and
// the newest of the last three hours is in force.
//
// Known gaps: spot prices of Windows; stock of subscriptions; classic networks
// and instances that are not I/O optimized; PAI, which sells the same types as
// another product.
//
// Unverified: the codes with which DescribePrice and DescribeSpotPriceHistory
// refuse a type that is not sold; that the bands of interruptions beside "0-3%"
// are written like it; the system disk asked for.
//
// Verified: not yet live. The form of the list is that of two entries of an
// international list of 2018 and of the public clients that read it in 2024;
// figures are those of tables derived from the China list in 2024. The form of
// the API is documented; its instance types are also recorded, in 2017.
package alibaba

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	listHost  = "g.alicdn.com"
	listFile  = "/price/download/instancePrice.json"
	pageCN    = "https://www.aliyun.com/price/ecs/ecs-pricing/zh"
	pageIntl  = "https://www.alibabacloud.com/en/product/ecs/pricing"
	docFamily = "https://www.alibabacloud.com/help/en/ecs/user-guide/overview-of-instance-families"

	sourceFamilies = "families"

	// maxList caps a price list: that of the China site has some tens of MB.
	maxList = 512 << 20

	// staleAfter is the age from which a list is noted as old. Alibaba states no
	// rhythm; from 2018 to 2026 it published some 400 versions.
	staleAfter = 60 * 24 * time.Hour
)

// site is one of the two sites, with a price book of its own.
type site struct {
	partition string
	currency  gputide.Currency
	folder    string // of the lists
	list      string // source of the prices
	page      string // source of the version
	pageHost  string
	pageURL   string
}

func sites() []site {
	return []site{
		{"cn", "CNY", "ecs-price-info", "list-cn", "page-cn", "www.aliyun.com", pageCN},
		{"intl", "USD", "ecs-price-info-intl", "list-intl", "page-intl", "www.alibabacloud.com", pageIntl},
	}
}

// url returns the address of the list of a version.
func (s *site) url(version string) string {
	return "https://" + listHost + "/aliyun/" + s.folder + "/" + version + listFile
}

func (s *site) scope(m gputide.Market) gputide.Scope {
	return gputide.Scope{Partition: s.partition, Market: m}
}

// listMarkets are the markets of the price lists, and of quotes.
func listMarkets() []gputide.Market {
	return []gputide.Market{gputide.OnDemand, gputide.Subscription}
}

// Config says whose key is used and what is read. The zero value reads
// everything that needs no key.
type Config struct {
	AccessKeyID     string
	AccessKeySecret string

	// Regions limits what ECS is asked to these region codes; empty is every
	// region. The lists are read whole.
	Regions []string

	Now func() time.Time // the clock of signatures; nil is time.Now
}

// Provider crawls Alibaba Cloud.
type Provider struct {
	http      *fetch.Client
	redact    *fetch.Redactor
	cfg       Config
	described described
}

var (
	_ gputide.Provider    = (*Provider)(nil)
	_ gputide.SpecCrawler = (*Provider)(nil)
)

// New returns the provider on f.
func New(f *fetch.Fetcher, cfg Config) *Provider {
	p := &Provider{http: f.Client(info()), redact: f.Redactor(), cfg: cfg}
	if p.cfg.Now == nil {
		p.cfg.Now = time.Now
	}
	for _, secret := range []string{cfg.AccessKeySecret, cfg.AccessKeyID} {
		if secret != "" {
			p.http.AddSecret(secret)
		}
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	i := gputide.Info{
		Name:     "alibaba",
		Title:    "Alibaba Cloud ECS",
		TitleZH:  "阿里云",
		Home:     pageIntl,
		Sources:  sources(),
		Markets:  append(listMarkets(), gputide.Spot),
		Cadence:  24 * time.Hour,
		Paces:    []gputide.Pace{{Market: gputide.Spot, Cadence: time.Hour}},
		Deadline: 3 * time.Hour,
		Evidence: gputide.EvidenceComposed,
		Note: "Spot prices of Linux only. Prices of the lists are of the instance alone, without disk and bandwidth. " +
			"One account sees the spot prices of one site.",
	}
	for _, s := range sites() {
		i.Partitions = append(i.Partitions, s.partition)
		i.Currencies = append(i.Currencies, s.currency)
	}
	return i
}

// sources lists the sources in their order of authority: of instance types, of
// prices, and what leads to prices or stands beside them.
func sources() []gputide.Source {
	out := []gputide.Source{rpcSource(
		sourceTypes, "DescribeInstanceTypes", "instance types with their accelerators, vCPUs and memory as ECS reports them", false,
	)}
	for _, s := range sites() {
		out = append(out, gputide.Source{
			ID: s.list, Title: "Price list, " + string(s.currency), URL: s.url("*"), Doc: s.pageURL, Hosts: []string{listHost},
			Auth: gputide.AuthNone, Prices: true, MaxBytes: maxList, Timeout: 20 * time.Minute,
		})
	}
	out = append(
		out,
		rpcSource(sourcePrice, "DescribePrice", "prices of types that the lists lack", true),
		rpcSource(sourceSpot, "DescribeSpotPriceHistory", "spot prices of each zone, with their last 30 days", true),
		gputide.Source{ID: sourceFamilies, Title: "Accelerators of instance families", Doc: docFamily, Auth: gputide.AuthNone},
	)
	for _, s := range sites() {
		out = append(out, gputide.Source{
			ID: s.page, Title: "Pricing page, for the version of the list in " + string(s.currency), URL: s.pageURL,
			Hosts: []string{s.pageHost}, Auth: gputide.AuthNone, Page: true, MaxBytes: 16 << 20,
		})
	}
	return append(
		out,
		rpcSource(sourceStock, "DescribeAvailableResource", "the zones in which each instance type can be had", false),
		rpcSource(sourceAdvice, "DescribeSpotAdvice", "how often spot instances are interrupted, and what they save", false),
		rpcSource(sourceRegions, "DescribeRegions", "the regions that are asked for all this", false),
	)
}

// Crawl reads the list of each site and what ECS tells of each region; for spot
// prices alone, only the latter. What fails of one does not touch another.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	r := &run{Provider: p, b: b, table: table, lists: map[string]*listed{}}
	var skipped []error
	if b.Wants(gputide.OnDemand) || b.Wants(gputide.Subscription) {
		skipped = r.books(ctx)
	}
	if ctx.Err() == nil {
		r.account(ctx)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return r.outcome(skipped)
}

// books reads the list of each site and returns why those were not that a
// fixture lacks.
func (r *run) books(ctx context.Context) (skipped []error) {
	note(r.b, sourceFamilies, nil)
	found := r.pages(ctx)
	for _, s := range sites() {
		l := listed{}
		err := r.site(ctx, &s, l, found)
		switch {
		case context.Cause(ctx) != nil:
			return nil
		case errors.Is(err, gputide.ErrNotInFixture):
			skipped = append(skipped, err)
			continue
		case err != nil:
			r.lists[s.partition] = nil
		default:
			r.lists[s.partition] = &l
		}
		r.count(err)
	}
	return skipped
}

// site reads one list and reports its sources and scopes.
func (r *run) site(ctx context.Context, s *site, has listed, found pages) error {
	b := r.b
	note(b, s.page, found[s.page].err)
	version, err := found.version(s)
	if err != nil {
		return fail(b, s, s.page, err)
	}
	list := newReader(s, b, r.table)
	list.priced = func(region, name string) {
		if r.accelerated(name) {
			has[regional{region, name}] = true
		}
	}
	url, err := r.read(ctx, list, s.url(version))
	if err != nil {
		return fail(b, s, s.list, err)
	}
	// A source that answers and also reports a skip is shown as well, with the
	// text: the run keeps which list it read.
	b.Source(s.list, gputide.SourceSkipped, list.edition(version))
	for _, m := range listMarkets() {
		b.Done(s.list, s.scope(m), url)
	}
	return nil
}

// fail reports that a list could not be read because of source. What a fixture
// lacks is no failure.
func fail(b *gputide.Batch, s *site, source string, err error) error {
	note(b, source, err)
	if errors.Is(err, gputide.ErrNotInFixture) {
		note(b, s.list, err)
		return err
	}
	for _, m := range listMarkets() {
		b.Report(gputide.ScopeRun{Scope: s.scope(m), Status: gputide.ScopeFailed, Source: s.list, Reason: err.Error()})
	}
	return err
}

// note reports whether a source could be used.
func note(b *gputide.Batch, source string, err error) {
	status := gputide.SourceFailed
	switch {
	case err == nil:
		status = gputide.SourceOK
	case errors.Is(err, gputide.ErrNotInFixture):
		status = gputide.SourceSkipped
	}
	b.Source(source, status, err)
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
