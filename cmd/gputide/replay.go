package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler"
	"github.com/gputide/gputide/crawler/fetch"
)

const replayLong = `Reads an archived run of a provider again, with the adapter of this build, and
overwrites what the run stored: history is repaired as far back as the archive
reaches. Nothing is asked of the network.`

// replayFlags are the flags of replay.
type replayFlags struct {
	provider, at, archive, collect, out string
}

func (m *Main) replayCmd() *cobra.Command {
	var o replayFlags
	cmd := &cobra.Command{
		Use: "replay", Short: "Read an archived run again with this build's adapter", Long: replayLong, Args: noArgs,
		Example: `  gputide replay --provider aws
  gputide replay --provider runpod --at 2026-08-22T06:00:00Z`,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.replay(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.provider, "provider", "", "`PROVIDER` to replay (required)")
	f.StringVar(&o.at, "at", "", "the run at or last before `TIME`, UTC (default the newest)")
	f.StringVar(&o.archive, "archive", "", "`DIR` of raw bodies (default the database's name with .archive)")
	f.StringVar(&o.collect, "collect", string(crawler.CollectAccelerated), "`WHAT` to store: accelerated or all")
	formatFlag(cmd, &o.out, listFormats[:])
	return cmd
}

func (m *Main) replay(ctx context.Context, o replayFlags) error {
	if o.provider == "" {
		return usagef("replay needs --provider; gputide providers lists them")
	}
	if o.archive == "off" {
		return usagef("replay reads the archive: --archive cannot be off")
	}
	form, err := oneOf("output", o.out, listFormats[:])
	if err != nil {
		return err
	}
	collect, err := oneOf("collect", o.collect, []crawler.Collect{crawler.CollectAccelerated, crawler.CollectAll})
	if err != nil {
		return err
	}
	at, err := parseTime("at", o.at)
	if err != nil {
		return err
	}
	if err := m.checkProvider(o.provider); err != nil {
		return err
	}
	archived, err := m.archived(o, at)
	if err != nil {
		return err
	}
	p := &plan{form: form, fixtures: archived, fetcher: m.fetcher(fetch.Options{Fixtures: archived})}
	defer p.close()
	if p.providers, err = m.chooseProviders(p, []string{o.provider}, nil); err != nil {
		return err
	}
	return m.runCrawl(ctx, p, crawler.Options{
		At: p.fixtures.CapturedAt, Collect: collect, Replace: true, Concurrency: 1, Cause: gputide.CauseReplay,
	})
}

// archived opens the newest archived run of a provider at or before a moment;
// zero is the newest of all.
func (m *Main) archived(o replayFlags, at time.Time) (*fetch.Fixtures, error) {
	a, err := m.openArchive(o.archive)
	if err != nil {
		return nil, err
	}
	if at, err = runAt(a, o.provider, at); err != nil {
		return nil, err
	}
	return a.Replay(o.provider, at)
}
