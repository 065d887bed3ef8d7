package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

const changesLong = `What changed, in the order it was recorded: new offers, prices, withdrawals,
returns, held rows and specs.

A change is dated by the crawl that first saw it (seen_at); the true moment lies
between not_before and it. --since, --from and --to are that time. A program that
follows the feed uses --after-seq with the last seq it has, so that changes
recorded late are not missed.

--count-by counts changes by hour to year, by series or by provider; --top N keeps
the N largest counts. --top N alone lists the N largest moves of a price, rises
and falls by the same factor being alike. Both take price changes unless --kind
says otherwise.

--outliers lists prices that look like mistakes: a series went away from its price
by at least half again, or down to two thirds, and came back to it. The distance is
also at least four typical moves of the series, and on the way back no more than a
quarter of it is missing, both by ratio. They are reported and stay in every
statistic.

` + listHelp

const changesExample = `  gputide query changes --since 7d --kind price
  gputide query changes --gpu h100 --market on_demand --from 2026-08-01 --to 2026-09-01
  gputide query changes --provider aws --kind withdrawn --kind returned
  gputide query changes --market spot --count-by month
  gputide query changes --count-by series --top 10
  gputide query changes --since 90d --top 20
  gputide query changes --outliers --provider azure
  gputide query changes --after-seq 1042 -o ndjson`

// changePage is how many changes are read at once.
const changePage = 5000

// changesFlags are the flags of `query changes` beside its filters.
type changesFlags struct {
	since, from, to, out string
	kinds                []string
	countBy              string
	top                  int
	outliers             bool
	after                uint64
	limit                int
}

func (m *Main) changesCmd() *cobra.Command {
	var o changesFlags
	cmd := &cobra.Command{
		Use: "changes", Short: "What changed: prices, new offers, withdrawals", Long: changesLong, Example: changesExample, Args: noArgs,
	}
	filter := addFilters(cmd, forChanges)
	f := cmd.Flags()
	listFlag(cmd, &o.kinds, "kind", "KIND", "first_seen, price, withdrawn, returned, held, released, spec")
	f.StringVar(&o.since, "since", "", "seen in the last `SPAN`: 12h, 90d, 6mo, 1y")
	f.StringVar(&o.from, "from", "", "seen at or after `TIME`, UTC")
	f.StringVar(&o.to, "to", "", "seen before `TIME`, UTC")
	f.Uint64Var(&o.after, "after-seq", 0, "only changes recorded after number `N`")
	f.StringVar(&o.countBy, "count-by", "", "count by `FIELD`: "+strings.Join(query.ChangeCounts(), ", "))
	f.IntVar(&o.top, "top", 0, "the `N` largest counts, or the N largest moves or outliers")
	f.BoolVar(&o.outliers, "outliers", false, "list prices that a series left for and came back from")
	limitFlag(cmd, &o.limit, 0)
	formatFlag(cmd, &o.out, listFormats[:])
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return m.changes(cmd.Context(), o, *filter)
	}
	return cmd
}

func (m *Main) changesRequest(o changesFlags, filter query.Filter) (query.ChangesRequest, error) {
	req := query.ChangesRequest{Filter: filter, Kinds: o.kinds, AfterSeq: o.after, Limit: o.limit, CountBy: o.countBy, Top: o.top, Outliers: o.outliers}
	if err := checkLimit(o.limit); err != nil {
		return req, err
	}
	if err := o.checkCounts(); err != nil {
		return req, err
	}
	if o.since != "" && o.from != "" {
		return req, usagef("--since and --from both set the start: give one")
	}
	var err error
	if req.From, err = parseTime("from", o.from); err != nil {
		return req, err
	}
	if req.To, err = parseTime("to", o.to); err != nil {
		return req, err
	}
	if o.since != "" {
		span, err := parseSpan("since", o.since)
		if err != nil {
			return req, err
		}
		req.From = m.Now().UTC().Add(-span)
	}
	if !req.From.IsZero() && !req.To.IsZero() && !req.From.Before(req.To) {
		return req, usagef("--from must lie before --to")
	}
	return req, nil
}

func (o *changesFlags) checkCounts() error {
	if o.top < 0 {
		return usagef("--top is %d, it must not be negative", o.top)
	}
	if o.countBy == "" {
		return nil
	}
	_, err := oneOf("count-by", o.countBy, query.ChangeCounts())
	return err
}

func (m *Main) changes(ctx context.Context, o changesFlags, filter query.Filter) error {
	form, err := oneOf("output", o.out, listFormats[:])
	if err != nil {
		return err
	}
	req, err := m.changesRequest(o, filter)
	if err != nil {
		return err
	}
	a, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	if req.Counting() {
		return m.changeCounts(ctx, a, form, req)
	}
	end := answer{noun: "changes"}
	rows := changeRows(ctx, a, req, &end)
	if form != formatTable {
		_, err = writeRows(m.Stdout, form, changeColumns(), rows)
	} else {
		err = m.changeTable(rows, &end)
	}
	if err != nil {
		return queryError(err)
	}
	m.footer(end)
	return nil
}

