package store

import (
	"errors"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// TestCheckFindsBrokenBenchmarks spoils a stored result in two ways.
func TestCheckFindsBrokenBenchmarks(t *testing.T) {
	result := gputide.Benchmark{Round: "v4.1", ID: "v4.1-0043", Model: "llama2-70b-99", Scenario: "Offline", Result: "24524.9", Units: "Tokens/s"}
	for name, spoil := range map[string]func(*bolt.Bucket) error{
		"value": func(b *bolt.Bucket) error { return spoilFirst(b, 0) },
		"name": func(b *bolt.Bucket) error {
			k, v := b.Cursor().First()
			return b.Put(append([]byte("v9\x00"), k...), append([]byte(nil), v...))
		},
	} {
		db, err := Open(filepath.Join(t.TempDir(), "bench.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.PutBenchmarks(t.Context(), []gputide.Benchmark{result}); err != nil {
			t.Fatal(err)
		}
		if err := db.Check(t.Context()); err != nil {
			t.Errorf("before: %v", err)
		}
		if err := db.bolt.Update(func(tx *bolt.Tx) error { return spoil(tx.Bucket(bucketBench)) }); err != nil {
			t.Fatal(err)
		}
		if err := db.Check(t.Context()); !errors.Is(err, errCorrupt) {
			t.Errorf("%s: check says %v", name, err)
		}
		if _, err := db.Benchmarks(t.Context(), gputide.BenchmarkFilter{}); !errors.Is(err, errCorrupt) {
			t.Errorf("%s: reading says %v", name, err)
		}
	}
}
