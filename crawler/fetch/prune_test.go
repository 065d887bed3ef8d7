package fetch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

func TestPrune(t *testing.T) {
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := t0
	day := 24 * time.Hour
	setup := func(t *testing.T, opt ArchiveOptions) (*Archive, []string) {
		now = t0
		opt.Now = func() time.Time { return now }
		a := openArchive(t, opt)
		var hashes []string
		for i := range 6 {
			now = t0.Add(time.Duration(i) * 10 * day)
			r := &run{at: now}
			for _, content := range []string{"shared by all", fmt.Sprintf("run %d %s", i, noise(uint64(i), 1000))} {
				w, err := a.create(nil, nil)
				fatal(t, err)
				w.write([]byte(content))
				obj, err := w.commit()
				fatal(t, err)
				fatal(t, r.index.add(a, "acme", r.at, &entry{Source: "list", Method: "GET", URL: "http://localhost/" + content[:5], Status: 200, File: obj.hash, Size: int64(len(content)), FetchedAt: now}))
				if content != "shared by all" {
					hashes = append(hashes, obj.hash)
				}
			}
		}
		return a, hashes
	}
	kept := func(a *Archive, hashes []string) (s string) {
		for _, h := range hashes {
			if a.Has(h) {
				s += "1"
			} else {
				s += "0"
			}
		}
		return s
	}
	tests := []struct {
		name   string
		opt    ArchiveOptions
		pin    []int
		want   string
		runs   int
		shared bool
	}{
		{"nothing to do", ArchiveOptions{MaxAge: 60 * day}, nil, "111111", 6, true},
		{"by age", ArchiveOptions{MaxAge: 25 * day}, nil, "000111", 3, true},
		{"by age with a pin", ArchiveOptions{MaxAge: 25 * day}, []int{1}, "010111", 3, true},
		{"by size", ArchiveOptions{MaxAge: 600 * day, MaxBytes: 2500}, nil, "000011", 2, true},
		{"by size, the oldest pinned", ArchiveOptions{MaxAge: 600 * day, MaxBytes: 2500}, []int{0}, "100001", 1, true},
		{"the run being written stays", ArchiveOptions{MaxAge: time.Nanosecond, MaxBytes: 1}, nil, "000001", 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, hashes := setup(t, tt.opt)
			fatal(t, os.WriteFile(filepath.Join(a.dir, "tmp", "left"), nil, 0o644))
			fatal(t, os.Chtimes(filepath.Join(a.dir, "tmp", "left"), t0, t0))
			pins := map[string]bool{}
			for _, i := range tt.pin {
				pins[hashes[i]] = true
			}
			res, err := a.Prune(t.Context(), pins)
			fatal(t, err)
			if got := kept(a, hashes); got != tt.want {
				t.Errorf("kept %s, want %s", got, tt.want)
			}
			runs, err := a.Runs("acme")
			fatal(t, err)
			if len(runs) != tt.runs || res.Runs != 6-tt.runs || res.Bodies != strings.Count(tt.want, "0") {
				t.Errorf("%d runs, result %+v", len(runs), res)
			}
			if a.Has(sha("shared by all")) != tt.shared {
				t.Error("the shared body is gone")
			}
			if _, err := a.Prune(t.Context(), pins); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDamagedIndex: a torn last line is what a killed process leaves; any other
// damage stops the replay of that run and nothing else.
func TestDamagedIndex(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := openArchive(t, ArchiveOptions{Now: func() time.Time { return now }})
	e := &entry{Source: "list", Method: "GET", URL: "http://localhost/", Status: 200, File: sha("x"), FetchedAt: now}
	for i := range 3 {
		r := &run{at: now.Add(time.Duration(i) * time.Hour)}
		fatal(t, r.index.add(a, "acme", r.at, e))
		again := &run{at: r.at}
		fatal(t, again.index.add(a, "acme", r.at, e))
		fatal(t, again.index.add(a, "acme", r.at, e))
	}
	runs, err := a.Runs("acme")
	fatal(t, err)
	if len(runs) != 6 || runs[0].Exchanges != 1 || runs[1].Exchanges != 2 {
		t.Fatalf("runs %+v", runs)
	}
	tear := func(path, s string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		fatal(t, err)
		_, err = f.WriteString(s)
		fatal(t, errors.Join(err, f.Close()))
	}
	tear(runs[1].path, `{"source":"li`)
	tear(runs[3].path, "{\"source\":\"li\n")
	tear(runs[5].path, strings.Repeat("x", maxIndexLine+10)+"\n")
	fix, err := a.Replay("acme", runs[1].At)
	if err != nil || len(fix.sets["acme"].exchanges) != 2 {
		t.Errorf("torn: %v", err)
	}
	for _, i := range []int{3, 5} {
		if _, err := a.Replay("acme", runs[i].At); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("damaged: %v", err)
		}
	}
	runs, err = a.Runs("acme")
	if err != nil || len(runs) != 6 || !runs[3].Damaged || !runs[5].Damaged || runs[1].Damaged {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

func noise(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}
