package query

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gputide/gputide"
)

// oracle computes statistics the slow way, in exact rational numbers, over every
// unit of weight where the weights are small.
type oracle struct {
	values  []*big.Rat
	weights []uint64
}

func (o *oracle) add(v *big.Rat, w uint64) {
	o.values = append(o.values, v)
	o.weights = append(o.weights, w)
}

func (o *oracle) total() *big.Rat {
	sum := new(big.Rat)
	for _, w := range o.weights {
		sum.Add(sum, whole(w))
	}
	return sum
}

func whole(w uint64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(w)) }

func (o *oracle) mean() *big.Rat {
	sum := new(big.Rat)
	for i, v := range o.values {
		sum.Add(sum, new(big.Rat).Mul(v, whole(o.weights[i])))
	}
	return sum.Quo(sum, o.total())
}

// reach is the smallest value whose cumulated weight reaches the share: for
// every value in turn the weight of all values not above it is summed.
func (o *oracle) reach(pct int64) *big.Rat {
	want := new(big.Rat).Mul(o.total(), big.NewRat(pct, 100))
	var best *big.Rat
	for _, v := range o.values {
		sum := new(big.Rat)
		for j, x := range o.values {
			if x.Cmp(v) <= 0 {
				sum.Add(sum, whole(o.weights[j]))
			}
		}
		if sum.Cmp(want) >= 0 && (best == nil || v.Cmp(best) < 0) {
			best = v
		}
	}
	return best
}

// linear is the value at position (n-1)·pct/100 between closest ranks; every
// weight must be a number of rows.
func (o *oracle) linear(pct int64) *big.Rat {
	var rows []*big.Rat
	for i, v := range o.values {
		for range o.weights[i] {
			rows = append(rows, v)
		}
	}
	slices.SortFunc(rows, func(a, b *big.Rat) int { return a.Cmp(b) })
	pos := big.NewRat(int64(len(rows)-1)*pct, 100)
	k := new(big.Int).Quo(pos.Num(), pos.Denom()).Int64()
	frac := new(big.Rat).Sub(pos, new(big.Rat).SetInt64(k))
	step := new(big.Rat).Sub(rows[min(int(k)+1, len(rows)-1)], rows[k])
	return step.Add(rows[k], step.Mul(step, frac))
}

func nano(t *testing.T, r *big.Rat) int64 {
	t.Helper()
	v, err := gputide.RoundScaled(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPriceStatisticsAreTheOracles(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	for round := range 900 {
		s, o := newPrices(), &oracle{}
		rows := round%2 == 0
		scale := []int64{3, 1000, int64(gputide.MaxNano)}[round%3]
		for range 1 + rng.IntN(40) {
			v, w := 1+rng.Int64N(scale), 1+rng.Uint64N(4)
			if !rows {
				w = 1 + rng.Uint64N(10*366*86400)
			}
			s.add(v, w)
			o.add(new(big.Rat).SetInt64(v), w)
		}
		if got, want := mean(settled(s)), nano(t, o.mean()); got != want {
			t.Fatalf("round %d: mean %d, want %d of %v", round, got, want, s.list)
		}
		for _, pct := range []uint64{0, 5, 50, 95, 100} {
			over, want := OverTime, o.reach(int64(pct))
			if rows {
				over, want = OverRows, o.linear(int64(pct))
			}
			if got := percentile(s, over, pct); got != nano(t, want) {
				t.Fatalf("round %d: p%d over %s is %d, want %s of %v", round, pct, over, got, want, s.list)
			}
		}
	}
}

func settled(s *samples[int64]) *samples[int64] {
	s.settle()
	return s
}

func TestDiscountStatisticsAreTheOracles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		s, o := newSamples(byDiscount), &oracle{}
		scale := []int64{4, 5000, int64(gputide.MaxNano)}[round%3]
		for range 1 + rng.IntN(25) {
			r, w := ratio{1 + rng.Int64N(scale), 1 + rng.Int64N(scale)}, 1+rng.Uint64N(3)
			s.add(r, w)
			o.add(r.discount(), w)
		}
		for _, pct := range []uint64{5, 50, 95} {
			if got, want := discountPercentile(s, OverTime, pct), o.reach(int64(pct)); got.Cmp(want) != 0 {
				t.Fatalf("round %d: p%d over time is %s, want %s", round, pct, got, want)
			}
			if got, want := discountPercentile(s, OverRows, pct), o.linear(int64(pct)); got.Cmp(want) != 0 {
				t.Fatalf("round %d: p%d over rows is %s, want %s", round, pct, got, want)
			}
		}
		limit := big.NewRat(rng.Int64N(100)-50, 100)
		want := uint64(0)
		for i, v := range o.values {
			if v.Cmp(limit) >= 0 {
				want += o.weights[i]
			}
		}
		if got := s.within(func(r ratio) bool { return r.discount().Cmp(limit) >= 0 }); got != want {
			t.Fatalf("round %d: %d at or above %s, want %d", round, got, limit, want)
		}
	}
}

