package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

const fxLong = `The exchange rates that conversions use: those the European Central Bank
published last before the end of the day, crossed through the euro. FX DATE is the
older of the days of the rates crossed; on a weekend it is the Friday before.`

const fxExample = `  gputide query fx --quote CNY
  gputide query fx --from 2023-02-01 --to 2023-02-08 --quote CNY,USD
  gputide query fx --base CNY --quote USD --amount 36.078 --at 2023-02-01`

// fxFlags are the flags of `query fx`.
type fxFlags struct {
	from, to, at, base, amount, out string
	quote                           []string
}

func (m *Main) fxCmd() *cobra.Command {
	var o fxFlags
	cmd := &cobra.Command{
		Use: "fx", Short: "The exchange rates in use", Long: fxLong, Example: fxExample, Args: noArgs,
	}
	f := cmd.Flags()
	f.SortFlags = false
	listFlag(cmd, &o.quote, "quote", "CURRENCY", "what one unit of the base buys (default the currencies of the offers stored, USD and EUR)")
	f.StringVar(&o.base, "base", "EUR", "`CURRENCY` to convert from")
	f.StringVar(&o.amount, "amount", "", "convert `AMOUNT` of the base")
	f.StringVar(&o.at, "at", "", "the rate of a day, `TIME` in UTC (default now)")
	f.StringVar(&o.from, "from", "", "the rates of every day from `TIME` on, UTC")
	f.StringVar(&o.to, "to", "", "and before `TIME`, UTC (default now)")
	formatFlag(cmd, &o.out, listFormats[:])
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return m.fx(cmd.Context(), o)
	}
	return cmd
}

func (o *fxFlags) request() (query.RatesRequest, error) {
	req := query.RatesRequest{Base: o.base, Quote: o.quote, Amount: o.amount}
	if o.at != "" && (o.from != "" || o.to != "") {
		return req, usagef("--at is one day, --from and --to are many: give one")
	}
	if o.to != "" && o.from == "" {
		return req, usagef("--to needs --from")
	}
	var err error
	if req.At, err = parseTime("at", o.at); err != nil {
		return req, err
	}
	if req.From, err = parseTime("from", o.from); err != nil {
		return req, err
	}
	req.To, err = parseTime("to", o.to)
	return req, err
}

func (m *Main) fx(ctx context.Context, o fxFlags) error {
	form, err := oneOf("output", o.out, listFormats[:])
	if err != nil {
		return err
	}
	req, err := o.request()
	if err != nil {
		return err
	}
	ans, err := askOnce(ctx, m, api.Rates(), req)
	if err != nil {
		return err
	}
	end := answer{shown: len(ans.Rows), total: len(ans.Rows), noun: "rates", empty: ans.Empty}
	if end.noRoom, err = show(m, form, rateColumns(), rateTable(), ans.Rows); err != nil {
		return err
	}
	m.footer(end)
	return nil
}

func rateTable() []column[query.RateRow] {
	type row = query.RateRow
	return []column[row]{
		{head: "DAY", cell: func(r *row) string { return dayText(r.Day) }},
		{head: "1", cell: func(r *row) string { return string(r.Base) }},
		{head: "BUYS", cell: func(r *row) string { return string(r.Rate) }, right: true},
		{head: "OF", cell: func(r *row) string { return string(r.Quote) }},
		{head: "AMOUNT", cell: func(r *row) string { return string(r.Amount) }, right: true},
		{head: "IS", cell: func(r *row) string {
			if r.Converted == nil {
				return ""
			}
			return r.Converted.String()
		}, right: true},
		{head: "FX DATE", cell: func(r *row) string { return dayText(r.FXDate) }},
		{head: "RATES OF THE DAY", cell: legText, shed: 1},
		{head: "FLAGS", cell: func(r *row) string { return flagText(r.Flags) }},
	}
}

func dayText(d query.Day) string {
	if d.IsZero() {
		return ""
	}
	return d.UTC().Format("2006-01-02")
}

// legText words the published rates a rate was made of.
func legText(r *query.RateRow) string {
	parts := make([]string, len(r.Legs))
	for i, l := range r.Legs {
		parts[i] = "EUR/" + string(l.Currency) + " " + string(l.Rate)
	}
	return strings.Join(parts, ", ")
}

func rateColumns() []string {
	return []string{"day", "base", "quote", "rate", "fx_date", "legs", "amount", "converted", "flags"}
}
