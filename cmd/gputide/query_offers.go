package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

const offersLong = `What is on offer, cheapest per accelerator first.

The price is that of the whole machine for an hour, in the currency published;
--in USD converts with the ECB rate of the day. "≈" marks a price derived from
another unit or currency, the amount as published stands before it; explain shows
the arithmetic.

Left out unless a filter asks for them (the footer counts them): offers that are
withdrawn or sold out; bid floors and prices that depend on an account; unverified
tiers; spot that is not below on-demand. --all hides nothing.

` + listHelp

const offersExample = `  gputide query offers --gpu h100 --limit 10
  gputide query offers --gpu h100,h200 --count 8 --market on_demand --country us
  gputide query offers --fits 80GB --max-price 3 --in USD
  gputide query offers --gpu rtx-4090 --tier secure --available
  gputide query offers --country cn --market on_demand --in CNY
  gputide query offers --type p5.48xlarge --os linux --at 2026-10-01 -o json`

// offersInTable is how many offers a table shows unless told.
const offersInTable = 100

// offersFlags are the flags of `query offers` beside its filters.
type offersFlags struct {
	at, in, out string
	fx          string
	sort        []string
	limit       int
	all         bool
}

func (m *Main) offersCmd() *cobra.Command {
	var o offersFlags
	cmd := &cobra.Command{
		Use: "offers", Short: "What is on offer and what it costs", Long: offersLong, Example: offersExample, Args: noArgs,
	}
	filter := addFilters(cmd, forOffers)
	f := cmd.Flags()
	f.StringVar(&o.at, "at", "", "as of a moment, `TIME` in UTC: 2026-08-22 or 2026-08-22T14:00:00Z (default now)")
	f.StringVar(&o.in, "in", "", "convert prices to a `CURRENCY`: USD, EUR, CNY")
	f.StringVar(&o.fx, "fx", "then", "`WHICH` exchange rate: then (of --at) or now")
	listFlag(cmd, &o.sort, "sort", "FIELD", "order by fields, - before one reverses it: "+strings.Join(query.SortFields(), ", ")+" (default price_per_accelerator)")
	f.BoolVar(&o.all, "all", false, "hide nothing")
	f.IntVar(&o.limit, "limit", 0, "at most `N` rows, 0 for all (default 100 in a table)")
	formatFlag(cmd, &o.out, listFormats[:])
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !f.Changed("limit") && o.out == string(formatTable) {
			o.limit = offersInTable
		}
		return m.offers(cmd.Context(), o, *filter)
	}
	return cmd
}

func (o *offersFlags) request(filter query.Filter) (query.OffersRequest, error) {
	at, err := parseTime("at", o.at)
	if err != nil {
		return query.OffersRequest{}, err
	}
	if err := checkLimit(o.limit); err != nil {
		return query.OffersRequest{}, err
	}
	fx, err := oneOf("fx", o.fx, []string{"then", "now"})
	if err != nil {
		return query.OffersRequest{}, err
	}
	return query.OffersRequest{
		Filter: filter, At: at, In: strings.ToUpper(o.in), FXNow: fx == "now", Sort: o.sort, Limit: o.limit, All: o.all,
	}, nil
}

func (m *Main) offers(ctx context.Context, o offersFlags, filter query.Filter) error {
	form, err := oneOf("output", o.out, listFormats[:])
	if err != nil {
		return err
	}
	req, err := o.request(filter)
	if err != nil {
		return err
	}
	ans, err := askOnce(ctx, m, api.Offers(), req)
	if err != nil {
		return err
	}
	end := answer{shown: len(ans.Rows), total: ans.Total, noun: "offers", hidden: ans.Hidden, empty: ans.Empty, more: "--limit 0 shows all"}
	switch {
	case form != formatTable:
		_, err = writeRows(m.Stdout, form, offerColumns(), sliceRows(ans.Rows))
	case len(ans.Rows) > 0:
		end.noRoom, err = printTable(m.screen(m.Stdout), m.offerTable(ans.Rows), ans.Rows)
	}
	m.footer(end)
	if req.In != "" && len(ans.Rows) > 0 && !slices.ContainsFunc(ans.Rows, func(r query.OfferRow) bool { return r.Price != nil }) {
		fmt.Fprintf(m.Stderr, "no exchange rate to %s is stored; gputide crawl --provider ecb reads those of the ECB\n", clean(req.In))
	}
	return err
}

// offerTable is the table of offers in the language asked for.
func (m *Main) offerTable(rows []query.OfferRow) []column[query.OfferRow] {
	columns := offerTable(rows)
	if m.lang != langZH {
		return columns
	}
	norm, err := loadNormalizer()
	if err != nil {
		return columns // names are a courtesy
	}
	return placesZH(columns, norm.Regions, func(r *query.OfferRow) *query.KeyRow { return &r.KeyRow })
}

