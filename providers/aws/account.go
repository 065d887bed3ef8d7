package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws/internal/ec2api"
)

// IDs of the sources that EC2 answers to the holder of a key, and of the feed
// that stands in for its spot prices.
const (
	sourceAccount   = "ec2-regions"
	sourceZones     = "ec2-zones"
	sourceSpot      = "spot-history"
	sourceOfferings = "type-offerings"
	sourceBlocks    = "block-offerings"
	sourceLegacy    = "spot-feed"
)

// partOfferings is the part of the capacity blocks that are on offer with their
// dates, beside the rates that AWS publishes without.
const partOfferings = "offerings"

const legacyHost = "spot-price.s3.amazonaws.com"

// ec2Source is a source that EC2 answers in each region.
func ec2Source(id, action, gives string, prices bool) gputide.Source {
	return gputide.Source{
		ID: id, Title: "EC2 " + action, URL: ec2api.URL("*"), Doc: "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_" + action + ".html",
		Hosts: []string{ec2api.Host("*")}, Auth: gputide.AuthKey, Env: []string{envKeyID, envSecret, envToken}, Gives: gives,
		Prices: prices, MaxBytes: 32 << 20,
	}
}

// accountPrices are the sources of spot prices and capacity blocks, in order of
// authority.
func accountPrices() []gputide.Source {
	return []gputide.Source{
		ec2Source(sourceSpot, "DescribeSpotPriceHistory", "spot prices of each zone, with their last 90 days", true),
		ec2Source(sourceBlocks, "DescribeCapacityBlockOfferings", "capacity blocks on offer, with their dates", true),
		{
			ID: sourceLegacy, Title: "Feed of the old spot price page, by region", URL: legacyURL, Doc: "https://aws.amazon.com/ec2/spot/pricing/",
			Hosts: []string{legacyHost}, Auth: gputide.AuthNone, Prices: true, MaxBytes: 16 << 20,
		},
	}
}

// accountFacts are the sources that lead to prices or stand beside them.
func accountFacts() []gputide.Source {
	return []gputide.Source{
		ec2Source(sourceOfferings, "DescribeInstanceTypeOfferings", "the zones in which each instance type can be had", false),
		ec2Source(sourceAccount, "DescribeRegions", "the regions that are asked for all this", false),
		ec2Source(sourceZones, "DescribeAvailabilityZones", "zone ids for the zone names of the account", false),
	}
}

// homeRegion is where EC2 is asked which regions there are. It is enabled in
// every account.
const homeRegion = "us-east-1"

// ec2 returns how EC2 is asked for a source. ok is false without a key.
func (p *Provider) ec2(source string) (opt ec2api.Options, ok bool) {
	opt = ec2api.Options{
		Source: source, Partition: partitionCommercial, HTTP: p.http.HTTPClient(source), Logger: p.cfg.Logger,
		AccessKeyID: p.cfg.AccessKeyID, SecretAccessKey: p.cfg.SecretAccessKey, SessionToken: p.cfg.SessionToken,
	}
	if p.http.Replaying() {
		opt.AccessKeyID, opt.SecretAccessKey, opt.SessionToken = "replay", "replay", ""
		return opt, true
	}
	return opt, opt.AccessKeyID != "" && opt.SecretAccessKey != ""
}

// needsKey is why EC2 is not asked.
func needsKey() error {
	return &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + envKeyID + " and " + envSecret}
}

// accountSources are what EC2 tells of each region.
func accountSources() []string { return []string{sourceSpot, sourceOfferings, sourceBlocks} }

