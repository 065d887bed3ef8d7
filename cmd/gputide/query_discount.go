package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

const discountLong = `What offers of a market cost beside buying the same machine on demand: the
discount now and over a window, and how the price itself moved.

The reference is the on-demand offer equal in provider, region, instance type,
operating system, licence, tenancy, tier, tax, currency and kind of price, of the
same zone or of none. Where there is none, or more than one, there is no discount
and REASON says so; the price statistics stay. A negative discount is one: the
offer costs more than on demand.

--over time compares the two prices at each instant both were in force; --over
rows where both were observed at the same moment.

` + listHelp

const discountExample = `  gputide query discount --market spot --gpu h100 --since 90d
  gputide query discount --market commitment --type p5.48xlarge --term 1y --region us-east-1
  gputide query discount --market subscription --provider alibaba --partition cn
  gputide query discount --market spot --gpu a100 --at-least 60 --sort=-p50_pct --limit 20 -o json`

const spotLong = `Is spot really cheaper, where, and for how long: query discount for the spot
market.

` + discountLong

const spotExample = `  gputide query spot --gpu h100 --since 90d
  gputide query spot --type p3.2xlarge --region us-east-1 --from 2020-01-05 --to 2020-02-05
  gputide query spot --gpu rtx-4090 --at-least 50 --budget 0.4/gpu
  gputide query spot --gpu a100 --in EUR --budget 20
  gputide query spot --type a3-highgpu-8g --over rows -o json`

// discountFlags are the flags of `query discount` and `query spot` beside their
// filters.
type discountFlags struct {
	windowFlags
	atLeast, budget, in, fx, out, chart string
	sort                                []string
	limit                               int
	spot                                bool
}

func (m *Main) discountCmd() *cobra.Command {
	return m.discountVerb(&cobra.Command{
		Use: "discount", Short: "What spot, commitments and subscriptions save against on demand",
		Long: discountLong, Example: discountExample, Args: noArgs,
	}, false)
}

func (m *Main) spotCmd() *cobra.Command {
	return m.discountVerb(&cobra.Command{
		Use: "spot", Short: "When spot is really cheaper, and where", Long: spotLong, Example: spotExample, Args: noArgs,
	}, true)
}

func (m *Main) discountVerb(cmd *cobra.Command, spot bool) *cobra.Command {
	o := discountFlags{spot: spot}
	filter := addFilters(cmd, forOffers)
	f := cmd.Flags()
	if spot {
		f.Lookup("market").Hidden = true
	} else {
		f.Lookup("market").Usage = "spot, commitment, subscription, capacity_block, flex (default spot)"
	}
	o.add(cmd)
	f.StringVar(&o.atLeast, "at-least", "", "tell how much of the time the discount is at least `PCT` percent")
	f.StringVar(&o.budget, "budget", "", "tell how much of the time the price is at most `AMOUNT` an hour; 2.5/gpu is per accelerator")
	f.StringVar(&o.in, "in", "", "convert prices to a `CURRENCY`, with the rate of each day; discounts and moves stay those of the published prices")
	f.StringVar(&o.fx, "fx", "then", "`WHICH` exchange rate: then (of each day) or now")
	listFlag(cmd, &o.sort, "sort", "FIELD", "order by fields, - before one reverses it: "+strings.Join(query.DiscountSortFields(), ", ")+" (default -now_pct)")
	f.StringVar(&o.chart, "chart", "", "write a chart of the discounts to `FILE`.svg")
	limitFlag(cmd, &o.limit, 0)
	formatFlag(cmd, &o.out, listFormats[:])
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return m.discount(cmd.Context(), o, *filter)
	}
	return cmd
}

func (m *Main) discountRequest(o *discountFlags, filter query.Filter) (query.DiscountRequest, error) {
	if o.spot {
		if len(filter.Market) > 0 {
			return query.DiscountRequest{}, usagef("query spot is about spot; query discount takes --market")
		}
		filter.Market = []string{string(gputide.Spot)}
	}
	req := query.DiscountRequest{
		Filter: filter, Over: o.over, AtLeast: o.atLeast, Budget: o.budget, In: strings.ToUpper(o.in), Sort: o.sort, Limit: o.limit,
	}
	if o.chart != "" || o.out == string(formatTable) {
		req.Lines = mostChartLines
	}
	if err := checkLimit(o.limit); err != nil {
		return req, err
	}
	if err := checkChart(o.chart); err != nil {
		return req, err
	}
	fx, err := oneOf("fx", o.fx, []string{"then", "now"})
	if err != nil {
		return req, err
	}
	req.FXNow = fx == "now"
	req.From, req.To, err = o.window(m.Now())
	return req, err
}

