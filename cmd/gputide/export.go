package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize/importcsv"
	"github.com/gputide/gputide/query"
	"github.com/gputide/gputide/store"
)

const exportLong = `Writes what the database says of offers over time, with the amounts as they were
published: a row for each observation, in order of offer id and time. Withdrawn
offers are in it, with the moment they were withdrawn. docs/imports.md describes
the columns.

gputide import --profile export reads it back: into an empty database it gives
the same export.

` + listHelp

const exportExample = `  gputide export > everything.csv
  gputide export --gpu h100 --market spot --since 90d -o ndjson
  gputide export --changes | gzip > changes.csv.gz`

// exportFormats are the forms of an export.
var exportFormats = [...]format{formatCSV, formatNDJSON}

// exportFlags are the flags of export.
type exportFlags struct {
	window   windowFlags
	out      string
	changes  bool
	filtered bool // a filter is given
}

func (m *Main) exportCmd() *cobra.Command {
	var o exportFlags
	cmd := &cobra.Command{
		Use: "export", Short: "Write every observation with its published amounts", Long: exportLong, Example: exportExample, Args: noArgs,
	}
	filter := addFilters(cmd, forChanges)
	f := cmd.Flags()
	f.StringVar(&o.window.since, "since", "", "the last `SPAN`: 12h, 90d, 6mo, 1y")
	f.StringVar(&o.window.from, "from", "", "observed from `TIME` on, UTC (default all)")
	f.StringVar(&o.window.to, "to", "", "observed before `TIME`, UTC (default all)")
	f.BoolVar(&o.changes, "changes", false, "only the rows at which something changed")
	f.StringVarP(&o.out, "output", "o", string(formatCSV), "`FORM` of the rows: csv, ndjson")
	o.window.over = "rows"
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cmd.Flags().Visit(func(f *pflag.Flag) { o.filtered = o.filtered || f.Annotations[filterMark] != nil })
		return m.export(cmd.Context(), *filter, &o)
	}
	return cmd
}

func (m *Main) export(ctx context.Context, filter query.Filter, o *exportFlags) (err error) {
	form, err := oneOf("output", o.out, exportFormats[:])
	if err != nil {
		return err
	}
	from, to, err := o.window.window(m.Now())
	if err != nil {
		return err
	}
	norm, err := loadNormalizer()
	if err != nil {
		return err
	}
	db, err := m.openReadWith(norm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var sel gputide.Selection
	if o.filtered {
		if sel, err = selection(ctx, m.newEngine(norm, db), filter); err != nil {
			return err
		}
	}
	buf := bufio.NewWriterSize(m.Stdout, 256<<10)
	w := importcsv.NewCSV(buf)
	if form == formatNDJSON {
		w = importcsv.NewNDJSON(buf)
	}
	if !o.filtered || len(sel.IDs) > 0 {
		if err := m.exportRows(ctx, db, w, sel, from, to, o.changes); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return buf.Flush()
}

func (m *Main) exportRows(ctx context.Context, db *store.DB, w *importcsv.Exporter, sel gputide.Selection, from, to time.Time, changes bool) error {
	var rows atomic.Int64
	line := m.startLine(func() string { return fmt.Sprintf("exporting  %d rows", rows.Load()) })
	defer line.stop()
	for told, err := range db.Told(ctx, sel, from, to, changes) {
		if err != nil {
			return err
		}
		spec := told.Spec
		for i := range told.Rows {
			r := &told.Rows[i]
			x := importcsv.Exported{At: r.At, State: r.State, Key: told.Key, Price: r.Price, SKU: r.SKU, Flags: r.Flags, Spec: spec}
			if r.Published != nil {
				x.Published = *r.Published
			}
			if err := w.Write(&x); err != nil {
				return err
			}
			spec = nil
		}
		rows.Add(int64(len(told.Rows)))
	}
	return nil
}

// selection returns what a filter selects, withdrawn offers included.
func selection(ctx context.Context, e *query.Engine, filter query.Filter) (sel gputide.Selection, err error) {
	ans, err := e.Offers(ctx, query.OffersRequest{Filter: filter, All: true})
	if err != nil {
		return sel, queryError(err)
	}
	for i := range ans.Rows {
		id, err := gputide.ParseOfferID(string(ans.Rows[i].OfferID))
		if err != nil {
			return sel, err
		}
		sel.IDs = append(sel.IDs, id)
	}
	return sel, nil
}
