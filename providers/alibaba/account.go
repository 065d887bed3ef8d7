package alibaba

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gputide/gputide"
)

// atOnce is how many regions are asked at a time: each has a host, and so a
// limit, of its own.
const atOnce = 8

// run is one crawl.
type run struct {
	*Provider
	b     *gputide.Batch
	table families
	lists map[string]*listed // by partition, of lists that were read; nil for one that failed

	long   sync.Mutex // held while a long spot history is read
	events int        // samples of long spot histories; guarded by long

	mu     sync.Mutex
	done   int
	failed []error
	specs  map[regional]*gputide.Spec // see spec; by partition
}

// listed is what a price list has of accelerated types: whether it prices one in
// a region.
type listed map[regional]bool

type regional struct{ region, instanceType string }

// count notes the outcome of a part of the crawl.
func (r *run) count(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed = append(r.failed, err)
		return
	}
	r.done++
}

// outcome returns what failed, all or in part; skipped is why lists were not read.
func (r *run) outcome(skipped []error) error {
	switch {
	case r.done == 0:
		return errors.Join(append(r.failed, skipped...)...)
	case len(r.failed) > 0:
		return &gputide.PartialError{Done: r.done, Failed: r.failed}
	}
	return nil
}

// accelerated reports whether a type has an accelerator: ECS says it, or else
// the table of families.
func (r *run) accelerated(name string) bool {
	if yes, said := r.described.knows(name); said {
		return yes
	}
	s := r.table.spec("", name)
	return s != nil && isAccelerated(&s.Device)
}

// spec returns what the table says of a type, one value for all its offers; nil
// when it knows nothing.
func (r *run) spec(partition, name string) *gputide.Spec {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := regional{partition, name}
	s, ok := r.specs[k]
	if !ok {
		if r.specs == nil {
			r.specs = map[regional]*gputide.Spec{}
		}
		s = r.table.spec(partition, name)
		r.specs[k] = s
	}
	return s
}

// accountSources are what ECS tells of each region.
func accountSources() []string { return []string{sourcePrice, sourceSpot, sourceStock, sourceAdvice} }

