package providertest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// maxFixtureBytes bounds a fixture folder without its golden file.
const maxFixtureBytes = 200 << 10

// diff returns a complaint when want and got differ, line by line.
func diff(what string, want, got []byte) []error {
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
		return []error{fmt.Errorf("%s differs (-want +got):\n%s", what, d)}
	}
	return nil
}

func (s *suite) checkFixture(*testing.T) []error {
	var errs []error
	f := s.fixture
	if f.Provider != s.info.Name {
		errs = append(errs, fmt.Errorf("manifest is of %q", f.Provider))
	}
	if f.CapturedAt.IsZero() || f.Note == "" {
		errs = append(errs, errors.New("manifest lacks captured_at or note"))
	}
	grades := []gputide.Evidence{gputide.EvidenceComposed, gputide.EvidenceDocumented, gputide.EvidenceRecorded}
	kind := slices.Index(grades, gputide.Evidence(f.Kind))
	if kind < 0 {
		errs = append(errs, fmt.Errorf("manifest kind %q", f.Kind))
	}
	if slices.Index(grades, s.info.Evidence) > kind {
		errs = append(errs, fmt.Errorf("evidence %s is claimed of a %s fixture", s.info.Evidence, f.Kind))
	}
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return append(errs, err)
	}
	var size int64
	for _, file := range files {
		name := file.Name()
		if name == "want.golden.json" {
			continue
		}
		if f.bodies[name] == nil && name != "manifest.json" {
			errs = append(errs, fmt.Errorf("%s is named by no exchange", name))
		}
		if st, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			size += st.Size()
		}
	}
	if size > maxFixtureBytes {
		errs = append(errs, fmt.Errorf("fixture has %d bytes, more than %d", size, maxFixtureBytes))
	}
	return errs
}

// checkComplete proves that the fixture is read whole and yields something of
// each declared market, each row once and in a scope.
func (s *suite) checkComplete(*testing.T) []error {
	errs := s.base.sameKeys()
	if s.base.err != nil {
		errs = append(errs, fmt.Errorf("crawl: %w", s.base.err))
	}
	markets := make(map[gputide.Market]bool)
	for _, o := range s.base.Live() {
		markets[o.Key.Market] = true
	}
	for _, m := range s.info.Markets {
		if !markets[m] {
			errs = append(errs, fmt.Errorf("no offer of market %s", m))
		}
	}
	if len(s.base.Offers)+len(s.base.Rates) == 0 {
		errs = append(errs, errors.New("neither an offer nor a rate"))
	}
	for i := range s.base.Offers {
		o := &s.base.Offers[i]
		if _, ok := s.base.feeding(&o.Key, o.Part); !ok {
			errs = append(errs, fmt.Errorf("no scope ends done or failed for %q", o.Key.Canonical()))
		}
	}
	for i := range s.base.Signals {
		sig := &s.base.Signals[i]
		if !slices.ContainsFunc(s.base.Scopes, func(r gputide.ScopeRun) bool {
			return r.Scope.CoversSignal(sig.Name, &sig.Key, sig.Part)
		}) {
			errs = append(errs, fmt.Errorf("no scope ends done or failed for signal %s %q", sig.Name, sig.Key.Canonical()))
		}
	}
	return first(errs)
}

// first shortens a list of complaints that repeat each other.
func first(errs []error) []error {
	const most = 10
	if len(errs) <= most {
		return errs
	}
	return append(errs[:most:most], fmt.Errorf("and %d more", len(errs)-most))
}

// checkDeclared proves that all a crawl said stands in Info: sources, their
// addresses, markets, currencies, partitions.
func (s *suite) checkDeclared(*testing.T) []error {
	var errs []error
	declared := func(source, what string) {
		if _, ok := s.info.Source(source); !ok {
			errs = append(errs, fmt.Errorf("%s of an undeclared source %q", what, source))
		}
	}
	for _, b := range s.base.Bodies {
		src, _ := s.info.Source(b.Source)
		u, err := url.Parse(b.URL)
		if err == nil && u.Path == "/robots.txt" {
			continue
		}
		if !fits(src.URL, b.URL) {
			errs = append(errs, fmt.Errorf("%s was asked at %s, declared is %q", b.Source, b.URL, src.URL))
		}
	}
	for _, o := range s.base.Offers {
		declared(o.Source, "offer")
		errs = append(errs, s.declaredKey(&o.Key)...)
	}
	for _, sp := range s.base.specs() {
		declared(sp.Source, "spec")
	}
	for _, sig := range s.base.Signals {
		declared(sig.Source, "signal")
		if !slices.Contains(gputide.SignalNames(), sig.Name) {
			errs = append(errs, fmt.Errorf("unknown signal %q", sig.Name))
		}
	}
	for _, sk := range s.base.Skips {
		declared(sk.Source, "skip")
		errs = append(errs, reason(sk.Reason)...)
	}
	for _, om := range s.base.Omits {
		declared(om.Source, "omission")
		errs = append(errs, reason(om.Reason)...)
	}
	for _, sc := range s.base.Scopes {
		declared(sc.Source, "scope")
	}
	return first(errs)
}

func (s *suite) declaredKey(k *gputide.Key) []error {
	var errs []error
	if k.Provider != s.info.Name {
		errs = append(errs, fmt.Errorf("provider %q in %q", k.Provider, k.Canonical()))
	}
	if k.InstanceType == "" || k.Stat == "" {
		errs = append(errs, fmt.Errorf("no instance type or stat in %q", k.Canonical()))
	}
	if !slices.Contains(s.info.Markets, k.Market) {
		errs = append(errs, fmt.Errorf("undeclared market in %q", k.Canonical()))
	}
	if !slices.Contains(s.info.Currencies, k.Currency) {
		errs = append(errs, fmt.Errorf("undeclared currency in %q", k.Canonical()))
	}
	if k.Partition != "" && !slices.Contains(s.info.Partitions, k.Partition) {
		errs = append(errs, fmt.Errorf("undeclared partition in %q", k.Canonical()))
	}
	return errs
}

func reason(code string) []error {
	if code == "" || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return []error{fmt.Errorf("reason %q is no snake_case word", code)}
	}
	return nil
}

// fits reports whether an address fits a declared pattern, in which * stands for
// any text. A query of the address that the pattern does not mention is free.
func fits(pattern, address string) bool {
	if !strings.Contains(pattern, "?") {
		address, _, _ = strings.Cut(address, "?")
	}
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(address, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, p := range parts[1 : len(parts)-1] {
		_, rest, ok = strings.Cut(rest, p)
		if !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

func (s *suite) checkRepeat(t *testing.T) []error {
	ctx := t.Context()
	again, err := s.crawl(ctx, s.fixture)
	if err != nil {
		return []error{err}
	}
	return diff("second crawl", s.base.golden(), again.golden())
}

// checkParallel crawls one value of the provider ten times at once.
func (s *suite) checkParallel(t *testing.T) []error {
	ctx := t.Context()
	p, _, err := s.replay(s.fixture)
	if err != nil {
		return []error{err}
	}
	const n = 10
	var (
		wg   sync.WaitGroup
		errs [n][]error
	)
	for i := range n {
		wg.Go(func() {
			c, crawlErr := CollectAt(ctx, p, s.at())
			golden, err := c.Golden()
			if err = errors.Join(err, crawlErr); err != nil {
				errs[i] = []error{err}
				return
			}
			errs[i] = diff("parallel crawl", s.base.golden(), golden)
		})
	}
	wg.Wait()
	return first(slices.Concat(errs[:]...))
}
