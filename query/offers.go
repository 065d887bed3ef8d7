package query

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// scene is one question with its values understood.
type scene struct {
	plan     *plan
	at       time.Time
	all      bool
	converts bool      // prices are shown in the currency of in
	in, usd  *exchange // in is the currency offers are compared in
	sort     []order
	noSpot   bool              // spot is not set beside its reference
	read     [][]gputide.Quote // what the store answered

	demandOf gputide.Selection // of the on-demand offers read last
	demand   []gputide.Quote
}

// candidate is one offer that a question may answer with.
type candidate struct {
	quote *gputide.Quote
	view  *specView
	state gputide.State
	flags []gputide.Flag
	stock stock
	in    *cross // to the currency offers are compared in
}

// Offers returns what is on offer, cheapest per accelerator first. It returns
// [gputide.ErrInvalid] for a request it does not understand.
func (e *Engine) Offers(ctx context.Context, req OffersRequest) (OffersAnswer, error) {
	r, err := e.stage(ctx, &req)
	if err != nil {
		return OffersAnswer{}, err
	}
	shown, hidden, err := e.gather(ctx, r)
	if err != nil {
		return OffersAnswer{}, err
	}
	ans := OffersAnswer{At: r.at, In: r.in.to, Total: len(shown), Hidden: hidden}
	if len(shown) == 0 {
		ans.Empty, err = e.emptyOffers(ctx, req, hidden)
		return ans, err
	}
	sortOffers(shown, r.sort)
	if req.Limit > 0 && len(shown) > req.Limit {
		shown = shown[:req.Limit]
	}
	ans.Rows = make([]OfferRow, len(shown))
	for i, c := range shown {
		if ans.Rows[i], err = r.row(ctx, c, e.Regions); err != nil {
			return OffersAnswer{}, err
		}
	}
	return ans, nil
}

// stage understands a request.
func (e *Engine) stage(ctx context.Context, req *OffersRequest) (*scene, error) {
	r := &scene{at: e.moment(req.At), all: req.All, converts: req.In != ""}
	if req.Limit < 0 {
		return nil, fmt.Errorf("%w: limit %d", gputide.ErrInvalid, req.Limit)
	}
	in := usd
	if r.converts {
		var err error
		if in, err = parseCurrency("in", req.In); err != nil {
			return nil, err
		}
	}
	fxAt := r.at
	if req.FXNow {
		fxAt = e.moment(time.Time{})
	}
	r.usd = newExchange(e.Reader, usd, fxAt)
	r.in = r.usd
	if in != usd {
		r.in = newExchange(e.Reader, in, fxAt)
	}
	var err error
	if r.sort, err = parseSort(req.Sort); err != nil {
		return nil, err
	}
	r.plan, err = e.plan(ctx, &req.Filter, askOffers)
	return r, err
}

