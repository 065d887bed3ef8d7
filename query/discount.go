package query

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// DiscountRequest asks what offers cost beside buying on demand.
type DiscountRequest struct {
	Filter   Filter    // Market empty is spot; on_demand is no answer
	From, To time.Time // [From, To); zero is the whole history of each offer
	Over     string    // "time", or "rows"; empty is time
	AtLeast  string    // percent: how much of the time the discount is at least this; empty asks nothing
	Budget   string    // as Filter.MaxPrice, in the currency of the row: how much of the time the price is at most this
	In       string    // currency to convert prices to; empty leaves them as published. Discounts and moves are of the published ones
	FXNow    bool      // convert with today's rate, not that of each day
	Sort     []string  // fields of DiscountSortFields, "-" before one reverses it; empty is -now_pct
	Limit    int       // rows at most; 0 is all
	Lines    int       // of how many rows, from the first, to give the history for a chart
}

// DiscountAnswer is one row per offer.
type DiscountAnswer struct {
	At     time.Time         `json:"at"` // the moment of "now"
	Over   Over              `json:"over"`
	Rows   []DiscountRow     `json:"rows"`
	Total  int               `json:"total"`  // rows before Limit
	Hidden []Hidden          `json:"hidden"` // what the filter selected and the defaults left out
	Lines  [][]DiscountPoint `json:"lines"`  // by row, as many as asked
	Empty  *Empty            `json:"empty"`
}

// DiscountPoint is the discount, and the price, in force from a moment on. Pct
// is null where there is no reference.
type DiscountPoint struct {
	At    Stamp    `json:"at"`
	Pct   *Percent `json:"pct"`
	Price Money    `json:"price"`
}

// DiscountRow is the discount of one offer against its on-demand reference, and
// its own price, over a window. Prices are per instance-hour.
type DiscountRow struct {
	OfferID Text `json:"offer_id"`
	KeyRow
	Over                 Over           `json:"over"`
	OnDemand             *Money         `json:"on_demand"` // now; null without a reference in force
	Price                *Money         `json:"price"`     // the last known; see State
	NowPct               *Percent       `json:"now_pct"`   // at the end of the window
	MinPct               *Percent       `json:"min_pct"`
	P5Pct                *Percent       `json:"p5_pct"`
	P50Pct               *Percent       `json:"p50_pct"`
	P95Pct               *Percent       `json:"p95_pct"`
	MaxPct               *Percent       `json:"max_pct"`
	ShareOfTimeGE        *Fraction      `json:"share_of_time_ge"` // discount at least what was asked
	PriceMin             *Money         `json:"price_min"`
	PriceP5              *Money         `json:"price_p5"`
	PriceP50             *Money         `json:"price_p50"`
	PriceP95             *Money         `json:"price_p95"`
	PriceMax             *Money         `json:"price_max"`
	PriceMean            *Money         `json:"price_mean"`
	PriceFirst           *Money         `json:"price_first"`
	PriceLast            *Money         `json:"price_last"`
	ShareOfTimeLE        *Fraction      `json:"share_of_time_le"` // price at most the budget asked
	Changes              int            `json:"changes"`
	ChangesPerDay        *Fraction      `json:"changes_per_day"`
	Volatility           *Fraction      `json:"volatility"`
	MaxDrawdownPct       *Percent       `json:"max_drawdown_pct"`
	BreakEvenUtilisation *Fraction      `json:"break_even_utilisation"` // of a commitment or subscription: the share of hours from which it is cheaper
	Interruption         *BandRow       `json:"interruption"`
	BestZoneNow          Text           `json:"best_zone_now"` // cheapest zone of the same offer now
	BestZone             Text           `json:"best_zone"`     // cheapest zone by mean price over the window
	From                 Stamp          `json:"from"`
	To                   Stamp          `json:"to"`
	Samples              int            `json:"samples"`       // pairs or stretches the discount rests on; without a reference those of the price
	CoveredShare         *Fraction      `json:"covered_share"` // of the window, in which both prices were in force; without a reference the price alone
	PriceSamples         int            `json:"price_samples"`
	PriceCoveredShare    *Fraction      `json:"price_covered_share"`
	State                gputide.State  `json:"state"` // now
	ObservedAt           Stamp          `json:"observed_at"`
	AgeS                 int64          `json:"age_s"`
	OnDemandOffer        Text           `json:"on_demand_offer"` // offer id of the reference
	Reason               Text           `json:"reason"`          // why there is no discount: no_reference, ambiguous_reference
	Accelerator          Text           `json:"accelerator"`     // slug, or the raw name after "? "
	Count                Text           `json:"count"`
	Flags                []gputide.Flag `json:"flags"`
}

