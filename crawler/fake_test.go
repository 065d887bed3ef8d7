package crawler

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

// fakeProvider answers with the function it is given.
type fakeProvider struct {
	info  gputide.Info
	crawl func(ctx context.Context, b *gputide.Batch) error
}

func (p *fakeProvider) Info() gputide.Info { return p.info }

func (p *fakeProvider) Crawl(ctx context.Context, b *gputide.Batch) error { return p.crawl(ctx, b) }

// specProvider can read specs, too.
type specProvider struct {
	*fakeProvider
	specs func(ctx context.Context, b *gputide.Batch) error
}

func (p *specProvider) CrawlSpecs(ctx context.Context, b *gputide.Batch) error {
	return p.specs(ctx, b)
}

// rateProvider reads exchange rates and nothing else.
type rateProvider struct {
	*fakeProvider
	rates func(ctx context.Context, b *gputide.Batch) error
}

func (p *rateProvider) CrawlRates(ctx context.Context, b *gputide.Batch) error {
	return p.rates(ctx, b)
}

var (
	_ gputide.SpecCrawler = (*specProvider)(nil)
	_ gputide.RateCrawler = (*rateProvider)(nil)
	_ gputide.Sink        = (*sink)(nil)
)

// modelStore is a store in memory: what Baseline means, in the fewest words.
type modelStore struct {
	mu        sync.Mutex
	providers map[string]*model
	baseErr   error
	commitErr error
	delay     func()
}

type model struct {
	base gputide.Baseline
	runs []*gputide.Run
}

func newModelStore() *modelStore { return &modelStore{providers: make(map[string]*model)} }

func (s *modelStore) of(provider string) *model {
	if s.providers[provider] == nil {
		s.providers[provider] = &model{base: gputide.Baseline{
			Series: make(map[gputide.OfferID]gputide.SeriesBaseline), Types: make(map[gputide.TypeName]struct{}),
		}}
	}
	return s.providers[provider]
}

func (s *modelStore) Baseline(_ context.Context, provider string, _ time.Time) (*gputide.Baseline, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.baseErr != nil {
		return nil, s.baseErr
	}
	m := s.of(provider)
	out := &gputide.Baseline{
		Series: make(map[gputide.OfferID]gputide.SeriesBaseline), Types: cloneMap(m.base.Types),
	}
	for id, b := range m.base.Series {
		out.Series[id] = b
	}
	for _, b := range m.base.Scopes {
		b.LastDone, b.Sources = cloneMap(b.LastDone), cloneMap(b.Sources)
		out.Scopes = append(out.Scopes, b)
	}
	return out, nil
}

