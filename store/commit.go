package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/gputide/gputide"
)

// errReadOnly is returned by a write to a database opened for reading.
var errReadOnly = fmt.Errorf("%w: database is open for reading only", gputide.ErrInvalid)

// CommitRun stores one run in one transaction: all of it or nothing. The same
// run again is a no-op. It returns [gputide.ErrConflict] for a run at a scope
// and moment that is stored with other contents, unless Replace is set or the
// run is a replay, and [gputide.ErrInvalid] for a run that contradicts itself.
// A scope that fails in a replay leaves what was read of it: the archive may
// have lost a body, which says nothing of the provider.
//
// A run older than the newest of its scope is worked into the past: what is
// known now, and the current prices, do not change unless it bears on them.
func (db *DB) CommitRun(ctx context.Context, run *gputide.Run) (gputide.CommitResult, error) {
	if db.readOnly {
		return gputide.CommitResult{}, errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return gputide.CommitResult{}, err
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	var res gputide.CommitResult
	err := db.update(run.Provider, run.Cause, func(w *writer) error {
		c := &commit{w: w, run: run}
		if err := c.do(ctx); err != nil {
			return err
		}
		res = w.res
		return nil
	})
	if same, ok := errors.AsType[*sameRunError](err); ok {
		return gputide.CommitResult{RunID: same.id, NoOp: true}, nil
	}
	if err != nil {
		return gputide.CommitResult{}, fmt.Errorf("commit run of %s at %s: %w", run.Provider, run.At.UTC().Format(time.RFC3339), err)
	}
	return res, nil
}

// sameRunError rolls a transaction back whose run is stored already.
type sameRunError struct{ id uint64 }

func (e *sameRunError) Error() string { return fmt.Sprintf("run %d is the same", e.id) }

// commit is one run on its way into the database.
type commit struct {
	w   *writer
	run *gputide.Run
	at  uint32

	scopes     []runScope
	undeclared []storedScope
	coverage   coverage
	entries    []entry
	content    []byte // what was listed, for the batch hash and the prints
	hash       [8]byte
	drops      []takeOut
	next       *uint32 // moment of the provider's next done run, once known; 0 when there is none
	stmts      [2][]seriesStatement
}

// runScope is a scope of the run with its ids.
type runScope struct {
	gputide.ScopeRun
	id       uint32
	feed     feed
	forward  bool // the run is newer than everything stored of the scope
	replaces bool // a stored run holds its moment
	kept     bool // a stored run holds its moment, and this one, that failed, leaves it there
	listed   *roaring.Bitmap
}

func (s *runScope) book() int {
	if s.Scope.Signal != "" {
		return 1
	}
	return 0
}

// entry is one thing a done scope listed.
type entry struct {
	sid        uint32
	at         uint32
	scope      int32 // index of runScope
	offer      int32 // index of the offer; -1 of a signal
	price      int64
	start, end int // its part of content
	held       bool
	isNew      bool
}

// seriesStatement is a statement of the run about one series.
type seriesStatement struct {
	sid uint32
	statement
}

func (c *commit) do(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.specs(); err != nil {
		return err
	}
	if err := c.list(); err != nil {
		return err
	}
	c.sum()
	if err := c.settleOverlap(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for book := range c.stmts {
		if err := c.state(book); err != nil {
			return err
		}
		if err := c.apply(book); err != nil {
			return err
		}
	}
	if err := c.rates(); err != nil {
		return err
	}
	if err := c.quarantine(); err != nil {
		return err
	}
	return c.record()
}

// prepare checks the run and gives its scopes and sources their ids.
func (c *commit) prepare() (err error) {
	run := c.run
	if run.Provider == "" {
		return fmt.Errorf("%w: run without a provider", gputide.ErrInvalid)
	}
	if c.at, err = seconds(run.At); err != nil {
		return err
	}
	scopes := append(slices.Clone(run.Scopes), c.implicit()...)
	seen := make(map[lane]bool, len(scopes))
	for _, s := range scopes {
		if seen[lane{s.Scope, s.EventFeed}] {
			return fmt.Errorf("%w: scope %s is reported twice", gputide.ErrInvalid, s.Scope)
		}
		seen[lane{s.Scope, s.EventFeed}] = true
		rs := runScope{ScopeRun: s, listed: roaring.New()}
		if err := c.identify(&rs); err != nil {
			return err
		}
		c.scopes = append(c.scopes, rs)
	}
	c.findUndeclared()
	c.coverage = newCoverage(c.scopes)
	return nil
}

func (c *commit) identify(rs *runScope) error {
	if _, err := statusOf(rs.Status); err != nil {
		return err
	}
	if rs.Source == "" && rs.Status == gputide.ScopeDone {
		return fmt.Errorf("%w: done scope %s has no source", gputide.ErrInvalid, rs.Scope)
	}
	source, err := c.w.sources.add(rs.Source)
	if err != nil {
		return err
	}
	if c.w.sources.imported(source) {
		return fmt.Errorf("%w: source %q is reserved for imports", gputide.ErrInvalid, rs.Source)
	}
	if rs.id, err = c.w.scope(rs.Scope); err != nil {
		return err
	}
	rs.feed = makeFeed(rs.id, source)
	newest, has, err := c.w.newest(rs.id)
	if err != nil {
		return err
	}
	rs.forward = !has || c.at > newest.at
	return nil
}

func statusOf(s gputide.ScopeStatus) (markStatus, error) {
	switch s {
	case gputide.ScopeDone:
		return markDone, nil
	case gputide.ScopeFailed:
		return markFailed, nil
	case gputide.ScopeHeld:
		return markHeld, nil
	}
	return 0, fmt.Errorf("%w: scope status %q", gputide.ErrInvalid, s)
}

// implicit returns a scope for every signal name that has signals outside all
// declared scopes. Nothing tells whether they are complete, so nothing is
// concluded from what is absent.
func (c *commit) implicit() []gputide.ScopeRun {
	var out []gputide.ScopeRun
	for i := range c.run.Signals {
		s := &c.run.Signals[i]
		covered := slices.ContainsFunc(c.run.Scopes, func(sc gputide.ScopeRun) bool {
			return sc.Scope.CoversSignal(s.Name, &s.Key, s.Part)
		})
		if covered {
			continue
		}
		j := slices.IndexFunc(out, func(sc gputide.ScopeRun) bool { return sc.Scope.Signal == s.Name })
		if j < 0 {
			out = append(out, gputide.ScopeRun{
				Scope: gputide.Scope{Signal: s.Name}, Status: gputide.ScopeDone, Source: s.Source, NoWithdraw: true,
			})
			j = len(out) - 1
		}
		out[j].Count++
	}
	return out
}

// state turns what the run listed, and did not list, into statements.
func (c *commit) state(book int) error {
	feeds := slices.ContainsFunc(c.scopes, func(s runScope) bool { return s.EventFeed })
	t := c.w.touch(book)
	scope, sids := int32(-1), make([]uint32, 0, 4096)
	for i := range c.entries {
		e := &c.entries[i]
		s := &c.scopes[e.scope]
		if s.book() != book {
			continue
		}
		if at := e.scope; at != scope || len(sids) == cap(sids) {
			if scope >= 0 {
				c.scopes[scope].listed.AddMany(sids)
			}
			scope, sids = at, sids[:0]
		}
		sids = append(sids, e.sid)
		if !feeds && s.forward && len(c.drops) == 0 && c.unchanged(t, i) {
			if book == 0 {
				c.w.res.Confirmed++
			}
			continue
		}
		c.stmts[book] = append(c.stmts[book], seriesStatement{e.sid, c.statement(e, s)})
	}
	if scope >= 0 {
		c.scopes[scope].listed.AddMany(sids)
	}
	for i := range c.scopes {
		s := &c.scopes[i]
		if s.book() != book {
			continue
		}
		if err := c.absent(book, i); err != nil {
			return err
		}
	}
	slices.SortStableFunc(c.stmts[book], func(a, b seriesStatement) int {
		return cmp.Or(cmp.Compare(a.sid, b.sid), compareStatements(a.statement, b.statement))
	})
	return nil
}

func (c *commit) statement(e *entry, s *runScope) statement {
	st := statement{at: e.at, feed: s.feed, rank: rankRun, price: e.price}
	if s.EventFeed {
		st.rank, st.explicit = rankFeed, true
	}
	if e.held {
		st.say = sayHeld
		return st
	}
	if e.offer >= 0 {
		o := &c.run.Offers[e.offer]
		st.detail = detail{content: c.w.d.intern(encodeContent(o.Price, &o.Published, o.Flags)), sku: o.SKU}
	}
	return st
}

// unchanged reports whether the same was listed of the series in the run
// before, and remembers what is listed now.
func (c *commit) unchanged(t *touch, i int) bool {
	e := &c.entries[i]
	if e.held {
		return false
	}
	sum := maphash.Bytes(c.w.db.seed, c.content[e.start:e.end]) | 1
	next := e.sid + 1
	if i+1 < len(c.entries) {
		next = c.entries[i+1].sid
	}
	if old := t.b.cache.entry(e.sid); old != nil && old.print == sum {
		if old.next != next {
			old.next = next
		}
		return true
	}
	p := print{book: t.book, sid: e.sid, next: next, sum: sum}
	if e.isNew {
		p.ids = &t.b.records[e.sid].ids
	}
	c.w.prints = append(c.w.prints, p)
	return false
}

// apply applies the statements, series by series.
func (c *commit) apply(book int) error {
	t := c.w.touch(book)
	stmts := c.stmts[book]
	var add []statement
	var res applied
	for start := 0; start < len(stmts); {
		end := start
		add = add[:0]
		for sid := stmts[start].sid; end < len(stmts) && stmts[end].sid == sid; end++ {
			if stmts[end].say != sayNothing {
				add = append(add, stmts[end].statement)
			}
		}
		sid := stmts[start].sid
		rec, err := t.b.recordOf(sid)
		if err != nil {
			return err
		}
		told := newsOf(&c.w.res)
		if err := t.apply(sid, rec, add, c.drops, &res); err != nil {
			return err
		}
		if book == 0 && newsOf(&c.w.res) == told && slices.ContainsFunc(add, func(s statement) bool { return s.say == sayListed }) {
			c.w.res.Confirmed++
		}
		start = end
	}
	c.w.res.Conflicts += res.conflicts
	return nil
}

// newsOf counts what a run told of the offers it listed, beside that they stand.
func newsOf(r *gputide.CommitResult) int {
	return r.FirstSeen + r.Changed + r.Returned + r.Released
}
