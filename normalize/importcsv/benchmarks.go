package importcsv

import (
	"context"
	"strconv"

	"github.com/gputide/gputide"
)

// The columns of a file of benchmark results.
const (
	benchRound = iota
	benchID
	benchSubmitter
	benchSystem
	benchAccelerator
	benchPerNode
	benchNodes
	benchModel
	benchScenario
	benchResult
	benchUnits
)

// maxBenchmarks bounds the results of one file, which are held in memory.
const maxBenchmarks = 200_000

// Benchmarks returns the results of a file of form [FormBenchmarks], in the
// order of the file. Equal twins are one; of two that contradict each other the
// second is rejected. It returns [gputide.ErrTooLarge] for more than 200,000.
func (r *Reader) Benchmarks(ctx context.Context) ([]gputide.Benchmark, error) {
	type name struct{ round, id, model, scenario, units string }
	var out []gputide.Benchmark
	seen := make(map[name]int)
	err := r.each(ctx, func(c []string) (Reason, bool) {
		b := gputide.Benchmark{
			Round: c[benchRound], ID: c[benchID], Submitter: c[benchSubmitter], System: c[benchSystem], Accelerator: c[benchAccelerator],
			Model: c[benchModel], Scenario: c[benchScenario], Result: c[benchResult], Units: c[benchUnits], Source: r.source(),
		}
		if b.Round == "" || b.ID == "" || b.Model == "" || b.Scenario == "" || b.Units == "" || b.Accelerator == "" {
			return ReasonValue, true
		}
		if v, err := gputide.ParseAmount(b.Result); err != nil || v.Sign() <= 0 {
			return ReasonValue, true
		}
		var ok, ok2 bool
		b.AcceleratorsPerNode, ok = readUnits(c[benchPerNode])
		b.Nodes, ok2 = readUnits(c[benchNodes])
		if !ok || !ok2 {
			return ReasonCount, true
		}
		k := name{b.Round, b.ID, b.Model, b.Scenario, b.Units}
		if i, ok := seen[k]; ok {
			if out[i] != b {
				return ReasonTwice, true
			}
			return "", true
		}
		seen[k] = len(out)
		out = append(out, b)
		return "", len(out) <= maxBenchmarks
	})
	if err == nil && len(out) > maxBenchmarks {
		err = gputide.ErrTooLarge
	}
	return out, err
}

// readUnits reads a whole number of nodes or cards; 0 when it is not said.
func readUnits(s string) (uint32, bool) {
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err == nil && n > 0 && n <= 1<<20
}
