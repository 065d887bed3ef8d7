package store

import (
	"fmt"

	"github.com/gputide/gputide"
)

// takeOut names stored statements that a replaced run made.
type takeOut struct {
	feed     feed
	from, to uint32
	explicit bool
}

func (t *takeOut) matches(s *statement) bool {
	return s.feed == t.feed && s.at >= t.from && s.at <= t.to && (s.explicit || !t.explicit)
}

// settleOverlap decides what becomes of a run whose scopes hold one of its
// moment already.
func (c *commit) settleOverlap() error {
	overlap, err := c.overlaps()
	if err != nil || !overlap {
		return err
	}
	ids, err := c.w.db.runsAt(c.w.tx, c.w.pid, c.at)
	if err != nil {
		return err
	}
	for _, id := range ids {
		rec, err := readRunRow(c.w.tx, id)
		if err != nil {
			return err
		}
		if rec.hash == c.hash {
			return &sameRunError{id: id}
		}
	}
	if len(c.drops) == 0 {
		return nil
	}
	if !c.run.Replace && c.run.Cause != gputide.CauseReplay {
		return &gputide.HintError{
			Err:  fmt.Errorf("%w: a run of this moment is stored with other contents", gputide.ErrConflict),
			Hint: "repeat with --replace to overwrite it, or name another moment with --at",
		}
	}
	return c.takeOut(ids)
}

// overlaps finds the scopes whose moment is taken; a run without scopes may
// overlap any.
func (c *commit) overlaps() (bool, error) {
	overlap := len(c.scopes) == 0
	for i := range c.scopes {
		s := &c.scopes[i]
		if s.forward {
			continue
		}
		marks, err := c.w.marks.month(s.id, monthOf(c.at))
		if err != nil {
			return false, err
		}
		for _, m := range marks {
			if m.at == c.at && c.sameLane(s, &m) {
				overlap = true
				if s.kept = c.keeps(s, &m); s.kept {
					break
				}
				s.replaces = true
				c.drops = append(c.drops, takeOut{feed: makeFeed(s.id, m.source), from: c.at, to: c.at})
			}
		}
	}
	return overlap, nil
}

func (c *commit) sameLane(s *runScope, m *mark) bool {
	return !c.w.sources.imported(m.source) && s.EventFeed == (m.flags&markEventFeed != 0)
}

// keeps reports whether a stored outcome stands against one of this run: a
// replay that cannot read a scope knows less of it than the run it repeats.
func (c *commit) keeps(s *runScope, m *mark) bool {
	return c.run.Cause == gputide.CauseReplay && s.Status == gputide.ScopeFailed && m.status != markFailed
}

// takeOut removes the marks and the record of the runs that are replaced; what
// they stated goes when each series is touched.
func (c *commit) takeOut(ids []uint64) error {
	for i := range c.scopes {
		s := &c.scopes[i]
		if !s.replaces {
			continue
		}
		if s.EventFeed && s.Status == gputide.ScopeDone {
			from, to, err := window(s)
			if err != nil {
				return err
			}
			c.drops = append(c.drops, takeOut{feed: s.feed, from: from, to: to, explicit: true})
		}
		if err := c.w.dropMarks(s.id, c.at, func(m *mark) bool { return c.sameLane(s, m) }); err != nil {
			return err
		}
	}
	return c.w.retire(ids, c.scopes)
}

func window(s *runScope) (from, to uint32, err error) {
	if s.From.IsZero() || s.To.IsZero() {
		return 0, 0, fmt.Errorf("%w: event feed %s without a window", gputide.ErrInvalid, s.Scope)
	}
	if from, err = seconds(s.From); err != nil {
		return 0, 0, err
	}
	to, err = seconds(s.To)
	return from, to, err
}
