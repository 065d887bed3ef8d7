package fetch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// Bounds of a fixture manifest.
const (
	maxManifest  = 8 << 20
	maxExchanges = 100_000
	manifestName = "manifest.json"
)

// Fixtures answers requests from recorded, documented or composed exchanges. It
// is read-only and safe for concurrent use.
type Fixtures struct {
	sets map[string]*fixtureSet
}

// fixtureSet is the manifest of one provider.
type fixtureSet struct {
	Provider   string
	Kind       gputide.Evidence
	CapturedAt time.Time
	Note       string
	exchanges  []*exchange
	open       func(*exchange) (io.ReadCloser, error)
}

// manifest is the form of manifest.json.
type manifest struct {
	Provider   string     `json:"provider"`
	Kind       string     `json:"kind"`
	CapturedAt string     `json:"captured_at"`
	Note       string     `json:"note,omitempty"`
	Exchanges  []exchange `json:"exchanges"`
}

// exchange is one request that is answered, and its answer. Method is GET and
// Status 200 when empty; URL may hold * as a wildcard inside a path segment or
// the value of a query parameter. Times is how often it is served, 0 without
// limit.
type exchange struct {
	Source       string            `json:"source"`
	Method       string            `json:"method,omitempty"`
	URL          string            `json:"url"`
	BodyContains string            `json:"body_contains,omitempty"`
	Status       int               `json:"status,omitempty"`
	Headers      map[string]string `json:"headers,omitempty"`
	File         string            `json:"file,omitempty"`
	Times        int               `json:"times,omitempty"`
	Exact        bool              `json:"exact,omitempty"`   // BodyContains is the whole body
	Reduced      bool              `json:"reduced,omitempty"` // the archive had reduced the body

	pattern *pattern
	hash    string // of the archived body; empty for a directory
}

// OpenFixtures reads DIR/<provider>/manifest.json of every provider in dir. The
// bodies are opened when they are asked for, and never outside their directory.
// A manifest that is not in its exact form is ErrInvalid.
func OpenFixtures(dir string) (*Fixtures, error) {
	const hint = "name a directory that holds <provider>/" + manifestName
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &gputide.HintError{Err: err, Hint: hint}
	}
	f, err := openFixtures(entries, func(name string) (fs.FS, error) { return rooted(filepath.Join(dir, name)), nil })
	if err == nil && len(f.sets) == 0 {
		return nil, &gputide.HintError{Err: fmt.Errorf("%w in %s", gputide.ErrNotFound, dir), Hint: hint}
	}
	return f, err
}

// FixturesFS is OpenFixtures for a file system.
func FixturesFS(fsys fs.FS) (*Fixtures, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	return openFixtures(entries, func(name string) (fs.FS, error) { return fs.Sub(fsys, name) })
}

func openFixtures(entries []fs.DirEntry, sub func(name string) (fs.FS, error)) (*Fixtures, error) {
	f := &Fixtures{sets: make(map[string]*fixtureSet)}
	for _, e := range entries {
		fsys, err := sub(e.Name())
		if err != nil {
			return nil, err
		}
		if _, err := fs.Stat(fsys, manifestName); err != nil {
			continue
		}
		set, err := openFixtureSet(fsys, e.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		f.sets[e.Name()] = set
	}
	return f, nil
}

func openFixtureSet(fsys fs.FS, provider string) (*fixtureSet, error) {
	file, err := fsys.Open(manifestName)
	if err != nil {
		return nil, err
	}
	defer closeQuietly(file)
	data, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(data)
	if err != nil {
		return nil, err
	}
	if m.Provider != provider {
		return nil, fmt.Errorf("%w: provider is %q, the directory says %q", gputide.ErrInvalid, m.Provider, provider)
	}
	for i := range m.Exchanges {
		if err := checkFile(fsys, m.Exchanges[i].File); err != nil {
			return nil, fmt.Errorf("exchange %d: %w", i, err)
		}
	}
	set := m.set()
	set.open = func(x *exchange) (io.ReadCloser, error) {
		if x.File == "" {
			return io.NopCloser(bytes.NewReader(nil)), nil
		}
		return fsys.Open(x.File)
	}
	return set, nil
}

// rooted is the file system below a directory; no link leads out of it, and
// nothing is held open.
type rooted string

// Open opens a file below the directory.
func (dir rooted) Open(name string) (fs.File, error) {
	root, err := os.OpenRoot(string(dir))
	if err != nil {
		return nil, err
	}
	defer closeQuietly(root)
	return root.Open(name)
}

func checkFile(fsys fs.FS, name string) error {
	if name == "" {
		return nil
	}
	st, err := fs.Stat(fsys, name)
	if err != nil {
		return fmt.Errorf("%w: file %q: %w", gputide.ErrInvalid, name, err)
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%w: %q is no regular file", gputide.ErrInvalid, name)
	}
	return nil
}

// parseManifest reads the form strictly: no unknown key, nothing behind it, no
// value outside its domain.
func parseManifest(data []byte) (*manifest, error) {
	if len(data) > maxManifest {
		return nil, fmt.Errorf("%w: %s is larger than %d bytes", gputide.ErrInvalid, manifestName, maxManifest)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var m manifest
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", gputide.ErrInvalid, manifestName, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %s: text behind the object", gputide.ErrInvalid, manifestName)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", gputide.ErrInvalid, manifestName, err)
	}
	return &m, nil
}

