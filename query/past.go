package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// past is the series a question about history is asked of, as they are at the
// end of its window.
type past struct {
	scene    *scene
	from, to time.Time // zero where the request leaves them open
	offers   []*candidate
	hidden   []Hidden
	stock    *stockPast // nil until it is read
}

// pastAsk is what a question about history asks for.
type pastAsk struct {
	filter   *Filter
	from, to time.Time // zero leaves it open
	in       string    // currency the filter's highest price is in; empty is USD
	fxNow    bool
	all      bool // leave nothing out
	noSpot   bool // spot need not be set beside its reference of the end
}

// past selects series. A filter selects the offers it selects at the end of the
// window. Payable prices, unverified tiers and what nobody can buy as it stands
// are left out unless a filter asks for them. Bid floors are not, for they never stand among other prices here,
// nor is spot at or above on-demand.
func (e *Engine) past(ctx context.Context, ask pastAsk) (*past, error) {
	now, from, to := e.moment(time.Time{}), ask.from, ask.to
	if to.After(now) {
		to = now
	}
	p := &past{from: from, to: to}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return nil, fmt.Errorf("%w: from is not before to", gputide.ErrInvalid)
	}
	if from.After(now) {
		return nil, fmt.Errorf("%w: from lies in the future", gputide.ErrInvalid)
	}
	var err error
	if p.scene, err = e.stage(ctx, &OffersRequest{Filter: *ask.filter, At: to, In: ask.in, FXNow: ask.fxNow, All: true}); err != nil {
		return nil, err
	}
	p.scene.noSpot = ask.noSpot
	if p.offers, _, err = e.gather(ctx, p.scene); err != nil {
		return nil, err
	}
	counts := map[Hidden]int{}
	p.offers = slices.DeleteFunc(p.offers, func(c *candidate) bool {
		reason, hint := p.scene.plan.unasked(&c.quote.Key)
		if ask.all || reason == string(gputide.StatBidFloor) && c.quote.Key.Tier != tierUnverified {
			return false
		}
		if reason == "" {
			reason, hint = p.scene.plan.unsold(c.flags)
		}
		if reason != "" {
			counts[Hidden{Reason: reason, Ask: hint}]++
		}
		return reason != ""
	})
	p.hidden = sortHidden(counts)
	slices.SortFunc(p.offers, func(a, b *candidate) int { return slices.Compare(a.quote.ID[:], b.quote.ID[:]) })
	return p, nil
}

// sortHidden lists what was left out, most first.
func sortHidden(counts map[Hidden]int) []Hidden {
	hidden := make([]Hidden, 0, len(counts))
	for h, n := range counts {
		h.Count = n
		hidden = append(hidden, h)
	}
	slices.SortFunc(hidden, func(a, b Hidden) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return hidden
}

// window returns the window of one series: from its first observation, where
// the request does not say, until its last of an import that ended, or the
// moment asked about. The second of the last observation is inside.
func (p *past) window(c *candidate) (from, to time.Time) {
	from, to = p.from, p.to
	if from.IsZero() {
		from = c.quote.FirstSeen
	}
	if to.IsZero() {
		to = p.scene.at
		if c.quote.State == gputide.StateImportedEnd {
			to = c.quote.ObservedAt.Add(time.Second)
		}
	}
	return from, to
}

// span returns the window of all series together; there must be one.
func (p *past) span() (from, to time.Time) {
	for i, c := range p.offers {
		a, b := p.window(c)
		if i == 0 || a.Before(from) {
			from = a
		}
		if i == 0 || b.After(to) {
			to = b
		}
	}
	return from, to
}
