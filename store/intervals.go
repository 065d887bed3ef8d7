package store

import (
	"context"
	"time"

	"github.com/gputide/gputide"
)

// Intervals returns the price and state of an offer over [from, to), as
// stretches in which neither changed, oldest first. Time before it was first
// seen has none. It returns [gputide.ErrNotFound] for an unknown id.
func (db *DB) Intervals(_ context.Context, id gputide.OfferID, from, to time.Time) ([]gputide.Interval, error) {
	a, b := bounds(from, to)
	var out []gputide.Interval
	err := db.one(id, func(_ *view, l *loaded) error {
		spans, err := l.past.intervals(nil, a, b)
		if len(spans) > 0 {
			out = make([]gputide.Interval, len(spans))
		}
		for i := range spans {
			out[i] = spans[i].interval()
		}
		return err
	})
	return out, err
}

// intervals appends the intervals of [a, b).
func (p *past) intervals(out []stretch, a, b uint32) ([]stretch, error) {
	s := sweep{past: p, out: out, first: len(out)}
	err := s.run(a, b)
	return s.out, err
}

// sweep walks a history forward and emits its intervals.
type sweep struct {
	past  *past
	hint  int // run of a timeline at which the next segment begins, most often
	out   []stretch
	first int // of out that is of this history
}

// stretch is an interval as it is gathered: a quarter of the size, and without
// pointers.
type stretch struct {
	from, to, observed, since uint32
	price                     int64
	state                     stretchState
}

type stretchState uint8

const (
	stretchPriced stretchState = iota
	stretchGap
	stretchStale
	stretchHeld
	stretchWithdrawn
	stretchImportedEnd
)

func (s stretchState) state() gputide.State {
	return [...]gputide.State{
		stretchPriced: gputide.StatePriced, stretchGap: gputide.StateGap, stretchStale: gputide.StateStale, stretchHeld: gputide.StateHeld,
		stretchWithdrawn: gputide.StateWithdrawn, stretchImportedEnd: gputide.StateImportedEnd,
	}[s]
}

func (s *stretch) interval() gputide.Interval {
	return gputide.Interval{
		From: moment(s.from), To: moment(s.to), Price: gputide.Nano(s.price), State: s.state.state(), LastObserved: moment(s.observed),
		KnownSince: moment(s.since),
	}
}

func (s *sweep) run(a, b uint32) error {
	p := s.past
	for i := max(segmentAt(p.segs, a), 0); i < len(p.segs) && p.segs[i].at < b; i++ {
		from, to := max(p.segs[i].at, a), b
		if i+1 < len(p.segs) {
			to = min(to, p.segs[i+1].at)
		}
		if from >= to {
			continue
		}
		if err := s.segment(i, from, to); err != nil {
			return err
		}
	}
	return nil
}

func (s *sweep) segment(i int, from, to uint32) error {
	seg := &s.past.segs[i]
	observed := from
	if seg.status != statusListed || seg.at != from {
		var err error
		if observed, _, err = s.past.observed(from); err != nil {
			return err
		}
	}
	switch {
	case seg.status == statusWithdrawn:
		s.emit(seg, from, to, stretchWithdrawn, observed)
	case seg.status == statusHeld:
		s.emit(seg, from, to, stretchHeld, observed)
	case s.past.sources.imported(seg.feed.source()):
		return s.imported(i, from, to, observed)
	default:
		return s.live(i, from, to, observed)
	}
	return nil
}

func (s *sweep) imported(i int, from, to, observed uint32) error {
	seg := &s.past.segs[i]
	end, err := s.past.importEnd(i)
	if err != nil {
		return err
	}
	moments, err := s.past.marks.between(nil, seg.feed, from+1, to-1)
	if err != nil {
		return err
	}
	if n := len(moments); n > 0 { // they differ in the last observation only
		s.emit(seg, from, moments[n-1], stretchPriced, observed)
		from, observed = moments[n-1], moments[n-1]
	}
	if end < to-1 {
		cut := max(from, end+1)
		s.emit(seg, from, cut, stretchPriced, observed)
		s.emit(seg, cut, to, stretchImportedEnd, observed)
		return nil
	}
	s.emit(seg, from, to, stretchPriced, observed)
	return nil
}

func (s *sweep) live(i int, from, to, observed uint32) error {
	seg, p := &s.past.segs[i], s.past
	scope := seg.feed.scope()
	line, err := p.marks.timeline(scope, from)
	if err != nil {
		return err
	}
	s.hint = line.behind(from, s.hint)
	last, has := s.before(line, s.hint, from)
	if !has {
		if last, has, err = p.marks.before(scope, from, p.live); err != nil {
			return err
		}
	}
	at := from
	for n := s.hint; n < len(line.runs); n++ {
		run := &line.runs[n]
		j := line.from(run, from)
		first := line.ats[j]
		if first >= to {
			break
		}
		if !p.live(&run.mark) {
			continue
		}
		end := line.ats[line.from(run, to-1)-1] // of the marks of the run before to, the last
		s.piece(seg, at, first, &last, has, observed)
		if run.mark.source == seg.feed.source() && run.mark.confirms() {
			s.emit(seg, first, end, stretchPriced, first)
			observed = end
		} else {
			s.piece(seg, first, end, &run.mark, true, observed)
		}
		at, last, has = end, run.mark, true
	}
	s.piece(seg, at, to, &last, has, observed)
	return nil
}

// before returns the newest live mark of a timeline at or before a moment; n is
// the first run that has one behind it.
func (s *sweep) before(line *timeline, n int, at uint32) (mark, bool) {
	if n < len(line.runs) && line.ats[line.runs[n].start] <= at {
		n++
	}
	for n--; n >= 0; n-- {
		if m := &line.runs[n].mark; s.past.live(m) {
			return *m, true
		}
	}
	return mark{}, false
}

// piece emits a stretch without runs, cut where the last observation becomes
// stale.
func (s *sweep) piece(seg *segment, from, to uint32, last *mark, has bool, observed uint32) {
	if !has {
		s.emit(seg, from, to, stretchPriced, observed)
		return
	}
	if last.status != markDone {
		s.emit(seg, from, to, stretchGap, observed)
		return
	}
	cut := uint32(min(max(staleFrom(last, observed), uint64(from)), uint64(to)))
	s.emit(seg, from, cut, stretchPriced, observed)
	s.emit(seg, cut, to, stretchStale, observed)
}

// emit appends a stretch, or lengthens the one before when nothing changed.
func (s *sweep) emit(seg *segment, from, to uint32, st stretchState, observed uint32) {
	if from >= to {
		return
	}
	if n := len(s.out); n > s.first {
		if l := &s.out[n-1]; l.state == st && l.price == seg.price && l.since == seg.since {
			l.to, l.observed = to, observed
			return
		}
	}
	s.out = append(s.out, stretch{from: from, to: to, price: seg.price, state: st, observed: observed, since: seg.since})
}
