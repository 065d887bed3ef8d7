package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/crawler"
	"github.com/gputide/gputide/crawler/fetch"
)

const serveLong = `Crawls every provider on its schedule, for as long as it runs, and answers queries
on a socket beside the database: every other command asks the daemon when there is
one, and its output is the same.

gputide.yaml says which providers and when (gputide config init writes an example).
What was missed while it was down is crawled at the start. One line is logged for
each run. A signal (SIGTERM, SIGINT) ends it: crawls are cancelled, what was read to
its end is stored.

The socket is the database's name with .sock, or $GPUTIDE_SOCKET, and only its owner
can open it. It speaks HTTP: /healthz, /v1/offers, /v1/changes, /v1/types, … take
the filters of gputide query as parameters.`

// serveFlags are the flags of serve.
type serveFlags struct {
	config, fixtures string
}

func (m *Main) serveCmd() *cobra.Command {
	var o serveFlags
	cmd := &cobra.Command{
		Use: "serve", Short: "Crawl on a schedule and answer queries: the daemon", Long: serveLong, Args: noArgs,
		Example: `  gputide serve
  gputide serve --config /etc/gputide/gputide.yaml --db /var/lib/gputide/gputide.db
  curl --unix-socket gputide.db.sock "http://gputide/v1/offers?gpu=h100&limit=3"`,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.serve(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "`FILE` to read (default gputide/gputide.yaml in $XDG_CONFIG_HOME or ~/.config)")
	f.StringVar(&o.fixtures, "fixtures", "", "for trying it out: read from `DIR`/<provider>/manifest.json and from nothing else, as of now")
	return cmd
}

// Bounds of a stop: what a crawl that is told to end may take to store what it
// read, and an answer to be sent.
const (
	crawlGrace  = 30 * time.Second
	answerGrace = 5 * time.Second
)

func (m *Main) serve(ctx context.Context, o serveFlags) error {
	conf, err := m.loadConfig(o.config)
	if err != nil {
		return err
	}
	jobs, err := conf.check(m.infos())
	if err != nil {
		return err
	}
	if err := m.applyConfig(conf); err != nil {
		return err
	}
	d, err := m.startDaemon(ctx, conf, jobs, o.fixtures)
	if err != nil {
		return err
	}
	return d.run(ctx)
}

// applyConfig takes what the file says where no flag or variable does.
func (m *Main) applyConfig(c *config) error {
	if m.opt.db == "" && m.envText("GPUTIDE_DB") == "" {
		m.opt.db = c.beside(c.DB)
	}
	if m.opt.logLevel == "" {
		m.opt.logLevel = c.Log
	}
	if m.opt.logLevel == "" {
		m.opt.logLevel = "info"
	}
	return m.setLogger()
}

// run serves until ctx ends, and stops in order: crawls first, so that what they
// read is stored, then answers, then the database.
func (d *daemon) run(ctx context.Context) error {
	defer d.close()
	d.log.InfoContext(ctx, "serving", "status", fmt.Sprintf("%d providers", len(d.jobs)), "url", d.address())
	crawling, stopCrawls := context.WithCancel(ctx)
	defer stopCrawls()
	crawled := make(chan struct{})
	go func() {
		d.schedule().Run(crawling)
		close(crawled)
	}()
	var servers errgroup.Group
	failed := make(chan error, len(d.servers))
	for l, s := range d.servers {
		servers.Go(func() error {
			if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("listen %s: %w", l.Addr(), err)
			}
			return nil
		})
	}
	var err error
	select {
	case <-ctx.Done():
		d.log.InfoContext(ctx, "stopping")
	case err = <-failed:
	}
	stopCrawls()
	if !d.settle(ctx, crawled) {
		err = errors.Join(err, fmt.Errorf("a crawl did not end within %s; what it read is not stored", crawlGrace))
	}
	answers, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerGrace)
	defer cancel()
	for _, s := range d.servers {
		if s.Shutdown(answers) != nil {
			_ = s.Close() // answers that take longer are cut off
		}
	}
	_ = servers.Wait() // its functions return no error
	return err
}

// settle waits for crawls that were told to end.
func (d *daemon) settle(ctx context.Context, crawled <-chan struct{}) bool {
	done := make(chan struct{})
	go func() {
		<-crawled
		for i := range d.jobs {
			d.jobs[i].busy <- struct{}{} // one asked for at the socket has ended, and none begins
		}
		close(done)
	}()
	timer := time.NewTimer(crawlGrace)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		d.log.ErrorContext(ctx, "a crawl does not end")
		d.stuck = true
		return false
	}
}

