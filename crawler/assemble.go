package crawler

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

// maxQuarantined bounds the refused rows a run keeps for review; all are counted.
const maxQuarantined = 10_000

// maxNotes bounds the notes of a report.
const maxNotes = 200

// outcome is how the crawl of a provider ended.
type outcome struct {
	at        time.Time
	cause     gputide.Cause
	replace   bool
	markets   []gputide.Market // asked for; none is all
	cancelled bool             // by the caller: nothing is concluded from what was not read
	late      bool             // the deadline passed
	crawlErr  error            // of Crawl; nil also when all it says is that sources were skipped
	rateErr   error
}

// assembly turns what the sink took into a run. Every list of the run is sorted,
// so that the same rows in another order give the same run.
type assembly struct {
	*sink
	outcome
	past   map[gputide.Scope]*gputide.ScopeBaseline
	states []*scopeState          // sorted
	index  map[string]*scopeIndex // by signal name; "" for prices
	held   map[gputide.OfferID]*heldKey
	review []review
	run    *gputide.Run
	unsaid int // notes beyond the bound
}

// heldKey is a key listed by a row that could not be used.
type heldKey struct {
	key   gputide.HeldKey
	state *scopeState
}

// review is a refused row of a scope, kept for the operator.
type review struct {
	row   gputide.Quarantined
	id    gputide.OfferID
	state *scopeState
}

// assemble ends the intake and returns the run, without the times and texts that
// do not follow from its rows.
func (s *sink) assemble(o outcome) (*gputide.Run, []*scopeState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	a := &assembly{
		sink:    s,
		outcome: o,
		past:    make(map[gputide.Scope]*gputide.ScopeBaseline),
		index:   make(map[string]*scopeIndex),
		held:    make(map[gputide.OfferID]*heldKey),
		run:     &gputide.Run{Provider: s.info.Name, At: o.at, Cause: o.cause, Replace: o.replace, Cadence: s.info.Cadence},
	}
	a.run.Report.Notes = s.notes
	a.resolveScopes()
	a.placeRefused()
	a.blindScopes()
	rows := a.settle(a.place())
	a.holdKeys(rows)
	a.judgeScopes(rows)
	rows = a.takeOffers(rows)
	a.takeReview()
	a.takeSignals()
	a.takeSpecs(rows)
	a.takeRates()
	a.finish(rows)
	return a.run, a.states
}

// compares reports whether the past of st may be held against this run: not
// against a replay or a replacement, which exist to correct it, nor against a
// run older than what is stored.
func (a *assembly) compares(st *scopeState) bool {
	return a.cause == gputide.CauseCrawl && !a.replace && st.base != nil && !a.at.Before(st.base.DoneAt)
}

// repeats reports whether the run is later than the last of its scope, so that
// the two are independent and one may confirm the other.
func (a *assembly) repeats(st *scopeState) bool {
	return st.base != nil && a.at.After(st.base.LastAt)
}

// note adds a line to the report; beyond the bound it is counted.
func (a *assembly) note(format string, args ...any) {
	if len(a.run.Report.Notes) >= maxNotes {
		a.unsaid++
		return
	}
	a.run.Report.Notes = append(a.run.Report.Notes, fmt.Sprintf(format, args...))
}

// place returns the rows of the sources that feed their scopes, sorted by id and
// then by content, and counts the others.
func (a *assembly) place() []*keptRow {
	rows := a.kept[:0]
	for _, r := range a.kept {
		switch st, t := r.cell.scope, r.cell.tally; {
		case st == nil:
			t.skip(reasonNoScope, r.rows())
		case !st.done():
			t.skip(reasonScopeFailed, r.rows())
		case !st.feeds(r.cell.key.source):
			t.omit(reasonSuperseded, r.rows())
		default:
			rows = append(rows, r)
		}
	}
	a.kept, a.listed = nil, nil
	slices.SortFunc(rows, compareRows)
	return rows
}

// settle leaves one row of each key and moment: of equal rows the first; of rows that
// disagree, and of a row whose price moved by a telling step, none.
func (a *assembly) settle(rows []*keptRow) []*keptRow {
	out := rows[:0]
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].id == rows[0].id && rows[n].offer.At.Equal(rows[0].offer.At) {
			n++
		}
		group := rows[:n]
		rows = rows[n:]
		if group[0].offer.Price != group[n-1].offer.Price {
			a.refuseGroup(group)
			continue
		}
		group[0].cell.tally.omit(reasonTwin, group[0].twins)
		for _, twin := range group[1:] {
			twin.cell.tally.omit(reasonTwin, twin.rows())
		}
		if detail, stepped := a.stepped(group[0]); stepped {
			a.refuseRow(group[0], normalize.ReasonPriceStep, detail)
			continue
		}
		out = append(out, group[0])
	}
	return out
}

// refuseGroup refuses the rows of one key that disagree.
func (a *assembly) refuseGroup(group []*keptRow) {
	detail := fmt.Sprintf("listed at %s and at %s %s an hour",
		group[0].offer.Price, group[len(group)-1].offer.Price, group[0].offer.Key.Currency)
	for _, r := range group {
		for range r.rows() {
			a.refuseRow(r, normalize.ReasonDuplicateKey, detail)
		}
	}
}

