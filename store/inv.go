package store

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/gputide/gputide"
)

// Index fields that are neither key fields nor derived.
const (
	fieldSignal gputide.Field = "signal"
	fieldScope  gputide.Field = "\x01scope" // every series the scope ever listed; value: scope id
)

func invKey(f gputide.Field, value string) string { return string(f) + "\x00" + value }

func scopeKey(scope uint32) string { return invKey(fieldScope, string(key32(scope))) }

// derivedField reports whether an index field is computed by the deriver.
func derivedField(f gputide.Field) bool {
	return f != fieldSignal && f != fieldScope && !slices.Contains(recordFields[:], f)
}

// overlay holds derived attributes in memory, by index key.
type overlay map[string]*roaring.Bitmap

// index is the inverted index of a book, with the overlay in place of its
// derived entries if there is one.
type index struct {
	inv     *table
	overlay overlay
}

func (db *DB) index(b *book) index {
	ix := index{inv: b.inv}
	if db.overlays[0] != nil {
		ix.overlay = db.overlays[0]
		if b.signals {
			ix.overlay = db.overlays[1]
		}
	}
	return ix
}

// union adds the series that have a value to into.
func (ix index) union(into *roaring.Bitmap, f gputide.Field, value string) error {
	key := invKey(f, value)
	if ix.overlay != nil && derivedField(f) {
		if bm := ix.overlay[key]; bm != nil {
			into.Or(bm)
		}
		return nil
	}
	bm, err := readBitmap(ix.inv.Get([]byte(key)))
	if err != nil || bm == nil {
		return err
	}
	into.Or(bm)
	return nil
}

// readBitmap reads a bitmap in place: it is valid as long as its bytes are.
func readBitmap(v []byte) (*roaring.Bitmap, error) {
	if v == nil {
		return nil, nil
	}
	bm := roaring.New()
	if _, err := bm.FromUnsafeBytes(v); err != nil {
		return nil, corrupt("inv", "bitmap of %d bytes: %v", len(v), err)
	}
	return bm, nil
}

// values returns the non-empty values of a field that any series has, sorted.
func (ix index) values(f gputide.Field) ([]string, error) {
	prefix := invKey(f, "")
	var out []string
	if ix.overlay != nil && derivedField(f) {
		for key := range ix.overlay {
			if v, ok := strings.CutPrefix(key, prefix); ok && v != "" {
				out = append(out, v)
			}
		}
		slices.Sort(out)
		return out, nil
	}
	c := ix.inv.Cursor()
	for k, _ := c.Seek([]byte(prefix)); strings.HasPrefix(string(k), prefix); k, _ = c.Next() {
		if v := string(k[len(prefix):]); v != "" {
			out = append(out, v)
		}
	}
	return out, nil
}

// selectSeries returns the series of a book that match a selection.
func (db *DB) selectSeries(b *book, sel gputide.Selection) (*roaring.Bitmap, error) {
	ix := db.index(b)
	out := roaring.New()
	if len(sel.IDs) > 0 {
		for _, id := range sel.IDs {
			if sid, ok := b.find(id); ok {
				out.Add(sid)
			}
		}
	} else if len(sel.Matches) == 0 {
		out.AddRange(0, b.series.Sequence())
	}
	for i, m := range sel.Matches {
		into := out
		if i > 0 || len(sel.IDs) > 0 {
			into = roaring.New()
		}
		for _, v := range m.Values {
			if err := ix.union(into, m.Field, v); err != nil {
				return nil, err
			}
		}
		if into != out {
			out.And(into)
		}
	}
	return out, nil
}

// indexer collects changes of bitmaps and writes each once, in key order.
type indexer struct {
	add, remove map[string][]uint32
}

func (x *indexer) put(key string, sid uint32) {
	if x.add == nil {
		x.add = make(map[string][]uint32)
	}
	x.add[key] = append(x.add[key], sid)
}

func (x *indexer) drop(key string, sid uint32) {
	if x.remove == nil {
		x.remove = make(map[string][]uint32)
	}
	x.remove[key] = append(x.remove[key], sid)
}