// discountAsk is a request with its values understood.
type discountAsk struct {
	over    Over
	atLeast *big.Rat // percent; nil asks nothing
	budget  *budget
	days    *fxDays // nil leaves the currency
	sort    []order
}

func (e *Engine) discountAsk(req *DiscountRequest) (*discountAsk, error) {
	if req.Limit < 0 {
		return nil, fmt.Errorf("%w: limit %d", gputide.ErrInvalid, req.Limit)
	}
	if slices.Contains(req.Filter.Market, string(gputide.OnDemand)) {
		return nil, &gputide.HintError{
			Err:  fmt.Errorf("%w: market on_demand is what discounts are measured against", gputide.ErrInvalid),
			Hint: "ask for spot, commitment, subscription, capacity_block or flex",
		}
	}
	ask := &discountAsk{}
	var err error
	if ask.over, err = parseOver(req.Over); err != nil {
		return nil, err
	}
	if ask.days, err = e.dailyRates(req.In, req.FXNow); err != nil {
		return nil, err
	}
	if req.AtLeast != "" {
		if ask.atLeast, err = gputide.ParseAmount(req.AtLeast); err != nil {
			return nil, &gputide.HintError{Err: fmt.Errorf("discount: %w", err), Hint: "write percent as a number, as in 50"}
		}
	}
	if req.Budget != "" {
		if ask.budget, err = parseBudget(req.Budget); err != nil {
			return nil, err
		}
	}
	ask.sort, err = parseDiscountSort(req.Sort)
	return ask, err
}

// Discount returns what offers cost beside buying on demand, the largest
// discount now first. It returns [gputide.ErrInvalid] for a request it does not
// understand.
func (e *Engine) Discount(ctx context.Context, req DiscountRequest) (DiscountAnswer, error) {
	ask, err := e.discountAsk(&req)
	if err != nil {
		return DiscountAnswer{}, err
	}
	p, rows, err := e.discounts(ctx, &req, ask)
	if err != nil {
		return DiscountAnswer{}, err
	}
	ans := DiscountAnswer{At: p.scene.at, Over: ask.over, Total: len(rows), Hidden: p.hidden}
	if len(rows) == 0 {
		ans.Empty, err = e.emptyDiscount(ctx, req, p.hidden)
		return ans, err
	}
	bestZones(rows)
	sortDiscounts(rows, ask.sort)
	if req.Limit > 0 && len(rows) > req.Limit {
		rows = rows[:req.Limit]
	}
	ans.Rows = make([]DiscountRow, len(rows))
	for i := range rows {
		ans.Rows[i] = rows[i].row
	}
	ans.Lines, err = e.discountLines(ctx, p.stock, ask, rows[:min(len(rows), max(req.Lines, 0))])
	return ans, err
}

// discounted is a row with what it is compared by.
type discounted struct {
	key gputide.Key
	id  gputide.OfferID
	ref *gputide.Quote // nil without a reference
	row DiscountRow
}

