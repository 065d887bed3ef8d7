package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gputide/gputide"
)

// A block of the change feed holds what one transaction changed. Prices are not
// in it: they stand in the history of the series, at the moment named. Only an
// entry that takes a change back carries them.

type blockKind byte

const (
	blockSeries blockKind = iota
	blockSpecs
	blockRates
)

// maxBlockEntries bounds a block of the feed.
const maxBlockEntries = 4096

// logEntry is one change of a block.
type logEntry struct {
	sid    uint32 // in a block of specs the id of the type
	at     uint32
	kind   logKind
	void   bool // the change is taken back
	before int64
	after  int64
	has    uint8 // which of before and after there are: 1, 2
}

type logKind uint8

const (
	logFirstSeen logKind = iota
	logPrice
	logWithdrawn
	logReturned
	logHeld
	logReleased
	logSpec
)

var changeKinds = [...]gputide.ChangeKind{
	gputide.ChangeFirstSeen, gputide.ChangePrice, gputide.ChangeWithdrawn, gputide.ChangeReturned,
	gputide.ChangeHeld, gputide.ChangeReleased, gputide.ChangeSpec,
}

var causes = [...]gputide.Cause{
	gputide.CauseCrawl, gputide.CauseImport, gputide.CauseReplay, gputide.CauseAccept,
}

func causeCode(c gputide.Cause) (byte, error) {
	i := slices.Index(causes[:], c)
	if i < 0 {
		return 0, fmt.Errorf("%w: cause %q", gputide.ErrInvalid, c)
	}
	return byte(i), nil
}

// logBlock is a block of the feed. Its key is the sequence number of the first
// entry.
type logBlock struct {
	first    uint64
	kind     blockKind
	repeats  bool // an entry replaces an older one of the same series, moment and kind
	cause    byte
	recorded uint32
	entries  []logEntry
}

func encodeBlock(b *logBlock) []byte {
	head := byte(b.kind) | b.cause<<2
	if b.repeats {
		head |= 0x80
	}
	out := binary.AppendUvarint([]byte{head}, uint64(b.recorded))
	out = binary.AppendUvarint(out, uint64(len(b.entries)))
	var at, sid uint32
	if len(b.entries) > 0 {
		at = b.entries[0].at
	}
	out = binary.AppendUvarint(out, uint64(at))
	for i := range b.entries {
		e := &b.entries[i]
		bits := uint64(e.kind)
		if e.at != at {
			bits |= 8
		}
		if e.void {
			bits |= 16
		}
		out = binary.AppendUvarint(out, uint64(e.sid-sid)<<5|bits)
		if e.at != at {
			out = binary.AppendUvarint(out, zigzag(int64(e.at)-int64(at)))
		}
		if e.void {
			out = append(out, e.has)
			out = binary.AppendUvarint(out, zigzag(e.before))
			out = binary.AppendUvarint(out, zigzag(e.after))
		}
		sid, at = e.sid, e.at
	}
	return out
}

// decodeBlock decodes a block; without entries when headOnly.
func decodeBlock(key, v []byte, headOnly bool) (logBlock, int, error) {
	if len(key) != 8 || len(v) == 0 {
		return logBlock{}, 0, corrupt("log", "block of %d bytes", len(v))
	}
	r := reader{b: v[1:]}
	b := logBlock{
		first: binary.BigEndian.Uint64(key), kind: blockKind(v[0] & 3), cause: v[0] >> 2 & 0x1f, repeats: v[0]&0x80 != 0,
		recorded: r.u32(),
	}
	if b.kind == blockRates {
		return b, 1, nil
	}
	n := r.count()
	at, sid := int64(r.u32()), uint64(0)
	if headOnly && !r.bad {
		return b, n, nil
	}
	if int(b.cause) >= len(causes) {
		r.bad = true
	}
	b.entries = make([]logEntry, 0, n)
	for range n {
		var e logEntry
		if e, at, sid = r.logEntry(at, sid); r.bad {
			break
		}
		b.entries = append(b.entries, e)
	}
	if r.bad || len(r.b) > 0 {
		return b, n, corrupt("log", "block %d", b.first)
	}
	return b, n, nil
}

// logEntry takes an entry off a block; at and sid are those of the one before.
func (r *reader) logEntry(at int64, sid uint64) (logEntry, int64, uint64) {
	head := r.uvarint()
	sid += head >> 5
	e := logEntry{kind: logKind(head & 7), void: head&16 != 0}
	if head&8 != 0 {
		at += unzigzag(r.uvarint())
	}
	if e.void {
		e.has, e.before, e.after = r.byte(), unzigzag(r.uvarint()), unzigzag(r.uvarint())
	}
	if sid > maxSeconds || at < 0 || at > maxSeconds || e.kind > logSpec {
		r.bad = true
	}
	e.sid, e.at = uint32(sid), uint32(at)
	return e, at, sid
}

