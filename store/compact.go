package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

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
		if err := checkPages(v.tx); err != nil {
			return fmt.Errorf("it is not sound: %w", err)
		}
		return writeCompact(ctx, v.tx, aside)
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
	return errors.Join(syncDir(filepath.Dir(db.file)), old.Close())
}

// writeCompact writes a compact copy of a database to a new file and syncs it.
func writeCompact(ctx context.Context, from *bolt.Tx, path string) (err error) {
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
	c := compactor{ctx: ctx, to: to}
	if err := c.begin(); err != nil {
		return err
	}
	err = from.ForEach(func(name []byte, b *bolt.Bucket) error { return c.bucket([][]byte{name}, b) })
	if err != nil {
		return errors.Join(err, c.tx.Rollback())
	}
	if err := c.tx.Commit(); err != nil {
		return err
	}
	return to.Sync()
}

// compactor copies buckets in key order, in transactions of bounded size.
type compactor struct {
	ctx     context.Context
	to      *bolt.DB
	tx      *bolt.Tx
	written int
}

func (c *compactor) begin() (err error) {
	c.written = 0
	c.tx, err = c.to.Begin(true)
	return err
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
	cur := from.Cursor()
	for k, v := cur.First(); k != nil; k, v = cur.Next() {
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
		if c.written += len(k) + len(v); c.written > compactBatch {
			if to, err = c.next(path); err != nil {
				return err
			}
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
	case string(bucketDict), string(bucketRunLog), string(bucketLog), string(bucketRuns), string(bucketSeries), string(bucketLast):
		b.FillPercent = fillAppend
	default:
		b.FillPercent = fillInsert
	}
	return b
}
