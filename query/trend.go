package query

import (
	"context"
	"fmt"
	"time"

	"github.com/gputide/gputide"
)

// BasketFixed keeps only the series present in every bucket.
const BasketFixed = "fixed"

// TrendRequest asks how prices moved.
type TrendRequest struct {
	Filter   Filter
	From, To time.Time // [From, To); zero is from the first observation, to now
	Over     string    // "time", or "rows"; empty is time
	GroupBy  []string  // fields of GroupFields; empty is gpu
	Mix      []string  // fields of MixFields to mix, that are kept apart otherwise
	Bucket   string    // one of Buckets; empty is auto
	Per      string    // one of Units; empty is instance
	In       string    // currency to convert to; empty keeps the published ones apart
	FXNow    bool      // convert with today's rate, not that of each day
	Basket   string    // "fixed", or empty
	Index    bool      // chain matched series from 100
	Budget   string    // price: how much of the time prices are at most this; empty asks nothing
	Limit    int       // rows at most; 0 is all
}

// TrendAnswer is one row per group and bucket.
type TrendAnswer struct {
	From    time.Time  `json:"from"`
	To      time.Time  `json:"to"`
	Over    Over       `json:"over"`
	Bucket  string     `json:"bucket"`
	Fields  []string   `json:"fields"` // of the groups, in order
	Rows    []TrendRow `json:"rows"`
	Total   int        `json:"total"`   // rows before Limit
	Series  int        `json:"series"`  // series in the rows
	Hidden  []Hidden   `json:"hidden"`  // what the filter selected and the defaults left out
	Skipped []Hidden   `json:"skipped"` // series that could not be used; Ask is empty
	Mixed   []string   `json:"mixed"`   // fields that move prices and in which the series of a group differ: os, license, tax, …
	Empty   *Empty     `json:"empty"`
}

// TrendRow is the prices of a group in a bucket. First and Last are the medians
// of the first and the last price of each series. A bucket between others in
// which the group has no price has null statistics.
type TrendRow struct {
	Group         Group     `json:"group"`
	BucketStart   Stamp     `json:"bucket_start"`
	Currency      Text      `json:"currency"`
	Unit          Text      `json:"unit"` // what one hour of the price buys: instance, gpu, gb, gbps, tflops:PRECISION
	Over          Over      `json:"over"`
	N             int       `json:"n"` // series over time, observations over rows
	Series        int       `json:"series"`
	Changes       int       `json:"changes"` // of prices as published
	Entered       int       `json:"entered"` // series that had no price in the bucket before
	Left          int       `json:"left"`    // series that had one in the bucket before and have none now
	Min           *Money    `json:"min"`
	P5            *Money    `json:"p5"`
	P50           *Money    `json:"p50"`
	P95           *Money    `json:"p95"`
	Mean          *Money    `json:"mean"`
	Max           *Money    `json:"max"`
	First         *Money    `json:"first"`
	Last          *Money    `json:"last"`
	ChangePct     *Percent  `json:"change_pct"` // from first to last
	CoveredShare  *Fraction `json:"covered_share"`
	ShareOfTimeLE *Fraction `json:"share_of_time_le"` // at most the budget asked
	Index         *Fraction `json:"index"`            // null unless asked, and from where no series matches
}

func (req *TrendRequest) past() pastAsk {
	return pastAsk{filter: &req.Filter, from: req.From, to: req.To, in: req.In, fxNow: req.FXNow, noSpot: true}
}

// trendAsk is a request with its values understood.
type trendAsk struct {
	over   Over
	fields []groupField
	per    per
	days   *fxDays
	budget *gputide.Nano
	basket bool
	index  bool
}

func (e *Engine) trendAsk(req *TrendRequest) (*trendAsk, error) {
	if req.Limit < 0 {
		return nil, fmt.Errorf("%w: limit %d", gputide.ErrInvalid, req.Limit)
	}
	ask := &trendAsk{index: req.Index, basket: req.Basket == BasketFixed}
	if !ask.basket && req.Basket != "" {
		return nil, unknown("basket", req.Basket, []string{BasketFixed})
	}
	if err := knownBucket(req.Bucket); err != nil {
		return nil, err
	}
	var err error
	if ask.over, err = parseOver(req.Over); err != nil {
		return nil, err
	}
	if ask.fields, err = groupBy(req.GroupBy, req.Mix); err != nil {
		return nil, err
	}
	if ask.per, err = parsePer(req.Per); err != nil {
		return nil, err
	}
	if ask.days, err = e.dailyRates(req.In, req.FXNow); err != nil {
		return nil, err
	}
	ask.budget, err = trendBudget(req.Budget)
	return ask, err
}

