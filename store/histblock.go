package store

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// A block of histories holds the chunks of many neighbouring series. Their
// moments are numbers of one list where two of them share it, most often the
// nights of their scope; what differs from series to series is written to the
// bit, so that one is read without the others.

const (
	histCountRice = 3  // of the number of events
	histParamBits = 6  // of a parameter of a code
	histSteady    = 63 // in the place of a parameter: all moments are as far apart
	histScaleBits = 5  // of a power of ten
	maxHistCount  = 1 << 20
)

// histEntry is one chunk.
type histEntry struct {
	sid, year uint32 // year 0: all years
	continued bool
	base      base
	events    []event
}

// readHistEntry decodes a chunk of the hist bucket.
func readHistEntry(key, chunk []byte) (e histEntry, err error) {
	if len(key) != 4 && len(key) != 6 {
		return e, corrupt("hist", "key of %d bytes", len(key))
	}
	e.sid = be32(key)
	if len(key) == 6 {
		e.year = uint32(binary.BigEndian.Uint16(key[4:]))
	}
	if e.events, _, err = decodeChunk(nil, chunk); err != nil {
		return e, err
	}
	e.continued, e.base = baseOf(chunk)
	return e, nil
}

// baseOf returns what a chunk that decodes continues.
func baseOf(chunk []byte) (continued bool, b base) {
	if chunk[0]&flagContinued == 0 {
		return false, b
	}
	r := reader{b: chunk[1:]}
	b.at = r.u32()
	b.price = unzigzag(r.uvarint()) * pow10[chunk[0]&^flagContinued]
	return true, b
}

func (e *histEntry) key() []byte { return histKey(e.sid, int(e.year)) }

// histParams are the parameters most entries of a block share.
type histParams struct {
	scale, times, prices int
}

// histBlock is a block of histories, its entries located but not decoded. Those
// stay where they were read from.
type histBlock struct {
	bits    bitReader
	common  histParams
	moments []uint32
	sids    []uint32
	years   []uint16
	starts  []int // first bit of each entry, and the end of the last
}

func decodeHistBlock(data []byte) (*histBlock, error) {
	b := &histBlock{bits: newBitReader(data)}
	r := &b.bits
	n := r.number()
	if n > maxHistCount || n > uint64(r.end) {
		return nil, corrupt("hist", "block of %d chunks in %d bytes", n, len(data))
	}
	b.common.scale = int(r.take(histScaleBits))
	b.common.times, b.common.prices = int(r.take(histParamBits)), int(r.take(histParamBits))
	b.moments = takeMoments(r)
	width := int(r.take(6))
	b.sids, b.years, b.starts = make([]uint32, n), make([]uint16, n), make([]int, n+1)
	prev, at := int64(-1), 0
	for i := range b.sids {
		sid, year := prev+1, uint64(0)
		if !r.flag() {
			sid, year = prev+int64(r.number()), r.take(16)
		}
		if r.bad || sid < 0 || sid > maxSeconds || (i > 0 && (sid < prev || (sid == prev && uint16(year) <= b.years[i-1]))) {
			return nil, corrupt("hist", "chunk %d of a block is out of order", i)
		}
		b.sids[i], b.years[i], prev = uint32(sid), uint16(year), sid
		b.starts[i] = at
		at += int(r.take(width))
	}
	for i := range b.sids {
		b.starts[i] += r.at
	}
	b.starts[n] = r.at + at
	if r.bad || at < 0 || b.starts[n] > r.end || r.end-b.starts[n] >= 8 || b.common.scale > maxScale {
		return nil, corrupt("hist", "block of %d bytes", len(data))
	}
	return b, nil
}

func (b *histBlock) len() int { return len(b.sids) }

func (b *histBlock) bytes() int { return 4*len(b.moments) + 14*len(b.sids) }

// over returns the block with its entries in data; nil detaches it.
func (b *histBlock) over(data []byte) *histBlock {
	c := *b
	c.bits.b = data
	return &c
}

func (b *histBlock) key(i int) []byte { return histKey(b.sids[i], int(b.years[i])) }

