package store

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/gputide/gputide"
)

// cover finds the narrowest declared scope of a key; -1 when none covers it.
// guess is tried first and is right when no declared scope is narrower.
func (c *commit) cover(k *gputide.Key, part, signal string, feed bool, guess int) int {
	if guess >= 0 && c.scopes[guess].narrowest && c.covers(guess, k, part, signal, feed) {
		return guess
	}
	best := -1
	for i := range c.scopes {
		if c.covers(i, k, part, signal, feed) && (best < 0 || c.scopes[i].Scope.Width() < c.scopes[best].Scope.Width()) {
			best = i
		}
	}
	return best
}

func (c *commit) covers(i int, k *gputide.Key, part, signal string, feed bool) bool {
	s := &c.scopes[i]
	return s.EventFeed == feed && s.Scope.CoversSignal(signal, k, part)
}

// narrowest reports whether no declared scope lies inside scope i.
func (c *commit) narrowest(i int) bool {
	for j := range c.scopes {
		if j != i && c.scopes[i].EventFeed == c.scopes[j].EventFeed && contains(c.scopes[i].Scope, c.scopes[j].Scope) {
			return false
		}
	}
	return true
}

// contains reports whether every series of inner could belong to outer.
func contains(outer, inner gputide.Scope) bool {
	in := func(o, i string) bool { return o == "" || o == i }
	return outer.Signal == inner.Signal && in(outer.Partition, inner.Partition) && in(outer.Seller, inner.Seller) &&
		in(outer.Region, inner.Region) && in(string(outer.Market), string(inner.Market)) && in(outer.Part, inner.Part)
}

// absent states what a scope that was read to its end did not list, and takes
// out what a replaced run stated.
func (c *commit) absent(book, i int) error {
	s := &c.scopes[i]
	snapshot := s.Status == gputide.ScopeDone && !s.EventFeed
	if !snapshot && len(c.drops) == 0 {
		return nil
	}
	members, err := c.members(book, i)
	if err != nil {
		return err
	}
	b := c.w.books()[book]
	for _, m := range members {
		m.sids.AndNot(s.listed)
		it := m.sids.Iterator()
		for it.HasNext() {
			sid := it.Next()
			st := statement{at: c.at, rank: rankRun, feed: makeFeed(m.scope, s.feed.source()), say: sayAbsent}
			if s.NoWithdraw {
				st.say = sayDoubt
			}
			if s.forward && len(c.drops) == 0 {
				// Unless something newer is known, only what this source lists now can end.
				sl := b.slotOf(sid)
				if sl.at < c.at && (!sl.listedOrHeld() || sl.source != s.feed.source()) {
					continue
				}
			}
			if !snapshot {
				st.say = sayNothing
			}
			c.stmts[book] = append(c.stmts[book], seriesStatement{sid, st})
		}
	}
	return nil
}

// memberSet is the series that one scope ever listed.
type memberSet struct {
	scope uint32
	sids  *roaring.Bitmap
}

// members returns the series that belong to a scope of the run: those it ever
// listed and those of scopes inside it that the run does not declare.
func (c *commit) members(book, i int) ([]memberSet, error) {
	ix := index{inv: c.w.books()[book].inv}
	var out []memberSet
	for id, stored := range c.w.scopes {
		declared := slices.ContainsFunc(c.scopes, func(s runScope) bool { return s.id == id })
		if id != c.scopes[i].id && (declared || !contains(c.scopes[i].Scope, stored) || !c.home(i, stored)) {
			continue
		}
		bm := roaring.New()
		if err := ix.union(bm, fieldScope, string(key32(id))); err != nil {
			return nil, err
		}
		if !bm.IsEmpty() {
			out = append(out, memberSet{id, bm})
		}
	}
	slices.SortFunc(out, func(a, b memberSet) int { return cmp.Compare(a.scope, b.scope) })
	return out, nil
}

// home reports whether scope i is the narrowest declared one around a scope.
func (c *commit) home(i int, inner gputide.Scope) bool {
	for j := range c.scopes {
		s := &c.scopes[j]
		if j != i && contains(s.Scope, inner) && s.Scope.Width() < c.scopes[i].Scope.Width() {
			return false
		}
	}
	return true
}