// account reads what ECS tells the holder of a key of each region. What fails of
// one region touches no other.
func (r *run) account(ctx context.Context) {
	regions, err := r.regions(ctx)
	switch {
	case errors.Is(err, gputide.ErrNeedsKey), errors.Is(err, gputide.ErrNotInFixture):
		for _, source := range append(accountSources(), sourceRegions) {
			r.b.Source(source, gputide.SourceSkipped, err)
		}
		return
	case context.Cause(ctx) != nil:
		return
	case err != nil:
		r.b.Source(sourceRegions, gputide.SourceFailed, err)
		r.b.Fail(sourceSpot, gputide.Scope{Market: gputide.Spot}, err)
		r.count(err)
		return
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, region := range regions {
		g.Go(func() error {
			r.region(ctx, region)
			return nil
		})
	}
	_ = g.Wait() // no member returns an error: each reports its own scopes
}

// regionName is the form of region codes, which become a part of a host.
func regionName() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{2,}(-[a-z0-9]+)+$`) }

// regions returns the regions that are asked.
func (r *run) regions(ctx context.Context) ([]string, error) {
	if err := r.needsKey(); err != nil {
		return nil, err
	}
	var answer struct {
		Regions *struct {
			Region []struct {
				ID string `json:"RegionId"`
			}
		}
	}
	if _, err := r.ask(ctx, sourceRegions, homeRegion, "DescribeRegions", nil, &answer); err != nil {
		return nil, err
	}
	if answer.Regions == nil {
		return nil, drift(sourceRegions, "$.Regions", "an object", "none")
	}
	if len(answer.Regions.Region) == 0 {
		return nil, fmt.Errorf("%s: %w: Regions", sourceRegions, gputide.ErrEmpty)
	}
	form := regionName()
	var out []string
	for _, region := range answer.Regions.Region {
		switch {
		case !form.MatchString(region.ID):
			return nil, drift(sourceRegions, "$.Regions.Region[].RegionId", "a region code", region.ID)
		case len(r.cfg.Regions) == 0 || slices.Contains(r.cfg.Regions, region.ID):
			out = append(out, region.ID)
		}
	}
	r.b.Source(sourceRegions, gputide.SourceOK, nil)
	return out, nil
}

// region reads one region. Spot prices come first: they tell the site that the
// account belongs to.
func (r *run) region(ctx context.Context, region string) {
	var seen spotFacts
	if r.b.Wants(gputide.Spot) && ctx.Err() == nil {
		types, err := r.stock(ctx, region, gputide.Spot)
		if err == nil {
			seen, err = r.spot(ctx, region, types)
		}
		r.report(ctx, sourceSpot, err, gputide.Scope{Partition: seen.partition(), Region: region, Market: gputide.Spot})
	}
	if r.b.Wants(gputide.Spot) && ctx.Err() == nil {
		err := r.advice(ctx, region)
		r.report(ctx, sourceAdvice, err, signalScopes(region, adviceSignals()...)...)
	}
	if r.b.Wants(gputide.OnDemand) && ctx.Err() == nil {
		types, err := r.stock(ctx, region, gputide.OnDemand)
		if err == nil {
			r.quotes(ctx, region, types, &seen)
		}
	}
}

// report notes how a source fared in a region. What a fixture lacks is no
// failure.
func (r *run) report(ctx context.Context, source string, err error, scopes ...gputide.Scope) {
	switch {
	case context.Cause(ctx) != nil:
		return
	case errors.Is(err, gputide.ErrNotInFixture):
		r.b.Source(source, gputide.SourceSkipped, err)
		return
	case err != nil:
		for _, s := range scopes {
			r.b.Fail(source, s, err)
		}
	default:
		r.b.Source(source, gputide.SourceOK, nil)
	}
	r.count(err)
}

// signalScopes are the scopes of signals of spot offers in a region. Neither
// stock nor advice names a price book: the machines are the same in both.
func signalScopes(region string, names ...string) []gputide.Scope {
	var out []gputide.Scope
	for _, name := range names {
		out = append(out, gputide.Scope{Region: region, Market: gputide.Spot, Signal: name})
	}
	return out
}

// stockAnswer is the answer of DescribeAvailableResource.
type stockAnswer struct {
	AvailableZones *struct {
		AvailableZone []struct {
			ZoneID             string `json:"ZoneId"`
			AvailableResources struct {
				AvailableResource []struct {
					SupportedResources struct {
						SupportedResource []struct{ Value, Status string }
					}
				}
			}
		}
	}
}

// stock reads in which zones of a region accelerated types can be had in a
// market, and returns the types that the answer names, sold out or not.
func (r *run) stock(ctx context.Context, region string, market gputide.Market) ([]string, error) {
	scope := gputide.Scope{Region: region, Market: market, Signal: gputide.SignalAvailability}
	params := map[string]string{"RegionId": region, "DestinationResource": "InstanceType", "InstanceChargeType": "PostPaid"}
	if market == gputide.Spot {
		params["SpotStrategy"] = "SpotAsPriceGo"
	}
	var answer stockAnswer
	url, err := r.ask(ctx, sourceStock, region, "DescribeAvailableResource", params, &answer)
	types := map[string]bool{}
	if err == nil {
		err = r.levels(scope, &answer, types)
	}
	if err == nil {
		r.b.Done(sourceStock, scope, url)
	}
	r.report(ctx, sourceStock, err, scope)
	return slices.Sorted(maps.Keys(types)), err
}

// levels adds the signals of an answer and the names of its types.
func (r *run) levels(scope gputide.Scope, answer *stockAnswer, types map[string]bool) error {
	if answer.AvailableZones == nil {
		return drift(sourceStock, "$.AvailableZones", "an object", "none")
	}
	read, bad, added := 0, 0, 0
	for _, z := range answer.AvailableZones.AvailableZone {
		for _, group := range z.AvailableResources.AvailableResource {
			for _, row := range group.SupportedResources.SupportedResource {
				read++
				level, known := map[string]int64{"Available": gputide.AvailabilityYes, "SoldOut": gputide.AvailabilityNone}[row.Status]
				if row.Value != "" && !r.accelerated(row.Value) {
					r.b.Omit(sourceStock, "other_type", 1)
					continue
				}
				if row.Value != "" {
					types[row.Value] = true
				}
				if row.Value == "" || !known || z.ZoneID == "" {
					bad++
					r.badStock(scope, row.Value, z.ZoneID+" "+row.Value+" "+row.Status)
					continue
				}
				added++
				r.b.Signal(gputide.Signal{
					Source: sourceStock, Name: gputide.SignalAvailability, Value: level,
					Key: gputide.Key{Region: scope.Region, Zone: z.ZoneID, InstanceType: row.Value, Market: scope.Market},
				})
			}
		}
	}
	switch {
	case read == 0:
		return fmt.Errorf("%s: %w: AvailableZones of %s", sourceStock, gputide.ErrEmpty, scope.Region)
	case bad > 0 && added == 0:
		return drift(sourceStock, "$.AvailableZones", "a zone, a type and a status", "none in any row of ours")
	}
	return nil
}

// badStock counts a row of stock that cannot be read. One without a type may be
// any: nothing is concluded from what its market is not asked for.
func (r *run) badStock(scope gputide.Scope, name, detail string) {
	r.b.SkipUnknown(sourceStock, scope, "bad_row", detail)
	scope.Signal = ""
	switch {
	case name != "":
	case scope.Market == gputide.Spot:
		r.b.SkipUnknown(sourceSpot, scope, "unnamed_type", detail)
	default:
		scope.Part = partQuote
		for _, m := range listMarkets() {
			scope.Market = m
			r.b.SkipUnknown(sourcePrice, scope, "unnamed_type", detail)
		}
	}
}
