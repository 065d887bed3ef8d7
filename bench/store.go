package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// sizes are the sizes of the store's table.
type sizes struct {
	series, nights    int // on demand, once a night
	spotSeries, hours int // half spot, once an hour
	medianSeries      int
	backfillDays      int
	logScopes         int
	logRuns           int // one every ten minutes
	rounds            int
}

var (
	fullSizes  = sizes{series: 30_000, nights: 365, spotSeries: 1_000, hours: 90 * 24, medianSeries: 2_000, backfillDays: 40, logScopes: 1_000, logRuns: 365 * 24 * 6, rounds: 3}
	smokeSizes = sizes{series: 1_200, nights: 12, spotSeries: 60, hours: 48, medianSeries: 200, backfillDays: 10, logScopes: 20, logRuns: 300, rounds: 1}
)

const benchGPU = "h100-sxm-80gb"

// storeBench fills both peers with the same runs and asks both the same.
type storeBench struct {
	sizes
	peers   [2]peer // gputide first
	night   *workload
	hour    *workload
	commits [2]sample
	total   int64 // observations
}

func benchStore(ctx context.Context, out, progress io.Writer, dir string, sz sizes) error {
	b := &storeBench{sizes: sz}
	ours, err := newGputide(filepath.Join(dir, "gputide.db"))
	if err != nil {
		return err
	}
	theirs, err := newSQLite(ctx, filepath.Join(dir, "sqlite.db"))
	if err != nil {
		return err
	}
	b.peers = [2]peer{ours, theirs}
	defer ours.close()
	defer theirs.close()
	if err := b.fill(ctx, progress); err != nil {
		return err
	}
	rows, err := b.measure(ctx, progress)
	if err != nil {
		return err
	}
	fmt.Fprintln(progress, "backfill")
	past, err := benchBackfill(ctx, dir, sz.series, sz.backfillDays)
	if err != nil {
		return fmt.Errorf("backfill: %w", err)
	}
	log, err := benchRunLog(ctx, dir, sz.logScopes, sz.logRuns, func(n int) { fmt.Fprintf(progress, "run log: run %d of %d\n", n, sz.logRuns) })
	if err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	rows = slices.Concat(rows, past, log)
	printTable(out, fmt.Sprintf("Store: %d series × %d nights and %d × %d hours, %.1f M observations, median of %d rounds",
		sz.series, sz.nights, sz.spotSeries, sz.hours, float64(b.total)/1e6, sz.rounds),
		[]string{"gputide", "SQLite, same layout"}, rows)
	return nil
}

// fill commits every run to both peers, taking turns at going first.
func (b *storeBench) fill(ctx context.Context, progress io.Writer) error {
	b.night, b.hour = nightly(b.series, b.nights), hourly(b.spotSeries, b.hours)
	for n, w := range []*workload{b.night, b.hour} {
		for i := range w.runs {
			run := w.next(i)
			b.total += int64(len(run.Offers))
			for turn := range b.peers {
				p := (turn + i) % len(b.peers)
				began := time.Now()
				if err := b.peers[p].commit(ctx, run); err != nil {
					return fmt.Errorf("%s: run %d of %s: %w", b.peers[p].name(), i, w.provider, err)
				}
				if n == 0 && i > 0 {
					b.commits[p] = append(b.commits[p], time.Since(began))
				}
			}
			if i%100 == 0 {
				fmt.Fprintf(progress, "%s: run %d of %d\n", w.provider, i, w.runs)
			}
		}
	}
	return nil
}

