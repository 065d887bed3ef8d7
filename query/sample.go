package query

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"

	"github.com/gputide/gputide"
)

// sample is a value with its weight: the seconds it was in force, or the rows
// that state it.
type sample[V any] struct {
	value  V
	weight uint64
}

// settleAfter is how many samples are gathered before equal values are merged.
const settleAfter = 4096

// samples gathers values for percentiles. Equal values are kept once, so it
// grows with the number of different values and not with the length of history.
type samples[V any] struct {
	compare func(a, b V) int
	sort    func(list []sample[V]) // by compare
	list    []sample[V]
	settled int // length when last settled
	weight  uint64
}

func newSamples[V any](compare func(a, b V) int) *samples[V] {
	return &samples[V]{compare: compare, sort: func(list []sample[V]) {
		slices.SortFunc(list, func(a, b sample[V]) int { return compare(a.value, b.value) })
	}}
}

// newPrices gathers prices.
func newPrices() *samples[int64] {
	return &samples[int64]{compare: cmp.Compare[int64], sort: sortPrices}
}

func (s *samples[V]) add(v V, weight uint64) {
	if weight == 0 {
		return
	}
	s.weight += weight
	s.list = append(s.list, sample[V]{v, weight})
	if len(s.list) > 2*s.settled+settleAfter {
		s.settle()
	}
}

// settle sorts the samples and merges equal ones.
func (s *samples[V]) settle() {
	if s.settled == len(s.list) {
		return
	}
	s.sort(s.list)
	out := s.list[:1]
	for _, x := range s.list[1:] {
		if last := &out[len(out)-1]; s.compare(last.value, x.value) == 0 {
			last.weight += x.weight
			continue
		}
		out = append(out, x)
	}
	s.list, s.settled = out, len(out)
}

// ends returns the least and the greatest value; there must be one.
func (s *samples[V]) ends() (least, greatest V) {
	s.settle()
	return s.list[0].value, s.list[len(s.list)-1].value
}

// reach returns the smallest value whose cumulated weight reaches pct percent
// of the whole.
func (s *samples[V]) reach(pct uint64) V {
	s.settle()
	wantHi, wantLo := bits.Mul64(s.weight, pct)
	var sum uint64
	for _, x := range s.list {
		sum += x.weight
		hi, lo := bits.Mul64(sum, 100)
		if hi > wantHi || (hi == wantHi && lo >= wantLo) {
			return x.value
		}
	}
	return s.list[len(s.list)-1].value
}

// between returns the values on both sides of position (n-1)·pct/100 of the
// sorted rows, and how many hundredths of the way from the first to the second
// the position lies.
func (s *samples[V]) between(pct uint64) (below, above V, hundredths uint64) {
	s.settle()
	hi, lo := bits.Mul64(s.weight-1, pct)
	at, rest := bits.Div64(hi, lo, 100)
	return s.nth(at), s.nth(min(at+1, s.weight-1)), rest
}

// nth returns the row at a position of the sorted rows.
func (s *samples[V]) nth(i uint64) V {
	for _, x := range s.list {
		if i < x.weight {
			return x.value
		}
		i -= x.weight
	}
	return s.list[len(s.list)-1].value
}

// within returns the weight of the values a test accepts.
func (s *samples[V]) within(accept func(V) bool) uint64 {
	var sum uint64
	for _, x := range s.list {
		if accept(x.value) {
			sum += x.weight
		}
	}
	return sum
}

// percentile returns a percentile of prices on a basis; there must be one.
func percentile(s *samples[int64], over Over, pct uint64) int64 {
	if over == OverTime {
		return s.reach(pct)
	}
	below, above, hundredths := s.between(pct)
	return interpolate(below, above, hundredths)
}

// interpolate returns below + (above-below)·hundredths/100 rounded half-even.
func interpolate(below, above int64, hundredths uint64) int64 {
	const whole, half = 100, 50
	hi, lo := bits.Mul64(uint64(above)-uint64(below), hundredths)
	step, rest := bits.Div64(hi, lo, whole)
	v := below + int64(step)
	if rest > half || (rest == half && v&1 != 0) {
		v++
	}
	return v
}

// mean returns the weighted mean of prices, exact to the rounding half-even at
// the end; there must be one. The sums need 128 bits.
func mean(s *samples[int64]) int64 {
	var sum wide
	for _, x := range s.list {
		sum.add(x.value, x.weight)
	}
	return sum.over(s.weight)
}

// wide is a sum of products of 64 bits, in two parts of 128: of what was added
// and of what was taken away.
type wide struct{ plus, minus [2]uint64 }

func (w *wide) add(value int64, weight uint64) {
	into, size := &w.plus, uint64(value)
	if value < 0 {
		into, size = &w.minus, -size
	}
	hi, lo := bits.Mul64(size, weight)
	var carry uint64
	into[1], carry = bits.Add64(into[1], lo, 0)
	into[0], _ = bits.Add64(into[0], hi, carry)
}

// over returns the sum divided by the weight of everything added, rounded
// half-even.
func (w *wide) over(weight uint64) int64 {
	a, b, negative := w.plus, w.minus, false
	if a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]) {
		a, b, negative = b, a, true
	}
	lo, borrow := bits.Sub64(a[1], b[1], 0)
	hi, _ := bits.Sub64(a[0], b[0], borrow)
	q, rest := bits.Div64(hi, lo, weight) // a mean of int64 fits, so hi is below weight
	if up := weight - rest; rest > up || (rest == up && q&1 != 0) {
		q++
	}
	if negative {
		return -int64(q)
	}
	return int64(q)
}

// ratio is a price over the price it is compared with, both above zero.
type ratio struct{ num, den int64 }

// byDiscount orders ratios by the discount they mean, least first.
func byDiscount(a, b ratio) int {
	ah, al := bits.Mul64(uint64(a.num), uint64(b.den))
	bh, bl := bits.Mul64(uint64(b.num), uint64(a.den))
	if n := cmp.Compare(bh, ah); n != 0 {
		return n
	}
	return cmp.Compare(bl, al)
}

// discount returns 1 - ratio.
func (r ratio) discount() *big.Rat {
	return new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(r.num, r.den))
}

// discountPercentile returns a percentile of discounts; there must be one.
func discountPercentile(s *samples[ratio], over Over, pct uint64) *big.Rat {
	if over == OverTime {
		return s.reach(pct).discount()
	}
	below, above, hundredths := s.between(pct)
	step := new(big.Rat).Sub(above.discount(), below.discount())
	step.Mul(step, big.NewRat(int64(hundredths), 100))
	return step.Add(step, below.discount())
}

// ratioOf returns the ratio of two prices above zero.
func ratioOf(price, reference gputide.Nano) ratio { return ratio{int64(price), int64(reference)} }
