package main

import (
	"context"
	"strconv"

	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

// changeCounts answers `query changes` with --count-by, --top or --outliers.
func (m *Main) changeCounts(ctx context.Context, a *asker, form format, req query.ChangesRequest) error {
	ans, err := ask(ctx, a, api.Changes(), req)
	if err != nil {
		return queryError(err)
	}
	end := answer{
		noun: "changes", empty: ans.Empty, shown: len(ans.Rows) + len(ans.Counts) + len(ans.Outliers), more: "--limit 0 shows all",
	}
	if end.total = end.shown; ans.More {
		end.total = uncounted
	}
	switch {
	case req.Outliers:
		end.noun = "outliers"
		end.noRoom, err = show(m, form, outlierColumns(), outlierTable(), ans.Outliers)
	case req.CountBy != "":
		end.noun = "counts"
		end.noRoom, err = show(m, form, changeCountColumns(), changeCountTable(req.CountBy), ans.Counts)
	default:
		end.noRoom, err = show(m, form, changeColumns(), changeTable(), ans.Rows)
	}
	m.footer(end)
	return err
}

func changeCountTable(by string) []column[query.ChangeCountRow] {
	type row = query.ChangeCountRow
	count := column[row]{head: "CHANGES", cell: func(r *row) string { return strconv.Itoa(r.Count) }, right: true}
	first := column[row]{head: "FIRST", cell: func(r *row) string { return stamp(r.First.Time) }, shed: 3}
	last := column[row]{head: "LAST", cell: func(r *row) string { return stamp(r.Last.Time) }, shed: 2}
	if by != "series" {
		return []column[row]{{head: "OF", cell: func(r *row) string { return string(r.Value) }}, count, first, last}
	}
	return []column[row]{
		count,
		{head: "PROVIDER", cell: func(r *row) string { return sellerText(&r.KeyRow) }},
		{head: "REGION", cell: func(r *row) string { return place(&r.KeyRow) }, least: 8},
		{head: "TYPE", cell: func(r *row) string { return string(r.InstanceType) }, least: 8},
		{head: "MARKET", cell: func(r *row) string { return purchase(&r.KeyRow) }, least: 6},
		{head: "TIER", cell: func(r *row) string { return string(r.Tier) }, shed: 5},
		{head: "OS", cell: func(r *row) string { return software(&r.KeyRow) }, shed: 6},
		first, last,
		{head: "OFFER", cell: func(r *row) string { return shortID(string(r.OfferID)) }, shed: 4},
	}
}

func changeCountColumns() []string {
	return []string{
		"by", "value", "count", "offer_id", "provider", "partition", "seller", "region", "zone", "instance_type", "market", "plan",
		"term", "payment", "os", "license", "tenancy", "tier", "volume", "stat", "tax", "currency", "first", "last",
	}
}

func outlierTable() []column[query.OutlierRow] {
	type row = query.OutlierRow
	price := func(head string, of func(*row) *query.Money) column[row] {
		return column[row]{head: head, right: true, cell: func(r *row) string { return priceText(of(r), string(r.Currency), false) }}
	}
	return []column[row]{
		{head: "TIMES", right: true, cell: func(r *row) string { return shortFraction(r.Factor) }},
		price("BEFORE", func(r *row) *query.Money { return r.Before }),
		price("OUTLIER", func(r *row) *query.Money { return r.Price }),
		price("AFTER", func(r *row) *query.Money { return r.After }),
		{head: "SEEN", cell: func(r *row) string { return stamp(r.SeenAt.Time) }},
		{head: "BACK", shed: 2, cell: func(r *row) string { return stamp(r.BackAt.Time) }},
		{head: "PROVIDER", cell: func(r *row) string { return sellerText(&r.KeyRow) }},
		{head: "REGION", cell: func(r *row) string { return place(&r.KeyRow) }, least: 8},
		{head: "TYPE", cell: func(r *row) string { return string(r.InstanceType) }, least: 8},
		{head: "MARKET", cell: func(r *row) string { return purchase(&r.KeyRow) }, least: 6, shed: 1},
		{head: "TIER", cell: func(r *row) string { return string(r.Tier) }, shed: 6},
		{head: "OS", cell: func(r *row) string { return software(&r.KeyRow) }, shed: 7},
		{head: "TYPICAL", right: true, shed: 5, cell: func(r *row) string { return shortFraction(r.Typical) }},
		{head: "MOVES", right: true, shed: 4, cell: func(r *row) string { return strconv.Itoa(r.Moves) }},
		{head: "OFFER", cell: func(r *row) string { return shortID(string(r.OfferID)) }, shed: 3},
	}
}

func outlierColumns() []string {
	return []string{
		"offer_id", "provider", "partition", "seller", "region", "zone", "instance_type", "market", "plan", "term", "payment", "os",
		"license", "tenancy", "tier", "volume", "stat", "tax", "currency", "before", "price", "after", "factor", "pct", "prices", "moves",
		"typical", "not_before", "seen_at", "back_at", "lasted_s",
	}
}
