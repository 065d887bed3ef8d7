package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const fixturesExportLong = `Writes an archived run of a provider as a fixture, DIR/<provider>/manifest.json
with the bodies beside it, which crawl --fixtures reads. The first live answer of
an adapter becomes its recording this way.

Credentials and what identifies accounts and requests are replaced, in addresses,
headers and bodies. The fixture is then read by this build's adapter, and must
give what the archived run gives. Rows are not trimmed, and names a person chose
are not known: read the files before you publish them.`

// fixturesFlags are the flags of fixtures export.
type fixturesFlags struct {
	provider, at, archive, dir, out string
}

func (m *Main) fixturesCmd() *cobra.Command {
	var o fixturesFlags
	cmd := &cobra.Command{
		Use: "export", Short: "Write an archived run as a fixture", Long: fixturesExportLong, Args: noArgs,
		Example: `  gputide fixtures export --provider alibaba --out fixtures
  gputide fixtures export --provider tencent --from-archive raw --at 2026-09-20 --out /tmp/fixtures`,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.exportFixture(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.provider, "provider", "", "`PROVIDER` to export (required)")
	f.StringVar(&o.dir, "out", "", "`DIR` to write <provider>/ into (required); what is there stays as it is")
	f.StringVar(&o.at, "at", "", "the run at or last before `TIME`, UTC (default the newest)")
	f.StringVar(&o.archive, "from-archive", "", "`DIR` of raw bodies (default the database's name with .archive)")
	formatFlag(cmd, &o.out, objectFormats[:])
	return group("fixtures", "Recorded answers that stand in for the network", "Recorded answers that stand in for the network, in crawl --fixtures and in tests.", cmd)
}

// exportedOut is the JSON of fixtures export.
type exportedOut struct {
	Provider  string `json:"provider"`
	At        string `json:"at"`
	Dir       string `json:"dir"`
	Exchanges int    `json:"exchanges"`
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes"`
	Scrubbed  int    `json:"scrubbed"`
	Offers    int    `json:"offers"`
}

func (m *Main) exportFixture(ctx context.Context, o fixturesFlags) error {
	form, err := oneOf("output", o.out, objectFormats[:])
	if err != nil {
		return err
	}
	a, at, err := m.exportFrom(o)
	if err != nil {
		return err
	}
	archived, err := a.Replay(o.provider, at)
	if err != nil {
		return err
	}
	want, err := m.read(ctx, o.provider, archived) // the secrets are known from here on
	if err != nil {
		return err
	}
	done, err := a.Export(o.provider, at, o.dir, m.redact)
	if err != nil {
		return err
	}
	if err := m.sameRows(ctx, o, want); err != nil {
		return err
	}
	out := exportedOut{
		Provider: o.provider, At: stamp(at), Dir: done.Dir, Exchanges: done.Exchanges, Files: done.Files, Bytes: done.Bytes,
		Scrubbed: done.Scrubbed, Offers: want.offers,
	}
	if form == formatJSON {
		return writeObject(m.Stdout, &out)
	}
	fmt.Fprintf(m.Stdout, "%s: the run of %s, %d exchanges, %d files, %s, %d values replaced; it gives the same %d offer rows\n",
		clean(out.Dir), out.At, out.Exchanges, out.Files, bytesText(out.Bytes), out.Scrubbed, out.Offers)
	return nil
}

// exportFrom checks the flags and finds the run.
func (m *Main) exportFrom(o fixturesFlags) (a *fetch.Archive, at time.Time, err error) {
	switch {
	case o.provider == "":
		return nil, at, usagef("fixtures export needs --provider; gputide providers lists them")
	case o.dir == "":
		return nil, at, usagef("fixtures export needs --out: the folder to write %s/ into", o.provider)
	case o.archive == "off":
		return nil, at, usagef("fixtures export reads the archive: --from-archive cannot be off")
	}
	if at, err = parseTime("at", o.at); err != nil {
		return nil, at, err
	}
	if err := m.checkProvider(o.provider); err != nil {
		return nil, at, err
	}
	if o.archive != "" {
		if _, err := os.Stat(o.archive); err != nil {
			return nil, at, usagef("--from-archive: %w", err)
		}
	}
	if a, err = m.openArchive(o.archive); err != nil {
		return nil, at, err
	}
	at, err = runAt(a, o.provider, at)
	return a, at, err
}

// sameRows holds that the exported fixture reads as the archived run does.
func (m *Main) sameRows(ctx context.Context, o fixturesFlags, want *rows) error {
	exported, err := fetch.OpenFixtures(o.dir)
	if err != nil {
		return err
	}
	got, err := m.read(ctx, o.provider, exported)
	if err != nil {
		return err
	}
	differ := 0
	for i := range max(len(want.lines), len(got.lines)) {
		if i >= len(want.lines) || i >= len(got.lines) || want.lines[i] != got.lines[i] {
			differ++
		}
	}
	if differ > 0 {
		return &gputide.HintError{
			Err:  fmt.Errorf("%w: the exported fixture reads otherwise than the archived run, in %d of %d lines", gputide.ErrInvalid, differ, len(want.lines)),
			Hint: "the adapter reads a value that was replaced; the folder was kept for you to look at",
		}
	}
	return nil
}

// read has a provider read fixtures and returns all it gave, sorted.
func (m *Main) read(ctx context.Context, provider string, from *fetch.Fixtures) (*rows, error) {
	f := m.fetcher(fetch.Options{Fixtures: from})
	defer f.Close()
	list, err := m.registry(f, nil)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(p gputide.Provider) bool { return p.Info().Name == provider })
	if i < 0 {
		return nil, fmt.Errorf("provider %s: %w", provider, gputide.ErrNotFound)
	}
	at := from.CapturedAt(provider)
	out := &rows{}
	b := gputide.NewBatch(provider, at, out)
	ctx = fetch.WithRun(ctx, at)
	if s, ok := list[i].(gputide.SpecCrawler); ok {
		out.end("specs", s.CrawlSpecs(ctx, b))
	}
	if r, ok := list[i].(gputide.RateCrawler); ok {
		out.end("rates", r.CrawlRates(ctx, b))
	}
	out.end("crawl", list[i].Crawl(ctx, b))
	slices.Sort(out.lines)
	return out, ctx.Err()
}