// gather returns the offers that answer the question, unsorted, and counts
// those that the filter selects and the defaults hide.
func (e *Engine) gather(ctx context.Context, r *scene) ([]*candidate, []Hidden, error) {
	offers, err := e.candidates(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	if err := e.attachStock(ctx, r, offers); err != nil {
		return nil, nil, err
	}
	offers = slices.DeleteFunc(offers, func(c *candidate) bool { return !r.keeps(c) })
	if err := r.price(ctx, offers); err != nil {
		return nil, nil, err
	}
	offers = slices.DeleteFunc(offers, func(c *candidate) bool { return !r.plan.budget.allows(c) })
	if !r.noSpot || r.plan.flags != nil {
		if err := e.flagSpot(ctx, r, offers); err != nil {
			return nil, nil, err
		}
	}
	offers = slices.DeleteFunc(offers, func(c *candidate) bool { return !r.plan.flagged(c) })
	return e.hide(ctx, r, offers)
}

// candidates reads the selected offers and judges what needs no other series.
func (e *Engine) candidates(ctx context.Context, r *scene) ([]*candidate, error) {
	sels, err := e.selections(ctx, r)
	if err != nil {
		return nil, err
	}
	views := newSpecViews(e.Catalogue)
	var out []*candidate
	for i, sel := range sels {
		quotes, err := e.Reader.Quotes(ctx, sel, r.at)
		if err != nil {
			return nil, fmt.Errorf("offers: %w", err)
		}
		r.read = append(r.read, quotes)
		for j := range quotes {
			q := &quotes[j]
			if i > 0 && q.Key.Region != "" || !r.plan.matches(&q.Key) || !r.mayShow(q, e.Regions) {
				continue
			}
			v := views.of(&q.Key, q.Spec)
			if !r.plan.spec.matches(v) {
				continue
			}
			out = append(out, &candidate{quote: q, view: v, state: q.State, flags: liveFlags(q, v)})
		}
	}
	return out, nil
}

// mayShow reports whether an offer was known at the moment and may lie in the
// place; one without a region is judged by its stock later.
func (r *scene) mayShow(q *gputide.Quote, regions Regions) bool {
	if q.State == gputide.StateUnknown {
		return slices.Contains(r.plan.states, gputide.StateUnknown)
	}
	return q.Key.Region == "" || r.plan.place.covers(regions, &q.Key)
}

// keeps judges an offer by what its signals say.
func (r *scene) keeps(c *candidate) bool {
	p := r.plan
	if p.place != nil && c.quote.Key.Region == "" && !p.place.everywhere() && c.stock.level == nil {
		return false
	}
	in := c.stock.available()
	if c.state == gputide.StatePriced && in != nil && !*in {
		c.state = gputide.StateSoldOut
	}
	if p.states != nil && !slices.Contains(p.states, c.state) {
		return false
	}
	return p.stock == nil || (in != nil && *in == *p.stock)
}

// flagged reports whether the offer bears one of the flags asked for.
func (p *plan) flagged(c *candidate) bool {
	return p.flags == nil || slices.ContainsFunc(p.flags, func(f gputide.Flag) bool {
		return slices.Contains(c.flags, f)
	})
}

// price finds the rates the offers are compared by and flags what they lack.
func (r *scene) price(ctx context.Context, offers []*candidate) error {
	for _, c := range offers {
		in, err := r.in.from(ctx, c.quote.Key.Currency)
		if err != nil {
			return err
		}
		dollars, err := r.usd.from(ctx, c.quote.Key.Currency)
		if err != nil {
			return err
		}
		c.in = in
		if in == nil || dollars == nil {
			c.flags = addFlag(c.flags, gputide.FlagNoFX)
		}
		if (in != nil && in.old) || (dollars != nil && dollars.old) {
			c.flags = addFlag(c.flags, gputide.FlagFXOld)
		}
	}
	return nil
}

// allows judges the price of an offer. A nil budget allows all; what cannot be
// compared is not allowed.
func (b *budget) allows(c *candidate) bool {
	if b == nil {
		return true
	}
	if c.in == nil || (b.each && !c.view.count.Known()) {
		return false
	}
	cost := new(big.Rat).Mul(c.quote.Price.Rat(), c.in.rate)
	if b.each {
		cost.Mul(cost, big.NewRat(int64(c.view.count.Den), int64(c.view.count.Num)))
	}
	return cost.Cmp(b.most) <= 0
}

// liveFlags returns the stored flags of an offer, those the catalogue and the
// spec decide brought up to date.
func liveFlags(q *gputide.Quote, v *specView) []gputide.Flag {
	flags := q.Flags
	switch {
	case v.unknown:
		flags = addFlag(flags, gputide.FlagUnknownAccelerator)
	case slices.Contains(flags, gputide.FlagUnknownAccelerator):
		flags = dropFlag(flags, gputide.FlagUnknownAccelerator)
	}
	switch {
	case v.spec == nil:
		flags = addFlag(flags, gputide.FlagSpecUnknown)
	case slices.Contains(flags, gputide.FlagSpecUnknown):
		flags = dropFlag(flags, gputide.FlagSpecUnknown)
	}
	return flags
}