// offerTable is the table of offers for people. What it shows depends on the
// rows: the published amount stands first where it is not simply the hourly
// price of the machine.
func offerTable(rows []query.OfferRow) []column[query.OfferRow] {
	published, inexact := false, false
	for i := range rows {
		published = published || derived(&rows[i])
		inexact = inexact || approximate(&rows[i])
	}
	var cols []column[query.OfferRow]
	if published {
		c := column[query.OfferRow]{head: "PUBLISHED", cell: publishedCell, right: true, shed: 5}
		if inexact {
			c.shed = 0
		}
		cols = append(cols, c)
	}
	return append(cols,
		column[query.OfferRow]{head: "PRICE/H", cell: func(r *query.OfferRow) string { return priceText(r.Price, string(r.Currency), approximate(r)) }, right: true},
		column[query.OfferRow]{head: "PER GPU", cell: func(r *query.OfferRow) string { return priceText(r.PricePerAccelerator, string(r.Currency), false) }, right: true, shed: 3},
		column[query.OfferRow]{head: "N", cell: func(r *query.OfferRow) string { return acceleratorCount(r.Accelerator) }, right: true},
		column[query.OfferRow]{head: "GPU", cell: func(r *query.OfferRow) string { return acceleratorName(r.Accelerator) }, least: 12},
		column[query.OfferRow]{head: "PROVIDER", cell: func(r *query.OfferRow) string { return sellerText(&r.KeyRow) }, least: 8},
		column[query.OfferRow]{head: "REGION", cell: regionCell, least: 10, shed: 4},
		column[query.OfferRow]{head: "TYPE", cell: func(r *query.OfferRow) string { return string(r.InstanceType) }, least: 16},
		column[query.OfferRow]{head: "MARKET", cell: func(r *query.OfferRow) string { return purchase(&r.KeyRow) }, least: 6, shed: 1},
		column[query.OfferRow]{head: "TIER", cell: func(r *query.OfferRow) string { return string(r.Tier) }, shed: 6},
		column[query.OfferRow]{head: "STAT", cell: statCell, shed: 7},
		column[query.OfferRow]{head: "OS", cell: func(r *query.OfferRow) string { return software(&r.KeyRow) }, shed: 8},
		column[query.OfferRow]{head: "VCPU", cell: func(r *query.OfferRow) string { return number(r.VCPU) }, right: true, shed: 12},
		column[query.OfferRow]{head: "RAM GIB", cell: func(r *query.OfferRow) string { return number(r.MemoryGiB) }, right: true, shed: 11},
		column[query.OfferRow]{head: "STOCK", cell: func(r *query.OfferRow) string { return string(r.Availability) }, shed: 9},
		column[query.OfferRow]{head: "STATE", cell: func(r *query.OfferRow) string { return string(r.State) }, paint: func(r *query.OfferRow) colours { return stateColour(r.State) }},
		column[query.OfferRow]{head: "AGE", cell: func(r *query.OfferRow) string { return ago(seconds(r.AgeS)) }, right: true, shed: 2},
		column[query.OfferRow]{head: "FLAGS", cell: func(r *query.OfferRow) string { return flagText(r.Flags) }, least: 6, shed: 5},
		column[query.OfferRow]{head: "OFFER", cell: func(r *query.OfferRow) string { return shortID(string(r.OfferID)) }, shed: 2},
	)
}

// derived reports whether the hourly price is not the published amount itself.
func derived(r *query.OfferRow) bool {
	p := &r.Published
	return p.Amount == "" || gputide.Unit(p.Unit) != gputide.PerHour || gputide.Basis(p.Basis) != gputide.BasisInstance ||
		p.Currency != r.Currency || r.Upfront != ""
}

// approximate reports whether the hourly price was derived from another unit or
// currency, and not only multiplied.
func approximate(r *query.OfferRow) bool {
	p := &r.Published
	return r.Upfront != "" || p.Currency != r.Currency || (p.Amount != "" && gputide.Unit(p.Unit) != gputide.PerHour)
}

func publishedCell(r *query.OfferRow) string {
	s := publishedText(&r.Published, r.Term)
	if r.Upfront != "" {
		up := currencySign(string(r.Published.Currency)) + string(r.Upfront) + " upfront"
		if s == "" {
			return up
		}
		return up + " + " + s
	}
	if s == "" && len(r.Components) > 0 {
		return fmt.Sprintf("sum of %d", len(r.Components))
	}
	return s
}

// regionCell is the region, or the regions an offer with one price everywhere is
// in stock in.
func regionCell(r *query.OfferRow) string {
	if s := place(&r.KeyRow); s != "" {
		return s
	}
	if len(r.Regions) == 0 {
		return ""
	}
	return "any: " + strings.Join(r.Regions, " ")
}

// statCell marks a price that is not the list price.
func statCell(r *query.OfferRow) string { return statText(&r.KeyRow) }

func statText(k *query.KeyRow) string {
	if gputide.Stat(k.Stat) == gputide.StatList {
		return ""
	}
	return string(k.Stat)
}

// sellerText is the provider, with the price book and the seller where they say
// more.
func sellerText(k *query.KeyRow) string {
	s := string(k.Provider)
	if k.Partition != "" && k.Partition != k.Provider {
		s += "/" + strings.TrimPrefix(string(k.Partition), s+"-")
	}
	if k.Seller != "" {
		s += " (" + string(k.Seller) + ")"
	}
	return s
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// shortIDLen is how much of an offer id a table shows; explain takes it.
const shortIDLen = 12

func shortID(id string) string { return id[:min(len(id), shortIDLen)] }

func offerColumns() []string {
	return []string{
		"offer_id", "provider", "partition", "seller", "region", "zone", "instance_type", "market", "plan", "term", "payment",
		"os", "license", "tenancy", "tier", "volume", "stat", "tax", "currency", "country", "price", "price_usd", "fx_rate",
		"fx_date", "published.amount", "published.unit", "published.basis", "published.currency", "upfront", "components",
		"accelerator.vendor", "accelerator.model", "accelerator.variant", "accelerator.slug", "accelerator.count",
		"accelerator.count_value", "accelerator.memory_gb", "accelerator.reported_mib", "accelerator.total_memory_gb",
		"accelerator.share", "accelerator.interconnect", "accelerator.confidence", "accelerator.raw", "price_per_accelerator",
		"vcpu", "cpu_arch", "memory_gib", "local_disk_gb", "network_gbps", "rdma.kind", "rdma.gbps", "bare_metal", "regions",
		"available", "availability", "listings", "interruption.band", "interruption.text", "state", "since", "observed_at",
		"age_s", "flags", "source",
	}
}
