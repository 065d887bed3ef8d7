package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/RoaringBitmap/roaring/v2"
	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// maxCheckErrors bounds what one check reports.
const maxCheckErrors = 20

// Check verifies the file: the pages of bbolt, every encoded value, and what the
// buckets say of each other. It returns the faults found, joined; nil when there
// are none.
func (db *DB) Check(ctx context.Context) error {
	c := &checker{ctx: ctx}
	err := db.view(func(v *view) error {
		if err := checkPages(v.tx.Tx); err != nil {
			return err
		}
		c.v = v
		c.packs()
		c.book(v.offers)
		c.book(v.signals)
		c.runLog()
		c.details()
		c.feedLog()
		c.specs()
		c.benchmarks()
		return ctx.Err()
	})
	return errors.Join(err, errors.Join(c.errs...))
}

// checkPages verifies the pages of a file: nothing can be read from it safely
// when they are broken.
func checkPages(tx *bolt.Tx) error {
	// The check of bbolt runs where a fault of memory ends the process; here it
	// is an error.
	err := sound(func() error {
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return walkPages(b) })
	})
	if err != nil {
		return err
	}
	c := &checker{}
	for err := range tx.Check() {
		c.add(err)
	}
	return errors.Join(c.errs...)
}

// walkPages reads every key and value of a bucket.
func walkPages(b *bolt.Bucket) error {
	return b.ForEach(func(k, v []byte) error {
		if v == nil {
			if inner := b.Bucket(k); inner != nil {
				return walkPages(inner)
			}
			return corrupt("page", "bucket %q is missing", k)
		}
		_, _ = crc32.ChecksumIEEE(k), crc32.ChecksumIEEE(v)
		return nil
	})
}

type checker struct {
	ctx  context.Context
	v    *view
	errs []error
}

func (c *checker) add(err error) {
	if err != nil && len(c.errs) < maxCheckErrors {
		c.errs = append(c.errs, err)
	}
}

func (c *checker) fault(bucket, format string, args ...any) { c.add(corrupt(bucket, format, args...)) }

// book checks the series of a book against its index, history and values.
func (c *checker) book(b *book) {
	n := uint32(b.series.Sequence())
	if got, _ := b.skey.size(); got != int(n) {
		c.fault("skey", "%d ids for %d series", got, n)
	}
	want := make(map[string]*roaring.Bitmap)
	for sid := range n {
		if c.ctx.Err() != nil || len(c.errs) >= maxCheckErrors {
			return
		}
		if err := c.series(b, sid, want); err != nil {
			c.add(fmt.Errorf("series %d: %w", sid, err))
		}
	}
	c.orphans(b.hist, n, "hist")
	c.index(b, want)
}

func (c *checker) series(b *book, sid uint32, want map[string]*roaring.Bitmap) error {
	rec, err := b.record(sid)
	if err != nil {
		return err
	}
	k, name, err := rec.key(c.v.d)
	if err != nil {
		return err
	}
	id := seriesID(&k, name)
	if got, ok := b.find(id); !ok || got != sid {
		return corrupt("skey", "id %s does not lead to it", id)
	}
	for i, f := range recordFields {
		text, err := c.v.d.get(rec.ids[i])
		if err != nil {
			return err
		}
		expect(want, invKey(f, text), sid)
	}
	expect(want, invKey(fieldSignal, name), sid)
	events, err := b.events(nil, sid)
	if err != nil {
		return err
	}
	s := b.slot(sid)
	if len(events) == 0 {
		if s.status != statusNone {
			return corrupt("last", "a value without a history")
		}
		return nil
	}
	if rec.first == 0 || rec.scope == 0 {
		return corrupt("series", "a history without a feed")
	}
	expect(want, scopeKey(rec.scope), sid)
	return checkHistory(&rec, events, s)
}