func (m *manifest) check() error {
	if m.Provider == "" || strings.ContainsAny(m.Provider, `/\.`) {
		return fmt.Errorf("provider %q is no slug", m.Provider)
	}
	switch gputide.Evidence(m.Kind) {
	case gputide.EvidenceRecorded, gputide.EvidenceDocumented, gputide.EvidenceComposed:
	default:
		return fmt.Errorf("kind %q is none of recorded, documented, composed", m.Kind)
	}
	if _, err := time.Parse(time.RFC3339, m.CapturedAt); err != nil {
		return fmt.Errorf("captured_at: %w", err)
	}
	if len(m.Exchanges) > maxExchanges {
		return fmt.Errorf("more than %d exchanges", maxExchanges)
	}
	for i := range m.Exchanges {
		if err := m.Exchanges[i].check(); err != nil {
			return fmt.Errorf("exchange %d: %w", i, err)
		}
	}
	return nil
}

func (x *exchange) check() error {
	switch {
	case x.Source == "":
		return errors.New("source is missing")
	case x.Method != strings.ToUpper(x.Method):
		return fmt.Errorf("method %q is not upper case", x.Method)
	case x.Status != 0 && (x.Status < 200 || x.Status > 599):
		return fmt.Errorf("status %d is none of an answer", x.Status)
	case x.Times < 0:
		return fmt.Errorf("times %d is negative", x.Times)
	case x.File != "" && !filepath.IsLocal(x.File):
		return fmt.Errorf("file %q leads out of the fixture", x.File)
	}
	var err error
	x.pattern, err = parsePattern(x.URL)
	return err
}

func (m *manifest) set() *fixtureSet {
	at, _ := time.Parse(time.RFC3339, m.CapturedAt) // checked before
	s := &fixtureSet{
		Provider: m.Provider, Kind: gputide.Evidence(m.Kind), CapturedAt: at.UTC().Truncate(time.Second), Note: m.Note,
		exchanges: make([]*exchange, len(m.Exchanges)),
	}
	for i := range m.Exchanges {
		s.exchanges[i] = &m.Exchanges[i]
	}
	return s
}

// Providers returns the providers that have a manifest, sorted.
func (f *Fixtures) Providers() []string { return slices.Sorted(maps.Keys(f.sets)) }

// CapturedAt returns when the fixture of a provider was captured, in whole
// seconds; the zero time when there is none.
func (f *Fixtures) CapturedAt(provider string) time.Time {
	if s := f.sets[provider]; s != nil {
		return s.CapturedAt
	}
	return time.Time{}
}

// Kind returns how well the fixture of a provider is proven; empty when there is
// none.
func (f *Fixtures) Kind(provider string) gputide.Evidence {
	if s := f.sets[provider]; s != nil {
		return s.Kind
	}
	return ""
}

// Note returns what the fixture of a provider says of itself.
func (f *Fixtures) Note(provider string) string {
	if s := f.sets[provider]; s != nil {
		return s.Note
	}
	return ""
}

// Declares reports whether the fixture of a provider has an exchange of a source.
func (f *Fixtures) Declares(provider, source string) bool {
	s := f.sets[provider]
	return s != nil && s.declares(source)
}

func (s *fixtureSet) declares(source string) bool {
	return slices.ContainsFunc(s.exchanges, func(x *exchange) bool { return x.Source == source })
}
