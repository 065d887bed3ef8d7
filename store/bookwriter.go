package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// maxKeyText bounds one field of a key.
const maxKeyText = 1024

// bookWriter collects the changes of a book in one transaction and writes each
// bucket once, in key order.
type bookWriter struct {
	*book
	d      *dict
	cache  *keyCache
	index  indexer
	detail *table // nil for signals

	fresh   map[gputide.OfferID]uint32 // series that came to be in this transaction
	records map[uint32]*record         // new and changed
	blocks  map[uint32][]byte          // changed last blocks
	hist    []pair
	unhist  [][]byte
	details []pair
	next    uint32 // next free sid
	base    uint32 // first sid of this transaction
}

func newBookWriter(b *book, d *dict, cache *keyCache, detail *table) *bookWriter {
	next := uint32(b.series.Sequence())
	return &bookWriter{
		book: b, d: d, cache: cache, detail: detail, next: next, base: next,
		fresh: make(map[gputide.OfferID]uint32), records: make(map[uint32]*record), blocks: make(map[uint32][]byte),
	}
}

// lookup returns the series of a key. guess is tried first.
func (w *bookWriter) lookup(k *gputide.Key, name string, guess uint32) (sid uint32, e *cachedSeries, ok bool, err error) {
	if e = w.cache.entry(guess); e != nil && w.cache.matches(w.d, e, k, name) {
		return guess, e, true, nil
	}
	id := seriesID(k, name)
	if sid, ok = w.fresh[id]; ok {
		return sid, w.cache.entry(sid), true, nil
	}
	if sid, ok = w.find(id); !ok {
		return 0, nil, false, nil
	}
	if e = w.cache.entry(sid); e == nil {
		rec, err := w.book.record(sid)
		if err != nil {
			return 0, nil, false, err
		}
		e = w.cache.add(sid, &rec.ids)
	}
	return sid, e, true, nil
}

// create makes the series of a key that has none. attrs are its derived
// attributes.
func (w *bookWriter) create(k *gputide.Key, name string, attrs []gputide.Attr) (uint32, error) {
	texts := keyText(k, name)
	rec := &record{}
	for i, s := range texts {
		if len(s) > maxKeyText || strings.ContainsRune(s, 0) {
			return 0, fmt.Errorf("%w: key field of %d bytes or with a zero byte: %.80q", gputide.ErrInvalid, len(s), s)
		}
		rec.ids[i] = w.d.intern(s)
	}
	sid := w.next
	w.next++
	w.fresh[seriesID(k, name)] = sid
	w.records[sid] = rec
	for i, f := range recordFields {
		w.index.put(invKey(f, texts[i]), sid)
	}
	w.index.put(invKey(fieldSignal, name), sid)
	for _, a := range attrs {
		w.index.put(invKey(a.Field, a.Value), sid)
	}
	return sid, nil
}

// recordOf returns the record of a series, with the changes of this transaction.
func (w *bookWriter) recordOf(sid uint32) (record, error) {
	if r := w.records[sid]; r != nil {
		return *r, nil
	}
	return w.book.record(sid)
}

// place records where a series came from first and which scope lists it now.
func (w *bookWriter) place(sid uint32, old record, first feed, scope uint32) {
	if old.scope != scope || old.first == 0 || w.records[sid] != nil {
		w.index.put(scopeKey(scope), sid)
	}
	if old.first == first && old.scope == scope {
		return
	}
	old.first, old.scope = first, scope
	w.records[sid] = &old
}

// slotOf returns the current value of a series, with the changes of this
// transaction.
func (w *bookWriter) slotOf(sid uint32) slot {
	if b, ok := w.blocks[sid>>blockBits]; ok {
		return slotIn(b, sid)
	}
	return w.book.slot(sid)
}

func (w *bookWriter) setSlot(sid uint32, s slot) {
	n := sid >> blockBits
	b, ok := w.blocks[n]
	if !ok {
		b = append([]byte(nil), w.last.Get(key32(n))...)
	}
	if need := (int(sid&(blockLen-1)) + 1) * slotSize; need > len(b) {
		b = append(b, make([]byte, need-len(b))...)
	}
	s.put(b[int(sid&(blockLen-1))*slotSize:])
	w.blocks[n] = b
}

// append adds events behind everything stored of a series. old is its slot
// before them.
func (w *bookWriter) append(sid uint32, old slot, events []event) error {
	key, chunk := w.tail(sid)
	if chunk != nil && yearOf(events[len(events)-1].at) == w.tailYear(key, events) {
		scale := int(chunk[0] &^ flagContinued)
		if dividesAll(events, scale) {
			grown := appendEvents(slices.Clone(chunk), scale, base{old.at, old.price}, events)
			if len(key) > 4 || len(grown) <= chunkSplit {
				w.hist = append(w.hist, pair{slices.Clone(key), grown})
				return nil
			}
		}
	}
	all, err := w.events(nil, sid)
	if err != nil {
		return err
	}
	w.rewrite(sid, append(all, events...))
	return nil
}

