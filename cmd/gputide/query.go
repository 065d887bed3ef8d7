package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

const queryLong = `Asks the database. Every query takes filters, all of which must hold, and -o to
choose the form of the answer: a table for people, or json, ndjson and csv whose
fields are the numbered contract of docs/schema (gputide version prints its
number). Prices are decimal text, what is not known is null.

` + listHelp

func (m *Main) queryCmd() *cobra.Command {
	return group("query", "Ask what is on offer, how prices moved, what spot saves, what changed", queryLong,
		m.offersCmd(), m.compareCmd(), m.trendCmd(), m.discountCmd(), m.spotCmd(), m.changesCmd(), m.typesCmd(), m.signalsCmd(), m.fxCmd())
}

// uncounted is the total of an answer that was cut before its end.
const uncounted = -1

// answer prints what every query prints after its rows.
type answer struct {
	shown, total int
	noun         string
	hidden       []query.Hidden
	empty        *query.Empty
	noRoom       []string // columns that had no room
	more         string   // how to see the rest
	noAll        bool     // the verb has no --all
	hides        string   // what the hidden are; empty is noun
}

// footer writes to stderr what the rows do not say: why there are none, what was
// hidden, what was cut.
func (m *Main) footer(a answer) {
	w := m.Stderr
	if a.empty != nil && len(a.hidden) == 0 {
		fmt.Fprintf(w, "%s\n", clean(a.empty.Text))
	}
	switch {
	case a.total == uncounted:
		fmt.Fprintf(w, m.lang.say("%d %s shown, more follow; %s\n"), a.shown, m.lang.noun(a.noun), m.lang.say(a.more))
	case a.shown < a.total:
		fmt.Fprintf(w, m.lang.say("%[1]d of %[2]d %[3]s shown; %[4]s\n"), a.shown, a.total, m.lang.noun(a.noun), m.lang.say(a.more))
	}
	if len(a.hidden) > 0 {
		var parts []string
		n := 0
		for _, h := range a.hidden {
			n += h.Count
			parts = append(parts, fmt.Sprintf("%d %s (%s)", h.Count, h.Reason, askFlag(h.Ask)))
		}
		all := m.lang.say("; --all hides nothing")
		if a.noAll {
			all = ""
		}
		fmt.Fprintf(w, m.lang.say("hidden: %d %s: %s%s\n"), n, m.lang.noun(cmp.Or(a.hides, a.noun)), clean(strings.Join(parts, ", ")), all)
	}
	if len(a.noRoom) > 0 {
		fmt.Fprintf(w, m.lang.say("no room for: %s; widen the terminal or use -o csv\n"), strings.Join(a.noRoom, ", "))
	}
}

// askFlag turns "state=gap" into the flag that asks for it.
func askFlag(ask string) string {
	if ask == "" {
		return "--all"
	}
	name, value, ok := strings.Cut(ask, "=")
	if !ok {
		return "--" + ask
	}
	return "--" + name + " " + value
}

// asUsage makes an error about a value of the command line a usage error.
func asUsage(err error) error {
	return &usageError{err}
}

// limitFlag adds --limit.
func limitFlag(cmd *cobra.Command, into *int, preset int) {
	cmd.Flags().IntVar(into, "limit", preset, "at most `N` rows, 0 for all")
}

func checkLimit(n int) error {
	if n < 0 {
		return usagef("--limit is %d, it must not be negative", n)
	}
	return nil
}

// acceleratorText is "8× h100-sxm-80gb", or the raw name of an unknown card.
func acceleratorName(a *query.AcceleratorRow) string {
	switch {
	case a == nil:
		return ""
	case a.Slug != "":
		return string(a.Slug)
	case a.Raw != "":
		return "? " + string(a.Raw)
	}
	return ""
}

func acceleratorCount(a *query.AcceleratorRow) string {
	if a == nil {
		return ""
	}
	return string(a.Count)
}

// acceleratorMemory is the memory of one accelerator in GB.
func acceleratorMemory(a *query.AcceleratorRow) string {
	if a == nil {
		return ""
	}
	return number(a.MemoryGB)
}

// purchase words the market with what goes with it: "commitment 1y none".
func purchase(k *query.KeyRow) string {
	parts := []string{string(k.Market)}
	for _, p := range []query.Text{k.Plan, k.Term, k.Payment} {
		if p != "" {
			parts = append(parts, string(p))
		}
	}
	return strings.Join(parts, " ")
}

// software words the operating system with its licence.
func software(k *query.KeyRow) string {
	if k.License == "" {
		return string(k.OS)
	}
	return strings.TrimPrefix(string(k.OS)+"+"+string(k.License), "+")
}

// place is the region with its zone.
func place(k *query.KeyRow) string {
	if k.Zone == "" {
		return string(k.Region)
	}
	return strings.TrimPrefix(string(k.Region)+" "+string(k.Zone), " ")
}

func flagText(flags []gputide.Flag) string {
	names := make([]string, len(flags))
	for i, f := range flags {
		names[i] = string(f)
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
