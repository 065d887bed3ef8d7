package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
	"github.com/gputide/gputide/normalize/importcsv"
	"github.com/gputide/gputide/store"
)

const importLong = `Stores price history that others recorded. The profile says what the words of
the source mean, so that imported and crawled prices of one offer are one series.
FILE is a file, plain or gzipped, with its rows in any order; - or a pipe; a zip;
where the profile reads a source of many files, a folder or the clone of a
repository, of which every commit is one observation.

A row that cannot be read is rejected and counted with its reason, one that has
by rule no place is left out and counted; all others are stored. A file whose
first line is not that of the profile is refused. Importing a file again adds
nothing, and an import that was interrupted is completed by repeating it.

Where a file lists everything on offer at its moments, an offer that is missing
at one is withdrawn there. As soon as a row is rejected nothing is concluded from
absence, for what is missing may be that row.

--map tells the columns of another CSV, --set what is the same in all its rows;
without --profile its words are those of the schema (profile csv).

Profiles (docs/imports.md says what each one reads):

`

const importExample = `  gputide import aws_spot_2020.csv.gz --profile aws_spot_2020
  gputide import fx_ecb_2013_2026.csv --profile fx_ecb_2013_2026 -o json
  aws ec2 describe-spot-price-history --region us-east-1 | gputide import - --profile aws_spot_history
  gputide import skypilot-catalog --profile skypilot
  gputide import prices.csv --map day=time --map usd=price --map type=instance_type --set provider=acme --set currency=USD`

// importFlags are the flags of import.
type importFlags struct {
	profile, out, at string
	columns, set     []string
}

func (m *Main) importCmd() *cobra.Command {
	var o importFlags
	names := importcsv.Names()
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Store price history that others recorded", Example: importExample, Args: argCount(1, 1),
		Long: importLong + "  " + strings.Join(names, "\n  "),
		RunE: func(cmd *cobra.Command, args []string) error { return m.importFile(cmd.Context(), args[0], o) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.profile, "profile", "", "`NAME` of the profile of the file (required unless --map is given)")
	fs.StringArrayVar(&o.columns, "map", nil, "`COLUMN=FIELD`: what a column holds: "+strings.Join(importcsv.Columns(), " ")+"; repeatable")
	fs.StringArrayVar(&o.set, "set", nil, "`FIELD=VALUE`: a key field of every row; repeatable")
	fs.StringVar(&o.at, "at", "", "`TIME` the file was observed, where it does not say so itself")
	formatFlag(cmd, &o.out, objectFormats[:])
	cmd.AddCommand(m.pricelistCmd())
	return cmd
}

func (m *Main) importFile(ctx context.Context, file string, o importFlags) error {
	form, err := oneOf("output", o.out, objectFormats[:])
	if err != nil {
		return err
	}
	profile, err := o.load()
	if err != nil {
		return err
	}
	at, err := parseTime("at", o.at)
	if err != nil {
		return err
	}
	norm, err := loadNormalizer()
	if err != nil {
		return err
	}
	im := &importRun{m: m, file: file, profile: profile, norm: norm, now: m.Now().UTC(), at: at}
	im.out = importOut{
		Profile: profile.Name, File: file, Form: string(profile.Form),
		Reasons: map[string]int64{}, LeftOutReasons: map[string]int64{}, Examples: []rejectedRow{},
	}
	line := m.startLine(im.line)
	err = im.do(ctx)
	line.stop()
	if err != nil {
		return fmt.Errorf("import %s: %w", file, err)
	}
	return m.importReport(form, &im.out)
}

// load returns the profile with what the command line adds to it.
func (o *importFlags) load() (*importcsv.Profile, error) {
	if o.profile == "" && len(o.columns) > 0 {
		o.profile = importcsv.OpenProfile
	}
	if o.profile == "" {
		return nil, usagef("import needs --profile: one of %s", strings.Join(importcsv.Names(), ", "))
	}
	name, err := oneOf("profile", o.profile, importcsv.Names())
	if err != nil {
		return nil, err
	}
	p, err := importcsv.Load(name)
	if err != nil {
		return nil, err
	}
	if len(o.columns) > 0 {
		columns, err := pairs("map", o.columns)
		if err != nil {
			return nil, err
		}
		if err := p.Map(columns); err != nil {
			return nil, asUsage(err)
		}
	}
	if len(o.set) > 0 {
		values, err := pairs("set", o.set)
		if err != nil {
			return nil, err
		}
		set := make(importcsv.Fields, len(values))
		for field, v := range values {
			set[gputide.Field(field)] = v
		}
		if err := p.Constants(set); err != nil {
			return nil, asUsage(err)
		}
	}
	return p, nil
}

// pairs reads values of the form NAME=VALUE, each name once.
func pairs(flag string, values []string) (map[string]string, error) {
	out := make(map[string]string, len(values))
	for _, v := range values {
		i := strings.LastIndexByte(v, '=')
		if flag == "set" {
			i = strings.IndexByte(v, '=')
		}
		if i <= 0 {
			return nil, usagef("cannot read --%s %q: give NAME=VALUE", flag, clip(v))
		}
		if _, twice := out[v[:i]]; twice {
			return nil, usagef("--%s names %q twice", flag, clip(v[:i]))
		}
		out[v[:i]] = v[i+1:]
	}
	return out, nil
}