func (m *Main) discount(ctx context.Context, o discountFlags, filter query.Filter) error {
	form, err := oneOf("output", o.out, listFormats[:])
	if err != nil {
		return err
	}
	req, err := m.discountRequest(&o, filter)
	if err != nil {
		return err
	}
	ans, err := askOnce(ctx, m, api.Discount(), req)
	if err != nil {
		return err
	}
	end := answer{shown: len(ans.Rows), total: ans.Total, noun: "offers", hidden: ans.Hidden, empty: ans.Empty, more: "--limit 0 shows all", noAll: true}
	if end.noRoom, err = show(m, form, discountColumns(), discountTable(), ans.Rows); err != nil {
		return err
	}
	fig := discountFigure(&ans)
	if form == formatTable {
		err = m.drawFigure(m.Stdout, fig)
	}
	if err == nil && o.chart != "" && len(ans.Rows) > 0 {
		err = writeChart(o.chart, fig)
	}
	m.footer(end)
	return err
}

// discountFigure is the chart of the first rows: their discounts or, where no
// row has one, their prices.
func discountFigure(ans *query.DiscountAnswer) figure {
	fig := figure{title: "percent below on demand"}
	priced := !slices.ContainsFunc(ans.Rows[:len(ans.Lines)], func(r query.DiscountRow) bool { return r.MinPct != nil })
	if priced {
		fig.title = "price of one instance-hour"
	}
	for i, points := range ans.Lines {
		r := &ans.Rows[i]
		line := figureLine{name: clean(strings.Join([]string{string(r.InstanceType), zoneText(r), purchase(&r.KeyRow)}, " "))}
		for _, p := range points {
			switch {
			case priced:
				line.points = append(line.points, point{p.At.Time, units(p.Price)})
			case p.Pct != nil:
				line.points = append(line.points, point{p.At.Time, float64(*p.Pct) / 1e4})
			}
		}
		fig.lines = append(fig.lines, line)
	}
	return fig
}

func discountTable() []column[query.DiscountRow] {
	type row = query.DiscountRow
	col := func(head string, shed int, cell func(*row) string) column[row] {
		return column[row]{head: head, cell: cell, right: true, shed: shed}
	}
	price := func(head string, shed int, of func(*row) *query.Money) column[row] {
		return col(head, shed, func(r *row) string { return priceText(of(r), string(r.Currency), false) })
	}
	pct := func(head string, shed int, of func(*row) *query.Percent) column[row] {
		return col(head, shed, func(r *row) string { return shortPercent(of(r)) })
	}
	now := pct("OFF % NOW", 0, func(r *row) *query.Percent { return r.NowPct })
	now.paint = discountColour
	return []column[row]{
		now,
		pct("MIN", 9, func(r *row) *query.Percent { return r.MinPct }),
		pct("P50", 3, func(r *row) *query.Percent { return r.P50Pct }),
		pct("MAX", 9, func(r *row) *query.Percent { return r.MaxPct }),
		col("TIME >=", 2, func(r *row) string { return shareText(r.ShareOfTimeGE) }),
		price("PRICE/H", 0, func(r *row) *query.Money { return r.Price }),
		price("ON DEMAND", 5, func(r *row) *query.Money { return r.OnDemand }),
		price("PRICE P50", 10, func(r *row) *query.Money { return r.PriceP50 }),
		col("TIME <=", 2, func(r *row) string { return shareText(r.ShareOfTimeLE) }),
		col("BREAK EVEN", 4, func(r *row) string { return shareText(r.BreakEvenUtilisation) }),
		col("MOVES/D", 12, func(r *row) string { return shortFraction(r.ChangesPerDay) }),
		pct("WORST FALL", 14, func(r *row) *query.Percent { return r.MaxDrawdownPct }),
		{head: "GPU", cell: func(r *row) string { return timesText(r) }, least: 10, shed: 6},
		{head: "PROVIDER", cell: func(r *row) string { return sellerText(&r.KeyRow) }, least: 8},
		{head: "REGION", cell: zoneText, least: 12},
		{head: "TYPE", cell: func(r *row) string { return string(r.InstanceType) }, least: 12},
		{head: "MARKET", cell: func(r *row) string { return purchase(&r.KeyRow) }, least: 6, shed: 4},
		{head: "TIER", cell: func(r *row) string { return string(r.Tier) }, shed: 8},
		{head: "STAT", cell: func(r *row) string { return statText(&r.KeyRow) }, shed: 5},
		{head: "OS", cell: func(r *row) string { return software(&r.KeyRow) }, shed: 11},
		{head: "INTERRUPTED", cell: bandText, shed: 7},
		{head: "BEST ZONE", cell: bestZoneText, shed: 6},
		{head: "REASON", cell: func(r *row) string { return string(r.Reason) }, least: 12},
		{head: "STATE", cell: func(r *row) string { return string(r.State) }, shed: 13, paint: func(r *row) colours { return stateColour(r.State) }},
		{head: "COVERED", cell: func(r *row) string { return shareText(r.CoveredShare) }, right: true, shed: 15},
		{head: "OFFER", cell: func(r *row) string { return shortID(string(r.OfferID)) }, shed: 7},
	}
}

