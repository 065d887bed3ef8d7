package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/gputide/gputide"
)

// What makes a price an outlier.
const (
	outlierNum, outlierDen = 3, 2 // the least factor by which it stands off
	outlierMoves           = 4    // and how many times the typical move of its series, in logarithms
	outlierReturn          = 0.25 // how much of the way may be missing when the series is back
)

// OutlierRow is a price that a series left for and came back from. The series
// cost Before, went to Price, and was back at After; every price in between
// stands off from Before on the same side.
type OutlierRow struct {
	OfferID Text `json:"offer_id"`
	KeyRow
	Before    *Money    `json:"before"`
	Price     *Money    `json:"price"` // the one farthest from Before
	After     *Money    `json:"after"`
	Factor    *Fraction `json:"factor"`  // the larger of Before and Price over the smaller
	Pct       *Percent  `json:"pct"`     // from Before to Price
	Prices    int       `json:"prices"`  // from the first step away to the one back
	Moves     int       `json:"moves"`   // other price changes of the series
	Typical   *Fraction `json:"typical"` // factor of their median move; null without any
	NotBefore Stamp     `json:"not_before"`
	SeenAt    Stamp     `json:"seen_at"` // observation that first saw the series away
	BackAt    Stamp     `json:"back_at"` // observation that first saw it back
	LastedS   int64     `json:"lasted_s"`
}

// excursion is a part of the steps of a series: away with the first, back with
// the last.
type excursion struct {
	first, last int
	peak        gputide.Nano // the price farthest from the one before
	typical     float64      // logarithm of the median move of the other steps; NaN of none
}

// excursions finds the outliers of a series in its steps.
func excursions(steps []step) []excursion {
	var out []excursion
	for i := 0; i < len(steps); i++ {
		x, ok := excursionFrom(steps, i)
		if !ok {
			continue
		}
		out = append(out, x)
		i = x.last
	}
	return out
}

// excursionFrom follows a series away from its price before step i, until it is
// back; false where it does not go far or does not come back. It is back as soon
// as it is near its old price, measured by the least distance it had been at.
func excursionFrom(steps []step, i int) (excursion, bool) {
	base := steps[i].before
	if !standsOff(base, steps[i].after) {
		return excursion{}, false
	}
	x := excursion{first: i, peak: steps[i].after}
	up := steps[i].after > base
	least := distance(base, steps[i].after)
	for j := i + 1; j < len(steps); j++ {
		at := steps[j].after
		if distance(base, at) <= outlierReturn*least {
			x.last = j
			x.typical = medianMove(steps, x.first, x.last)
			return x, !(least < outlierMoves*x.typical) // NaN is no bar
		}
		if (at > base) != up || !standsOff(base, at) {
			return excursion{}, false
		}
		if distance(base, at) > distance(base, x.peak) {
			x.peak = at
		}
		least = min(least, distance(base, at))
	}
	return excursion{}, false
}

// standsOff reports whether two prices, both above zero, differ by the least
// factor of an outlier.
func standsOff(a, b gputide.Nano) bool {
	return factorOf(a, b).Cmp(big.NewRat(outlierNum, outlierDen)) >= 0
}

// factorOf returns the larger of two prices over the smaller.
func factorOf(a, b gputide.Nano) *big.Rat { return big.NewRat(int64(max(a, b)), int64(min(a, b))) }

// distance returns how far two prices lie apart: the logarithm of their ratio.
func distance(a, b gputide.Nano) float64 { return math.Abs(math.Log(float64(a) / float64(b))) }

// medianMove returns the median distance of the steps but those from first to
// last, NaN of none.
func medianMove(steps []step, first, last int) float64 {
	moves := make([]float64, 0, len(steps))
	for i, s := range steps {
		if i < first || i > last {
			moves = append(moves, distance(s.before, s.after))
		}
	}
	if len(moves) == 0 {
		return math.NaN()
	}
	slices.Sort(moves)
	return (moves[(len(moves)-1)/2] + moves[len(moves)/2]) / 2
}