// changeRows streams an answer page by page.
func changeRows(ctx context.Context, a *asker, req query.ChangesRequest, end *answer) iter.Seq2[query.ChangeRow, error] {
	left := req.Limit
	return func(yield func(query.ChangeRow, error) bool) {
		for {
			page := req
			page.Limit = changePage
			if left > 0 {
				page.Limit = min(changePage, left)
			}
			ans, err := ask(ctx, a, api.Changes(), page)
			if err != nil {
				yield(query.ChangeRow{}, err)
				return
			}
			for _, row := range ans.Rows {
				if !yield(row, nil) {
					return
				}
			}
			end.shown += len(ans.Rows)
			if end.shown == 0 {
				end.empty = ans.Empty
			}
			end.total = end.shown
			if left > 0 {
				left -= len(ans.Rows)
			}
			if !ans.More || len(ans.Rows) == 0 {
				return
			}
			if req.Limit > 0 && left <= 0 {
				end.total = uncounted
				end.more = fmt.Sprintf("continue with --after-seq %d", ans.Last)
				return
			}
			req.AfterSeq = ans.Last
		}
	}
}

// changeTable gathers the rows of a table; a list longer than a terminal is of
// use for belongs in a machine form.
func (m *Main) changeTable(rows iter.Seq2[query.ChangeRow, error], end *answer) error {
	var list []query.ChangeRow
	for row, err := range rows {
		if err != nil {
			return err
		}
		if list = append(list, row); len(list) > maxTableRows {
			return usagef("more than %d changes: narrow the filters, set --limit, or use -o ndjson", maxTableRows)
		}
	}
	if len(list) == 0 {
		return nil
	}
	var err error
	end.noRoom, err = printTable(m.screen(m.Stdout), changeTable(), list)
	return err
}

// maxTableRows bounds a table, which is held in memory to find its widths.
const maxTableRows = 100_000

func changeTable() []column[query.ChangeRow] {
	return []column[query.ChangeRow]{
		{head: "SEQ", cell: func(r *query.ChangeRow) string { return strconv.FormatUint(r.Seq, 10) }, right: true, shed: 6},
		{head: "SEEN", cell: func(r *query.ChangeRow) string { return stamp(r.SeenAt.Time) }},
		{head: "KIND", cell: func(r *query.ChangeRow) string { return string(r.Kind) }, paint: changeColour},
		{head: "BEFORE", cell: func(r *query.ChangeRow) string { return priceText(r.Before, string(r.Currency), false) }, right: true},
		{head: "AFTER", cell: func(r *query.ChangeRow) string { return priceText(r.After, string(r.Currency), false) }, right: true},
		{head: "%", cell: func(r *query.ChangeRow) string { return percentText(r.Pct) }, right: true, shed: 5},
		{head: "PROVIDER", cell: func(r *query.ChangeRow) string { return sellerText(&r.KeyRow) }},
		{head: "REGION", cell: func(r *query.ChangeRow) string { return place(&r.KeyRow) }, least: 8, shed: 4},
		{head: "TYPE", cell: func(r *query.ChangeRow) string { return string(r.InstanceType) }, least: 8},
		{head: "MARKET", cell: func(r *query.ChangeRow) string { return purchase(&r.KeyRow) }, least: 6, shed: 1},
		{head: "TIER", cell: func(r *query.ChangeRow) string { return string(r.Tier) }, shed: 7},
		{head: "OS", cell: func(r *query.ChangeRow) string { return software(&r.KeyRow) }, shed: 8},
		{head: "CAUSE", cell: func(r *query.ChangeRow) string { return string(r.Cause) }, shed: 9},
		{head: "FLAGS", cell: func(r *query.ChangeRow) string { return flagText(r.Flags) }, shed: 10},
		{head: "OFFER", cell: func(r *query.ChangeRow) string { return shortID(string(r.OfferID)) }, shed: 3},
	}
}

func percentText(p *query.Percent) string {
	if p == nil {
		return ""
	}
	if *p > 0 {
		return "+" + p.String()
	}
	return p.String()
}

func changeColumns() []string {
	return []string{
		"offer_id", "provider", "partition", "seller", "region", "zone", "instance_type", "market", "plan", "term", "payment",
		"os", "license", "tenancy", "tier", "volume", "stat", "tax", "currency", "seq", "kind", "before", "after", "pct",
		"seen_at", "not_before", "recorded_at", "cause", "flags",
	}
}

// changeColour marks rises and falls.
func changeColour(r *query.ChangeRow) colours {
	switch {
	case r.Kind == gputide.ChangeWithdrawn || r.Kind == gputide.ChangeHeld:
		return colours{text.FgYellow}
	case r.Before == nil || r.After == nil || *r.After == *r.Before:
		return nil
	case *r.After > *r.Before:
		return colours{text.FgRed}
	}
	return colours{text.FgGreen}
}

// queryError makes a wrong filter value a usage error; everything else stays.
func queryError(err error) error {
	if errors.Is(err, gputide.ErrInvalid) {
		return asUsage(err)
	}
	return err
}
