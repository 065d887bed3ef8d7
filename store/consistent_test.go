package store

import (
	"errors"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// bump commits something.
func bump(t *testing.T, db *DB) {
	t.Helper()
	db.writing.Lock()
	defer db.writing.Unlock()
	if err := db.bolt.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Put([]byte("test"), []byte("x")) }); err != nil {
		t.Fatal(err)
	}
}

func TestConsistent(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	boom := errors.New("boom")
	for _, commits := range []int{0, 1, 2} {
		calls := 0
		err := db.Consistent(t.Context(), func() error {
			calls++
			if calls <= commits {
				bump(t, db)
				return nil
			}
			return boom
		})
		if !errors.Is(err, boom) || calls != commits+1 {
			t.Errorf("%d commits between reads: %d calls, %v", commits, calls, err)
		}
	}
}

// TestConsistentHoldsCommits commits during every read: in the end the reader
// has its turn.
func TestConsistentHoldsCommits(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	calls := 0
	var first, last generation
	committed := make(chan struct{})
	err = db.Consistent(t.Context(), func() error {
		if calls++; calls <= consistentTries {
			bump(t, db)
			return nil
		}
		first, _ = db.generation()
		go func() {
			bump(t, db)
			close(committed)
		}()
		last, _ = db.generation()
		if db.writing.TryLock() {
			t.Error("a commit could come between the reads")
		}
		return nil
	})
	<-committed
	if err != nil || calls != consistentTries+1 || first != last {
		t.Errorf("%d calls, generations %v and %v, %v", calls, first, last, err)
	}
}
