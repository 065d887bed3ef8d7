package store

import (
	"slices"

	"github.com/gputide/gputide"
)

// touch applies statements to one series: behind its history when they are
// newer than everything that bears on it, into its history otherwise.
type touch struct {
	w    *writer
	b    *bookWriter
	book int

	// newestOf is the newest stored mark of each scope met so far.
	newestOf map[uint32]uint32
}

func (w *writer) touch(book int) *touch {
	return &touch{w: w, b: w.books()[book], book: book, newestOf: make(map[uint32]uint32)}
}

// behind reports whether a moment lies behind every stored mark of a scope.
func (t *touch) behind(scope, at uint32) (bool, error) {
	n, ok := t.newestOf[scope]
	if !ok {
		m, has, err := t.w.newest(scope)
		if err != nil {
			return false, err
		}
		if has {
			n = m.at
		}
		t.newestOf[scope] = n
	}
	return at > n, nil
}

// apply applies the statements, sorted, to a series. drop names stored
// statements to take out first.
func (t *touch) apply(sid uint32, rec record, add []statement, drop []takeOut, res *applied) error {
	old := t.b.slotOf(sid)
	forward := len(drop) == 0 && len(add) > 0
	for i := 0; forward && i < len(add); i++ {
		ok, err := t.behind(add[i].feed.scope(), add[i].at)
		if err != nil {
			return err
		}
		forward = ok && (old.status == statusNone || add[i].at > old.at)
	}
	if forward && rec.scope != 0 {
		ok, err := t.behind(rec.scope, add[0].at)
		if err != nil {
			return err
		}
		forward = ok
	}
	if forward {
		return t.forward(sid, rec, old, add, res)
	}
	return t.splice(sid, rec, add, drop, res)
}

// applied counts what statements came to.
type applied struct {
	known     int
	conflicts int
}

func (t *touch) forward(sid uint32, rec record, old slot, add []statement, res *applied) error {
	before, err := t.stateOf(sid, rec, old)
	if err != nil {
		return err
	}
	f := folder{state: before}
	f.out.first = rec.first
	now := make([]statement, 0, 1)
	sp := splice{}
	for i := 0; i < len(add); {
		now = now[:0]
		for at := add[i].at; i < len(add) && add[i].at == at; i++ {
			now = sp.merge(now, add[i])
		}
		for _, s := range now {
			f.apply(s)
		}
	}
	res.known += sp.known
	res.conflicts += sp.conflicts
	if len(f.out.events) > 0 {
		if err := t.b.append(sid, old, f.out.events); err != nil {
			return err
		}
		t.settle(sid, rec, &f.out, f.state, f.out.events[len(f.out.events)-1].at)
		t.record(sid, before, f.out.events)
	}
	if t.b.detail == nil {
		return nil
	}
	return t.b.putDetails(sid, nil, f.out.details)
}

// stateOf is the state of a series now.
func (t *touch) stateOf(sid uint32, rec record, s slot) (state, error) {
	if s.status == statusNone {
		return state{}, nil
	}
	out := state{status: s.status, feed: makeFeed(rec.scope, s.source), price: s.price}
	if t.b.detail == nil {
		return out, nil
	}
	k, v := t.b.detail.Cursor().SeekLast(keyPair(sid, maxSeconds))
	if len(k) != 8 || be32(k) != sid {
		return out, nil
	}
	var err error
	out.detail, err = decodeDetail(v)
	return out, err
}

// settle writes the current value of a series.
func (t *touch) settle(sid uint32, rec record, h *history, s state, at uint32) {
	t.b.setSlot(sid, slot{price: s.price, at: at, status: s.status, source: s.feed.source()})
	t.b.place(sid, rec, h.first, s.feed.scope())
	t.w.forgotten[t.book] = append(t.w.forgotten[t.book], sid)
}

// record counts and logs events that follow a state.
func (t *touch) record(sid uint32, before state, events []event) {
	if t.b.signals {
		t.w.res.Signals++
		return
	}
	known := before.status != statusNone
	for _, e := range events {
		k, ok := logKindOf(e.kind, known)
		if !ok {
			continue
		}
		known = true
		t.w.count(k, 1)
		t.w.log.series = append(t.w.log.series, logEntry{sid: sid, at: e.at, kind: k})
	}
}

func logKindOf(k kind, known bool) (logKind, bool) {
	switch k {
	case kindPrice:
		if known {
			return logPrice, true
		}
		return logFirstSeen, true
	case kindVanished:
		return logWithdrawn, true
	case kindReturned:
		return logReturned, true
	case kindHeld:
		return logHeld, true
	case kindReleased:
		return logReleased, true
	}
	return 0, false
}

