package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/gputide/gputide"
)

// compactBatch is about how many bytes one transaction of a compaction writes.
const compactBatch = 8 << 20

// Resized is the size of a database file, in bytes, before and after it was
// replaced; 0 before when there was none.
type Resized struct{ Before, After int64 }

// Compact writes the database anew, without the room that changes left in it,
// and puts the new file in the place of the old. Commits wait from the start of
// it, reads for the moment of the exchange. On an error, and after a crash at
// any point, the old file or the new one is there, whole. The exchange never
// leaves the path without a file, nor the file without its lock.
func (db *DB) Compact(ctx context.Context) (Resized, error) {
	if db.readOnly {
		return Resized{}, errReadOnly
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	size, err := db.compact(ctx)
	if err != nil {
		return Resized{}, fmt.Errorf("compact %s: %w", db.path, err)
	}
	return size, nil
}

func (db *DB) compact(ctx context.Context) (size Resized, err error) {
	aside := db.file + compactSuffix
	defer func() {
		if err != nil {
			err = errors.Join(err, removeFile(aside))
		}
	}()
	if size.Before, err = fileSize(db.file); err != nil {
		return size, err
	}
	err = db.view(func(v *view) error {
		if err := checkPages(v.tx.Tx); err != nil {
			return fmt.Errorf("it is not sound: %w", err)
		}
		return writeCompact(ctx, v.tx, aside, db.now())
	})
	if err != nil {
		return size, err
	}
	if err := inherit(aside, db.file); err != nil {
		return size, err
	}
	if size.After, err = fileSize(aside); err != nil {
		return size, err
	}
	return size, db.exchange(aside)
}

// exchange puts a file in the place of the database. The new file is open, and
// with that locked, before it gets the name, and the old one is closed after it
// lost it: whoever opens the path meets a lock.
func (db *DB) exchange(aside string) error {
	db.swap.Lock()
	defer db.swap.Unlock()
	if db.lock == nil {
		return fmt.Errorf("%w: database is closed", gputide.ErrInvalid)
	}
	now, err := openBolt(db.file, aside, false, defaultLockTimeout)
	if err != nil {
		return err
	}
	if err := os.Rename(aside, db.file); err != nil {
		return errors.Join(err, now.Close())
	}
	old := db.bolt
	db.bolt = now
	db.swaps++
	db.runs.reset()
	db.packs.reset()
	return errors.Join(syncDir(filepath.Dir(db.file)), old.Close())
}

// Compacted returns when the database was last written as a whole: compacted, or
// made.
func (db *DB) Compacted(context.Context) (at time.Time, err error) {
	err = db.view(func(v *view) error {
		meta := v.tx.Bucket(bucketMeta)
		r := reader{b: meta.Get(metaCreated)}
		if raw := meta.Get(metaCompacted); len(raw) == 8 {
			r.b = raw
		}
		at = unstamp(r.wide())
		if r.bad {
			return corrupt("meta", "its dates cannot be read")
		}
		return nil
	})
	return at, err
}

// writeCompact writes a compact copy of a database to a new file and syncs it.
func writeCompact(ctx context.Context, from *txn, path string, now time.Time) (err error) {
	if err := removeFile(path); err != nil {
		return err
	}
	// Nobody reads the file before it is whole: it is synced once, at the end, and
	// takes no more room than its pages.
	to, err := bolt.Open(path, fileMode, &bolt.Options{NoSync: true, NoGrowSync: true, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	c := compactor{ctx: ctx, from: from, to: to}
	if c.enc, err = newEncoder(); err != nil {
		return err
	}
	defer c.enc.Close()
	if err := c.begin(); err != nil {
		return err
	}
	if err := from.outcome(c.copy()); err != nil {
		return errors.Join(err, c.tx.Rollback())
	}
	if err := c.tx.Bucket(bucketMeta).Put(metaCompacted, binary.BigEndian.AppendUint64(nil, uint64(now.Unix()))); err != nil {
		return errors.Join(err, c.tx.Rollback())
	}
	if err := c.tx.Commit(); err != nil {
		return err
	}
	return to.Sync()
}

// compactor copies buckets in key order, and packs tables, in transactions of
// bounded size.
type compactor struct {
	ctx     context.Context
	from    *txn
	enc     *zstd.Encoder
	to      *bolt.DB
	tx      *bolt.Tx
	written int
}

func (c *compactor) begin() (err error) {
	c.written = 0
	c.tx, err = c.to.Begin(true)
	return err
}

// copy copies the file. Blocks go on with the numbers of the old file.
func (c *compactor) copy() error {
	pack, err := c.create([][]byte{bucketPack})
	if err != nil {
		return err
	}
	if err := pack.SetSequence(c.from.known); err != nil {
		return err
	}
	return c.from.ForEach(func(name []byte, b *bolt.Bucket) error {
		if bytes.Equal(name, bucketPack) {
			return nil
		}
		return c.bucket([][]byte{name}, b)
	})
}

// formOf returns how the entries of a bucket are packed, if they are. What every
// run changes, or one read asks for whole, is left as it is.
func formOf(name []byte) (packForm, bool) {
	switch string(name) {
	case string(bucketHist):
		return packHist, true
	case string(bucketDict), string(bucketRDict), string(bucketSeries), string(bucketSKey), string(bucketInv), string(bucketDetail),
		string(bucketSpec), string(bucketRuns), string(bucketRunLog), string(bucketLog), string(bucketFX):
		return packRows, true
	}
	return 0, false
}

// pack writes the entries of a table as blocks.
func (c *compactor) pack(path [][]byte, form packForm) error {
	name := path[len(path)-1]
	var parent []byte
	into := [][]byte{bucketPack, name}
	if len(path) > 1 {
		parent = path[0]
		into = [][]byte{parent, bucketPack, name}
		if _, err := c.create(into[:2]); err != nil && !errors.Is(err, berrors.ErrBucketExists) {
			return err
		}
	}
	to, err := c.create(into)
	if err != nil {
		return err
	}
	w := blockBuilder{form: form, enc: c.enc, nextID: func() (uint64, error) { return c.tx.Bucket(bucketPack).NextSequence() }}
	w.put = func(key, value []byte) error {
		if to, err = c.room(into, to, len(key)+len(value)); err != nil {
			return err
		}
		return to.Put(key, value)
	}
	cur := c.from.tableIn(parent, name).Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := w.add(k, v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return w.finish()
}

// room returns the bucket to write some bytes to.
func (c *compactor) room(path [][]byte, to *bolt.Bucket, bytes int) (*bolt.Bucket, error) {
	if c.written += bytes; c.written <= compactBatch {
		return to, nil
	}
	return c.next(path)
}

// bucket copies a bucket, named by its path, with those inside it.
func (c *compactor) bucket(path [][]byte, from *bolt.Bucket) error {
	to, err := c.create(path)
	if err != nil {
		return err
	}
	if err := to.SetSequence(from.Sequence()); err != nil {
		return err
	}
	if form, ok := formOf(path[len(path)-1]); ok {
		return c.pack(path, form)
	}
	cur := from.Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
		if v == nil && bytes.Equal(k, bucketPack) {
			continue
		}
		if v == nil {
			inner := append(path[:len(path):len(path)], bytes.Clone(k))
			if err := c.bucket(inner, from.Bucket(k)); err != nil {
				return err
			}
			if to, err = c.find(path); err != nil {
				return err
			}
			continue
		}
		if to, err = c.room(path, to, len(k)+len(v)); err != nil {
			return err
		}
		if err := to.Put(k, v); err != nil {
			return fmt.Errorf("%s: %w", bytes.Join(path, []byte("/")), err)
		}
	}
	return nil
}

// next commits what was written and returns the bucket in a new transaction.
func (c *compactor) next(path [][]byte) (*bolt.Bucket, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.tx.Commit(); err != nil {
		return nil, err
	}
	if err := c.begin(); err != nil {
		return nil, err
	}
	return c.find(path)
}

func (c *compactor) create(path [][]byte) (*bolt.Bucket, error) {
	name := path[len(path)-1]
	if len(path) == 1 {
		b, err := c.tx.CreateBucket(name)
		return filled(b, name), err
	}
	parent, err := c.find(path[:len(path)-1])
	if err != nil {
		return nil, err
	}
	b, err := parent.CreateBucket(name)
	return filled(b, name), err
}

func (c *compactor) find(path [][]byte) (*bolt.Bucket, error) {
	b := c.tx.Bucket(path[0])
	for _, name := range path[1:] {
		if b == nil {
			break
		}
		b = b.Bucket(name)
	}
	if b == nil {
		return nil, corrupt(string(path[0]), "bucket is gone")
	}
	return filled(b, path[len(path)-1]), nil
}

// filled sets how full the pages of a copy get. What later writes change in
// place gets room to grow, or the first of them would split every page it meets.
func filled(b *bolt.Bucket, name []byte) *bolt.Bucket {
	if b == nil {
		return nil
	}
	switch string(name) {
	case string(bucketArchive), string(bucketQuarantine):
		b.FillPercent = fillInsert
	default:
		b.FillPercent = fillAppend
	}
	return b
}
