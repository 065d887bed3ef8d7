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
	err := db.one(id, func(_ *view, l *loaded) (err error) {
		out, err = l.past.intervals(a, b)
		return err
	})
	return out, err
}

// intervals returns the intervals of [a, b).
func (p *past) intervals(a, b uint32) ([]gputide.Interval, error) {
	s := sweep{past: p}
	err := s.run(a, b)
	return s.out, err
}

// sweep walks a history forward and emits its intervals.
type sweep struct {
	past *past
	out  []gputide.Interval
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
	observed, _, err := s.past.observed(from)
	if err != nil {
		return err
	}
	switch {
	case seg.status == statusWithdrawn:
		s.emit(seg, from, to, gputide.StateWithdrawn, observed)
	case seg.status == statusHeld:
		s.emit(seg, from, to, gputide.StateHeld, observed)
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
		s.emit(seg, from, moments[n-1], gputide.StatePriced, observed)
		from, observed = moments[n-1], moments[n-1]
	}
	if end < to-1 {
		cut := max(from, end+1)
		s.emit(seg, from, cut, gputide.StatePriced, observed)
		s.emit(seg, cut, to, gputide.StateImportedEnd, observed)
		return nil
	}
	s.emit(seg, from, to, gputide.StatePriced, observed)
	return nil
}

func (s *sweep) live(i int, from, to, observed uint32) error {
	seg := &s.past.segs[i]
	scope := seg.feed.scope()
	last, has, err := s.past.marks.before(scope, from, s.past.live)
	if err != nil {
		return err
	}
	at := from
	err = s.past.marks.months(scope, from+1, func(month *monthMarks) bool {
		marks := month.marks
		for j := month.since(from + 1); j < len(marks); j++ {
			m := &marks[j]
			if !s.past.live(m) {
				continue
			}
			if m.at >= to {
				return false
			}
			s.piece(seg, at, m.at, &last, has, observed)
			own := m.source == seg.feed.source() && m.confirms()
			if own {
				observed = m.at
			}
			if end := month.alikeEnd(j) - 1; end > j && marks[end].at < to {
				if own {
					s.emit(seg, m.at, marks[end].at, gputide.StatePriced, observed)
					observed = marks[end].at
				} else {
					s.piece(seg, m.at, marks[end].at, m, true, observed)
				}
				j, m = end, &marks[end]
			}
			at, last, has = m.at, *m, true
		}
		return true
	})
	s.piece(seg, at, to, &last, has, observed)
	return err
}

// piece emits a stretch without runs, cut where the last observation becomes
// stale.
func (s *sweep) piece(seg *segment, from, to uint32, last *mark, has bool, observed uint32) {
	if !has {
		s.emit(seg, from, to, gputide.StatePriced, observed)
		return
	}
	if last.status != markDone {
		s.emit(seg, from, to, gputide.StateGap, observed)
		return
	}
	cut := uint32(min(max(staleFrom(last, observed), uint64(from)), uint64(to)))
	s.emit(seg, from, cut, gputide.StatePriced, observed)
	s.emit(seg, cut, to, gputide.StateStale, observed)
}

// emit appends a stretch, or lengthens the one before when nothing changed.
func (s *sweep) emit(seg *segment, from, to uint32, st gputide.State, observed uint32) {
	if from >= to {
		return
	}
	price := gputide.Nano(seg.price)
	if n := len(s.out); n > 0 {
		if l := &s.out[n-1]; l.State == st && l.Price == price && l.KnownSince.Unix() == int64(seg.since) {
			l.To, l.LastObserved = moment(to), moment(observed)
			return
		}
	}
	s.out = append(s.out, gputide.Interval{
		From: moment(from), To: moment(to), Price: price, State: st, LastObserved: moment(observed), KnownSince: moment(seg.since),
	})
}
