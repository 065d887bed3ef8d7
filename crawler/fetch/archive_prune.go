package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pruneGrace protects what a crawl may be writing: its bodies are there before
// the index names them.
const pruneGrace = time.Hour

// PruneResult says what pruning removed and what is left.
type PruneResult struct {
	Runs       int   // run indexes removed
	Bodies     int   // bodies removed
	FreedBytes int64 // on disk
	KeptBytes  int64 // on disk
}

// Prune removes runs older than the archive's age, then the oldest runs until
// the bodies fit its size, and every body that no run names any more. Bodies
// whose hash is pinned survive the runs that named them. What was written within
// the last hour is left alone.
func (a *Archive) Prune(ctx context.Context, pinned map[string]bool) (PruneResult, error) {
	p, err := a.survey(ctx, pinned)
	if err != nil {
		return PruneResult{}, fmt.Errorf("archive: %w", err)
	}
	now := a.opt.Now()
	for len(p.runs) > 0 {
		oldest := p.runs[0]
		old := oldest.FetchedAt.Before(now.Add(-a.opt.MaxAge))
		full := p.total-p.loose > a.opt.MaxBytes
		if (!old && !full) || oldest.FetchedAt.After(now.Add(-pruneGrace)) {
			break
		}
		if err := ctx.Err(); err != nil {
			return p.result, err
		}
		if err := p.dropRun(); err != nil {
			return p.result, fmt.Errorf("archive: %w", err)
		}
	}
	if err := p.dropBodies(ctx, now.Add(-pruneGrace)); err != nil {
		return p.result, fmt.Errorf("archive: %w", err)
	}
	if err := a.sweep(now); err != nil {
		return p.result, fmt.Errorf("archive: %w", err)
	}
	p.result.KeptBytes = p.total
	return p.result, nil
}

// pruning is the state of one Prune.
type pruning struct {
	pinned map[string]bool
	runs   []ArchivedRun // oldest first
	named  map[string]int
	bodies map[string]fs.FileInfo
	paths  map[string]string
	total  int64 // on disk, of all bodies
	loose  int64 // of those no run names and no pin holds
	result PruneResult
}

func (a *Archive) survey(ctx context.Context, pinned map[string]bool) (*pruning, error) {
	p := &pruning{pinned: pinned, named: make(map[string]int), bodies: make(map[string]fs.FileInfo), paths: make(map[string]string)}
	err := filepath.WalkDir(filepath.Join(a.dir, "objects"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		hash, ok := strings.CutSuffix(d.Name(), ".zst")
		if !ok || !isHash(hash) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return ignoreGone(err)
		}
		p.bodies[hash], p.paths[hash] = info, path
		p.total += info.Size()
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	providers, err := a.Providers()
	if err != nil {
		return nil, err
	}
	for _, provider := range providers {
		runs, err := a.Runs(provider)
		if err != nil {
			return nil, err
		}
		p.runs = append(p.runs, runs...)
	}
	slices.SortStableFunc(p.runs, func(x, y ArchivedRun) int {
		return cmp.Or(x.FetchedAt.Compare(y.FetchedAt), x.At.Compare(y.At))
	})
	for _, r := range p.runs {
		for _, hash := range r.hashes {
			p.named[hash]++
		}
	}
	for hash, info := range p.bodies {
		if p.named[hash] == 0 && !pinned[hash] {
			p.loose += info.Size()
		}
	}
	return p, nil
}

// dropRun removes the oldest run.
func (p *pruning) dropRun() error {
	r := p.runs[0]
	p.runs = p.runs[1:]
	if err := os.Remove(r.path); ignoreGone(err) != nil {
		return err
	}
	p.result.Runs++
	for _, hash := range r.hashes {
		p.named[hash]--
		if info := p.bodies[hash]; info != nil && p.named[hash] == 0 && !p.pinned[hash] {
			p.loose += info.Size()
		}
	}
	return nil
}

// dropBodies removes the bodies that no run names, no pin holds, and that were
// last written before the given time.
func (p *pruning) dropBodies(ctx context.Context, before time.Time) error {
	for hash, info := range p.bodies {
		if p.named[hash] > 0 || p.pinned[hash] || !info.ModTime().Before(before) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := os.Remove(p.paths[hash]); ignoreGone(err) != nil {
			return err
		}
		p.result.Bodies++
		p.result.FreedBytes += info.Size()
		p.total -= info.Size()
	}
	return nil
}

// sweep removes what killed processes left in tmp, and validators whose body is
// gone.
func (a *Archive) sweep(now time.Time) error {
	left, err := os.ReadDir(filepath.Join(a.dir, "tmp"))
	if err != nil {
		return err
	}
	for _, e := range left {
		if info, err := e.Info(); err == nil && info.ModTime().Before(now.Add(-24*time.Hour)) {
			_ = os.Remove(filepath.Join(a.dir, "tmp", e.Name()))
		}
	}
	return filepath.WalkDir(filepath.Join(a.dir, "latest"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if l, err := readLatest(path); err != nil || !a.Has(l.Entry.File) {
			return ignoreGone(os.Remove(path))
		}
		return nil
	})
}

// ignoreGone passes over files that another process removed first.
func ignoreGone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