func trendBudget(s string) (*gputide.Nano, error) {
	if s == "" {
		return nil, nil
	}
	n, err := gputide.ParseNano(s)
	if err != nil || n <= 0 {
		return nil, &gputide.HintError{
			Err:  fmt.Errorf("%w: budget %q", gputide.ErrInvalid, clip(s)),
			Hint: "write it as 2.5, in the currency and unit of the answer",
		}
	}
	return &n, nil
}

func knownBucket(name string) error {
	if name == "" {
		return nil
	}
	_, err := enumValue(&filterField{name: "bucket", enum: Buckets()}, name)
	return err
}

// Trend returns how prices moved, by group and bucket. It returns
// [gputide.ErrInvalid] for a request it does not understand.
func (e *Engine) Trend(ctx context.Context, req TrendRequest) (TrendAnswer, error) {
	ask, err := e.trendAsk(&req)
	if err != nil {
		return TrendAnswer{}, err
	}
	p, err := e.past(ctx, req.past())
	if err != nil {
		return TrendAnswer{}, err
	}
	ans := TrendAnswer{From: req.From, To: req.To, Over: ask.over, Hidden: p.hidden}
	for _, f := range ask.fields {
		ans.Fields = append(ans.Fields, f.name)
	}
	if err := e.fillTrend(ctx, &req, ask, p, &ans); err != nil {
		return TrendAnswer{}, err
	}
	ans.Total = len(ans.Rows)
	if ans.Total == 0 {
		ans.Empty, err = e.emptyTrend(ctx, req, &ans)
		return ans, err
	}
	if req.Limit > 0 && len(ans.Rows) > req.Limit {
		ans.Rows = ans.Rows[:req.Limit]
	}
	return ans, nil
}

// fillTrend reads the selected series into the rows.
func (e *Engine) fillTrend(ctx context.Context, req *TrendRequest, ask *trendAsk, p *past, ans *TrendAnswer) error {
	if len(p.offers) == 0 {
		return nil
	}
	ans.From, ans.To = p.span()
	if !ans.From.Before(ans.To) {
		return nil
	}
	cut, err := newBuckets(req.Bucket, ans.From, ans.To)
	if err != nil {
		return err
	}
	ans.Bucket = cut.name
	if p.stock, err = e.stockPast(ctx, p); err != nil {
		return err
	}
	b := &trend{engine: e, ask: ask, buckets: cut, groups: map[string]*trendGroup{}, skipped: map[Hidden]int{}}
	b.reading.buckets = cut
	asks := make([]trackAsk, len(p.offers))
	for i, c := range p.offers {
		asks[i] = trackAsk{id: c.quote.ID, key: &c.quote.Key, from: ans.From, to: ans.To}
	}
	i := 0
	for tr, err := range e.tracks(ctx, p.stock, asks, ask.over) {
		if err == nil {
			err = b.add(ctx, p.offers[i], tr)
		}
		if err != nil {
			return err
		}
		i++
	}
	ans.Rows, ans.Series, ans.Mixed, ans.Skipped = b.rows(), b.series, b.mixed(), sortHidden(b.skipped)
	return nil
}

func (e *Engine) emptyTrend(ctx context.Context, req TrendRequest, ans *TrendAnswer) (*Empty, error) {
	if len(ans.Skipped) > 0 {
		return noneUsable(ans.Skipped, "series"), nil
	}
	if len(ans.Hidden) > 0 {
		return allHidden(ans.Hidden), nil
	}
	cs := filterConstraints(func(r *TrendRequest) *Filter { return &r.Filter }, req)
	cs = append(cs, windowConstraints(req, func(r *TrendRequest) (from, to *time.Time) { return &r.From, &r.To })...)
	return whyEmpty(req, cs, "series", func(less TrendRequest) (int, error) {
		p, err := e.past(ctx, less.past())
		if err != nil {
			return 0, err
		}
		return len(p.offers), nil
	})
}
