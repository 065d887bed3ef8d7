package query

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// told is one random series as the oracle knows it: what was said of its price
// at which moments, and the moments at which a source stated it.
type told struct {
	legs []leg
	at   []time.Time // of the legs
	rows []gputide.Observation
}

// priceAt returns the price in force, nil for none.
func (s *told) priceAt(at time.Time) *big.Rat {
	var price *big.Rat
	for i, l := range s.legs {
		if s.at[i].After(at) {
			break
		}
		price = nil
		if l.price != "" && l.price != "-" {
			price, _ = new(big.Rat).SetString(l.price)
		}
	}
	return price
}

// tell adds a random series: prices of a few values, gaps, withdrawals and
// repeated prices, all at whole hours, the last until now.
func (w *world) tell(rng *rand.Rand, k gputide.Key, start time.Time) *told {
	s := &told{}
	for at := start.Add(time.Duration(rng.IntN(40)) * time.Hour); at.Before(noon); at = at.Add(time.Duration(1+rng.IntN(30)) * time.Hour) {
		price := []string{"", "-", "1", "1.5", "2", "2.25", "0.7", "3.000000001"}[rng.IntN(8)]
		if len(s.legs) == 0 && (price == "" || price == "-") {
			price = "1"
		}
		s.legs, s.at = append(s.legs, leg{at.Format(time.RFC3339), price}), append(s.at, at)
	}
	id := w.series(k, s.legs...)
	for at := s.at[0]; at.Before(noon); at = at.Add(time.Hour) {
		if p := s.priceAt(at); p != nil && (slices.ContainsFunc(s.at, at.Equal) || rng.IntN(3) == 0) {
			n, _ := gputide.RoundNano(p)
			s.rows = append(s.rows, gputide.Observation{At: at, Price: n})
		}
	}
	w.rows[id] = s.rows
	return s
}

// bucketOracle is what the series of a group were in one bucket.
type bucketOracle struct {
	prices, firsts, lasts oracle
	rows, series, changes int
	entered, left         int
	covered               int64
	length                int64
	means                 map[int]*big.Rat // of the series, by number
}

// watch walks through [from, to) hour by hour and returns what was in force.
func (s *told) watch(from, to time.Time, over Over, per func(*big.Rat) *big.Rat) (prices oracle, covered int64) {
	for at := from; at.Before(to); {
		next := earlier(at.Truncate(time.Hour).Add(time.Hour), to)
		if p := s.priceAt(at); p != nil {
			covered += next.Unix() - at.Unix()
			if over == OverTime {
				prices.add(per(p), uint64(next.Unix()-at.Unix()))
			}
		}
		at = next
	}
	for _, o := range s.rows {
		if over == OverRows && !o.At.Before(from) && o.At.Before(to) {
			prices.add(per(o.Price.Rat()), 1)
		}
	}
	return prices, covered
}

// changesIn counts the moves dated in [from, to): from the last price known,
// through gaps and withdrawals.
func (s *told) changesIn(from, to time.Time) int {
	n, last := 0, ""
	for i, l := range s.legs {
		if l.price == "" || l.price == "-" {
			continue
		}
		if last != "" && last != l.price && !s.at[i].Before(from) && s.at[i].Before(to) {
			n++
		}
		last = l.price
	}
	return n
}

// watchAll returns what the series were in the buckets, those of a fixed basket
// only where basket is set.
func watchAll(all []*told, b *buckets, over Over, per func(*big.Rat) *big.Rat, basket bool) []bucketOracle {
	out := make([]bucketOracle, len(b.starts))
	for i := range out {
		from, to := b.bounds(i)
		out[i].length, out[i].means = to-from, map[int]*big.Rat{}
	}
	for number, s := range all {
		cells := make([]oracle, len(out))
		covered := make([]int64, len(out))
		present := 0
		for i := range out {
			from, to := b.bounds(i)
			cells[i], covered[i] = s.watch(timeOf(from), timeOf(to), over, per)
			if len(cells[i].values) > 0 {
				present++
			}
		}
		if present == 0 || (basket && present < len(out)) {
			continue
		}
		before := s.priceAt(timeOf(b.from-1)) != nil
		for i := range out {
			from, to := b.bounds(i)
			c, here := &out[i], len(cells[i].values) > 0
			c.changes += s.changesIn(timeOf(from), timeOf(to))
			switch {
			case here && !before:
				c.entered++
			case !here && before:
				c.left++
			}
			if before = here; !here {
				continue
			}
			c.series++
			c.rows += len(cells[i].values)
			c.covered += covered[i]
			c.means[number] = cells[i].mean()
			c.prices.values, c.prices.weights = append(c.prices.values, cells[i].values...), append(c.prices.weights, cells[i].weights...)
			c.firsts.add(cells[i].values[0], 1)
			c.lasts.add(cells[i].values[len(cells[i].values)-1], 1)
		}
	}
	return out
}

// at is a percentile on a basis.
func (o *oracle) at(over Over, pct int64) *big.Rat {
	if over == OverTime {
		return o.reach(pct)
	}
	return o.linear(pct)
}

