package store

import (
	"context"
	"fmt"
	"io"
	"iter"
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
		e := exporter{db: db, now: clampSeconds(db.now()), vectors: make(map[feed][]uint32)}
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
				if err := e.expand(&e.series[i]); err != nil {
					yield(nil, err)
					return
				}
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
	series  []exported
	bytes   []byte
	events  []event
	segs    []segment
	out     Series
}

type exported struct {
	key    gputide.Key
	first  feed
	state  gputide.State
	chunks [][]byte
}

func (e *exporter) copy(v *view, sids []uint32) error {
	e.series, e.bytes = e.series[:0], e.bytes[:0]
	r := v.loader(v.offers)
	for _, sid := range sids {
		l, ok, err := r.load(sid)
		if err != nil {
			return err
		}
		if !ok || l.past.segs[0].at > e.now {
			continue
		}
		x := exported{key: l.key, first: l.rec.first, chunks: v.offers.chunks(sid)}
		observed, _, err := l.past.observed(e.now)
		if err != nil {
			return err
		}
		if x.state, err = l.past.state(segmentAt(l.past.segs, e.now), e.now, observed); err != nil {
			return err
		}
		for i := range l.past.segs {
			if f := l.past.segs[i].feed; l.past.segs[i].status == statusListed {
				if err := e.vector(v, f); err != nil {
					return err
				}
			}
		}
		e.series = append(e.series, x)
	}
	return nil
}

// vector reads the moments of a feed once.
func (e *exporter) vector(v *view, f feed) error {
	if _, ok := e.vectors[f]; ok {
		return nil
	}
	moments := []uint32{}
	err := v.marks.between(f, 0, maxSeconds, func(at uint32) { moments = append(moments, at) })
	e.vectors[f] = moments
	return err
}

// expand turns one series into its observations.
func (e *exporter) expand(x *exported) error {
	var err error
	if e.events, err = decodeChunks(e.events[:0], x.chunks); err != nil {
		return fmt.Errorf("series %s: %w", x.key.ID(), err)
	}
	e.segs = segments(e.segs[:0], x.first, e.events)
	out := &e.out
	out.ID, out.Key, out.State = x.key.ID(), x.key, x.state
	out.Times, out.Prices = out.Times[:0], out.Prices[:0]
	for i := range e.segs {
		s := &e.segs[i]
		if s.status != statusListed {
			continue
		}
		out.Times = append(out.Times, int64(s.at))
		out.Prices = append(out.Prices, gputide.Nano(s.price))
		end := uint32(maxSeconds)
		if i+1 < len(e.segs) {
			end = e.segs[i+1].at - 1
		}
		moments := e.vectors[s.feed]
		from := sort.Search(len(moments), func(j int) bool { return moments[j] > s.at })
		for _, at := range moments[from:] {
			if at > end {
				break
			}
			out.Times = append(out.Times, int64(at))
			out.Prices = append(out.Prices, gputide.Nano(s.price))
		}
	}
	return nil
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

// Snapshot writes a consistent copy of the database, itself a database, to w.
func (db *DB) Snapshot(w io.Writer) error {
	return db.bolt.View(func(tx *bolt.Tx) error {
		if _, err := tx.WriteTo(w); err != nil {
			return fmt.Errorf("snapshot %s: %w", db.path, err)
		}
		return nil
	})
}