func (b *storeBench) measure(ctx context.Context, progress io.Writer) ([]row, error) {
	rows := []row{}
	size, err := b.sizeRow(ctx)
	if err != nil {
		return nil, err
	}
	rows = append(rows, size, timed("nightly commit, fsynced", b.commits[0], b.commits[1]))
	for _, q := range b.queries() {
		fmt.Fprintln(progress, q.what)
		r, err := b.compare(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.what, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (b *storeBench) sizeRow(ctx context.Context) (row, error) {
	r := row{what: "bytes per observation, in use"}
	var used [2]int64
	for i, p := range b.peers {
		u, _, err := p.size(ctx)
		if err != nil {
			return r, err
		}
		used[i] = u
		r.cells = append(r.cells, fmt.Sprintf("%.3f", float64(u)/float64(b.total)))
	}
	r.ratio = fmt.Sprintf("%.2f×", float64(used[0])/float64(used[1]))
	return r, nil
}

// query is one measured question. repeat makes short ones long enough to time.
type query struct {
	what   string
	repeat int
	run    func(ctx context.Context, p peer) (answer, error)
}

func (b *storeBench) queries() []query {
	return []query{
		{"latest price of every " + benchGPU + " offer", 20, func(ctx context.Context, p peer) (answer, error) {
			return p.latest(ctx, benchGPU)
		}},
		{"one series, every observation", 20, func(ctx context.Context, p peer) (answer, error) {
			return b.oneSeries(ctx, p, b.night, b.series/2)
		}},
		{fmt.Sprintf("daily median of %d series", b.medianSeries), 1, b.dailyMedian},
		{fmt.Sprintf("spot discount percentiles of %d pairs", b.spotSeries/2), 1, b.discounts},
		{"every observation of every series", 1, func(ctx context.Context, p peer) (answer, error) {
			return p.export(ctx)
		}},
		{"cold open", 1, func(ctx context.Context, p peer) (answer, error) {
			return answer{}, p.reopen(ctx)
		}},
	}
}

// compare asks both peers once, refuses different answers, then times rounds
// that alternate between them.
func (b *storeBench) compare(ctx context.Context, q query) (row, error) {
	var first [2]answer
	for i, p := range b.peers {
		a, err := q.run(ctx, p)
		if err != nil {
			return row{}, fmt.Errorf("%s: %w", p.name(), err)
		}
		first[i] = a
	}
	if first[0] != first[1] {
		return row{}, fmt.Errorf("answers differ: %s %+v, %s %+v", b.peers[0].name(), first[0], b.peers[1].name(), first[1])
	}
	var samples [2]sample
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
	return timed(q.what, samples[0], samples[1]), nil
}

func (b *storeBench) oneSeries(ctx context.Context, p peer, w *workload, i int) (answer, error) {
	var a answer
	obs, err := p.observations(ctx, &w.keys[i], w.start, w.end())
	for _, o := range obs {
		a.add(o.Price)
	}
	return a, err
}

func (w *workload) end() time.Time { return w.start.Add(time.Duration(w.runs) * w.step) }

func (b *storeBench) dailyMedian(ctx context.Context, p peer) (answer, error) {
	days := make([][]gputide.Nano, b.nights)
	for i := range b.medianSeries {
		obs, err := p.observations(ctx, &b.night.keys[i], b.night.start, b.night.end())
		if err != nil {
			return answer{}, err
		}
		for _, o := range obs {
			day := int(o.At.Sub(b.night.start) / (24 * time.Hour))
			days[day] = append(days[day], o.Price)
		}
	}
	var a answer
	for _, prices := range days {
		if len(prices) > 0 {
			a.add(median(prices))
		}
	}
	return a, nil
}

// discounts pairs each spot series with its on-demand twin at equal moments and
// takes the 5th, 50th and 95th percentile of what is saved.
func (b *storeBench) discounts(ctx context.Context, p peer) (answer, error) {
	var a answer
	for i := 0; i+1 < b.spotSeries; i += 2 {
		list, err := p.observations(ctx, &b.hour.keys[i], b.hour.start, b.hour.end())
		if err != nil {
			return a, err
		}
		spot, err := p.observations(ctx, &b.hour.keys[i+1], b.hour.start, b.hour.end())
		if err != nil {
			return a, err
		}
		saved := pairs(list, spot)
		if len(saved) == 0 {
			continue
		}
		slices.Sort(saved)
		for _, q := range []int{5, 50, 95} {
			a.add(saved[(len(saved)-1)*q/100])
		}
	}
	return a, nil
}

// pairs returns 1 − spot ÷ list in parts per billion wherever both were observed.
func pairs(list, spot []gputide.Observation) []gputide.Nano {
	out := make([]gputide.Nano, 0, len(spot))
	j := 0
	for _, s := range spot {
		for j < len(list) && list[j].At.Before(s.At) {
			j++
		}
		if j < len(list) && list[j].At.Equal(s.At) {
			out = append(out, gputide.Nano(1e9-float64(s.Price)/float64(list[j].Price)*1e9))
		}
	}
	return out
}
