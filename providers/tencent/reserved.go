package tencent

import (
	"context"
	"fmt"
	"strings"

	"github.com/gputide/gputide"
)

const (
	sourceReserved = "reserved"

	planReserved = "reservation"

	// reservedPage is the most an answer can be asked for, maxReservedPages bounds
	// how often.
	reservedPage     = 100
	maxReservedPages = 20

	// maxYears bounds the term of a reserved instance: Duration of another action
	// is in seconds.
	maxYears = 5
)

// reserved reads the reserved instances of a region. Whether the answer lists
// all of them is not documented: nothing is concluded from absence.
func (r *run) reserved(ctx context.Context, s *site, region string) error {
	e := s.endpoint(sourceReserved)
	scope := gputide.Scope{Partition: s.partition, Region: region, Market: gputide.Commitment}
	var types []reservedType
	for page := range maxReservedPages {
		var list reservedList
		address, err := r.call(ctx, &e, "DescribeReservedInstancesConfigInfos", region, struct{ Offset, Limit int }{page * reservedPage, reservedPage}, &list)
		if err == nil && list.ReservedInstanceConfigInfos == nil {
			err = drift(sourceReserved, "Response.ReservedInstanceConfigInfos", "a list", "none")
		}
		if err != nil {
			r.note(sourceReserved, []gputide.Scope{scope}, err)
			return err
		}
		for _, class := range list.ReservedInstanceConfigInfos {
			for _, family := range class.InstanceFamilies {
				types = append(types, family.InstanceTypes...)
			}
		}
		if len(list.ReservedInstanceConfigInfos) < reservedPage {
			if len(types) == 0 { // not sold there: no price to lose, and none to keep
				r.b.Omit(sourceReserved, "none_in_region", 1)
				return nil
			}
			for i := range types {
				r.reservedType(s, scope, &types[i])
			}
			r.b.Report(gputide.ScopeRun{Scope: scope, Status: gputide.ScopeDone, Source: sourceReserved, URLs: []string{address}, NoWithdraw: true})
			return nil
		}
	}
	err := fmt.Errorf("%s: %w: more than %d pages", sourceReserved, gputide.ErrTooLarge, maxReservedPages)
	r.note(sourceReserved, []gputide.Scope{scope}, err)
	return err
}

func (r *run) reservedType(s *site, scope gputide.Scope, t *reservedType) {
	if t.InstanceType == nil || *t.InstanceType == "" {
		r.b.SkipUnknown(sourceReserved, scope, "bad_row", "a type without name")
		return
	}
	spec := t.spec(s.partition, sourceReserved)
	spec.Device = r.table.device(&t.machine, gpuText(t.Externals), t.Remark)
	for i := range t.Prices {
		p := &t.Prices[i]
		key := gputide.Key{
			Partition: s.partition, Region: scope.Region, Zone: p.Zone, InstanceType: *t.InstanceType, Market: gputide.Commitment,
			Plan: planReserved, OS: osLinux, Stat: gputide.StatList, Currency: s.currency,
		}
		if p.ProductDescription != "" {
			key.OS = strings.ToLower(p.ProductDescription)
		}
		price, ok := p.published(&key)
		if !ok {
			r.b.SkipUnknown(sourceReserved, scope, "bad_row", *t.InstanceType+" "+p.OfferingType+" "+string(p.Duration))
			continue
		}
		if !positive(p.FixedPrice) && !positive(p.UsagePrice) {
			r.b.Skip(sourceReserved, key, "no_price", string(p.FixedPrice)+" "+string(p.UsagePrice))
			continue
		}
		r.b.Add(gputide.RawOffer{Source: sourceReserved, Key: key, Spec: &spec, Price: price})
	}
}

// published returns the price and completes the key; false for a term or a way
// of paying that is not known here.
func (p *reservedPrice) published(key *gputide.Key) (gputide.Published, bool) {
	var ok bool
	key.Payment, ok = map[string]gputide.Payment{
		"No Upfront": gputide.PaymentNone, "Partial Upfront": gputide.PaymentPartial, "All Upfront": gputide.PaymentAll,
	}[p.OfferingType]
	out := gputide.Published{Unit: gputide.PerHour, Basis: gputide.BasisInstance}
	if len(p.Duration) != 1 || p.Duration < "1" || p.Duration > number(rune('0'+maxYears)) || !ok {
		return out, false
	}
	key.Term = gputide.Term(p.Duration + "y")
	if positive(p.FixedPrice) {
		out.Upfront = string(p.FixedPrice)
	}
	if positive(p.UsagePrice) || out.Upfront == "" {
		out.Amount = string(p.UsagePrice)
	}
	// An amount that is paid and not said would make the price smaller.
	return out, (key.Payment == gputide.PaymentNone || out.Upfront != "") && (key.Payment == gputide.PaymentAll || out.Amount != "")
}
