package store_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

func benchResult(id, model, scenario, result string) gputide.Benchmark {
	return gputide.Benchmark{
		Round: "v4.1", ID: id, Submitter: "NVIDIA", System: "NVIDIA DGX H100 (8x H100-SXM-80GB, TensorRT)",
		Accelerator: "NVIDIA H100-SXM-80GB", AcceleratorsPerNode: 8, Nodes: 1,
		Model: model, Scenario: scenario, Result: result, Units: "Tokens/s", Source: "import:mlperf",
	}
}

func openBench(t *testing.T, path string, opt store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestBenchmarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.db")
	db := openBench(t, path, store.Options{})
	if got, err := db.Benchmarks(t.Context(), gputide.BenchmarkFilter{}); err != nil || len(got) != 0 {
		t.Errorf("of a new database: %v, %v", got, err)
	}
	offline := benchResult("v4.1-0043", "llama2-70b-99", "Offline", "24524.9")
	server := benchResult("v4.1-0043", "llama2-70b-99", "Server", "21796.9")
	sharper := benchResult("v4.1-0043", "llama2-70b-99.9", "Offline", "24524.9")
	other := benchResult("v4.1-0043", "llama2-70b-99", "Offline", "24525.0")
	for _, step := range []struct {
		name string
		put  []gputide.Benchmark
		want gputide.BenchmarkResult
	}{
		{"first", []gputide.Benchmark{sharper, offline}, gputide.BenchmarkResult{Added: 2}},
		{"again, one of them twice, and one more", []gputide.Benchmark{offline, sharper, offline, server}, gputide.BenchmarkResult{Added: 1, Known: 3}},
		{"contradicted", []gputide.Benchmark{other}, gputide.BenchmarkResult{Conflicts: 1}},
		{"none", nil, gputide.BenchmarkResult{}},
	} {
		if got, err := db.PutBenchmarks(t.Context(), step.put); err != nil || got != step.want {
			t.Errorf("%s: %+v, %v; want %+v", step.name, got, err, step.want)
		}
	}
	for _, tt := range []struct {
		filter gputide.BenchmarkFilter
		want   []gputide.Benchmark
	}{
		{gputide.BenchmarkFilter{}, []gputide.Benchmark{offline, server, sharper}},
		{gputide.BenchmarkFilter{Round: "v4.1", Model: "llama2-70b-99"}, []gputide.Benchmark{offline, server}},
		{gputide.BenchmarkFilter{Scenario: "Server"}, []gputide.Benchmark{server}},
		{gputide.BenchmarkFilter{Units: "Queries/s"}, nil},
		{gputide.BenchmarkFilter{Round: "v4"}, nil}, // the beginning of a round's name is not the round
	} {
		got, err := db.Benchmarks(t.Context(), tt.filter)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.filter, d)
		}
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBenchmarksThatAreNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.db")
	db := openBench(t, path, store.Options{})
	good := benchResult("v4.1-0043", "llama2-70b-99", "Offline", "24524.9")
	for _, bad := range []gputide.Benchmark{
		benchResult("", "llama2-70b-99", "Offline", "1"),
		benchResult("v4.1-0001", "llama2\x00-70b", "Offline", "1"),
		benchResult("v4.1-0001", "llama2-70b-99", "Offline", "0"),
		benchResult("v4.1-0001", "llama2-70b-99", "Offline", "-1"),
		benchResult("v4.1-0001", "llama2-70b-99", "Offline", "n/a"),
	} {
		if _, err := db.PutBenchmarks(t.Context(), []gputide.Benchmark{good, bad}); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%+v: %v, want ErrInvalid", bad, err)
		}
	}
	if got, err := db.Benchmarks(t.Context(), gputide.BenchmarkFilter{}); err != nil || len(got) != 0 {
		t.Errorf("a refused call stored %v, %v", got, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	ro := openBench(t, path, store.Options{ReadOnly: true})
	if _, err := ro.PutBenchmarks(t.Context(), []gputide.Benchmark{good}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("written to a read-only database: %v", err)
	}
}
