package store

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
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
	file     string // path without symbolic links: what is locked and replaced
	readOnly bool
	deriver  Deriver
	now      func() time.Time
	tool     string
	dict     dictCache
	runs     runCache
	packs    *packer
	overlays [2]overlay // derived attributes of a read-only database whose stored ones come of other tables

	swap  sync.RWMutex // held for reading by every transaction; guards what follows
	bolt  *bolt.DB
	lock  *fileLock
	swaps uint64 // how often the file was replaced by a compacted one

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
	db := newDB(path, opt)
	if err := db.open(opt); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func newDB(path string, opt Options) *DB {
	db := &DB{
		seed: maphash.MakeSeed(), path: path, file: resolve(path), readOnly: opt.ReadOnly, deriver: opt.Deriver, now: opt.Now,
		tool: opt.ToolVersion,
	}
	if db.now == nil {
		db.now = time.Now
	}
	return db
}

// resolve follows the symbolic links of a path: a file renamed over a link would
// replace the link, and a lock beside it would be another's.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func (db *DB) open(opt Options) error {
	if opt.LockTimeout <= 0 {
		opt.LockTimeout = defaultLockTimeout
	}
	if db.readOnly {
		if info, err := os.Stat(db.path); errors.Is(err, fs.ErrNotExist) || (err == nil && info.Mode().IsRegular() && info.Size() == 0) {
			return &gputide.HintError{
				Err:  fmt.Errorf("%w: database %s", gputide.ErrNotFound, db.path),
				Hint: "run gputide crawl to create it, or name another with --db",
			}
		}
	} else {
		lock, err := acquire(db.file, opt.LockTimeout)
		if err != nil {
			return err
		}
		db.lock = lock
		if err := removeLeftovers(db.file); err != nil {
			return err
		}
	}
	return db.mount(opt)
}

// mount opens the file and brings it to this version.
func (db *DB) mount(opt Options) (err error) {
	if opt.ladder == nil {
		opt.ladder = migrations()
	}
	if db.packs, err = newPacker(); err != nil {
		return err
	}
	if db.bolt, err = openBolt(db.path, db.file, db.readOnly, opt.LockTimeout); err != nil {
		return err
	}
	return db.prepare(opt.ladder)
}

// openBolt opens the file of a database that is, or is to be, at path. A file
// that was replaced while its lock was waited for is let go and the one in its
// place opened.
func openBolt(path, file string, readOnly bool, timeout time.Duration) (*bolt.DB, error) {
	deadline := time.Now().Add(timeout)
	for {
		b, opened, err := tryBolt(path, file, readOnly, max(time.Until(deadline), time.Millisecond))
		if err != nil {
			return nil, err
		}
		now, err := os.Stat(file)
		if err == nil && os.SameFile(opened, now) {
			return b, nil
		}
		if err := errors.Join(err, b.Close()); err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
	}
}

func tryBolt(path, file string, readOnly bool, timeout time.Duration) (*bolt.DB, fs.FileInfo, error) {
	var opened *os.File
	bopt := &bolt.Options{
		Timeout:      timeout,
		ReadOnly:     readOnly,
		FreelistType: bolt.FreelistMapType,
		OpenFile: func(_ string, flag int, mode os.FileMode) (_ *os.File, err error) {
			opened, err = os.OpenFile(file, flag, mode)
			return opened, err
		},
	}
	if strconv.IntSize == 64 && !readOnly {
		mapped := int64(initialMmap)
		bopt.InitialMmapSize = int(mapped)
	}
	b, err := openPages(path, bopt)
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, nil, lockedError(path)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return nil, nil, &gputide.HintError{
			Err:  fmt.Errorf("%w: %s is not a database of gputide: %w", gputide.ErrInvalid, path, err),
			Hint: "name another file with --db, or restore a backup",
		}
	case err != nil:
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	info, err := opened.Stat()
	if err == nil {
		err = sound(func() error { return b.View(func(tx *bolt.Tx) error { return checkWhole(tx, info) }) })
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", path, err), b.Close())
	}
	return b, info, nil
}

// checkWhole refuses a file that was cut short: reading past its end kills the
// process.
func checkWhole(tx *bolt.Tx, file fs.FileInfo) error {
	if file.Size() >= tx.Size() {
		return nil
	}
	return &gputide.HintError{
		Err:  fmt.Errorf("%w: the file is cut short: %d bytes of %d", gputide.ErrInvalid, file.Size(), tx.Size()),
		Hint: "restore a backup with gputide db restore",
	}
}

// acquire takes the lock of the writer of a database.
func acquire(path string, timeout time.Duration) (*fileLock, error) {
	lock, err := lockFile(path+".lock", timeout)
	if errors.Is(err, errLockHeld) {
		return nil, lockedError(path)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return lock, nil
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
	db.swap.Lock()
	defer db.swap.Unlock()
	var err error
	if db.bolt != nil {
		err = db.bolt.Close()
	}
	if db.packs != nil {
		db.packs.dec.Close()
	}
	if db.lock != nil {
		err = errors.Join(err, db.lock.release())
		db.lock = nil
	}
	return err
}

// Path returns the path the database was opened with.
func (db *DB) Path() string { return db.path }
