package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gputide/gputide"
)

// listingBytes is about what one listing takes, for sizing buffers.
const listingBytes = 48

// list finds or makes the series of everything the run lists.
func (c *commit) list() error {
	c.entries = slices.Grow(c.w.db.entries[:0], len(c.run.Offers)+len(c.run.HeldKeys)+len(c.run.Signals))
	c.content = slices.Grow(c.w.db.content[:0], listingBytes*len(c.run.Offers))
	defer func() { c.w.db.entries, c.w.db.content = c.entries, c.content }()
	specs := newSpecReader(c.w.tx, c.w.d)
	if err := c.listOffers(specs); err != nil {
		return err
	}
	if err := c.listHeld(); err != nil {
		return err
	}
	if err := c.listSignals(specs); err != nil {
		return err
	}
	return c.order()
}

func (c *commit) listOffers(specs *specReader) error {
	guess, scope := uint32(0), -1
	feeds := slices.ContainsFunc(c.scopes, func(s runScope) bool { return s.EventFeed })
	for i := range c.run.Offers {
		o := &c.run.Offers[i]
		if o.Price <= 0 || o.Price > gputide.MaxNano {
			return fmt.Errorf("%w: price %s of %s", gputide.ErrInvalid, o.Price, o.Key.InstanceType)
		}
		event := feeds && !o.At.IsZero()
		if scope = c.cover(&o.Key, o.Part, "", event, scope); scope < 0 && !event && feeds {
			scope = c.cover(&o.Key, o.Part, "", true, -1) // a feed may leave the moment out
		}
		if err := c.checkListed(scope, &o.Key, o.Source); err != nil {
			return err
		}
		at := c.at
		if c.scopes[scope].EventFeed && !o.At.IsZero() {
			var err error
			if at, err = seconds(o.At); err != nil {
				return err
			}
		}
		e := entry{scope: int32(scope), offer: int32(i), price: int64(o.Price), at: at}
		if err := c.resolve(&e, &o.Key, "", guess, specs); err != nil {
			return err
		}
		e.start = len(c.content)
		c.content = appendListing(c.content, e.sid, c.scopes[scope].feed, at, o)
		e.end = len(c.content)
		c.entries = append(c.entries, e)
		guess = c.nextGuess(0, e.sid)
	}
	return nil
}

func (c *commit) nextGuess(book int, sid uint32) uint32 {
	if e := c.w.books()[book].cache.entry(sid); e != nil {
		return e.next
	}
	return sid + 1
}

func (c *commit) checkListed(scope int, k *gputide.Key, source string) error {
	if k.Provider != c.run.Provider {
		return fmt.Errorf("%w: a key of %q in a run of %q", gputide.ErrInvalid, k.Provider, c.run.Provider)
	}
	if scope < 0 {
		return fmt.Errorf("%w: no declared scope covers %s %s in region %q", gputide.ErrInvalid, k.InstanceType, k.Market, k.Region)
	}
	s := &c.scopes[scope]
	if s.Status != gputide.ScopeDone {
		return fmt.Errorf("%w: %s is listed in scope %s, which is %s", gputide.ErrInvalid, k.InstanceType, s.Scope, s.Status)
	}
	if source != "" && source != s.Source {
		return fmt.Errorf("%w: %s comes from %q in scope %s, which is fed by %q", gputide.ErrInvalid, k.InstanceType, source, s.Scope, s.Source)
	}
	return nil
}

// resolve gives an entry its series.
func (c *commit) resolve(e *entry, k *gputide.Key, name string, guess uint32, specs *specReader) error {
	b := c.w.books()[c.scopes[e.scope].book()]
	sid, _, ok, err := b.lookup(k, name, guess)
	if err != nil {
		return err
	}
	if !ok {
		attrs, err := c.w.attrs(k, specs)
		if err != nil {
			return err
		}
		if sid, err = b.create(k, name, attrs); err != nil {
			return err
		}
		e.isNew = true
	}
	e.sid = sid
	return nil
}

// listHeld lists the known series whose rows could not be used. A row of a
// series that never had a price makes none.
func (c *commit) listHeld() error {
	for i := range c.run.HeldKeys {
		h := &c.run.HeldKeys[i]
		scope := c.cover(&h.Key, h.Part, "", false, -1)
		if scope < 0 || c.scopes[scope].Status != gputide.ScopeDone {
			continue
		}
		sid, _, ok, err := c.w.offers.lookup(&h.Key, "", 0)
		if err != nil {
			return err
		}
		if !ok || sid >= c.w.offers.base {
			continue
		}
		c.entries = append(c.entries, entry{sid: sid, scope: int32(scope), offer: -1, at: c.at, held: true, start: len(c.content), end: len(c.content)})
	}
	return nil
}

