package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gputide/gputide"
)

// The rates of the workload: how often a price moves, a scope fails, an offer
// vanishes and returns, per run.
const (
	nightlyMove   = 0.02
	hourlyMove    = 1.1 / 24 // 1.1 changes a day: AWS spot of 2020
	scopeFails    = 0.01
	offerVanishes = 0.001
	offerReturns  = 0.05
)

// workload makes the same runs for every peer: the same seed gives the same
// prices.
type workload struct {
	provider string
	step     time.Duration
	start    time.Time
	runs     int
	move     float64
	perScope int // series of one region

	rng     *rand.Rand
	keys    []gputide.Key
	prices  []gputide.Nano
	present []bool
	run     gputide.Run // reused from step to step
}

// gpus are the accelerator slugs of the workload; 1 in 12 series is an H100, as
// many as 2.5k of 30k.
var gpus = []string{
	"h100-sxm-80gb", "a100-sxm-80gb", "a100-sxm-40gb", "h200-sxm-141gb", "b200-180gb", "l4-24gb", "l40s-48gb",
	"a10g-24gb", "t4-16gb", "v100-sxm2-16gb", "mi300x-192gb", "rtx-4090-24gb",
}

// nightly returns n series on demand, crawled once a night.
func nightly(n, nights int) *workload {
	w := newWorkload("nightly", n, nights, 24*time.Hour, nightlyMove)
	for i := range n {
		w.keys = append(w.keys, keyOf(w.provider, w.region(i), fmt.Sprintf("type-%s-%d", gpus[i%len(gpus)], i), gputide.OnDemand))
	}
	w.fill()
	return w
}

// hourly returns n series, half on demand and half spot of the same types,
// crawled once an hour.
func hourly(n, hours int) *workload {
	w := newWorkload("hourly", n, hours, time.Hour, hourlyMove)
	for i := range n {
		market := gputide.OnDemand
		if i%2 == 1 {
			market = gputide.Spot
		}
		w.keys = append(w.keys, keyOf(w.provider, w.region(i), fmt.Sprintf("pair-%s-%d", gpus[i/2%len(gpus)], i/2), market))
	}
	w.fill()
	return w
}

// keyOf returns the key of a series: what varies, and what is the same for all.
func keyOf(provider, region, instanceType string, market gputide.Market) gputide.Key {
	return gputide.Key{
		Provider: provider, Region: region, InstanceType: instanceType, Market: market,
		OS: "linux", Tenancy: "shared", Stat: gputide.StatList, Tax: gputide.TaxExcluded, Currency: "USD",
	}
}

func (w *workload) region(i int) string { return fmt.Sprintf("%s-%d", w.provider, i/w.perScope) }

// at returns the moment of run i.
func (w *workload) at(i int) time.Time { return w.start.Add(time.Duration(i) * w.step) }

func (w *workload) end() time.Time { return w.at(w.runs) }

func newWorkload(provider string, n, runs int, step time.Duration, move float64) *workload {
	return &workload{
		provider: provider, step: step, runs: runs, move: move, perScope: 300,
		start: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), rng: rand.New(rand.NewPCG(1, uint64(n))),
		keys: make([]gputide.Key, 0, n),
	}
}

func (w *workload) fill() {
	w.prices = make([]gputide.Nano, len(w.keys))
	w.present = make([]bool, len(w.keys))
	for i := range w.keys {
		w.prices[i] = gputide.Nano(200_000_000 + w.rng.Int64N(90_000_000_000)/10_000*10_000)
		w.present[i] = true
	}
}

// scopes returns how many scopes the series fall into.
func (w *workload) scopes() int { return (len(w.keys) + w.perScope - 1) / w.perScope }

// next returns run i. The value is reused: it holds until the next call.
func (w *workload) next(i int) *gputide.Run {
	at := w.at(i)
	w.run = gputide.Run{
		Provider: w.provider, At: at, StartedAt: at, FinishedAt: at, Cause: gputide.CauseCrawl, Cadence: w.step,
		CodeVersion: "bench", Scopes: w.run.Scopes[:0], Offers: w.run.Offers[:0],
	}
	for s := range w.scopes() {
		w.scope(s, i)
	}
	return &w.run
}

func (w *workload) scope(s, run int) {
	lo, hi := s*w.perScope, min((s+1)*w.perScope, len(w.keys))
	outcome := gputide.ScopeRun{Scope: gputide.Scope{Region: w.keys[lo].Region}, Status: gputide.ScopeDone, Source: "list"}
	if run > 0 && w.rng.Float64() < scopeFails {
		outcome.Status, outcome.Reason = gputide.ScopeFailed, "source unavailable"
		w.run.Scopes = append(w.run.Scopes, outcome)
		return
	}
	for i := lo; i < hi; i++ {
		if run > 0 {
			w.step1(i)
		}
		if !w.present[i] {
			continue
		}
		outcome.Count++
		w.run.Offers = append(w.run.Offers, gputide.Offer{
			Key: w.keys[i], Price: w.prices[i], Source: "list",
			Published: gputide.Published{Amount: w.prices[i].String(), Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		})
	}
	w.run.Scopes = append(w.run.Scopes, outcome)
}

// step1 moves one series by one run.
func (w *workload) step1(i int) {
	switch r := w.rng.Float64(); {
	case !w.present[i]:
		w.present[i] = r < offerReturns
	case r < offerVanishes:
		w.present[i] = false
	}
	if w.rng.Float64() < w.move {
		w.prices[i] = max(10_000, w.prices[i]+gputide.Nano(w.rng.Int64N(200_000)-100_000)*10_000)
	}
}

// derive gives the series of the workload the attribute the queries select by.
type derive struct{}

func (derive) Version() string { return "bench" }

func (derive) Derive(k *gputide.Key, _ *gputide.Spec) []gputide.Attr {
	return []gputide.Attr{{Field: gputide.FieldGPU, Value: gpuOf(k.InstanceType)}}
}

func gpuOf(instanceType string) string {
	for _, g := range gpus {
		if len(instanceType) > 5+len(g) && instanceType[5:5+len(g)] == g {
			return g
		}
	}
	return ""
}
