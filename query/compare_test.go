package query

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func (w *world) compare(req CompareRequest) CompareAnswer {
	w.Helper()
	ans, err := newEngine(w.memory).Compare(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	return ans
}

// cellsOf lists "gpu provider price type", and the reason for a price that is
// not there.
func cellsOf(ans CompareAnswer) []string {
	out := []string{}
	for _, r := range ans.Rows {
		if r.Price == nil {
			out = append(out, fmt.Sprintf("%s %s %s", r.GPU, r.Provider, r.Reason))
			continue
		}
		out = append(out, fmt.Sprintf("%s %s %s %s", r.GPU, r.Provider, r.Price, r.InstanceType))
	}
	return out
}

// shops sells cards of three clouds.
func shops(t testing.TB) *world {
	w := newWorld(t)
	w.shape("aws", "", "p5", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "", "mig", "h100-sxm-80gb", 1, 8)
	w.shape("lambda", "", "h100x1", "h100-sxm-80gb", 1, 1)
	w.shape("lambda", "", "l4x1", "l4-24gb", 1, 1)
	w.shape("vastai", "", "h100x1", "h100-sxm-80gb", 1, 1)
	w.shape("aws", "", "odd", "GPU H", 8, 1)
	w.offer(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "us-east-1"}, "55.04")
	w.offer(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "eu-west-1"}, "48", in(gputide.StateStale))
	w.offer(gputide.Key{Provider: "aws", InstanceType: "mig", Region: "us-east-1"}, "0.8")
	w.offer(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "us-east-1", Market: gputide.Spot}, "20")
	w.offer(gputide.Key{Provider: "lambda", InstanceType: "h100x1"}, "4.29")
	w.offer(gputide.Key{Provider: "lambda", InstanceType: "l4x1"}, "0.8")
	w.offer(gputide.Key{Provider: "vastai", InstanceType: "h100x1", Stat: gputide.StatMin}, "1.8")
	return w
}

