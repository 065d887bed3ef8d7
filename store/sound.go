package store

import (
	"runtime"
	"runtime/debug"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// read runs fn in a read transaction of the file.
func (db *DB) read(fn func(*txn) error) error {
	return sound(func() error { return db.bolt.View(db.within(fn)) })
}

// write runs fn in a write transaction of the file.
func (db *DB) write(fn func(*txn) error) error {
	return sound(func() error { return db.bolt.Update(db.within(fn)) })
}

func (db *DB) within(fn func(*txn) error) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		t := db.begin(tx)
		return t.outcome(fn(t))
	}
}

// sound runs fn, which reads pages of a file, and returns what it comes upon in
// a broken one as an error: bbolt trusts its pages, panics over one that is not
// what it should be, and follows offsets out of the mapped memory.
func sound(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if !brokenPage(r) {
			panic(r)
		}
		err = &gputide.HintError{
			Err:  corrupt("page", "%v", r),
			Hint: "keep the file, restore the newest backup or crawl into a new one",
		}
	}()
	return fn()
}

// brokenPage reports whether a panic is over the file and not over the code: a
// fault of memory, or one that bbolt raised.
func brokenPage(r any) bool {
	if _, ok := r.(interface{ Addr() uintptr }); ok {
		return true
	}
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panicked := false
	for {
		f, more := frames.Next()
		own := !strings.HasPrefix(f.Function, "runtime.")
		if panicked && own {
			return strings.HasPrefix(f.Function, "go.etcd.io/bbolt")
		}
		panicked = panicked || strings.HasPrefix(f.Function, "runtime.gopanic")
		if !more {
			return false
		}
	}
}

// openPages opens a file of bbolt.
func openPages(path string, opt *bolt.Options) (b *bolt.DB, err error) {
	err = sound(func() error {
		b, err = bolt.Open(path, fileMode, opt)
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}
