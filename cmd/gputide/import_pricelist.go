package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/normalize"
	"github.com/gputide/gputide/providers/aws"
	"github.com/gputide/gputide/store"
)

// pricelistProfile is the profile archived price lists are imported under.
const pricelistProfile = "aws_pricelist"

// Bounds of one import of archived price lists.
const (
	maxPricelistSteps  = 2000
	maxPricelistOffers = 2_000_000 // accelerated ones, of one version
)

const pricelistLong = `Stores the price lists that AWS keeps of the past: for every step from --from to
--to the version of the EC2 list that was in force, with its on-demand and
reserved prices of one region. Their offers are the ones a crawl stores, so both
are one series. Prices of a version are dated by its publication.

A list is large: of us-east-1 some 300 MB. Without --yes only the plan is printed:
which versions, how many bytes. What is stored already is not fetched again, so
that an import that was interrupted goes on where it was. Only types with an
accelerator are stored; where a row of one cannot be read, nothing is concluded
from absence.`

const pricelistExample = `  gputide import aws-pricelist --region us-east-1 --from 2024-01-01 --to 2026-01-01 --step 1mo
  gputide import aws-pricelist --region us-east-1 --from 2024-01-01 --step 3mo --yes`

// pricelistFlags are the flags of import aws-pricelist.
type pricelistFlags struct {
	region, from, to, step, fixtures, out string
	yes                                   bool
}

