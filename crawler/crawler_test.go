package crawler

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gputide/gputide"
)

// named returns a provider of one source that crawls with f.
func named(name string, f func(ctx context.Context, b *gputide.Batch) error) *fakeProvider {
	i := info("list")
	i.Name = name
	return &fakeProvider{info: i, crawl: f}
}

// good lists one offer and is done.
func good(_ context.Context, b *gputide.Batch) error {
	b.Add(offer("list", "a", "3"))
	b.Done("list", everything)
	return nil
}

func TestProvidersAreIsolated(t *testing.T) {
	r := newRig(t)
	providers := []gputide.Provider{
		named("one", good),
		named("panics", func(_ context.Context, b *gputide.Batch) error {
			b.Add(offer("list", "a", "3", inRegion("x")))
			b.Done("list", gputide.Scope{Region: "x"})
			b.Add(offer("list", "a", "3", inRegion("y")))
			var none *gputide.Info
			_ = none.Name
			return nil
		}),
		named("fails", func(context.Context, *gputide.Batch) error { return gputide.ErrAuth }),
		named("two", good),
	}
	results := r.Crawl(t.Context(), providers, Options{})
	var names []string
	for _, res := range results {
		names = append(names, res.Provider)
	}
	if want := []string{"one", "panics", "fails", "two"}; !slices.Equal(names, want) {
		t.Fatalf("results of %v, want the order asked for, %v", names, want)
	}
	for _, i := range []int{0, 3} {
		if res := results[i]; res.Failed() || res.Offers != 1 || res.Commit.RunID == 0 {
			t.Errorf("%s: %+v, want one offer stored", res.Provider, res)
		}
	}
	var panicked *PanicError
	if !errors.As(results[1].Err, &panicked) || !bytes.Contains(panicked.Stack, []byte("crawler_test")) {
		t.Errorf("panics: %v, want a panic with its stack", results[1].Err)
	}
	run := r.store.of("panics").last(t)
	if len(run.Offers) != 1 || run.Offers[0].Key.Region != "x" || !strings.Contains(run.Err, "panic") {
		t.Errorf("run of the panic has offers %+v and error %q, want the scope that was done", run.Offers, run.Err)
	}
	if !errors.Is(results[2].Err, gputide.ErrAuth) || !results[2].Failed() {
		t.Errorf("fails: %v, want %v", results[2].Err, gputide.ErrAuth)
	}
	if run := r.store.of("fails").last(t); !strings.Contains(run.Err, "not authorised") {
		t.Errorf("run error %q", run.Err)
	}
}

// faulty panics where no adapter should.
type faulty struct{ *fakeProvider }

func (faulty) Info() gputide.Info { panic("no facts") }

func TestPanicOutsideCrawl(t *testing.T) {
	r := newRig(t)
	results := r.Crawl(t.Context(), []gputide.Provider{faulty{}, named("one", good)}, Options{Concurrency: 1})
	if results[0].Err == nil || !strings.Contains(results[0].Err.Error(), "no facts") {
		t.Errorf("error %v", results[0].Err)
	}
	if results[1].Failed() {
		t.Errorf("the other provider failed: %v", results[1].Err)
	}
}

func TestDeadlineOfOneProvider(t *testing.T) {
	normalizer := loadNormalizer(t)
	synctest.Test(t, func(t *testing.T) {
		r := &rig{store: newModelStore()}
		r.Crawler = &Crawler{Store: r.store, Normalizer: normalizer}
		hang := func(ctx context.Context, b *gputide.Batch) error {
			b.Add(offer("list", "a", "3", inRegion("x")))
			b.Done("list", gputide.Scope{Region: "x"})
			b.Add(offer("list", "a", "3", inRegion("y")))
			<-ctx.Done()
			return ctx.Err()
		}
		own := named("own", hang)
		own.info.Deadline = time.Hour
		r.Crawl(t.Context(), []gputide.Provider{named("hangs", func(_ context.Context, b *gputide.Batch) error {
			for _, region := range []string{"x", "y"} {
				b.Add(offer("list", "a", "2", inRegion(region)))
				b.Done("list", gputide.Scope{Region: region})
			}
			return nil
		})}, Options{At: func(string) time.Time { return time.Now().Add(-time.Hour) }})

		results := r.Crawl(t.Context(), []gputide.Provider{named("hangs", hang), own, named("one", good)},
			Options{Deadline: time.Minute})
		if got := results[0].Duration; got != time.Minute {
			t.Errorf("hangs took %s, want its deadline of a minute", got)
		}
		if got := results[1].Duration; got != time.Hour {
			t.Errorf("own took %s, want the hour its Info names", got)
		}
		if got := results[2]; got.Failed() || got.Duration != 0 {
			t.Errorf("the fast provider took %s and ended with %v", got.Duration, got.Err)
		}
		err := results[0].Err
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, gputide.ErrUnavailable) || !strings.Contains(err.Error(), "longer deadline") {
			t.Errorf("error %v, want one that says what to do", err)
		}
		run := r.store.of("hangs").last(t)
		if got := scopeOf(t, run, gputide.Scope{Region: "x"}); got.Status != gputide.ScopeDone || len(run.Offers) != 1 {
			t.Errorf("scope x is %s with %d offers, want done with the one", got.Status, len(run.Offers))
		}
		if got := scopeOf(t, run, gputide.Scope{Region: "y"}); got.Status != gputide.ScopeFailed || got.Source != "list" {
			t.Errorf("scope y is %+v, want failed: it is known and was not read", got)
		}
	})
}

