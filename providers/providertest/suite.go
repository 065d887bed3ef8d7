package providertest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/normalize"
)

var update = flag.Bool("update", false, "write golden files")

// Updating reports whether golden files are to be written: the test binary was
// run with -update.
func Updating() bool { return *update }

// New makes the provider under test on f, with whatever dummy credentials it
// needs to ask every source.
type New func(f *fetch.Fetcher) gputide.Provider

// Opt says what the suite must know of an adapter beside its Info.
type Opt struct {
	// Fixtures is the folder of manifest.json, named as the provider; empty is
	// ../../fixtures/<provider>.
	Fixtures string

	// Lists are the lists that hold the rows of a source: an empty one is
	// ErrEmpty.
	Lists []Field

	// Required are the fields without which nothing is concluded: one gone from
	// every row is drift, one gone from a row is seen and withdraws nothing.
	Required []Field

	// Swaps are pairs of fields whose exchange in every row must be seen.
	Swaps [][2]Field

	// Edits are further ways to spoil a body, for forms that Field cannot name.
	Edits []Edit

	// Secrets are the credential values that New configures: they must appear in
	// no error, log line or fixture.
	Secrets []string

	// Deviations are the checks that do not hold for this adapter.
	Deviations []Deviation
}

// Edit spoils the bodies of one source. Change returns nil for a body it leaves
// alone.
type Edit struct {
	Name   string
	Source string
	Change func(body []byte) []byte
	Want   error // the sentinel reported; nil: seen, that is reported or read differently
}

// Deviation names a check that is left out, and why. Name is a pattern of
// path.Match on the name of the check, as `go test -v` prints it.
type Deviation struct{ Name, Reason string }

// Run proves every promise of [gputide.Provider] on the provider that newProvider makes.
func Run(t *testing.T, newProvider New, opt Opt) {
	t.Helper()
	s, err := newSuite(t.Context(), newProvider, opt)
	if err != nil {
		t.Fatal(err)
	}
	used := make([]bool, len(opt.Deviations))
	for _, c := range s.checks() {
		t.Run(c.name, func(t *testing.T) {
			for i, d := range opt.Deviations {
				if ok, _ := path.Match(d.Name, c.name); ok {
					used[i] = true
					t.Skip("declared deviation: " + d.Reason)
				}
			}
			for _, err := range c.run(t) {
				t.Error(err)
			}
		})
	}
	for i, d := range opt.Deviations {
		if !used[i] || d.Reason == "" {
			t.Errorf("deviation %q names no check that ran, or no reason", d.Name)
		}
	}
}

// check is one promise. It returns what is wrong.
type check struct {
	name string
	run  func(t *testing.T) []error
}

// suite is the state that checks share; nothing in it changes after newSuite.
type suite struct {
	opt     Opt
	new     New
	info    gputide.Info
	dir     string // of the fixture
	fixture *fixture
	base    *outcome // a crawl of the fixture as it is
	norm    *normalize.Normalizer
}

// outcome is one crawl.
type outcome struct {
	*Collector
	err    error
	golden func() []byte // see Collector.Golden
	log    []byte
}

func newSuite(ctx context.Context, newProvider New, opt Opt) (*suite, error) {
	info := newProvider(fetch.New(fetch.Options{Transport: deadEnd{}})).Info()
	s := &suite{opt: opt, new: newProvider, info: info, dir: opt.Fixtures}
	if s.dir == "" {
		s.dir = filepath.Join("..", "..", "fixtures", info.Name)
	}
	var err error
	if s.norm, err = newNormalizer(); err != nil {
		return nil, err
	}
	if s.fixture, err = readFixture(s.dir); err != nil {
		return nil, err
	}
	s.base, err = s.crawl(ctx, s.fixture)
	return s, err
}

// deadEnd is a transport that no request may reach.
type deadEnd struct{}

func (deadEnd) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("a request left the machine")
}

// options returns the options of a fetcher and the log it writes, built as in
// the program.
func (s *suite) options() (fetch.Options, *bytes.Buffer) {
	log := new(bytes.Buffer)
	redactor := fetch.NewRedactor(s.opt.Secrets...)
	handler := slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})
	return fetch.Options{
		Logger: slog.New(redactor.Handler(handler)), Redactor: redactor, Transport: deadEnd{},
	}, log
}

// replay returns a provider that reads f, and its log.
func (s *suite) replay(f *fixture) (gputide.Provider, *bytes.Buffer, error) {
	opt, log := s.options()
	var err error
	if opt.Fixtures, err = f.open(); err != nil {
		return nil, nil, err
	}
	return s.new(fetch.New(opt)), log, nil
}

// crawl replays f once. The error is one of the suite, not of the crawl.
func (s *suite) crawl(ctx context.Context, f *fixture) (*outcome, error) {
	p, log, err := s.replay(f)
	if err != nil {
		return nil, err
	}
	return s.collect(ctx, p, log), nil
}

func (s *suite) collect(ctx context.Context, p gputide.Provider, log *bytes.Buffer) *outcome {
	c, crawlErr := CollectAt(ctx, p, s.at())
	golden := sync.OnceValue(func() []byte {
		text, err := c.Golden()
		if err != nil {
			return []byte(err.Error())
		}
		return text
	})
	return &outcome{c, crawlErr, golden, log.Bytes()}
}

// at is the moment crawled.
func (s *suite) at() time.Time {
	if s.fixture.CapturedAt.IsZero() {
		return Moment()
	}
	return s.fixture.CapturedAt
}

// reported returns every error a crawl reported of a source: those said of the
// source, and the error of the crawl.
func (o *outcome) reported(source string) error {
	return errors.Join(append(o.Errors(source), o.err)...)
}

// differs reports whether o read or reported anything else than base.
func (o *outcome) differs(base *outcome) bool { return !bytes.Equal(o.golden(), base.golden()) }

// checks returns every check in order.
func (s *suite) checks() []check {
	return slices.Concat([]check{
		{"info", s.checkInfo},
		{"fixture", s.checkFixture},
		{"golden", s.checkGolden},
		{"complete", s.checkComplete},
		{"declared", s.checkDeclared},
		{"normalize", s.checkNormalize},
		{"repeat", s.checkRepeat},
		{"parallel", s.checkParallel},
		{"cancel", s.checkCancel},
		{"reset", s.checkReset},
		{"secrets", s.checkSecrets},
		{"digit", s.checkDigits},
		{"no price", s.checkNoPrice},
	}, s.fieldChecks(), s.faultChecks())
}

func (s *suite) checkGolden(*testing.T) []error {
	name := filepath.Join(s.dir, "want.golden.json")
	if *update {
		if err := os.WriteFile(name, s.base.golden(), 0o644); err != nil {
			return []error{err}
		}
		return nil
	}
	want, err := os.ReadFile(name)
	if err != nil {
		return []error{fmt.Errorf("%w: run with -update and read the file", err)}
	}
	return diff("golden file", want, s.base.golden())
}
