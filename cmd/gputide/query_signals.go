package main

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

const signalsLong = `Facts about offers that are not prices: availability, number of listings, spot
interruption band, savings, placement score, eviction rate. A signal has only the
key fields its source states.

With --since, --from or --to every value a signal had in that time is listed with
when it held; --count-by value then counts the signals that had it at some time,
and tells for which share of the time.

` + listHelp

const signalsExample = `  gputide query signals --name availability --provider runpod
  gputide query signals --name interruption --type p5.48xlarge
  gputide query signals --name interruption --count-by value
  gputide query signals --name availability --gpu h100 --since 30d`

// signalsFlags are the flags of `query signals` beside its filters.
type signalsFlags struct {
	name, at, since, from, to, countBy, out string
	limit                                   int
}

func (m *Main) signalsCmd() *cobra.Command {
	var o signalsFlags
	cmd := &cobra.Command{
		Use: "signals", Short: "Availability, interruption bands and other facts beside the price", Long: signalsLong, Example: signalsExample,
		Args: noArgs,
	}
	filter := addFilters(cmd, forSignals)
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "`NAME` of the signal: availability, listings, interruption, savings, placement_score, eviction_rate (default all)")
	f.StringVar(&o.at, "at", "", "as of a moment, `TIME` in UTC (default now)")
	f.StringVar(&o.since, "since", "", "over the last `SPAN`: 12h, 90d, 6mo, 1y")
	f.StringVar(&o.from, "from", "", "from `TIME` on, UTC")
	f.StringVar(&o.to, "to", "", "before `TIME`, UTC")
	f.StringVar(&o.countBy, "count-by", "", "count signals by `FIELD`: value")
	limitFlag(cmd, &o.limit, 0)
	formatFlag(cmd, &o.out, listFormats[:])
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return m.signals(cmd.Context(), o, *filter)
	}
	return cmd
}

func (o *signalsFlags) request(filter query.Filter, now time.Time) (query.SignalsRequest, error) {
	req := query.SignalsRequest{Filter: filter, Name: o.name, CountBy: o.countBy, Limit: o.limit}
	if err := checkLimit(o.limit); err != nil {
		return req, err
	}
	if o.name != "" {
		if _, err := oneOf("name", o.name, gputide.SignalNames()); err != nil {
			return req, err
		}
	}
	if o.countBy != "" {
		if _, err := oneOf("count-by", o.countBy, []string{"value"}); err != nil {
			return req, err
		}
	}
	var err error
	if req.At, err = parseTime("at", o.at); err != nil {
		return req, err
	}
	w := windowFlags{since: o.since, from: o.from, to: o.to, over: string(query.OverTime)}
	if req.From, req.To, err = w.window(now); err != nil {
		return req, err
	}
	if o.at != "" && (!req.From.IsZero() || !req.To.IsZero()) {
		return req, usagef("--at is a moment, --since, --from and --to are a window: give one")
	}
	return req, nil
}

func (m *Main) signals(ctx context.Context, o signalsFlags, filter query.Filter) error {
	form, err := oneOf("output", o.out, listFormats[:])
	if err != nil {
		return err
	}
	req, err := o.request(filter, m.Now())
	if err != nil {
		return err
	}
	ans, err := askOnce(ctx, m, api.Signals(), req)
	if err != nil {
		return err
	}
	end := answer{noun: "signals", empty: ans.Empty, more: "--limit 0 shows all"}
	end.shown, end.total = len(ans.Counts)+len(ans.Spans)+len(ans.Rows), ans.Total
	switch {
	case o.countBy != "":
		end.noun = "values"
		end.noRoom, err = show(m, form, signalCountColumns(), signalCountTable(), ans.Counts)
	case !req.From.IsZero() || !req.To.IsZero():
		end.noun = "values"
		end.noRoom, err = show(m, form, signalSpanColumns(), signalSpanTable(), ans.Spans)
	default:
		end.noRoom, err = show(m, form, signalColumns(), signalTable(), ans.Rows)
	}
	m.footer(end)
	return err
}

// show writes rows in the form asked for; an empty table prints nothing.
func show[T any](m *Main, form format, columns []string, table []column[T], rows []T) (noRoom []string, err error) {
	switch {
	case form != formatTable:
		_, err = writeRows(m.Stdout, form, columns, sliceRows(rows))
	case len(rows) > 0:
		noRoom, err = printTable(m.screen(m.Stdout), table, rows)
	}
	return noRoom, err
}

