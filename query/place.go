package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/gputide/gputide"
)

// place selects by where an offer is sold. A nil place selects everything.
type place struct {
	regions    []string      // codes that may match, for the store; "" is one price everywhere
	named      map[site]bool // those asked for by the name of a place
	asked      []string      // those asked for as codes
	countries  []string
	continents []string
}

func (p *place) with(f gputide.Field, values []string) *place {
	if p == nil {
		p = &place{}
	}
	switch f {
	case gputide.FieldCountry:
		p.countries = values
	case gputide.FieldContinent:
		p.continents = values
	}
	return p
}

// within returns p for regions asked for by code or by name.
func (p *place) within(codes []string, named map[site]bool) *place {
	if p == nil {
		p = &place{}
	}
	p.asked, p.named = codes, named
	p.regions = slices.Clone(codes)
	for s := range named {
		p.regions = append(p.regions, s.region)
	}
	slices.Sort(p.regions)
	p.regions = slices.Compact(p.regions)
	return p
}

// codes reports whether the region of k was asked for.
func (p *place) codes(k *gputide.Key) bool {
	return p == nil || p.regions == nil || slices.Contains(p.asked, k.Region) || p.named[site{k.Provider, k.Region}]
}

// everywhere reports whether p asks for offers with one price everywhere by
// name.
func (p *place) everywhere() bool { return p != nil && slices.Contains(p.regions, "") }

// covers reports whether the region of k lies in p.
func (p *place) covers(regions Regions, k *gputide.Key) bool {
	if p == nil {
		return true
	}
	if !p.codes(k) {
		return false
	}
	if p.countries == nil && p.continents == nil {
		return true
	}
	at, ok := regions.Lookup(k.Provider, k.Partition, k.Region)
	return ok && (p.countries == nil || slices.Contains(p.countries, at.Country)) &&
		(p.continents == nil || slices.Contains(p.continents, at.Continent))
}

// matches returns p as the store understands it: series with a region.
func (p *place) matches() []gputide.Match {
	var out []gputide.Match
	for _, m := range []gputide.Match{
		{Field: gputide.FieldRegion, Values: p.regions},
		{Field: gputide.FieldCountry, Values: p.countries},
		{Field: gputide.FieldContinent, Values: p.continents},
	} {
		m.Values = slices.DeleteFunc(slices.Clone(m.Values), func(v string) bool { return v == "" })
		if len(m.Values) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// selections returns what to ask the store for: the selected series in the
// place and, apart, the series with one price everywhere whose availability
// signals may put them there.
func (e *Engine) selections(ctx context.Context, r *scene) ([]gputide.Selection, error) {
	base := r.plan.selection()
	p := r.plan.place
	if p == nil {
		return []gputide.Selection{base}, nil
	}
	if p.everywhere() && len(p.matches()) == 0 {
		return []gputide.Selection{base}, nil
	}
	out := []gputide.Selection{{Matches: slices.Concat(base.Matches, p.matches())}}
	if p.everywhere() {
		return append(out, base), nil
	}
	stocked, err := e.stockedTypes(ctx, r)
	if err != nil || stocked == nil {
		return out, err
	}
	return append(out, gputide.Selection{Matches: slices.Concat(stocked, base.Matches)}), nil
}

// stockedTypes returns matches of the instance types that some availability
// signal puts in the place, nil when there is none.
func (e *Engine) stockedTypes(ctx context.Context, r *scene) ([]gputide.Match, error) {
	sel := gputide.Selection{Matches: r.plan.keyOnly(
		gputide.FieldProvider, gputide.FieldPartition, gputide.FieldSeller, gputide.FieldInstanceType)}
	if p := r.plan.place; p.countries == nil && p.continents == nil {
		sel.Matches = append(sel.Matches, gputide.Match{Field: gputide.FieldRegion, Values: p.regions})
	}
	signals, err := e.Reader.Signals(ctx, sel, gputide.SignalAvailability, r.at)
	if err != nil {
		return nil, fmt.Errorf("availability: %w", err)
	}
	var providers, types []string
	for i := range signals {
		k := &signals[i].Key
		if k.Region != "" && r.plan.place.covers(e.Regions, k) {
			providers = append(providers, k.Provider)
			types = append(types, k.InstanceType)
		}
	}
	if len(types) == 0 {
		return nil, nil
	}
	slices.Sort(providers)
	slices.Sort(types)
	return []gputide.Match{
		{Field: gputide.FieldProvider, Values: slices.Compact(providers)},
		{Field: gputide.FieldInstanceType, Values: slices.Compact(types)},
	}, nil
}
