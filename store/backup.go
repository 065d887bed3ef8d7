package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gputide/gputide"
)

// Snapshot writes a consistent copy of the database, itself a database, to w.
// Compaction, and a commit that needs the file to grow, wait until w has taken
// all of it: where w is slow, use [DB.Backup].
func (db *DB) Snapshot(w io.Writer) error {
	return db.view(func(v *view) error {
		if _, err := v.tx.WriteTo(w); err != nil {
			return fmt.Errorf("snapshot %s: %w", db.path, err)
		}
		return nil
	})
}

// Backup writes a consistent copy of the database to a file and returns its size
// in bytes. The file appears whole or not at all; one that is there is replaced.
// It returns [gputide.ErrInvalid] for the database itself and for what is no
// plain file.
func (db *DB) Backup(ctx context.Context, path string) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	path = resolve(path)
	if err := db.checkTarget(path); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return 0, fmt.Errorf("backup: %w", err)
	}
	err = db.Snapshot(f)
	n, sizeErr := f.Seek(0, io.SeekCurrent)
	if err = errors.Join(err, sizeErr, f.Sync(), f.Close()); err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = replaceFile(f.Name(), path)
	}
	if err != nil {
		return 0, fmt.Errorf("backup: %w", errors.Join(err, removeFile(f.Name())))
	}
	return n, nil
}

// checkTarget refuses to write a backup over what must not be replaced.
func (db *DB) checkTarget(path string) error {
	to, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if !to.Mode().IsRegular() {
		return fmt.Errorf("backup: %w: %s is no plain file", gputide.ErrInvalid, path)
	}
	own := []string{db.file, db.file + ".lock", db.file + compactSuffix, db.file + restoreSuffix}
	for _, name := range own {
		if from, err := os.Stat(name); err == nil && os.SameFile(from, to) {
			return &gputide.HintError{
				Err:  fmt.Errorf("backup: %w: %s belongs to the database", gputide.ErrInvalid, path),
				Hint: "name another file",
			}
		}
	}
	return nil
}
