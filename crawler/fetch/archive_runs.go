package fetch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gputide/gputide"
)

const (
	runTime      = "20060102T150405Z"
	runExt       = ".ndjson"
	maxIndexLine = 1 << 20
)

// entry is one exchange of an archived run, in the form of a manifest. File is
// the hash of the body.
type entry struct {
	Source       string            `json:"source"`
	Method       string            `json:"method"`
	URL          string            `json:"url"`
	BodyContains string            `json:"body_contains,omitempty"` // the whole body, signatures dropped
	Status       int               `json:"status"`
	Headers      map[string]string `json:"headers,omitempty"`
	File         string            `json:"file"`
	Size         int64             `json:"size"` // of the body as it came
	Reduced      bool              `json:"reduced,omitempty"`
	Rule         string            `json:"rule,omitempty"` // that it was reduced by
	FetchedAt    time.Time         `json:"fetched_at"`
}

// runHead is the first line of a run's index.
type runHead struct {
	Provider   string    `json:"provider"`
	Kind       string    `json:"kind"`
	CapturedAt time.Time `json:"captured_at"`
}

// ArchivedRun is a past run that the archive can serve again.
type ArchivedRun struct {
	Provider  string
	At        time.Time // the moment it observed
	FetchedAt time.Time // of its last body
	Exchanges int
	Bytes     int64 // of its bodies as they came
	Damaged   bool  // its index cannot be read to its end: it is not replayed

	path   string
	hashes []string
}

// runIndexes are the index files of one run, one per provider.
type runIndexes struct {
	mu    sync.Mutex
	files map[string]string
}

// add appends an entry; the first one makes the file.
func (x *runIndexes) add(a *Archive, provider string, at time.Time, e *entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if len(line) >= maxIndexLine {
		return fmt.Errorf("%w: the index entry is too long", gputide.ErrTooLarge)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	path, ok := x.files[provider]
	if !ok {
		if path, err = a.newIndex(provider, at); err != nil {
			return err
		}
		if x.files == nil {
			x.files = make(map[string]string)
		}
		x.files[provider] = path
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// newIndex makes the index file of a run. A second run of the same moment gets
// a file of its own.
func (a *Archive) newIndex(provider string, at time.Time) (string, error) {
	if !isSlug(provider) {
		return "", fmt.Errorf("%w: provider %q is no slug", gputide.ErrInvalid, provider)
	}
	head, err := json.Marshal(runHead{Provider: provider, Kind: string(gputide.EvidenceRecorded), CapturedAt: at})
	if err != nil {
		return "", err
	}
	dir := filepath.Join(a.dir, "runs", provider)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		path := filepath.Join(dir, runName(at, i))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(append(head, '\n'))
		return path, errors.Join(err, f.Close())
	}
}

func isSlug(s string) bool { return s != "" && !strings.ContainsAny(s, `/\.`) }

func runName(at time.Time, n int) string {
	name := at.UTC().Format(runTime)
	if n > 1 {
		name += "-" + strconv.Itoa(n)
	}
	return name + runExt
}

// parseRunName is the inverse of runName.
func parseRunName(name string) (at time.Time, n int, ok bool) {
	base, ok := strings.CutSuffix(name, runExt)
	if !ok {
		return at, 0, false
	}
	stamp, count, has := strings.Cut(base, "-")
	n = 1
	if has {
		var err error
		if n, err = strconv.Atoi(count); err != nil || n < 2 {
			return at, 0, false
		}
	}
	at, err := time.Parse(runTime, stamp)
	return at, n, err == nil
}

// Providers returns the providers that have archived runs, sorted.
func (a *Archive) Providers() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(a.dir, "runs"))
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Runs returns the archived runs of a provider, oldest first. Of two runs of one
// moment the later written stands last.
func (a *Archive) Runs(provider string) ([]ArchivedRun, error) {
	files, err := a.runFiles(provider)
	if err != nil {
		return nil, err
	}
	out := make([]ArchivedRun, 0, len(files))
	for _, f := range files {
		r := ArchivedRun{Provider: provider, At: f.at, FetchedAt: f.at, path: f.path}
		entries, err := readIndex(f.path)
		switch {
		case errors.Is(err, gputide.ErrInvalid):
			r.Damaged = true
		case errors.Is(err, os.ErrNotExist): // pruned meanwhile
			continue
		case err != nil:
			return nil, err
		}
		for _, e := range entries {
			r.Exchanges++
			r.Bytes += e.Size
			if e.FetchedAt.After(r.FetchedAt) || r.Exchanges == 1 {
				r.FetchedAt = e.FetchedAt
			}
			r.hashes = append(r.hashes, e.File)
		}
		out = append(out, r)
	}
	return out, nil
}

type runFile struct {
	at   time.Time
	n    int
	path string
}

func (a *Archive) runFiles(provider string) ([]runFile, error) {
	if !isSlug(provider) {
		return nil, fmt.Errorf("archive: %w: provider %q is no slug", gputide.ErrInvalid, provider)
	}
	dir := filepath.Join(a.dir, "runs", provider)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("archive: %w", err)
	}
	var out []runFile
	for _, e := range entries {
		if at, n, ok := parseRunName(e.Name()); ok {
			out = append(out, runFile{at: at, n: n, path: filepath.Join(dir, e.Name())})
		}
	}
	slices.SortFunc(out, func(x, y runFile) int {
		if c := x.at.Compare(y.at); c != 0 {
			return c
		}
		return x.n - y.n
	})
	return out, nil
}

