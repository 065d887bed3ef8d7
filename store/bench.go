package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// bucketBench holds benchmark results. It is made when the first one is written.
var bucketBench = []byte("bench")

// benchName is the key of a result: round, id, model, scenario and units, each
// followed by a zero byte, so that results of a round lie together and none is
// the beginning of another.
func benchName(b *gputide.Benchmark) ([]byte, error) {
	var key []byte
	for _, part := range [...]struct{ name, text string }{
		{"round", b.Round},
		{"id", b.ID},
		{"model", b.Model},
		{"scenario", b.Scenario},
		{"units", b.Units},
	} {
		if part.text == "" || len(part.text) > maxLiteral || strings.ContainsRune(part.text, 0) {
			return nil, fmt.Errorf("%w: %s of a benchmark result is %.80q", gputide.ErrInvalid, part.name, part.text)
		}
		key = append(append(key, part.text...), 0)
	}
	return key, nil
}

func encodeBenchmark(b *gputide.Benchmark) (pair, error) {
	key, err := benchName(b)
	if err != nil {
		return pair{}, err
	}
	if v, err := gputide.ParseAmount(b.Result); err != nil || v.Sign() <= 0 {
		return pair{}, fmt.Errorf("%w: result %.80q of benchmark %s", gputide.ErrInvalid, b.Result, b.ID)
	}
	value, err := json.Marshal(b)
	if err != nil {
		return pair{}, fmt.Errorf("benchmark %s: %w", b.ID, err)
	}
	return pair{key, value}, nil
}

// PutBenchmarks stores benchmark results in one transaction. A result that is
// stored stays as it is: the same again is counted as known, another one under
// its name is refused and counted as a conflict, and so is the second of two in
// one call. It returns [gputide.ErrInvalid] for a result without a name or a
// positive value, and then stores nothing.
func (db *DB) PutBenchmarks(ctx context.Context, results []gputide.Benchmark) (gputide.BenchmarkResult, error) {
	var res gputide.BenchmarkResult
	if db.readOnly {
		return res, errReadOnly
	}
	pairs := make([]pair, len(results))
	for i := range results {
		var err error
		if pairs[i], err = encodeBenchmark(&results[i]); err != nil {
			return res, err
		}
	}
	if err := ctx.Err(); err != nil {
		return res, err
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	db.writing.Lock()
	defer db.writing.Unlock()
	err := db.write(func(tx *txn) (err error) {
		res, err = putBenchmarks(tx, pairs)
		return err
	})
	return res, err
}

func putBenchmarks(tx *txn, pairs []pair) (gputide.BenchmarkResult, error) {
	var res gputide.BenchmarkResult
	b, err := tx.CreateBucketIfNotExists(bucketBench)
	if err != nil {
		return res, fmt.Errorf("bucket %s: %w", bucketBench, err)
	}
	fresh := pairs[:0]
	for _, p := range pairs {
		old := b.Get(p.key)
		if n := len(fresh); old == nil && n > 0 && bytes.Equal(fresh[n-1].key, p.key) {
			old = fresh[n-1].value
		}
		switch {
		case old == nil:
			fresh = append(fresh, p)
		case bytes.Equal(old, p.value):
			res.Known++
		default:
			res.Conflicts++
		}
	}
	res.Added = len(fresh)
	return res, putSorted(b, fresh)
}

// Benchmarks returns the stored benchmark results that match, in order of
// round, id, model, scenario and units.
func (db *DB) Benchmarks(_ context.Context, f gputide.BenchmarkFilter) ([]gputide.Benchmark, error) {
	var out []gputide.Benchmark
	err := db.view(func(v *view) error {
		var prefix []byte
		if f.Round != "" {
			prefix = append([]byte(f.Round), 0)
		}
		return eachBenchmark(v.tx, prefix, func(b *gputide.Benchmark) {
			if matches(f.Model, b.Model) && matches(f.Scenario, b.Scenario) && matches(f.Units, b.Units) {
				out = append(out, *b)
			}
		})
	})
	slices.SortStableFunc(out, func(a, b gputide.Benchmark) int {
		return cmp.Or(
			strings.Compare(a.Round, b.Round), strings.Compare(a.ID, b.ID), strings.Compare(a.Model, b.Model),
			strings.Compare(a.Scenario, b.Scenario), strings.Compare(a.Units, b.Units))
	})
	return out, err
}

func matches(want, got string) bool { return want == "" || want == got }

// eachBenchmark calls fn with every stored result whose key starts with a prefix.
func eachBenchmark(tx *txn, prefix []byte, fn func(*gputide.Benchmark)) error {
	bucket := tx.Bucket(bucketBench)
	if bucket == nil {
		return nil
	}
	c := bucket.Cursor()
	for k, raw := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, raw = c.Next() {
		var b gputide.Benchmark
		if err := json.Unmarshal(raw, &b); err != nil {
			return corrupt("bench", "result of %d bytes: %v", len(raw), err)
		}
		if p, err := encodeBenchmark(&b); err != nil || !bytes.Equal(p.key, k) {
			return corrupt("bench", "result %s %s is not what its key says", b.ID, b.Model)
		}
		fn(&b)
	}
	return nil
}

// benchmarks checks every stored result.
func (c *checker) benchmarks() { c.add(eachBenchmark(c.v.tx, nil, func(*gputide.Benchmark) {})) }