func cloneMap[K comparable, V any](m map[K]V) map[K]V {
	out := make(map[K]V, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

func (s *modelStore) CommitRun(ctx context.Context, run *gputide.Run) (gputide.CommitResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.delay != nil {
		s.delay()
	}
	if err := ctx.Err(); err != nil {
		return gputide.CommitResult{}, err
	}
	if s.commitErr != nil {
		return gputide.CommitResult{}, s.commitErr
	}
	m := s.of(run.Provider)
	for _, old := range m.runs {
		if !old.At.Equal(run.At) || run.Replace {
			continue
		}
		if reflect.DeepEqual(old.Offers, run.Offers) && reflect.DeepEqual(old.Scopes, run.Scopes) {
			return gputide.CommitResult{RunID: 1, NoOp: true}, nil
		}
		return gputide.CommitResult{}, fmt.Errorf("%w: run at %s", gputide.ErrConflict, run.At)
	}
	m.runs = append(m.runs, run)
	for _, sc := range run.Scopes {
		m.commitScope(run, sc)
	}
	for _, q := range run.Quarantined {
		b := m.base.Series[q.Key.ID()]
		b.HeldPrice = q.Price
		if b.Price != 0 || q.Price != nil {
			m.base.Series[q.Key.ID()] = b
		}
	}
	return gputide.CommitResult{RunID: uint64(len(m.runs))}, nil
}

func (m *model) commitScope(run *gputide.Run, sc gputide.ScopeRun) {
	i := slices.IndexFunc(m.base.Scopes, func(b gputide.ScopeBaseline) bool { return b.Scope == sc.Scope })
	if i < 0 {
		i = len(m.base.Scopes)
		m.base.Scopes = append(m.base.Scopes, gputide.ScopeBaseline{
			Scope: sc.Scope, LastDone: make(map[string]int), Sources: make(map[string]int64),
		})
	}
	b := &m.base.Scopes[i]
	b.LastAt, b.HeldDigest = run.At, ""
	switch sc.Status {
	case gputide.ScopeHeld:
		b.HeldDigest = sc.Digest
	case gputide.ScopeDone:
		b.LastSource, b.DoneAt = sc.Source, run.At
		b.LastDone[sc.Source] = sc.Count
		b.Sources[sc.Source]++
		for _, o := range run.Offers {
			if sc.Scope.Covers(&o.Key, o.Part) {
				m.base.Types[gputide.TypeName{Partition: o.Key.Partition, InstanceType: o.Key.InstanceType}] = struct{}{}
				m.base.Series[o.Key.ID()] = gputide.SeriesBaseline{Price: o.Price, Present: true, Source: sc.Source}
			}
		}
	}
}

func (m *model) last(t *testing.T) *gputide.Run {
	t.Helper()
	if len(m.runs) == 0 {
		t.Fatal("no run was committed")
	}
	return m.runs[len(m.runs)-1]
}

// The moments of test runs, a day apart.
var day0 = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

func day(n int) time.Time { return day0.AddDate(0, 0, n) }

func loadNormalizer(tb testing.TB) *normalize.Normalizer {
	tb.Helper()
	catalogue, err := normalize.LoadCatalogue()
	if err != nil {
		tb.Fatal(err)
	}
	regions, err := normalize.LoadRegions()
	if err != nil {
		tb.Fatal(err)
	}
	return &normalize.Normalizer{Catalogue: catalogue, Regions: regions}
}

func info(sources ...string) gputide.Info {
	i := gputide.Info{Name: "fake", Title: "Fake", Currencies: []gputide.Currency{"USD"}, Cadence: 24 * time.Hour}
	for _, id := range sources {
		i.Sources = append(i.Sources, gputide.Source{ID: id, Prices: true})
	}
	return i
}

// rig is a crawler over a model store.
type rig struct {
	*Crawler
	store *modelStore
	info  gputide.Info
}

func newRig(tb testing.TB, sources ...string) *rig {
	tb.Helper()
	store := newModelStore()
	return &rig{
		Crawler: &Crawler{
			Store: store, Normalizer: loadNormalizer(tb), Logger: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return day0 }, CodeVersion: "test",
		},
		store: store,
		info:  info(sources...),
	}
}

// run crawls once at the given day.
func (r *rig) run(t *testing.T, n int, crawl func(b *gputide.Batch), more ...func(*Options)) Result {
	t.Helper()
	return r.runErr(t, n, func(b *gputide.Batch) error { crawl(b); return nil }, more...)
}

func (r *rig) runErr(t *testing.T, n int, crawl func(b *gputide.Batch) error, more ...func(*Options)) Result {
	t.Helper()
	p := &fakeProvider{info: r.info, crawl: func(_ context.Context, b *gputide.Batch) error { return crawl(b) }}
	opt := Options{At: func(string) time.Time { return day(n) }}
	for _, m := range more {
		m(&opt)
	}
	return r.Crawl(t.Context(), []gputide.Provider{p}, opt)[0]
}

func (r *rig) last(t *testing.T) *gputide.Run { t.Helper(); return r.store.of(r.info.Name).last(t) }

// h100 is the spec of a type with n accelerators.
func h100(n uint32) *gputide.Spec {
	return &gputide.Spec{Device: gputide.Device{
		Name: "NVIDIA H100 SXM", Vendor: "NVIDIA", Kind: gputide.DeviceGPU,
		Count: gputide.NewCount(n, 1), MemoryGB: new(80.0), Share: gputide.ShareWhole,
	}}
}

// offer is a row of an 8 × H100 type at a price per instance-hour.
func offer(source, name, price string, more ...func(*gputide.RawOffer)) gputide.RawOffer {
	o := gputide.RawOffer{
		Source: source,
		Key: gputide.Key{
			InstanceType: name, Market: gputide.OnDemand, OS: "linux",
			Stat: gputide.StatList, Currency: "USD",
		},
		Price: gputide.Published{Amount: price, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		Spec:  h100(8),
	}
	for _, m := range more {
		m(&o)
	}
	return o
}

func inRegion(region string) func(*gputide.RawOffer) {
	return func(o *gputide.RawOffer) { o.Key.Region = region }
}

func market(m gputide.Market) func(*gputide.RawOffer) {
	return func(o *gputide.RawOffer) { o.Key.Market = m }
}

func stat(s gputide.Stat) func(*gputide.RawOffer) {
	return func(o *gputide.RawOffer) { o.Key.Stat = s }
}

func part(p string) func(*gputide.RawOffer) { return func(o *gputide.RawOffer) { o.Part = p } }

func currency(c gputide.Currency) func(*gputide.RawOffer) {
	return func(o *gputide.RawOffer) { o.Key.Currency = c }
}

func spec(s *gputide.Spec) func(*gputide.RawOffer) {
	return func(o *gputide.RawOffer) { o.Spec = s }
}

// many adds n offers named from-0 … at the price.
func many(b *gputide.Batch, source, from string, n int, price string, more ...func(*gputide.RawOffer)) {
	for i := range n {
		b.Add(offer(source, fmt.Sprintf("%s-%d", from, i), price, more...))
	}
}

// scopeOf returns the outcome of a scope of a run.
func scopeOf(t *testing.T, run *gputide.Run, scope gputide.Scope) gputide.ScopeRun {
	t.Helper()
	for _, s := range run.Scopes {
		if s.Scope == scope {
			return s
		}
	}
	t.Fatalf("scope %s is not in the run: %+v", scope, run.Scopes)
	return gputide.ScopeRun{}
}

// prices returns instance type → price of the offers of a run.
func prices(run *gputide.Run) map[string]string {
	out := make(map[string]string, len(run.Offers))
	for _, o := range run.Offers {
		out[o.Key.InstanceType] = o.Price.String()
	}
	return out
}

func reportOf(t *testing.T, run *gputide.Run, source string) gputide.SourceReport {
	t.Helper()
	for _, s := range run.Report.Sources {
		if s.Source == source {
			return s
		}
	}
	t.Fatalf("source %s is not in the report", source)
	return gputide.SourceReport{}
}

func sum(m map[string]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}
