package store

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// TestMigrateSchema1 opens a file as schema 1 left it: everything lies in its
// bucket, and there is none of packed blocks.
func TestMigrateSchema1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := &gputide.Run{Provider: "acme", At: moment(1_700_000_000), Cause: gputide.CauseCrawl}
	run.Offers = []gputide.Offer{{Key: gputide.Key{Provider: "acme", InstanceType: "a", Currency: "USD"}, Price: 5, Source: "api"}}
	run.Scopes = []gputide.ScopeRun{{Status: gputide.ScopeDone, Source: "api", Count: 1}}
	if _, err := db.CommitRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	err = db.bolt.Update(func(tx *bolt.Tx) error { return errors.Join(tx.DeleteBucket(bucketPack), writeSchema(tx, 1)) })
	was, err2 := db.Contents()
	if err := errors.Join(err, err2, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{ReadOnly: true}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("for reading only: %v, want it sent to be opened for writing", err)
	}
	if db, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	i := slices.IndexFunc(was, func(s string) bool { return s == "meta 736368656d61 00000001" })
	if i < 0 {
		t.Fatal("the file was not of schema 1")
	}
	was[i] = "meta 736368656d61 00000002"
	for _, pack := range []bool{false, true} {
		if pack {
			packFile(t, db)
		}
		now, err := db.Contents()
		if err != nil || !slices.Equal(now, was) {
			t.Errorf("packed %t: %d entries of %d, %v", pack, len(now), len(was), err)
		}
		if err := db.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