// schedule returns the schedule of every provider.
func (d *daemon) schedule() *crawler.Schedule {
	s := &crawler.Schedule{Now: d.m.Now, Logger: d.log, Jitter: func(most time.Duration) time.Duration {
		if most <= 0 {
			return 0
		}
		return rand.N(most)
	}}
	for i := range d.jobs {
		j := &d.jobs[i]
		s.Entries = append(s.Entries, d.entry(j, j.table, j.rest()))
		for _, p := range j.paces {
			s.Entries = append(s.Entries, d.entry(j, p.table, []gputide.Market{p.market}))
		}
	}
	if d.upkeep.table != nil {
		s.Entries = append(s.Entries, crawler.Entry{Provider: "database", Table: *d.upkeep.table, Last: d.db.Compacted, Crawl: d.compact})
	}
	return s
}

// compact compacts the database, and takes out of the change feed what need not
// be kept.
func (d *daemon) compact(ctx context.Context) {
	var req compactRequest
	if d.upkeep.keep > 0 {
		req.PruneLogBefore = d.m.Now().Add(-d.upkeep.keep).UTC().Truncate(time.Second)
	}
	began := d.m.Now()
	out, err := compactOf(ctx, d.db, req)
	if err != nil {
		d.log.ErrorContext(ctx, "database not compacted", "err", err)
		return
	}
	d.log.InfoContext(ctx, "database compacted", "dur", d.m.Now().Sub(began).Round(time.Millisecond),
		"status", fmt.Sprintf("%s to %s, %d changes pruned", bytesText(out.Before), bytesText(out.After), out.Pruned))
}

// entry schedules markets of a provider; none is all of them.
func (d *daemon) entry(j *job, table crawler.Timetable, markets []gputide.Market) crawler.Entry {
	return crawler.Entry{
		Provider: j.info.Name, Table: table,
		Last: func(ctx context.Context) (time.Time, error) { return d.db.LastRun(ctx, j.info.Name, markets) },
		Crawl: func(ctx context.Context) {
			if _, err := d.crawl(ctx, j, table, markets); err != nil && ctx.Err() == nil {
				d.log.WarnContext(ctx, "crawl not begun", "provider", j.info.Name, "err", err)
			}
		},
	}
}

// startDaemon takes the database and the addresses.
func (m *Main) startDaemon(ctx context.Context, conf *config, jobs []job, fixtures string) (_ *daemon, err error) {
	upkeep, err := conf.upkeep()
	if err != nil {
		return nil, err
	}
	d := &daemon{m: m, log: m.log, jobs: jobs, upkeep: upkeep, fixtures: fixtures, collect: crawler.Collect(conf.Collect), servers: map[net.Listener]*http.Server{}}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	if d.norm, err = loadNormalizer(); err != nil {
		return nil, err
	}
	if d.db, err = m.openWrite(d.norm); err != nil {
		if errors.Is(err, gputide.ErrStoreLocked) {
			err = &gputide.HintError{
				Err:  fmt.Errorf("%w: %s", gputide.ErrStoreLocked, d.path()),
				Hint: "one daemon has a database: stop the other gputide, or give this one another --db",
			}
		}
		return nil, err
	}
	if fixtures != "" {
		f, err := fetch.OpenFixtures(fixtures)
		if err != nil {
			return nil, fmt.Errorf("fixtures: %w", err)
		}
		have := f.Providers()
		d.jobs = slices.DeleteFunc(jobs, func(j job) bool { return !slices.Contains(have, j.info.Name) })
	} else {
		archive := conf.Archive
		if archive != "off" {
			archive = conf.beside(archive)
		}
		if d.archive, err = m.openArchive(archive); err != nil {
			return nil, err
		}
	}
	return d, d.listen(ctx, conf.Listen)
}

// listen opens the socket and, when there is one, the address.
func (d *daemon) listen(ctx context.Context, address string) error {
	path := d.path()
	absolute, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	server := &api.Server{
		View: d.view, Routes: d.routes(ctx), Logger: d.log, Version: version(), Database: absolute,
	}
	socket, err := listenSocket(ctx, d.m.socketPath(path))
	if err != nil {
		return err
	}
	d.servers[socket] = server.HTTP(server.Handler(true))
	if address == "" {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return &gputide.HintError{Err: fmt.Errorf("listen: %w", err), Hint: "give another address as listen in gputide.yaml"}
	}
	d.servers[l] = server.HTTP(server.Handler(false))
	return nil
}
