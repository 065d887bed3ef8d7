//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/gputide/gputide"
)

// inherit gives a file the owner and permissions of the one it is to replace:
// compacted by the administrator, a database stays that of its daemon.
func inherit(path, of string) error {
	have, err := os.Stat(path)
	if err != nil {
		return err
	}
	want, err := os.Stat(of)
	if err != nil {
		return err
	}
	h, ok1 := have.Sys().(*syscall.Stat_t)
	w, ok2 := want.Sys().(*syscall.Stat_t)
	if ok1 && ok2 && (h.Uid != w.Uid || h.Gid != w.Gid) {
		if err := os.Chown(path, int(w.Uid), int(w.Gid)); err != nil {
			return &gputide.HintError{
				Err: fmt.Errorf("keep the owner of %s: %w", of, err), Hint: "run it as the user who owns the database",
			}
		}
	}
	return os.Chmod(path, want.Mode().Perm())
}

// syncDir makes the names in a folder last through a crash.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
