package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

const compareLong = `What an hour of each accelerator costs at each provider, side by side and in one
currency: a line per accelerator, a column per provider.

A cell is the cheapest offer of the accelerator there: bought on demand at the list
price of the first volume step, in a state query offers shows. --market, --stat and
--volume take others instead, and the other filters are those of query offers. A
provider without such an offer has an empty cell, in the machine forms null with
the reason. The machine forms have a row per cell, with the offer, its state and
its age.

--per prices one hour of a card, a GB of its memory, a GB/s of its memory bandwidth
or a TFLOPS of a precision. --per mlperf:MODEL prices one token, sample or query a
second of a benchmark: the price of the instance over the MLPerf Inference result of
a machine with the same accelerators, as many of them and with as much memory; of
several results in the newest round the lower median. MODEL:SCENARIO takes another
scenario than Offline, MODEL@v4.1 a round and MODEL@v4.1-0043 one result.

` + listHelp

const compareExample = `  gputide query compare --gpu h100,h200,mi300x
  gputide query compare --market spot --per gb --sort price
  gputide query compare --gpu a100 --country us --in EUR
  gputide query compare --per tflops:fp8 --sort price --limit 10
  gputide query compare --gpu h100 --stat list,min -o csv`

// compareFlags are the flags of `query compare` beside its filters.
type compareFlags struct {
	at, per, in, fx, sort, out string
	limit                      int
}

func (m *Main) compareCmd() *cobra.Command {
	var o compareFlags
	cmd := &cobra.Command{
		Use: "compare", Short: "What each accelerator costs at each provider", Long: compareLong, Example: compareExample, Args: noArgs,
	}
	filter := addFilters(cmd, forOffers)
	f := cmd.Flags()
	f.StringVar(&o.at, "at", "", "as of a moment, `TIME` in UTC (default now)")
	f.StringVar(&o.per, "per", query.PerGPU, "price one hour of a `UNIT`: gpu, instance, gb (of accelerator memory), gbps (GB/s of its bandwidth), tflops:PRECISION, mlperf:MODEL")
	f.StringVar(&o.in, "in", "USD", "the one `CURRENCY` of the answer")
	f.StringVar(&o.fx, "fx", "then", "`WHICH` exchange rate: then (of --at) or now")
	f.StringVar(&o.sort, "sort", query.CompareByGPU, "order the accelerators by `FIELD`: "+strings.Join(query.CompareSorts(), ", ")+" (the cheapest first)")
	limitFlag(cmd, &o.limit, 0)
	formatFlag(cmd, &o.out, listFormats[:])
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return m.compare(cmd.Context(), o, *filter)
	}
	return cmd
}

func (o *compareFlags) request(filter query.Filter) (query.CompareRequest, error) {
	req := query.CompareRequest{Filter: filter, Per: o.per, In: strings.ToUpper(o.in), Limit: o.limit}
	if err := checkLimit(o.limit); err != nil {
		return req, err
	}
	fx, err := oneOf("fx", o.fx, []string{"then", "now"})
	if err != nil {
		return req, err
	}
	req.FXNow = fx == "now"
	if req.Sort, err = oneOf("sort", o.sort, query.CompareSorts()); err != nil {
		return req, err
	}
	req.At, err = parseTime("at", o.at)
	return req, err
}

func (m *Main) compare(ctx context.Context, o compareFlags, filter query.Filter) error {
	form, err := oneOf("output", o.out, listFormats[:])
	if err != nil {
		return err
	}
	req, err := o.request(filter)
	if err != nil {
		return err
	}
	ans, err := askOnce(ctx, m, api.Compare(), req)
	if err != nil {
		return err
	}
	lines := compareLines(&ans)
	end := answer{
		shown: len(lines), total: ans.Total, noun: "accelerators", hidden: ans.Hidden, hides: "offers", empty: ans.Empty,
		more: "--limit 0 shows all", noAll: true,
	}
	if form != formatTable {
		_, err = writeRows(m.Stdout, form, compareColumns(), sliceRows(ans.Rows))
	} else if len(lines) > 0 {
		end.noRoom, err = printTable(m.screen(m.Stdout), compareTable(&ans), lines)
	}
	if len(ans.Rows) > 0 {
		for _, s := range ans.Skipped {
			fmt.Fprintf(m.Stderr, "left out: %d offers: %s\n", s.Count, clean(s.Reason))
		}
	}
	m.footer(end)
	return err
}

// compareLine is one accelerator with a cell for each provider.
type compareLine []query.CompareRow

