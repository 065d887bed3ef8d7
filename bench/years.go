package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
	"github.com/gputide/gputide/store"
)

// devices are the names a cloud gives the accelerators of gpus, so that the
// shipped command finds them through its catalogue.
var devices = []string{
	"NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-40GB", "NVIDIA H200", "NVIDIA B200", "NVIDIA L4", "NVIDIA L40S",
	"NVIDIA A10G", "Tesla T4", "Tesla V100-SXM2-16GB", "AMD Instinct MI300X", "NVIDIA GeForce RTX 4090",
}

// yearTypes is how many instance types the ten-year database has; each is sold
// on demand and spot in every region.
const yearTypes = 480

// yearly returns a workload of n series, half on demand and half spot, of few
// instance types in many regions.
func yearly(n, years int) *workload {
	w := newWorkload("yearly", n, 365*years, 24*time.Hour, nightlyMove)
	types := min(yearTypes, n/4)
	w.perScope = 2 * types
	for region := 0; len(w.keys) < n; region++ {
		for t := 0; t < types && len(w.keys) < n; t++ {
			for _, market := range []gputide.Market{gputide.OnDemand, gputide.Spot} {
				w.keys = append(w.keys, keyOf(w.provider, fmt.Sprintf("region-%d", region), fmt.Sprintf("type-%d", t), market))
			}
		}
	}
	w.fill()
	return w
}

// specs says what accelerators the types of w have.
func (w *workload) specs() []gputide.Spec {
	seen := map[string]bool{}
	var out []gputide.Spec
	for i := range w.keys {
		name := w.keys[i].InstanceType
		if seen[name] {
			continue
		}
		out = append(out, gputide.Spec{
			Source: "list", Provider: w.provider, InstanceType: name,
			Device: gputide.Device{Name: devices[len(seen)%len(devices)], Kind: gputide.DeviceGPU, Count: gputide.NewCount(8, 1)},
		})
		seen[name] = true
	}
	return out
}

// asked is one command line and what it may take.
type asked struct {
	what  string
	args  []string
	limit time.Duration
}

// benchYears asks the shipped command, each time a new process, about ten years
// of every series.
func benchYears(ctx context.Context, out, progress io.Writer, dir string, sz sizes) error {
	command, err := buildCommand(ctx, dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "years.db")
	w := yearly(sz.yearSeries, sz.years)
	if err := fillYears(ctx, progress, path, w); err != nil {
		return err
	}
	from, to := w.start.Format(time.RFC3339), w.end().Format(time.RFC3339)
	window := []string{"--gpu", benchGPU, "--from", from, "--to", to}
	questions := []asked{
		{"query trend of " + benchGPU, append([]string{"query", "trend", "--group-by", "market", "--bucket", "year"}, window...), 100 * time.Millisecond},
		{"query discount of " + benchGPU, append([]string{"query", "discount", "--market", "spot"}, window...), 100 * time.Millisecond},
		{"query offers of " + benchGPU, []string{"query", "offers", "--gpu", benchGPU, "--at", to}, 30 * time.Millisecond},
		{"query offers of everything", []string{"query", "offers", "--at", to}, 0},
	}
	var rows []row
	for _, q := range questions {
		r, err := askCold(ctx, command, path, q, sz.rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", q.what, err)
		}
		rows = append(rows, r)
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	printTable(out, fmt.Sprintf("Command line: %d years × %d series, %.0f MB, a new process for each question, median of %d",
		sz.years, sz.yearSeries, float64(st.Size())/1e6, sz.rounds), []string{"gputide", "bytes of answer", "aim"}, rows)
	return nil
}

// buildCommand builds the shipped command into dir.
func buildCommand(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "gputide")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/gputide")
	cmd.Dir, cmd.Stderr = "..", os.Stderr
	return path, cmd.Run()
}

func fillYears(ctx context.Context, progress io.Writer, path string, w *workload) (err error) {
	catalogue, err := normalize.LoadCatalogue()
	if err != nil {
		return err
	}
	regions, err := normalize.LoadRegions()
	if err != nil {
		return err
	}
	db, err := store.Open(path, store.Options{Deriver: &normalize.Normalizer{Catalogue: catalogue, Regions: regions}, ToolVersion: "bench"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for i := range w.runs {
		run := w.next(i)
		if i == 0 {
			run.Specs = w.specs()
		}
		if _, err := db.CommitRun(ctx, run); err != nil {
			return err
		}
		if i%365 == 0 {
			fmt.Fprintf(progress, "years: night %d of %d\n", i, w.runs)
		}
	}
	_, err = db.Compact(ctx)
	return err
}

// askCold runs one command line in new processes.
func askCold(ctx context.Context, command, db string, q asked, rounds int) (row, error) {
	var took sample
	var size int
	for range rounds {
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, command, append(q.args, "--db", db, "-o", "ndjson")...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		began := time.Now()
		if err := cmd.Run(); err != nil {
			return row{}, fmt.Errorf("%w: %s", err, stderr.String())
		}
		took = append(took, time.Since(began))
		size = stdout.Len()
		if size == 0 {
			return row{}, fmt.Errorf("no answer: %s", stderr.String())
		}
	}
	a := aim{}
	if q.limit > 0 {
		a = aim{text: "< " + q.limit.String(), limit: q.limit.Seconds()}
	}
	return row{q.what, []string{duration(took), fmt.Sprint(size), a.cell([]float64{took.median().Seconds()})}}, nil
}
