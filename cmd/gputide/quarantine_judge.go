package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/store"
)

const acceptLong = `The price of an accepted row becomes the price of its offer at the moment the row
was read, as if the crawl had believed it; the change has the cause accept. The
next run need not agree first. A row without a price cannot be accepted.

ID is that of quarantine list; its first digits are enough, and the number after
the slash can be left out when the offer has one refused row.

--all accepts every row with a price, except those of offers with several rows and
those that were rejected, and says what it left. What was accepted before is no
error.

A scope that was held back as a whole has no rows here: gputide replay believes it
without waiting for the next run.`

const rejectLong = `A rejected row stays in the list and its offer keeps its last price. While the
provider repeats the rejected price, it is refused again and never accepted
because two runs agree, as it would be otherwise; another price is judged anew. A
rejected row can still be accepted.`

// judgeRequest names the refused rows to accept or reject.
type judgeRequest struct {
	ID       []string
	All      bool
	Provider string // with All, only rows of one; empty is every provider
}

// judgeOut says what became of them.
type judgeOut struct {
	Rows    []refusedRow   `json:"rows"`
	Already int            `json:"already"` // judged before
	Left    map[string]int `json:"left"`    // of all rows, by why they were left
}

// verdict is what can be done with refused rows.
type verdict struct {
	verb, done string
	do         func(*store.DB, context.Context, []store.RefusedRow) (store.Judged, error)
}

func acceptVerdict() verdict { return verdict{"accept", "accepted", (*store.DB).Accept} }
func rejectVerdict() verdict { return verdict{"reject", "rejected", (*store.DB).Reject} }

func (v verdict) command(do func(context.Context, judgeRequest) (judgeOut, error)) api.Command[judgeRequest, judgeOut] {
	return api.Command[judgeRequest, judgeOut]{Path: "/v1/quarantine/" + v.verb, Do: do}
}

func (m *Main) quarantineAcceptCmd() *cobra.Command {
	return m.judgeCmd(acceptVerdict(), &cobra.Command{
		Use:   "accept ID...|--all",
		Short: "Believe refused rows: their prices become those of their offers",
		Long:  acceptLong,
		Example: `  gputide quarantine accept 0123456789abcdef0123456789abcdef/1
  gputide quarantine accept --all --provider aws`,
	})
}

func (m *Main) quarantineRejectCmd() *cobra.Command {
	return m.judgeCmd(rejectVerdict(), &cobra.Command{
		Use:     "reject ID...",
		Short:   "Refuse rows for good: a second run that agrees does not change that",
		Long:    rejectLong,
		Example: `  gputide quarantine reject 0123456789abcdef0123456789abcdef/1`,
	})
}

func (m *Main) judgeCmd(v verdict, cmd *cobra.Command) *cobra.Command {
	var req judgeRequest
	var out string
	cmd.Args = func(*cobra.Command, []string) error { return nil } // told below, with --all
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := oneOf("output", out, listFormats[:])
		if err != nil {
			return err
		}
		req.ID = args
		if err := m.checkJudge(v, &req); err != nil {
			return err
		}
		ans, err := m.judge(cmd.Context(), v, req)
		if err != nil {
			return err
		}
		return m.printJudged(v, &ans, f)
	}
	if v.verb == "accept" {
		cmd.Flags().BoolVar(&req.All, "all", false, "every row that can be accepted")
		cmd.Flags().StringVar(&req.Provider, "provider", "", "with --all, only rows of one `PROVIDER`")
	}
	formatFlag(cmd, &out, listFormats[:])
	return cmd
}

func (m *Main) checkJudge(v verdict, req *judgeRequest) error {
	if _, err := parseRefused(req.ID); err != nil {
		return asUsage(err)
	}
	switch {
	case req.All && len(req.ID) > 0:
		return usagef("give IDs or --all, not both")
	case !req.All && len(req.ID) == 0:
		return usagef("gputide quarantine %s needs an ID of gputide quarantine list; see gputide quarantine %s --help", v.verb, v.verb)
	case req.Provider != "" && !req.All:
		return usagef("--provider goes with --all: an ID names its row alone")
	}
	return m.checkProvider(req.Provider)
}

// refusedID is the ID of refused rows as given: the first digits of an offer id
// and, if a slash follows, the number of a row.
type refusedID struct {
	offer string
	row   int
}

func parseRefused(ids []string) ([]refusedID, error) {
	var out []refusedID
	for _, text := range ids {
		offer, number, cut := strings.Cut(strings.ToLower(text), "/")
		if err := api.CheckOfferID(offer); err != nil {
			return nil, err
		}
		id := refusedID{offer: offer}
		if cut {
			var err error
			if id.row, err = strconv.Atoi(number); err != nil || id.row < 1 {
				return nil, fmt.Errorf("%w: %q: the number of a row follows the slash, from 1", gputide.ErrInvalid, text)
			}
		}
		out = append(out, id)
	}
	return out, nil
}

