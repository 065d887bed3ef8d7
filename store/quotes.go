package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// readBatch is how many series one read transaction answers for: a few
// milliseconds, so that a writer never waits for a reader.
const readBatch = 4096

// quoteBatch is how many of them one of several readers takes at once.
const quoteBatch = 1024

// selected returns the sids of a selection.
func (db *DB) selected(signals bool, sel gputide.Selection) ([]uint32, error) {
	var sids []uint32
	err := db.view(func(v *view) error {
		b := v.offers
		if signals {
			b = v.signals
		}
		bm, err := db.selectSeries(b, sel)
		if err != nil {
			return err
		}
		sids = bm.ToArray()
		return nil
	})
	return sids, err
}

// eachBatch calls fn with views over parts of a list of series.
func (db *DB) eachBatch(ctx context.Context, sids []uint32, fn func(*view, []uint32) error) error {
	for part := range slices.Chunk(sids, readBatch) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := db.view(func(v *view) error { return fn(v, part) }); err != nil {
			return err
		}
	}
	return nil
}

// loaded is one series as read.
type loaded struct {
	sid    uint32
	key    gputide.Key
	name   string // of a signal
	rec    record
	events []event
	past   past
}

// loader reads series one after another into the same buffers.
type loader struct {
	v *view
	b *book
	l loaded
}

func (v *view) loader(b *book) *loader { return &loader{v: v, b: b} }

// load reads a series; false means it has no events. The result is valid until
// the next call.
func (r *loader) load(sid uint32) (*loaded, bool, error) {
	l := &r.l
	l.sid, l.events, l.past.segs = sid, l.events[:0], l.past.segs[:0]
	var err error
	if l.events, err = r.b.events(l.events, sid); err != nil || len(l.events) == 0 {
		return nil, false, err
	}
	if l.rec, err = r.b.record(sid); err != nil {
		return nil, false, err
	}
	if l.key, l.name, err = l.rec.key(r.v.d); err != nil {
		return nil, false, err
	}
	pid, ok := r.v.d.find(l.key.Provider)
	if !ok {
		return nil, false, corrupt("dict", "provider %q is missing", l.key.Provider)
	}
	if l.past.sources, err = r.v.sources(pid); err != nil {
		return nil, false, err
	}
	l.past.marks = r.v.marks
	l.past.segs = segments(l.past.segs, l.rec.first, l.events)
	return l, true, nil
}

