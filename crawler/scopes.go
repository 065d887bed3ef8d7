package crawler

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/bits"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// lane is a scope as a whole or its event feed: a run may hold both, and each is
// done or failed by itself.
type lane struct {
	scope gputide.Scope
	feed  bool
}

// scopeReport is what one source reported of one scope, all its reports taken
// together: a failure of any of them is a failure.
type scopeReport struct {
	run     gputide.ScopeRun
	reasons map[string]struct{}
}

func newScopeReport(run gputide.ScopeRun) *scopeReport {
	r := &scopeReport{reasons: make(map[string]struct{})}
	r.run = gputide.ScopeRun{Scope: run.Scope, Source: run.Source, Status: gputide.ScopeDone, EventFeed: run.EventFeed}
	r.merge(run)
	return r
}

func (r *scopeReport) merge(run gputide.ScopeRun) {
	if run.Status != gputide.ScopeDone {
		r.run.Status = gputide.ScopeFailed
		r.reasons[run.Reason] = struct{}{}
	}
	r.run.NoWithdraw = r.run.NoWithdraw || run.NoWithdraw
	if r.run.From.IsZero() || (!run.From.IsZero() && run.From.Before(r.run.From)) {
		r.run.From = run.From
	}
	if run.To.After(r.run.To) {
		r.run.To = run.To
	}
	r.run.URLs = append(r.run.URLs, run.URLs...)
}

// scopeState is one scope of the run while it is assembled.
type scopeState struct {
	run  gputide.ScopeRun
	base *gputide.ScopeBaseline // nil when the scope is new
	err  error                  // why it failed or was held

	read       int64 // rows of its source, kept or not
	kept       int   // offers, or signals
	aggregates int   // offers that are statistics of ephemeral listings
	fresh      int   // offers never seen before
	held       int   // keys that are listed and keep their last price
	guarded    int   // rows a guard refused
	vague      int64 // rows that do not say which offer they are
	unplaced   bool  // its source left rows out without saying where

	list hash.Hash // of what it lists
}

func (st *scopeState) done() bool { return st.run.Status == gputide.ScopeDone }

// feeds reports whether the scope is read from source.
func (st *scopeState) feeds(source string) bool { return st.done() && st.run.Source == source }

// hold holds the scope back.
func (st *scopeState) hold(err error) {
	st.run.Status, st.err = gputide.ScopeHeld, err
	st.run.Reason = err.Error()
}

// digest closes the list of the scope: what its source lists, whatever the
// prices, which move from run to run.
func (st *scopeState) digest() {
	fmt.Fprintf(st.list, "source %s", st.run.Source)
	st.run.Digest = hex.EncodeToString(st.list.Sum(nil)[:16])
	st.run.Count = st.kept + st.held
}

// decide makes one scope of what its sources reported: the most authoritative of
// those that read it to its end feeds it.
func (s *sink) decide(l lane, reports map[string]*scopeReport) *scopeState {
	st := &scopeState{list: sha256.New()}
	var failed []error
	var reasons []string
	sources := make([]string, 0, len(reports))
	for source := range reports {
		sources = append(sources, source)
	}
	slices.SortFunc(sources, s.rank.compare)
	for _, source := range sources {
		r := reports[source]
		if r.run.Status == gputide.ScopeDone && r.run.EventFeed && (r.run.From.IsZero() || r.run.To.IsZero()) {
			r.run.Status = gputide.ScopeFailed
			r.reasons["event feed without a window"] = struct{}{}
		}
		if r.run.Status == gputide.ScopeDone {
			st.run = r.run
			st.run.URLs = sortedURLs(r.run.URLs)
			st.unplaced = s.tally(source).unplaced > 0
			return st
		}
		reason := summary(r.reasons)
		failed = append(failed, s.scopeError(source, r.reasons))
		reasons = append(reasons, reason)
	}
	st.err = failed[0]
	if len(failed) > 1 {
		st.err = errors.Join(failed...)
	}
	st.run = gputide.ScopeRun{
		Scope:     l.scope,
		EventFeed: l.feed,
		Status:    gputide.ScopeFailed,
		Source:    sources[len(sources)-1],
		Reason:    strings.Join(reasons, "; "),
	}
	return st
}

// scopeError returns the error the adapter failed a scope with.
func (s *sink) scopeError(source string, reasons map[string]struct{}) error {
	for reason := range reasons {
		if err, ok := s.scopeErrs[reportedErr{source, reason}]; ok && len(reasons) == 1 {
			return err
		}
	}
	return errors.New(summary(reasons))
}

func sortedURLs(urls []string) []string {
	urls = slices.Clone(urls)
	slices.Sort(urls)
	return slices.Compact(urls)
}

