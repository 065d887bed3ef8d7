package store

import (
	"cmp"
	"slices"
)

// say is what a run or an import states of one series at one moment.
type say uint8

const (
	sayListed  say = iota
	sayHeld        // listed by a row that could not be used
	sayDoubt       // not listed, but a row of unknown key was skipped
	sayAbsent      // not listed by a run that lists everything
	sayNothing     // what a replaced run said is taken out and nothing put in its place
)

// Ranks order the statements of one moment; the last one holds.
const (
	rankImportEvent uint8 = iota
	rankImport
	rankFeed
	rankRun
)

// statement is one say about a series. History is the fold of all statements
// in order of moment and rank, whatever the order they arrived in.
type statement struct {
	at       uint32
	rank     uint8
	say      say
	explicit bool // no mark of its feed implies it
	feed     feed
	price    int64
	detail   detail
}

func compareStatements(a, b statement) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.feed, b.feed))
}

// state is what the statements up to a moment come to.
type state struct {
	status status
	doubt  bool // held because it may be a row of unknown key, not because its own was refused
	feed   feed
	price  int64
	detail detail
}

// detailAt is a change point of the detail of a series.
type detailAt struct {
	at     uint32
	detail detail
}

// history is everything stored of one series.
type history struct {
	first   feed
	events  []event
	details []detailAt
}

func (h *history) equal(o *history) bool {
	return h.first == o.first && slices.Equal(h.events, o.events) && slices.Equal(h.details, o.details)
}

// step returns the state after an event.
func (s *state) step(e event) {
	switch e.kind {
	case kindPrice:
		s.price = e.val
		s.status = statusListed
	case kindVanished:
		s.status, s.doubt = statusWithdrawn, false
	case kindHeld:
		s.status, s.doubt = statusHeld, e.val == heldDoubt
	case kindMoved:
		s.feed = feed(e.val)
	case kindReturned, kindReleased, kindConfirmed:
		s.status, s.doubt = statusListed, false
	}
}

// folder turns statements into events.
type folder struct {
	state state
	out   history
}

func (f *folder) emit(at uint32, k kind, val int64) {
	e := event{at: at, kind: k, val: val}
	f.out.events = append(f.out.events, e)
	f.state.step(e)
}

func (f *folder) apply(s statement) {
	switch s.say {
	case sayListed:
		f.listed(s)
	case sayHeld:
		if f.state.status == statusNone {
			return // no series without a price
		}
		f.move(s)
		if f.state.status != statusHeld {
			f.emit(s.at, kindHeld, 0)
		}
	case sayDoubt:
		if f.state.status == statusListed && f.state.feed == s.feed {
			f.emit(s.at, kindHeld, heldDoubt)
		}
	case sayAbsent:
		if f.state.feed == s.feed && (f.state.status == statusListed || f.state.status == statusHeld) {
			f.emit(s.at, kindVanished, 0)
		}
	}
}

func (f *folder) listed(s statement) {
	n := len(f.out.events)
	switch f.state.status {
	case statusNone:
		f.out.first, f.state.feed = s.feed, s.feed
		f.emit(s.at, kindPrice, s.price)
	case statusWithdrawn:
		f.move(s)
		f.emit(s.at, kindReturned, 0)
	case statusHeld:
		f.move(s)
		f.emit(s.at, kindReleased, 0)
	case statusListed:
		f.move(s)
	}
	if f.state.price != s.price {
		f.emit(s.at, kindPrice, s.price)
	}
	if s.explicit && len(f.out.events) == n {
		f.emit(s.at, kindConfirmed, 0)
	}
	if f.state.detail != s.detail {
		f.state.detail = s.detail
		if d := f.out.details; len(d) > 0 && d[len(d)-1].at == s.at {
			d[len(d)-1].detail = s.detail
		} else {
			f.out.details = append(d, detailAt{s.at, s.detail})
		}
	}
}

