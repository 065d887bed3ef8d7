package store

import (
	"sort"

	"github.com/gputide/gputide"
)

// segment is a stretch of a history in which nothing happened, from one moment
// with events to the next. Where it is listed, its first moment is an
// observation.
type segment struct {
	at     uint32
	status status
	feed   feed
	price  int64
	since  uint32 // when the price was first seen
}

// segments cuts a history at its moments and appends to out.
func segments(out []segment, first feed, events []event) []segment {
	s := state{feed: first}
	var since uint32
	for i := range events {
		e := events[i]
		s.step(e)
		if e.kind == kindPrice {
			since = e.at
		}
		if i+1 < len(events) && events[i+1].at == e.at {
			continue
		}
		out = append(out, segment{at: e.at, status: s.status, feed: s.feed, price: s.price, since: since})
	}
	return out
}

// segmentAt returns the index of the segment that holds a moment; -1 before the
// first.
func segmentAt(segs []segment, at uint32) int {
	return sort.Search(len(segs), func(i int) bool { return segs[i].at > at }) - 1
}

// past answers questions about one series.
type past struct {
	segs    []segment
	sources *sourceTable
	marks   *markReader

	moments []uint32 // buffer of observations
}

// end returns the last second of a segment.
func (p *past) end(i int) uint32 {
	if i+1 < len(p.segs) {
		return p.segs[i+1].at - 1
	}
	return maxSeconds
}

// observed returns the newest observation at or before a moment, and the
// segment it lies in; 0 and -1 when there is none.
func (p *past) observed(at uint32) (uint32, int, error) {
	for i := segmentAt(p.segs, at); i >= 0; i-- {
		s := &p.segs[i]
		if s.status != statusListed {
			continue
		}
		t, err := p.marks.confirmed(s.feed, min(at, p.end(i)))
		return max(s.at, t), i, err
	}
	return 0, -1, nil
}

// live accepts marks of sources that are no imports.
func (p *past) live(m *mark) bool { return !p.sources.imported(m.source) }

// importEnd returns the last moment up to which an import says something of the
// series: the last row or snapshot of the feed of segment i.
func (p *past) importEnd(i int) (uint32, error) {
	f := p.segs[i].feed
	last, err := p.marks.confirmed(f, maxSeconds)
	if err != nil {
		return 0, err
	}
	for j := len(p.segs) - 1; j >= i; j-- {
		if p.segs[j].feed == f {
			return max(last, p.segs[j].at), nil
		}
	}
	return last, nil
}

// state returns the state at a moment that lies in segment i. observed is the
// newest observation up to then.
func (p *past) state(i int, at, observed uint32) (gputide.State, error) {
	s := &p.segs[i]
	switch s.status {
	case statusWithdrawn:
		return gputide.StateWithdrawn, nil
	case statusHeld:
		return gputide.StateHeld, nil
	}
	if p.sources.imported(s.feed.source()) {
		end, err := p.importEnd(i)
		if err != nil || at <= end {
			return gputide.StatePriced, err
		}
		return gputide.StateImportedEnd, nil
	}
	m, ok, err := p.marks.before(s.feed.scope(), at, p.live)
	if err != nil || !ok {
		return gputide.StatePriced, err
	}
	return stateAfter(&m, at, observed), nil
}

// stateAfter is the state of a listed series when m is the newest run of its
// scope.
func stateAfter(m *mark, at, observed uint32) gputide.State {
	switch {
	case m.status != markDone:
		return gputide.StateGap
	case staleFrom(m, observed) <= uint64(at):
		return gputide.StateStale
	}
	return gputide.StatePriced
}

// staleFrom is the first second at which an observation is older than twice the
// cadence.
func staleFrom(m *mark, observed uint32) uint64 {
	if m.cadence == 0 {
		return maxSeconds + 1
	}
	return uint64(observed) + 2*uint64(m.cadence) + 1
}
