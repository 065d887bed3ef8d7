package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/crawler"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/normalize"
	"github.com/gputide/gputide/store"
)

// daemon is a database with a schedule and listeners.
type daemon struct {
	m        *Main
	log      *slog.Logger
	jobs     []job
	upkeep   upkeep
	collect  crawler.Collect
	fixtures string // a folder; empty is live
	norm     *normalize.Normalizer
	db       *store.DB
	archive  *fetch.Archive
	servers  map[net.Listener]*http.Server

	stuck bool // a crawl did not end: the database cannot be closed
}

// path is the database.
func (d *daemon) path() string {
	path, err := d.m.dbPath()
	if err != nil {
		return ""
	}
	return path
}

// address names where the daemon listens.
func (d *daemon) address() string {
	var all []string
	for l := range d.servers {
		all = append(all, l.Addr().Network()+":"+l.Addr().String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// close lets everything go. While a crawl still runs the database stays open:
// the end of the process closes it, and it is sound at every moment.
func (d *daemon) close() {
	for l := range d.servers {
		_ = l.Close() // mostly closed already
	}
	if d.db == nil || d.stuck {
		return
	}
	if err := d.db.Close(); err != nil {
		d.log.Error("database not closed", "err", err)
	}
}

// view hands out the database at one moment.
func (d *daemon) view(ctx context.Context, read func(*api.View) error) error {
	v := &api.View{Engine: d.m.newEngine(d.norm, d.db), Store: d.db}
	return d.db.Consistent(ctx, func() error { return read(v) })
}

// crawl crawls markets of one provider, all when none is named, at the times of
// a table, once any crawl of the provider that is under way has ended.
func (d *daemon) crawl(ctx context.Context, j *job, table crawler.Timetable, markets []gputide.Market) (crawler.Result, error) {
	select {
	case j.busy <- struct{}{}:
		defer func() { <-j.busy }()
	case <-ctx.Done():
		return crawler.Result{}, ctx.Err()
	}
	opt := fetch.Options{Archive: d.archive, NoConditional: d.collect == crawler.CollectAll}
	if d.fixtures != "" {
		var err error
		if opt.Fixtures, err = fetch.OpenFixtures(d.fixtures); err != nil {
			return crawler.Result{}, fmt.Errorf("fixtures: %w", err)
		}
	}
	f := d.m.fetcher(opt)
	defer f.Close()
	list, err := d.m.registry(f, j.regions)
	if err != nil {
		return crawler.Result{}, err
	}
	k := slices.IndexFunc(list, func(p gputide.Provider) bool { return p.Info().Name == j.info.Name })
	c := &crawler.Crawler{Store: d.db, Normalizer: d.norm, Logger: d.log, Now: d.m.Now, CodeVersion: version()}
	results := c.Crawl(ctx, list[k:k+1], crawler.Options{Collect: d.collect, Markets: markets, Adjust: func(info *gputide.Info) {
		info.Cadence = table.Cadence()
		if j.deadline > 0 {
			info.Deadline = j.deadline
		}
	}})
	d.m.prune(ctx, d.db, d.archive)
	return results[0], nil
}

// crawlNow crawls providers at once, all when none is named.
func (d *daemon) crawlNow(ctx context.Context, names []string) ([]crawlRow, error) {
	var jobs []*job
	for i := range d.jobs {
		if len(names) == 0 || slices.Contains(names, d.jobs[i].info.Name) {
			jobs = append(jobs, &d.jobs[i])
		}
	}
	if len(jobs) < len(names) {
		return nil, fmt.Errorf("%w: provider %s is not crawled by this daemon", gputide.ErrInvalid, strings.Join(d.strangers(names), ", "))
	}
	rows := make([]crawlRow, len(jobs))
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, j := range jobs {
		wg.Go(func() {
			res, err := d.crawl(ctx, j, j.table, nil)
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", j.info.Name, err)
				return
			}
			rows[i] = newCrawlRow(&res, j.info)
		})
	}
	wg.Wait()
	return rows, errors.Join(errs...)
}

// strangers returns the names that no job has.
func (d *daemon) strangers(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return slices.ContainsFunc(d.jobs, func(j job) bool { return j.info.Name == n })
	})
}
