package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// schemaVersion is the layout this version writes. Raising it takes a step in
// migrations and the new bytes in format.md.
const schemaVersion = 2

// Names of the buckets. format.md describes the bytes of each.
var (
	bucketMeta       = []byte("meta")
	bucketDict       = []byte("dict")
	bucketRDict      = []byte("rdict")
	bucketSeries     = []byte("series")
	bucketSKey       = []byte("skey")
	bucketInv        = []byte("inv")
	bucketSpec       = []byte("spec")
	bucketLast       = []byte("last")
	bucketHist       = []byte("hist")
	bucketDetail     = []byte("detail")
	bucketScope      = []byte("scope")
	bucketRuns       = []byte("runs")
	bucketRunLog     = []byte("runlog")
	bucketLog        = []byte("log")
	bucketSignal     = []byte("signal")
	bucketFX         = []byte("fx")
	bucketQuarantine = []byte("quarantine")
	bucketArchive    = []byte("archive")
	bucketPack       = []byte("pack")
)

// Keys of the meta bucket.
var (
	metaSchema    = []byte("schema")
	metaCreated   = []byte("created")
	metaTool      = []byte("tool")
	metaCatalogue = []byte("catalogue")
	metaPruned    = []byte("pruned")
	metaCompacted = []byte("compacted")
)

// Fill of pages. A leaf that is only appended to is packed; one whose values
// grow in place must keep the default, or it splits all the time.
const (
	fillAppend = 0.95
	fillInsert = 0.8
)

func topBuckets() [][]byte {
	return [][]byte{
		bucketMeta, bucketDict, bucketRDict, bucketSeries, bucketSKey, bucketInv, bucketSpec, bucketLast, bucketHist,
		bucketDetail, bucketScope, bucketRuns, bucketRunLog, bucketLog, bucketSignal, bucketFX, bucketQuarantine,
		bucketArchive, bucketPack,
	}
}

func bookBuckets() [][]byte {
	return [][]byte{bucketSeries, bucketSKey, bucketInv, bucketLast, bucketHist}
}

// prepare brings the file to the schema of this version and the derived
// attributes to the tables of the deriver.
func (db *DB) prepare(ladder []migration) error {
	var schema int
	err := db.read(func(tx *txn) (err error) {
		schema, err = readSchema(tx.Tx)
		return err
	})
	if err != nil {
		return err
	}
	if schema > schemaVersion {
		return newerError(db.path, schema)
	}
	if schema < schemaVersion {
		if db.readOnly {
			return &gputide.HintError{
				Err:  fmt.Errorf("%w: %s has schema %d, this version reads %d", gputide.ErrInvalid, db.path, schema, schemaVersion),
				Hint: "run gputide crawl once: opening it for writing brings it up to date",
			}
		}
		if err := db.write(func(tx *txn) error { return db.upgrade(tx, schema, ladder) }); err != nil {
			return fmt.Errorf("prepare %s: %w", db.path, err)
		}
	}
	return db.prepareDerived()
}

func (db *DB) upgrade(tx *txn, schema int, ladder []migration) error {
	if schema == 0 {
		return db.create(tx)
	}
	return climb(tx.Tx, schema, schemaVersion, ladder)
}

func (db *DB) create(tx *txn) error {
	for _, name := range topBuckets() {
		if _, err := tx.CreateBucket(name); err != nil {
			return fmt.Errorf("bucket %s: %w", name, err)
		}
	}
	for _, name := range bookBuckets() {
		if _, err := tx.Bucket(bucketSignal).CreateBucket(name); err != nil {
			return fmt.Errorf("bucket %s: %w", name, err)
		}
	}
	meta := tx.Bucket(bucketMeta)
	if err := meta.Put(metaCreated, binary.BigEndian.AppendUint64(nil, uint64(db.now().Unix()))); err != nil {
		return err
	}
	if err := meta.Put(metaTool, []byte(db.tool)); err != nil {
		return err
	}
	return writeSchema(tx.Tx, schemaVersion)
}

// readSchema returns the schema version of a file; 0 for an empty one. It
// refuses a bbolt file of somebody else.
func readSchema(tx *bolt.Tx) (int, error) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return 0, notOurs("it has no meta bucket")
		}
		return 0, nil
	}
	v := meta.Get(metaSchema)
	if len(v) != 4 || bytes.Equal(v, []byte{0, 0, 0, 0}) {
		return 0, notOurs("it has no schema version")
	}
	return int(binary.BigEndian.Uint32(v)), nil
}

func writeSchema(tx *bolt.Tx, version int) error {
	return tx.Bucket(bucketMeta).Put(metaSchema, binary.BigEndian.AppendUint32(nil, uint32(version)))
}

func notOurs(why string) error {
	return &gputide.HintError{
		Err:  fmt.Errorf("%w: not a database of gputide: %s", gputide.ErrInvalid, why),
		Hint: "name another file with --db",
	}
}

func newerError(path string, schema int) error {
	return &gputide.HintError{
		Err: fmt.Errorf("%w: %s has schema %d and was written by a newer gputide; this one knows schemas up to %d",
			gputide.ErrInvalid, path, schema, schemaVersion),
		Hint: "update gputide, or name another file with --db",
	}
}

// seconds converts a moment to the stored form. It returns [gputide.ErrInvalid]
// for a moment outside 1970–2106.
func seconds(t time.Time) (uint32, error) {
	s := t.Unix()
	if s <= 0 || s > maxSeconds {
		return 0, fmt.Errorf("%w: moment %s is outside 1970–2106", gputide.ErrInvalid, t.UTC().Format(time.RFC3339))
	}
	return uint32(s), nil
}

// clampSeconds converts the moment of a question: one outside the range is the
// nearest inside it.
func clampSeconds(t time.Time) uint32 { return uint32(min(max(t.Unix(), 0), maxSeconds)) }

const maxSeconds = 1<<32 - 1

// moment converts a stored time; zero is the zero time.
func moment(s uint32) time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0).UTC()
}
