package query

import (
	"cmp"
	"math/bits"
	"slices"
)

// The digits prices are sorted by, and from how many prices on that is quicker
// than comparing them.
const (
	radixBits = 11
	radixFrom = 256
)

// sortPrices sorts by value. Many prices are sorted digit by digit, the lowest
// first, of their distance from the least: a bucket of a trend holds thousands,
// and they lie close together.
func sortPrices(list []sample[int64]) {
	if len(list) < radixFrom {
		slices.SortFunc(list, func(a, b sample[int64]) int { return cmp.Compare(a.value, b.value) })
		return
	}
	least, greatest := list[0].value, list[0].value
	for _, x := range list {
		least, greatest = min(least, x.value), max(greatest, x.value)
	}
	from, to := list, make([]sample[int64], len(list))
	for shift := 0; shift < bits.Len64(uint64(greatest)-uint64(least)); shift += radixBits {
		radixPass(to, from, least, shift)
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
}

// radixPass copies prices in order of one digit; those of the same digit keep
// their order.
func radixPass(to, from []sample[int64], least int64, shift int) {
	const mask = 1<<radixBits - 1
	var next [1 << radixBits]int
	digit := func(v int64) int { return int((uint64(v) - uint64(least)) >> shift & mask) }
	for _, x := range from {
		next[digit(x.value)]++
	}
	sum := 0
	for i, n := range next {
		next[i] = sum
		sum += n
	}
	for _, x := range from {
		d := digit(x.value)
		to[next[d]] = x
		next[d]++
	}
}
