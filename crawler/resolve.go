package crawler

import (
	"errors"
	"slices"

	"github.com/gputide/gputide"
)

// resolveScopes decides every reported scope, adds those the crawl did not come
// to, and finds the scope of each cell.
func (a *assembly) resolveScopes() {
	for i := range a.base.Scopes {
		a.past[a.base.Scopes[i].Scope] = &a.base.Scopes[i]
	}
	failed := a.sortFailures()
	for l, reports := range a.reports {
		if st := a.decide(l, reports); st.done() || !a.cancelled {
			a.states = append(a.states, st)
		}
	}
	if !a.cancelled {
		a.missScopes(failed)
	}
	slices.SortFunc(a.states, compareStates)
	byName := make(map[string][]*scopeState)
	for _, st := range a.states {
		st.base = a.past[st.run.Scope]
		byName[st.run.Scope.Signal] = append(byName[st.run.Scope.Signal], st)
	}
	for name, states := range byName {
		a.index[name] = newScopeIndex(states)
	}
	for _, c := range a.cells {
		if x := a.index[""]; x != nil {
			c.scope = x.find(&c.key, "")
		}
		if c.scope != nil && c.scope.feeds(c.key.source) {
			c.scope.read += c.read
		}
	}
}

// sortFailures counts the failed scopes with their sources and returns their
// errors. A report that only says that its source is not to be asked is no
// failure and goes.
func (a *assembly) sortFailures() []error {
	var failed []error
	for l, reports := range a.reports {
		for source, r := range reports {
			if r.run.Status == gputide.ScopeDone {
				continue
			}
			err := a.scopeError(source, r.reasons)
			if onlySkipped(err) {
				a.tally(source).skipSource(err.Error())
				delete(reports, source)
				continue
			}
			a.tally(source).fail(summary(r.reasons))
			failed = append(failed, err)
		}
		if len(reports) == 0 {
			delete(a.reports, l)
		}
	}
	return failed
}

// missScopes adds the known scopes that were not reported and not read: those
// within a wider scope that failed, and all of them when the crawl ran out of
// time or ended in an error that no scope was failed with. Those whose sources were all skipped were
// not asked for, and stay out.
func (a *assembly) missScopes(failed []error) {
	var wide []*scopeState
	for _, st := range a.states {
		if !st.done() && !st.run.EventFeed {
			wide = append(wide, st)
		}
	}
	broken := a.crawlErr != nil && (a.late || !accounted(a.crawlErr, failed))
	for i := range a.base.Scopes {
		b := &a.base.Scopes[i]
		if a.reported(b.Scope) || !a.wants(b.Scope) || a.notAsked(b) {
			continue
		}
		err := a.crawlErr
		if j := slices.IndexFunc(wide, func(st *scopeState) bool { return contains(st.run.Scope, b.Scope) }); j >= 0 {
			err = wide[j].err
		} else if !broken {
			continue
		}
		a.states = append(a.states, &scopeState{err: err, run: gputide.ScopeRun{
			Scope: b.Scope, Status: gputide.ScopeFailed, Source: b.LastSource, Reason: "not read: " + err.Error(),
		}})
	}
}

// accounted reports whether err says nothing but what scopes were failed with.
func accounted(err error, failed []error) bool {
	if slices.ContainsFunc(failed, func(f error) bool { return same(err, f) }) {
		return true
	}
	switch e := err.(type) { //nolint:errorlint // the node itself, not its tree
	case *gputide.FetchError, *gputide.DriftError, *PanicError:
		return false
	case interface{ Unwrap() error }:
		return e.Unwrap() != nil && accounted(e.Unwrap(), failed)
	case interface{ Unwrap() []error }:
		errs := e.Unwrap()
		return len(errs) > 0 && !slices.ContainsFunc(errs, func(err error) bool { return !accounted(err, failed) })
	}
	return false
}

// same reports whether two errors are one.
func same(a, b error) bool { return errors.Is(a, b) && errors.Is(b, a) }

// reported reports whether anything was said of a scope or of its event feed.
func (a *assembly) reported(s gputide.Scope) bool {
	return a.reports[lane{s, false}] != nil || a.reports[lane{s, true}] != nil
}

// wants reports whether a scope was asked for.
func (a *assembly) wants(s gputide.Scope) bool {
	return len(a.markets) == 0 || s.Signal == "" && slices.Contains(a.markets, s.Market)
}

func (a *assembly) notAsked(b *gputide.ScopeBaseline) bool {
	asked := false
	for source := range b.Sources {
		t, ok := a.tallies[source]
		asked = asked || !ok || t.failed || len(t.skips) == 0
	}
	return len(b.Sources) > 0 && !asked
}

// blindScopes keeps scopes with a row of unknown key from withdrawing anything:
// what is missing may be that row.
func (a *assembly) blindScopes() {
	for _, st := range a.states {
		rows := st.vague
		for k, n := range a.blind {
			if st.feeds(k.source) && k.scope.Signal == st.run.Scope.Signal && overlap(k.scope, st.run.Scope) {
				rows += n
				st.read += n
			}
		}
		if rows == 0 {
			continue
		}
		st.run.NoWithdraw = true
		a.note("%s: nothing withdrawn: %d rows of %s do not say what they are", st.run.Scope, rows, st.run.Source)
	}
}
