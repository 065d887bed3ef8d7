package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/aws/pricelist"
)

const pagePath = "/pricing/2.0/meteredUnitMaps/ec2/USD/current/ec2-ondemand-without-sec-sel/"

// errNoFeed says that the price page has no feed of a region: it is asked by
// long name, and lists USD only.
var errNoFeed = errors.New("no page feed")

// pageFeed is the feed of the on-demand price page. Rows stand under compound
// keys that mean nothing.
type pageFeed struct {
	Regions map[string]map[string]pageRow `json:"regions"`
}

type pageRow struct {
	RateCode string  `json:"rateCode"`
	Price    *string `json:"price"`
	Location string  `json:"Location"`
	Type     string  `json:"Instance Type"`
	Family   string  `json:"Instance Family"`
	VCPU     string  `json:"vCPU"`
	Memory   string  `json:"Memory"`
	Network  string  `json:"Network Performance"`
	System   string  `json:"Operating System"`
	Software string  `json:"Pre Installed S/W"`
	License  string  `json:"License Model"`
}

// page reads the on-demand Linux prices of a region.
func (r *run) page(ctx context.Context, k book, l listing) (*wares, error) {
	name, err := locationName(l.region)
	if err != nil {
		return nil, err
	}
	if name == "" || k.currency != "USD" {
		return nil, errNoFeed
	}
	address := "https://" + pageHost + pagePath + url.PathEscape(name) + "/Linux/index.json"
	var feed pageFeed
	from, err := r.http.JSON(ctx, fetch.Request{Source: sourcePage, URL: address}, &feed)
	if err != nil {
		return nil, err
	}
	rows, ok := feed.Regions[name]
	switch {
	case !ok:
		return nil, drift(sourcePage, "regions", name, strings.Join(slices.Sorted(maps.Keys(feed.Regions)), ", "))
	case len(rows) == 0:
		return nil, fmt.Errorf("%s: %w: %s", sourcePage, gputide.ErrEmpty, from)
	}
	if err := r.pageRows(k, l, name, rows); err != nil {
		return nil, err
	}
	r.b.Done(sourcePage, l.scope(k, gputide.OnDemand), from)
	return nil, nil //nolint:nilnil // the feed leads to nothing that could be joined
}

// pageRows takes the rows of a feed. A field that no row has is drift.
func (r *run) pageRows(k book, l listing, name string, rows map[string]pageRow) error {
	scope := l.scope(k, gputide.OnDemand)
	var bad string
	read, priced := 0, 0
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		row := rows[id]
		if why := row.fault(name); why != "" {
			bad = why
			r.b.SkipUnknown(sourcePage, scope, pricelist.SkipBadRow, id+": "+why)
			continue
		}
		read++
		key := gputide.Key{
			Partition: scope.Partition, Region: scope.Region, InstanceType: row.Type, Market: gputide.OnDemand,
			OS: "linux", Tenancy: "shared", Stat: gputide.StatList, Currency: k.currency,
		}
		if row.Price == nil {
			r.b.Skip(sourcePage, key, pricelist.SkipNoPrice, "missing")
			continue
		}
		priced++
		if !positive(*row.Price) {
			r.b.Skip(sourcePage, key, pricelist.SkipNoPrice, fmt.Sprintf("%.40q", *row.Price))
			continue
		}
		spec := specOf(&pricelist.Type{
			Name: row.Type, Family: row.Family, VCPU: row.VCPU, Memory: row.Memory, Network: row.Network,
			Metal: strings.Contains(row.Type, ".metal"),
		}, r.families)
		spec.Source, spec.Partition, spec.Provider = sourcePage, key.Partition, "aws"
		sku, _, _ := strings.Cut(row.RateCode, ".")
		r.b.Add(gputide.RawOffer{
			Source: sourcePage, Key: key, SKU: sku, Spec: spec,
			Price: gputide.Published{Amount: *row.Price, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		})
	}
	switch {
	case read == 0:
		return drift(sourcePage, "regions."+name, "rows of known form", bad)
	case priced == 0:
		return drift(sourcePage, "regions."+name+".*.price", "a price", "none in any row")
	}
	return nil
}

// fault returns what keeps a row from being an on-demand Linux price, or "".
func (w *pageRow) fault(location string) string {
	family, size, ok := strings.Cut(w.Type, ".")
	switch {
	case !ok || family == "" || size == "" || strings.Contains(w.Type, " "):
		return fmt.Sprintf("Instance Type is %.40q", w.Type)
	case w.Location != location:
		return fmt.Sprintf("Location is %.40q", w.Location)
	case w.System != "Linux":
		return fmt.Sprintf("Operating System is %.40q", w.System)
	case w.Software != "NA":
		return fmt.Sprintf("Pre Installed S/W is %.40q", w.Software)
	case w.License != "No License required":
		return fmt.Sprintf("License Model is %.40q", w.License)
	case number(w.VCPU) == nil:
		return fmt.Sprintf("vCPU is %.40q", w.VCPU)
	case quantity(w.Memory, "GiB") == nil:
		return fmt.Sprintf("Memory is %.40q", w.Memory)
	case strings.Count(w.RateCode, ".") != 2:
		return fmt.Sprintf("rateCode is %.60q", w.RateCode)
	}
	return ""
}

// positive reports whether s is an amount above zero.
func positive(s string) bool {
	v, err := gputide.ParseAmount(s)
	return err == nil && v.Sign() > 0
}

// locationName returns the long name of a region on the price pages, or "".
func locationName(region string) (string, error) {
	all, err := pricelist.Locations()
	if err != nil {
		return "", err
	}
	for _, l := range all {
		if l.Region == region {
			return l.Name, nil
		}
	}
	return "", nil
}
