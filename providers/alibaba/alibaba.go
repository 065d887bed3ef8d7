// Package alibaba reads what Alibaba Cloud charges for ECS instances: by the
// hour, and bought for a month or for one to five years, in the price books of
// both its sites.
//
// Source: the static price lists behind the pricing pages,
// https://g.alicdn.com/aliyun/ecs-price-info/<version>/price/download/instancePrice.json
// (China site, CNY) and the same under ecs-price-info-intl (international site,
// USD). Their version is read from https://www.aliyun.com/price/ecs/ecs-pricing/zh
// and https://www.alibabacloud.com/en/product/ecs/pricing. A table of families
// with its sources names the accelerators, which the lists do not.
//
// Auth: none. Markets: on_demand and subscription, Linux and Windows. Amounts
// are CNY in partition cn and USD in intl, for an instance and an hour, or for
// the whole period bought. They are of the instance alone, without disk or
// bandwidth, and say nothing of taxes. Old versions of a list stay where they
// are, with old prices: the run notes the version and the date of the list, and
// when it is old.
//
// Known gaps: spot prices, stock, and the vCPUs and memory of types, which need
// the signed ECS API; classic networks and instances that are not I/O optimized;
// PAI, which sells the same types as another product.
//
// Verified: not yet live. The form is that of two entries of an international
// list of 2018 and of the public clients that read it in 2024; figures are those
// of tables derived from the China list in 2024.
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

func markets() []gputide.Market { return []gputide.Market{gputide.OnDemand, gputide.Subscription} }

// Provider crawls Alibaba Cloud.
type Provider struct{ http *fetch.Client }

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f.
func New(f *fetch.Fetcher) *Provider { return &Provider{http: f.Client(info())} }

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	i := gputide.Info{
		Name:     "alibaba",
		Title:    "Alibaba Cloud ECS",
		TitleZH:  "阿里云",
		Home:     pageIntl,
		Markets:  markets(),
		Cadence:  24 * time.Hour,
		Deadline: time.Hour,
		Evidence: gputide.EvidenceComposed,
		Note: "No spot prices, stock, vCPUs or memory: they need the signed ECS API. " +
			"Prices are of the instance alone, without disk and bandwidth.",
	}
	for _, s := range sites() {
		i.Partitions = append(i.Partitions, s.partition)
		i.Currencies = append(i.Currencies, s.currency)
		i.Sources = append(i.Sources, gputide.Source{
			ID: s.list, Title: "Price list, " + string(s.currency), URL: s.url("*"), Doc: s.pageURL, Hosts: []string{listHost},
			Auth: gputide.AuthNone, Prices: true, MaxBytes: maxList, Timeout: 20 * time.Minute,
		})
	}
	i.Sources = append(i.Sources, gputide.Source{
		ID: sourceFamilies, Title: "Accelerators of instance families", Doc: docFamily, Auth: gputide.AuthNone,
	})
	for _, s := range sites() {
		i.Sources = append(i.Sources, gputide.Source{
			ID: s.page, Title: "Pricing page, for the version of the list in " + string(s.currency), URL: s.pageURL,
			Hosts: []string{s.pageHost}, Auth: gputide.AuthNone, Page: true, MaxBytes: 16 << 20,
		})
	}
	return i
}

// Crawl reads the list of each site. What fails of one does not touch the other.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	note(b, sourceFamilies, nil)
	found := p.pages(ctx)
	done, failed := 0, []error(nil)
	var skipped []error
	for _, s := range sites() {
		err := p.site(ctx, b, &s, table, found)
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case err == nil:
			done++
		case errors.Is(err, gputide.ErrNotInFixture):
			skipped = append(skipped, err)
		default:
			failed = append(failed, err)
		}
	}
	switch {
	case done == 0:
		return errors.Join(append(failed, skipped...)...)
	case len(failed) > 0:
		return &gputide.PartialError{Done: done, Failed: failed}
	}
	return nil
}

// site reads one list and reports its sources and scopes.
func (p *Provider) site(ctx context.Context, b *gputide.Batch, s *site, table families, found pages) error {
	note(b, s.page, found[s.page].err)
	version, err := found.version(s)
	if err != nil {
		return fail(b, s, s.page, err)
	}
	r := newReader(s, b, table)
	url, err := p.read(ctx, r, s.url(version))
	if err != nil {
		return fail(b, s, s.list, err)
	}
	// A source that answers and also reports a skip is shown as well, with the
	// text: the run keeps which list it read.
	b.Source(s.list, gputide.SourceSkipped, r.edition(version))
	for _, m := range markets() {
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
	for _, m := range markets() {
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
