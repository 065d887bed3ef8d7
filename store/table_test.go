package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// packFile packs every table of a file.
func packFile(t *testing.T, db *DB) {
	t.Helper()
	if _, err := db.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestTable compares a table, in part packed, with a map over random writes.
func TestTable(t *testing.T) {
	for seed := range uint64(5) {
		db, err := Open(filepath.Join(t.TempDir(), "table.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		db.bolt.NoSync = true
		rng := rand.New(rand.NewPCG(seed, 5))
		model := map[string]string{}
		key := func() []byte { return fmt.Appendf(nil, "%0*d", 1+rng.IntN(5), rng.IntN(3000)) }
		for range 4 {
			err := db.write(func(tx *txn) error {
				b := tx.table(bucketRDict)
				for range rng.IntN(1500) {
					k, v := key(), fmt.Appendf(nil, "%0*d", rng.IntN(40), rng.IntN(100))
					model[string(k)] = string(v)
					if err := b.Put(k, v); err != nil {
						return err
					}
				}
				var gone [][]byte
				for k := range model {
					if rng.IntN(10) == 0 {
						gone = append(gone, []byte(k))
					}
				}
				slices.SortFunc(gone, bytes.Compare)
				for _, k := range gone {
					delete(model, string(k))
				}
				if err := b.deleteAll(gone); err != nil {
					return err
				}
				sameTable(t, b, model, rng) // in the transaction that wrote it
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			same := func(tx *txn) error {
				b := tx.table(bucketRDict)
				sameTable(t, b, model, rng)
				if n, _ := b.size(); n != len(model) {
					t.Fatalf("%d entries, want %d", n, len(model))
				}
				return nil
			}
			if err := db.read(same); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(3) > 0 {
				packFile(t, db)
				if err := db.read(same); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func sameTable(t *testing.T, b *table, model map[string]string, rng *rand.Rand) {
	t.Helper()
	keys := make([]string, 0, len(model))
	for k := range model {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	i := 0
	if err := b.ForEach(func(k, v []byte) error {
		if i >= len(keys) || string(k) != keys[i] || string(v) != model[keys[i]] {
			t.Fatalf("entry %d is %q %q", i, k, v)
		}
		i++
		return nil
	}); err != nil || i != len(keys) {
		t.Fatalf("%d entries, %v, want %d", i, err, len(keys))
	}
	c := b.Cursor()
	last := len(keys) - 1
	for k, _ := c.Last(); k != nil; k, _ = c.Prev() {
		if string(k) != keys[last] {
			t.Fatalf("backwards, entry %d is %q, want %q", last, k, keys[last])
		}
		last--
	}
	if last != -1 {
		t.Fatalf("backwards, %d entries are left", last+1)
	}
	for range 100 {
		k := fmt.Sprintf("%0*d", 1+rng.IntN(5), rng.IntN(3000))
		at, found := slices.BinarySearch(keys, k)
		if v := b.Get([]byte(k)); (v != nil) != found || string(v) != model[k] {
			t.Fatalf("%q has %q, want %q", k, v, model[k])
		}
		walk(t, b.Cursor(), keys, k, at, found, rng)
	}
}

// walk seeks a key and goes on from there, this way and that.
func walk(t *testing.T, c *cursor, keys []string, k string, at int, found bool, rng *rand.Rand) {
	t.Helper()
	var got []byte
	if rng.IntN(2) == 0 {
		got, _ = c.Seek([]byte(k))
	} else {
		got, _ = c.SeekLast([]byte(k))
		if !found {
			at--
		}
	}
	for range 6 {
		want := ""
		if at >= 0 && at < len(keys) {
			want = keys[at]
		}
		if string(got) != want {
			t.Fatalf("from %q, entry %d is %q, want %q", k, at, got, want)
		}
		if want == "" {
			return
		}
		if rng.IntN(3) > 0 {
			got, _ = c.Next()
			at++
		} else {
			got, _ = c.Prev()
			at--
		}
	}
}

// TestPackedFault flips each byte of a packed block: whoever reads from it gets
// an error, and a check names it.
func TestPackedFault(t *testing.T) {
	for _, name := range [][]byte{bucketRDict, bucketHist} {
		db, err := Open(filepath.Join(t.TempDir(), "fault.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		db.bolt.NoSync = true
		put := func(fn func(*table) error) {
			t.Helper()
			if err := db.write(func(tx *txn) error { return fn(tx.table(name)) }); err != nil {
				t.Fatal(err)
			}
		}
		put(func(b *table) error {
			for i := range uint32(8) {
				chunk := encodeChunk(base{}, false, []event{{at: 1_700_000_000 + i, val: int64(i) * 1000}, {at: 1_700_086_400, val: 7000}})
				if err := b.Put(key32(i), chunk); err != nil {
					return err
				}
			}
			return nil
		})
		packFile(t, db)
		db.bolt.NoSync = true
		var first, block []byte
		put(func(b *table) error {
			k, v := b.blocks.Cursor().First()
			first, block = bytes.Clone(k), bytes.Clone(v)
			return nil
		})
		read := func() error {
			db.packs.reset()
			return db.read(func(tx *txn) error { tx.table(name).Get(key32(7)); return nil })
		}
		if err := read(); err != nil {
			t.Fatal(err)
		}
		for i := range block {
			broken := bytes.Clone(block)
			broken[i] ^= 1 << (i % 8)
			if err := db.bolt.Update(func(tx *bolt.Tx) error {
				return tx.Bucket(bucketPack).Bucket(name).Put(first, broken)
			}); err != nil {
				t.Fatal(err)
			}
			if err := read(); !errors.Is(err, errCorrupt) {
				t.Fatalf("%s: byte %d of %d: %v", name, i, len(block), err)
			}
		}
		if err := db.Check(t.Context()); !errors.Is(err, errCorrupt) {
			t.Errorf("%s: check says %v", name, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