func (f *folder) move(s statement) {
	if f.state.feed != s.feed {
		f.emit(s.at, kindMoved, int64(s.feed))
	}
}

// seriesMark is a mark with what a fold must know of it.
type seriesMark struct {
	mark
	feed feed
	rank uint8
}

func compareSeriesMarks(a, b *seriesMark) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.feed, b.feed))
}

// replay walks a stored history and recovers the statements it was made of.
type replay struct {
	h       *history
	state   state
	ei, di  int // next event and detail
	marks   []seriesMark
	mi      int
	groups  []group
	atMarks []seriesMark
}

// group is the events of one moment that one feed caused.
type group struct {
	feed  feed
	state state
}

// skip moves past everything before a moment.
func (r *replay) skip(before uint32) {
	if before == 0 {
		return
	}
	for r.ei < len(r.h.events) && r.h.events[r.ei].at < before {
		r.event()
	}
	r.detailsThrough(before - 1)
	for r.mi < len(r.marks) && r.marks[r.mi].at < before {
		r.mi++
	}
}

func (r *replay) event() event {
	e := r.h.events[r.ei]
	if r.ei == 0 {
		r.state.feed = r.h.first
	}
	r.state.step(e)
	r.ei++
	return e
}

func (r *replay) detailsThrough(at uint32) {
	for r.di < len(r.h.details) && r.h.details[r.di].at <= at {
		r.state.detail = r.h.details[r.di].detail
		r.di++
	}
}

// next returns the next moment of the history, and false at its end.
func (r *replay) next() (uint32, bool) {
	at, ok := uint32(0), false
	if r.ei < len(r.h.events) {
		at, ok = r.h.events[r.ei].at, true
	}
	if r.mi < len(r.marks) && (!ok || r.marks[r.mi].at < at) {
		at, ok = r.marks[r.mi].at, true
	}
	return at, ok
}

// gather collects the events, in groups, and the marks of one moment, moves
// past it and returns the state that met them.
func (r *replay) gather(at uint32) (before state) {
	before = r.state
	r.groups, r.atMarks = r.groups[:0], r.atMarks[:0]
	r.detailsThrough(at)
	before.detail = r.state.detail
	for r.ei < len(r.h.events) && r.h.events[r.ei].at == at {
		e := r.event()
		if len(r.groups) == 0 || e.kind == kindMoved {
			r.groups = append(r.groups, group{feed: r.state.feed})
		}
		r.groups[len(r.groups)-1].state = r.state
	}
	for r.mi < len(r.marks) && r.marks[r.mi].at == at {
		if m := r.marks[r.mi]; m.confirms() {
			r.atMarks = append(r.atMarks, m)
		}
		r.mi++
	}
	return before
}

