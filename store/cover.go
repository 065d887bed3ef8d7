package store

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/gputide/gputide"
)

// coverage finds the narrowest declared scope of a key by lookup: one for each
// set of fields that declared scopes leave open.
type coverage struct {
	shapes []shape // narrowest first
	index  map[lane]int
}

// shape is which fields of a scope are not open.
type shape struct{ partition, seller, region, market, part bool }

// lane is a scope and whether it is an event feed.
type lane struct {
	scope gputide.Scope
	feed  bool
}

func shapeOf(s gputide.Scope) shape {
	return shape{s.Partition != "", s.Seller != "", s.Region != "", s.Market != "", s.Part != ""}
}

func (h shape) of(k *gputide.Key, part, signal string) gputide.Scope {
	s := gputide.Scope{Signal: signal}
	if h.partition {
		s.Partition = k.Partition
	}
	if h.seller {
		s.Seller = k.Seller
	}
	if h.region {
		s.Region = k.Region
	}
	if h.market {
		s.Market = k.Market
	}
	if h.part {
		s.Part = part
	}
	return s
}

func newCoverage(scopes []runScope) coverage {
	c := coverage{index: make(map[lane]int, len(scopes))}
	for i := range scopes {
		s := scopes[i].Scope
		c.index[lane{s, scopes[i].EventFeed}] = i
		if h := shapeOf(s); !slices.Contains(c.shapes, h) {
			c.shapes = append(c.shapes, h)
		}
	}
	full := gputide.Key{Partition: "x", Seller: "x", Region: "x", Market: "x"}
	width := func(h shape) int { return h.of(&full, "x", "").Width() }
	slices.SortStableFunc(c.shapes, func(a, b shape) int { return cmp.Compare(width(a), width(b)) })
	return c
}

// cover finds the narrowest declared scope of a key; -1 when none covers it.
// guess is tried first and is right when no other shape is declared.
func (c *commit) cover(k *gputide.Key, part, signal string, feed bool, guess int) int {
	if guess >= 0 && len(c.coverage.shapes) == 1 {
		if s := &c.scopes[guess]; s.EventFeed == feed && s.Scope.CoversSignal(signal, k, part) {
			return guess
		}
	}
	for _, h := range c.coverage.shapes {
		if i, ok := c.coverage.index[lane{h.of(k, part, signal), feed}]; ok {
			return i
		}
	}
	return -1
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
	if s.kept || (!snapshot && len(c.drops) == 0) {
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
	ids := []uint32{c.scopes[i].id}
	for _, u := range c.undeclared {
		if contains(c.scopes[i].Scope, u.s) && c.home(i, u.s) {
			ids = append(ids, u.id)
		}
	}
	var out []memberSet
	for _, id := range ids {
		bm := roaring.New()
		if err := ix.union(bm, fieldScope, string(key32(id))); err != nil {
			return nil, err
		}
		if !bm.IsEmpty() {
			out = append(out, memberSet{id, bm})
		}
	}
	return out, nil
}

// findUndeclared lists the provider's scopes that the run does not declare.
func (c *commit) findUndeclared() {
	declared := make(map[uint32]bool, len(c.scopes))
	for i := range c.scopes {
		declared[c.scopes[i].id] = true
	}
	for id, s := range c.w.scopes {
		if !declared[id] {
			c.undeclared = append(c.undeclared, storedScope{id: id, s: s})
		}
	}
	slices.SortFunc(c.undeclared, func(a, b storedScope) int { return cmp.Compare(a.id, b.id) })
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
