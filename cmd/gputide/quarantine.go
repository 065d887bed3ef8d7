package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
	"github.com/gputide/gputide/store"
)

const quarantineLong = `A row that is refused (no valid price, a price step of exactly the accelerator
count, one key with two prices, …) is kept here with its reason. Its offer counts
as listed and keeps its last price. When the next run reads the same price, a
step is accepted; quarantine accept and reject decide before.`

// refusedRow is a refused row: the JSON of `quarantine list` and `show`.
type refusedRow struct {
	ID        string              `json:"id"` // what accept and reject take
	OfferID   string              `json:"offer_id"`
	Key       query.KeyRow        `json:"key"`
	Part      *string             `json:"part"`
	Source    string              `json:"source"`
	Reason    string              `json:"reason"`
	Detail    *string             `json:"detail"`
	Price     *string             `json:"price"`
	Published *query.PublishedRow `json:"published"`
	Upfront   *string             `json:"upfront"`
	BodyHash  *string             `json:"body_sha256"`
	At        string              `json:"at"`
	Rejected  bool                `json:"rejected"`
}

func newRefusedRow(q *gputide.Quarantined) refusedRow {
	row := refusedRow{
		ID:      store.RefusedRow{ID: q.Key.ID(), Row: q.Row}.String(),
		OfferID: q.Key.ID().String(), Key: query.NewKeyRow(&q.Key), Part: opt(q.Part), Source: q.Source, Reason: q.Reason,
		Detail: opt(q.Detail), BodyHash: opt(q.BodyHash), At: stamp(q.At), Rejected: q.Rejected,
	}
	if q.Price != nil {
		row.Price = opt(q.Price.String())
	}
	if p := q.Published; p.Amount != "" || p.Unit != "" {
		row.Published = &query.PublishedRow{
			Amount: query.Text(p.Amount), Unit: query.Text(p.Unit), Basis: query.Text(p.Basis), Currency: query.Text(q.Key.Currency),
		}
	}
	row.Upfront = opt(q.Published.Upfront)
	return row
}

func (m *Main) quarantineCmd() *cobra.Command {
	return group("quarantine", "Rows that were refused, and why", quarantineLong, m.quarantineListCmd(), m.quarantineShowCmd(),
		m.quarantineAcceptCmd(), m.quarantineRejectCmd())
}

func (m *Main) quarantineListCmd() *cobra.Command {
	var provider, out string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List refused rows",
		Long:  quarantineLong,
		Example: `  gputide quarantine list
  gputide quarantine list --provider aws -o csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := oneOf("output", out, listFormats[:])
			if err != nil {
				return err
			}
			rows, err := m.refused(cmd.Context(), provider)
			if err != nil {
				return err
			}
			return m.printRefused(rows, provider, f)
		},
	}
	cmd.Flags().StringVar(&provider, "provider", "", "only rows of one `PROVIDER`")
	formatFlag(cmd, &out, listFormats[:])
	return cmd
}

func (m *Main) quarantineShowCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "show OFFER_ID",
		Short: "Show the refused rows of one offer",
		Long: `Shows the refused rows of one offer, each with its reason and the amount as
published. The first digits of an offer id are enough, as for explain.`,
		Example: `  gputide quarantine list
  gputide quarantine show 1c0d50a518db`,
		Args: argCount(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := oneOf("output", out, listFormats[:])
			if err != nil {
				return err
			}
			id, _, _ := strings.Cut(strings.ToLower(args[0]), "/")
			if err := api.CheckOfferID(id); err != nil {
				return asUsage(err)
			}
			return m.quarantineShow(cmd.Context(), id, f)
		},
	}
	formatFlag(cmd, &out, listFormats[:])
	return cmd
}

// refused reads the refused rows of a provider, or of all.
func (m *Main) refused(ctx context.Context, provider string) ([]refusedRow, error) {
	if err := m.checkProvider(provider); err != nil {
		return nil, err
	}
	a, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	ans, err := ask(ctx, a, refusedQuestion(), refusedRequest{Provider: provider})
	return ans.Rows, err
}

func (m *Main) printRefused(rows []refusedRow, provider string, f format) error {
	if f != formatTable {
		_, err := writeRows(m.Stdout, f, refusedColumns(), sliceRows(rows))
		return err
	}
	if len(rows) == 0 {
		fmt.Fprintf(m.Stderr, "no refused rows%s\n", of(provider))
		return nil
	}
	_, err := printTable(m.screen(m.Stdout), refusedTable(), rows)
	return err
}

// quarantineShow prints the refused rows of the offer whose id starts with id.
func (m *Main) quarantineShow(ctx context.Context, id string, f format) error {
	all, err := m.refused(ctx, "")
	if err != nil {
		return err
	}
	var rows []refusedRow
	for _, r := range all {
		if !strings.HasPrefix(r.OfferID, id) {
			continue
		}
		if len(rows) > 0 && rows[0].OfferID != r.OfferID {
			return usagef("%q begins the ids of several refused offers: give more digits", id)
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return &gputide.HintError{
			Err: fmt.Errorf("refused row of offer %s: %w", id, gputide.ErrNotFound), Hint: "gputide quarantine list shows the refused rows",
		}
	}
	if f != formatTable {
		_, err := writeRows(m.Stdout, f, refusedColumns(), sliceRows(rows))
		return err
	}
	for i := range rows {
		m.printRefusedRow(&rows[i])
	}
	return nil
}

// printRefusedRow writes one refused row for people, a fact a line.
func (m *Main) printRefusedRow(r *refusedRow) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(m.Stdout, "%-14s %s\n", name, clean(value))
		}
	}
	line("id", r.ID)
	line("offer", r.OfferID)
	for _, f := range keyFacts(&r.Key) {
		line(f.name, f.value)
	}
	line("seen at", r.At)
	line("source", r.Source)
	line("reason", refusedReason(r))
	line("detail", deref(r.Detail))
	if r.Published != nil {
		line("published", publishedText(r.Published, r.Key.Term))
	}
	line("upfront", deref(r.Upfront))
	line("would be", deref(r.Price))
	line("body sha256", deref(r.BodyHash))
	fmt.Fprintln(m.Stdout)
}

func refusedTable() []column[refusedRow] {
	return []column[refusedRow]{
		{head: "ID", cell: func(r *refusedRow) string { return r.ID }, shed: 1},
		{head: "AT", cell: func(r *refusedRow) string { return r.At }, shed: 2},
		{head: "PROVIDER", cell: func(r *refusedRow) string { return string(r.Key.Provider) }},
		{head: "REGION", cell: func(r *refusedRow) string { return string(r.Key.Region) }, shed: 3},
		{head: "TYPE", cell: func(r *refusedRow) string { return string(r.Key.InstanceType) }, least: 10},
		{head: "MARKET", cell: func(r *refusedRow) string { return string(r.Key.Market) }, shed: 4},
		{head: "REASON", cell: refusedReason},
		{head: "DETAIL", cell: func(r *refusedRow) string { return deref(r.Detail) }, least: 20},
	}
}

// refusedReason is why a row was refused, and whether for good.
func refusedReason(r *refusedRow) string {
	if r.Rejected {
		return r.Reason + ", rejected"
	}
	return r.Reason
}

func refusedColumns() []string {
	cols := []string{"id", "offer_id"}
	for _, f := range gputide.KeyFields() {
		cols = append(cols, "key."+string(f))
	}
	return append(cols, "part", "source", "reason", "detail", "price", "published.amount", "published.unit",
		"published.basis", "published.currency", "upfront", "body_sha256", "at", "rejected")
}