// take appends the statements of one moment to out, in rank order, and moves
// past it. imported tells the lane of a feed.
func (r *replay) take(at uint32, out []statement, imported func(feed) bool) []statement {
	before := r.gather(at)
	start := len(out)
	for i := range r.groups {
		g := &r.groups[i]
		s := recovered(at, g.feed, g.state)
		var noWithdraw bool
		s.rank, s.explicit, noWithdraw = r.laneOf(g.feed, imported)
		if s.say == sayHeld && g.state.doubt && noWithdraw {
			s.say = sayDoubt
		}
		out = append(out, s)
	}
	for _, m := range r.atMarks {
		if r.grouped(m.feed) {
			continue
		}
		met := r.carried(m.rank, before, imported)
		s := recovered(at, m.feed, met)
		s.rank = m.rank
		if m.flags&markNoWithdraw != 0 && (s.say == sayAbsent || (s.say == sayHeld && met.doubt)) {
			s.say = sayDoubt
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out[start:], compareStatements)
	return out
}

// recovered is the statement of a feed that left the series in a state.
func recovered(at uint32, f feed, s state) statement {
	out := statement{at: at, feed: f, say: sayAbsent, price: s.price, detail: s.detail}
	if s.feed != f {
		return out
	}
	switch s.status {
	case statusListed:
		out.say = sayListed
	case statusHeld:
		out.say = sayHeld
	}
	return out
}

// laneOf returns the rank of a feed's events at this moment, whether no mark
// implies them and whether the one that does concludes nothing from absence.
func (r *replay) laneOf(f feed, imported func(feed) bool) (rank uint8, explicit, noWithdraw bool) {
	for _, m := range r.atMarks {
		if m.feed == f {
			return m.rank, false, m.flags&markNoWithdraw != 0
		}
	}
	if imported(f) {
		return rankImportEvent, true, false
	}
	return rankFeed, true, false
}

func (r *replay) grouped(f feed) bool {
	return slices.ContainsFunc(r.groups, func(g group) bool { return g.feed == f })
}

// carried is the state that a mark of a rank met at this moment.
func (r *replay) carried(rank uint8, before state, imported func(feed) bool) state {
	for _, g := range r.groups {
		if lane, _, _ := r.laneOf(g.feed, imported); lane < rank {
			before = g.state
		}
	}
	return before
}

// rest appends what follows the moment taken last to a history.
func (r *replay) rest(out *history) {
	out.events = append(out.events, r.h.events[r.ei:]...)
	out.details = append(out.details, r.h.details[r.di:]...)
}

// splice is a change of the statements of one series.
type splice struct {
	marks    []seriesMark // stored marks of the scopes the series was ever fed by, from the first moment changed
	add      []statement  // sorted
	drop     []takeOut    // stored statements to take out
	imported func(feed) bool

	known     int // added statements that were stored before
	conflicts int // added statements refused: the same feed states another price at that moment
}

// apply returns the history with the change made. Only the stretch until old
// and new agree again is folded anew; false means they do not before limit, up
// to which marks are known.
func (sp *splice) apply(h *history, from, last, limit uint32) (history, bool) {
	old := replay{h: h, marks: sp.marks}
	old.skip(from)
	f := folder{state: old.state}
	f.out.first = h.first
	f.out.events = append(make([]event, 0, len(h.events)+len(sp.add)+2), h.events[:old.ei]...)
	f.out.details = append([]detailAt(nil), h.details[:old.di]...)
	add := sp.add
	var now []statement
	for {
		at, ok := old.next()
		if len(add) > 0 && (!ok || add[0].at < at) {
			at, ok = add[0].at, true
		}
		if !ok {
			return f.out, limit == maxSeconds
		}
		if at > limit {
			return f.out, false
		}
		now = old.take(at, now[:0], sp.imported)
		now = slices.DeleteFunc(now, func(s statement) bool {
			return slices.ContainsFunc(sp.drop, func(t takeOut) bool { return t.matches(&s) })
		})
		for len(add) > 0 && add[0].at == at {
			now, add = sp.merge(now, add[0]), add[1:]
		}
		slices.SortStableFunc(now, compareStatements)
		for _, s := range now {
			f.apply(s)
		}
		if len(add) == 0 && at >= last && f.state == old.state {
			old.rest(&f.out)
			return f.out, true
		}
	}
}

// merge adds a statement to those of its moment. What a feed stated stands: a
// repetition is known, another price a conflict. Only an absence gives way, to a
// row that another file of the same moment brings.
func (sp *splice) merge(now []statement, s statement) []statement {
	i := slices.IndexFunc(now, func(o statement) bool { return o.feed == s.feed })
	switch {
	case i < 0:
		return append(now, s)
	case s.explicit && s.say != sayListed && s.say == now[i].say:
		sp.known++
	case s.explicit && s.say == sayAbsent:
		sp.conflicts++
	case s.say == sayAbsent || s.say == sayDoubt:
	case now[i].say == sayAbsent || now[i].say == sayDoubt:
		now[i] = s
	case now[i].say == sayListed && s.say == sayListed && now[i].price == s.price:
		sp.known++
	default:
		sp.conflicts++
	}
	return now
}
