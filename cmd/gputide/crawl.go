package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/store"
)

const crawlLong = `Reads what providers publish and stores it. Without --provider every provider is
crawled. No key is needed for a useful run; gputide providers says what a key
would add. A source without its key is skipped, which is no failure.

Each provider is on its own: what one fails to give keeps its last price and
shows a gap; the others are stored. Exit code 3 says that one or more failed.

When a daemon (gputide serve) has the database, it is asked to crawl now, as its
configuration says.

With --fixtures nothing is asked of the network: bodies come from DIR, where each
provider has a folder with a manifest, and the run is dated by the manifest or by
--at.`

const crawlExample = `  gputide crawl
  gputide crawl --provider aws --region us-east-1 --region eu-central-1
  gputide crawl --provider runpod --provider ecb -o json
  gputide crawl --fixtures fixtures --db /tmp/try.db
  gputide crawl --fixtures fixtures --provider runpod --at 2026-08-23 --replace`

// crawlFlags are the flags of crawl.
type crawlFlags struct {
	providers, regions    []string
	fixtures, at, collect string
	archive, out          string
	replace               bool
	deadline              time.Duration
	concurrency           int
}

func (m *Main) crawlCmd() *cobra.Command {
	var o crawlFlags
	cmd := &cobra.Command{
		Use: "crawl", Short: "Read what providers publish and store it", Long: crawlLong, Example: crawlExample, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked, err := m.crawlByDaemon(cmd, o); asked || err != nil {
				return err
			}
			return m.crawl(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	listFlag(cmd, &o.providers, "provider", "PROVIDER", "only these; may be repeated or given a list")
	listFlag(cmd, &o.regions, "region", "REGION", "only these, of providers read region by region; may be repeated or given a list")
	f.StringVar(&o.fixtures, "fixtures", "", "read from `DIR`/<provider>/manifest.json and from nothing else")
	f.StringVar(&o.at, "at", "", "with --fixtures: the moment observed, `TIME` in UTC (default the manifest's)")
	f.StringVar(&o.collect, "collect", string(crawler.CollectAccelerated), "`WHAT` to store: accelerated (offers with an accelerator) or all")
	f.BoolVar(&o.replace, "replace", false, "overwrite a run of the same moment")
	f.DurationVar(&o.deadline, "deadline", 0, "end after a `DURATION` such as 10m; what was read by then is stored (default 15m for each provider)")
	f.IntVar(&o.concurrency, "concurrency", crawler.DefaultConcurrency, "at most `N` providers at once")
	f.StringVar(&o.archive, "archive", "", "`DIR` that keeps raw bodies for replay, or off (default the database's name with .archive)")
	formatFlag(cmd, &o.out, listFormats[:])
	return cmd
}

// plan is a crawl with its flags checked.
type plan struct {
	form      format
	collect   crawler.Collect
	at        time.Time
	fixtures  *fetch.Fixtures
	providers []gputide.Provider
	fetcher   *fetch.Fetcher
	archive   *fetch.Archive
}

func (m *Main) crawl(ctx context.Context, o crawlFlags) error {
	p, err := m.planCrawl(o)
	if err != nil {
		return err
	}
	defer p.close()
	opt := crawler.Options{
		At: func(provider string) time.Time {
			if p.fixtures == nil || !p.at.IsZero() {
				return p.at
			}
			return p.fixtures.CapturedAt(provider)
		},
		Collect: p.collect, Replace: o.replace, Concurrency: o.concurrency, Cause: gputide.CauseCrawl,
	}
	if o.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.deadline, errDeadline)
		defer cancel()
	}
	return m.runCrawl(ctx, p, opt)
}

// errDeadline is why a crawl ended at its --deadline.
var errDeadline = errors.New("the crawl's deadline passed")

