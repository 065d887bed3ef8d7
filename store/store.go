package store

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/gputide/gputide"
)

const (
	// defaultLockTimeout bounds the wait for another process to let go.
	defaultLockTimeout = time.Second

	// initialMmap is mapped at once on 64-bit machines, so that a file that grows
	// does not have to wait for readers to be mapped anew.
	initialMmap = 4 << 30

	fileMode = 0o600
)

// Options configures [Open]. The zero value opens for writing with no derived
// attributes.
type Options struct {
	ReadOnly    bool             // share the file with other readers; every write fails
	Deriver     Deriver          // nil derives nothing
	Now         func() time.Time // nil is time.Now
	ToolVersion string           // recorded in the file
	LockTimeout time.Duration    // how long to wait for another process; 0 is one second

	ladder []migration // nil is the ladder of this version; tests compose others
}

// DB is an open database. Its methods are safe for concurrent use; writes
// exclude each other.
type DB struct {
	path     string
	readOnly bool
	deriver  Deriver
	now      func() time.Time
	tool     string
	bolt     *bolt.DB
	lock     *fileLock
	dict     dictCache
	runs     runCache
	overlays [2]overlay // derived attributes of a read-only database whose stored ones come of other tables

	writing sync.Mutex             // held by a write from its first read to its commit; guards what follows
	seed    maphash.Seed           // of the prints of listings
	keys    [2]keyCache            // of offers and signals
	tails   map[uint32]mark        // newest mark of a scope
	lastRun map[uint32]uint64      // newest run of a provider
	runAt   map[runMoment][]uint64 // nil until first needed
	entries []entry                // buffers of the last commit
	content []byte
}

// Open opens the database at path and creates it unless it is read-only. It
// returns [gputide.ErrStoreLocked] when another process holds it longer than
// the timeout, [gputide.ErrNotFound] when a database to read does not exist and
// [gputide.ErrInvalid] when the file is none of ours or of a newer version.
func Open(path string, opt Options) (*DB, error) {
	db := &DB{seed: maphash.MakeSeed(), path: path, readOnly: opt.ReadOnly, deriver: opt.Deriver, now: opt.Now, tool: opt.ToolVersion}
	if db.now == nil {
		db.now = time.Now
	}
	if opt.LockTimeout <= 0 {
		opt.LockTimeout = defaultLockTimeout
	}
	if opt.ladder == nil {
		opt.ladder = migrations()
	}
	if err := db.open(opt); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (db *DB) open(opt Options) error {
	if db.readOnly {
		if _, err := os.Stat(db.path); errors.Is(err, fs.ErrNotExist) {
			return &gputide.HintError{
				Err:  fmt.Errorf("%w: database %s", gputide.ErrNotFound, db.path),
				Hint: "run gputide crawl to create it, or name another with --db",
			}
		}
	} else if err := db.acquire(opt.LockTimeout); err != nil {
		return err
	}
	bopt := &bolt.Options{
		Timeout:      opt.LockTimeout,
		ReadOnly:     db.readOnly,
		FreelistType: bolt.FreelistMapType,
	}
	if strconv.IntSize == 64 && !db.readOnly {
		mapped := int64(initialMmap)
		bopt.InitialMmapSize = int(mapped)
	}
	var err error
	db.bolt, err = bolt.Open(db.path, fileMode, bopt)
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return lockedError(db.path)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return &gputide.HintError{
			Err:  fmt.Errorf("%w: %s is not a database of gputide: %w", gputide.ErrInvalid, db.path, err),
			Hint: "name another file with --db, or restore a backup",
		}
	case err != nil:
		return fmt.Errorf("open %s: %w", db.path, err)
	}
	return db.prepare(opt.ladder)
}

func (db *DB) acquire(timeout time.Duration) error {
	lock, err := lockFile(db.path+".lock", timeout)
	if errors.Is(err, errLockHeld) {
		return lockedError(db.path)
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", db.path, err)
	}
	db.lock = lock
	return nil
}

func lockedError(path string) error {
	return &gputide.HintError{
		Err:  fmt.Errorf("%w: %s", gputide.ErrStoreLocked, path),
		Hint: "another gputide has it open: wait for it, or ask the daemon through its socket",
	}
}

// Close waits for running reads and releases the file. A second call does
// nothing.
func (db *DB) Close() error {
	var err error
	if db.bolt != nil {
		err = db.bolt.Close()
	}
	if db.lock != nil {
		err = errors.Join(err, db.lock.release())
		db.lock = nil
	}
	return err
}

// Path returns the path the database was opened with.
func (db *DB) Path() string { return db.path }