func TestCancelStoresWhatIsDone(t *testing.T) {
	r := newRig(t, "list")
	r.run(t, 0, func(b *gputide.Batch) {
		b.Add(offer("list", "a", "3", inRegion("y")))
		b.Done("list", gputide.Scope{Region: "y"})
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &fakeProvider{info: r.info, crawl: func(ctx context.Context, b *gputide.Batch) error {
		b.Add(offer("list", "a", "3", inRegion("x")))
		b.Done("list", gputide.Scope{Region: "x"})
		cancel()
		b.Fail("list", gputide.Scope{Region: "z"}, ctx.Err())
		return ctx.Err()
	}}
	results := r.Crawl(ctx, []gputide.Provider{p, named("later", good)},
		Options{Concurrency: 1, At: func(string) time.Time { return day(1) }})
	if !errors.Is(results[0].Err, context.Canceled) {
		t.Errorf("error %v", results[0].Err)
	}
	run := r.last(t)
	if len(run.Scopes) != 1 || run.Scopes[0].Scope.Region != "x" || len(run.Offers) != 1 {
		t.Errorf("scopes %+v, want the one that was read: nothing failed of the others", run.Scopes)
	}
	if !errors.Is(results[1].Err, context.Canceled) || len(r.store.of("later").runs) != 0 {
		t.Errorf("later: %v, want not begun", results[1].Err)
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	r := newRig(t)
	var running, most atomic.Int32
	gate := make(chan struct{})
	crawl := func(_ context.Context, b *gputide.Batch) error {
		n := running.Add(1)
		defer running.Add(-1)
		for {
			old := most.Load()
			if n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		gate <- struct{}{}
		b.Done("list", everything)
		return nil
	}
	var providers []gputide.Provider
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		providers = append(providers, named(name, crawl))
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for range providers {
			<-gate
		}
	})
	r.Crawl(t.Context(), providers, Options{Concurrency: 2})
	wg.Wait()
	if got := most.Load(); got > 2 {
		t.Errorf("%d providers at once, want at most 2", got)
	}
}

func TestMomentOfARun(t *testing.T) {
	r := newRig(t)
	zone := time.FixedZone("UTC+8", 8*3600)
	r.Now = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 999, zone) }
	results := r.Crawl(t.Context(), []gputide.Provider{named("now", good), named("then", good)}, Options{
		At: func(provider string) time.Time {
			if provider == "then" {
				return time.Date(2025, 1, 1, 8, 0, 0, 5, zone)
			}
			return time.Time{}
		},
	})
	for i, want := range []time.Time{day0, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)} {
		run := r.store.of(results[i].Provider).last(t)
		if run.At != want || run.StartedAt != day0 || results[i].At != want {
			t.Errorf("%s: run at %s started %s, want %s and %s", results[i].Provider, run.At, run.StartedAt, want, day0)
		}
	}
}

func TestStoreErrors(t *testing.T) {
	r := newRig(t)
	r.store.commitErr = gputide.ErrConflict
	res := r.Crawl(t.Context(), []gputide.Provider{named("one", good)}, Options{})[0]
	if !errors.Is(res.Err, gputide.ErrConflict) {
		t.Errorf("error %v, want the store's", res.Err)
	}
	r.store.baseErr = gputide.ErrStoreLocked
	asked := false
	res = r.Crawl(t.Context(), []gputide.Provider{named("one", func(context.Context, *gputide.Batch) error {
		asked = true
		return nil
	})}, Options{})[0]
	if !errors.Is(res.Err, gputide.ErrStoreLocked) || asked {
		t.Errorf("error %v, asked %v: want the store's error and no request", res.Err, asked)
	}
}