// rows takes what a crawl gives, a line of text each.
type rows struct {
	lines  []string
	offers int
}

func (r *rows) add(kind string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		text = fmt.Appendf(nil, "%+v", v)
	}
	r.lines = append(r.lines, kind+" "+string(text))
}

func (r *rows) end(kind string, err error) {
	if err != nil {
		r.lines = append(r.lines, kind+": "+err.Error())
	}
}

// The values of a crawl; see [gputide.Sink].
func (r *rows) Offer(o gputide.RawOffer) { r.offers++; r.add("offer", o) }

func (r *rows) Spec(s gputide.Spec) { r.add("spec", s) }

func (r *rows) Signal(s gputide.Signal) { r.add("signal", s) }

func (r *rows) Rate(v gputide.Rate) { r.add("rate", v) }

func (r *rows) Skip(s gputide.Skipped) { r.add("skip", s) }

func (r *rows) Scope(s gputide.ScopeRun) { r.add("scope", s) }

func (r *rows) Omit(source, reason string, n int64) { r.add("omit", []any{source, reason, n}) }

func (r *rows) Source(source string, status gputide.SourceStatus, err error) {
	r.add("source", []any{source, status, fmt.Sprint(err)})
}

// runAt returns the moment of the newest archived run of a provider at or before
// a moment; zero is the newest of all.
func runAt(a *fetch.Archive, provider string, at time.Time) (time.Time, error) {
	runs, err := a.Runs(provider)
	if err != nil {
		return at, err
	}
	for _, r := range slices.Backward(runs) {
		if at.IsZero() || !r.At.After(at) {
			return r.At, nil
		}
	}
	return at, &gputide.HintError{
		Err:  fmt.Errorf("archived run of %s: %w", provider, gputide.ErrNotFound),
		Hint: "the archive holds live crawls of the last 30 days; gputide runs list shows when they were",
	}
}
