package query

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// leg is a price from a moment on; price "" is no price in force (a gap), "-"
// withdrawn.
type leg struct {
	at    string // 2026-09-01, or with T12:00
	price string
}

func moment(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := ParseTime(s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// series adds an offer with a history that lasts until now. Every leg with a
// price is an observation.
func (w *world) series(k gputide.Key, legs ...leg) gputide.OfferID {
	w.Helper()
	if w.pasts == nil {
		w.pasts, w.rows = map[gputide.OfferID][]gputide.Interval{}, map[gputide.OfferID][]gputide.Observation{}
	}
	var list []gputide.Interval
	var rows []gputide.Observation
	state, price := gputide.StatePriced, gputide.Nano(0)
	for i, l := range legs {
		end := noon.Add(time.Second)
		if i+1 < len(legs) {
			end = moment(w, legs[i+1].at)
		}
		at := moment(w, l.at)
		switch l.price {
		case "":
			state = gputide.StateGap
		case "-":
			state = gputide.StateWithdrawn
		default:
			state, price = gputide.StatePriced, amount(w, l.price)
			rows = append(rows, gputide.Observation{At: at, Price: price})
		}
		list = append(list, gputide.Interval{From: at, To: end, Price: price, State: state, LastObserved: at, KnownSince: at})
	}
	id := w.offer(k, price.String(), func(q *gputide.Quote) {
		q.State, q.FirstSeen, q.Since = state, list[0].From, list[len(list)-1].From
	})
	w.pasts[id], w.rows[id] = list, rows
	return id
}

func (w *world) trend(req TrendRequest) TrendAnswer {
	w.Helper()
	ans, err := newEngine(w.memory).Trend(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	return ans
}

func (w *world) discount(req DiscountRequest) DiscountAnswer {
	w.Helper()
	ans, err := newEngine(w.memory).Discount(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	return ans
}

// The trend of one series and the price half of a discount are both those of an
// oracle that asks, second by second, what was in force.
func TestStatisticsOfSeriesAreTheOracles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	start := moment(t, "2026-09-29")
	for round := range 25 {
		w := newWorld(t)
		k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "m"}
		history := func(market gputide.Market) (legs []leg) {
			k.Market = market
			for at := start.Add(time.Duration(rng.IntN(7200)) * time.Second); at.Before(noon); at = at.Add(time.Duration(1+rng.IntN(20_000)) * time.Second) {
				price := []string{"", "-", "1", "1.5", "2", "2.25", "0.7"}[rng.IntN(7)]
				if len(legs) == 0 && (price == "" || price == "-") {
					price = "1"
				}
				legs = append(legs, leg{at.Format(time.RFC3339), price})
			}
			w.series(k, legs...)
			return legs
		}
		spot, demand := history(gputide.Spot), history(gputide.OnDemand)
		from := start.Add(time.Duration(rng.IntN(40_000)) * time.Second)
		to := from.Add(time.Duration(3600+rng.IntN(50_000)) * time.Second)
		checkRound(t, w, round, spot, demand, from, to)
	}
}

// inForceAt returns the price in force, nil for none.
func inForceAt(t *testing.T, legs []leg, at time.Time) *big.Rat {
	var price *big.Rat
	for _, l := range legs {
		if moment(t, l.at).After(at) {
			break
		}
		price = nil
		if l.price != "" && l.price != "-" {
			price = amount(t, l.price).Rat()
		}
	}
	return price
}

func checkRound(t *testing.T, w *world, round int, spot, demand []leg, from, to time.Time) {
	t.Helper()
	prices, off := &oracle{}, &oracle{}
	var covered, paired int64
	const grain = 2000 // legs start at any second, so the last piece is exact below
	for at := from; at.Before(to); {
		next := at.Add(grain * time.Second)
		for _, l := range append(append([]leg{}, spot...), demand...) {
			if m := moment(t, l.at); m.After(at) && m.Before(next) {
				next = m
			}
		}
		next = earlier(next, to)
		weight := next.Unix() - at.Unix()
		p, d := inForceAt(t, spot, at), inForceAt(t, demand, at)
		if p != nil {
			covered += weight
			prices.add(p, uint64(weight))
		}
		if p != nil && d != nil {
			paired += weight
			off.add(new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Quo(p, d)), uint64(weight))
		}
		at = next
	}
	ans := w.discount(DiscountRequest{From: from, To: to})
	if len(ans.Rows) != 1 {
		if len(prices.values) > 0 {
			t.Fatalf("round %d: %d rows", round, len(ans.Rows))
		}
		return
	}
	row := &ans.Rows[0]
	same := func(name string, got any, want any) {
		t.Helper()
		if g, x := jsonOf(t, got), jsonOf(t, want); g != x {
			t.Errorf("round %d: %s is %s, want %s", round, name, g, x)
		}
	}
	same("price_covered_share", row.PriceCoveredShare, NewFraction(big.NewRat(covered, to.Unix()-from.Unix())))
	if len(prices.values) > 0 {
		same("price_mean", row.PriceMean, rounded(t, prices.mean()))
		same("price_p50", row.PriceP50, rounded(t, prices.reach(50)))
		same("price_p5", row.PriceP5, rounded(t, prices.reach(5)))
		bucket := w.trend(TrendRequest{From: from, To: to, Bucket: BucketAll, Filter: Filter{Market: []string{"spot"}}}).Rows[0]
		same("trend mean", bucket.Mean, row.PriceMean)
		same("trend p95", bucket.P95, rounded(t, prices.reach(95)))
		same("trend covered", bucket.CoveredShare, row.PriceCoveredShare)
	}
	if row.Reason != "" {
		if paired > 0 || row.Reason != NoReference {
			t.Fatalf("round %d: %s, paired %d s", round, row.Reason, paired)
		}
		return
	}
	same("covered_share", row.CoveredShare, NewFraction(big.NewRat(paired, to.Unix()-from.Unix())))
	if len(off.values) > 0 {
		same("p50_pct", row.P50Pct, NewPercent(off.reach(50)))
		same("p95_pct", row.P95Pct, NewPercent(off.reach(95)))
	}
}

func rounded(t *testing.T, r *big.Rat) *Money {
	t.Helper()
	n, err := gputide.RoundNano(r)
	if err != nil {
		t.Fatal(err)
	}
	return new(Money(n))
}
