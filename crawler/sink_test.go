package crawler

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// step is one call of a batch.
type step func(b *gputide.Batch)

// randomSteps returns calls of every kind, in regions that end well, fail, are
// superseded or are never reported, and the reports that end them.
func randomSteps(rng *rand.Rand) (rows, ends []step) {
	regions := []string{"done", "failed", "both", "nowhere", "shrunk"}
	sources := []string{"bulk", "page", "stranger"}
	bad := []string{"0", "", "NaN", "7"}
	specs := []*gputide.Spec{
		h100(8), h100(4), nil,
		{VCPU: new(4.0)},
		{Device: gputide.Device{Name: "Mystery 9", Kind: gputide.DeviceGPU, Count: gputide.NewCount(1, 1)}},
	}
	for range 300 {
		source, region := sources[rng.IntN(len(sources))], regions[rng.IntN(len(regions))]
		n := rng.IntN(60)
		name, amount := fmt.Sprintf("t%d", n), fmt.Sprint(n+1)
		if rng.IntN(40) == 0 {
			amount = bad[rng.IntN(len(bad))]
		}
		sp := specs[rng.IntN(len(specs))]
		var money gputide.Currency = "USD"
		if rng.IntN(60) == 0 {
			money = "CNY"
		}
		switch rng.IntN(10) {
		case 0:
			rows = append(rows, func(b *gputide.Batch) { b.Skip(source, offer(source, name, "", inRegion(region)).Key, "no_price", "") })
		case 1:
			rows = append(rows, func(b *gputide.Batch) { b.SkipUnknown(source, gputide.Scope{Region: region}, "bad_row", "") })
		case 2:
			rows = append(rows, func(b *gputide.Batch) { b.Omit(source, "storage", 2) })
		case 3:
			rows = append(rows, func(b *gputide.Batch) {
				b.Signal(gputide.Signal{Source: source, Key: gputide.Key{InstanceType: name, Region: region}, Name: gputide.SignalInterruption, Value: 1})
			})
		default:
			rows = append(rows, func(b *gputide.Batch) {
				b.Add(offer(source, name, amount, inRegion(region), spec(sp), currency(money)))
			})
		}
	}
	ends = []step{
		func(b *gputide.Batch) { b.Done("bulk", gputide.Scope{Region: "done"}) },
		func(b *gputide.Batch) { b.Fail("bulk", gputide.Scope{Region: "failed"}, gputide.ErrUnavailable) },
		func(b *gputide.Batch) { b.Done("bulk", gputide.Scope{Region: "both"}) },
		func(b *gputide.Batch) { b.Done("page", gputide.Scope{Region: "both"}) },
		func(b *gputide.Batch) { b.Done("page", gputide.Scope{Region: "shrunk"}) },
		func(b *gputide.Batch) {
			b.Rate(gputide.Rate{Date: day0, Base: "EUR", Quote: "USD", Amount: "1.1", Source: "bulk"})
		},
		func(b *gputide.Batch) {
			b.Rate(gputide.Rate{Date: day0, Base: "EUR", Quote: "USD", Amount: "-1", Source: "page"})
		},
	}
	return rows, ends
}

// pastOf is a baseline in which one scope will be held.
func pastOf() *gputide.Baseline {
	return &gputide.Baseline{Scopes: []gputide.ScopeBaseline{{
		Scope: gputide.Scope{Region: "shrunk"}, LastSource: "page", LastAt: day(-1), DoneAt: day(-1),
		LastDone: map[string]int{"page": 10_000}, Sources: map[string]int64{"page": 1},
	}}}
}