// Ten years at the dearest price there is overflow 64 bits a million times over.
func TestSumsAreExactAtTheLimit(t *testing.T) {
	const tenYears = 10 * 366 * 86400
	s := newPrices()
	for range 5000 {
		s.add(int64(gputide.MaxNano), tenYears)
	}
	s.add(int64(gputide.MaxNano)-1, 1)
	if got := mean(settled(s)); got != int64(gputide.MaxNano) {
		t.Errorf("mean %d", got)
	}
	for _, tt := range []struct {
		values []int64
		want   int64
	}{
		{[]int64{1, 2}, 2}, // 1.5 to even
		{[]int64{2, 3}, 2}, // 2.5 to even
		{[]int64{-1, -2}, -2},
		{[]int64{-2, -3}, -2},
		{[]int64{-5, 5}, 0},
		{[]int64{-(1 << 62), 1 << 62, 9}, 3},
	} {
		var w wide
		for _, v := range tt.values {
			w.add(v, 1)
		}
		if got := w.over(uint64(len(tt.values))); got != tt.want {
			t.Errorf("mean of %v is %d, want %d", tt.values, got, tt.want)
		}
	}
}

func TestSamplesStaySmall(t *testing.T) {
	s := newPrices()
	for i := range 1_000_000 {
		s.add(int64(i%50), 2)
	}
	if len(s.list) > 2*settleAfter || s.weight != 2_000_000 {
		t.Errorf("%d samples kept, weight %d", len(s.list), s.weight)
	}
}

func TestFractions(t *testing.T) {
	for text, want := range map[string]string{"1/2": "0.5", "1/3": "0.333333", "2/3": "0.666667", "1": "1", "0": "0", "-1/8": "-0.125", "100": "100"} {
		r, _ := new(big.Rat).SetString(text)
		if got := NewFraction(r); got == nil || got.String() != want {
			t.Errorf("%s is %v, want %s", text, got, want)
		}
	}
	if NewFraction(new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), 80), big.NewInt(1))) != nil {
		t.Error("a fraction that does not fit is given")
	}
	if share(1, 0) != nil || decimalOf(0) != nil || decimalOf(989.4).Cmp(big.NewRat(9894, 10)) != 0 {
		t.Error("share of nothing, or a figure that is not the printed one")
	}
	var f Fraction
	if err := f.UnmarshalJSON([]byte("0.25")); err != nil || f != 250_000 {
		t.Errorf("%d, %v", f, err)
	}
}

func TestScaledIsTheExactConversion(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		price := gputide.Nano(1 + rng.Int64N(int64(gputide.MaxNano)>>rng.IntN(62)))
		num, den := 1+rng.Uint64()>>rng.IntN(64), 1+rng.Uint64()>>(1+rng.IntN(63))
		if num == 0 {
			num = 1
		}
		exact := price.Rat()
		exact.Mul(exact, new(big.Rat).SetFrac(new(big.Int).SetUint64(num), new(big.Int).SetUint64(den)))
		want, err := gputide.RoundNano(exact)
		got, fits := scaled(price, num, den)
		if fits != (err == nil) || (fits && got != int64(want)) {
			t.Fatalf("%s·%d/%d is %d, %t; want %d, %v", price, num, den, got, fits, want, err)
		}
	}
}

// Prices sorted by digits stand as they stand sorted by comparing.
func TestSortPrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for round := range 200 {
		list := make([]sample[int64], rng.IntN(4*radixFrom))
		low, width := rng.Int64N(1<<40)-1<<39, uint64(1)<<rng.IntN(64)
		if round%10 == 0 {
			low = math.MinInt64
		}
		for i := range list {
			list[i] = sample[int64]{int64(uint64(low) + rng.Uint64()%width), uint64(i)}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b sample[int64]) int { return cmp.Compare(a.value, b.value) })
		sortPrices(list)
		for i := range list {
			if list[i].value != want[i].value || (len(list) >= radixFrom && list[i] != want[i]) {
				t.Fatalf("round %d: place %d of %d holds %v, want %v", round, i, len(list), list[i], want[i])
			}
		}
	}
}
