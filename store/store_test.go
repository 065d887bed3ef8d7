package store_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/gputide/gputide/store"
	"github.com/gputide/gputide/store/storetest"
)

// open returns a new database that is checked, and closed, when the test ends.
func open(t testing.TB, opt store.Options) *store.DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "gputide.db"), opt)
}

func openAt(t testing.TB, path string, opt store.Options) *store.DB {
	t.Helper()
	if opt.Now == nil {
		opt.Now = func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }
	}
	db, err := store.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Check(context.Background()); err != nil {
			t.Errorf("check: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store { return open(t, store.Options{}) })
}