// planCrawl checks the flags and builds what a crawl needs, short of the
// database.
func (m *Main) planCrawl(o crawlFlags) (*plan, error) {
	p := &plan{}
	var err error
	if p.form, err = oneOf("output", o.out, listFormats[:]); err != nil {
		return nil, err
	}
	if p.collect, err = oneOf("collect", o.collect, []crawler.Collect{crawler.CollectAccelerated, crawler.CollectAll}); err != nil {
		return nil, err
	}
	if p.at, err = parseTime("at", o.at); err != nil {
		return nil, err
	}
	switch {
	case o.at != "" && o.fixtures == "":
		return nil, usagef("--at dates a crawl of --fixtures; a live crawl observes the present")
	case o.concurrency < 1:
		return nil, usagef("--concurrency is %d, it must be at least 1", o.concurrency)
	case o.deadline < 0:
		return nil, usagef("--deadline is %s, it must not be negative", o.deadline)
	}
	if o.fixtures != "" {
		if p.fixtures, err = fetch.OpenFixtures(o.fixtures); err != nil {
			return nil, fmt.Errorf("fixtures: %w", err)
		}
	} else if p.archive, err = m.openArchive(o.archive); err != nil {
		return nil, err
	}
	p.fetcher = m.fetcher(fetch.Options{
		Fixtures: p.fixtures, Archive: p.archive,
		// An archived price list holds its accelerated rows only: not enough for all.
		NoConditional: p.collect == crawler.CollectAll,
	})
	p.providers, err = m.chooseProviders(p, o.providers, o.regions)
	return p, err
}

func (p *plan) close() {
	p.fetcher.Close()
}

// chooseProviders returns the providers to crawl, in the order of the registry.
func (m *Main) chooseProviders(p *plan, names, regions []string) ([]gputide.Provider, error) {
	if err := m.checkProviders(names); err != nil {
		return nil, err
	}
	every, err := m.registry(p.fetcher, regions)
	if err != nil {
		return nil, err
	}
	var have []string
	if p.fixtures != nil {
		have = p.fixtures.Providers()
	}
	var chosen []gputide.Provider
	for _, prov := range every {
		name := prov.Info().Name
		named := slices.Contains(names, name)
		if len(names) > 0 && !named {
			continue
		}
		if p.fixtures != nil && !slices.Contains(have, name) {
			if named {
				return nil, usagef("the fixtures have no provider %q: they have %s", name, strings.Join(have, ", "))
			}
			continue
		}
		chosen = append(chosen, prov)
	}
	if len(chosen) == 0 {
		return nil, usagef("nothing to crawl: the fixtures hold no provider of this build")
	}
	return chosen, nil
}

// runCrawl crawls into the database and reports.
func (m *Main) runCrawl(ctx context.Context, p *plan, opt crawler.Options) error {
	norm, err := loadNormalizer()
	if err != nil {
		return err
	}
	db, err := m.openWrite(norm)
	if err != nil {
		return err
	}
	defer db.Close()
	prog := m.startProgress(len(p.providers))
	opt.Progress = prog.update
	c := &crawler.Crawler{Store: db, Normalizer: norm, Logger: m.log, Now: m.Now, CodeVersion: version()}
	results := c.Crawl(ctx, p.providers, opt)
	prog.stop()
	m.prune(ctx, db, p.archive)
	infos := map[string]gputide.Info{}
	for _, prov := range p.providers {
		info := prov.Info()
		infos[info.Name] = info
	}
	if err := m.reportCrawl(p.form, results, infos); err != nil {
		return err
	}
	for i := range results {
		if results[i].Failed() {
			return errProviders
		}
	}
	return nil
}

// prune keeps the archive within its bounds; bodies that refused rows point to
// stay. What it cannot do it logs: the crawl is stored all the same.
func (m *Main) prune(ctx context.Context, db *store.DB, a *fetch.Archive) {
	if a == nil {
		return
	}
	refused, err := db.Quarantine(ctx, "")
	if err == nil {
		pinned := map[string]bool{}
		for i := range refused {
			pinned[refused[i].BodyHash] = true
		}
		_, err = a.Prune(ctx, pinned)
	}
	if err != nil {
		m.log.WarnContext(ctx, "archive not pruned", "err", err)
	}
}

// archiveDir returns where raw bodies are kept, empty for nowhere.
func (m *Main) archiveDir(flag string) (string, error) {
	switch flag {
	case "off":
		return "", nil
	case "":
		path, err := m.dbPath()
		return path + ".archive", err
	}
	return filepath.Clean(flag), nil
}

func (m *Main) openArchive(flag string) (*fetch.Archive, error) {
	dir, err := m.archiveDir(flag)
	if dir == "" || err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	a, err := fetch.OpenArchive(dir, fetch.ArchiveOptions{Now: m.Now})
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return a, nil
}