func (x *indexer) flush(inv *table) error {
	keys := make(map[string]bool, len(x.add))
	for k := range x.add {
		keys[k] = true
	}
	for k := range x.remove {
		keys[k] = true
	}
	pairs := make([]pair, 0, len(keys))
	for k := range keys {
		bm := roaring.New()
		old, err := readBitmap(inv.Get([]byte(k)))
		if err != nil {
			return err
		}
		if old != nil {
			bm.Or(old)
		}
		for _, sid := range x.remove[k] {
			bm.Remove(sid)
		}
		bm.AddMany(x.add[k])
		v, err := encodeBitmap(bm)
		if err != nil {
			return err
		}
		pairs = append(pairs, pair{[]byte(k), v})
	}
	inv.fill(fillInsert)
	if err := inv.putSorted(pairs); err != nil {
		return fmt.Errorf("inv: %w", err)
	}
	x.add, x.remove = nil, nil
	return nil
}

func encodeBitmap(bm *roaring.Bitmap) ([]byte, error) {
	bm.RunOptimize()
	v, err := bm.ToBytes()
	if err != nil {
		return nil, fmt.Errorf("inv: %w", err)
	}
	return v, nil
}

// prepareDerived makes the derived attributes those of the deriver: stored ones
// are rebuilt when its tables changed, or, in a database that cannot be written,
// replaced in memory.
func (db *DB) prepareDerived() error {
	if db.deriver == nil {
		return nil
	}
	version := db.deriver.Version()
	stored := ""
	err := db.read(func(tx *txn) error {
		stored = string(tx.Bucket(bucketMeta).Get(metaCatalogue))
		return nil
	})
	if err != nil || stored == version {
		return err
	}
	if db.readOnly {
		return db.read(func(tx *txn) error {
			for i, b := range []*book{offersOf(tx), signalsOf(tx)} {
				o, err := db.derive(tx, b)
				if err != nil {
					return err
				}
				db.overlays[i] = o
			}
			return nil
		})
	}
	return db.write(func(tx *txn) error {
		for _, b := range []*book{offersOf(tx), signalsOf(tx)} {
			if err := db.rebuildDerived(tx, b); err != nil {
				return err
			}
		}
		return tx.Bucket(bucketMeta).Put(metaCatalogue, []byte(version))
	})
}

func (db *DB) derive(tx *txn, b *book) (overlay, error) {
	out := make(overlay)
	d := newDict(tx, &db.dict)
	specs := newSpecReader(tx, d)
	c := b.series.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		rec, err := decodeRecord(v)
		if err != nil {
			return nil, err
		}
		key, _, err := rec.key(d)
		if err != nil {
			return nil, err
		}
		spec, err := specs.latest(&key, maxSeconds)
		if err != nil {
			return nil, err
		}
		for _, a := range db.deriver.Derive(&key, spec) {
			bm := out[invKey(a.Field, a.Value)]
			if bm == nil {
				bm = roaring.New()
				out[invKey(a.Field, a.Value)] = bm
			}
			bm.Add(binary.BigEndian.Uint32(k))
		}
	}
	return out, nil
}

func (db *DB) rebuildDerived(tx *txn, b *book) error {
	var stale [][]byte
	c := b.inv.Cursor()
	for k, _ := c.First(); k != nil; k, _ = c.Next() {
		if f, _, _ := strings.Cut(string(k), "\x00"); derivedField(gputide.Field(f)) {
			stale = append(stale, append([]byte(nil), k...))
		}
	}
	if err := b.inv.deleteAll(stale); err != nil {
		return fmt.Errorf("inv: %w", err)
	}
	fresh, err := db.derive(tx, b)
	if err != nil {
		return err
	}
	pairs := make([]pair, 0, len(fresh))
	for k, bm := range fresh {
		v, err := encodeBitmap(bm)
		if err != nil {
			return err
		}
		pairs = append(pairs, pair{[]byte(k), v})
	}
	b.inv.fill(fillInsert)
	return b.inv.putSorted(pairs)
}
