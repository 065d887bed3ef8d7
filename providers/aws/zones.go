package aws

import (
	"context"
	"errors"
	"sync"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws/internal/ec2api"
)

// zones knows the zones of one region. Zone names are those of one account; ids
// are the same in all.
type zones struct {
	run    *run
	region string

	once  sync.Once
	names map[string]string
	err   error
}

// id returns the id of a zone from the id in an answer, or else from its name by
// the zones of the account, which are asked for once. A name that the account
// does not map stays as it is, flagged. An account that cannot be asked is an
// error: names would be taken for new zones.
func (z *zones) id(ctx context.Context, name, id string) (zone string, flags []gputide.Flag, err error) {
	if id != "" || name == "" {
		return id, nil, nil
	}
	z.once.Do(func() { z.names, z.err = z.ask(ctx) })
	if z.err != nil {
		return "", nil, z.err
	}
	if id := z.names[name]; id != "" {
		return id, nil, nil
	}
	return name, []gputide.Flag{gputide.FlagAccountZone}, nil
}

func (z *zones) ask(ctx context.Context) (map[string]string, error) {
	opt, _ := z.run.ec2(sourceZones)
	names, err := ec2api.Zones(ctx, opt, z.region)
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		z.run.b.Source(sourceZones, gputide.SourceSkipped, err)
		return nil, nil
	case err != nil:
		z.run.b.Source(sourceZones, gputide.SourceFailed, err)
		return nil, err
	}
	z.run.b.Source(sourceZones, gputide.SourceOK, nil)
	return names, nil
}

// offerings reads in which zones of a region accelerated types can be had, and
// returns the types; nil when that is not known.
func (r *run) offerings(ctx context.Context, region string) map[string]bool {
	scope := gputide.Scope{Partition: partitionCommercial, Region: region, Signal: gputide.SignalAvailability}
	opt, _ := r.ec2(sourceOfferings)
	offered := map[string]bool{}
	err := ec2api.Offerings(ctx, opt, region, r.accelerated(), func(o ec2api.Offering) {
		offered[o.InstanceType] = true
		r.b.Signal(gputide.Signal{
			Source: sourceOfferings, Name: gputide.SignalAvailability, Value: gputide.AvailabilityYes,
			Key: gputide.Key{Partition: partitionCommercial, Region: region, Zone: o.Location, InstanceType: o.InstanceType},
		})
	})
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		r.b.Source(sourceOfferings, gputide.SourceSkipped, err)
		return nil
	case err != nil:
		r.fail(sourceOfferings, err, scope)
		return nil
	}
	r.b.Done(sourceOfferings, scope, ec2api.URL(region))
	r.count(nil)
	return offered
}
