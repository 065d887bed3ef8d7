package tencent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gputide/gputide"
)

const sourceSpot = "spot-types"

// spotTypes reads the spot prices of a region from the action that has them
// alone.
func (r *run) spotTypes(ctx context.Context, s *site, region string) error {
	e := s.endpoint(sourceSpot)
	scope := gputide.Scope{Partition: s.partition, Region: region, Market: gputide.Spot}
	var list spotList
	address, err := r.call(ctx, &e, "DescribeSpotTypeConfig", region, struct{}{}, &list)
	switch {
	case err != nil:
	case list.SpotTypeConfigSet == nil:
		err = drift(sourceSpot, "Response.SpotTypeConfigSet", "a list", "none")
	case len(list.SpotTypeConfigSet) == 0:
		err = fmt.Errorf("%s: %w: SpotTypeConfigSet of %s", sourceSpot, gputide.ErrEmpty, region)
	}
	if err != nil {
		r.note(sourceSpot, []gputide.Scope{scope}, err)
		return err
	}
	for _, raw := range list.SpotTypeConfigSet {
		var t spotType
		if json.Unmarshal(raw, &t) != nil || t.Zone == "" || t.InstanceType == "" {
			r.b.SkipUnknown(sourceSpot, scope, "bad_row", string(raw))
			continue
		}
		spec := gputide.Spec{Source: sourceFamilies, Partition: s.partition, InstanceType: t.InstanceType}
		spec.Device = r.table.device(&machine{InstanceType: &t.InstanceType})
		o := &priced{b: r.b, source: sourceSpot, spec: &spec}
		o.one(gputide.Key{
			Partition: s.partition, Region: region, Zone: t.Zone, InstanceType: t.InstanceType, OS: osLinux, Market: gputide.Spot,
			Stat: gputide.StatList, Currency: s.currency,
		}, gputide.PerHour, t.Price)
	}
	r.b.Done(sourceSpot, scope, address)
	return nil
}