func TestCountsAddUp(t *testing.T) {
	normalizer := loadNormalizer(t)
	offers, held := 0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows, ends := randomSteps(rng)
		s := newSink(info("bulk", "page"), normalizer, pastOf(), seed%2 == 0, func(Progress) {})
		b := gputide.NewBatch("fake", day0, s)
		for _, step := range append(rows, ends...) {
			step(b)
		}
		run, _ := s.assemble(outcome{at: day0, cause: gputide.CauseCrawl})
		var kept int64
		for _, r := range run.Report.Sources {
			if got := r.Kept + sum(r.Skipped) + sum(r.Omitted); r.Read != got {
				t.Errorf("seed %d: %s read %d rows and accounts for %d: %+v", seed, r.Source, r.Read, got, r)
			}
			kept += r.Kept
		}
		if want := int64(len(run.Offers) + len(run.Rates)); kept != want {
			t.Errorf("seed %d: kept %d, the run has %d", seed, kept, want)
		}
		offers += len(run.Offers)
		held += len(run.HeldKeys)
	}
	if offers < 400 || held < 10 {
		t.Errorf("%d offers and %d held keys: the test tests little", offers, held)
	}
}

func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	normalizer := loadNormalizer(t)
	assemble := func(rng *rand.Rand, rows, ends []step, workers int) *gputide.Run {
		s := newSink(info("bulk", "page"), normalizer, pastOf(), false, func(Progress) {})
		b := gputide.NewBatch("fake", day0, s)
		b.Spec(gputide.Spec{Source: "page", InstanceType: "t1", MemoryGiB: new(64.0)})
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := w; i < len(rows); i += workers {
					rows[i](b)
				}
			})
		}
		wg.Wait()
		rng.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
		for _, end := range ends {
			end(b)
		}
		run, _ := s.assemble(outcome{at: day0, cause: gputide.CauseCrawl})
		return run
	}
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 2))
		rows, ends := randomSteps(rng)
		want := assemble(rng, rows, ends, 1)
		for workers := 1; workers <= 4; workers++ {
			if diff := cmp.Diff(want, assemble(rng, rows, ends, workers)); diff != "" {
				t.Fatalf("seed %d, %d workers (-first +again):\n%s", seed, workers, diff)
			}
		}
	}
}

func TestCollect(t *testing.T) {
	crawl := func(b *gputide.Batch) {
		b.Add(offer("list", "gpu", "3"))
		b.Add(offer("list", "cpu", "1", spec(&gputide.Spec{VCPU: new(4.0)})))
		b.Add(offer("list", "silent", "1", spec(nil)))
		b.Done("list", everything)
	}
	for _, tt := range []struct {
		collect Collect
		offers  map[string]string
		specs   int
		omitted int64
	}{
		{CollectAccelerated, map[string]string{"gpu": "3"}, 1, 2},
		{CollectAll, map[string]string{"gpu": "3", "cpu": "1", "silent": "1"}, 2, 0},
	} {
		t.Run(string(tt.collect), func(t *testing.T) {
			r := newRig(t, "list")
			r.run(t, 0, crawl, func(o *Options) { o.Collect = tt.collect })
			run := r.last(t)
			if diff := cmp.Diff(tt.offers, prices(run)); diff != "" {
				t.Errorf("offers (-want +got):\n%s", diff)
			}
			if len(run.Specs) != tt.specs {
				t.Errorf("%d specs, want %d", len(run.Specs), tt.specs)
			}
			if got := reportOf(t, run, "list").Omitted["not_accelerated"]; got != tt.omitted {
				t.Errorf("%d rows left out, want %d", got, tt.omitted)
			}
		})
	}
}

