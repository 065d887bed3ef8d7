package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
	"github.com/gputide/gputide/normalize/importcsv"
	"github.com/gputide/gputide/store"
)

const importLong = `Stores price history that others recorded: a CSV file, plain or gzipped, in any
order of rows. The profile says what the words of the file mean, so that imported
and crawled prices of one offer are one series.

A row that cannot be read is rejected and counted with its reason; all others are
stored. A file whose first line is not that of the profile is refused. Importing
a file again adds nothing.

Where a file lists everything on offer at its moments, an offer that is missing
at one is withdrawn there. As soon as a row is rejected nothing is concluded from
absence, for what is missing may be that row.

Profiles (docs/imports.md says what each one reads):

`

const importExample = `  gputide import aws_spot_2020.csv.gz --profile aws_spot_2020
  gputide import fx_ecb_2013_2026.csv --profile fx_ecb_2013_2026 -o json`

// importFlags are the flags of import.
type importFlags struct {
	profile, out string
}

func (m *Main) importCmd() *cobra.Command {
	var o importFlags
	names := importcsv.Names()
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Store price history from a CSV file", Example: importExample, Args: argCount(1, 1),
		Long: importLong + "  " + strings.Join(names, "\n  "),
		RunE: func(cmd *cobra.Command, args []string) error { return m.importFile(cmd.Context(), args[0], o) },
	}
	cmd.Flags().StringVar(&o.profile, "profile", "", "`NAME` of the profile of the file (required)")
	formatFlag(cmd, &o.out, objectFormats[:])
	return cmd
}

func (m *Main) importFile(ctx context.Context, file string, o importFlags) error {
	form, err := oneOf("output", o.out, objectFormats[:])
	if err != nil {
		return err
	}
	if o.profile == "" {
		return usagef("import needs --profile: one of %s", strings.Join(importcsv.Names(), ", "))
	}
	name, err := oneOf("profile", o.profile, importcsv.Names())
	if err != nil {
		return err
	}
	profile, err := importcsv.Load(name)
	if err != nil {
		return err
	}
	norm, err := loadNormalizer()
	if err != nil {
		return err
	}
	im := &importRun{m: m, file: file, profile: profile, norm: norm, now: m.Now().UTC()}
	im.out = importOut{Profile: name, File: file, Form: string(profile.Form)}
	line := m.startLine(im.line)
	err = im.do(ctx)
	line.stop()
	if err != nil {
		return fmt.Errorf("import %s: %w", file, err)
	}
	return m.importReport(form, &im.out)
}

// importRun is one import on its way.
type importRun struct {
	m       *Main
	file    string
	profile *importcsv.Profile
	norm    *normalize.Normalizer
	now     time.Time
	out     importOut

	rows    atomic.Int64 // rows read, for the progress line
	storing atomic.Bool
}

// line says how far the import has come.
func (im *importRun) line() string {
	what := "reading"
	if im.storing.Load() {
		what = "storing"
	}
	return clean(fmt.Sprintf("%s %s  %d rows", what, im.profile.Name, im.rows.Load()))
}

func (im *importRun) do(ctx context.Context) error {
	switch im.profile.Form {
	case importcsv.FormRates:
		return im.rates(ctx)
	case importcsv.FormSignals:
		return im.signals(ctx)
	}
	return im.prices(ctx)
}

// read opens the file and hands its reader to fn.
func (im *importRun) read(fn func(r *importcsv.Reader) error) error {
	f, err := os.Open(im.file)
	if err != nil {
		if pe, ok := errors.AsType[*os.PathError](err); ok {
			return pe.Err // the caller names the file
		}
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: not a file", gputide.ErrInvalid)
	case info.Size() > importcsv.MaxBytes:
		return fmt.Errorf("%w: %s", gputide.ErrTooLarge, bytesText(info.Size()))
	}
	r, err := importcsv.New(io.LimitReader(f, importcsv.MaxBytes), im.profile, importcsv.Options{
		Normalizer: im.norm, Now: im.now, Progress: im.rows.Store,
	})
	if err != nil {
		return err
	}
	return fn(r)
}

// store opens the database, made when there is none, and hands it to fn.
func (im *importRun) store(fn func(db *store.DB) error) error {
	im.storing.Store(true)
	db, err := im.m.openWrite(im.norm)
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}

// prices reads the file twice: whether a row is rejected must be known before
// the first one is stored, and the rows of a file need not fit into memory.
func (im *importRun) prices(ctx context.Context) error {
	err := im.read(func(r *importcsv.Reader) error {
		for row, err := range r.Prices(ctx) {
			if err != nil {
				return err
			}
			im.out.span(row.At)
		}
		im.out.tally(r.Tally())
		return nil
	})
	if err != nil || im.out.Rows == im.out.Rejected {
		return err
	}
	kind := im.profile.Kind
	if kind == gputide.ImportSnapshot && im.out.Rejected > 0 {
		kind, im.out.WithoutWithdrawals = gputide.ImportEvents, true
	}
	im.out.Kind = opt(string(kind))
	return im.read(func(r *importcsv.Reader) error {
		return im.store(func(db *store.DB) error {
			res, err := db.Import(ctx, im.profile.Name, kind, settled(r.Prices(ctx), im.out.Rejected, r))
			if err != nil {
				return err
			}
			im.out.stored(&res)
			return nil
		})
	})
}