// readIndex returns the entries of a run. A last line without end is what a
// killed process left of an entry, and is passed over. With ErrInvalid come the
// entries before the damage.
func readIndex(path string) ([]entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	defer closeQuietly(f)
	in := bufio.NewReaderSize(f, 64<<10)
	var out []entry
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) && len(line) < maxIndexLine {
			var more []byte
			line = bytes.Clone(line)
			more, err = in.ReadSlice('\n')
			line = append(line, more...)
		}
		if err == io.EOF {
			return out, nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			err = fmt.Errorf("%w: a line is too long", gputide.ErrInvalid)
		}
		if err != nil {
			return out, fmt.Errorf("archive: index %s: %w", filepath.Base(path), err)
		}
		if first {
			continue
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || (e.File != "" && !isHash(e.File)) {
			return out, fmt.Errorf("archive: %w: index %s has a damaged line", gputide.ErrInvalid, filepath.Base(path))
		}
		out = append(out, e)
	}
}

// Replay returns the run of a provider at a moment as fixtures: the same
// requests get the same bytes. Requests that the run made several times are
// answered in their order, the last answer without limit. A moment without a run
// is ErrNotFound.
func (a *Archive) Replay(provider string, at time.Time) (*Fixtures, error) {
	set, err := a.run(provider, at)
	if err != nil {
		return nil, err
	}
	return &Fixtures{sets: map[string]*fixtureSet{provider: set}}, nil
}

// run reads the index of a run as a fixture.
func (a *Archive) run(provider string, at time.Time) (*fixtureSet, error) {
	files, err := a.runFiles(provider)
	if err != nil {
		return nil, err
	}
	at = wholeSecond(at)
	var path string
	for _, f := range files {
		if f.at.Equal(at) {
			path = f.path
		}
	}
	if path == "" {
		return nil, fmt.Errorf("archive: %w: no run of %s at %s", gputide.ErrNotFound, provider, at.Format(time.RFC3339))
	}
	entries, err := readIndex(path)
	if err != nil {
		return nil, err
	}
	set := &fixtureSet{Provider: provider, Kind: gputide.EvidenceRecorded, CapturedAt: at}
	last := make(map[string]*exchange)
	for _, e := range entries {
		x, err := e.exchange()
		if err != nil {
			return nil, fmt.Errorf("archive: %w: index %s: %w", gputide.ErrInvalid, filepath.Base(path), err)
		}
		key := e.Method + "\n" + e.URL + "\n" + e.BodyContains
		if before := last[key]; before != nil {
			before.Times = 1
		}
		last[key] = x
		set.exchanges = append(set.exchanges, x)
	}
	set.open = func(x *exchange) (io.ReadCloser, error) { return a.Open(x.hash) }
	return set, nil
}

// exchange returns the entry as replay serves it: what was redacted in its
// address matches anything, its body must be equal.
func (e *entry) exchange() (*exchange, error) {
	p, err := parsePattern(strings.ReplaceAll(e.URL, redacted, "*"))
	if err != nil {
		return nil, err
	}
	return &exchange{
		Source: e.Source, Method: e.Method, URL: e.URL, BodyContains: e.BodyContains, Status: e.Status,
		Headers: maps.Clone(e.Headers), pattern: p, hash: e.File, Reduced: e.Reduced, Exact: true,
	}, nil
}