func TestCompareTakesTheCheapestOfEachCell(t *testing.T) {
	w := shops(t)
	ans := w.compare(CompareRequest{})
	want := []string{
		"h100-sxm-80gb aws 6 p5", "h100-sxm-80gb lambda 4.29 h100x1",
		"l4-24gb aws no_offer", "l4-24gb lambda 0.8 l4x1",
	}
	if d := cmp.Diff(want, cellsOf(ans)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Hidden{{"min", 1, "stat=min"}, {"spot", 1, "market=spot"}}, ans.Hidden); d != "" {
		t.Error(d)
	}
	r := &ans.Rows[0]
	if r.Region != "eu-west-1" || r.State != "stale" || *r.AgeS != 3600 || r.Offers != 3 || r.InstancePrice.String() != "48" || r.Count != "8" {
		t.Errorf("%+v", r)
	}
	for _, tt := range []struct {
		name string
		req  CompareRequest
		want []string
	}{
		{"spot", CompareRequest{Filter: Filter{Market: []string{"spot"}}}, []string{"h100-sxm-80gb aws 2.5 p5"}},
		{"both stats", CompareRequest{Filter: Filter{Stat: []string{"list", "min"}, GPU: []string{"h100"}}}, []string{
			"h100-sxm-80gb aws 6 p5", "h100-sxm-80gb lambda 4.29 h100x1", "h100-sxm-80gb vastai 1.8 h100x1",
		}},
		{"instance", CompareRequest{Per: "instance", Filter: Filter{GPU: []string{"h100"}}}, []string{"h100-sxm-80gb aws 0.8 mig", "h100-sxm-80gb lambda 4.29 h100x1"}},
		{"gb", CompareRequest{Per: "gb", Sort: "price"}, []string{
			"l4-24gb aws no_offer", "l4-24gb lambda 0.033333333 l4x1", "h100-sxm-80gb aws 0.075 p5", "h100-sxm-80gb lambda 0.053625 h100x1",
		}},
		{"a limit", CompareRequest{Limit: 1, Sort: "price"}, []string{"l4-24gb lambda 0.8 l4x1"}},
		{"max price", CompareRequest{Filter: Filter{MaxPrice: "5/gpu"}}, []string{"h100-sxm-80gb lambda 4.29 h100x1", "l4-24gb lambda 0.8 l4x1"}},
	} {
		if d := cmp.Diff(tt.want, cellsOf(w.compare(tt.req))); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	hidden := w.compare(CompareRequest{Filter: Filter{Provider: []string{"aws", "lambda"}, Market: []string{"spot", "on_demand"}, State: []string{"priced"}}})
	if d := cmp.Diff([]string{"h100-sxm-80gb aws 2.5 p5", "h100-sxm-80gb lambda 4.29 h100x1", "l4-24gb aws no_offer", "l4-24gb lambda 0.8 l4x1"}, cellsOf(hidden)); d != "" {
		t.Error(d)
	}
}

// What has a price that cannot be set beside others has no cell, and says why.
func TestCompareLeavesOutWhatItCannotCompare(t *testing.T) {
	w := shops(t)
	w.shape("alibaba", "", "gn7", "l4-24gb", 1, 1)
	w.offer(gputide.Key{Provider: "alibaba", InstanceType: "gn7", Currency: "CNY"}, "7")
	w.shape("azure", "", "nd", "h100-sxm-80gb", 8, 1)
	w.offer(gputide.Key{Provider: "azure", InstanceType: "nd"}, "60", in(gputide.StateWithdrawn))
	w.shape("azure", "", "nc", "l4-24gb", 1, 1)
	w.offer(gputide.Key{Provider: "azure", InstanceType: "nc"}, "3")
	w.offer(gputide.Key{Provider: "azure", InstanceType: "nc", Volume: "gpus>=64"}, "1")
	ans := w.compare(CompareRequest{Filter: Filter{GPU: []string{"h100", "l4"}}})
	want := []string{
		"h100-sxm-80gb aws 6 p5", "h100-sxm-80gb azure hidden", "h100-sxm-80gb lambda 4.29 h100x1",
		"l4-24gb aws no_offer", "l4-24gb azure 3 nc", "l4-24gb lambda 0.8 l4x1",
	}
	if d := cmp.Diff(want, cellsOf(ans)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Hidden{{Reason: skipNoFX, Count: 1}}, ans.Skipped); d != "" {
		t.Error(d)
	}
	w.rate("USD", "1", "2026-09-29")
	w.rate("CNY", "7", "2026-09-29")
	ans = w.compare(CompareRequest{Filter: Filter{GPU: []string{"l4"}}, In: "EUR", Per: "tflops:fp64"})
	if ans.Rows != nil || ans.Empty == nil || !strings.Contains(ans.Empty.Text, "3: "+skipNoPeak) {
		t.Errorf("%+v %+v", ans.Rows, ans.Empty)
	}
	got := cellsOf(w.compare(CompareRequest{Filter: Filter{GPU: []string{"l4"}, Provider: []string{"alibaba"}}, In: "EUR"}))
	if d := cmp.Diff([]string{"l4-24gb alibaba 1 gn7"}, got); d != "" {
		t.Error(d)
	}
	empty := w.compare(CompareRequest{Filter: Filter{Provider: []string{"azure"}, Region: []string{"eu-west-1"}}})
	if empty.Empty == nil || !strings.Contains(empty.Empty.Text, "region=eu-west-1 emptied") {
		t.Errorf("%+v", empty.Empty)
	}
}

// results are MLPerf results of the same cards in several machines.
func results(w *world) {
	add := func(round, id, card string, count, nodes uint32, scenario, result string) {
		w.bench = append(w.bench, gputide.Benchmark{
			Round: round, ID: id, Submitter: "maker", System: "box " + id, Accelerator: card, AcceleratorsPerNode: count, Nodes: nodes,
			Model: "llama2-70b-99", Scenario: scenario, Result: result, Units: "Tokens/s", Source: "results",
		})
	}
	add("v4.1", "v4.1-0001", "h100-sxm-80gb", 8, 1, "Offline", "24000")
	add("v4.1", "v4.1-0002", "h100-sxm-80gb", 8, 1, "Offline", "24524.9")
	add("v4.1", "v4.1-0003", "h100-sxm-80gb", 8, 1, "Offline", "24100")
	add("v4.1", "v4.1-0004", "h100-sxm-80gb", 8, 1, "Offline", "24900")
	add("v4.1", "v4.1-0005", "h100-sxm-80gb", 8, 2, "Offline", "41000")
	add("v4.1", "v4.1-0006", "a card nobody knows", 1, 1, "Offline", "9000")
	add("v4.1", "v4.1-0001", "h100-sxm-80gb", 8, 1, "Server", "20000")
	add("v10.0", "v10.0-0001", "mi300x-192gb", 8, 1, "Offline", "30000")
	add("v10.0", "v10.0-0002", "h100-80gb", 1, 1, "Offline", "3000")
}

func TestComparePerBenchmark(t *testing.T) {
	w := shops(t)
	results(w)
	ask := func(per string) []string {
		out := []string{}
		for _, r := range w.compare(CompareRequest{Per: per}).Rows {
			if b := r.Benchmark; b != nil {
				out = append(out, fmt.Sprintf("%s %s %s %d %s %s", r.Provider, r.Price, b.ID, b.Results, b.Confidence, b.PerCurrency))
			} else {
				out = append(out, fmt.Sprintf("%s %s", r.Provider, r.Reason))
			}
		}
		return out
	}
	for per, want := range map[string][]string{
		// 48/24100: the lower median of 24000, 24100, 24524.9 and 24900
		"mlperf:llama2-70b-99@v4.1":        {"aws 0.001991701 v4.1-0003 4 high 1807500"},
		"mlperf:llama2-70b-99@v4.1-0002":   {"aws 0.001957195 v4.1-0002 1 high 1839367.5"},
		"mlperf:LLAMA2-70b-99:server@v4.1": {"aws 0.0024 v4.1-0001 1 high 1500000"},
		// v10.0 is newer than v4.1; its card does not say the form
		"mlperf:llama2-70b-99": {"lambda 0.00143 v10.0-0002 1 medium 2517482.517483"},
	} {
		if d := cmp.Diff(want, ask(per)); d != "" {
			t.Errorf("%s: %s", per, d)
		}
	}
	for per, want := range map[string]string{
		"mlperf":                      "write it as mlperf:",
		"mlperf:":                     "write it as mlperf:",
		"mlperf:llama2-70b-99@":       "write it as mlperf:",
		"mlperf:llama2-70b":           "did you mean llama2-70b-99",
		"mlperf:llama2-70b-99:Servre": "did you mean Server",
		"mlperf:llama2-70b-99@v4.2":   "v4.1",
	} {
		_, err := newEngine(w.memory).Compare(t.Context(), CompareRequest{Per: per})
		if !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %q", per, err, want)
		}
	}
	w.bench = nil
	if _, err := newEngine(w.memory).Compare(t.Context(), CompareRequest{Per: "mlperf:resnet"}); !errors.Is(err, gputide.ErrNotFound) {
		t.Errorf("no result stored: %v", err)
	}
	if _, err := newEngine(w.memory).Trend(t.Context(), TrendRequest{Per: "mlperf:resnet"}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("a trend: %v", err)
	}
}