// discounts measures every selected offer.
func (e *Engine) discounts(ctx context.Context, req *DiscountRequest, ask *discountAsk) (*past, []discounted, error) {
	filter := req.Filter
	if len(filter.Market) == 0 {
		filter.Market = []string{string(gputide.Spot)}
	}
	p, err := e.past(ctx, pastAsk{filter: &filter, from: req.From, to: req.To, in: req.In, fxNow: req.FXNow})
	if err != nil {
		return nil, nil, err
	}
	refs, err := e.partners(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if p.stock, err = e.stockPast(ctx, p); err != nil {
		return nil, nil, err
	}
	list := p.pairs(refs)
	rows := make([]discounted, 0, len(list))
	next, stop := iter.Pull2(e.tracks(ctx, p.stock, pairAsks(list), ask.over))
	defer stop()
	var other *track
	for i := range list {
		if list[i].leads {
			if other, err = pull(next); err != nil {
				return nil, nil, err
			}
			other = other.clone()
		}
		t, err := pull(next)
		if err != nil {
			return nil, nil, err
		}
		if !t.listed {
			continue
		}
		row, err := p.discount(ctx, &list[i], t, other, ask)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, *row)
	}
	return p, rows, nil
}

// discount measures one offer; other is the history of its reference where it
// has one.
func (p *past) discount(ctx context.Context, o *paired, t, other *track, ask *discountAsk) (*discounted, error) {
	stats, err := newPriceStats(ctx, t, ask.over, ask.converter(&o.c.quote.Key))
	if err != nil {
		return nil, err
	}
	d := &discounted{key: o.c.quote.Key, id: o.c.quote.ID, row: *discountRow(p, o.c, t, stats, ask)}
	if d.row.Reason = Text(o.why); o.ref == nil {
		return d, nil
	}
	d.row.compare(o.ref, ask.shown(o.c), t, other, ask)
	if d.row.OnDemandOffer != "" {
		d.ref = o.ref
	}
	return d, nil
}

// converter returns what turns the prices of a series into those of the answer.
func (ask *discountAsk) converter(k *gputide.Key) *converter {
	return &converter{factor: big.NewRat(1, 1), from: k.Currency, days: ask.days}
}

// shown returns the conversion of a price of now; nil is none.
func (ask *discountAsk) shown(c *candidate) *cross {
	if ask.days == nil {
		return same(c.quote.Key.Currency)
	}
	return c.in
}

// discountRow fills in all that needs no reference.
func discountRow(p *past, c *candidate, t *track, stats *priceStats, ask *discountAsk) *DiscountRow {
	q := c.quote
	row := &DiscountRow{
		OfferID: Text(q.ID.String()), KeyRow: NewKeyRow(&q.Key), Over: ask.over,
		Price: ask.shown(c).apply(q.Price), Changes: len(t.steps), ChangesPerDay: perDay(len(t.steps), t.covered()),
		Volatility: volatility(t.steps), MaxDrawdownPct: stats.fall.percent(),
		From: Stamp{timeOf(t.from)}, To: Stamp{timeOf(t.to)},
		Samples: stats.n, PriceSamples: stats.n,
		State: c.state, ObservedAt: Stamp{q.ObservedAt}, AgeS: age(p.scene.at, q.ObservedAt),
		Accelerator: Text(c.view.name()), Count: Text(c.view.count.String()), Flags: orNone(c.flags),
	}
	row.CoveredShare = share(stats.covered(t), uint64(t.to-t.from))
	row.PriceCoveredShare = row.CoveredShare
	if ask.days != nil {
		row.Currency = Text(ask.days.to)
	}
	if stats.lost {
		row.Flags = addFlag(row.Flags, gputide.FlagNoFX)
	}
	if c.stock.band != nil {
		row.Interruption = bandRow(*c.stock.band)
	}
	if stats.samples.weight == 0 {
		return row
	}
	s, over := stats.samples, ask.over
	least, greatest := s.ends()
	row.PriceMin, row.PriceMax, row.PriceMean = moneyOf(least), moneyOf(greatest), moneyOf(mean(s))
	row.PriceP5, row.PriceP50, row.PriceP95 = moneyOf(percentile(s, over, 5)), moneyOf(percentile(s, over, 50)), moneyOf(percentile(s, over, 95))
	row.PriceFirst, row.PriceLast = moneyOf(stats.first), moneyOf(stats.last)
	if most, ok := ask.budget.instance(c.view.count); ok {
		row.ShareOfTimeLE = share(s.within(func(v int64) bool { return gputide.Nano(v).Rat().Cmp(most) <= 0 }), s.weight)
	}
	return row
}

