package store

import (
	"math/bits"
	"slices"
)

// histEncoder writes a block.
type histEncoder struct {
	moments []uint32
	common  histParams
	num     []uint64 // scratch
}

// encodeHistBlock encodes entries, in key order, as one block: with a list of
// every moment, or of those that two entries share, whichever is shorter.
func encodeHistBlock(entries []histEntry) []byte {
	all, shared := blockMoments(entries)
	best := encodeHist(entries, all)
	if len(shared) < len(all) {
		if b := encodeHist(entries, shared); len(b) < len(best) {
			best = b
		}
	}
	return best
}

func encodeHist(entries []histEntry, moments []uint32) []byte {
	enc := histEncoder{moments: moments}
	enc.choose(entries)
	var body bitWriter
	lengths := make([]int, len(entries))
	width := 0
	for i := range entries {
		start := body.n
		enc.entry(&body, &entries[i])
		lengths[i] = body.n - start
		width = max(width, bits.Len(uint(lengths[i])))
	}
	var w bitWriter
	w.number(uint64(len(entries)))
	w.put(uint64(enc.common.scale), histScaleBits)
	w.put(uint64(enc.common.times), histParamBits)
	w.put(uint64(enc.common.prices), histParamBits)
	putMoments(&w, enc.moments)
	w.put(uint64(width), 6)
	prev := int64(-1)
	for i := range entries {
		e := &entries[i]
		plain := int64(e.sid) == prev+1 && e.year == 0
		w.flag(plain)
		if !plain {
			w.number(uint64(int64(e.sid) - prev))
			w.put(uint64(e.year), 16)
		}
		prev = int64(e.sid)
		w.put(uint64(lengths[i]), width)
	}
	at := 0
	for ; at+8 <= body.n; at += 8 {
		w.put(uint64(body.b[at/8]), 8)
	}
	if at < body.n {
		w.put(uint64(body.b[at/8]), body.n-at)
	}
	return w.b
}

// blockMoments returns the moments at which an entry has events, in order, and
// those at which two have.
func blockMoments(entries []histEntry) (all, shared []uint32) {
	var every []uint32
	for i := range entries {
		n := len(every)
		for _, e := range entries[i].events {
			if len(every) == n || every[len(every)-1] != e.at {
				every = append(every, e.at)
			}
		}
	}
	slices.Sort(every)
	for i := 0; i < len(every); {
		j := i + 1
		for j < len(every) && every[j] == every[i] {
			j++
		}
		all = append(all, every[i])
		if j > i+1 {
			shared = append(shared, every[i])
		}
		i = j
	}
	return all, shared
}

func putMoments(w *bitWriter, moments []uint32) {
	w.number(uint64(len(moments)))
	if len(moments) == 0 {
		return
	}
	w.put(uint64(moments[0]), 32)
	least := uint32(maxSeconds)
	for i := 1; i < len(moments); i++ {
		least = min(least, moments[i]-moments[i-1])
	}
	steps := make([]uint64, 0, len(moments))
	for i := 1; i < len(moments); i++ {
		steps = append(steps, uint64(moments[i]-moments[i-1]-least))
	}
	w.put(uint64(least), 32)
	if slices.Max(append(steps, 0)) == 0 {
		w.put(histSteady, histParamBits)
		return
	}
	k := riceFor(steps)
	w.put(uint64(k), histParamBits)
	for _, s := range steps {
		w.rice(s, k)
	}
}

// choose finds the common parameters.
func (enc *histEncoder) choose(entries []histEntry) {
	var times, prices []uint64
	votes := [maxScale + 1]int{}
	for i := range entries {
		e := &entries[i]
		votes[scaleOf(e.base, e.events)]++
		t, _ := enc.steps(e)
		times = append(times, t...)
	}
	enc.common.times = riceFor(times)
	for s, n := range votes {
		if n > votes[enc.common.scale] {
			enc.common.scale = s
		}
	}
	for i := range entries {
		e := &entries[i]
		prices = append(prices, enc.moves(e, scaleOf(e.base, e.events))...)
	}
	enc.common.prices = riceFor(prices)
}

// steps returns the distances between the moments of an entry after the first:
// as numbers of the list, or in seconds where one is not in it. The result holds
// until the next call.
func (enc *histEncoder) steps(e *histEntry) (steps []uint64, listed bool) {
	steps, listed = enc.num[:0], len(e.events) > 0
	prev := 0
	for i, v := range e.events {
		n, ok := slices.BinarySearch(enc.moments, v.at)
		if !ok {
			listed = false
			break
		}
		if i > 0 {
			steps = append(steps, uint64(n-prev))
		}
		prev = n
	}
	if !listed {
		steps = steps[:0]
		for i := 1; i < len(e.events); i++ {
			steps = append(steps, uint64(e.events[i].at-e.events[i-1].at))
		}
	}
	enc.num = steps
	return steps, listed
}

// moves returns the price steps of an entry after its first price, where they
// fit.
func (enc *histEncoder) moves(e *histEntry, scale int) (out []uint64) {
	price, first := e.base.price, true
	for _, v := range e.events {
		if v.kind != kindPrice {
			continue
		}
		if z, ok := priceStep(price, v.val, scale); ok && !first {
			out = append(out, z)
		}
		price, first = v.val, false
	}
	return out
}

// priceStep returns the zigzag form of a price step, and false when it does not
// fit.
func priceStep(before, after int64, scale int) (uint64, bool) {
	d := after - before
	if (after >= before) != (d >= 0) {
		return 0, false
	}
	return zigzag(d / pow10[scale]), true
}

// entry writes the events of one chunk.
func (enc *histEncoder) entry(w *bitWriter, e *histEntry) {
	scale := scaleOf(e.base, e.events)
	own := e.continued || scale != enc.common.scale
	w.flag(own)
	if own {
		w.put(uint64(scale), histScaleBits)
		w.flag(e.continued)
		if e.continued {
			w.put(uint64(e.base.at), 32)
			w.number(zigzag(e.base.price / pow10[scale]))
		}
	}
	w.rice(uint64(len(e.events)), histCountRice)
	if len(e.events) == 0 {
		return
	}
	steps, listed := enc.steps(e)
	w.flag(listed)
	if listed {
		n, _ := slices.BinarySearch(enc.moments, e.events[0].at)
		w.number(uint64(n))
	} else {
		w.put(uint64(e.events[0].at), 32)
	}
	kt := param(w, enc.common.times, steps)
	kp := param(w, enc.common.prices, enc.moves(e, scale))
	price, first := e.base.price, true
	for i, v := range e.events {
		if i > 0 {
			w.rice(steps[i-1], kt)
		}
		z, fits := uint64(0), true
		k := v.kind
		if k == kindPrice {
			if z, fits = priceStep(price, v.val, scale); !fits {
				k = kindWide
			}
		}
		w.flag(k != kindPrice)
		if k != kindPrice {
			w.put(uint64(k), kindBits)
		}
		switch {
		case k == kindWide:
			w.put(uint64(v.val), 64)
		case k == kindPrice && first:
			w.number(z)
		case k == kindPrice:
			w.rice(z, kp)
		case k == kindMoved, k == kindHeld:
			w.number(uint64(v.val))
		}
		if v.kind == kindPrice {
			price, first = v.val, false
		}
	}
}

// param writes the parameter of a code: that of the block unless its own saves
// more than it takes.
func param(w *bitWriter, common int, values []uint64) int {
	own := riceFor(values)
	if riceSum(values, own)+histParamBits >= riceSum(values, common) {
		own = common
	}
	w.flag(own != common)
	if own != common {
		w.put(uint64(own), histParamBits)
	}
	return own
}
