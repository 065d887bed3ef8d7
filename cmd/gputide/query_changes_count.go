package main

import (
	"context"
	"strconv"

	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

// changeCounts answers `query changes` with --count-by or --top.
func (m *Main) changeCounts(ctx context.Context, a *asker, form format, req query.ChangesRequest) error {
	ans, err := ask(ctx, a, api.Changes(), req)
	if err != nil {
		return queryError(err)
	}
	end := answer{noun: "changes", empty: ans.Empty, shown: len(ans.Rows) + len(ans.Counts), more: "--limit 0 shows all"}
	if end.total = end.shown; ans.More {
		end.total = uncounted
	}
	if req.CountBy != "" {
		end.noun = "counts"
		end.noRoom, err = show(m, form, changeCountColumns(), changeCountTable(req.CountBy), ans.Counts)
	} else {
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