// tail returns the newest chunk of a series.
func (w *bookWriter) tail(sid uint32) (key, chunk []byte) {
	whole := key32(sid)
	if v := w.book.hist.Get(whole); v != nil {
		return whole, v
	}
	k, v := w.book.hist.Cursor().SeekLast(histKey(sid, 1<<16-1))
	if len(k) > 4 && string(k[:4]) == string(whole) {
		return k, v
	}
	return nil, nil
}

// tailYear is the year a chunk may take events of: its own, or any.
func (w *bookWriter) tailYear(key []byte, events []event) int {
	if len(key) == 4 {
		return yearOf(events[len(events)-1].at)
	}
	if yearOf(events[0].at) != yearOf(events[len(events)-1].at) {
		return -1
	}
	return int(key[4])<<8 | int(key[5])
}

func dividesAll(events []event, scale int) bool {
	for i := range events {
		if events[i].kind == kindPrice && events[i].val%pow10[scale] != 0 {
			return false
		}
	}
	return true
}

// rewrite replaces the history of a series.
func (w *bookWriter) rewrite(sid uint32, events []event) {
	kept := make(map[string]bool)
	if len(events) > 0 {
		for _, p := range encodeHistory(events) {
			key := histKey(sid, p.year)
			kept[string(key)] = true
			w.hist = append(w.hist, pair{key, p.bytes})
		}
	}
	prefix := key32(sid)
	c := w.book.hist.Cursor()
	for k, _ := c.Seek(prefix); len(k) >= 4 && string(k[:4]) == string(prefix); k, _ = c.Next() {
		if !kept[string(k)] {
			w.unhist = append(w.unhist, slices.Clone(k))
		}
	}
}

// detailsOf returns the detail change points of a series.
func (w *bookWriter) detailsOf(sid uint32) ([]detailAt, error) {
	if w.detail == nil {
		return nil, nil
	}
	return readDetails(w.detail, sid)
}

// putDetails replaces the detail change points of a series.
func (w *bookWriter) putDetails(sid uint32, old, now []detailAt) error {
	for _, o := range old {
		if !slices.ContainsFunc(now, func(n detailAt) bool { return n.at == o.at }) {
			if err := w.detail.Delete(keyPair(sid, o.at)); err != nil {
				return fmt.Errorf("detail: %w", err)
			}
		}
	}
	for _, n := range now {
		if !slices.Contains(old, n) {
			w.details = append(w.details, pair{keyPair(sid, n.at), encodeDetail(n.detail)})
		}
	}
	return nil
}

// flush writes everything collected.
func (w *bookWriter) flush() error {
	w.series.fill(fillAppend)
	w.skey.fill(fillInsert)
	records := make([]pair, 0, len(w.records))
	for sid, r := range w.records {
		records = append(records, pair{key32(sid), r.encode()})
	}
	ids := make([]pair, 0, len(w.fresh))
	for id, sid := range w.fresh {
		ids = append(ids, pair{slices.Clone(id[:]), key32(sid)})
	}
	blocks := make([]pair, 0, len(w.blocks))
	for _, n := range slices.Sorted(maps.Keys(w.blocks)) {
		blocks = append(blocks, pair{key32(n), w.blocks[n]})
	}
	slices.SortFunc(w.unhist, bytes.Compare)
	if err := w.book.hist.deleteAll(w.unhist); err != nil {
		return fmt.Errorf("hist: %w", err)
	}
	for _, step := range []struct {
		name  string
		b     *table
		pairs []pair
	}{
		{"series", w.series, records},
		{"skey", w.skey, ids},
		{"hist", w.book.hist, w.hist},
		{"detail", w.detail, w.details},
	} {
		if len(step.pairs) == 0 {
			continue
		}
		if err := step.b.putSorted(step.pairs); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	if err := putSorted(w.last, blocks); err != nil {
		return fmt.Errorf("last: %w", err)
	}
	if w.next != w.base {
		if err := w.series.SetSequence(uint64(w.next)); err != nil {
			return fmt.Errorf("series: %w", err)
		}
	}
	return w.index.flush(w.inv)
}

// readDetails returns the detail change points of a series, oldest first.
func readDetails(b *table, sid uint32) ([]detailAt, error) {
	var out []detailAt
	prefix := key32(sid)
	c := b.Cursor()
	for k, v := c.Seek(prefix); len(k) == 8 && string(k[:4]) == string(prefix); k, v = c.Next() {
		d, err := decodeDetail(v)
		if err != nil {
			return nil, err
		}
		out = append(out, detailAt{at: be32(k[4:]), detail: d})
	}
	return out, nil
}
