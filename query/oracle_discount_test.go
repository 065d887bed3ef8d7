package query

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// A discount on both bases is that of an oracle that sets the prices of two
// series side by side, hour by hour or where both were stated at one moment.
func TestDiscountIsTheOracles(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	start := moment(t, "2026-09-20")
	for round := range 40 {
		w := newWorld(t)
		k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "m"}
		demand := w.tell(rng, k, start)
		k.Market = gputide.Spot
		spot := w.tell(rng, k, start)
		over := []Over{OverTime, OverRows}[round%2]
		from := start.Add(time.Duration(rng.IntN(200*3600)) * time.Second).Truncate([]time.Duration{time.Second, time.Hour}[rng.IntN(2)])
		to := earlier(from.Add([]time.Duration{time.Second, time.Hour, 50 * time.Hour, 300 * time.Hour}[rng.IntN(4)]), noon)
		off, paired := beside(spot, demand, from, to, over)
		prices, _ := spot.watch(from, to, over, func(p *big.Rat) *big.Rat { return p })
		ans := w.discount(DiscountRequest{From: from, To: to, Over: string(over), AtLeast: "25"})
		if len(ans.Rows) == 0 {
			if len(prices.values) > 0 {
				t.Errorf("round %d: no row", round)
			}
			continue
		}
		name := fmt.Sprintf("round %d over %s", round, over)
		checkPrices(t, name, &ans.Rows[0], &prices, over)
		if got, want := ans.Rows[0].Changes, spot.changesIn(from, to); got != want {
			t.Errorf("%s: %d changes, want %d", name, got, want)
		}
		checkOff(t, name, &ans.Rows[0], off, over)
		if share := NewFraction(big.NewRat(paired, to.Unix()-from.Unix())); len(off.values) > 0 && *ans.Rows[0].CoveredShare != *share {
			t.Errorf("%s: %s of the time is covered, want %s", name, ans.Rows[0].CoveredShare, share)
		}
	}
}

// beside sets two series beside each other: the discounts of the one against the
// other, and the seconds in which both had a price.
func beside(spot, demand *told, from, to time.Time, over Over) (off *oracle, paired int64) {
	off = &oracle{}
	each := func(p, d *big.Rat, weight uint64) {
		off.add(new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Quo(p, d)), weight)
	}
	for at := from; at.Before(to); {
		next := earlier(at.Truncate(time.Hour).Add(time.Hour), to)
		if p, d := spot.priceAt(at), demand.priceAt(at); p != nil && d != nil {
			paired += next.Unix() - at.Unix()
			if over == OverTime {
				each(p, d, uint64(next.Unix()-at.Unix()))
			}
		}
		at = next
	}
	for _, a := range spot.rows {
		for _, b := range demand.rows {
			if over == OverRows && a.At.Equal(b.At) && !a.At.Before(from) && a.At.Before(to) {
				each(a.Price.Rat(), b.Price.Rat(), 1)
			}
		}
	}
	return off, paired
}

func checkPrices(t *testing.T, name string, r *DiscountRow, prices *oracle, over Over) {
	t.Helper()
	if len(prices.values) == 0 {
		sameJSON(t, name+": price_mean", r.PriceMean, nil)
		return
	}
	sameJSON(t, name+": price_min", r.PriceMin, rounded(t, slices.MinFunc(prices.values, (*big.Rat).Cmp)))
	sameJSON(t, name+": price_p95", r.PriceP95, rounded(t, prices.at(over, 95)))
	sameJSON(t, name+": price_mean", r.PriceMean, rounded(t, prices.mean()))
	sameJSON(t, name+": price_first", r.PriceFirst, rounded(t, prices.values[0]))
}

// checkOff compares the discounts of a row; AtLeast is 25 percent.
func checkOff(t *testing.T, name string, r *DiscountRow, off *oracle, over Over) {
	t.Helper()
	if len(off.values) == 0 {
		sameJSON(t, name+": p50_pct", r.P50Pct, nil)
		return
	}
	var long, whole uint64
	for i, v := range off.values {
		whole += off.weights[i]
		if v.Cmp(big.NewRat(1, 4)) >= 0 {
			long += off.weights[i]
		}
	}
	sameJSON(t, name+": min_pct", r.MinPct, NewPercent(slices.MinFunc(off.values, (*big.Rat).Cmp)))
	sameJSON(t, name+": max_pct", r.MaxPct, NewPercent(slices.MaxFunc(off.values, (*big.Rat).Cmp)))
	sameJSON(t, name+": p5_pct", r.P5Pct, NewPercent(off.at(over, 5)))
	sameJSON(t, name+": p50_pct", r.P50Pct, NewPercent(off.at(over, 50)))
	sameJSON(t, name+": p95_pct", r.P95Pct, NewPercent(off.at(over, 95)))
	sameJSON(t, name+": share_of_time_ge", r.ShareOfTimeGE, share(long, whole))
}

// sameJSON compares two values as they are written.
func sameJSON(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, x := jsonOf(t, got), jsonOf(t, want); g != x {
		t.Errorf("%s is %s, want %s", what, g, x)
	}
}

// A window without a second in it is no window.
func TestWindowOfNoLength(t *testing.T) {
	w := newWorld(t)
	w.tell(rand.New(rand.NewPCG(1, 1)), gputide.Key{Provider: "aws", InstanceType: "m"}, moment(t, "2026-09-20"))
	at := moment(t, "2026-09-25")
	if _, err := newEngine(w.memory).Trend(t.Context(), TrendRequest{From: at, To: at}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("trend: %v", err)
	}
	if _, err := newEngine(w.memory).Discount(t.Context(), DiscountRequest{From: at, To: at}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("discount: %v", err)
	}
}