// shortPercent is a percentage with two decimals.
func shortPercent(p *query.Percent) string {
	if p == nil {
		return ""
	}
	return strconv.FormatFloat(float64(*p)/1e4, 'f', 2, 64)
}

// signedPercent is a change with two decimals.
func signedPercent(p *query.Percent) string {
	s := shortPercent(p)
	if p != nil && *p > 0 {
		return "+" + s
	}
	return s
}

// zoneText is the region with its zone, once where the zone names the region.
func zoneText(r *query.DiscountRow) string {
	if r.Region != "" && strings.HasPrefix(string(r.Zone), string(r.Region)) {
		return string(r.Zone)
	}
	return place(&r.KeyRow)
}

// timesText is "8× h100-sxm-80gb".
func timesText(r *query.DiscountRow) string {
	if r.Count == "" || r.Accelerator == "" {
		return string(r.Accelerator)
	}
	return string(r.Count) + "× " + string(r.Accelerator)
}

func bandText(r *query.DiscountRow) string {
	if r.Interruption == nil {
		return ""
	}
	return string(r.Interruption.Text)
}

// bestZoneText is the cheapest zone now, with that of the window where it is
// another.
func bestZoneText(r *query.DiscountRow) string {
	if r.BestZone == "" || r.BestZone == r.BestZoneNow {
		return string(r.BestZoneNow)
	}
	return strings.TrimPrefix(string(r.BestZoneNow)+", mostly "+string(r.BestZone), ", ")
}

func discountColour(r *query.DiscountRow) colours {
	switch {
	case r.NowPct == nil:
		return nil
	case *r.NowPct <= 0:
		return colours{text.FgRed}
	}
	return colours{text.FgGreen}
}

func discountColumns() []string {
	return []string{
		"offer_id", "provider", "partition", "seller", "region", "zone", "instance_type", "market", "plan", "term", "payment",
		"os", "license", "tenancy", "tier", "volume", "stat", "tax", "currency", "over", "on_demand", "price", "now_pct",
		"min_pct", "p5_pct", "p50_pct", "p95_pct", "max_pct", "share_of_time_ge", "price_min", "price_p5", "price_p50",
		"price_p95", "price_max", "price_mean", "price_first", "price_last", "share_of_time_le", "changes", "changes_per_day",
		"volatility", "max_drawdown_pct", "break_even_utilisation", "interruption.band", "interruption.text", "best_zone_now",
		"best_zone", "from", "to", "samples", "covered_share", "price_samples", "price_covered_share", "state", "observed_at",
		"age_s", "on_demand_offer", "reason", "accelerator", "count", "flags",
	}
}
