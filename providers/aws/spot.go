package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws/internal/ec2api"
)

const (
	// spotPast is how far back EC2 tells spot prices: 90 days, less an hour so
	// that a request on its way does not reach behind them.
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html
	spotPast = 90*24*time.Hour - time.Hour

	// spotOverlap is how much of the last window is read again: prices may appear
	// in the history hours after they took effect.
	spotOverlap = 6 * time.Hour

	// longWindow is a window that may hold much: regions with one are read one
	// after the other, and only while a crawl has read fewer than spotBudget rows,
	// so that the first crawl of all regions stays in memory. The rest follow in
	// the next crawls.
	longWindow = 5 * 24 * time.Hour
	spotBudget = 150_000
)

// vpcSuffix marks the rows that repeat a product for the networks that all
// accounts have had since 2022.
const vpcSuffix = " (Amazon VPC)"

// products maps the product descriptions of spot prices to operating systems.
func products() map[string]string {
	return map[string]string{
		"Linux/UNIX": "linux", "Red Hat Enterprise Linux": "rhel", "SUSE Linux": "suse", "Windows": "windows",
	}
}

// spot reads the spot prices of a region: the changes since the last crawl, of
// 90 days the first time, and then what is in force now. It reports whether the
// latter could be read.
func (r *run) spot(ctx context.Context, z *zones) bool {
	scope := gputide.Scope{Partition: partitionCommercial, Region: z.region, Market: gputide.Spot}
	url := ec2api.URL(z.region)
	from := r.b.At().Add(-spotPast)
	if fed := r.b.Fed(scope); !fed.IsZero() && fed.Add(-spotOverlap).After(from) {
		from = fed.Add(-spotOverlap)
	}
	err := r.spotFeed(ctx, z, from)
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		r.b.Source(sourceSpot, gputide.SourceSkipped, err)
		return false
	case errors.Is(err, errPutOff):
		r.b.Source(sourceSpot, gputide.SourceSkipped, fmt.Errorf("%w: %s", err, z.region))
	case errors.Is(err, gputide.ErrAuth):
		r.b.FailFeed(sourceSpot, scope, err)
		r.fail(sourceSpot, err, scope)
		return false
	case err != nil:
		r.b.FailFeed(sourceSpot, scope, err)
		r.count(err)
	default:
		r.b.DoneFeed(sourceSpot, scope, from, r.b.At(), url)
	}
	if err := r.spotNow(ctx, z); err != nil {
		r.fail(sourceSpot, err, scope)
		return false
	}
	r.b.Done(sourceSpot, scope, url)
	r.count(nil)
	return true
}

// errPutOff is the outcome of a history that a later crawl reads.
var errPutOff = errors.New("spot history is left to the next crawl")

// spotFeed adds the prices of a window as events.
func (r *run) spotFeed(ctx context.Context, z *zones, from time.Time) error {
	if r.b.At().Sub(from) > longWindow {
		r.long.Lock()
		defer r.long.Unlock()
		if r.events >= spotBudget {
			return errPutOff
		}
	}
	rows := 0
	err := r.spotRows(ctx, z, from, r.b.At(), func(o gputide.RawOffer) {
		rows++
		r.b.Add(o)
	})
	if r.b.At().Sub(from) > longWindow {
		r.events += rows
	}
	return err
}

// spotNow adds the price in force of each series: of several rows the newest,
// whose moment is not that of an event here.
func (r *run) spotNow(ctx context.Context, z *zones) error {
	newest := map[gputide.Key]gputide.RawOffer{}
	rows := 0
	err := r.spotRows(ctx, z, r.b.At(), time.Time{}, func(o gputide.RawOffer) {
		rows++
		if old, ok := newest[o.Key]; !ok || old.At.Before(o.At) {
			newest[o.Key] = o
		}
	})
	if err != nil {
		return err
	}
	for _, o := range newest {
		o.At = time.Time{}
		r.b.Add(o)
	}
	r.b.Omit(sourceSpot, "replaced_price", int64(rows-len(newest)))
	if rows == 0 {
		r.b.Omit(sourceSpot, "region_without_offers", 1) // EC2's own "not offered"
	}
	return nil
}

// spotRows hands the rows of an answer that are ours to each, and counts the
// others.
func (r *run) spotRows(ctx context.Context, z *zones, from, to time.Time, each func(gputide.RawOffer)) error {
	opt, _ := r.ec2(sourceSpot)
	read, bad := 0, 0
	err := ec2api.SpotPrices(ctx, opt, z.region, from, to, r.accelerated(), slices.Sorted(maps.Keys(products())), func(p ec2api.SpotPrice) error {
		read++
		os, ours := products()[p.Product]
		switch {
		case strings.HasSuffix(p.Product, vpcSuffix):
			r.b.Omit(sourceSpot, "vpc_twin", 1)
			return nil
		case p.Product != "" && !ours:
			r.b.Omit(sourceSpot, "other_product", 1)
			return nil
		case p.Product == "" || p.InstanceType == "" || p.At.IsZero() || p.Zone == "" && p.ZoneID == "":
			bad++
			scope := gputide.Scope{Partition: partitionCommercial, Region: z.region, Market: gputide.Spot}
			r.b.SkipUnknown(sourceSpot, scope, "bad_row", fmt.Sprintf("%+v", p))
			return nil
		case p.At.After(r.b.At()):
			r.b.Omit(sourceSpot, "after_the_crawl", 1) // the next one reads it
			return nil
		}
		zone, flags, err := z.id(ctx, p.Zone, p.ZoneID)
		if err != nil {
			return err
		}
		o := gputide.RawOffer{
			Source: sourceSpot, At: p.At.UTC().Truncate(time.Second), Flags: flags, Spec: r.tableSpec(p.InstanceType),
			Key: gputide.Key{
				Partition: partitionCommercial, Region: z.region, Zone: zone, InstanceType: p.InstanceType,
				Market: gputide.Spot, OS: os, Tenancy: "shared", Stat: gputide.StatList, Currency: "USD",
			},
			Price: gputide.Published{Amount: p.Price, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		}
		each(o)
		return nil
	})
	if err == nil && read > 0 && bad == read {
		return drift(sourceSpot, "spotPriceHistorySet.item", "a type, a product, a zone and a time", "none in any row")
	}
	return err
}