func (w *writer) count(k logKind, n int) {
	switch k {
	case logFirstSeen:
		w.res.FirstSeen += n
	case logPrice:
		w.res.Changed += n
	case logWithdrawn:
		w.res.Withdrawn += n
	case logReturned:
		w.res.Returned += n
	case logHeld:
		w.res.Held += n
	case logReleased:
		w.res.Released += n
	}
}

// splice works statements into the middle of a history.
func (t *touch) splice(sid uint32, rec record, add []statement, drop []takeOut, res *applied) error {
	t.w.spliced[t.book][sid] = true
	h, err := t.history(sid, rec)
	if err != nil {
		return err
	}
	from, last := span(add, drop)
	var now history
	for _, limit := range []uint32{min(last, maxSeconds-spliceAhead) + spliceAhead, maxSeconds} {
		marks, err := t.marks(h, add, from, limit)
		if err != nil {
			return err
		}
		sp := splice{marks: marks, add: add, drop: drop, imported: t.w.imported}
		var done bool
		if now, done = sp.apply(h, from, last, limit); done {
			res.known += sp.known
			res.conflicts += sp.conflicts
			break
		}
	}
	return t.replace(sid, rec, h, &now, add)
}

// spliceAhead is how far behind its last statement a splice first looks for old
// and new history to agree again: 62 days.
const spliceAhead = 62 * 24 * 3600

// span is the stretch of time the change bears on directly.
func span(add []statement, drop []takeOut) (from, last uint32) {
	from = maxSeconds
	if len(add) > 0 {
		from, last = add[0].at, add[len(add)-1].at
	}
	for _, t := range drop {
		from, last = min(from, t.from), max(last, t.to)
	}
	return from, last
}

func (t *touch) history(sid uint32, rec record) (*history, error) {
	h := &history{first: rec.first}
	var err error
	if h.events, err = t.b.events(nil, sid); err != nil {
		return nil, err
	}
	if h.details, err = t.b.detailsOf(sid); err != nil {
		return nil, err
	}
	return h, nil
}

// marks gathers the stored marks of every scope that ever fed the series or
// states something of it now.
func (t *touch) marks(h *history, add []statement, from, to uint32) ([]seriesMark, error) {
	scopes := make([]uint32, 0, 2)
	see := func(f feed) {
		if s := f.scope(); s != 0 && !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	see(h.first)
	for _, e := range h.events {
		if e.kind == kindMoved {
			see(feed(e.val))
		}
	}
	for i := range add {
		see(add[i].feed)
	}
	return gatherMarks(t.w.marks, t.w.sources, scopes, from, to)
}

// gatherMarks returns the marks of scopes in [from, to], in order.
func gatherMarks(r *markReader, sources *sourceTable, scopes []uint32, from, to uint32) ([]seriesMark, error) {
	var out []seriesMark
	for _, scope := range scopes {
		err := r.months(scope, from, func(month *monthMarks) bool {
			for i := range month.marks {
				m := &month.marks[i]
				if m.at > to {
					return false
				}
				if m.at >= from && m.confirms() {
					out = append(out, seriesMark{mark: *m, feed: makeFeed(scope, m.source), rank: markRank(sources, m)})
				}
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	if len(scopes) > 1 {
		slices.SortStableFunc(out, func(a, b seriesMark) int { return compareSeriesMarks(&a, &b) })
	}
	return out, nil
}

// replace writes a history in the place of another.
func (t *touch) replace(sid uint32, rec record, h, now *history, add []statement) error {
	for i := range add {
		if s := add[i].feed.scope(); add[i].say <= sayHeld && s != rec.scope {
			t.b.index.put(scopeKey(s), sid)
		}
	}
	if h.equal(now) {
		return nil
	}
	t.b.rewrite(sid, now.events)
	if t.b.detail != nil {
		if err := t.b.putDetails(sid, h.details, now.details); err != nil {
			return err
		}
	}
	s := replay{h: now}
	s.skip(maxSeconds)
	for s.ei < len(now.events) {
		s.event()
	}
	var at uint32
	if n := len(now.events); n > 0 {
		at = now.events[n-1].at
	}
	t.settle(sid, rec, now, s.state, at)
	if t.b.signals {
		t.w.res.Signals++
		return nil
	}
	n := len(t.w.log.series)
	t.w.log.record(sid, h.events, now.events)
	for _, e := range t.w.log.series[n:] {
		if !e.void {
			t.w.count(e.kind, 1)
		}
	}
	return nil
}

// listedOrHeld reports whether a slot is of a series its last run listed.
func (s slot) listedOrHeld() bool { return s.status == statusListed || s.status == statusHeld }

// attrs computes the derived attributes of a new series.
func (w *writer) attrs(k *gputide.Key, specs *specReader) ([]gputide.Attr, error) {
	if w.db.deriver == nil {
		return nil, nil
	}
	spec, err := specs.latest(k, maxSeconds)
	if err != nil {
		return nil, err
	}
	return w.db.deriver.Derive(k, spec), nil
}
