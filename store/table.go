package store

import (
	"bytes"
	"encoding/binary"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// txn is one transaction of the file.
type txn struct {
	*bolt.Tx
	packs  *packer
	known  uint64 // packed blocks with a higher id come of this transaction
	tables map[string]*table
	err    error // the first packed block that could not be read: whatever was read then is void
}

func (db *DB) begin(tx *bolt.Tx) *txn {
	t := &txn{Tx: tx, packs: db.packs, tables: make(map[string]*table, 8)}
	if b := tx.Bucket(bucketPack); b != nil {
		t.known = b.Sequence()
	}
	return t
}

// outcome is the error of a transaction that ended in err.
func (t *txn) outcome(err error) error {
	if t.err != nil {
		return t.err
	}
	return err
}

// table returns a table of the file.
func (t *txn) table(name []byte) *table { return t.tableIn(nil, name) }

// tableIn returns a table of a bucket of the file; of the file itself when it is
// nil. There is one in a transaction.
func (t *txn) tableIn(parent, name []byte) *table {
	path := string(parent) + "/" + string(name)
	if b := t.tables[path]; b != nil {
		return b
	}
	b := &table{tx: t, name: name}
	from := buckets(t.Tx)
	if parent != nil {
		from = t.Tx.Bucket(parent)
	}
	b.live = from.Bucket(name)
	if p := from.Bucket(bucketPack); p != nil {
		b.blocks = p.Bucket(name)
	}
	t.tables[path] = b
	return b
}

// buckets is what a file and a bucket have in common.
type buckets interface {
	Bucket(name []byte) *bolt.Bucket
}

// table is a bucket whose entries may be packed. An entry of the bucket stands
// over a packed one of the same key. Keys and values it returns must not be
// changed and are valid in the transaction.
type table struct {
	tx     *txn
	name   []byte
	live   *bolt.Bucket
	blocks *bolt.Bucket // key of the first entry → block; nil when nothing is packed
	last   packed       // the block used last: neighbours are asked for one after another
}

func (t *table) fail(err error) {
	if t.tx.err == nil {
		t.tx.err = blockError(string(t.name), err)
	}
}

// unpack returns a block; nil when it is broken.
func (t *table) unpack(v []byte) packed {
	b, err := t.tx.packs.unpack(v, t.tx.known)
	if err != nil {
		t.fail(err)
		return nil
	}
	if b.len() == 0 {
		t.fail(corrupt("pack", "block without entries"))
		return nil
	}
	t.last = b
	return b
}

// blockOf returns the block that holds a key if any does; nil when none can.
func (t *table) blockOf(key []byte) packed {
	if t.blocks == nil {
		return nil
	}
	if b := t.last; b != nil && bytes.Compare(b.key(0), key) <= 0 && bytes.Compare(key, b.key(b.len()-1)) <= 0 {
		return b
	}
	k, v := seekLast(t.blocks.Cursor(), key)
	if k == nil {
		return nil
	}
	return t.unpack(v)
}

// Get returns the value of a key; nil when there is none.
func (t *table) Get(key []byte) []byte {
	if v := t.live.Get(key); v != nil {
		return v
	}
	b := t.blockOf(key)
	if b == nil {
		return nil
	}
	i := b.search(key)
	if i == b.len() || !bytes.Equal(b.key(i), key) {
		return nil
	}
	return t.valueIn(b, i)
}

func (t *table) valueIn(b packed, i int) []byte {
	v, err := b.value(i)
	if err != nil {
		t.fail(err)
		return nil
	}
	if v == nil {
		return []byte{}
	}
	return v
}

// Put writes an entry.
func (t *table) Put(key, value []byte) error { return t.live.Put(key, value) }

// Delete takes an entry out.
func (t *table) Delete(key []byte) error { return t.deleteAll([][]byte{key}) }

// deleteAll takes entries out, named by their keys in order. Packed ones are
// taken out of their block, which is packed anew.
func (t *table) deleteAll(keys [][]byte) error {
	for _, k := range keys {
		if err := t.live.Delete(k); err != nil {
			return err
		}
	}
	if t.blocks == nil {
		return nil
	}
	for len(keys) > 0 {
		first, raw := seekLast(t.blocks.Cursor(), keys[0])
		if first == nil {
			keys = keys[1:]
			continue
		}
		next, _ := after(t.blocks.Cursor(), first)
		n := 1
		for n < len(keys) && (next == nil || bytes.Compare(keys[n], next) < 0) {
			n++
		}
		if err := t.repack(bytes.Clone(first), raw, keys[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// after moves to the entry behind a key that is there.
func after(c *bolt.Cursor, key []byte) (k, v []byte) {
	c.Seek(key)
	return c.Next()
}

// repack writes a block without some of its entries. It keeps its place, and
// with that its key, though that be of an entry taken out.
func (t *table) repack(first, raw []byte, without [][]byte) error {
	b := t.unpack(raw)
	if b == nil {
		return t.tx.err
	}
	h, _, err := decodePackHead(raw)
	if err != nil {
		return err
	}
	var left []pair
	for i := range b.len() {
		if k := b.key(i); !slices.ContainsFunc(without, func(o []byte) bool { return bytes.Equal(o, k) }) {
			left = append(left, pair{k, t.valueIn(b, i)})
		}
	}
	if len(left) == b.len() || t.tx.err != nil {
		return t.tx.err
	}
	t.last = nil
	if len(left) == 0 {
		return t.blocks.Delete(first)
	}
	enc, err := newEncoder()
	if err != nil {
		return err
	}
	defer enc.Close()
	w := blockBuilder{form: h.form, enc: enc, nextID: t.tx.Tx.Bucket(bucketPack).NextSequence, whole: true}
	w.put = func(_, block []byte) error { return t.blocks.Put(first, block) }
	for _, p := range left {
		if err := w.add(p.key, p.value); err != nil {
			return err
		}
	}
	return w.finish()
}

// ForEach calls fn with every entry, in key order, until it returns an error.
func (t *table) ForEach(fn func(k, v []byte) error) error {
	c := t.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if err := fn(k, v); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) Sequence() uint64 { return t.live.Sequence() }

func (t *table) SetSequence(n uint64) error { return t.live.SetSequence(n) }

func (t *table) NextSequence() (uint64, error) { return t.live.NextSequence() }

// fill sets how full pages get by the writes of the transaction.
func (t *table) fill(percent float64) { t.live.FillPercent = percent }

// putSorted writes entries in key order.
func (t *table) putSorted(pairs []pair) error { return putSorted(t.live, pairs) }

// size returns the number of entries, as many as there are in both places, and
// the bytes of their pages.
func (t *table) size() (entries int, used int64) {
	s := t.live.Stats()
	entries, used = s.KeyN, usedBytes(s)
	if t.blocks == nil {
		return entries, used
	}
	used += usedBytes(t.blocks.Stats())
	c := t.blocks.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		h, _, err := decodePackHead(v)
		if err != nil {
			t.fail(err)
			return entries, used
		}
		entries += h.entries
	}
	both := t.live.Cursor()
	for k, _ := both.First(); k != nil; k, _ = both.Next() {
		if b := t.blockOf(k); b != nil {
			if i := b.search(k); i < b.len() && bytes.Equal(b.key(i), k) {
				entries--
			}
		}
	}
	return entries, used
}

// histOf appends the events of the chunk a cursor stands on.
func (c *cursor) histOf(out []event) ([]event, error) {
	if !c.onPacked() {
		out, _, err := decodeChunk(out, c.live.v)
		return out, err
	}
	b, ok := c.pack.block.(*histBlock)
	if !ok {
		return out, corrupt("hist", "a block of another form")
	}
	e, err := b.entry(out, c.pack.i)
	return e.events, err
}

// whole appends the events of a series whose history is one chunk; false when
// it is none, or none that is packed.
func (t *table) whole(out []event, sid uint32) ([]event, bool, error) {
	if t.blocks == nil {
		return out, false, nil
	}
	var key [4]byte
	binary.BigEndian.PutUint32(key[:], sid)
	b, ok := t.blockOf(key[:]).(*histBlock)
	if !ok {
		return out, false, nil
	}
	i, ok := b.find(sid)
	if !ok || b.years[i] != 0 {
		return out, false, nil
	}
	e, err := b.entry(out, i)
	return e.events, true, err
}