// compareLines cuts the rows of an answer into lines.
func compareLines(ans *query.CompareAnswer) []compareLine {
	var out []compareLine
	if len(ans.Providers) == 0 {
		return nil
	}
	for line := range slices.Chunk(ans.Rows, len(ans.Providers)) {
		out = append(out, line)
	}
	return out
}

// best is the cheapest cell of a line; there is one with a price.
func (l compareLine) best() *query.CompareRow {
	var best *query.CompareRow
	for i := range l {
		if p := l[i].Price; p != nil && (best == nil || *p < *best.Price) {
			best = &l[i]
		}
	}
	return best
}

// compareTable is the matrix for people. Where the terminal is narrow the
// providers with the fewest prices are left out first.
func compareTable(ans *query.CompareAnswer) []column[compareLine] {
	unit := "PER " + strings.ToUpper(ans.Unit)
	cols := []column[compareLine]{
		{head: "GPU", least: 12, cell: func(l *compareLine) string { return string((*l)[0].GPU) }},
		{head: unit, right: true, cell: func(l *compareLine) string { return comparePrice((*l).best()) }},
		{head: "CHEAPEST AT", least: 8, cell: func(l *compareLine) string { return string((*l).best().Provider) }},
		{head: "TYPE", least: 12, shed: 1, cell: func(l *compareLine) string { return string((*l).best().InstanceType) }},
	}
	if slices.ContainsFunc(ans.Rows, func(r query.CompareRow) bool { return r.Benchmark != nil }) {
		cols = append(cols,
			column[compareLine]{head: "FOR 1 " + string(ans.In), right: true, shed: 1, cell: func(l *compareLine) string { return workText((*l).best().Benchmark) }},
			column[compareLine]{head: "RESULT", shed: 2, cell: func(l *compareLine) string { return resultText((*l).best().Benchmark) }},
			column[compareLine]{head: "SURE", shed: 3, cell: func(l *compareLine) string { return benchConfidence((*l).best().Benchmark) }})
	}
	prices := make([]int, len(ans.Providers))
	for i := range ans.Rows {
		if ans.Rows[i].Price != nil {
			prices[i%len(prices)]++
		}
	}
	for i, p := range ans.Providers {
		cols = append(cols, column[compareLine]{
			head: strings.ToUpper(p), right: true, shed: 10 + len(ans.Rows) - prices[i],
			cell: func(l *compareLine) string { return comparePrice(&(*l)[i]) },
		})
	}
	return cols
}

// comparePrice is a price with the state of its offer where that is not priced.
func comparePrice(r *query.CompareRow) string {
	s := finePrice(r.Price, string(r.Currency))
	if s != "" && gputide.State(r.State) != gputide.StatePriced {
		s += " " + string(r.State)
	}
	return s
}

// fineDigits is how many digits a price of a small unit shows.
const fineDigits = 4

// finePrice is a price for a table; one of under a cent, as of a TFLOPS, keeps
// its first digits.
func finePrice(n *query.Money, currency string) string {
	const cent = 10_000_000
	if n == nil || *n <= 0 || *n >= cent {
		return priceText(n, currency, false)
	}
	decimals := 2
	for least := query.Money(cent); *n < least; least /= 10 {
		decimals++
	}
	return currencySign(currency) + strings.TrimRight(gputide.Nano(*n).Rat().FloatString(decimals+fineDigits-1), "0")
}

// workText is what one unit of the currency buys, in whole tokens, samples or
// queries.
func workText(b *query.BenchmarkRow) string {
	if b == nil || b.PerCurrency == nil {
		return ""
	}
	unit, _, _ := strings.Cut(string(b.Units), "/")
	return strconv.FormatFloat(b.PerCurrency.Float(), 'f', 0, 64) + " " + strings.ToLower(unit)
}

func resultText(b *query.BenchmarkRow) string {
	if b == nil {
		return ""
	}
	return string(b.ID) + " " + string(b.Result) + " " + string(b.Units)
}

func benchConfidence(b *query.BenchmarkRow) string {
	if b == nil {
		return ""
	}
	return string(b.Confidence)
}

func compareColumns() []string {
	return []string{
		"gpu", "price", "unit", "reason", "offer_id", "provider", "partition", "seller", "region", "zone", "instance_type", "market", "plan",
		"term", "payment", "os", "license", "tenancy", "tier", "volume", "stat", "tax", "currency", "instance_price", "count", "offers",
		"state", "since", "observed_at", "age_s", "benchmark.round", "benchmark.id", "benchmark.submitter", "benchmark.system",
		"benchmark.accelerator", "benchmark.model", "benchmark.scenario", "benchmark.result", "benchmark.units", "benchmark.results",
		"benchmark.confidence", "benchmark.per_currency", "flags",
	}
}
