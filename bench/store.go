package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"
)

// sizes are the sizes of the store's table.
type sizes struct {
	series, nights    int // on demand, once a night
	spotSeries, hours int // half spot, once an hour
	backfillDays      int
	logScopes         int
	logRuns           int // one every ten minutes
	kills             int
	years, yearSeries int // of the command-line queries
	rounds            int
	listBytes         int64 // of one price list
	azurePages        int   // of 1,000 rows
	gcpPages          int   // of 5,000 SKUs
}

var (
	fullSizes = sizes{
		series: 30_000, nights: 365, spotSeries: 1_000, hours: 90 * 24, backfillDays: 40, logScopes: 1_000, logRuns: 365 * 24 * 6,
		kills: 100, years: 10, yearSeries: 30_000, rounds: 3, listBytes: 300 << 20, azurePages: 650, gcpPages: 12,
	}
	smokeSizes = sizes{
		series: 1_200, nights: 12, spotSeries: 60, hours: 48, backfillDays: 10, logScopes: 20, logRuns: 300,
		kills: 2, years: 1, yearSeries: 120, rounds: 1, listBytes: 4 << 20, azurePages: 32, gcpPages: 2,
	}
)

const benchGPU = "h100-sxm-80gb"

// The peers, in the order of the table.
const (
	ours = iota
	sqlite
	duck
	prom
	peers
)

// storeBench fills every peer from the same file and asks all the same.
type storeBench struct {
	sizes
	dir         string
	progress    io.Writer
	peers       [peers]peer
	night, hour *workload
	commits     [peers]sample
	total       int64 // observations
}

func benchStore(ctx context.Context, out, progress io.Writer, dir string, sz sizes) (err error) {
	b := &storeBench{sizes: sz, dir: dir, progress: progress}
	if err := b.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.fill(ctx); err != nil {
		return err
	}
	rows, err := b.measure(ctx)
	if err != nil {
		return err
	}
	alone, err := b.alone(ctx)
	if err != nil {
		return err
	}
	heads := make([]string, 0, peers+1)
	for _, p := range b.peers {
		heads = append(heads, p.title())
	}
	printTable(out, fmt.Sprintf("Store: %d series × %d nights and %d × %d hours, %.1f M observations, median of %d rounds ± half the spread; (ours ÷ theirs)",
		sz.series, sz.nights, sz.spotSeries, sz.hours, float64(b.total)/1e6, sz.rounds), append(heads, "aim"), slices.Concat(rows, alone))
	return nil
}

func (b *storeBench) open(ctx context.Context) (err error) {
	b.night, b.hour = nightly(b.series, b.nights), hourly(b.spotSeries, b.hours)
	open := [peers]func() (peer, error){
		ours:   func() (peer, error) { return newGputide(filepath.Join(b.dir, "gputide.db")) },
		sqlite: func() (peer, error) { return newSQLite(ctx, filepath.Join(b.dir, "sqlite.db")) },
		duck:   func() (peer, error) { return newDuckDB(ctx, filepath.Join(b.dir, "duck.db")) },
		prom:   func() (peer, error) { return newPrometheus(filepath.Join(b.dir, "prometheus")) },
	}
	for i := range open {
		if b.peers[i], err = open[i](); err != nil {
			return err
		}
	}
	return nil
}

func (b *storeBench) close() (err error) {
	for _, p := range b.peers {
		if p != nil {
			err = errors.Join(err, p.close())
		}
	}
	return err
}

// fill writes the file of observations and commits each of its runs to every
// peer, taking turns at going first.
func (b *storeBench) fill(ctx context.Context) (err error) {
	path := filepath.Join(b.dir, "observations.csv")
	if b.total, err = writeObservations(path, b.night, b.hour); err != nil {
		return err
	}
	seen := map[string]int{}
	for run, err := range newObservations(path, b.night, b.hour).runs() {
		if err != nil {
			return err
		}
		i := seen[run.Provider]
		seen[run.Provider]++
		for turn := range b.peers {
			p := (turn + i) % len(b.peers)
			began := time.Now()
			if err := b.peers[p].commit(ctx, run); err != nil {
				return fmt.Errorf("%s: run of %s: %w", b.peers[p].title(), run.At, err)
			}
			if run.Provider == b.night.provider && i > 0 {
				b.commits[p] = append(b.commits[p], time.Since(began))
			}
		}
		if i%100 == 0 {
			fmt.Fprintf(b.progress, "%s: run %d\n", run.Provider, i)
		}
	}
	return nil
}

