package store_test

import (
	"context"
	"errors"
	"hash/crc32"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/gputide/gputide"
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

// TestConformance runs the suite over databases that were never compacted, that
// are after every write and that are now and then.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store {
		db := open(t, store.Options{})
		if n := crc32.ChecksumIEEE([]byte(t.Name())) % 3; n > 0 {
			return &packing{DB: db, every: []int{1, 3}[n-1]}
		}
		return db
	})
}

// packing is a database that is compacted after every few writes.
type packing struct {
	*store.DB
	every  int
	writes int
}

func (p *packing) CommitRun(ctx context.Context, run *gputide.Run) (gputide.CommitResult, error) {
	res, err := p.DB.CommitRun(ctx, run)
	return res, errors.Join(err, p.written(ctx))
}

func (p *packing) Import(ctx context.Context, profile string, kind gputide.ImportKind, rows iter.Seq2[gputide.ImportRow, error]) (gputide.ImportResult, error) {
	res, err := p.DB.Import(ctx, profile, kind, rows)
	return res, errors.Join(err, p.written(ctx))
}

func (p *packing) written(ctx context.Context) error {
	if p.writes++; p.writes%p.every != 0 {
		return nil
	}
	_, err := p.Compact(ctx)
	return err
}
