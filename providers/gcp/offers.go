package gcp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// offers adds what the rates come to, and counts what they do not.
func (r *run) offers(c *catalogue) {
	for _, reason := range slices.Sorted(maps.Keys(c.omits)) {
		r.b.Omit(sourceSKUs, reason, c.omits[reason])
	}
	for _, row := range c.blind {
		for _, m := range row.markets {
			r.b.SkipUnknown(sourceSKUs, gputide.Scope{Market: m}, row.reason, row.detail)
		}
	}
	if c.moved > 0 {
		for _, m := range markets() {
			r.b.SkipUnknown(sourceSKUs, gputide.Scope{Market: m}, skipMovedPage, fmt.Sprintf("%d SKUs came again on a later page", c.moved))
		}
	}
	for i := range r.table.machines {
		m := &r.table.machines[i]
		for _, mode := range modes() {
			c.eachRegion(rateID{partAccelerator, m.rate, mode}, func(region string, _ *rate) {
				r.machineOffer(c, m, mode, region)
			})
		}
	}
	sold := slices.Concat(slices.Collect(maps.Values(r.table.byRate)), slices.Collect(maps.Values(c.unknown)))
	slices.SortFunc(sold, func(a, b *accelerator) int { return cmp.Compare(a.rate, b.rate) })
	for _, a := range sold {
		for _, n := range a.counts {
			r.acceleratorOffers(c, a, n)
		}
	}
}

// eachRegion calls f for every region that has a rate, in order.
func (c *catalogue) eachRegion(id rateID, f func(region string, r *rate)) {
	byRegion := c.rates[id]
	for _, region := range slices.Sorted(maps.Keys(byRegion)) {
		f(region, byRegion[region])
	}
}

// machineOffer adds a machine type in a region whose accelerators have a rate.
func (r *run) machineOffer(c *catalogue, m *machine, mode mode, region string) {
	key := mode.key(region, m.name)
	parts, fault, detail := c.sum(m, mode, region)
	if fault != "" {
		r.b.Skip(sourceSKUs, key, fault, detail)
		return
	}
	o := gputide.RawOffer{
		Source: sourceSKUs, Key: key, Flags: r.flags(m, &key),
		Price: gputide.Published{Basis: gputide.BasisInstance, Unit: gputide.PerHour, Components: parts},
	}
	for i := range parts {
		if parts[i].Kind == partAccelerator {
			o.SKU = parts[i].SKU
		}
	}
	r.b.Add(o)
}

// sum returns the parts of a machine's price, or why they are no price: a part
// without a rate, or with one that cannot be used. A smaller sum is none.
func (c *catalogue) sum(m *machine, mode mode, region string) (parts []gputide.Component, fault, detail string) {
	wanted := []struct{ part, of, quantity string }{{partAccelerator, m.rate, m.units}}
	if m.series != "" {
		wanted = slices.Insert(wanted, 0, []struct{ part, of, quantity string }{
			{partCore, m.series, m.vcpu}, {partRAM, m.series, m.memoryGiB},
		}...)
		if m.ssdGiB != "" {
			wanted = append(wanted, struct{ part, of, quantity string }{partSSD, "", m.ssdGiB})
		}
	}
	var missing, told []string
	for _, w := range wanted {
		rt := c.rates[rateID{w.part, w.of, mode}][region]
		switch {
		case rt == nil:
			missing = append(missing, w.part)
		case rt.fault != "":
			fault = cmp.Or(fault, rt.fault)
			told = append(told, w.part+": "+rt.detail)
		default:
			parts = append(parts, gputide.Component{
				Kind: w.part, Amount: rt.amount, Unit: rt.unit, Quantity: rt.quantity(w.quantity), SKU: rt.sku,
			})
			told = append(told, fmt.Sprintf("%s %s × %s/%s", w.part, w.quantity, rt.amount, rt.unit))
		}
	}
	detail = strings.Join(told, ", ")
	if missing != nil {
		fault = cmp.Or(fault, skipIncomplete)
		detail = "without " + strings.Join(missing, ", ") + ": " + detail
	}
	return parts, fault, detail
}

// acceleratorOffers adds n cards or chips, sold without a shape, in every region
// and market that has them.
func (r *run) acceleratorOffers(c *catalogue, a *accelerator, n uint32) {
	spec := a.spec(n)
	for _, mode := range modes() {
		c.eachRegion(rateID{partAccelerator, a.rate, mode}, func(region string, rt *rate) {
			key := mode.key(region, spec.InstanceType)
			if rt.fault != "" {
				r.b.Skip(sourceSKUs, key, rt.fault, rt.detail)
				return
			}
			r.b.Add(gputide.RawOffer{
				Source: sourceSKUs, Key: key, Spec: spec, SKU: rt.sku, Flags: r.cardFlags(a, &key),
				Price: gputide.Published{Amount: rt.amount, Unit: rt.unit, Basis: gputide.BasisAccelerator},
			})
		})
	}
}

// flags returns what must be known of an offer of a machine type: a price is no
// proof that it is sold so.
func (r *run) flags(m *machine, k *gputide.Key) []gputide.Flag {
	if k.Market == gputide.OnDemand && !m.onDemand || !r.sold.in(m.name, k.Region) {
		return []gputide.Flag{gputide.FlagListedNotSold}
	}
	return nil
}

// cardFlags returns what must be known of cards without a machine. A TPU's price
// holds for its host, too.
func (r *run) cardFlags(a *accelerator, k *gputide.Key) []gputide.Flag {
	if a.kind != gputide.DeviceGPU {
		return nil
	}
	flags := []gputide.Flag{gputide.FlagAcceleratorOnly}
	if r.table.byRate[a.rate] == a && !r.cards.in(k.InstanceType, k.Region) {
		flags = append(flags, gputide.FlagListedNotSold)
	}
	return flags
}
