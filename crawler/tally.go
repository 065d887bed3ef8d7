package crawler

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gputide/gputide"
)

// maxReasons bounds the distinct reasons counted of one source.
const maxReasons = 64

// reasonOther takes the rows of reasons beyond maxReasons.
const reasonOther = "other"

// notAsked is the message of a source nothing was heard of: a more authoritative
// one answered, or the adapter had no need of it.
const notAsked = "not asked"

// tally counts what became of the rows of one source.
type tally struct {
	source         string
	read           int64
	kept           int64
	notAccelerated int64
	unplaced       int64 // left out by the adapter, which does not say where
	skipped        map[string]int64
	omitted        map[string]int64

	bytes    int64
	specs    int64
	badSpecs int64 // of them, with a name or a number that is none
	signals  int64

	done     int  // scopes, or the source as a whole
	failed   bool // in some scope, or as a whole
	failures map[string]struct{}
	skips    map[string]struct{} // why it was not asked
}

func (t *tally) skip(reason string, rows int64) { addReason(&t.skipped, reason, rows) }

func (t *tally) omit(reason string, rows int64) { addReason(&t.omitted, reason, rows) }

func addReason(counts *map[string]int64, reason string, rows int64) {
	if rows == 0 {
		return
	}
	if *counts == nil {
		*counts = make(map[string]int64)
	}
	if _, ok := (*counts)[reason]; !ok && len(*counts) >= maxReasons {
		reason = reasonOther
	}
	(*counts)[reason] += rows
}

func (t *tally) fail(message string) {
	t.failed = true
	if t.failures == nil {
		t.failures = make(map[string]struct{})
	}
	if message != "" && len(t.failures) < maxReasons {
		t.failures[message] = struct{}{}
	}
}

func (t *tally) skipSource(message string) {
	if t.skips == nil {
		t.skips = make(map[string]struct{})
	}
	if len(t.skips) < maxReasons {
		t.skips[message] = struct{}{}
	}
}

// answered reports whether the source gave anything.
func (t *tally) answered() bool {
	return t.done > 0 || t.read > 0 || t.specs > 0 || t.signals > 0
}

// report returns the tally as the run report has it.
func (t *tally) report() gputide.SourceReport {
	r := gputide.SourceReport{
		Source:  t.source,
		Read:    t.read,
		Kept:    t.kept,
		Skipped: maps.Clone(t.skipped),
		Omitted: maps.Clone(t.omitted),
	}
	switch {
	case t.failed:
		r.Status, r.Message = gputide.SourceFailed, summary(t.failures)
	case t.answered():
		r.Status, r.Message = gputide.SourceOK, summary(t.skips)
	case len(t.skips) > 0:
		r.Status, r.Message = gputide.SourceSkipped, summary(t.skips)
	default:
		r.Status, r.Message = gputide.SourceSkipped, notAsked
	}
	return r
}

// summary returns the first message and how many more there are.
func summary(messages map[string]struct{}) string {
	sorted := slices.Sorted(maps.Keys(messages))
	switch len(sorted) {
	case 0:
		return ""
	case 1:
		return sorted[0]
	}
	return fmt.Sprintf("%s (and %d more)", sorted[0], len(sorted)-1)
}

// isSkip reports whether err says that a source is not to be asked.
func isSkip(err error) bool {
	return errors.Is(err, gputide.ErrNeedsKey) || errors.Is(err, gputide.ErrNotInFixture)
}

// onlySkipped reports whether err says nothing but that sources are not to be
// asked: of several errors joined, every one must.
func onlySkipped(err error) bool {
	if err == nil || !isSkip(err) {
		return false
	}
	if _, ok := err.(*gputide.FetchError); ok { //nolint:errorlint // the node itself, not its tree
		return true
	}
	switch e := err.(type) { //nolint:errorlint // the node itself, not its tree
	case interface{ Unwrap() error }:
		return onlySkipped(e.Unwrap())
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !onlySkipped(err) })
	}
	return true
}