func (b *storeBench) measure(ctx context.Context) ([]row, error) {
	live, err := b.sizeRow(ctx, "bytes per observation, live", aim{text: "≤ 0.75, never above SQLite", against: []int{sqlite}, limit: 1})
	if err != nil {
		return nil, err
	}
	rows := []row{live, timed("nightly commit", b.commits[:], aim{text: "≤ 1.0× SQLite", against: []int{sqlite}, limit: 1})}
	for _, q := range b.queries() {
		fmt.Fprintln(b.progress, q.what)
		r, err := b.compare(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.what, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (b *storeBench) sizeRow(ctx context.Context, what string, a aim) (row, error) {
	values := make([]float64, len(b.peers))
	for i, p := range b.peers {
		if err := p.settle(ctx); err != nil {
			return row{}, err
		}
		used, err := p.size(ctx)
		if err != nil {
			return row{}, err
		}
		values[i] = float64(used) / float64(b.total)
	}
	return versus(what, values, func(i int) string { return fmt.Sprintf("%.3f", values[i]) }, a), nil
}

// query is one measured question. repeat makes short ones long enough to time.
type query struct {
	what   string
	repeat int
	aim    aim
	run    func(ctx context.Context, p peer) (answer, error)
}

func (b *storeBench) queries() []query {
	w := b.night
	return []query{
		{
			"latest price of every " + benchGPU + " offer", 20,
			aim{"≥ 100× DuckDB and Prometheus", []int{duck, prom}, 0.01},
			func(ctx context.Context, p peer) (answer, error) { return p.latest(ctx, benchGPU) },
		},
		{
			"one series, every observation", 20,
			aim{"≤ SQLite", []int{sqlite}, 1},
			func(ctx context.Context, p peer) (answer, error) {
				return p.oneSeries(ctx, &w.keys[b.series/2], w.start, w.end())
			},
		},
		{
			fmt.Sprintf("daily median of %d series", b.series/len(gpus)), 1,
			aim{"≤ 1.0× DuckDB", []int{duck}, 1},
			func(ctx context.Context, p peer) (answer, error) {
				return p.dailyMedian(ctx, w.provider, benchGPU, w.start, b.nights)
			},
		},
		{
			fmt.Sprintf("spot discount percentiles of %d pairs", b.spotSeries/2), 1,
			aim{"≥ 2.5× the best", []int{sqlite, duck, prom}, 0.4},
			func(ctx context.Context, p peer) (answer, error) { return p.discounts(ctx, b.hour.provider) },
		},
		{
			"every observation of every series", 1,
			aim{"≥ 10× SQLite", []int{sqlite}, 0.1},
			func(ctx context.Context, p peer) (answer, error) { return p.export(ctx) },
		},
		{
			"cold open", 1,
			aim{"≤ 5 ms", nil, 0.005},
			func(ctx context.Context, p peer) (answer, error) { return answer{}, p.reopen(ctx) },
		},
	}
}

// compare asks every peer once, refuses different answers, then times rounds in
// which they take turns.
func (b *storeBench) compare(ctx context.Context, q query) (row, error) {
	var first [peers]answer
	for i, p := range b.peers {
		a, err := q.run(ctx, p)
		if err != nil {
			return row{}, fmt.Errorf("%s: %w", p.title(), err)
		}
		if first[i] = a; first[i] != first[0] {
			return row{}, fmt.Errorf("answers differ: %s %+v, %s %+v", b.peers[0].title(), first[0], p.title(), a)
		}
	}
	samples := make([]sample, len(b.peers))
	for round := range b.rounds {
		for turn := range b.peers {
			i := (turn + round) % len(b.peers)
			began := time.Now()
			for range q.repeat {
				if _, err := q.run(ctx, b.peers[i]); err != nil {
					return row{}, err
				}
			}
			samples[i] = append(samples[i], time.Since(began)/time.Duration(q.repeat))
		}
	}
	return timed(q.what, samples, q.aim), nil
}

// alone gives the rows that concern gputide more than its peers.
func (b *storeBench) alone(ctx context.Context) ([]row, error) {
	packed, err := b.packed(ctx)
	if err != nil {
		return nil, fmt.Errorf("compaction: %w", err)
	}
	fmt.Fprintln(b.progress, "backfill")
	past, err := benchBackfill(ctx, b.dir, b.series, b.backfillDays)
	if err != nil {
		return nil, fmt.Errorf("backfill: %w", err)
	}
	log, err := benchRunLog(ctx, b.dir, b.logScopes, b.logRuns, func(n int) { fmt.Fprintf(b.progress, "run log: run %d of %d\n", n, b.logRuns) })
	if err != nil {
		return nil, fmt.Errorf("run log: %w", err)
	}
	killed, err := benchKills(ctx, b.dir, b.kills)
	if err != nil {
		return nil, fmt.Errorf("kill -9: %w", err)
	}
	return slices.Concat(packed, past, log, []row{killed}), nil
}

// packed compacts the store and asks it again what packing could slow down. The
// peers' bytes are those of their own compaction.
func (b *storeBench) packed(ctx context.Context) ([]row, error) {
	fmt.Fprintln(b.progress, "compaction")
	db := b.peers[ours].(*gputidePeer).db //nolint:forcetypeassert // ours is
	began := time.Now()
	if _, err := db.Compact(ctx); err != nil {
		return nil, err
	}
	took := time.Since(began)
	if err := b.peers[sqlite].(*sqlitePeer).vacuum(ctx); err != nil { //nolint:forcetypeassert // sqlite is
		return nil, err
	}
	size, err := b.sizeRow(ctx, "bytes per observation, compacted", aim{text: "≤ 0.50", limit: 0.5})
	if err != nil {
		return nil, err
	}
	rows := []row{size, own("compaction", milliseconds(took), 0, peers, aim{})}
	for _, q := range b.queries()[:5] {
		q.what += ", compacted"
		r, err := b.compare(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.what, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