func (b *histBlock) search(key []byte) int {
	sid, year := be32(key), uint16(0)
	if len(key) == 6 {
		year = binary.BigEndian.Uint16(key[4:])
	}
	return sort.Search(b.len(), func(i int) bool { return b.sids[i] > sid || (b.sids[i] == sid && b.years[i] >= year) })
}

// find returns the entry of a whole history.
func (b *histBlock) find(sid uint32) (int, bool) {
	return slices.BinarySearchFunc(b.sids, sid, cmp.Compare[uint32])
}

func (b *histBlock) value(i int) ([]byte, error) {
	e, err := b.entry(nil, i)
	if err != nil {
		return nil, err
	}
	return encodeChunk(e.base, e.continued, e.events), nil
}

// entry decodes entry i; its events are appended to into.
func (b *histBlock) entry(into []event, i int) (histEntry, error) {
	e := histEntry{sid: b.sids[i], year: uint32(b.years[i]), events: into}
	r := b.bits
	r.at, r.end = b.starts[i], b.starts[i+1]
	scale := b.common.scale
	if r.flag() {
		scale = int(r.take(histScaleBits))
		if scale > maxScale {
			return e, corrupt("hist", "scale %d", scale)
		}
		if e.continued = r.flag(); e.continued {
			e.base.at = uint32(r.take(32))
			var ok bool
			e.base.price, ok = addScaled(0, unzigzag(r.number()), scale)
			r.bad = r.bad || !ok
		}
	}
	n := r.rice(histCountRice)
	if n > uint64(r.end-r.at) {
		return e, corrupt("hist", "chunk of %d changes", n)
	}
	if n > 0 {
		e.events = b.events(&r, e.events, int(n), scale, e.base.price)
	}
	if r.bad || r.at != r.end {
		return e, corrupt("hist", "chunk of series %d ends inside a change or holds an impossible one", e.sid)
	}
	return e, nil
}

// events decodes n events.
func (b *histBlock) events(r *bitReader, out []event, n, scale int, price int64) []event {
	listed := r.flag()
	var at uint64
	if listed {
		at = r.number()
	} else {
		at = r.take(32)
	}
	kt, kp := b.common.times, b.common.prices
	if r.flag() {
		kt = int(r.take(histParamBits))
	}
	if r.flag() {
		kp = int(r.take(histParamBits))
	}
	r.bad = r.bad || kt >= maxRice || kp >= maxRice
	first := true
	out = slices.Grow(out, n)
	for i := 0; i < n && !r.bad; i++ {
		if i > 0 {
			at += r.rice(kt)
		}
		e := event{at: uint32(at)}
		if listed && at < uint64(len(b.moments)) {
			e.at = b.moments[at]
		} else if listed || at > maxSeconds {
			r.bad = true
		}
		if r.flag() {
			e.kind = kind(r.take(kindBits))
		}
		switch e.kind {
		case kindPrice:
			z := uint64(0)
			if first {
				z = r.number()
			} else {
				z = r.rice(kp)
			}
			var ok bool
			price, ok = addScaled(price, unzigzag(z), scale)
			r.bad = r.bad || !ok
			e.val, first = price, false
		case kindWide:
			price = int64(r.take(64))
			e.kind, e.val, first = kindPrice, price, false
		case kindMoved, kindHeld:
			e.val = int64(r.number())
		}
		out = append(out, e)
	}
	return out
}

func takeMoments(r *bitReader) []uint32 {
	n := r.number()
	if n == 0 || n > uint64(r.end) { // an event is at each
		r.bad = r.bad || n != 0
		return nil
	}
	out := make([]uint32, n)
	at := r.take(32)
	least, k := r.take(32), int(r.take(histParamBits))
	r.bad = r.bad || (k >= maxRice && k != histSteady)
	for i := range out {
		if i > 0 && !r.bad {
			at += least
			if k != histSteady {
				at += r.rice(k)
			}
		}
		out[i] = uint32(at)
	}
	r.bad = r.bad || at > maxSeconds
	return out
}