// settled passes rows on and ends with an error when other rows were rejected
// than at the first reading: the file was changed meanwhile.
func settled(rows iter.Seq2[gputide.ImportRow, error], rejected int64, r *importcsv.Reader) iter.Seq2[gputide.ImportRow, error] {
	return func(yield func(gputide.ImportRow, error) bool) {
		for row, err := range rows {
			if !yield(row, err) {
				return
			}
		}
		if r.Tally().RejectedRows() != rejected {
			yield(gputide.ImportRow{}, fmt.Errorf("%w: the file changed while it was read", gputide.ErrConflict))
		}
	}
}

// importRecord is the run an import of rates or signals is stored as.
func (im *importRun) record(at time.Time, provider string) *gputide.Run {
	return &gputide.Run{
		Provider: provider, At: at, StartedAt: im.now, FinishedAt: im.m.Now().UTC(), Cause: gputide.CauseImport, CodeVersion: version(),
	}
}

func (im *importRun) rates(ctx context.Context) error {
	var rates []gputide.Rate
	err := im.read(func(r *importcsv.Reader) (err error) {
		rates, err = r.Rates(ctx)
		im.out.tally(r.Tally())
		return err
	})
	if err != nil || len(rates) == 0 {
		return err
	}
	return im.store(func(db *store.DB) error {
		run := im.record(time.Time{}, im.profile.Provider)
		for _, r := range rates {
			im.out.span(r.Date)
			if r.Date.After(run.At) {
				run.At = r.Date
			}
			known, err := im.knownRate(ctx, db, &r)
			if err != nil {
				return err
			}
			if !known {
				run.Rates = append(run.Rates, r)
			}
		}
		if len(run.Rates) > 0 {
			res, err := db.CommitRun(ctx, run)
			if err != nil {
				return err
			}
			im.out.Rates = res.Rates
			im.out.Accepted = int64(res.Rates)
		}
		im.out.Duplicate = im.out.Rows - im.out.Rejected - im.out.Accepted
		return nil
	})
}

// knownRate reports whether the database has a rate of the day. A stored one
// that differs stays and the row is rejected.
func (im *importRun) knownRate(ctx context.Context, db *store.DB, r *gputide.Rate) (bool, error) {
	old, ok, err := db.Rate(ctx, r.Quote, r.Date)
	if err != nil || !ok || !old.Date.Equal(r.Date) || old.Base != r.Base {
		return false, err
	}
	was, err := gputide.ParseAmount(old.Amount)
	if err != nil {
		return false, err
	}
	is, err := gputide.ParseAmount(r.Amount)
	if err != nil {
		return false, err
	}
	if was.Cmp(is) != 0 {
		im.out.reject(importcsv.ReasonConflict, 1)
	}
	return true, nil
}

func (im *importRun) signals(ctx context.Context) error {
	var moments []importcsv.SignalMoment
	err := im.read(func(r *importcsv.Reader) (err error) {
		moments, err = r.Signals(ctx)
		im.out.tally(r.Tally())
		return err
	})
	if err != nil || len(moments) == 0 {
		return err
	}
	return im.store(func(db *store.DB) error {
		for i := range moments {
			if err := im.signalsOf(ctx, db, &moments[i]); err != nil {
				return err
			}
		}
		im.out.Duplicate = im.out.Rows - im.out.Rejected - im.out.Accepted
		return nil
	})
}

// signalsPerRow is how many signals a row of the spot advisor states.
const signalsPerRow = 2

// signalsOf stores what the file says of one moment.
func (im *importRun) signalsOf(ctx context.Context, db *store.DB, moment *importcsv.SignalMoment) error {
	im.out.span(moment.At)
	run := im.record(moment.At, im.profile.Provider)
	run.Signals, run.Replace = moment.Signals, true
	listed := make(map[gputide.Scope]int)
	for _, s := range moment.Signals {
		listed[gputide.Scope{Partition: s.Key.Partition, Region: s.Key.Region, Market: s.Key.Market, Signal: s.Name}]++
	}
	for _, s := range moment.Scopes {
		run.Scopes = append(run.Scopes, gputide.ScopeRun{
			Scope: s, Status: gputide.ScopeDone, Source: im.profile.Feed, Count: listed[s], NoWithdraw: moment.Incomplete,
		})
	}
	var err error
	if run.Specs, err = im.unknownSpecs(ctx, db, moment); err != nil {
		return err
	}
	res, err := db.CommitRun(ctx, run)
	if err != nil || res.NoOp {
		return err
	}
	im.out.Accepted += int64(len(moment.Signals) / signalsPerRow)
	im.out.Signals += res.Signals
	im.out.Specs += res.Specs
	im.out.Withdrawn += res.Withdrawn
	return nil
}

// unknownSpecs returns the specs of a moment whose type has none from elsewhere:
// an import never puts its own over one.
func (im *importRun) unknownSpecs(ctx context.Context, db *store.DB, moment *importcsv.SignalMoment) ([]gputide.Spec, error) {
	sel := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldProvider, Values: []string{im.profile.Provider}}}}
	known, err := db.Specs(ctx, sel, moment.At)
	if err != nil {
		return nil, err
	}
	type typ struct{ partition, name string }
	elsewhere := make(map[typ]bool)
	for _, s := range known {
		if !strings.HasSuffix(s.Source, ":"+im.profile.Name) {
			elsewhere[typ{s.Partition, s.InstanceType}] = true
		}
	}
	var out []gputide.Spec
	for _, s := range moment.Specs {
		if !elsewhere[typ{s.Partition, s.InstanceType}] {
			out = append(out, s)
		}
	}
	return out, nil
}
