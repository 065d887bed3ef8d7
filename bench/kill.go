package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

// killSeries is the size of the runs of the process that is killed.
const killSeries = 3_000

// runWriter is the child process: it commits runs after those the database has
// and prints how many are acknowledged.
func runWriter(ctx context.Context, path string, out io.Writer) error {
	p, err := newGputide(path)
	if err != nil {
		return err
	}
	records, err := p.db.Runs(ctx, "", 0)
	if err != nil {
		return err
	}
	w := nightly(killSeries, 1<<20)
	for n := 0; ; n++ {
		run := w.next(n)
		if n < len(records) {
			continue // the same past as before the kill
		}
		if err := p.commit(ctx, run); err != nil {
			return err
		}
		fmt.Fprintln(out, n+1)
	}
}

// benchKills kills a writing process again and again; after each the database
// must be sound and hold every acknowledged run.
func benchKills(ctx context.Context, dir string, kills int) (row, error) {
	path := filepath.Join(dir, "killed.db")
	rng := rand.New(rand.NewPCG(1, 2))
	clean := 0
	for range kills {
		acked, err := killOnce(ctx, path, rng)
		if err != nil {
			return row{}, err
		}
		ok, err := soundAfter(ctx, path, acked)
		if err != nil {
			return row{}, err
		}
		if ok {
			clean++
		}
	}
	return own("kill -9 while writing: sound, nothing acknowledged lost", fmt.Sprintf("%d of %d", clean, kills), float64(kills-clean), peers, aim{text: "all"}), nil
}

// killOnce starts a writer, kills it inside one of its commits and returns how
// many runs it had acknowledged.
func killOnce(ctx context.Context, path string, rng *rand.Rand) (acked int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, "-writer", path)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(stdout)
	for range 1 + rng.IntN(4) {
		if !lines.Scan() {
			return 0, errors.Join(errors.New("the writer ended by itself"), cmd.Wait())
		}
		if acked, err = strconv.Atoi(lines.Text()); err != nil {
			return 0, err
		}
	}
	time.Sleep(time.Duration(rng.IntN(10_000)) * time.Microsecond)
	if err := cmd.Process.Kill(); err != nil {
		return 0, err
	}
	for lines.Scan() { // acknowledged before the kill came through
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			acked = n
		}
	}
	if err := cmd.Wait(); err == nil {
		return 0, errors.New("the writer ended well although it was killed")
	}
	return acked, nil
}

func soundAfter(ctx context.Context, path string, acked int) (bool, error) {
	db, err := store.Open(path, store.Options{Deriver: derive{}, ToolVersion: "bench"})
	if err != nil {
		return false, err
	}
	defer db.Close()
	if err := db.Check(ctx); err != nil {
		return false, nil //nolint:nilerr // a damaged database is the result, not a failure to measure
	}
	var records []gputide.RunRecord
	if records, err = db.Runs(ctx, "", 0); err != nil {
		return false, err
	}
	return len(records) >= acked, nil
}