func (m *Main) pricelistCmd() *cobra.Command {
	var o pricelistFlags
	cmd := &cobra.Command{
		Use: "aws-pricelist", Short: "Store archived AWS price lists of a region", Long: pricelistLong, Example: pricelistExample, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.importPricelists(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.region, "region", "", "`REGION` whose prices are stored (required)")
	f.StringVar(&o.from, "from", "", "first moment, `TIME` in UTC (required)")
	f.StringVar(&o.to, "to", "", "last moment, `TIME` in UTC (default now)")
	f.StringVar(&o.step, "step", "1mo", "`SPAN` from one version to the next: days, weeks, calendar months or years, as 1mo")
	f.BoolVar(&o.yes, "yes", false, "fetch and store what the plan names")
	f.StringVar(&o.fixtures, "fixtures", "", "read from `DIR`/aws/manifest.json and from nothing else")
	formatFlag(cmd, &o.out, objectFormats[:])
	return cmd
}

func (m *Main) importPricelists(ctx context.Context, o pricelistFlags) error {
	form, err := oneOf("output", o.out, objectFormats[:])
	if err != nil {
		return err
	}
	moments, err := m.pricelistMoments(o)
	if err != nil {
		return err
	}
	opt := fetch.Options{NoConditional: true} // and no archive: AWS keeps these lists
	if o.fixtures != "" {
		if opt.Fixtures, err = fetch.OpenFixtures(o.fixtures); err != nil {
			return fmt.Errorf("fixtures: %w", err)
		}
	}
	norm, err := loadNormalizer()
	if err != nil {
		return err
	}
	f := m.fetcher(opt)
	defer f.Close()
	im := &pricelistImport{m: m, aws: aws.New(f, aws.Config{Regions: []string{o.region}, Logger: m.log}), norm: norm, region: o.region}
	line := m.startLine(im.line)
	err = im.plan(ctx, moments)
	if err == nil && o.yes {
		err = im.run(ctx)
	}
	line.stop()
	if err != nil {
		return fmt.Errorf("import aws-pricelist: %w", err)
	}
	if err := m.pricelistReport(form, im); err != nil {
		return err
	}
	return im.outcome(o.yes)
}

// pricelistMoments checks the flags and returns the moments whose versions are
// asked for.
func (m *Main) pricelistMoments(o pricelistFlags) ([]time.Time, error) {
	from, err := parseTime("from", o.from)
	if err != nil {
		return nil, err
	}
	to, err := parseTime("to", o.to)
	if err != nil {
		return nil, err
	}
	if to.IsZero() {
		to = m.Now().UTC()
	}
	switch {
	case o.region == "":
		return nil, usagef("import aws-pricelist needs --region, such as us-east-1")
	case from.IsZero():
		return nil, usagef("import aws-pricelist needs --from, such as 2024-01-01")
	case to.Before(from):
		return nil, usagef("--to %s lies before --from %s", stamp(to), stamp(from))
	}
	n, unit, err := calendarStep(o.step)
	if err != nil {
		return nil, err
	}
	var out []time.Time
	for i := 0; ; i++ {
		t := addSteps(from, n*i, unit)
		if t.After(to) {
			return out, nil
		}
		if len(out) == maxPricelistSteps {
			return nil, usagef("--step %s makes more than %d steps: take a longer one", o.step, maxPricelistSteps)
		}
		out = append(out, t)
	}
}

// calendarStep reads a step of days, weeks, months or years.
func calendarStep(s string) (n int, unit string, err error) {
	i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if i > 0 {
		unit = s[i:]
		if n, err = strconv.Atoi(s[:i]); err == nil && n > 0 && n <= maxPricelistSteps && (unit == "d" || unit == "w" || unit == "mo" || unit == "y") {
			return n, unit, nil
		}
	}
	return 0, "", usagef("cannot read --step %q: give a number of days, weeks, months or years, such as 1mo", clip(s))
}

// addSteps moves t on by n units; from the end of a month to the end of one.
func addSteps(t time.Time, n int, unit string) time.Time {
	months := n
	switch unit {
	case "d":
		return t.AddDate(0, 0, n)
	case "w":
		return t.AddDate(0, 0, 7*n)
	case "y":
		months = 12 * n
	}
	out := t.AddDate(0, months, 0)
	if out.Day() != t.Day() {
		out = out.AddDate(0, 0, -out.Day())
	}
	return out
}

// The states of a version in an import.
const (
	pricelistStored   = "stored" // before
	pricelistToFetch  = "to_fetch"
	pricelistImported = "imported"
	pricelistFailed   = "failed"
)

// pricelistImport is one import on its way.
type pricelistImport struct {
	m        *Main
	aws      *aws.Provider
	norm     *normalize.Normalizer
	region   string
	lists    []aws.ListVersion
	versions []pricelistVersion // of the lists

	at   atomic.Int64 // version being read, from 1
	rows atomic.Int64 // rows read of it
	errs []error
}

// line says how far the import has come.
func (im *pricelistImport) line() string {
	at := im.at.Load()
	if at == 0 {
		return "asking for the versions"
	}
	return fmt.Sprintf("version %d of %d  %d rows", at, len(im.lists), im.rows.Load())
}

// plan finds the versions and which of them are stored.
func (im *pricelistImport) plan(ctx context.Context, moments []time.Time) (err error) {
	if im.lists, err = im.aws.Versions(ctx, im.region, moments); err != nil {
		return err
	}
	path, err := im.m.dbPath()
	if err != nil {
		return err
	}
	for i := range im.lists {
		im.versions = append(im.versions, newPricelistVersion(&im.lists[i]))
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	db, err := im.m.openReadWith(im.norm)
	if err != nil {
		return err
	}
	for i := range im.lists {
		stored, err := im.stored(ctx, db, im.lists[i].At)
		if err != nil {
			return errors.Join(err, db.Close())
		}
		if stored {
			im.versions[i].State = pricelistStored
		}
	}
	return db.Close()
}

// stored reports whether the version of a moment is in the database: some offer
// of the region was observed at it by an import of this kind.
func (im *pricelistImport) stored(ctx context.Context, db *store.DB, at time.Time) (bool, error) {
	quotes, err := db.Quotes(ctx, gputide.Selection{Matches: []gputide.Match{
		{Field: gputide.FieldProvider, Values: []string{"aws"}}, {Field: gputide.FieldRegion, Values: []string{im.region}},
	}}, at)
	if err != nil {
		return false, err
	}
	for i := range quotes {
		if quotes[i].ObservedAt.Equal(at) && quotes[i].Source == store.ImportPrefix+pricelistProfile {
			return true, nil
		}
	}
	return false, nil
}

// run reads and stores the versions that are not stored. What fails of one
// touches no other.
func (im *pricelistImport) run(ctx context.Context) error {
	for i := range im.lists {
		v := &im.versions[i]
		if v.State == pricelistStored {
			continue
		}
		im.at.Store(int64(i + 1))
		im.rows.Store(0)
		err := im.version(ctx, &im.lists[i], v)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		v.State = pricelistImported
		if err != nil {
			v.State, v.Error = pricelistFailed, opt(err.Error())
			im.errs = append(im.errs, fmt.Errorf("version %s: %w", v.Version, err))
		}
	}
	return nil
}

// version reads one version whole, for whether one of its rows cannot be read
// must be known before the first is stored, and stores it.
func (im *pricelistImport) version(ctx context.Context, l *aws.ListVersion, v *pricelistVersion) error {
	in := &pricelistSink{im: im, at: l.At, types: map[string]bool{}, rejected: map[string]int64{}}
	if err := im.aws.ReadVersion(ctx, *l, gputide.NewBatch("aws", l.At, in)); err != nil {
		return err
	}
	if in.full {
		return fmt.Errorf("%w: more than %d offers", gputide.ErrTooLarge, maxPricelistOffers)
	}
	kind := gputide.ImportSnapshot
	if v.WithoutWithdrawals = in.incomplete(); v.WithoutWithdrawals {
		kind = gputide.ImportEvents
	}
	v.Offers, v.LeftOut, v.Rejected = int64(len(in.rows)), in.leftOut, in.rejected
	if len(in.rows) == 0 {
		return nil
	}
	db, err := im.m.openWrite(im.norm)
	if err != nil {
		return err
	}
	res, err := db.Import(ctx, pricelistProfile, kind, in.each)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	v.FirstSeen, v.Changed, v.Confirmed, v.Withdrawn, v.Returned = res.FirstSeen, res.Changed, res.Confirmed, res.Withdrawn, res.Returned
	if res.Conflicts > 0 {
		v.Rejected["conflicting_price"] += int64(res.Conflicts)
	}
	return nil
}

// outcome is the error the command ends with.
func (im *pricelistImport) outcome(yes bool) error {
	if n := im.toFetch(); n > 0 && !yes {
		return usagef("nothing was fetched: add --yes to fetch %d versions and store them", n)
	}
	if len(im.errs) > 0 {
		return fmt.Errorf("import aws-pricelist: %w", errors.Join(im.errs...))
	}
	return nil
}

// toFetch returns how many versions are not stored.
func (im *pricelistImport) toFetch() int {
	n := 0
	for i := range im.versions {
		if im.versions[i].State == pricelistToFetch {
			n++
		}
	}
	return n
}