// checkHistory checks that events make sense and come to the current value.
func checkHistory(rec *record, events []event, s slot) error {
	st := state{feed: rec.first}
	if events[0].kind != kindPrice {
		return corrupt("hist", "it does not begin with a price")
	}
	for i, e := range events {
		if i > 0 && e.at < events[i-1].at {
			return corrupt("hist", "moments go back at event %d", i)
		}
		if i > 0 && !follows(&st, e) {
			return corrupt("hist", "event %d (%d) cannot follow status %d", i, e.kind, st.status)
		}
		st.step(e)
	}
	now := slot{price: st.price, at: events[len(events)-1].at, status: st.status, source: st.feed.source()}
	if now != s {
		return corrupt("last", "it holds %+v, the history ends in %+v", s, now)
	}
	if rec.scope != st.feed.scope() {
		return corrupt("series", "scope %d, the history ends in %d", rec.scope, st.feed.scope())
	}
	return nil
}

// follows reports whether an event can happen in a state.
func follows(s *state, e event) bool {
	switch e.kind {
	case kindPrice:
		return s.status == statusListed && e.val != s.price
	case kindConfirmed:
		return s.status == statusListed
	case kindVanished:
		return s.status == statusListed || s.status == statusHeld
	case kindReturned:
		return s.status == statusWithdrawn
	case kindHeld:
		return s.status == statusListed || s.status == statusWithdrawn
	case kindReleased:
		return s.status == statusHeld
	case kindMoved:
		return feed(e.val) != s.feed
	}
	return false
}

func expect(want map[string]*roaring.Bitmap, key string, sid uint32) {
	bm := want[key]
	if bm == nil {
		bm = roaring.New()
		want[key] = bm
	}
	bm.Add(sid)
}

// index checks the bitmaps of key fields for equality and those of scopes for
// covering the series they list now.
func (c *checker) index(b *book, want map[string]*roaring.Bitmap) {
	for key, bm := range want {
		got, err := readBitmap(b.inv.Get([]byte(key)))
		if err != nil {
			c.add(err)
			continue
		}
		if got == nil {
			got = roaring.New()
		}
		scope := len(key) > len(fieldScope) && key[:len(fieldScope)] == string(fieldScope)
		missing := roaring.AndNot(bm, got)
		if !missing.IsEmpty() || (!scope && !got.Equals(bm)) {
			c.fault("inv", "%q holds %d series, %d have it", key, got.GetCardinality(), bm.GetCardinality())
		}
	}
	cur := b.inv.Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		bm, err := readBitmap(v)
		if err != nil {
			c.add(err)
			continue
		}
		if !bm.IsEmpty() && uint64(bm.Maximum()) >= b.series.Sequence() {
			c.fault("inv", "%q names series %d, which does not exist", k, bm.Maximum())
		}
	}
}

// orphans looks for entries of series that do not exist.
func (c *checker) orphans(b *table, n uint32, name string) {
	cur := b.Cursor()
	for k, _ := cur.Seek(key32(n)); k != nil; k, _ = cur.Next() {
		c.fault(name, "entry of series %d, which does not exist", be32(k))
	}
}

// runLog checks that every month unpacks, belongs to a known scope and names
// known sources, and that every run reads back.
func (c *checker) runLog() {
	owner := make(map[uint32]uint32)
	cur := c.v.tx.Bucket(bucketScope).Cursor()
	for k, _ := cur.First(); k != nil; k, _ = cur.Next() {
		if len(k) == 8 {
			owner[be32(k[4:])] = be32(k)
		}
	}
	months := c.v.tx.table(bucketRuns).Cursor()
	for k, v := months.First(); k != nil; k, v = months.Next() {
		if len(k) != 6 {
			c.fault("runs", "key of %d bytes", len(k))
			continue
		}
		marks, err := decodeMarks(nil, binary.BigEndian.Uint16(k[4:]), v)
		c.add(err)
		pid, ok := owner[be32(k)]
		if !ok {
			c.fault("runs", "scope %d is not known", be32(k))
			continue
		}
		sources, err := c.v.sources(pid)
		if err != nil {
			c.add(err)
			continue
		}
		for _, m := range marks {
			if int(m.source) >= len(sources.names) {
				c.fault("runs", "scope %d at %d names source %d of %d", be32(k), m.at, m.source, len(sources.names))
			}
		}
	}
	log := c.v.tx.table(bucketRunLog).Cursor()
	for k, v := log.First(); k != nil; k, v = log.Next() {
		rec, err := c.v.runRecord(binary.BigEndian.Uint64(k), v)
		c.add(err)
		row, err := decodeRunRow(v)
		if err != nil || causes[row.cause] == gputide.CauseImport {
			continue
		}
		st, err := readStatic(c.v.d, row.static)
		if err == nil && len(st.Scopes) != len(rec.Scopes) {
			c.fault("runlog", "run %d reported %d scopes, %d are in the run log", rec.ID, len(st.Scopes), len(rec.Scopes))
		}
	}
}

