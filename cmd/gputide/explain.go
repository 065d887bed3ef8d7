package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

const explainLong = `Shows where the price of one offer comes from: its key, the amount as published,
the arithmetic, the exchange rate, the run and source that read it with the
address and the hash of the archived body, and the catalogue entry of its card.

The first digits of an offer id are enough when no other offer has them.`

func (m *Main) explainCmd() *cobra.Command {
	var at, out string
	cmd := &cobra.Command{
		Use: "explain OFFER_ID", Short: "Show where the price of one offer comes from", Long: explainLong, Args: argCount(1, 1),
		Example: `  gputide query offers --gpu h100 --limit 1
  gputide explain 040ef0ac5271
  gputide explain 27cd42a41ed6 --at 2026-10-01 -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := oneOf("output", out, objectFormats[:])
			if err != nil {
				return err
			}
			return m.explain(cmd.Context(), args[0], at, f)
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "as of a moment, `TIME` in UTC (default now)")
	formatFlag(cmd, &out, objectFormats[:])
	return cmd
}

func (m *Main) explain(ctx context.Context, text, at string, f format) error {
	moment, err := parseTime("at", at)
	if err != nil {
		return err
	}
	if err := api.CheckOfferID(strings.ToLower(text)); err != nil {
		return asUsage(err)
	}
	x, err := askOnce(ctx, m, api.Explain(), api.ExplainRequest{ID: strings.ToLower(text), At: moment})
	if err != nil {
		return err
	}
	if f == formatJSON {
		return writeObject(m.Stdout, &x)
	}
	m.printExplanation(&x)
	return nil
}

// printExplanation writes an explanation for people.
func (m *Main) printExplanation(x *query.Explanation) {
	m.section("offer "+string(x.OfferID), append(keyFacts(&x.Key), fact{"地域", m.placeZH(&x.Key)}))
	currency := string(x.Key.Currency)
	price := fact{"price", exactMoney(x.Price, currency, "/h")}
	m.section("at "+stamp(x.At.Time), []fact{
		{"state", string(x.State)},
		price,
		{"in dollars", exactMoney(x.PriceUSD, "USD", "/h")},
		{"first seen", stamp(x.FirstSeen.Time)},
		{"price since", stamp(x.Since.Time)},
		{"changed after", stamp(x.NotBefore.Time)},
		{"confirmed", confirmedText(x)},
		{"flags", flagText(x.Flags)},
	})
	pub := []fact{
		{"amount", publishedText(&x.Published, x.Key.Term)},
		{"upfront", string(x.Upfront)},
		{"multiplier", string(x.Multiplier)},
		{"sku", string(x.SKU)},
		{"source", string(x.Source)},
	}
	for _, c := range x.Components {
		pub = append(pub, fact{string(c.Kind), fmt.Sprintf("%s/%s × %s %s", c.Amount, c.Unit, c.Quantity, c.SKU)})
	}
	m.section("published", pub)
	m.steps("arithmetic", x.Arithmetic)
	if x.FX != nil {
		fx := []fact{{"rate", fmt.Sprintf("1 %s = %s %s", x.FX.From, x.FX.Rate, x.FX.To)}}
		for _, l := range x.FX.Legs {
			fx = append(fx, fact{stamp(l.Date.Time)[:min(10, len(stamp(l.Date.Time)))], fmt.Sprintf("1 EUR = %s %s (%s)", l.Rate, l.Currency, l.Source)})
		}
		m.section("exchange", fx)
	}
	m.section("accelerator", acceleratorFacts(x.Accelerator, x.Catalogue))
	if x.Priced != nil && x.Confirmed != nil && x.Priced.RunID == x.Confirmed.RunID {
		m.evidence("price first seen and last confirmed by", x.Priced)
		return
	}
	m.evidence("price first seen by", x.Priced)
	m.evidence("last confirmed by", x.Confirmed)
}

// confirmedText is when the price was last confirmed, empty before it was seen.
func confirmedText(x *query.Explanation) string {
	if x.ObservedAt.IsZero() {
		return ""
	}
	return stamp(x.ObservedAt.Time) + " (" + ago(seconds(x.AgeS)) + " before)"
}

func acceleratorFacts(a *query.AcceleratorRow, c *query.CatalogueRow) []fact {
	if a == nil {
		return nil
	}
	facts := []fact{
		{"name", acceleratorName(a)},
		{"count", string(a.Count)},
		{"memory GB", acceleratorMemory(a)},
		{"as published", string(a.Raw)},
		{"confidence", string(a.Confidence)},
	}
	if c != nil {
		facts = append(facts, fact{"catalogue", fmt.Sprintf("%s (%s, %s, version %s)", c.Title, c.Evidence, c.SourceDate, c.Version)})
		for source := range strings.SplitSeq(string(c.Source), " | ") {
			facts = append(facts, fact{"figures from", source})
		}
	}
	return facts
}

// evidence writes a run and what it read.
func (m *Main) evidence(title string, e *query.EvidenceRow) {
	if e == nil {
		return
	}
	facts := []fact{
		{"run", strconv.FormatUint(e.RunID, 10) + " (gputide runs show " + strconv.FormatUint(e.RunID, 10) + ")"},
		{"at", stamp(e.At.Time)},
		{"cause", string(e.Cause)},
		{"scope", string(e.Scope) + " " + string(e.Status)},
		{"source", string(e.Source)},
	}
	for _, u := range e.URLs {
		facts = append(facts, fact{"address", u})
	}
	for _, b := range e.Bodies {
		hash := string(b.Hash)
		if hash == "" {
			hash = "not archived"
		}
		facts = append(facts, fact{"body", fmt.Sprintf("sha256 %s, %d bytes, %s", hash, b.Size, b.URL)})
	}
	m.section(title, facts)
}

// section writes a heading and the facts that have a value.
func (m *Main) section(title string, facts []fact) {
	printed := false
	for _, f := range facts {
		if strings.TrimSpace(f.value) == "" {
			continue
		}
		if !printed {
			fmt.Fprintf(m.Stdout, "%s\n", clean(title))
			printed = true
		}
		fmt.Fprintf(m.Stdout, "  %-14s %s\n", f.name, clean(f.value))
	}
	if printed {
		fmt.Fprintln(m.Stdout)
	}
}

// steps writes a heading and lines under it.
func (m *Main) steps(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(m.Stdout, "%s\n", title)
	for _, l := range lines {
		fmt.Fprintf(m.Stdout, "  %s\n", clean(l))
	}
	fmt.Fprintln(m.Stdout)
}

// exactMoney is a price with all its decimals.
func exactMoney(n *query.Money, currency, per string) string {
	if n == nil {
		return ""
	}
	return currencySign(currency) + n.String() + per
}
