//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

// inherit does nothing: a new file gets its permissions from the folder.
func inherit(_, _ string) error { return nil }

// syncDir does nothing: a folder cannot be synced.
func syncDir(string) error { return nil }
