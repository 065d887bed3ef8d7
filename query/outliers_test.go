package query

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// daily is a series with a price a day from the first of September.
func (w *world) daily(k gputide.Key, prices ...string) gputide.OfferID {
	var legs []leg
	for i, p := range prices {
		legs = append(legs, leg{time.Date(2026, 9, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), p})
	}
	return w.series(k, legs...)
}

func (w *world) outliers(req ChangesRequest) []string {
	w.Helper()
	req.Outliers = true
	ans, err := newEngine(w.memory).Changes(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	out := []string{}
	for _, r := range ans.Outliers {
		out = append(out, fmt.Sprintf("%s %s %s×%s→%s %s..%s", r.Region, r.Factor, r.Before, r.Price, r.After, r.SeenAt.Format("02"), r.BackAt.Format("02")))
	}
	return out
}

func TestOutliers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		prices string
		want   string
	}{
		{"Azure's polandcentral", "46.861 46.861 46.861 46.861 7.692 7.692 46.89 46.89", "a 6.092174 46.861×7.692→46.89 05..07"},
		{"a small fall and rise", "9.73 7.89 7.89 9.73", ""},
		{"by half again is enough", "2 3 2", "a 1.5 2×3→2 02..03"},
		{"by a little less is not", "2 2.999 2", ""},
		{"down to two thirds", "3 2 3", "a 1.5 3×2→3 02..03"},
		{"a price that stays", "98.32 98.32 55.04 55.04", ""},
		{"not back far enough", "1 8 2", ""}, // 3 of 3 octaves out, 1 missing
		{"back far enough", "1 8 1.6", "a 8 1×8→1.6 02..03"},
		{"several prices away", "10 2 1 2.5 10", "a 10 10×1→10 02..05"},
		{"across to the other side", "10 2 20 10", ""},
		{"back in two steps", "10 2 8 10", "a 5 10×2→8 02..03"},
		{"stuck between", "9 3 6.5 9", ""},
		{"twice", "10 10.1 10 10.1 10 1 10 100 10", "a 10 10×1→10 06..07 a 10 10×100→10 08..09"},
		{"withdrawn while away", "10 1 - 10", "a 10 10×1→10 02..04"},
		{"not of a series that always moves so", "1 2 1 2.1 1 2 1 1.9 1", ""},
		{"but of one that moves less", "1 1.2 1 1.2 1 3 1 1.2", "a 3 1×3→1 06..07"},
		{"one price", "5", ""},
	} {
		w := newWorld(t)
		w.daily(gputide.Key{Provider: "azure", InstanceType: "nd", Region: "a"}, strings.Fields(tt.prices)...)
		if got := strings.Join(w.outliers(ChangesRequest{}), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestOutliersRequest(t *testing.T) {
	w := newWorld(t)
	k := gputide.Key{Provider: "azure", InstanceType: "nd", Region: "a"}
	id := w.daily(k, "10", "1", "10")
	k.Region = "b"
	w.daily(k, "10", "10", "60", "60", "11")
	k.Region, k.Tier = "c", "unverified"
	w.daily(k, "4", "1", "4")
	all := []string{"a 10 10×1→10 02..03", "b 6 10×60→11 03..05", "c 4 4×1→4 02..03"}
	for _, tt := range []struct {
		name string
		req  ChangesRequest
		want []string
	}{
		{"largest first, nothing hidden", ChangesRequest{}, all},
		{"top", ChangesRequest{Top: 1}, all[:1]},
		{"limit", ChangesRequest{Limit: 2}, all[:2]},
		{"from", ChangesRequest{From: moment(t, "2026-09-03")}, all[1:2]},
		{"to", ChangesRequest{To: moment(t, "2026-09-03")}, []string{all[0], all[2]}},
		{"a filter", ChangesRequest{Filter: Filter{Region: []string{"b"}}}, all[1:2]},
	} {
		if d := cmp.Diff(tt.want, w.outliers(tt.req)); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	e := newEngine(w.memory)
	ans, err := e.Changes(t.Context(), ChangesRequest{Outliers: true, Limit: 1})
	if err != nil || !ans.More {
		t.Errorf("cut: %+v, %v", ans, err)
	}
	if r := ans.Outliers[0]; string(r.OfferID) != id.String() || r.Pct.String() != "-90" || r.LastedS != 86400 || r.Prices != 1 || r.Moves != 0 || r.Typical != nil ||
		r.NotBefore.Format(time.DateOnly) != "2026-09-01" {
		t.Errorf("%+v", r)
	}
	for name, req := range map[string]ChangesRequest{
		"kind": {Kinds: []string{"price"}}, "count": {CountBy: "day"}, "cursor": {AfterSeq: 1}, "limit": {Limit: -1}, "top": {Top: -1},
		"window": {From: noon, To: noon},
	} {
		req.Outliers = true
		if _, err := e.Changes(t.Context(), req); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, req := range map[string]ChangesRequest{
		"no outlier among 3 series":      {From: moment(t, "2026-09-20")},
		"region=a emptied the answer: 1": {Filter: Filter{Region: []string{"a"}, Tier: []string{"unverified"}}},
	} {
		req.Outliers = true
		ans, err := e.Changes(t.Context(), req)
		if err != nil || ans.Empty == nil || !strings.Contains(ans.Empty.Text, want) {
			t.Errorf("%q: %+v, %v", want, ans.Empty, err)
		}
	}
	golden(t, "changes.json", "outliers.golden.json", ans.Outliers)
}

// One mistake in a calm series is found, whatever the level of the prices, and
// nothing else is.
func TestOutliersFindTheOneMistake(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for round := range 200 {
		steps, scale := []step(nil), gputide.Nano(1+rng.Int64N(1e9))
		price, at := scale*1000, int64(0)
		move := func(to gputide.Nano) {
			if to != price {
				at += 60
				steps = append(steps, step{at: at, before: price, after: to})
				price = to
			}
		}
		calm := func(n int) {
			for range n {
				move(scale * gputide.Nano(970+rng.Int64N(61)))
			}
		}
		calm(rng.IntN(20))
		first, old := len(steps), price
		far := []gputide.Nano{old / 100, old / 3, old * 3, old * 8}[rng.IntN(4)]
		move(far)
		calm(1 + rng.IntN(20))
		found := excursions(steps)
		if len(found) != 1 || found[0].first != first || found[0].last != first+1 || found[0].peak != far {
			t.Fatalf("round %d: %+v in %+v, want one at step %d", round, found, steps, first)
		}
	}
}
