package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// ReplacedSuffix is appended to the path of a database for the one that a
// restore replaced last.
const ReplacedSuffix = ".before-restore"

// Restore puts a copy of a backup in the place of a database, or where there is
// none. The copy is brought to the schema of this version and checked before; a
// database it replaces is kept beside it, under [ReplacedSuffix]. After a crash
// the old database or the new one is there, whole.
//
// It returns [gputide.ErrStoreLocked] when the database, or the backup, is in
// use longer than the timeout of opt, and [gputide.ErrInvalid] when the backup
// is none of ours, of a newer version, empty or unsound. ReadOnly is ignored.
func Restore(ctx context.Context, backup, path string, opt Options) (Resized, error) {
	if opt.LockTimeout <= 0 {
		opt.LockTimeout = defaultLockTimeout
	}
	r := restore{backup: resolve(backup), file: resolve(path), opt: opt}
	size, err := r.do(ctx)
	if err != nil {
		return Resized{}, fmt.Errorf("restore %s from %s: %w", path, backup, err)
	}
	return size, nil
}

type restore struct {
	backup, file string
	opt          Options
}

func (r *restore) do(ctx context.Context) (size Resized, err error) {
	if err := r.checkBackup(); err != nil {
		return size, err
	}
	lock, err := acquire(r.file, r.opt.LockTimeout)
	if err != nil {
		return size, err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if err := removeLeftovers(r.file); err != nil {
		return size, err
	}
	readers, err := r.lockOut()
	if err != nil {
		return size, err
	}
	if readers != nil {
		defer func() { err = errors.Join(err, readers.release()) }()
	}
	aside := r.file + restoreSuffix
	defer func() { err = errors.Join(err, removeFile(aside)) }() // gone when it was put in place
	if err := r.copyTo(ctx, aside); err != nil {
		return size, err
	}
	if size.Before, err = fileSize(r.file); err != nil {
		return size, err
	}
	if size.After, err = fileSize(aside); err != nil {
		return size, err
	}
	return size, r.put(aside, readers != nil)
}

// checkBackup refuses what can be told to be no backup by its name and size.
func (r *restore) checkBackup() error {
	info, err := os.Stat(r.backup)
	if errors.Is(err, fs.ErrNotExist) {
		return &gputide.HintError{
			Err: fmt.Errorf("%w: backup %s", gputide.ErrNotFound, r.backup), Hint: "name a file that gputide db backup wrote",
		}
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return notBackup("it is empty or no plain file")
	}
	if now, err := os.Stat(r.file); err == nil && os.SameFile(now, info) {
		return notBackup("it is the database itself")
	}
	return nil
}

func notBackup(why string) error {
	return &gputide.HintError{
		Err: fmt.Errorf("%w: not a backup: %s", gputide.ErrInvalid, why), Hint: "name a file that gputide db backup wrote",
	}
}

// lockOut waits until nobody reads the database and keeps readers out; nil when
// there is no database. bbolt is not asked: the file may be damaged.
func (r *restore) lockOut() (*fileLock, error) {
	if _, err := os.Stat(r.file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	l, err := lockFile(r.file, r.opt.LockTimeout)
	if errors.Is(err, errLockHeld) {
		return nil, lockedError(r.file)
	}
	return l, err
}

// copyTo writes a copy of the backup, as it is while no writer has it, and makes
// it a sound database of this version.
func (r *restore) copyTo(ctx context.Context, aside string) error {
	from, _, err := tryBolt(r.backup, r.backup, true, r.opt.LockTimeout)
	if errors.Is(err, gputide.ErrStoreLocked) {
		return &gputide.HintError{
			Err: fmt.Errorf("%w: %s", gputide.ErrStoreLocked, r.backup), Hint: "it is the database of a running gputide: make a backup of it first",
		}
	}
	if err != nil {
		return err
	}
	err = sound(func() error {
		return from.View(func(tx *bolt.Tx) error { return copyBackup(tx, aside) })
	})
	if err := errors.Join(err, from.Close()); err != nil {
		return err
	}
	return r.verify(ctx, aside)
}

// copyBackup writes the file of a transaction to a new one. Its pages are
// checked before anything is read from them.
func copyBackup(tx *bolt.Tx, aside string) error {
	if err := checkPages(tx); err != nil {
		return unsound(err)
	}
	schema, err := readSchema(tx)
	if err != nil {
		return err
	}
	if schema == 0 {
		return notBackup("it holds nothing")
	}
	f, err := os.OpenFile(aside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	_, err = tx.WriteTo(f)
	return errors.Join(err, f.Sync(), f.Close())
}

func unsound(err error) error {
	return &gputide.HintError{
		Err: fmt.Errorf("%w: the backup is not sound: %w", gputide.ErrInvalid, err), Hint: "restore an older backup; the database is as it was",
	}
}

func (r *restore) verify(ctx context.Context, aside string) error {
	opt := r.opt
	opt.ReadOnly = false
	db := newDB(aside, opt)
	if err := db.mount(opt); err != nil {
		return errors.Join(err, db.Close())
	}
	err := db.Check(ctx)
	if err != nil && ctx.Err() == nil {
		err = unsound(err)
	}
	return errors.Join(err, db.bolt.Sync(), db.Close())
}

// put renames the restored file into place and keeps the one it replaces.
func (r *restore) put(aside string, replaces bool) error {
	if replaces {
		if err := inherit(aside, r.file); err != nil {
			return err
		}
		kept := r.file + ReplacedSuffix
		if err := errors.Join(removeFile(kept), os.Link(r.file, kept)); err != nil {
			return &gputide.HintError{
				Err: fmt.Errorf("keep the database there is: %w", err), Hint: "move it away, then restore",
			}
		}
	}
	return replaceFile(aside, r.file)
}