func TestUnknownNamesAreCounted(t *testing.T) {
	r := newRig(t, "list")
	mystery := &gputide.Spec{Device: gputide.Device{Name: "Mystery 9", Kind: gputide.DeviceGPU, Count: gputide.NewCount(1, 1)}}
	r.run(t, 0, func(b *gputide.Batch) {
		b.Add(offer("list", "a", "3", spec(mystery), inRegion("atlantis")))
		b.Add(offer("list", "b", "3", spec(mystery), inRegion("atlantis")))
		b.Add(offer("list", "c", "3"))
		b.Done("list", everything)
	})
	rep := r.last(t).Report
	if diff := cmp.Diff(map[string]int64{"Mystery 9": 2}, rep.UnknownAccelerators); diff != "" {
		t.Errorf("unknown accelerators (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"atlantis": 2}, rep.UnknownRegions); diff != "" {
		t.Errorf("unknown regions (-want +got):\n%s", diff)
	}
}

func TestSpecsOfOneType(t *testing.T) {
	r := newRig(t, "list", "describe", "table")
	r.run(t, 0, func(b *gputide.Batch) {
		b.Spec(gputide.Spec{Source: "table", InstanceType: "a", Device: h100(4).Device, MemoryGiB: new(1.0), CPUArch: "arm64"})
		b.Spec(gputide.Spec{Source: "describe", InstanceType: "a", Device: h100(8).Device, MemoryGiB: new(2048.0), CPUModel: "described"})
		b.Spec(gputide.Spec{Source: "describe", InstanceType: "unpriced", Device: h100(8).Device})
		b.Spec(gputide.Spec{Source: "describe", InstanceType: "cpu", VCPU: new(2.0)})
		row := &gputide.Spec{VCPU: new(192.0), CPUModel: "listed"}
		b.Add(offer("list", "a", "3", spec(row)))
		b.Add(offer("list", "a", "3", spec(row), market(gputide.Spot)))
		b.Done("list", everything)
	})
	run := r.last(t)
	want := []gputide.Spec{
		{
			Source: "list", Provider: "fake", InstanceType: "a", Device: h100(8).Device,
			VCPU: new(192.0), CPUModel: "listed", MemoryGiB: new(2048.0), CPUArch: "arm64",
		},
		{Source: "describe", Provider: "fake", InstanceType: "unpriced", Device: h100(8).Device},
	}
	if diff := cmp.Diff(want, run.Specs); diff != "" {
		t.Errorf("specs (-want +got):\n%s", diff)
	}
	if len(run.Offers) != 2 {
		t.Errorf("%d offers, want 2: the type is known to have accelerators", len(run.Offers))
	}
}

// TestKnownOffersStayOurs holds that an offer the store has is read on whatever
// is now said of its type: left out, it would count as withdrawn.
func TestKnownOffersStayOurs(t *testing.T) {
	cpu := spec(&gputide.Spec{VCPU: new(2.0)})
	r := newRig(t, "list")
	r.run(t, 0, func(b *gputide.Batch) {
		many(b, "list", "gpu", 20, "3")
		b.Add(offer("list", "cpu", "1", cpu))
		b.Add(offer("list", "torn", "1", cpu))
		b.Done("list", everything)
	}, func(o *Options) { o.Collect = CollectAll })
	r.run(t, 1, func(b *gputide.Batch) {
		many(b, "list", "gpu", 20, "3")
		b.Add(offer("list", "cpu", "1.5", cpu))
		b.Add(offer("list", "cpu", "1.5", cpu, inRegion("elsewhere")))
		b.Add(offer("list", "never", "1", cpu))
		b.Add(offer("list", "torn", "1", cpu, inRegion("elsewhere")))
		b.Skip("list", offer("list", "torn", "").Key, "no_price", "null")
		b.Skip("list", offer("list", "cpu", "", inRegion("abroad")).Key, "no_price", "null")
		b.Done("list", everything)
	})
	run := r.last(t)
	if got := prices(run); len(got) != 21 || got["cpu"] != "1.5" {
		t.Errorf("offers %v, want the cards and cpu", got)
	}
	if len(run.HeldKeys) != 1 || run.HeldKeys[0].Key.InstanceType != "torn" {
		t.Errorf("held keys %+v, want the one of torn", run.HeldKeys)
	}
	rep := reportOf(t, run, "list")
	if rep.Omitted["not_accelerated"] != 4 || rep.Skipped["no_price"] != 1 || rep.Kept != 21 {
		t.Errorf("report %+v", rep)
	}
}

func TestSpecFailureNeverFailsPrices(t *testing.T) {
	boom := &gputide.FetchError{Source: "describe", Status: 503, Kind: gputide.ErrUnavailable, URL: "https://d.test"}
	for _, tt := range []struct {
		name  string
		specs func(ctx context.Context, b *gputide.Batch) error
	}{
		{"error", func(context.Context, *gputide.Batch) error { return boom }},
		{"panic", func(context.Context, *gputide.Batch) error { panic("specs") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "list", "describe")
			bare := func(_ context.Context, b *gputide.Batch) error {
				b.Add(offer("list", "a", "3", spec(nil)))
				b.Add(offer("list", "cpu", "1", spec(nil)))
				b.Done("list", everything)
				return nil
			}
			provider := &fakeProvider{info: r.info, crawl: bare}
			crawl := func(n int, specs func(context.Context, *gputide.Batch) error) Result {
				return r.Crawl(t.Context(), []gputide.Provider{&specProvider{provider, specs}},
					Options{At: func(string) time.Time { return day(n) }})[0]
			}
			crawl(0, func(_ context.Context, b *gputide.Batch) error {
				b.Spec(gputide.Spec{Source: "describe", InstanceType: "a", Device: h100(8).Device})
				return nil
			})
			if got := prices(r.last(t)); len(got) != 1 || got["a"] != "3" {
				t.Fatalf("offers %v, want a alone", got)
			}
			res := crawl(1, tt.specs)
			if res.Err != nil {
				t.Errorf("error %v, want none: prices were read", res.Err)
			}
			if got := prices(r.last(t)); len(got) != 1 || got["a"] != "3" {
				t.Errorf("offers %v, want a alone: it is known to be ours", got)
			}
			if tt.name == "error" && reportOf(t, r.last(t), "describe").Status != gputide.SourceFailed {
				t.Error("the source is not reported as failed")
			}
			if len(res.Report.Notes) == 0 {
				t.Error("no note tells of the failure")
			}
		})
	}
}

