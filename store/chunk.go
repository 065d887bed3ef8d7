package store

import (
	"encoding/binary"
	"math"
	"time"
)

// kind is what an event says of a series.
type kind uint8

const (
	kindPrice     kind = iota // listed at another price; the first event of a series is one
	kindVanished              // a done run no longer listed it
	kindReturned              // listed again; a price event follows when the price differs
	kindHeld                  // listed by a row that could not be used; the price is kept
	kindReleased              // listed usably again; a price event follows when the price differs
	kindConfirmed             // listed at its price, where no run implies it
	kindMoved                 // listed by another feed
	kindWide                  // stored form of a price too far from the one before; decoded as kindPrice
)

// heldDoubt is the value of a held event that nothing but a row of unknown key
// in its scope gave cause for.
const heldDoubt = 1

// event is one change point of a series. val is the price of a price event, the
// feed of a moved event and, of a held event, heldDoubt or 0.
type event struct {
	at   uint32
	kind kind
	val  int64
}

const (
	// chunkSplit is the size past which the history of a series is cut by year.
	chunkSplit = 2048

	maxScale       = 18
	flagContinued  = 0x80
	kindBits       = 3
	maxPayload     = 1 << (64 - kindBits)
	bytesPerChange = 7 // for sizing buffers
)

var pow10 = [maxScale + 1]int64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// base is what a chunk counts from: the event before it.
type base struct {
	at    uint32
	price int64
}

// scaleOf returns the largest power of ten that divides every price.
func scaleOf(b base, events []event) int {
	scale := maxScale
	if b.price == 0 && !anyPrice(events) {
		return 0
	}
	for scale > 0 && b.price%pow10[scale] != 0 {
		scale--
	}
	for i := range events {
		if events[i].kind != kindPrice {
			continue
		}
		for scale > 0 && events[i].val%pow10[scale] != 0 {
			scale--
		}
	}
	return scale
}

func anyPrice(events []event) bool {
	for i := range events {
		if events[i].kind == kindPrice && events[i].val != 0 {
			return true
		}
	}
	return false
}

// encodeChunk encodes events that follow b. A chunk that is not the first of
// its series carries b itself.
func encodeChunk(b base, continued bool, events []event) []byte {
	scale := scaleOf(b, events)
	out := make([]byte, 0, 2+bytesPerChange*(len(events)+1))
	if !continued {
		return appendEvents(append(out, byte(scale)), scale, base{}, events)
	}
	out = append(out, byte(scale)|flagContinued)
	out = binary.AppendUvarint(out, uint64(b.at))
	out = binary.AppendUvarint(out, zigzag(b.price/pow10[scale]))
	return appendEvents(out, scale, b, events)
}

// appendEvents appends events to an encoded chunk whose last event is b.
func appendEvents(out []byte, scale int, b base, events []event) []byte {
	for i := range events {
		e := &events[i]
		out = binary.AppendUvarint(out, uint64(e.at-b.at))
		b.at = e.at
		switch e.kind {
		case kindPrice:
			out = appendPrice(out, scale, b.price, e.val)
			b.price = e.val
		case kindMoved, kindHeld:
			out = binary.AppendUvarint(out, uint64(e.val)<<kindBits|uint64(e.kind))
		default:
			out = binary.AppendUvarint(out, uint64(e.kind))
		}
	}
	return out
}

func appendPrice(out []byte, scale int, before, after int64) []byte {
	delta := after - before
	overflow := (after >= 0) != (before >= 0) && (delta >= 0) != (after >= 0)
	if z := zigzag(delta / pow10[scale]); !overflow && z < maxPayload {
		return binary.AppendUvarint(out, z<<kindBits|uint64(kindPrice))
	}
	out = binary.AppendUvarint(out, uint64(kindWide))
	return binary.BigEndian.AppendUint64(out, uint64(after))
}

// decodeChunk appends the events of a chunk to events and returns them with the
// scale of the chunk.
func decodeChunk(events []event, chunk []byte) ([]event, int, error) {
	if len(chunk) == 0 {
		return events, 0, corrupt("hist", "empty chunk")
	}
	scale := int(chunk[0] &^ flagContinued)
	if scale > maxScale {
		return events, 0, corrupt("hist", "scale %d", scale)
	}
	r := reader{b: chunk[1:]}
	var at uint64
	var price int64
	if chunk[0]&flagContinued != 0 {
		at = uint64(r.u32())
		var ok bool
		if price, ok = addScaled(0, unzigzag(r.uvarint()), scale); !ok {
			r.bad = true
		}
	}
	for len(r.b) > 0 && !r.bad {
		at += r.uvarint()
		head := r.uvarint()
		e := event{at: uint32(at), kind: kind(head & (1<<kindBits - 1))}
		switch e.kind {
		case kindPrice:
			var ok bool
			if price, ok = addScaled(price, unzigzag(head>>kindBits), scale); !ok {
				r.bad = true
			}
			e.val = price
		case kindWide:
			price = r.wide()
			e.kind, e.val = kindPrice, price
		case kindMoved, kindHeld:
			e.val = int64(head >> kindBits)
		}
		if at > maxSeconds {
			r.bad = true
		}
		if !r.bad {
			events = append(events, e)
		}
	}
	if r.bad {
		return events, scale, corrupt("hist", "chunk ends inside a change or holds an impossible one")
	}
	return events, scale, nil
}

// addScaled returns price + steps × 10^scale, and false when that overflows.
func addScaled(price, steps int64, scale int) (int64, bool) {
	p := pow10[scale]
	if steps > math.MaxInt64/p || steps < math.MinInt64/p {
		return 0, false
	}
	d := steps * p
	sum := price + d
	if (d > 0 && sum < price) || (d < 0 && sum > price) {
		return 0, false
	}
	return sum, true
}

// histPart is one chunk with its year; year 0 is the whole series.
type histPart struct {
	year  int
	bytes []byte
}

// encodeHistory encodes the events of a series: one chunk while it is small,
// one for each year with events afterwards.
func encodeHistory(events []event) []histPart {
	whole := encodeChunk(base{}, false, events)
	if len(whole) <= chunkSplit || yearOf(events[0].at) == yearOf(events[len(events)-1].at) {
		return []histPart{{0, whole}}
	}
	var parts []histPart
	var b base
	for start := 0; start < len(events); {
		year := yearOf(events[start].at)
		end := start
		next := b
		for end < len(events) && yearOf(events[end].at) == year {
			next.at = events[end].at
			if events[end].kind == kindPrice {
				next.price = events[end].val
			}
			end++
		}
		parts = append(parts, histPart{year, encodeChunk(b, start > 0, events[start:end])})
		b, start = next, end
	}
	return parts
}

func yearOf(at uint32) int { return time.Unix(int64(at), 0).UTC().Year() }

// histKey is the key of a chunk.
func histKey(sid uint32, year int) []byte {
	k := key32(sid)
	if year != 0 {
		k = binary.BigEndian.AppendUint16(k, uint16(year))
	}
	return k
}
