package store_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

// TestBrokenPages damages pages of a file in many ways: whatever is asked of it
// is answered or refused, and never ends the process.
func TestBrokenPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		mustCommit(t, db, killRun(n))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pages := usedPages(good)
	rounds := 16
	if testing.Short() {
		rounds = 4
	}
	broken := 0
	for round := range rounds {
		rng := rand.New(rand.NewPCG(uint64(round), 4))
		bad := append([]byte(nil), good...)
		for range 1 + rng.IntN(3) {
			page := pages[rng.IntN(len(pages))]
			// The head of a page and its elements are what bbolt trusts most.
			// Not the overflow: its own check counts that many pages, up to 2³².
			at := rng.IntN([]int{16, 256, 4096}[rng.IntN(3)])
			if at >= 12 && at < 16 {
				at -= 4
			}
			bad[page+at] ^= byte(1 + rng.IntN(255))
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{true, false} {
			err := askAll(t, path, readOnly)
			if err == nil || !strings.Contains(err.Error(), "page") {
				continue
			}
			broken++
			if _, ok := errors.AsType[*gputide.HintError](err); !ok {
				t.Errorf("round %d: no hint: %v", round, err)
			}
		}
	}
	if broken == 0 {
		t.Error("no page was found broken")
	}
}

// usedPages returns the offsets of the pages that hold branches and leaves.
func usedPages(file []byte) []int {
	const size = 4096
	var out []int
	for at := 0; at+size <= len(file); at += size {
		if flags := file[at+8]; (flags == 1 || flags == 2) && file[at+9] == 0 {
			out = append(out, at)
		}
	}
	return out
}

// askAll asks a file everything and returns the first error over a page.
func askAll(t *testing.T, path string, readOnly bool) error {
	t.Helper()
	db, err := store.Open(path, store.Options{ReadOnly: readOnly})
	if err != nil {
		return nil //nolint:nilerr // refused as a whole
	}
	defer db.Close()
	ctx, at := t.Context(), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	var errs []error
	_, err = db.Quotes(ctx, gputide.Selection{}, at)
	errs = append(errs, err)
	_, err = db.Runs(ctx, "", 0)
	errs = append(errs, err)
	_, err = db.Stats(ctx)
	errs = append(errs, err)
	for _, err := range db.Changes(ctx, gputide.ChangeFilter{}) {
		errs = append(errs, err)
	}
	for _, err := range db.Export(ctx) {
		errs = append(errs, err)
	}
	errs = append(errs, db.Check(ctx))
	if !readOnly {
		_, err = db.CommitRun(ctx, killRun(3))
		errs = append(errs, err)
	}
	for _, err := range errs {
		if err != nil && strings.Contains(err.Error(), "corrupt: page") {
			return err
		}
	}
	return nil
}

// TestEmptyFile opens what a killed process or a touch left: to a reader it is
// no database yet, and a writer makes it one.
func TestEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(path, store.Options{ReadOnly: true})
	if _, ok := errors.AsType[*gputide.HintError](err); !ok || !errors.Is(err, gputide.ErrNotFound) {
		t.Errorf("to read: %v, want ErrNotFound with a hint", err)
	}
	mustCommit(t, openAt(t, path, store.Options{}), killRun(0))
}