func (c *checker) details() {
	n := uint32(c.v.offers.series.Sequence())
	cur := c.v.tx.table(bucketDetail).Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		d, err := decodeDetail(v)
		if err == nil {
			var text string
			if text, err = c.v.d.get(d.content); err == nil {
				_, _, err = decodeContent(1, text)
			}
		}
		c.add(err)
		if len(k) != 8 || be32(k) >= n {
			c.fault("detail", "entry of series %d, which does not exist", be32(k))
		}
	}
}

func (c *checker) feedLog() {
	n := uint32(c.v.offers.series.Sequence())
	next := uint64(1)
	cur := c.v.tx.table(bucketLog).Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		b, size, err := decodeBlock(k, v, false)
		if err != nil {
			c.add(err)
			continue
		}
		if b.first < next {
			c.fault("log", "block %d overlaps the one before", b.first)
		}
		next = b.first + uint64(size)
		for _, e := range b.entries {
			if b.kind == blockSeries && e.sid >= n {
				c.fault("log", "block %d names series %d, which does not exist", b.first, e.sid)
			}
		}
	}
}

func (c *checker) specs() {
	specs := newSpecReader(c.v.tx, c.v.d)
	cur := c.v.tx.table(bucketSpec).Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		if len(k) != 8 {
			c.fault("spec", "key of %d bytes", len(k))
			continue
		}
		_, err := specs.decode(be32(k), be32(k[4:]), v)
		c.add(err)
	}
}

// packs checks every packed block and their order.
func (c *checker) packs() {
	for _, parent := range [][]byte{nil, bucketSignal} {
		from := buckets(c.v.tx.Tx)
		if parent != nil {
			from = c.v.tx.Bucket(parent)
		}
		p := from.Bucket(bucketPack)
		if p == nil {
			continue
		}
		cur := p.Cursor()
		for name, _ := cur.First(); name != nil; name, _ = cur.Next() {
			if form, ok := formOf(name); ok {
				c.blocks(string(name), form, p.Bucket(name))
			} else {
				c.fault("pack", "blocks of %q, which is no table", name)
			}
		}
	}
}

func (c *checker) blocks(name string, form packForm, b *bolt.Bucket) {
	var prev []byte
	cur := b.Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		h, _, err := decodePackHead(v)
		if err != nil {
			c.add(blockError(name, err))
			continue
		}
		block, err := c.v.tx.packs.unpack(v, 0)
		if err != nil {
			c.add(blockError(name, err))
			continue
		}
		if h.form != form || h.id > c.v.tx.known || block.len() == 0 {
			c.fault("pack", "block %d of %s is of form %d and has %d entries", h.id, name, h.form, block.len())
			continue
		}
		if first := block.key(0); bytes.Compare(first, k) < 0 || bytes.Compare(k, prev) <= 0 {
			c.fault("pack", "block %d of %s begins before its place", h.id, name)
		}
		for i := range block.len() {
			if _, err := block.value(i); err != nil {
				c.add(blockError(name, err))
			}
		}
		prev = block.key(block.len() - 1)
	}
}
