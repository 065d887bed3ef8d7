package store

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"
)

// mark is the outcome of one scope of one run, as the run log packs it.
type mark struct {
	at      uint32
	status  markStatus
	source  uint8 // index in the provider's table of sources
	flags   markFlags
	count   uint32
	cadence uint32 // seconds; 0 when the run has none
}

type markStatus uint8

const (
	markDone markStatus = iota
	markFailed
	markHeld
)

type markFlags uint8

const (
	markNoWithdraw markFlags = 1 << iota // absence concludes nothing
	markEventFeed                        // a window of changes: confirms and withdraws nothing by itself

	markCadence  markFlags = 0x80 // stored form only: a cadence follows
	markReserved markFlags = 0x7c
)

// maxSources is how many sources a provider may have: the index has six bits.
const maxSources = 63

// confirms reports whether m confirms what its source listed before.
func (m *mark) confirms() bool { return m.status == markDone && m.flags&markEventFeed == 0 }

// monthOf returns the month of a moment, counted from January 1970.
func monthOf(at uint32) uint16 {
	t := time.Unix(int64(at), 0).UTC()
	return uint16((t.Year()-1970)*12 + int(t.Month()) - 1)
}

// monthStart returns the first second of a month.
func monthStart(month uint16) uint32 {
	return uint32(time.Date(1970, time.Month(int(month)+1), 1, 0, 0, 0, 0, time.UTC).Unix())
}

// monthBounds returns the first second of a month and the first behind it, or
// behind what a mark can tell.
func monthBounds(month uint16) (start, end uint64) {
	first := func(m int) uint64 { return uint64(time.Date(1970, time.Month(m+1), 1, 0, 0, 0, 0, time.UTC).Unix()) }
	return first(int(month)), min(first(int(month)+1), maxSeconds+1)
}

// encodeMarks packs the marks of one month. A run like the one before it costs
// its time step alone.
func encodeMarks(month uint16, marks []mark) []byte {
	out := make([]byte, 0, 4*len(marks)+8)
	prev := mark{at: monthStart(month)}
	for i := range marks {
		out = appendMark(out, prev, marks[i], i == 0)
		prev = marks[i]
	}
	return out
}

// appendMark appends m to a packed month whose last mark is prev.
func appendMark(out []byte, prev, m mark, first bool) []byte {
	step := uint64(m.at-prev.at) << 1
	prev.at = m.at
	if m == prev && !first {
		return binary.AppendUvarint(out, step)
	}
	out = binary.AppendUvarint(out, step|1)
	flags := m.flags
	if m.cadence != prev.cadence {
		flags |= markCadence
	}
	out = append(out, byte(m.status)|m.source<<2, byte(flags))
	out = binary.AppendUvarint(out, zigzag(int64(m.count)-int64(prev.count)))
	if flags&markCadence != 0 {
		out = binary.AppendUvarint(out, uint64(m.cadence))
	}
	return out
}

// decodeMarks unpacks a month.
func decodeMarks(marks []mark, month uint16, b []byte) ([]mark, error) {
	r := reader{b: b}
	var cur mark
	at, end := monthBounds(month)
	for first := true; len(r.b) > 0 && !r.bad; first = false {
		head := r.uvarint()
		at += head >> 1
		if head&1 == 0 {
			r.bad = r.bad || first
		} else {
			r.readMark(&cur)
		}
		cur.at = uint32(at)
		r.bad = r.bad || at >= end
		if !r.bad {
			marks = append(marks, cur)
		}
	}
	if r.bad {
		return marks, corrupt("runs", "month %d ends inside a run or holds an impossible one", month)
	}
	return marks, nil
}

func (r *reader) readMark(m *mark) {
	head := r.byte()
	m.status, m.source = markStatus(head&3), head>>2
	m.flags = markFlags(r.byte())
	count := int64(m.count) + unzigzag(r.uvarint())
	if count < 0 || count > maxSeconds || m.status > markHeld || m.source >= maxSources || m.flags&markReserved != 0 {
		r.bad = true
		return
	}
	m.count = uint32(count)
	if m.flags&markCadence != 0 {
		m.cadence = r.u32()
		m.flags &^= markCadence
	}
}

// insertMark places m in a month; less orders marks of one moment.
func insertMark(marks []mark, m mark, less func(a, b mark) int) []mark {
	i, _ := slices.BinarySearchFunc(marks, m, func(a, b mark) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		return less(a, b)
	})
	return slices.Insert(marks, i, m)
}
