package store

import (
	"encoding/binary"
	"math/bits"
)

// Bits are written from the low end of each byte up.

const (
	// riceEscape zeros say that a value stands in full: it is too large for the
	// parameter.
	riceEscape = 24

	maxRice = 57 // bits that one load is sure to hold
)

// bitWriter appends numbers to a string of bits.
type bitWriter struct {
	b []byte
	n int // bits in b
}

// put appends the low bits of v, width of them.
func (w *bitWriter) put(v uint64, width int) {
	for width > 0 {
		if w.n&7 == 0 {
			w.b = append(w.b, 0)
		}
		free := 8 - w.n&7
		take := min(free, width)
		w.b[len(w.b)-1] |= byte(v&(1<<take-1)) << (w.n & 7)
		v >>= take
		w.n += take
		width -= take
	}
}

func (w *bitWriter) flag(b bool) {
	v := uint64(0)
	if b {
		v = 1
	}
	w.put(v, 1)
}

// number appends v as its length in six bits and its bits.
func (w *bitWriter) number(v uint64) {
	n := max(bits.Len64(v), 1)
	w.put(uint64(n-1), 6)
	w.put(v, n)
}

// rice appends v with parameter k: v>>k zeros and a one, then k bits.
func (w *bitWriter) rice(v uint64, k int) {
	q := v >> k
	if q >= riceEscape {
		w.put(0, riceEscape)
		w.number(v)
		return
	}
	w.put(1<<q, int(q)+1)
	w.put(v, k)
}

// riceBits is how many bits rice takes.
func riceBits(v uint64, k int) int {
	if q := v >> k; q < riceEscape {
		return int(q) + 1 + k
	}
	return riceEscape + 6 + max(bits.Len64(v), 1)
}

// riceFor returns the parameter that suits values best.
func riceFor(values []uint64) int {
	if len(values) == 0 {
		return 0
	}
	var sum, carry uint64
	for _, v := range values {
		var c uint64
		sum, c = bits.Add64(sum, v, 0)
		carry += c
	}
	guess := maxRice - 1
	if carry == 0 {
		guess = bits.Len64(sum / uint64(len(values)))
	}
	best, least := 0, -1
	for k := max(guess-4, 0); k <= min(guess+1, maxRice-1); k++ {
		if n := riceSum(values, k); least < 0 || n < least {
			best, least = k, n
		}
	}
	return best
}

func riceSum(values []uint64, k int) int {
	n := 0
	for _, v := range values {
		n += riceBits(v, k)
	}
	return n
}

// bitReader takes numbers off a string of bits. The first read past the end
// sticks.
type bitReader struct {
	b   []byte
	at  int // next bit
	end int // bits there are
	bad bool
}

func newBitReader(data []byte) bitReader { return bitReader{b: data, end: 8 * len(data)} }

// peek returns the next bits, maxRice at least; those behind the end are void.
func (r *bitReader) peek() uint64 {
	const word = 8
	if i := r.at >> 3; i <= len(r.b)-word {
		return binary.LittleEndian.Uint64(r.b[i:]) >> (r.at & 7)
	}
	var last [word]byte // the data may be the end of what can be read
	copy(last[:], r.b[min(r.at>>3, len(r.b)):])
	return binary.LittleEndian.Uint64(last[:]) >> (r.at & 7)
}

// skip moves on, not past the end.
func (r *bitReader) skip(n int) {
	if n > r.end-r.at {
		r.bad, n = true, r.end-r.at
	}
	r.at += n
}

// take takes w bits.
func (r *bitReader) take(w int) uint64 {
	if w > maxRice {
		low := r.take(32)
		return low | r.take(w-32)<<32
	}
	v := r.peek() & (1<<w - 1)
	r.skip(w)
	return v
}

func (r *bitReader) flag() bool { return r.take(1) == 1 }

func (r *bitReader) number() uint64 {
	n := int(r.take(6)) + 1
	return r.take(n)
}

// rice is the inverse of the writer's.
func (r *bitReader) rice(k int) uint64 {
	q := bits.TrailingZeros64(r.peek() | 1<<riceEscape)
	if q == riceEscape {
		r.skip(riceEscape)
		return r.number()
	}
	r.skip(q + 1)
	return uint64(q)<<k | r.take(k)
}