// nameRows completes IDs from the rows there are.
func nameRows(ctx context.Context, db *store.DB, ids []refusedID) ([]store.RefusedRow, error) {
	list, err := db.Quarantine(ctx, "")
	if err != nil {
		return nil, err
	}
	var out []store.RefusedRow
	for _, id := range ids {
		found := map[string]bool{}
		for i := range list {
			if full := list[i].Key.ID().String(); strings.HasPrefix(full, id.offer) {
				found[full] = true
			}
		}
		if len(found) > 1 {
			return nil, fmt.Errorf("%w: %q begins the ids of several refused offers: give more digits", gputide.ErrInvalid, id.offer)
		}
		full := id.offer
		for full = range found { // the one there is
		}
		offer, err := gputide.ParseOfferID(full)
		if err != nil {
			return nil, &gputide.HintError{
				Err:  fmt.Errorf("%w: refused row %s", gputide.ErrNotFound, id.offer),
				Hint: "gputide quarantine list shows the refused rows; a later run may have settled it",
			}
		}
		out = append(out, store.RefusedRow{ID: offer, Row: id.row})
	}
	return out, nil
}

// judge has rows judged, by the daemon when there is one.
func (m *Main) judge(ctx context.Context, v verdict, req judgeRequest) (judgeOut, error) {
	daemon, err := m.dial(ctx)
	if err != nil {
		return judgeOut{}, err
	}
	if daemon != nil {
		defer daemon.Close()
		return v.command(nil).Ask(ctx, daemon, req)
	}
	db, err := m.openExisting()
	if err != nil {
		return judgeOut{}, err
	}
	defer db.Close()
	return v.judge(ctx, db, req)
}

func (v verdict) judge(ctx context.Context, db *store.DB, req judgeRequest) (judgeOut, error) {
	out := judgeOut{Rows: []refusedRow{}, Left: map[string]int{}}
	ids, err := parseRefused(req.ID)
	if err != nil {
		return out, err
	}
	var rows []store.RefusedRow
	if req.All {
		rows, err = choose(ctx, db, req.Provider, out.Left)
	} else {
		rows, err = nameRows(ctx, db, ids)
	}
	if err != nil || len(rows) == 0 {
		return out, err
	}
	judged, err := v.do(db, ctx, rows)
	if err != nil {
		return out, err
	}
	out.Already = judged.Already
	for i := range judged.Rows {
		out.Rows = append(out.Rows, newRefusedRow(&judged.Rows[i]))
	}
	return out, nil
}

// choose names the rows that can be accepted without a choice between them, and
// counts the others.
func choose(ctx context.Context, db *store.DB, provider string, left map[string]int) ([]store.RefusedRow, error) {
	list, err := db.Quarantine(ctx, provider)
	if err != nil {
		return nil, err
	}
	of := map[gputide.OfferID]int{}
	for i := range list {
		of[list[i].Key.ID()]++
	}
	var out []store.RefusedRow
	for i := range list {
		q := &list[i]
		id := q.Key.ID()
		switch {
		case q.Rejected:
			left["rejected"]++
		case q.Price == nil:
			left["without a price"]++
		case of[id] > 1:
			left["of several rows of one offer"]++
		default:
			out = append(out, store.RefusedRow{ID: id, Row: q.Row})
		}
	}
	return out, nil
}

// printJudged writes the rows judged and, for people, what became of the others.
func (m *Main) printJudged(v verdict, ans *judgeOut, f format) error {
	if f != formatTable {
		_, err := writeRows(m.Stdout, f, refusedColumns(), sliceRows(ans.Rows))
		return err
	}
	if len(ans.Rows) > 0 {
		if _, err := printTable(m.screen(m.Stdout), refusedTable(), ans.Rows); err != nil {
			return err
		}
	}
	fmt.Fprintf(m.Stderr, "%s %s", rowsText(len(ans.Rows)), v.done)
	if ans.Already > 0 {
		fmt.Fprintf(m.Stderr, ", %d before", ans.Already)
	}
	for i, why := range slices.Sorted(maps.Keys(ans.Left)) {
		sep := ", "
		if i == 0 {
			sep = "; left: "
		}
		fmt.Fprintf(m.Stderr, "%s%d %s", sep, ans.Left[why], why)
	}
	fmt.Fprintln(m.Stderr)
	return nil
}

func rowsText(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
