package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
)

const runsShowLong = `Shows one run: which scopes were read from which source, how many rows each
source gave, and why rows were skipped or left out. Without an ID it is the
newest run, of --provider when that is given.

A skipped row should have been an offer and could not be used; its last price is
kept. A row that was left out is by rule no offer of ours.`

func (m *Main) runsCmd() *cobra.Command {
	return group("runs", "What each crawl read and what came of it",
		"A run is one crawl, replay or import of one provider.", m.runsListCmd(), m.runsShowCmd())
}

func (m *Main) runsListCmd() *cobra.Command {
	var provider, out string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Example: `  gputide runs list
  gputide runs list --provider aws --limit 5
  gputide runs list -o ndjson`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := oneOf("output", out, listFormats[:])
			if err != nil {
				return err
			}
			return m.runsList(cmd.Context(), provider, limit, f)
		},
	}
	cmd.Flags().StringVar(&provider, "provider", "", "only runs of one `PROVIDER`")
	cmd.Flags().IntVar(&limit, "limit", 20, "at most `N` runs, 0 for all")
	formatFlag(cmd, &out, listFormats[:])
	return cmd
}

func (m *Main) runsShowCmd() *cobra.Command {
	var provider, out string
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show one run: scopes, sources, skipped rows by reason",
		Long:  runsShowLong,
		Example: `  gputide runs show
  gputide runs show --provider runpod
  gputide runs show 1 -o json`,
		Args: argCount(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := oneOf("output", out, objectFormats[:])
			if err != nil {
				return err
			}
			return m.runsShow(cmd.Context(), provider, args, f)
		},
	}
	cmd.Flags().StringVar(&provider, "provider", "", "without an ID: the newest run of one `PROVIDER`")
	formatFlag(cmd, &out, objectFormats[:])
	return cmd
}

func (m *Main) runsList(ctx context.Context, provider string, limit int, f format) error {
	if limit < 0 {
		return usagef("--limit is %d, it must not be negative", limit)
	}
	if err := m.checkProvider(provider); err != nil {
		return err
	}
	a, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	ans, err := ask(ctx, a, runsQuestion(), runsRequest{Provider: provider, Limit: limit})
	if err != nil {
		return err
	}
	rows := ans.Rows
	if f != formatTable {
		_, err := writeRows(m.Stdout, f, runColumns(), sliceRows(rows))
		return err
	}
	if len(rows) == 0 {
		fmt.Fprintf(m.Stderr, "no runs%s; crawl first: gputide crawl\n", of(provider))
		return nil
	}
	_, err = printTable(m.screen(m.Stdout), runTable(), rows)
	return err
}

func (m *Main) runsShow(ctx context.Context, provider string, args []string, f format) error {
	if err := m.checkProvider(provider); err != nil {
		return err
	}
	req := runRequest{ID: newestRunID, Provider: provider}
	if len(args) == 1 {
		if _, err := parseRunID(args[0]); err != nil {
			return asUsage(err)
		}
		req = runRequest{ID: args[0]}
	}
	a, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	detail, err := ask(ctx, a, runQuestion(), req)
	if err != nil {
		return err
	}
	if f == formatJSON {
		return writeObject(m.Stdout, detail)
	}
	return m.printRun(&detail)
}

// parseRunID reads the number of a run.
func parseRunID(text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is no run id; gputide runs list shows them", gputide.ErrInvalid, clip(text))
	}
	return id, nil
}

// runReader is what the verbs about runs need of the store.
type runReader interface {
	Runs(ctx context.Context, provider string, limit int) ([]gputide.RunRecord, error)
}

func newestRun(ctx context.Context, db runReader, provider string) (gputide.RunRecord, error) {
	list, err := db.Runs(ctx, provider, 1)
	if err != nil {
		return gputide.RunRecord{}, err
	}
	if len(list) == 0 {
		return gputide.RunRecord{}, &gputide.HintError{
			Err: fmt.Errorf("run%s: %w", of(provider), gputide.ErrNotFound), Hint: "crawl first: gputide crawl",
		}
	}
	return list[0], nil
}

func of(provider string) string {
	if provider == "" {
		return ""
	}
	return " of " + provider
}