func (c *commit) listSignals(specs *specReader) error {
	guess, scope := uint32(0), -1
	for i := range c.run.Signals {
		s := &c.run.Signals[i]
		if s.Name == "" {
			return fmt.Errorf("%w: signal without a name", gputide.ErrInvalid)
		}
		scope = c.cover(&s.Key, s.Part, s.Name, false, scope)
		source := s.Source
		if scope >= 0 && c.scopes[scope].NoWithdraw {
			source = ""
		}
		if err := c.checkListed(scope, &s.Key, source); err != nil {
			return err
		}
		e := entry{scope: int32(scope), offer: -1, price: s.Value, at: c.at}
		if err := c.resolve(&e, &s.Key, s.Name, guess, specs); err != nil {
			return err
		}
		e.start = len(c.content)
		c.content = binary.BigEndian.AppendUint32(c.content, e.sid)
		c.content = binary.AppendUvarint(c.content, uint64(c.scopes[scope].feed))
		c.content = binary.BigEndian.AppendUint64(c.content, uint64(s.Value))
		e.end = len(c.content)
		c.entries = append(c.entries, e)
		guess = c.nextGuess(1, e.sid)
	}
	return nil
}

// order sorts the entries by series and settles two rows of one: equal twins
// are one, a held row gives way to a usable one, two prices are an error.
func (c *commit) order() error {
	compare := func(a, b entry) int {
		return cmp.Or(cmp.Compare(c.scopes[a.scope].book(), c.scopes[b.scope].book()), cmp.Compare(a.sid, b.sid),
			cmp.Compare(a.at, b.at), cmp.Compare(a.scope, b.scope))
	}
	if !slices.IsSortedFunc(c.entries, compare) {
		slices.SortStableFunc(c.entries, compare)
	}
	out := c.entries[:0]
	for _, e := range c.entries {
		if n := len(out); n > 0 && compare(out[n-1], e) == 0 {
			switch last := &out[n-1]; {
			case e.held:
				continue
			case last.held:
				*last = e
				continue
			case string(c.content[last.start:last.end]) == string(c.content[e.start:e.end]):
				continue
			default:
				return c.twoPrices(&e)
			}
		}
		out = append(out, e)
	}
	c.entries = out
	return nil
}

func (c *commit) twoPrices(e *entry) error {
	what := "signal"
	if e.offer >= 0 {
		what = c.run.Offers[e.offer].Key.Canonical()
	}
	return fmt.Errorf("%w: two prices for one key in scope %s: %q", gputide.ErrInvalid, c.scopes[e.scope].Scope, what)
}

// appendListing appends everything a listing says.
func appendListing(b []byte, sid uint32, f feed, at uint32, o *gputide.Offer) []byte {
	b = binary.BigEndian.AppendUint32(b, sid)
	b = binary.AppendUvarint(b, uint64(f))
	b = binary.BigEndian.AppendUint64(b, uint64(o.Price))
	if !o.At.IsZero() {
		b = binary.BigEndian.AppendUint32(b, at)
	}
	p := &o.Published
	b = appendText(appendText(appendText(appendText(b, p.Amount), string(p.Unit)), string(p.Basis)), p.Upfront)
	b = appendText(b, o.SKU)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(p.Multiplier.Num)), uint64(p.Multiplier.Den))
	for i := range p.Components {
		k := &p.Components[i]
		b = appendText(appendText(appendText(b, k.Kind), k.Amount), string(k.Unit))
		b = appendText(appendText(b, k.Quantity), k.SKU)
	}
	for _, f := range o.Flags {
		b = appendText(b, string(f))
	}
	return b
}

// sum computes the batch hash: of the outcome of every scope and of everything
// listed, in the order of the series.
func (c *commit) sum() {
	h := sha256.New()
	var b []byte
	for i := range c.scopes {
		s := &c.scopes[i]
		b = appendText(appendText(appendText(b, scopeText(c.run.Provider, s.Scope)), string(s.Status)), s.Source)
		b = binary.AppendUvarint(b, uint64(max(s.Count, 0)))
		b = fmt.Appendf(b, "%t %t %d %d\n", s.NoWithdraw, s.EventFeed, s.From.Unix(), s.To.Unix())
	}
	h.Write(b)
	for i := 0; i < len(c.entries); { // stretches that stand in order are hashed at once
		start, end := c.entries[i].start, c.entries[i].end
		for i++; i < len(c.entries) && c.entries[i].start == end; i++ {
			end = c.entries[i].end
		}
		h.Write(c.content[start:end])
	}
	held := make([]string, 0, len(c.run.HeldKeys)) // all: which of them are known may change
	for i := range c.run.HeldKeys {
		held = append(held, c.run.HeldKeys[i].Key.Canonical())
	}
	slices.Sort(held)
	for _, k := range slices.Compact(held) {
		h.Write(appendText(b[:0], k))
	}
	enc := json.NewEncoder(h)
	for i := range c.run.Specs {
		_ = enc.Encode(&c.run.Specs[i]) // a hash takes every write
	}
	for i := range c.run.Rates {
		_ = enc.Encode(&c.run.Rates[i])
	}
	copy(c.hash[:], h.Sum(nil))
}