func signalTable() []column[query.SignalRow] {
	return []column[query.SignalRow]{
		{head: "NAME", cell: func(r *query.SignalRow) string { return string(r.Name) }},
		{head: "VALUE", cell: func(r *query.SignalRow) string { return strconv.FormatInt(r.Value, 10) }, right: true},
		{head: "MEANS", cell: func(r *query.SignalRow) string { return string(r.Label) }},
		{head: "PROVIDER", cell: func(r *query.SignalRow) string { return sellerText(&r.KeyRow) }},
		{head: "REGION", cell: func(r *query.SignalRow) string { return place(&r.KeyRow) }, least: 8},
		{head: "TYPE", cell: func(r *query.SignalRow) string { return string(r.InstanceType) }, least: 8},
		{head: "MARKET", cell: func(r *query.SignalRow) string { return purchase(&r.KeyRow) }, shed: 2},
		{head: "OS", cell: func(r *query.SignalRow) string { return software(&r.KeyRow) }, shed: 3},
		{head: "TIER", cell: func(r *query.SignalRow) string { return string(r.Tier) }, shed: 4},
		{head: "SINCE", cell: func(r *query.SignalRow) string { return stamp(r.Since.Time) }, shed: 5},
		{head: "AGE", cell: func(r *query.SignalRow) string { return ago(seconds(r.AgeS)) }, right: true, shed: 1},
		{head: "SOURCE", cell: func(r *query.SignalRow) string { return string(r.Source) }, shed: 6},
	}
}

func signalCountTable() []column[query.SignalCountRow] {
	return []column[query.SignalCountRow]{
		{head: "NAME", cell: func(r *query.SignalCountRow) string { return string(r.Name) }},
		{head: "VALUE", cell: func(r *query.SignalCountRow) string { return strconv.FormatInt(r.Value, 10) }, right: true},
		{head: "MEANS", cell: func(r *query.SignalCountRow) string { return string(r.Label) }},
		{head: "SIGNALS", cell: func(r *query.SignalCountRow) string { return strconv.FormatInt(r.Count, 10) }, right: true},
		{head: "OF TIME", cell: func(r *query.SignalCountRow) string { return shareText(r.ShareOfTime) }, right: true},
	}
}

func signalSpanTable() []column[query.SignalSpanRow] {
	type row = query.SignalSpanRow
	return []column[row]{
		{head: "NAME", cell: func(r *row) string { return string(r.Name) }},
		{head: "VALUE", cell: func(r *row) string { return strconv.FormatInt(r.Value, 10) }, right: true},
		{head: "MEANS", cell: func(r *row) string { return string(r.Label) }},
		{head: "FROM", cell: func(r *row) string { return stamp(r.From.Time) }},
		{head: "TO", cell: func(r *row) string { return stamp(r.To.Time) }},
		{head: "PROVIDER", cell: func(r *row) string { return sellerText(&r.KeyRow) }},
		{head: "REGION", cell: func(r *row) string { return place(&r.KeyRow) }, least: 8},
		{head: "TYPE", cell: func(r *row) string { return string(r.InstanceType) }, least: 8},
		{head: "MARKET", cell: func(r *row) string { return purchase(&r.KeyRow) }, shed: 2},
		{head: "OS", cell: func(r *row) string { return software(&r.KeyRow) }, shed: 3},
		{head: "TIER", cell: func(r *row) string { return string(r.Tier) }, shed: 4},
		{head: "OBSERVED", cell: func(r *row) string { return stamp(r.ObservedAt.Time) }, shed: 1},
	}
}

func signalColumns() []string {
	return []string{
		"name", "value", "label", "provider", "partition", "seller", "region", "zone", "instance_type", "market", "plan", "term",
		"payment", "os", "license", "tenancy", "tier", "volume", "stat", "tax", "currency", "since", "observed_at", "age_s", "source",
	}
}

func signalCountColumns() []string {
	return []string{"name", "value", "label", "count", "share_of_time"}
}

func signalSpanColumns() []string {
	return []string{
		"name", "value", "label", "provider", "partition", "seller", "region", "zone", "instance_type", "market", "plan", "term",
		"payment", "os", "license", "tenancy", "tier", "volume", "stat", "tax", "currency", "from", "to", "observed_at",
	}
}