// account reads what EC2 tells the holder of a key of each region: spot prices,
// where types are offered, capacity blocks. What fails of one region touches no
// other. Regions whose spot prices EC2 did not give are left to the feed of the
// spot price page.
func (r *run) account(ctx context.Context) {
	fed := map[string]bool{}
	regions, err := r.accountRegions(ctx)
	switch {
	case errors.Is(err, gputide.ErrNeedsKey), errors.Is(err, gputide.ErrNotInFixture):
		for _, source := range append(accountSources(), sourceAccount) {
			r.b.Source(source, gputide.SourceSkipped, err)
		}
	case err != nil:
		r.b.Source(sourceAccount, gputide.SourceFailed, err)
		r.fail(sourceSpot, err, gputide.Scope{Partition: partitionCommercial, Market: gputide.Spot})
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, region := range regions {
		g.Go(func() error {
			if ctx.Err() == nil && r.accountRegion(ctx, region) {
				r.mu.Lock()
				defer r.mu.Unlock()
				fed[region] = true
			}
			return nil
		})
	}
	_ = g.Wait() // no member returns an error: each reports its own scopes
	if ctx.Err() == nil && r.b.Wants(gputide.Spot) {
		r.legacySpot(ctx, fed)
	}
}

// accountRegions returns the regions of the account that are asked. One that the
// account has not enabled is reported as skipped.
func (r *run) accountRegions(ctx context.Context) ([]string, error) {
	opt, ok := r.ec2(sourceAccount)
	if !ok {
		return nil, needsKey()
	}
	all, err := ec2api.Regions(ctx, opt, homeRegion)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, region := range all {
		switch {
		case len(r.cfg.Regions) > 0 && !slices.Contains(r.cfg.Regions, region.Code):
		case !region.Enabled:
			err := &gputide.HintError{
				Err:  fmt.Errorf("%w: region %s is not enabled", gputide.ErrNeedsKey, region.Code),
				Hint: "enable it in the account settings of AWS",
			}
			for _, source := range accountSources() {
				r.b.Source(source, gputide.SourceSkipped, err)
			}
		default:
			out = append(out, region.Code)
		}
	}
	r.b.Source(sourceAccount, gputide.SourceOK, nil)
	return out, nil
}

// accountRegion reads one region and reports whether its spot prices were read.
func (r *run) accountRegion(ctx context.Context, region string) (fed bool) {
	z := &zones{run: r, region: region}
	if r.b.Wants(gputide.Spot) {
		fed = r.spot(ctx, z)
	}
	if !r.b.Wants(gputide.CapacityBlock) || ctx.Err() != nil {
		return fed
	}
	offered := r.offerings(ctx, region)
	r.blocks(ctx, z, offered)
	return fed
}

// described is what EC2 said of instance types: later requests name them.
type described struct {
	mu    sync.Mutex
	types map[string]ec2api.Type
}

func (d *described) learn(t ec2api.Type) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.types == nil {
		d.types = map[string]ec2api.Type{}
	}
	d.types[t.Spec.InstanceType] = t
}

// names returns the types that have a property, sorted.
func (d *described) names(has func(*ec2api.Type) bool) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for name, t := range d.types {
		if has(&t) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// accelerated returns the names of accelerated types as EC2 filters by them: the
// families of the table, and types that EC2 described and the table lacks.
func (r *run) accelerated() []string {
	names := map[string]bool{}
	for name := range r.families {
		names[familyOf(name)+".*"] = true
	}
	for _, name := range r.described.names(func(t *ec2api.Type) bool { return t.Spec.Device.Known() }) {
		if !names[familyOf(name)+".*"] {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// tableSpec returns what the table says of a type, for a source whose rows say
// nothing; nil when it knows neither the type nor its family. Equal calls return
// one value.
func (r *run) tableSpec(instanceType string) *gputide.Spec {
	d, ok := r.families.find(instanceType)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tabled == nil {
		r.tabled = map[string]*gputide.Spec{}
	}
	s := r.tabled[instanceType]
	if s == nil {
		instanceType = strings.Clone(instanceType)
		s = &gputide.Spec{
			Source: sourceFamilies, Provider: "aws", Partition: partitionCommercial, InstanceType: instanceType, Device: d,
		}
		r.tabled[instanceType] = s
	}
	return s
}
