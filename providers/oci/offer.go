package oci

import (
	"math/big"

	"github.com/gputide/gputide"
)

// add adds the on-demand offer of a shape and, where it may be preemptible, the
// spot offer. price returns the published price, or half of it.
func (r *run) add(source, shape string, preemptible *bool, spec *gputide.Spec, sku string, price func(half bool) gputide.Published) {
	for _, m := range markets() {
		key := newKey(shape, m)
		if m == gputide.Spot {
			if preemptible == nil {
				r.b.Skip(source, key, "no_preemptible_flag", shape)
				continue
			}
			if !*preemptible {
				continue
			}
		}
		r.b.Add(gputide.RawOffer{Source: source, Key: key, Spec: spec, SKU: sku, Price: price(m == gputide.Spot)})
	}
}

// addGPU adds the offers of a GPU shape, whose price is that of one card.
func (r *run) addGPU(source, shape string, preemptible *bool, amount, part string, spec *gputide.Spec) {
	r.add(source, shape, preemptible, spec, part, func(half bool) gputide.Published {
		if !half {
			return gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisAccelerator}
		}
		one := gputide.Component{Kind: "accelerator", Amount: amount, Unit: gputide.PerHour, Quantity: "1", SKU: part}
		return gputide.Published{Basis: gputide.BasisAccelerator, Components: halved([]gputide.Component{one}, true)}
	})
}

// skip counts a shape whose price cannot be read, in each market it may be sold
// in.
func (r *run) skip(source, shape string, preemptible *bool, reason, detail string) {
	for _, m := range markets() {
		if m == gputide.OnDemand || preemptible == nil || *preemptible {
			r.b.Skip(source, newKey(shape, m), reason, detail)
		}
	}
}

// halved returns parts with half the quantity: what a preemptible instance is
// charged for. A quantity that is not stated stays so.
func halved(parts []gputide.Component, half bool) []gputide.Component {
	out := append([]gputide.Component(nil), parts...)
	for i := range out {
		q, err := gputide.ParseAmount(out[i].Quantity)
		if !half || err != nil {
			continue
		}
		q.Quo(q, big.NewRat(2, 1))
		digits, _ := q.FloatPrec() // exact: half of a decimal is one
		out[i].Quantity = q.FloatString(digits)
	}
	return out
}