// A slice of a card and a masked card have no result of the whole one.
func TestComparePerBenchmarkOfOtherMachines(t *testing.T) {
	w := shops(t)
	results(w)
	w.shape("azure", "", "sliced", "h100-sxm-80gb", 8, 1)
	w.specs[len(w.specs)-1].Device.Share = gputide.ShareVGPU
	w.offer(gputide.Key{Provider: "azure", InstanceType: "sliced"}, "1")
	w.shape("alibaba", "", "masked", "h100-sxm-80gb", 8, 1)
	w.offer(gputide.Key{Provider: "alibaba", InstanceType: "masked"}, "1", func(q *gputide.Quote) {
		q.Flags = []gputide.Flag{gputide.FlagMaskedAccelerator}
	})
	ans := w.compare(CompareRequest{Per: "mlperf:llama2-70b-99@v4.1"})
	if d := cmp.Diff([]string{"aws"}, ans.Providers); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Hidden{{Reason: skipNoResult, Count: 4}, {Reason: skipMasked, Count: 1}}, ans.Skipped); d != "" {
		t.Error(d)
	}
}

func TestCompareRounds(t *testing.T) {
	for _, order := range [][2]string{{"v4.1", "v10.0"}, {"v4.1", "v5.0"}, {"v4.0", "v4.1"}, {"v4", "v4.1"}, {"", "v1"}, {"a1", "b1"}} {
		if compareRounds(order[0], order[1]) >= 0 || compareRounds(order[1], order[0]) <= 0 || compareRounds(order[0], order[0]) != 0 {
			t.Errorf("%q is not before %q", order[0], order[1])
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	w := shops(t)
	for want, req := range map[string]CompareRequest{
		"did you mean price?":       {Sort: "prices"},
		"did you mean gpu":          {Per: "gpus"},
		"write a three-letter code": {In: "dollars"},
		"limit -1":                  {Limit: -1},
		"did you mean aws":          {Filter: Filter{Provider: []string{"awz"}}},
	} {
		_, err := newEngine(w.memory).Compare(t.Context(), req)
		if !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%+v: %v, want %q", req, err, want)
		}
	}
	if _, err := newEngine(&memory{fail: errors.New("disk")}).Compare(t.Context(), CompareRequest{}); err == nil {
		t.Error("a failing store gives an empty comparison")
	}
}

// Whatever is on offer, each cell is what a search through all offers in exact
// numbers finds.
func TestCompareIsTheOracles(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 20 {
		w := newWorld(t)
		w.rate("USD", "1.1", "2026-09-29")
		cards := []string{"h100-sxm-80gb", "l4-24gb", "mi300x-192gb"}
		best := map[string]*big.Rat{}
		for i := range 1 + rng.IntN(40) {
			typ, card, n := fmt.Sprintf("t%d", i), cards[rng.IntN(3)], uint32(1+rng.IntN(8))
			k := gputide.Key{Provider: []string{"a", "b", "c"}[rng.IntN(3)], InstanceType: typ, Currency: []gputide.Currency{"USD", "EUR"}[rng.IntN(2)]}
			price := fmt.Sprintf("%d.%09d", rng.IntN(4), 1+rng.IntN(999_999_999))
			w.shape(k.Provider, "", typ, card, n, 1)
			w.offer(k, price)
			each := amount(t, price).Rat()
			if k.Currency == "EUR" {
				each.Mul(each, big.NewRat(11, 10))
			}
			each.Quo(each, new(big.Rat).SetInt64(int64(n)))
			cell := card + " " + k.Provider
			if best[cell] == nil || each.Cmp(best[cell]) < 0 {
				best[cell] = each
			}
		}
		seen := 0
		for _, r := range w.compare(CompareRequest{}).Rows {
			want := best[string(r.GPU)+" "+string(r.Provider)]
			switch {
			case (want == nil) != (r.Price == nil):
				t.Errorf("round %d: %s at %s is %v, want %v", round, r.GPU, r.Provider, r.Price, want)
			case want != nil:
				seen++
				if d := cmp.Diff(rounded(t, want), r.Price); d != "" {
					t.Errorf("round %d: %s at %s: %s", round, r.GPU, r.Provider, d)
				}
			}
		}
		if seen != len(best) {
			t.Errorf("round %d: %d cells, want %d", round, seen, len(best))
		}
	}
}

func TestCompareGolden(t *testing.T) {
	w := shops(t)
	results(w)
	golden(t, "compare.json", "compare.golden.json", w.compare(CompareRequest{At: noon.Add(time.Minute)}).Rows)
	golden(t, "compare.json", "compare-mlperf.golden.json", w.compare(CompareRequest{Per: "mlperf:llama2-70b-99@v4.1"}).Rows)
}