// importRun is one import on its way.
type importRun struct {
	m       *Main
	file    string
	profile *importcsv.Profile
	norm    *normalize.Normalizer
	now     time.Time
	at      time.Time // told on the command line; zero is not told
	db      *store.DB // open once something is stored
	out     importOut

	before  int64        // rows of the files read to their end
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

func (im *importRun) do(ctx context.Context) (err error) {
	docs, done, err := im.documents(ctx)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, done())
		if im.db != nil {
			err = errors.Join(err, im.db.Close())
		}
	}()
	switch im.profile.Form {
	case importcsv.FormRates, importcsv.FormECB:
		return im.eachDoc(ctx, docs, im.rates)
	case importcsv.FormSignals, importcsv.FormAdvisor:
		return im.eachDoc(ctx, docs, im.signals)
	case importcsv.FormBenchmarks:
		return im.eachDoc(ctx, docs, im.benchmarks)
	}
	return im.prices(ctx, docs)
}

// read opens a file and hands its reader to fn.
func (im *importRun) read(doc *importDoc, fn func(r *importcsv.Reader) error) (err error) {
	f, err := doc.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	opt := importcsv.Options{
		Normalizer: im.norm, Now: im.now, At: doc.at, Provider: doc.provider,
		Progress: func(n int64) { im.rows.Store(im.before + n) },
	}
	r, err := importcsv.New(io.LimitReader(f, importcsv.MaxBytes), im.profile, opt)
	if err == nil {
		err = fn(r)
	}
	if err != nil && doc.inside {
		err = fmt.Errorf("%s: %w", doc.name, err)
	}
	if r != nil {
		im.before += r.Tally().Rows
	}
	return err
}

// eachDoc reads the files one by one.
func (im *importRun) eachDoc(ctx context.Context, docs iter.Seq2[importDoc, error], fn func(context.Context, *importcsv.Reader) error) error {
	for doc, err := range docs {
		if err != nil {
			return err
		}
		im.out.Files++
		if err := im.read(&doc, func(r *importcsv.Reader) error { return fn(ctx, r) }); err != nil {
			return err
		}
	}
	return nil
}

// open opens the database, made when there is none.
func (im *importRun) open() (*store.DB, error) {
	im.storing.Store(true)
	if im.db != nil {
		return im.db, nil
	}
	var err error
	im.db, err = im.m.openWrite(im.norm)
	return im.db, err
}

// importGroup is how many rows one step of an import stores: what it read before
// it was interrupted stays.
const importGroup = 1_000_000

// prices stores prices in groups of files.
func (im *importRun) prices(ctx context.Context, docs iter.Seq2[importDoc, error]) error {
	var g importDocs
	for doc, err := range docs {
		if err != nil {
			return err
		}
		im.out.Files++
		if err := im.look(ctx, &g, doc); err != nil {
			return err
		}
		if g.rows >= importGroup {
			if err := im.storeGroup(ctx, &g); err != nil {
				return err
			}
			g = importDocs{}
		}
	}
	return im.storeGroup(ctx, &g)
}

// importDocs is a group of files.
type importDocs struct {
	docs     []importDoc
	rows     int64 // rows that can be stored
	rejected int64
}

// look reads a file for the first time: whether a row is rejected must be known
// before the first one is stored, and the rows of a file need not fit into memory.
func (im *importRun) look(ctx context.Context, g *importDocs, doc importDoc) error {
	im.storing.Store(false)
	return im.read(&doc, func(r *importcsv.Reader) error {
		for row, err := range r.Prices(ctx) {
			if err != nil {
				return err
			}
			im.out.span(row.At)
			g.rows++
		}
		im.out.tally(r.Tally())
		g.docs = append(g.docs, doc)
		g.rejected += r.Tally().RejectedRows()
		return nil
	})
}

// storeGroup reads a group once more and stores it.
func (im *importRun) storeGroup(ctx context.Context, g *importDocs) error {
	if g.rows == 0 {
		return nil
	}
	kind := im.profile.Kind
	if kind == "" {
		kind = gputide.ImportEvents // of an export
	}
	if kind == gputide.ImportSnapshot && g.rejected > 0 {
		kind, im.out.WithoutWithdrawals = gputide.ImportEvents, true
	}
	im.out.Kind = opt(string(kind))
	db, err := im.open()
	if err != nil {
		return err
	}
	res, err := db.Import(ctx, im.profile.Name, kind, im.again(ctx, g))
	if err != nil {
		return err
	}
	im.out.stored(&res)
	return nil
}

// again passes on the rows of a group and ends with an error when it is not what
// it was at the first reading: a file was changed meanwhile.
func (im *importRun) again(ctx context.Context, g *importDocs) iter.Seq2[gputide.ImportRow, error] {
	return func(yield func(gputide.ImportRow, error) bool) {
		var rows, rejected int64
		for i := range g.docs {
			stopped := false
			err := im.read(&g.docs[i], func(r *importcsv.Reader) error {
				for row, err := range r.Prices(ctx) {
					if err != nil {
						return err
					}
					rows++
					if stopped = !yield(row, nil); stopped {
						return nil
					}
				}
				rejected += r.Tally().RejectedRows()
				return nil
			})
			if stopped {
				return
			}
			if err != nil {
				yield(gputide.ImportRow{}, err)
				return
			}
		}
		if rows != g.rows || rejected != g.rejected {
			yield(gputide.ImportRow{}, fmt.Errorf("%w: the file changed while it was read", gputide.ErrConflict))
		}
	}
}