// outliers finds the outliers of the selected series, read from their first
// observation to their last: what came before and after decides. The bounds of
// the request are those of the step away.
func (e *Engine) outliers(ctx context.Context, req *ChangesRequest) ([]OutlierRow, error) {
	p, err := e.past(ctx, pastAsk{filter: &req.Filter, all: true, noSpot: true})
	if err != nil {
		return nil, err
	}
	asks := make([]trackAsk, 0, len(p.offers))
	for _, c := range p.offers {
		if from, to := p.window(c); from.Before(to) {
			asks = append(asks, trackAsk{id: c.quote.ID, key: &c.quote.Key, from: from, to: to})
		}
	}
	slices.SortStableFunc(asks, func(a, b trackAsk) int { return a.to.Compare(b.to) })
	var out []OutlierRow
	i := 0
	for t, err := range e.tracks(ctx, &stockPast{}, asks, OverTime) {
		if err != nil {
			return nil, err
		}
		for _, x := range excursions(t.steps) {
			at := timeOf(t.steps[x.first].at)
			if at.Before(req.From) || (!req.To.IsZero() && !at.Before(req.To)) {
				continue
			}
			out = append(out, outlierRow(&asks[i], t.steps, x))
		}
		i++
	}
	slices.SortFunc(out, func(a, b OutlierRow) int {
		return cmp.Or(compareFactors(&b, &a), cmp.Compare(a.OfferID, b.OfferID), a.SeenAt.Compare(b.SeenAt.Time))
	})
	return out, nil
}

func compareFactors(a, b *OutlierRow) int {
	return factorOf(gputide.Nano(*a.Before), gputide.Nano(*a.Price)).Cmp(factorOf(gputide.Nano(*b.Before), gputide.Nano(*b.Price)))
}

func outlierRow(ask *trackAsk, steps []step, x excursion) OutlierRow {
	away, back := &steps[x.first], &steps[x.last]
	moved := new(big.Rat).Sub(big.NewRat(int64(x.peak), int64(away.before)), big.NewRat(1, 1))
	return OutlierRow{
		OfferID: Text(ask.id.String()), KeyRow: NewKeyRow(ask.key),
		Before: moneyOf(int64(away.before)), Price: moneyOf(int64(x.peak)), After: moneyOf(int64(back.after)),
		Factor: NewFraction(factorOf(away.before, x.peak)), Pct: NewPercent(moved),
		Prices: x.last - x.first, Moves: len(steps) - (x.last - x.first + 1), Typical: fractionOf(math.Exp(x.typical)),
		NotBefore: Stamp{timeOf(away.observed)}, SeenAt: Stamp{timeOf(away.at)}, BackAt: Stamp{timeOf(back.at)},
		LastedS: back.at - away.at,
	}
}

// answerOutliers answers a request for outliers. It takes no kind, count or
// cursor of the feed.
func (e *Engine) answerOutliers(ctx context.Context, req ChangesRequest) (ChangesAnswer, error) {
	if len(req.Kinds) > 0 || req.CountBy != "" || req.AfterSeq > 0 {
		return ChangesAnswer{}, &gputide.HintError{
			Err:  fmt.Errorf("%w: outliers are found in the history of prices, not in the feed of changes", gputide.ErrInvalid),
			Hint: "leave kind, count-by and after-seq out",
		}
	}
	if req.Limit < 0 {
		return ChangesAnswer{}, fmt.Errorf("%w: limit %d", gputide.ErrInvalid, req.Limit)
	}
	if !req.From.IsZero() && !req.To.IsZero() && !req.From.Before(req.To) {
		return ChangesAnswer{}, fmt.Errorf("%w: from is not before to", gputide.ErrInvalid)
	}
	found, err := e.outliers(ctx, &req)
	if err != nil {
		return ChangesAnswer{}, err
	}
	if req.Top > 0 && len(found) > req.Top {
		found = found[:req.Top]
	}
	ans := ChangesAnswer{Outliers: found}
	if req.Limit > 0 && len(found) > req.Limit {
		ans.Outliers, ans.More = found[:req.Limit], true
	}
	if len(found) > 0 {
		return ans, nil
	}
	ans.Empty, err = e.emptyOutliers(ctx, req)
	return ans, err
}

// emptyOutliers tells a history without outliers from a filter that selects
// none.
func (e *Engine) emptyOutliers(ctx context.Context, req ChangesRequest) (*Empty, error) {
	series := func(r ChangesRequest) (int, error) {
		p, err := e.past(ctx, pastAsk{filter: &r.Filter, all: true, noSpot: true})
		if err != nil {
			return 0, err
		}
		return len(p.offers), nil
	}
	n, err := series(req)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		return &Empty{Text: fmt.Sprintf("no outlier among %d series", n)}, nil
	}
	return whyEmpty(req, filterConstraints(func(r *ChangesRequest) *Filter { return &r.Filter }, req), "series", series)
}
