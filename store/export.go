package store

import (
	"context"
	"iter"
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// exportBatch is how many series one read transaction of an export copies.
const exportBatch = 2048

// Export returns every offer with all its observations, in no set order. Each
// read transaction covers some series, so a writer never waits for a consumer;
// an export that must be of one moment reads a [DB.Snapshot].
func (db *DB) Export(ctx context.Context) iter.Seq2[*Series, error] {
	return func(yield func(*Series, error) bool) {
		sids, err := db.selected(false, gputide.Selection{})
		if err != nil {
			yield(nil, err)
			return
		}
		e := exporter{db: db, now: clampSeconds(db.now()), vectors: make(map[feed][]uint32), newest: make(map[uint32]lastRun)}
		for len(sids) > 0 {
			n := min(len(sids), exportBatch)
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if err := db.view(func(v *view) error { return e.copy(v, sids[:n]) }); err != nil {
				yield(nil, err)
				return
			}
			sids = sids[n:]
			for i := range e.series {
				e.expand(i)
				if !yield(&e.out, nil) {
					return
				}
			}
		}
	}
}

// exporter copies series out of a transaction and expands them outside of it.
type exporter struct {
	db      *DB
	now     uint32
	vectors map[feed][]uint32 // moments a feed confirmed what it lists
	newest  map[uint32]lastRun
	series  []exported
	segs    []segment // of the series, one after another
	out     Series
}

// lastRun is the newest run of a scope that is no import.
type lastRun struct {
	mark
	has bool
}

// exported is a series as copied: its segments are those before segs[last].
type exported struct {
	key   gputide.Key
	state gputide.State
	last  int
}

func (e *exporter) copy(v *view, sids []uint32) error {
	e.series, e.segs = e.series[:0], e.segs[:0]
	r := v.loader(v.offers)
	for _, sid := range sids {
		l, ok, err := r.load(sid)
		if err != nil {
			return err
		}
		if !ok || l.past.segs[0].at > e.now {
			continue
		}
		var known feed
		for i := range l.past.segs {
			if f := l.past.segs[i].feed; f != known && l.past.segs[i].status == statusListed {
				if err := e.vector(v, f); err != nil {
					return err
				}
				known = f
			}
		}
		e.segs = append(e.segs, l.past.segs...)
		x := exported{key: l.key, last: len(e.segs)}
		if x.state, err = e.state(l); err != nil {
			return err
		}
		e.series = append(e.series, x)
	}
	return nil
}

// state is the state of a series now, from the vectors read so far.
func (e *exporter) state(l *loaded) (gputide.State, error) {
	i := segmentAt(l.past.segs, e.now)
	s := &l.past.segs[i]
	if s.status != statusListed || l.past.sources.imported(s.feed.source()) {
		return l.past.state(i, e.now, s.at)
	}
	newest, ok := e.newest[s.feed.scope()]
	if !ok {
		var err error
		if newest.mark, newest.has, err = l.past.marks.before(s.feed.scope(), e.now, l.past.live); err != nil {
			return "", err
		}
		e.newest[s.feed.scope()] = newest
	}
	if !newest.has {
		return gputide.StatePriced, nil
	}
	observed := s.at
	moments := e.vectors[s.feed]
	if n := sort.Search(len(moments), func(j int) bool { return moments[j] > e.now }); n > 0 {
		observed = max(observed, moments[n-1])
	}
	return stateAfter(&newest.mark, e.now, observed), nil
}

// vector reads the moments of a feed once.
func (e *exporter) vector(v *view, f feed) error {
	if _, ok := e.vectors[f]; ok {
		return nil
	}
	moments, err := v.marks.between([]uint32{}, f, 0, maxSeconds)
	e.vectors[f] = moments
	return err
}

// expand turns series i into its observations.
func (e *exporter) expand(i int) {
	x := &e.series[i]
	first := 0
	if i > 0 {
		first = e.series[i-1].last
	}
	segs := e.segs[first:x.last]
	e.out.Key, e.out.State = x.key, x.state
	e.out.Times, e.out.Prices = e.out.Times[:0], e.out.Prices[:0]
	for j := range segs {
		s := &segs[j]
		if s.status != statusListed {
			continue
		}
		end := uint32(maxSeconds)
		if j+1 < len(segs) {
			end = segs[j+1].at - 1
		}
		moments := e.vectors[s.feed]
		from := sort.Search(len(moments), func(k int) bool { return moments[k] > s.at })
		n := sort.Search(len(moments)-from, func(k int) bool { return moments[from+k] > end })
		e.out.add(s, moments[from:from+n])
	}
}

// add adds the observations of a segment: its first moment and those at which
// its feed confirmed it.
func (s *Series) add(seg *segment, moments []uint32) {
	n := len(s.Times)
	s.Times = slices.Grow(s.Times, len(moments)+1)[:n+len(moments)+1]
	s.Prices = slices.Grow(s.Prices, len(moments)+1)[:n+len(moments)+1]
	s.Times[n] = int64(seg.at)
	times := s.Times[n+1:]
	for i, at := range moments {
		times[i] = int64(at)
	}
	prices := s.Prices[n:]
	for i := range prices {
		prices[i] = gputide.Nano(seg.price)
	}
}

// Latest reads the current prices of a selection into into, whose slices it
// reuses. It is the lean form of [DB.Quotes] for now: one read answers for 256
// neighbouring series.
func (db *DB) Latest(_ context.Context, sel gputide.Selection, into *Latest) error {
	into.Refs, into.Prices, into.Listed, into.Changed = into.Refs[:0], into.Prices[:0], into.Listed[:0], into.Changed[:0]
	return db.view(func(v *view) error {
		bm, err := db.selectSeries(v.offers, sel)
		if err != nil {
			return err
		}
		return eachSlot(v.offers.last, bm, func(sid uint32, s slot) {
			if s.status == statusNone {
				return
			}
			into.Refs = append(into.Refs, sid)
			into.Prices = append(into.Prices, gputide.Nano(s.price))
			into.Listed = append(into.Listed, s.listedOrHeld())
			into.Changed = append(into.Changed, s.at)
		})
	})
}

// eachSlot calls fn with the current value of every series of a set, in order.
func eachSlot(b *bolt.Bucket, bm *roaring.Bitmap, fn func(uint32, slot)) error {
	var buf [256]uint32
	many := bm.ManyIterator()
	c := b.Cursor()
	at, block := int64(-1), []byte(nil)
	var key [4]byte
	for n := many.NextMany(buf[:]); n > 0; n = many.NextMany(buf[:]) {
		for _, sid := range buf[:n] {
			if id := int64(sid >> blockBits); id != at {
				k, v := []byte(nil), []byte(nil)
				if id == at+1 && at >= 0 {
					k, v = c.Next()
				} else {
					putKey(&key, uint32(id))
					k, v = c.Seek(key[:])
				}
				if len(k) == 4 && int64(be32(k)) != id && id == at+1 {
					putKey(&key, uint32(id))
					k, v = c.Seek(key[:])
				}
				at, block = id, nil
				if len(k) == 4 && int64(be32(k)) == id {
					block = v
				}
			}
			fn(sid, slotIn(block, sid))
		}
	}
	return nil
}
