package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gputide.db")
	db := openAt(t, path, store.Options{})
	fill(t, db, 0, 5)
	to := filepath.Join(t.TempDir(), "backup.db")
	for range 2 { // the second replaces the first
		n, err := db.Backup(t.Context(), to)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(to); err != nil || info.Size() != n || info.Mode().Perm() != 0o600 {
			t.Errorf("%v of %d bytes, %v; want %d", info.Mode(), info.Size(), err, n)
		}
	}
	if got := names(t, filepath.Dir(to)); len(got) != 1 {
		t.Errorf("files: %q", got)
	}
	copied := openAt(t, to, store.Options{ReadOnly: true})
	if a, b := exported(t, db), exported(t, copied); !slices.Equal(a, b) {
		t.Error("the backup differs")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{path, link, path + ".lock", dir, filepath.Join(dir, "no", "such")} {
		if _, err := db.Backup(t.Context(), to); err == nil {
			t.Errorf("a backup over %s", to)
		}
	}
	mustCommit(t, db, killRun(5)) // it is still there
}

func TestRestore(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "gputide.db"), filepath.Join(t.TempDir(), "backup.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db, 0, 5)
	want := exported(t, db)
	if _, err := db.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	fill(t, db, 5, 8)
	later := exported(t, db)
	opt := store.Options{LockTimeout: 10 * time.Millisecond, Now: func() time.Time { return killNight(100) }}
	if _, err := store.Restore(t.Context(), backup, path, opt); !errors.Is(err, gputide.ErrStoreLocked) {
		t.Errorf("over a database a writer has: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := store.Open(path, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), backup, path, opt); !errors.Is(err, gputide.ErrStoreLocked) {
		t.Errorf("over a database a reader has: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	holds := func(file string, want []string) {
		t.Helper()
		db, err := store.Open(file, store.Options{Now: func() time.Time { return killNight(5) }})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		got := exported(t, db)
		if len(got) != len(want) {
			t.Errorf("%s holds %d observations, want %d", file, len(got), len(want))
		}
	}
	size, err := store.Restore(t.Context(), backup, path, opt)
	if err != nil || size.Before == 0 || size.After == 0 {
		t.Fatalf("%+v, %v", size, err)
	}
	holds(path, want)
	holds(path+store.ReplacedSuffix, later)
	if _, err := store.Restore(t.Context(), path+store.ReplacedSuffix, path, opt); err != nil { // takes it back
		t.Fatal(err)
	}
	holds(path, later)

	// A damaged database is what a restore is for.
	if err := os.WriteFile(path, bytes.Repeat([]byte("damage"), 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Restore(t.Context(), backup, path, opt); err != nil {
		t.Fatal(err)
	}
	holds(path, want)
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	if size, err := store.Restore(t.Context(), backup, fresh, opt); err != nil || size.Before != 0 {
		t.Fatalf("%+v, %v", size, err)
	}
	holds(fresh, want)
}

// TestRestoreRefuses restores what is no sound backup: the database stays as it
// was and nothing is left beside it.
func TestRestoreRefuses(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "gputide.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db, 0, 3)
	good := filepath.Join(from, "good.db")
	if _, err := db.Backup(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, files := mustReadFile(t, path), names(t, dir)
	spoil := func(name string, fn func(*bolt.Tx) error) string {
		file := filepath.Join(from, name)
		if err := os.WriteFile(file, mustReadFile(t, good), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := bolt.Open(file, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.Update(fn), b.Close()); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write := func(name string, b []byte) string {
		file := filepath.Join(from, name)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	whole := mustReadFile(t, good)
	busy := openAt(t, spoil("busy.db", func(*bolt.Tx) error { return nil }), store.Options{})
	for name, c := range map[string]struct {
		file string
		want error
		hint string
	}{
		"nothing":     {filepath.Join(from, "nothing"), gputide.ErrNotFound, "db backup"},
		"folder":      {from, gputide.ErrInvalid, "db backup"},
		"empty":       {write("empty", nil), gputide.ErrInvalid, "db backup"},
		"text":        {write("text", bytes.Repeat([]byte("text"), 9000)), gputide.ErrInvalid, ""},
		"cut":         {write("cut", whole[:len(whole)/3]), gputide.ErrInvalid, "restore a backup"},
		"newer":       {spoil("newer", func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("schema"), []byte{0, 0, 0, 99}) }), gputide.ErrInvalid, "update gputide"},
		"another's":   {spoil("other", func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("meta")) }), gputide.ErrInvalid, ""},
		"unsound":     {spoil("unsound", func(tx *bolt.Tx) error { return tx.Bucket([]byte("last")).Delete([]byte{0, 0, 0, 0}) }), gputide.ErrInvalid, "older backup"},
		"broken page": {write("broken", slices.Concat(whole[:6*4096], bytes.Repeat([]byte{9}, 16*4096), whole[22*4096:])), gputide.ErrInvalid, "older backup"},
		"itself":      {path, gputide.ErrInvalid, ""},
		"of a writer": {busy.Path(), gputide.ErrStoreLocked, "make a backup"},
	} {
		_, err := store.Restore(t.Context(), c.file, path, store.Options{LockTimeout: 10 * time.Millisecond})
		hint, _ := errors.AsType[*gputide.HintError](err)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || c.hint != "" && (hint == nil || !strings.Contains(hint.Hint, c.hint)) {
			t.Errorf("%s: %v, want %v with a hint at %q", name, err, c.want, c.hint)
		}
		if !bytes.Equal(before, mustReadFile(t, path)) || !slices.Equal(files, names(t, dir)) {
			t.Errorf("%s: the database changed, or files were left: %q", name, names(t, dir))
		}
	}
}

func mustReadFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
