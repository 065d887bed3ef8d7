package query

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// mostTypesAsked bounds how many instance types signals are selected by; with
// more of them all signals of the providers are read.
const mostTypesAsked = 500

// stockLag is how much older than the offer's own last observation an
// availability signal may be and still speak of it.
const stockLag = 24 * time.Hour

// stock is what signals say of one offer.
type stock struct {
	level    *int64   // availability, the best where several places speak
	regions  []string // with stock, of an offer without a region; nil when no signal names one
	listings *int64
	band     *int64
}

// available returns whether the offer is in stock, nil when nothing says so.
func (s *stock) available() *bool {
	if s.level == nil {
		return nil
	}
	return new(*s.level != gputide.AvailabilityNone)
}

// signalsByType are signals of one name by the instance type they speak of.
type signalsByType map[specKey][]gputide.SignalValue

// signalSelection selects the signals that may speak of the offers; false when
// there are none.
func signalSelection(offers []*candidate) (gputide.Selection, bool) {
	providers, types := map[string]bool{}, map[string]bool{}
	for _, c := range offers {
		providers[c.quote.Key.Provider] = true
		types[c.quote.Key.InstanceType] = true
	}
	sel := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldProvider, Values: sortedKeys(providers)}}}
	if len(types) <= mostTypesAsked {
		sel.Matches = append(sel.Matches, gputide.Match{Field: gputide.FieldInstanceType, Values: sortedKeys(types)})
	}
	return sel, len(offers) > 0
}

// signalsFor reads the signals of one name that may speak of the offers.
func (e *Engine) signalsFor(ctx context.Context, offers []*candidate, name string, at time.Time) (signalsByType, error) {
	sel, ok := signalSelection(offers)
	if !ok {
		return nil, nil
	}
	values, err := e.Reader.Signals(ctx, sel, name, at)
	if err != nil {
		return nil, fmt.Errorf("signal %s: %w", name, err)
	}
	out := signalsByType{}
	for i := range values {
		k := specKey{provider: values[i].Key.Provider, instanceType: values[i].Key.InstanceType}
		out[k] = append(out[k], values[i])
	}
	return out, nil
}

func (s signalsByType) of(k *gputide.Key) []gputide.SignalValue {
	return s[specKey{provider: k.Provider, instanceType: k.InstanceType}]
}

// attachStock joins availability, listings and interruption to the offers.
func (e *Engine) attachStock(ctx context.Context, r *scene, offers []*candidate) error {
	availability, err := e.signalsFor(ctx, offers, gputide.SignalAvailability, r.at)
	if err != nil {
		return err
	}
	var spots, listed []*candidate
	for _, c := range offers {
		r.plan.place.stock(e.Regions, c, availability.of(&c.quote.Key))
		if c.quote.Key.Market == gputide.Spot {
			spots = append(spots, c)
		}
		if s := c.quote.Key.Stat; s == gputide.StatMin || s == gputide.StatP50 {
			listed = append(listed, c)
		}
	}
	bands, err := e.signalsFor(ctx, spots, gputide.SignalInterruption, r.at)
	if err != nil {
		return err
	}
	for _, c := range spots {
		c.stock.band = closest(bands.of(&c.quote.Key), &c.quote.Key)
	}
	counts, err := e.signalsFor(ctx, listed, gputide.SignalListings, r.at)
	if err != nil {
		return err
	}
	for _, c := range listed {
		c.stock.listings = closest(counts.of(&c.quote.Key), &c.quote.Key)
	}
	return nil
}

// stock joins availability to one offer. With a place only the signals of the
// place speak of an offer without a region.
func (p *place) stock(regions Regions, c *candidate, signals []gputide.SignalValue) {
	everywhere := c.quote.Key.Region == ""
	for i := range signals {
		s := &signals[i]
		if !speaksOf(&s.Key, &c.quote.Key, true) || s.ObservedAt.Add(stockLag).Before(c.quote.ObservedAt) {
			continue
		}
		if everywhere && !p.hears(regions, &s.Key) {
			continue
		}
		c.stock.add(s, everywhere)
	}
	slices.Sort(c.stock.regions)
	c.stock.regions = slices.Compact(c.stock.regions)
}

// hears reports whether a signal speaks of the place.
func (p *place) hears(regions Regions, k *gputide.Key) bool {
	return p == nil || p.everywhere() || (k.Region != "" && p.covers(regions, k))
}

// add joins one availability signal. named collects the regions with stock.
func (s *stock) add(v *gputide.SignalValue, named bool) {
	if s.level == nil || *s.level < v.Value {
		s.level = new(v.Value)
	}
	if !named || v.Key.Region == "" {
		return
	}
	if s.regions == nil {
		s.regions = []string{}
	}
	if v.Value != gputide.AvailabilityNone {
		s.regions = append(s.regions, v.Key.Region)
	}
}

// speaksOf reports whether a signal of key s says something of an offer of key
// k: every field it states is equal. Where the offer has one price for all
// regions or zones, wide lets a signal of one of them speak too.
func speaksOf(s, k *gputide.Key, wide bool) bool {
	for _, f := range gputide.KeyFields() {
		said, have := s.Get(f), k.Get(f)
		if said == "" || said == have {
			continue
		}
		if wide && have == "" && (f == gputide.FieldRegion || f == gputide.FieldZone) {
			continue
		}
		return false
	}
	return true
}

// closest returns the value of the signal that states most of the key, the
// highest of equals, nil when none speaks of it.
func closest(signals []gputide.SignalValue, k *gputide.Key) *int64 {
	var best *int64
	said := -1
	for i := range signals {
		s := &signals[i]
		if !speaksOf(&s.Key, k, false) {
			continue
		}
		n := 0
		for _, f := range gputide.KeyFields() {
			if s.Key.Get(f) != "" {
				n++
			}
		}
		if n > said || (n == said && s.Value > *best) {
			best, said = new(s.Value), n
		}
	}
	return best
}

func sortedKeys(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