// logWriter collects the changes of a transaction.
type logWriter struct {
	cause    byte
	recorded uint32
	repeats  bool
	series   []logEntry
	specs    []logEntry
	rates    [][]byte // text of a corrected rate
}

// flush writes the collected changes as blocks.
func (w *logWriter) flush(b *table) error {
	b.fill(fillAppend)
	for kind, entries := range [][]logEntry{blockSeries: w.series, blockSpecs: w.specs} {
		slices.SortStableFunc(entries, func(a, b logEntry) int {
			return cmp.Or(cmp.Compare(a.sid, b.sid), cmp.Compare(a.at, b.at))
		})
		for part := range slices.Chunk(entries, maxBlockEntries) {
			block := logBlock{kind: blockKind(kind), cause: w.cause, recorded: w.recorded, repeats: w.repeats, entries: part}
			if err := putBlock(b, len(part), encodeBlock(&block)); err != nil {
				return err
			}
		}
	}
	for _, text := range w.rates {
		head := binary.AppendUvarint([]byte{byte(blockRates) | w.cause<<2}, uint64(w.recorded))
		if err := putBlock(b, 1, append(head, text...)); err != nil {
			return err
		}
	}
	return nil
}

func putBlock(b *table, entries int, v []byte) error {
	first := b.Sequence() + 1
	if err := b.Put(key64(first), v); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return b.SetSequence(first + uint64(entries) - 1)
}

// change is a change of one series as its history tells it.
type change struct {
	at     uint32
	kind   logKind
	before int64
	after  int64
	has    uint8
	moved  bool // the feed changed at the same moment
}

const (
	hasBefore = 1
	hasAfter  = 2
)

// changesOf returns the changes of a history, oldest first.
func changesOf(events []event) []change {
	var out []change
	var s state
	for i := range events {
		e := events[i]
		before := s.price
		known := s.status != statusNone
		s.step(e)
		c := change{at: e.at, before: before, after: s.price}
		switch e.kind {
		case kindPrice:
			c.kind, c.has = logPrice, hasBefore|hasAfter
			if !known {
				c.kind, c.has = logFirstSeen, hasAfter
			}
			c.moved = movedAt(events, i)
		case kindVanished:
			c.kind, c.has = logWithdrawn, hasBefore
		case kindReturned:
			c.kind, c.has, c.after = logReturned, hasAfter, priceAfter(events, i, s.price)
		case kindHeld:
			c.kind, c.has = logHeld, hasBefore
		case kindReleased:
			c.kind, c.has, c.after = logReleased, hasAfter, priceAfter(events, i, s.price)
		default:
			continue
		}
		if c.has&hasBefore == 0 {
			c.before = 0
		}
		if c.has&hasAfter == 0 {
			c.after = 0
		}
		out = append(out, c)
	}
	return out
}

// movedAt reports whether a move stands before event i at its moment.
func movedAt(events []event, i int) bool {
	for j := i - 1; j >= 0 && events[j].at == events[i].at; j-- {
		if events[j].kind == kindMoved {
			return true
		}
	}
	return false
}

// priceAfter is the price in force once every event of the moment of event i
// happened.
func priceAfter(events []event, i int, price int64) int64 {
	for j := i + 1; j < len(events) && events[j].at == events[i].at; j++ {
		if events[j].kind == kindPrice {
			price = events[j].val
		}
	}
	return price
}

// record adds what changed between two histories of a series.
func (w *logWriter) record(sid uint32, old, now []event) {
	was, is := changesOf(old), changesOf(now)
	i, j := 0, 0
	for i < len(was) && j < len(is) && was[i] == is[j] {
		i, j = i+1, j+1
	}
	for len(was) > i && len(is) > j && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	was, is = was[i:], is[j:]
	for _, c := range is {
		if slices.Contains(was, c) {
			continue
		}
		if slices.ContainsFunc(was, func(o change) bool { return o.at == c.at && o.kind == c.kind }) {
			w.repeats = true
		}
		w.series = append(w.series, logEntry{sid: sid, at: c.at, kind: c.kind})
	}
	for _, c := range was {
		if slices.ContainsFunc(is, func(n change) bool { return n.at == c.at && n.kind == c.kind }) {
			continue
		}
		// Taken back: the price after it becomes the one before it. Should it come
		// to be again, that entry is the second of its name.
		w.repeats = true
		w.series = append(w.series, logEntry{
			sid: sid, at: c.at, kind: c.kind, void: true, before: c.after, after: c.before,
			has: c.has>>1&1 | c.has<<1&2,
		})
	}
}