// Quotes returns every offer of a selection as known at a moment, sorted by id.
// Offers first seen later are left out. Whether one is sold out is not told
// here: that follows from its availability signal.
func (db *DB) Quotes(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Quote, error) {
	sids, err := db.selected(false, sel)
	if err != nil {
		return nil, err
	}
	t := clampSeconds(at)
	parts := slices.Collect(slices.Chunk(sids, quoteBatch))
	work := func(ctx context.Context, i int) (list []gputide.Quote, err error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err = db.view(func(v *view) error {
			list, err = v.quotes(parts[i], t)
			return err
		})
		return list, err
	}
	out := make([]gputide.Quote, 0, len(sids))
	for list, err := range inOrder(ctx, len(parts), work) {
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, func(a, b gputide.Quote) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return out, nil
}

func (v *view) quotes(sids []uint32, t uint32) ([]gputide.Quote, error) {
	out := make([]gputide.Quote, 0, len(sids))
	specs := newSpecReader(v.tx, v.d)
	r := v.loader(v.offers)
	for _, sid := range sids {
		l, ok, err := r.load(sid)
		if err != nil {
			return nil, err
		}
		if !ok || l.past.segs[0].at > t {
			continue
		}
		q, err := v.quote(l, t, specs)
		if err != nil {
			return nil, fmt.Errorf("series %d: %w", sid, err)
		}
		out = append(out, q)
	}
	return out, nil
}

func (v *view) quote(l *loaded, t uint32, specs *specReader) (gputide.Quote, error) {
	i := segmentAt(l.past.segs, t)
	s := l.past.segs[i]
	observed, from, err := l.past.observed(t)
	if err != nil {
		return gputide.Quote{}, err
	}
	q := gputide.Quote{
		ID: l.key.ID(), Key: l.key, Price: gputide.Nano(s.price), Source: l.past.sources.name(s.feed.source()),
		FirstSeen: moment(l.past.segs[0].at), Since: moment(s.since), ObservedAt: moment(observed),
		Imported: from >= 0 && l.past.sources.imported(l.past.segs[from].feed.source()),
	}
	if q.State, err = l.past.state(i, t, observed); err != nil {
		return q, err
	}
	before, _, err := l.past.observed(s.since - 1)
	if err != nil {
		return q, err
	}
	q.NotBefore = moment(before)
	if q.Published, q.Flags, q.SKU, err = v.published(l.sid, t, q.Price); err != nil {
		return q, err
	}
	if sourceChanged(l.events, s.since) {
		q.Flags = append(q.Flags, gputide.FlagSourceChanged)
		slices.Sort(q.Flags)
	}
	q.Spec, err = specs.latest(&l.key, t)
	return q, err
}

// published returns the published form of the price in force at a moment.
func (v *view) published(sid, t uint32, price gputide.Nano) (gputide.Published, []gputide.Flag, string, error) {
	var d detail
	k, raw := v.tx.table(bucketDetail).Cursor().SeekLast(keyPair(sid, t))
	if len(k) == 8 && be32(k) == sid {
		var err error
		if d, err = decodeDetail(raw); err != nil {
			return gputide.Published{}, nil, "", err
		}
	}
	text, err := v.d.get(d.content)
	if err != nil {
		return gputide.Published{}, nil, "", err
	}
	p, flags, err := decodeContent(price, text)
	return p, flags, d.sku, err
}

// sourceChanged reports whether the price first seen at a moment came with a
// change of source.
func sourceChanged(events []event, at uint32) bool {
	moved := false
	for i := range events {
		if events[i].at == at && events[i].kind == kindMoved {
			moved = true
		}
		if events[i].at == at && events[i].kind == kindPrice && moved {
			return true
		}
	}
	return false
}

// find reads the series of an offer id. It returns [gputide.ErrNotFound] when
// there is none.
func (r *loader) find(id gputide.OfferID) (*loaded, error) {
	if sid, ok := r.b.find(id); ok {
		if l, has, err := r.load(sid); err != nil || has {
			return l, err
		}
	}
	return nil, &gputide.HintError{
		Err:  fmt.Errorf("%w: offer %s", gputide.ErrNotFound, id),
		Hint: "gputide query offers -o json shows the ids",
	}
}

// one reads the series of an offer id and passes it to fn. It returns
// [gputide.ErrNotFound] when there is none.
func (db *DB) one(id gputide.OfferID, fn func(*view, *loaded) error) error {
	return db.view(func(v *view) error {
		l, err := v.loader(v.offers).find(id)
		if err != nil {
			return err
		}
		return fn(v, l)
	})
}

// Observations returns every moment in [from, to) at which a source stated the
// price of an offer, oldest first. It returns [gputide.ErrNotFound] for an
// unknown id.
func (db *DB) Observations(_ context.Context, id gputide.OfferID, from, to time.Time) ([]gputide.Observation, error) {
	a, b := bounds(from, to)
	var out []gputide.Observation
	err := db.one(id, func(_ *view, l *loaded) error {
		list, err := l.past.observations(nil, a, b)
		if len(list) > 0 {
			out = make([]gputide.Observation, len(list))
		}
		for i := range list {
			out[i] = list[i].observation()
		}
		return err
	})
	return out, err
}

// sighting is an observation as it is gathered.
type sighting struct {
	price int64
	at    uint32
}

func (s *sighting) observation() gputide.Observation {
	return gputide.Observation{At: moment(s.at), Price: gputide.Nano(s.price)}
}

// observations appends the observations in [a, b).
func (p *past) observations(out []sighting, a, b uint32) ([]sighting, error) {
	for i := range p.segs {
		s := &p.segs[i]
		if s.status != statusListed || p.end(i) < a || s.at >= b {
			continue
		}
		if s.at >= a {
			out = append(out, sighting{s.price, s.at})
		}
		var err error
		if p.moments, err = p.marks.between(p.moments[:0], s.feed, max(s.at+1, a), min(p.end(i), b-1)); err != nil {
			return out, err
		}
		for _, at := range p.moments {
			out = append(out, sighting{s.price, at})
		}
	}
	return out, nil
}

// bounds converts [from, to); a zero bound is open.
func bounds(from, to time.Time) (a, b uint32) {
	b = maxSeconds
	if !from.IsZero() {
		a = clampSeconds(from)
		if from.Nanosecond() > 0 {
			a++
		}
	}
	if !to.IsZero() {
		b = clampSeconds(to)
		if to.Nanosecond() > 0 {
			b++
		}
	}
	return a, b
}
