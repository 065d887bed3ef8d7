package main

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/gputide/gputide"
)

// metricName is the label that holds the name of a metric.
const metricName = "__name__"

// promPeer is the Prometheus TSDB as a library: one sample for each observation,
// a staleness marker where a done run no longer lists an offer. Its write-ahead
// log is not fsynced at a commit.
type promPeer struct {
	dir     string
	db      *tsdb.DB
	refs    map[gputide.Key]storage.SeriesRef
	present map[gputide.Key]bool
}

func newPrometheus(dir string) (*promPeer, error) {
	p := &promPeer{dir: dir, refs: map[gputide.Key]storage.SeriesRef{}, present: map[gputide.Key]bool{}}
	return p, p.open()
}

func (p *promPeer) open() (err error) {
	opt := tsdb.DefaultOptions()
	opt.RetentionDuration = 0
	// Blocks of a month, merged to a year: the default of two hours is made for
	// samples every few seconds.
	opt.MinBlockDuration = (31 * 24 * time.Hour).Milliseconds()
	opt.MaxBlockDuration = (372 * 24 * time.Hour).Milliseconds()
	p.db, err = tsdb.Open(p.dir, nil, nil, opt, nil)
	if err == nil {
		p.db.DisableCompactions() // settle compacts
	}
	return err
}

func (p *promPeer) title() string { return "Prometheus TSDB, no fsync" }
func (p *promPeer) close() error  { return p.db.Close() }

func labelsOf(k *gputide.Key) labels.Labels {
	return labels.FromStrings(metricName, "gpu_price", "provider", k.Provider, "region", k.Region,
		"instance_type", k.InstanceType, "market", string(k.Market), "gpu", gpuOf(k.InstanceType),
		"os", k.OS, "tenancy", string(k.Tenancy), "stat", string(k.Stat), "tax", string(k.Tax), "currency", string(k.Currency))
}

func (p *promPeer) commit(ctx context.Context, run *gputide.Run) error {
	app := p.db.Appender(ctx)
	ms := run.At.UnixMilli()
	put := func(k *gputide.Key, v float64) error {
		ref, err := app.Append(p.refs[*k], labelsIfNew(p.refs, k), ms, v)
		p.refs[*k] = ref
		return err
	}
	listed := make(map[gputide.Key]bool, len(run.Offers))
	for i := range run.Offers {
		k := &run.Offers[i].Key
		listed[*k], p.present[*k] = true, true
		if err := put(k, float64(run.Offers[i].Price)); err != nil {
			return errors.Join(err, app.Rollback())
		}
	}
	done := map[string]bool{}
	for i := range run.Scopes {
		done[run.Scopes[i].Scope.Region] = run.Scopes[i].Status == gputide.ScopeDone
	}
	for k := range p.present {
		if k.Provider != run.Provider || listed[k] || !done[k.Region] {
			continue
		}
		if err := put(&k, math.Float64frombits(value.StaleNaN)); err != nil {
			return errors.Join(err, app.Rollback())
		}
		delete(p.present, k)
	}
	return app.Commit()
}

// labelsIfNew returns the labels of a series that has no reference yet.
func labelsIfNew(refs map[gputide.Key]storage.SeriesRef, k *gputide.Key) labels.Labels {
	if refs[*k] != 0 {
		return labels.EmptyLabels()
	}
	return labelsOf(k)
}

func (p *promPeer) settle(ctx context.Context) error {
	if err := p.db.Compact(ctx); err != nil {
		return err
	}
	head := p.db.Head()
	if head.NumSeries() == 0 {
		return nil
	}
	if err := p.db.CompactHead(tsdb.NewRangeHead(head, head.MinTime(), head.MaxTime())); err != nil {
		return err
	}
	return p.db.Compact(ctx)
}