// scopeIndex finds the narrowest scope of a row. Scopes have few shapes (sets of
// fields that are not empty), so a look-up tries one scope per shape.
type scopeIndex struct {
	shapes []scopeShape // narrowest first
	byLane map[lane]*scopeState
}

// scopeShape is the set of fields of a scope that are not empty, one bit each.
type scopeShape uint8

func shapeOf(s gputide.Scope) scopeShape {
	var shape scopeShape
	for i, v := range [...]string{s.Partition, s.Seller, s.Region, string(s.Market), s.Part} {
		if v != "" {
			shape |= 1 << i
		}
	}
	return shape
}

func (shape scopeShape) fields() int { return bits.OnesCount8(uint8(shape)) }

// project returns the scope of the given shape that covers k.
func (shape scopeShape) project(k *cellKey, signal string) gputide.Scope {
	s := gputide.Scope{Signal: signal}
	for i, f := range [...]struct {
		to   *string
		from string
	}{
		{&s.Partition, k.partition},
		{&s.Seller, k.seller},
		{&s.Region, k.region},
		{(*string)(&s.Market), string(k.market)},
		{&s.Part, k.part},
	} {
		if shape&(1<<i) != 0 {
			*f.to = f.from
		}
	}
	return s
}

func newScopeIndex(states []*scopeState) *scopeIndex {
	x := &scopeIndex{byLane: make(map[lane]*scopeState)}
	for _, st := range states {
		x.byLane[lane{st.run.Scope, st.run.EventFeed}] = st
		if shape := shapeOf(st.run.Scope); !slices.Contains(x.shapes, shape) {
			x.shapes = append(x.shapes, shape)
		}
	}
	slices.SortFunc(x.shapes, func(a, b scopeShape) int {
		return cmp.Or(cmp.Compare(b.fields(), a.fields()), cmp.Compare(a, b))
	})
	return x
}

// find returns the scope of k, nil when there is none. Events belong to feeds;
// what states no moment of its own belongs to a feed only where nothing else
// covers it.
func (x *scopeIndex) find(k *cellKey, signal string) *scopeState {
	st := x.narrowest(k, signal, k.event)
	if st == nil && !k.event {
		st = x.narrowest(k, signal, true)
	}
	return st
}

// narrowest returns the narrowest scope that covers k. Of two as narrow it is
// the one that stands first in the run.
func (x *scopeIndex) narrowest(k *cellKey, signal string, feed bool) *scopeState {
	var best *scopeState
	for _, shape := range x.shapes {
		if best != nil && shape.fields() < shapeOf(best.run.Scope).fields() {
			break
		}
		s := shape.project(k, signal)
		if shapeOf(s) != shape {
			continue // k lacks a field that scopes of the shape name
		}
		if st := x.byLane[lane{s, feed}]; st != nil && (best == nil || compareScopes(st.run.Scope, best.run.Scope) < 0) {
			best = st
		}
	}
	return best
}

// contains reports whether every row of narrow is a row of wide.
func contains(wide, narrow gputide.Scope) bool {
	return wide.Signal == narrow.Signal && within(wide.Partition, narrow.Partition) && within(wide.Seller, narrow.Seller) &&
		within(wide.Region, narrow.Region) && within(string(wide.Market), string(narrow.Market)) && within(wide.Part, narrow.Part)
}

func within(wide, narrow string) bool { return wide == "" || wide == narrow }

// overlap reports whether a row may belong to both scopes: in no field do they
// name different values.
func overlap(a, b gputide.Scope) bool {
	return meets(a.Partition, b.Partition) && meets(a.Seller, b.Seller) && meets(a.Region, b.Region) &&
		meets(string(a.Market), string(b.Market)) && meets(a.Part, b.Part)
}

func meets(a, b string) bool { return a == "" || b == "" || a == b }

// compareStates orders the scopes of a run: a scope as a whole before its feed.
func compareStates(a, b *scopeState) int {
	if c := compareScopes(a.run.Scope, b.run.Scope); c != 0 || a.run.EventFeed == b.run.EventFeed {
		return c
	}
	if b.run.EventFeed {
		return -1
	}
	return 1
}

// compareScopes orders scopes.
func compareScopes(a, b gputide.Scope) int {
	return cmp.Or(
		cmp.Compare(a.Signal, b.Signal),
		cmp.Compare(a.Partition, b.Partition),
		cmp.Compare(a.Seller, b.Seller),
		cmp.Compare(a.Region, b.Region),
		cmp.Compare(a.Market, b.Market),
		cmp.Compare(a.Part, b.Part),
	)
}