func (a *assembly) refuseRow(r *keptRow, reason normalize.Reason, detail string) {
	r.cell.tally.skip(string(reason), 1)
	a.refuseIn(r.cell.scope, r.id, true, gputide.Quarantined{
		Key: r.offer.Key, Part: r.offer.Part, Source: r.cell.key.source,
		Reason: string(reason), Detail: detail,
		Price: new(r.offer.Price), Published: r.offer.Published,
	})
}

// stepped applies the price-step guard to one row. A step that the run before
// was refused for, at the same price, is accepted.
func (a *assembly) stepped(r *keptRow) (detail string, stepped bool) {
	if r.cell.scope.run.EventFeed || !a.compares(r.cell.scope) || !hasSteadyPrice(&r.offer.Key) {
		return "", false
	}
	known, ok := a.base.Series[r.id]
	if !ok {
		return "", false
	}
	detail, stepped = priceStep(known.Price, r.offer.Price, r.count)
	if !stepped || !a.repeats(r.cell.scope) || known.HeldPrice == nil || *known.HeldPrice != r.offer.Price {
		return detail, stepped
	}
	a.note("%s: %s accepted: two runs agree: %s", r.cell.scope.run.Scope, describe(&r.offer.Key), detail)
	return "", false
}

// placeRefused counts the refused rows and keeps those of the sources that feed
// their scopes.
func (a *assembly) placeRefused() {
	for i := range a.refused {
		r := &a.refused[i]
		t := r.cell.tally
		if !r.guarded && !a.all && a.notOurs(r) {
			t.notAccelerated++
			continue
		}
		t.skip(r.row.Reason, 1)
		if st := r.cell.scope; st != nil && st.feeds(r.cell.key.source) {
			a.refuseIn(st, r.id, r.guarded, r.row)
		}
	}
	a.refused = nil
}

// notOurs reports whether an unreadable row is of a type that is known to have
// no accelerator and of no offer the store has.
func (a *assembly) notOurs(r *refusedRow) bool {
	t := a.types[typeKey{r.row.Key.Partition, r.row.Key.InstanceType}]
	return t != nil && !t.any && a.base.Series[r.id].Price == 0
}

// refuseIn keeps a refused row of a scope: for review, and as a key that is
// listed. guarded tells a row that a guard refused from one that the adapter
// could not read.
func (a *assembly) refuseIn(st *scopeState, id gputide.OfferID, guarded bool, row gputide.Quarantined) {
	row.At = a.at
	a.review = append(a.review, review{row: row, id: id, state: st})
	if guarded {
		st.guarded++
	}
	if guarded && namesNothing(row.Reason) {
		st.vague++
		return
	}
	held := gputide.HeldKey{Key: row.Key, Part: row.Part, Source: row.Source, Reason: row.Reason}
	known, ok := a.held[id]
	if !ok {
		a.held[id] = &heldKey{key: held, state: st}
		return
	}
	if cmp.Or(cmp.Compare(held.Part, known.key.Part), cmp.Compare(held.Reason, known.key.Reason)) < 0 {
		*known = heldKey{key: held, state: st}
	}
}

// holdKeys drops held keys that another row lists with a price after all.
func (a *assembly) holdKeys(rows []*keptRow) {
	for id := range a.held {
		if _, ok := slices.BinarySearchFunc(rows, id, func(r *keptRow, id gputide.OfferID) int {
			return bytes.Compare(r.id[:], id[:])
		}); ok {
			delete(a.held, id)
		}
	}
}

// judgeScopes applies the scope guards to the price scopes.
func (a *assembly) judgeScopes(rows []*keptRow) {
	for _, r := range rows {
		st := r.cell.scope
		st.kept++
		if isAggregate(r.offer.Key.Stat) {
			st.aggregates++
		}
		if a.base.Series[r.id].Price == 0 {
			st.fresh++ // never seen, or seen only in rows that were refused
		}
		st.list.Write(r.id[:])
	}
	ids := make([]gputide.OfferID, 0, len(a.held))
	for id := range a.held {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y gputide.OfferID) int { return bytes.Compare(x[:], y[:]) })
	for _, id := range ids {
		st := a.held[id].state
		st.held++
		st.list.Write(id[:])
	}
	a.shareReads()
	for _, st := range a.states {
		if st.done() && st.run.Scope.Signal == "" {
			a.judge(st, (*scopeState).judge)
		}
	}
}

// shareReads lets scopes that were read from the same bodies count each other's
// rows: a price list without a reserved term was read all the same.
func (a *assembly) shareReads() {
	read := map[string]int64{}
	body := func(st *scopeState) string { return st.run.Source + "\n" + strings.Join(st.run.URLs, "\n") }
	for _, st := range a.states {
		if st.done() && len(st.run.URLs) > 0 {
			read[body(st)] += st.read
		}
	}
	for _, st := range a.states {
		st.read = max(st.read, read[body(st)])
	}
}

// judge holds a scope back unless the run before, held too, listed the same.
func (a *assembly) judge(st *scopeState, guards func(st *scopeState, compare bool) error) {
	st.digest()
	err := guards(st, a.compares(st))
	if err == nil {
		return
	}
	if a.repeats(st) && st.base.HeldDigest == st.run.Digest {
		a.note("%s: accepted: two runs agree: %s", st.run.Scope, err)
		return
	}
	st.hold(err)
	a.note("%s: %s", st.run.Scope, err)
	if errors.Is(err, gputide.ErrEmpty) {
		a.tally(st.run.Source).fail(err.Error())
	}
}
