package query

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/gputide/gputide"
)

// Why an offer has no on-demand price to be compared with.
const (
	NoReference        = "no_reference"
	AmbiguousReference = "ambiguous_reference"
)

// firstVolume is the first step of prices that fall with use, where the source
// publishes steps at all.
const firstVolume = "h<=96"

// references are on-demand offers by what an offer and its reference share.
type references map[gputide.Key][]*gputide.Quote

// shared reduces a key to the fields an offer shares with its on-demand
// reference: zone and volume are judged apart, and a bid floor is compared with
// the cheapest listing.
func shared(k *gputide.Key) gputide.Key {
	out := gputide.Key{
		Provider: k.Provider, Partition: k.Partition, Seller: k.Seller, Region: k.Region,
		InstanceType: k.InstanceType, OS: k.OS, License: k.License, Tenancy: k.Tenancy, Tier: k.Tier,
		Tax: k.Tax, Currency: k.Currency, Stat: k.Stat,
	}
	if out.Stat == gputide.StatBidFloor {
		out.Stat = gputide.StatMin
	}
	return out
}

// add takes in the quotes that may be references.
func (r references) add(quotes []gputide.Quote) {
	for i := range quotes {
		if inForce(quotes[i].State) {
			r.take(&quotes[i])
		}
	}
}

func (r references) take(q *gputide.Quote) {
	if q.Key.Market != gputide.OnDemand || (q.Key.Volume != "" && q.Key.Volume != firstVolume) {
		return
	}
	k := shared(&q.Key)
	k.Zone = q.Key.Zone
	r[k] = append(r[k], q)
}

// inForce reports whether a price of the state is one a buyer is charged, as far
// as is known.
func inForce(s gputide.State) bool {
	return s != gputide.StateUnknown && s != gputide.StateWithdrawn
}

// of returns the on-demand offer that k is compared with, of the same zone or of
// none, or why there is none.
func (r references) of(k *gputide.Key) (*gputide.Quote, string) {
	want := shared(k)
	found := r[want]
	if k.Zone != "" {
		want.Zone = k.Zone
		found = slices.Concat(found, r[want])
	}
	switch len(found) {
	case 0:
		return nil, NoReference
	case 1:
		return found[0], ""
	}
	return nil, AmbiguousReference
}

// flagSpot marks spot offers that are not below their on-demand reference.
func (e *Engine) flagSpot(ctx context.Context, r *scene, offers []*candidate) error {
	var spots []*candidate
	for _, c := range offers {
		if c.quote.Key.Market == gputide.Spot {
			spots = append(spots, c)
		}
	}
	if len(spots) == 0 {
		return nil
	}
	refs, err := e.references(ctx, r, spots)
	if err != nil {
		return err
	}
	for _, c := range spots {
		ref, _ := refs.of(&c.quote.Key)
		switch {
		case ref == nil:
		case ref.Price == c.quote.Price:
			c.flags = addFlag(c.flags, gputide.FlagSpotEqualsOnDemand)
		case ref.Price < c.quote.Price:
			c.flags = addFlag(c.flags, gputide.FlagSpotAboveOnDemand)
		}
	}
	return nil
}

// references returns the on-demand offers that the offers may be compared with:
// those read for the question where they are among them, else read apart.
func (e *Engine) references(ctx context.Context, r *scene, offers []*candidate) (references, error) {
	out := references{}
	if r.read != nil && r.plan.keepsReferences() {
		for _, quotes := range r.read {
			out.add(quotes)
		}
		return out, nil
	}
	quotes, err := e.onDemand(ctx, r, offers)
	if err != nil {
		return nil, err
	}
	out.add(quotes)
	return out, nil
}

// onDemand reads the on-demand offers of the providers and instance types of
// some offers; asked again about the same ones, it gives what it read.
func (e *Engine) onDemand(ctx context.Context, r *scene, offers []*candidate) ([]gputide.Quote, error) {
	types, providers := map[string]bool{}, map[string]bool{}
	for _, c := range offers {
		types[c.quote.Key.InstanceType] = true
		providers[c.quote.Key.Provider] = true
	}
	if len(types) == 0 {
		return nil, nil
	}
	sel := gputide.Selection{Matches: []gputide.Match{
		{Field: gputide.FieldMarket, Values: []string{string(gputide.OnDemand)}},
		{Field: gputide.FieldProvider, Values: sortedKeys(providers)},
		{Field: gputide.FieldInstanceType, Values: sortedKeys(types)},
	}}
	if reflect.DeepEqual(sel, r.demandOf) {
		return r.demand, nil
	}
	quotes, err := e.Reader.Quotes(ctx, sel, r.at)
	if err != nil {
		return nil, fmt.Errorf("on-demand prices: %w", err)
	}
	r.demandOf, r.demand = sel, quotes
	return quotes, nil
}

// keepsReferences reports whether a selection that holds an offer holds its
// reference too: it asks for no field in which they may differ.
func (p *plan) keepsReferences() bool {
	return !slices.ContainsFunc(p.key, func(m gputide.Match) bool {
		switch m.Field {
		case gputide.FieldMarket, gputide.FieldZone, gputide.FieldPlan, gputide.FieldTerm, gputide.FieldPayment,
			gputide.FieldVolume, gputide.FieldStat:
			return true
		}
		return false
	})
}

// addFlag returns the flags with one more, sorted; it does not write to in.
func addFlag(in []gputide.Flag, f gputide.Flag) []gputide.Flag {
	i, ok := slices.BinarySearch(in, f)
	if ok {
		return in
	}
	return slices.Insert(slices.Clone(in), i, f)
}

// dropFlag returns the flags without one; it does not write to in.
func dropFlag(in []gputide.Flag, f gputide.Flag) []gputide.Flag {
	return slices.DeleteFunc(slices.Clone(in), func(have gputide.Flag) bool { return have == f })
}