// levels chains the geometric means of the moves of matched series from 100.
func levels(all []bucketOracle) map[int]float64 {
	out := map[int]float64{}
	level, before := 100.0, -1
	for i := range all {
		if all[i].series == 0 {
			continue
		}
		if before >= 0 {
			var sum, n float64
			for number, mean := range all[i].means {
				if old := all[before].means[number]; old != nil {
					move, _ := new(big.Rat).Quo(mean, old).Float64()
					sum, n = sum+math.Log(move), n+1
				}
			}
			if n == 0 {
				return out
			}
			level *= math.Exp(sum / n)
		}
		out[i], before = level, i
	}
	return out
}

// A trend of any series, over any window, on both bases, is that of an oracle
// that asks hour by hour what was in force and adds up in exact numbers.
func TestTrendIsTheOracles(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	start := moment(t, "2026-09-20")
	for round := range 40 {
		w := newWorld(t)
		var all []*told
		for i := range 1 + rng.IntN(5) {
			typ := fmt.Sprintf("m%d", i)
			w.shape("aws", "", typ, "l4-24gb", 3, 1)
			all = append(all, w.tell(rng, gputide.Key{Provider: "aws", InstanceType: typ}, start))
		}
		from := start.Add(time.Duration(rng.IntN(240*3600)) * time.Second).Truncate([]time.Duration{time.Second, time.Hour}[rng.IntN(2)])
		length := []time.Duration{time.Second, time.Hour, 50 * time.Hour, 300 * time.Hour}[rng.IntN(4)]
		to := earlier(from.Add(length), noon)
		req := TrendRequest{
			From: from, To: to, Over: []string{"time", "rows"}[round%2], Bucket: []string{"hour", "day", "week", "all"}[rng.IntN(4)],
			Index: true, Budget: "0.5", Per: []string{"instance", "gpu"}[rng.IntN(2)],
		}
		if rng.IntN(3) == 0 {
			req.Basket = BasketFixed
		}
		checkTrend(t, fmt.Sprintf("round %d: %+v", round, req), w, all, req)
	}
}

func checkTrend(t *testing.T, name string, w *world, all []*told, req TrendRequest) {
	t.Helper()
	per := func(p *big.Rat) *big.Rat { return p }
	if req.Per == "gpu" {
		per = func(p *big.Rat) *big.Rat {
			return gputide.Nano(*rounded(t, new(big.Rat).Quo(p, big.NewRat(3, 1)))).Rat()
		}
	}
	b, err := newBuckets(req.Bucket, req.From, req.To)
	if err != nil {
		t.Fatal(err)
	}
	over := Over(req.Over)
	want := watchAll(all, b, over, per, req.Basket != "")
	index := levels(want)
	ans := w.trend(req)
	shown := map[int]bool{}
	for i := range ans.Rows {
		r := &ans.Rows[i]
		at := b.at(r.BucketStart.Unix())
		shown[at] = true
		checkBucket(t, fmt.Sprintf("%s: %s", name, r.BucketStart), r, &want[at], over)
		level, has := index[at]
		if has != (r.Index != nil) || (has && math.Abs(r.Index.Float()-level) > 1e-5*level) {
			t.Errorf("%s: %s: index %v, want %v", name, r.BucketStart, r.Index, level)
		}
	}
	for i := range want {
		if c := &want[i]; !shown[i] && c.series+c.entered+c.left > 0 {
			t.Errorf("%s: bucket %d is not in the answer: %+v", name, i, c)
		}
	}
}

func checkBucket(t *testing.T, name string, r *TrendRow, c *bucketOracle, over Over) {
	t.Helper()
	n := c.series
	if over == OverRows {
		n = c.rows
	}
	got := fmt.Sprint(r.N, r.Series, r.Changes, r.Entered, r.Left)
	if want := fmt.Sprint(n, c.series, c.changes, c.entered, c.left); got != want {
		t.Errorf("%s: n, series, changes, entered, left are %s, want %s", name, got, want)
	}
	same := func(field string, got, want any) {
		t.Helper()
		sameJSON(t, name+": "+field, got, want)
	}
	if c.series == 0 {
		same("mean", r.Mean, nil)
		same("covered_share", r.CoveredShare, NewFraction(new(big.Rat)))
		return
	}
	same("covered_share", r.CoveredShare, NewFraction(big.NewRat(c.covered, c.length*int64(c.series))))
	same("min", r.Min, rounded(t, slices.MinFunc(c.prices.values, (*big.Rat).Cmp)))
	same("max", r.Max, rounded(t, slices.MaxFunc(c.prices.values, (*big.Rat).Cmp)))
	same("mean", r.Mean, rounded(t, c.prices.mean()))
	same("p5", r.P5, rounded(t, c.prices.at(over, 5)))
	same("p50", r.P50, rounded(t, c.prices.at(over, 50)))
	same("p95", r.P95, rounded(t, c.prices.at(over, 95)))
	same("first", r.First, rounded(t, c.firsts.at(over, 50)))
	same("last", r.Last, rounded(t, c.lasts.at(over, 50)))
	var under, whole uint64
	for i, v := range c.prices.values {
		whole += c.prices.weights[i]
		if v.Cmp(big.NewRat(1, 2)) <= 0 {
			under += c.prices.weights[i]
		}
	}
	same("share_of_time_le", r.ShareOfTimeLE, share(under, whole))
}
