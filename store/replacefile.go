package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What is appended to the path of a database for the files written aside. Only
// the holder of the lock makes them, so one that is found at open is left from a
// crash.
const (
	compactSuffix = ".compact"
	restoreSuffix = ".restore"
)

// removeLeftovers removes what a crash left. The caller holds the lock.
func removeLeftovers(path string) error {
	for _, suffix := range []string{compactSuffix, restoreSuffix} {
		if err := removeFile(path + suffix); err != nil {
			return fmt.Errorf("left over from a crash: %w", err)
		}
	}
	return nil
}

// removeFile removes a file that may be gone already.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceFile puts a file, which is synced, in the place of another: after a
// crash one of the two is there, whole.
func replaceFile(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// fileSize returns the size of a file in bytes, 0 when there is none.
func fileSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
