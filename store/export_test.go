package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// PagesWritten is how often bbolt wrote to the file since it was opened.
func (db *DB) PagesWritten() int64 {
	s := db.bolt.Stats()
	return s.TxStats.GetPageCount()
}

// Contents returns every entry, packed or not, and every sequence, as text.
func (db *DB) Contents() (out []string, err error) {
	var walk func(tx *txn, path string, parent, name []byte, b *bolt.Bucket) error
	walk = func(tx *txn, path string, parent, name []byte, b *bolt.Bucket) error {
		out = append(out, fmt.Sprintf("%s sequence %d", path, b.Sequence()))
		entries := b.ForEach
		if _, ok := formOf(name); ok {
			entries = tx.tableIn(parent, name).ForEach
		}
		return entries(func(k, v []byte) error {
			switch {
			case v == nil && bytes.Equal(k, bucketPack):
				return nil
			case bytes.Equal(name, bucketMeta) && bytes.Equal(k, metaCompacted):
				return nil // it tells of the file, not of what is in it
			case v == nil:
				return walk(tx, fmt.Sprintf("%s/%s", path, k), name, k, b.Bucket(k))
			}
			out = append(out, fmt.Sprintf("%s %x %x", path, k, v))
			return nil
		})
	}
	err = db.read(func(tx *txn) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			if bytes.Equal(name, bucketPack) {
				return nil
			}
			return walk(tx, string(name), nil, bytes.Clone(name), b)
		})
	})
	return out, err
}

// downgrade makes a file look as if an older version had written it.
func downgrade(t *testing.T, path string) {
	t.Helper()
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = db.bolt.Update(func(tx *bolt.Tx) error {
		return errors.Join(writeSchema(tx, schemaVersion), tx.Bucket(bucketMeta).Put([]byte("old"), []byte("yes")))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestMigrationLadder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	downgrade(t, path)
	run := func(tx *bolt.Tx, to int, ladder []migration) error { return climb(tx, schemaVersion, to, ladder) }
	step := func(to int) migration {
		return migration{to: to, what: "test", lift: func(tx *bolt.Tx) error {
			m := tx.Bucket(bucketMeta)
			return m.Put([]byte("old"), append(append([]byte(nil), m.Get([]byte("old"))...), byte('0'+to)))
		}}
	}
	broken := migration{to: schemaVersion + 2, what: "broken", lift: func(*bolt.Tx) error { return errors.New("no room") }}
	b, err := bolt.Open(path, fileMode, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	after := func() (schema int, old string) {
		_ = b.View(func(tx *bolt.Tx) error {
			schema, _ = readSchema(tx)
			old = string(tx.Bucket(bucketMeta).Get([]byte("old")))
			return nil
		})
		return schema, old
	}
	err = b.Update(func(tx *bolt.Tx) error {
		return run(tx, schemaVersion+2, []migration{step(schemaVersion + 1), broken})
	})
	if s, old := after(); err == nil || !strings.Contains(err.Error(), "broken") || s != schemaVersion || old != "yes" {
		t.Errorf("a step that fails: %v, schema %d, %q; want nothing changed", err, s, old)
	}
	err = b.Update(func(tx *bolt.Tx) error { return run(tx, schemaVersion+2, []migration{step(schemaVersion + 1)}) })
	if s, _ := after(); !errors.Is(err, gputide.ErrInvalid) || s != schemaVersion {
		t.Errorf("a missing step: %v, schema %d", err, s)
	}
	err = b.Update(func(tx *bolt.Tx) error {
		return run(tx, schemaVersion+2, []migration{step(schemaVersion + 1), step(schemaVersion + 2)})
	})
	if s, old := after(); err != nil || s != schemaVersion+2 || old != "yes34" {
		t.Errorf("two steps: %v, schema %d, %q", err, s, old)
	}
}

// TestCheckFindsFaults breaks one thing at a time and expects it to be named.
func TestCheckFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*bolt.Tx) error
		want  string
	}{
		"current value":   {func(tx *bolt.Tx) error { return spoilFirst(tx.Bucket(bucketLast), 3) }, "last"},
		"history":         {func(tx *bolt.Tx) error { return tx.Bucket(bucketHist).Put(key32(0), []byte{99}) }, "hist"},
		"cut history":     {func(tx *bolt.Tx) error { return tx.Bucket(bucketHist).Put(key32(0), []byte{0, 0x80}) }, "hist"},
		"orphan history":  {func(tx *bolt.Tx) error { return tx.Bucket(bucketHist).Put(key32(77), []byte{0}) }, "series 77"},
		"id":              {func(tx *bolt.Tx) error { return deleteFirst(tx.Bucket(bucketSKey)) }, "skey"},
		"bitmap":          {func(tx *bolt.Tx) error { return deleteFirst(tx.Bucket(bucketInv)) }, "inv"},
		"run log":         {func(tx *bolt.Tx) error { return spoilFirst(tx.Bucket(bucketRuns), 1) }, "runs"},
		"run record":      {func(tx *bolt.Tx) error { return tx.Bucket(bucketRunLog).Put(key64(1), []byte{1}) }, "runlog"},
		"feed":            {func(tx *bolt.Tx) error { return tx.Bucket(bucketLog).Put(key64(1), []byte{0}) }, "log"},
		"dictionary text": {func(tx *bolt.Tx) error { return deleteFirst(tx.Bucket(bucketDict)) }, "dict"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "spoilt.db")
			db, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			o := gputide.Offer{Key: gputide.Key{Provider: "acme", InstanceType: "a", Currency: "USD"}, Price: 5, Source: "api"}
			run := &gputide.Run{Provider: "acme", At: moment(1_700_000_000), Cause: gputide.CauseCrawl, Offers: []gputide.Offer{o}}
			run.Scopes = []gputide.ScopeRun{{Status: gputide.ScopeDone, Source: "api", Count: 1}}
			if _, err := db.CommitRun(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Check(t.Context()), db.bolt.Update(c.spoil), db.Close()); err != nil {
				t.Fatal(err)
			}
			if db, err = Open(path, Options{ReadOnly: true}); err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			err = db.Check(t.Context())
			if !errors.Is(err, errCorrupt) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("check: %v, want a fault of %q", err, c.want)
			}
		})
	}
}

func deleteFirst(b *bolt.Bucket) error {
	k, _ := b.Cursor().First()
	return b.Delete(append([]byte(nil), k...))
}

func spoilFirst(b *bolt.Bucket, i int) error {
	k, v := b.Cursor().First()
	v = append([]byte(nil), v...)
	v[i] ^= 0xff
	return b.Put(append([]byte(nil), k...), v)
}