// compare fills in all that needs a reference. A reference without a price at
// any time of the window is none: prices of different years say nothing of each
// other.
func (row *DiscountRow) compare(ref *gputide.Quote, shown *cross, t, other *track, ask *discountAsk) {
	s, n, covered := pair(t, other, ask.over)
	reference, known := other.now()
	if !known && covered == 0 && n == 0 {
		row.Reason = NoReference
		return
	}
	row.OnDemandOffer = Text(ref.ID.String())
	if known {
		row.OnDemand = shown.apply(reference)
		if price, ok := t.now(); ok {
			row.NowPct = NewPercent(ratioOf(price, reference).discount())
			switch gputide.Market(row.Market) {
			case gputide.Commitment, gputide.Subscription:
				row.BreakEvenUtilisation = NewFraction(big.NewRat(int64(price), int64(reference)))
			}
		}
	}
	row.Samples, row.CoveredShare = n, share(covered, uint64(t.to-t.from))
	if n == 0 {
		return
	}
	least, greatest := s.ends()
	row.MinPct, row.MaxPct = NewPercent(least.discount()), NewPercent(greatest.discount())
	row.P5Pct = NewPercent(discountPercentile(s, ask.over, 5))
	row.P50Pct = NewPercent(discountPercentile(s, ask.over, 50))
	row.P95Pct = NewPercent(discountPercentile(s, ask.over, 95))
	if ask.atLeast != nil {
		want := new(big.Rat).Quo(ask.atLeast, big.NewRat(100, 1))
		row.ShareOfTimeGE = share(s.within(func(r ratio) bool { return r.discount().Cmp(want) >= 0 }), s.weight)
	}
}

// pair sets the prices of two series against each other, instant by instant or,
// over rows, where both were observed at the same moment. covered is the time
// in which both were in force.
func pair(t, other *track, over Over) (s *samples[ratio], n int, covered uint64) {
	s = newSamples(byDiscount)
	eachPair(t, other, func(from, to int64, r ratio) {
		covered += uint64(to - from)
		if over == OverTime {
			n++
			s.add(r, uint64(to-from))
		}
	})
	for i, j := 0, 0; i < len(t.rows) && j < len(other.rows); {
		a, b := &t.rows[i], &other.rows[j]
		switch at := a.At.Compare(b.At); {
		case at < 0:
			i++
		case at > 0:
			j++
		default:
			n++
			s.add(ratioOf(a.Price, b.Price), 1)
			i, j = i+1, j+1
		}
	}
	return s, n, covered
}

// eachPair passes the stretches in which both series had a price.
func eachPair(t, other *track, fn func(from, to int64, r ratio)) {
	for i, j := 0, 0; i < len(t.stretches) && j < len(other.stretches); {
		a, b := &t.stretches[i], &other.stretches[j]
		if from, to := max(a.from, b.from), min(a.to, b.to); from < to {
			fn(from, to, ratioOf(a.price, b.price))
		}
		if a.to <= b.to {
			i++
		} else {
			j++
		}
	}
}

// instance returns the budget for a whole instance; false when there is none or
// the count it needs is not known.
func (b *budget) instance(count gputide.Count) (*big.Rat, bool) {
	switch {
	case b == nil, b.each && !count.Known():
		return nil, false
	case !b.each:
		return b.most, true
	}
	return new(big.Rat).Mul(b.most, big.NewRat(int64(count.Num), int64(count.Den))), true
}