func TestSkippedSources(t *testing.T) {
	needsKey := &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set GPUTIDE_FAKE_KEY"}
	missing := &gputide.FetchError{Source: "list", Kind: gputide.ErrNotInFixture, URL: "https://x.test/"}
	for _, tt := range []struct {
		name    string
		crawl   func(b *gputide.Batch) error
		skipped bool
		failed  bool
		message string
	}{
		{name: "needs a key", crawl: func(*gputide.Batch) error { return needsKey }, skipped: true, message: "GPUTIDE_FAKE_KEY"},
		{name: "not in the fixture", crawl: func(*gputide.Batch) error { return missing }, skipped: true, message: "not in fixture"},
		{name: "said by source", crawl: func(b *gputide.Batch) error {
			b.Source("list", gputide.SourceSkipped, needsKey)
			return nil
		}, skipped: true, message: "GPUTIDE_FAKE_KEY"},
		{name: "both joined", crawl: func(*gputide.Batch) error { return errors.Join(missing, needsKey) }, skipped: true},
		{name: "a failure among them", crawl: func(*gputide.Batch) error { return errors.Join(missing, gputide.ErrAuth) }, failed: true},
		{name: "nothing said", crawl: func(*gputide.Batch) error { return nil }, failed: true},
		{name: "the other source answered", crawl: func(b *gputide.Batch) error {
			b.Source("list", gputide.SourceSkipped, needsKey)
			b.Add(offer("page", "a", "3"))
			b.Done("page", everything)
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "list", "page")
			res := r.runErr(t, 0, tt.crawl)
			if res.SkippedAll != tt.skipped || res.Failed() != tt.failed {
				t.Fatalf("skipped %v, error %v", res.SkippedAll, res.Err)
			}
			if tt.skipped && len(r.store.of("fake").runs) > 0 {
				t.Error("a run of nothing is stored")
			}
			if s := res.Report.Sources[0]; !strings.Contains(s.Message, tt.message) {
				t.Errorf("message %q, want %q in it", s.Message, tt.message)
			}
		})
	}
}

func TestLogIsOneLinePerRunAndAWarningPerScope(t *testing.T) {
	var buf bytes.Buffer
	r := newRig(t, "list")
	r.Logger = slog.New(slog.NewTextHandler(&buf, nil))
	lines := func() []string { return strings.Split(strings.TrimSpace(buf.String()), "\n") }

	r.run(t, 0, lists(10, 0))
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], "level=INFO") || !strings.Contains(got[0], "offers=10 skips=0 dur=") {
		t.Errorf("a good run logs %q", got)
	}
	buf.Reset()
	r.run(t, 1, func(b *gputide.Batch) {
		b.Add(offer("list", "a", "3", inRegion("y")))
		b.Done("list", gputide.Scope{Region: "y"})
		b.Fail("list", gputide.Scope{Region: "x"}, &gputide.DriftError{Source: "list", Path: "$.price", Want: "text", Got: "null"})
	})
	got := lines()
	if len(got) != 2 || !strings.Contains(got[0], "level=WARN") || !strings.Contains(got[0], "region=x") || !strings.Contains(got[1], "level=ERROR") {
		t.Errorf("a run with a drifted scope logs %q", got)
	}
}

func TestProgress(t *testing.T) {
	r := newRig(t, "list")
	var mu sync.Mutex
	last := map[string]Progress{}
	r.run(t, 0, lists(2*progressRows, 0), func(o *Options) {
		o.Progress = func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			if p.Rows < last[p.Source].Rows {
				t.Errorf("progress goes back: %+v after %+v", p, last[p.Source])
			}
			last[p.Source] = p
		}
	})
	if got := last["list"]; got.Provider != "fake" || got.Rows != 2*progressRows {
		t.Errorf("last progress %+v", got)
	}
}

func TestAStrayGoroutineAddsNothing(t *testing.T) {
	r := newRig(t, "list")
	var stray *gputide.Batch
	r.run(t, 0, func(b *gputide.Batch) {
		stray = b
		lists(2, 0)(b)
	})
	run := r.last(t)
	before := len(run.Offers)
	stray.Add(offer("list", "late", "3"))
	stray.Done("list", gputide.Scope{Region: "late"})
	if len(run.Offers) != before || len(run.Scopes) != 1 {
		t.Errorf("run has %d offers and %d scopes after it was committed", len(run.Offers), len(run.Scopes))
	}
}

// TestAdjust holds that a run is recorded with the cadence it is given, and has
// the deadline it is given.
func TestAdjust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "list")
		r.Now = time.Now
		r.info.Deadline = time.Hour
		begun := time.Now()
		p := &fakeProvider{info: r.info, crawl: func(ctx context.Context, b *gputide.Batch) error {
			b.Add(offer("list", "a", "3"))
			b.Done("list", everything)
			<-ctx.Done()
			return ctx.Err()
		}}
		r.Crawl(t.Context(), []gputide.Provider{p}, Options{Adjust: func(i *gputide.Info) {
			i.Cadence, i.Deadline = 10*time.Minute, 2*time.Hour
		}})
		if took := time.Since(begun); took != 2*time.Hour || r.last(t).Cadence != 10*time.Minute {
			t.Errorf("took %s, cadence %s", took, r.last(t).Cadence)
		}
	})
}