func TestSpecsThatHangLeaveTimeForPrices(t *testing.T) {
	normalizer := loadNormalizer(t)
	synctest.Test(t, func(t *testing.T) {
		c := &Crawler{Store: newModelStore(), Normalizer: normalizer}
		provider := &specProvider{
			named("slow", good),
			func(ctx context.Context, _ *gputide.Batch) error { <-ctx.Done(); return ctx.Err() },
		}
		res := c.Crawl(t.Context(), []gputide.Provider{provider}, Options{Deadline: time.Minute})[0]
		if res.Err != nil || res.Offers != 1 || res.Duration >= time.Minute {
			t.Errorf("%d offers after %s, error %v", res.Offers, res.Duration, res.Err)
		}
	})
}

func BenchmarkSink(b *testing.B) {
	normalizer := loadNormalizer(b)
	cpu := make([]*gputide.Spec, 200)
	rows := make([]gputide.RawOffer, len(cpu)*4)
	for i := range cpu {
		cpu[i] = &gputide.Spec{Source: "list", VCPU: new(float64(i)), MemoryGiB: new(16.0)}
	}
	for i := range rows {
		rows[i] = offer("list", fmt.Sprintf("m%d.large", i%len(cpu)), "0.192", spec(cpu[i%len(cpu)]), inRegion("us-east-1"))
		rows[i].Key.Market = []gputide.Market{gputide.OnDemand, gputide.Commitment}[i/7%2]
	}
	gpu := offer("list", "p5.48xlarge", "55.04", inRegion("us-east-1"))
	run := func(name string, next func(i int) gputide.RawOffer) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s := newSink(info("list"), normalizer, &gputide.Baseline{}, false, func(Progress) {})
			batch := gputide.NewBatch("fake", day0, s)
			i := 0
			for b.Loop() {
				batch.Add(next(i))
				i++
			}
		})
	}
	run("dropped", func(i int) gputide.RawOffer { return rows[i%len(rows)] })
	run("kept", func(int) gputide.RawOffer { return gpu })
}