// printRun writes a run for people.
func (m *Main) printRun(d *runDetail) error {
	w := m.Stdout
	fmt.Fprintf(w, "run %d  %s  at %s  %s  %s\n", d.RunID, clean(d.Provider), d.At, d.Cause, d.Status)
	fmt.Fprintf(w, "took %ss, recorded %s by %s\n", strconv.FormatFloat(d.DurationS, 'f', -1, 64), d.RecordedAt, cmp.Or(clean(d.CodeVersion), "unknown version"))
	if d.Error != nil {
		fmt.Fprintf(w, "error: %s\n", clean(*d.Error))
	}
	r := d.Result
	fmt.Fprintf(w, "first seen %d, price changes %d, withdrawn %d, returned %d, held %d, confirmed %d, specs %d, signals %d, rates %d\n\n",
		r.FirstSeen, r.Changed, r.Withdrawn, r.Returned, r.Held, r.Confirmed, r.Specs, r.Signals, r.Rates)
	var noRoom []string
	if len(d.Scopes) > 0 {
		left, err := printTable(m.screen(w), scopeTable(), d.Scopes)
		if err != nil {
			return err
		}
		noRoom = left
		fmt.Fprintln(w)
	}
	left, err := printTable(m.screen(w), sourceTable(), d.Sources)
	if err != nil {
		return err
	}
	noRoom = append(noRoom, left...)
	slices.Sort(noRoom)
	for _, s := range d.Sources {
		printCounts(w, clean(s.Source)+" skipped", s.Skipped)
		printCounts(w, clean(s.Source)+" left out", s.Omitted)
	}
	printCounts(w, "unknown accelerators", d.UnknownAccelerators)
	printCounts(w, "unknown regions", d.UnknownRegions)
	for _, n := range d.Notes {
		fmt.Fprintf(w, "note: %s\n", clean(n))
	}
	if len(noRoom) > 0 {
		fmt.Fprintf(m.Stderr, "no room for: %s; widen the terminal or use -o json\n", strings.Join(slices.Compact(noRoom), ", "))
	}
	return nil
}

// printCounts writes counted reasons, the most frequent first.
func printCounts(w io.Writer, title string, counts map[string]int64) {
	if len(counts) == 0 {
		return
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, n := range names {
		fmt.Fprintf(w, "  %8d  %s\n", counts[n], clean(n))
	}
}

func runTable() []column[runRow] {
	return []column[runRow]{
		{head: "RUN", cell: func(r *runRow) string { return strconv.FormatUint(r.RunID, 10) }, right: true},
		{head: "AT", cell: func(r *runRow) string { return r.At }},
		{head: "PROVIDER", cell: func(r *runRow) string { return r.Provider }},
		{head: "STATUS", cell: func(r *runRow) string { return r.Status }, paint: func(r *runRow) colours { return statusColour(r.Status) }},
		{head: "CAUSE", cell: func(r *runRow) string { return r.Cause }, shed: 3},
		{head: "SCOPES", cell: func(r *runRow) string { return r.scopeText() }, shed: 1},
		{head: "KEPT", cell: func(r *runRow) string { return strconv.FormatInt(r.Kept, 10) }, right: true},
		{head: "NEW", cell: func(r *runRow) string { return strconv.Itoa(r.Result.FirstSeen) }, right: true},
		{head: "CHANGED", cell: func(r *runRow) string { return strconv.Itoa(r.Result.Changed) }, right: true},
		{head: "WITHDRAWN", cell: func(r *runRow) string { return strconv.Itoa(r.Result.Withdrawn) }, right: true},
		{head: "SKIPPED", cell: func(r *runRow) string { return strconv.FormatInt(r.SkippedRows, 10) }, right: true, shed: 2},
		{head: "TOOK", cell: func(r *runRow) string { return strconv.FormatFloat(r.DurationS, 'f', -1, 64) + "s" }, right: true, shed: 4},
	}
}

func scopeTable() []column[scopeOut] {
	return []column[scopeOut]{
		{head: "SCOPE", cell: func(s *scopeOut) string { return s.Name }, least: 44}, // its end tells scopes apart
		{head: "STATUS", cell: func(s *scopeOut) string { return s.Status }, paint: func(s *scopeOut) colours { return statusColour(s.Status) }},
		{head: "SOURCE", cell: func(s *scopeOut) string { return s.Source }},
		{head: "LISTED", cell: func(s *scopeOut) string { return strconv.Itoa(s.Count) }, right: true},
		{head: "NOTE", cell: scopeNote, least: 20, shed: 1},
	}
}

func scopeNote(s *scopeOut) string {
	var parts []string
	if s.NoWithdraw {
		parts = append(parts, "no withdrawals concluded")
	}
	if s.EventFeed {
		parts = append(parts, "event feed")
	}
	if s.Reason != nil {
		parts = append(parts, *s.Reason)
	}
	return strings.Join(parts, "; ")
}

func sourceTable() []column[sourceOut] {
	return []column[sourceOut]{
		{head: "SOURCE", cell: func(s *sourceOut) string { return s.Source }},
		{head: "STATUS", cell: func(s *sourceOut) string { return s.Status }, paint: func(s *sourceOut) colours { return statusColour(s.Status) }},
		{head: "READ", cell: func(s *sourceOut) string { return strconv.FormatInt(s.Read, 10) }, right: true},
		{head: "KEPT", cell: func(s *sourceOut) string { return strconv.FormatInt(s.Kept, 10) }, right: true},
		{head: "SKIPPED", cell: func(s *sourceOut) string { return strconv.FormatInt(total(s.Skipped), 10) }, right: true},
		{head: "LEFT OUT", cell: func(s *sourceOut) string { return strconv.FormatInt(total(s.Omitted), 10) }, right: true},
		{head: "NOTE", cell: func(s *sourceOut) string { return deref(s.Message) }, least: 20, shed: 1},
	}
}
