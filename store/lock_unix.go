//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// errLockHeld is returned when another process keeps the lock past the timeout.
var errLockHeld = errors.New("lock is held")

const lockRetry = 20 * time.Millisecond

// fileLock is an advisory lock on a file of its own. The lock bbolt takes stays
// with the inode, so a file that is renamed over the database (compaction,
// restore) could be opened by a second writer; this one outlives any rename.
type fileLock struct{ file *os.File }

func lockFile(path string, timeout time.Duration) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(timeout)
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &fileLock{file: f}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(err, f.Close())
		}
		if !time.Now().Add(lockRetry).Before(deadline) {
			return nil, errors.Join(errLockHeld, f.Close())
		}
		time.Sleep(lockRetry)
	}
}

// release gives the lock up. The file stays: removing it would let two
// processes lock two files of one name.
func (l *fileLock) release() error { return l.file.Close() }