// scan gives the samples of each series that the matchers pick, in [from, to).
func (p *promPeer) scan(ctx context.Context, from, to time.Time, emit func(l labels.Labels, obs []gputide.Observation), match ...*labels.Matcher) error {
	q, err := p.db.Querier(from.UnixMilli(), to.UnixMilli()-1)
	if err != nil {
		return err
	}
	defer q.Close()
	set := q.Select(ctx, true, nil, match...)
	var it chunkenc.Iterator
	var obs []gputide.Observation
	for set.Next() {
		s := set.At()
		obs = obs[:0]
		it = s.Iterator(it)
		for it.Next() == chunkenc.ValFloat {
			ms, v := it.At()
			if !value.IsStaleNaN(v) {
				obs = append(obs, gputide.Observation{At: time.UnixMilli(ms).UTC(), Price: gputide.Nano(v)})
			}
		}
		if err := it.Err(); err != nil {
			return err
		}
		emit(s.Labels(), obs)
	}
	return set.Err()
}

func equal(name, v string) *labels.Matcher { return labels.MustNewMatcher(labels.MatchEqual, name, v) }

// latest reads the last sample of the last days of each series: a scope fails
// that often in a row and no more.
func (p *promPeer) latest(ctx context.Context, gpu string) (a answer, err error) {
	end := time.UnixMilli(p.newest() + 1)
	q, err := p.db.Querier(end.Add(-31*24*time.Hour).UnixMilli(), end.UnixMilli())
	if err != nil {
		return a, err
	}
	defer q.Close()
	set := q.Select(ctx, false, nil, equal("gpu", gpu))
	var it chunkenc.Iterator
	for set.Next() {
		it = set.At().Iterator(it)
		last := math.Float64frombits(value.StaleNaN)
		for it.Next() == chunkenc.ValFloat {
			_, last = it.At()
		}
		if err := it.Err(); err != nil {
			return a, err
		}
		if !value.IsStaleNaN(last) {
			a.add(gputide.Nano(last))
		}
	}
	return a, set.Err()
}

// newest returns the moment of the newest sample in milliseconds.
func (p *promPeer) newest() int64 {
	newest := int64(math.MinInt64)
	if h := p.db.Head(); h.NumSeries() > 0 {
		newest = h.MaxTime()
	}
	for _, b := range p.db.Blocks() {
		newest = max(newest, b.MaxTime())
	}
	return newest
}

func (p *promPeer) oneSeries(ctx context.Context, k *gputide.Key, from, to time.Time) (a answer, err error) {
	err = p.scan(ctx, from, to, func(_ labels.Labels, obs []gputide.Observation) {
		for _, o := range obs {
			a.add(o.Price)
		}
	}, equal("instance_type", k.InstanceType), equal("market", string(k.Market)))
	return a, err
}

func (p *promPeer) dailyMedian(ctx context.Context, provider, gpu string, from time.Time, n int) (answer, error) {
	d := newDays(from, n)
	err := p.scan(ctx, from, from.Add(time.Duration(n)*24*time.Hour), func(_ labels.Labels, obs []gputide.Observation) {
		for _, o := range obs {
			d.add(o.At, o.Price)
		}
	}, equal("provider", provider), equal("gpu", gpu))
	return d.answer(), err
}

func (p *promPeer) discounts(ctx context.Context, provider string) (a answer, err error) {
	list := map[string][]gputide.Observation{}
	err = p.scan(ctx, always[0], always[1], func(l labels.Labels, obs []gputide.Observation) {
		list[l.Get("instance_type")] = append([]gputide.Observation(nil), obs...)
	}, equal("provider", provider), equal("market", string(gputide.OnDemand)))
	if err != nil {
		return a, err
	}
	err = p.scan(ctx, always[0], always[1], func(l labels.Labels, obs []gputide.Observation) {
		a.addPercentiles(pairs(list[l.Get("instance_type")], obs))
	}, equal("provider", provider), equal("market", string(gputide.Spot)))
	return a, err
}

func (p *promPeer) export(ctx context.Context) (a answer, err error) {
	err = p.scan(ctx, always[0], always[1], func(_ labels.Labels, obs []gputide.Observation) {
		for _, o := range obs {
			a.add(o.Price)
		}
	}, equal(metricName, "gpu_price"))
	return a, err
}

func (p *promPeer) reopen(context.Context) error {
	if err := p.db.Close(); err != nil {
		return err
	}
	return p.open()
}

func (p *promPeer) size(ctx context.Context) (int64, error) {
	if err := p.settle(ctx); err != nil {
		return 0, err
	}
	var total int64
	for _, b := range p.db.Blocks() {
		err := filepath.WalkDir(b.Dir(), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			st, err := d.Info()
			total += st.Size()
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}
