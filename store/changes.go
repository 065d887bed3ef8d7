package store

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/gputide/gputide"
)

// blockBatch is how many blocks of the feed one read transaction reads.
const blockBatch = 64

// Changes returns the change feed in order of sequence number. A change is told
// as history holds it now. With AfterSeq set the feed is a consumer's cursor: a
// change that a later run took back is told then too, as the same kind with the
// prices turned round. A spec change matches a selection by provider, partition
// and instance type alone. A cursor, or a From, before what [DB.PruneChanges]
// left is [gputide.ErrNotFound]; without either, what is left is told.
func (db *DB) Changes(ctx context.Context, f gputide.ChangeFilter) iter.Seq2[gputide.Change, error] {
	return func(yield func(gputide.Change, error) bool) {
		q := changeQuery{db: db, f: f, left: f.Limit}
		q.from, q.to = bounds(f.From, f.To)
		if err := q.prepare(); err != nil {
			yield(gputide.Change{}, err)
			return
		}
		for !q.done {
			if err := ctx.Err(); err != nil {
				yield(gputide.Change{}, err)
				return
			}
			if err := db.view(q.batch); err != nil {
				yield(gputide.Change{}, err)
				return
			}
			for _, c := range q.found {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// changeQuery is one reading of the feed.
type changeQuery struct {
	db       *DB
	f        gputide.ChangeFilter
	from, to uint32
	selected *roaring.Bitmap // nil selects all
	newest   map[changeKey]uint64
	next     uint64 // next sequence number to read
	left     int
	done     bool
	found    []gputide.Change
	cache    map[uint32]*changed
}

// changeKey names a change of a series; newest holds those that were recorded
// more than once.
type changeKey struct {
	sid, at uint32
	kind    logKind
}

func (q *changeQuery) prepare() error {
	q.next = q.f.AfterSeq + 1
	q.newest = make(map[changeKey]uint64)
	return q.db.view(func(v *view) error {
		gone, err := prunedOf(v.tx)
		if err != nil {
			return err
		}
		if err := gone.holds(&q.f); err != nil {
			return err
		}
		if sel := q.f.Selection; len(sel.IDs)+len(sel.Matches) > 0 {
			var err error
			if q.selected, err = q.db.selectSeries(v.offers, sel); err != nil {
				return err
			}
		}
		c := v.tx.table(bucketLog).Cursor()
		for k, raw := c.First(); k != nil; k, raw = c.Next() {
			b, _, err := decodeBlock(k, raw, true)
			if err != nil {
				return err
			}
			if !b.repeats {
				continue
			}
			if b, _, err = decodeBlock(k, raw, false); err != nil {
				return err
			}
			for i, e := range b.entries {
				q.newest[changeKey{e.sid, e.at, e.kind}] = b.first + uint64(i)
			}
		}
		return nil
	})
}

// batch reads some blocks into found.
func (q *changeQuery) batch(v *view) error {
	q.found, q.cache = q.found[:0], make(map[uint32]*changed)
	specs := map[uint32]gputide.Key{}
	c := v.tx.table(bucketLog).Cursor()
	k, raw := c.SeekLast(key64(q.next))
	if k == nil {
		k, raw = c.First()
	}
	for n := 0; ; n++ {
		if k == nil {
			q.done = true
			return nil
		}
		b, size, err := decodeBlock(k, raw, false)
		if err != nil {
			return err
		}
		for i := range b.entries {
			seq := b.first + uint64(i)
			if seq < q.next {
				continue
			}
			if err := q.entry(v, &b, seq, &b.entries[i], specs); err != nil {
				return err
			}
			if q.f.Limit > 0 && q.left == 0 {
				q.done = true
				return nil
			}
		}
		q.next = max(q.next, b.first+uint64(size))
		if n >= blockBatch || len(q.found) >= readBatch {
			return nil
		}
		k, raw = c.Next()
	}
}

func (q *changeQuery) entry(v *view, b *logBlock, seq uint64, e *logEntry, specs map[uint32]gputide.Key) error {
	kind := changeKinds[e.kind]
	if e.at < q.from || e.at >= q.to || (len(q.f.Kinds) > 0 && !slices.Contains(q.f.Kinds, kind)) {
		return nil
	}
	out := gputide.Change{
		Seq: seq, Kind: kind, SeenAt: moment(e.at), RecordedAt: moment(b.recorded), Cause: causes[b.cause],
	}
	if b.kind == blockSpecs {
		return q.spec(v, e, out, specs)
	}
	if !q.wants(seq, e) {
		return nil
	}
	s, err := q.series(v, e.sid)
	if err != nil {
		return err
	}
	out.ID, out.Key = s.id, s.key
	if e.void {
		out.Before, out.After = optional(e.before, e.has&hasBefore != 0), optional(e.after, e.has&hasAfter != 0)
		q.yield(out)
		return nil
	}
	i := slices.IndexFunc(s.changes, func(c change) bool { return c.at == e.at && c.kind == e.kind })
	if i < 0 {
		return nil // a later run took it back
	}
	c := s.changes[i]
	out.Before, out.After = optional(c.before, c.has&hasBefore != 0), optional(c.after, c.has&hasAfter != 0)
	if c.moved {
		out.Flags = []gputide.Flag{gputide.FlagSourceChanged}
	}
	if out.NotBefore, err = s.notBefore(e.at); err != nil {
		return err
	}
	q.yield(out)
	return nil
}

// wants reports whether an entry of a series belongs to the answer. What was
// taken back, or told again later, concerns a cursor alone.
func (q *changeQuery) wants(seq uint64, e *logEntry) bool {
	if q.selected != nil && !q.selected.Contains(e.sid) {
		return false
	}
	return q.f.AfterSeq != 0 || (!e.void && q.newest[changeKey{e.sid, e.at, e.kind}] <= seq)
}

func (q *changeQuery) yield(c gputide.Change) {
	q.found = append(q.found, c)
	q.left--
}

func optional(v int64, has bool) *gputide.Nano {
	if !has {
		return nil
	}
	return new(gputide.Nano(v))
}

// spec completes a change of a spec.
func (q *changeQuery) spec(v *view, e *logEntry, out gputide.Change, specs map[uint32]gputide.Key) error {
	k, ok := specs[e.sid]
	if !ok {
		text, err := v.d.get(e.sid)
		if err != nil {
			return err
		}
		if k.Provider, k.Partition, k.InstanceType, err = parseType(text); err != nil {
			return err
		}
		specs[e.sid] = k
	}
	if len(q.f.Selection.IDs) > 0 || !matchesKey(&k, q.f.Selection.Matches) {
		return nil
	}
	since, _ := specAt(v.tx.table(bucketSpec), e.sid, e.at)
	if since != e.at {
		return nil
	}
	out.Key = k
	q.yield(out)
	return nil
}

// matchesKey reports whether a key of an instance type meets matches; one that
// names anything else is not met.
func matchesKey(k *gputide.Key, matches []gputide.Match) bool {
	for _, m := range matches {
		switch m.Field {
		case gputide.FieldProvider, gputide.FieldPartition, gputide.FieldInstanceType:
			if !slices.Contains(m.Values, k.Get(m.Field)) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// changed is what the feed needs of one series.
type changed struct {
	id      gputide.OfferID
	key     gputide.Key
	changes []change
	past    past
}

func (q *changeQuery) series(v *view, sid uint32) (*changed, error) {
	if s := q.cache[sid]; s != nil {
		return s, nil
	}
	rec, err := v.offers.record(sid)
	if err != nil {
		return nil, err
	}
	s := &changed{}
	if s.key, _, err = rec.key(v.d); err != nil {
		return nil, err
	}
	s.id = s.key.ID()
	events, err := v.offers.events(nil, sid)
	if err != nil {
		return nil, err
	}
	s.changes = changesOf(events)
	pid, _ := v.d.find(s.key.Provider)
	if s.past.sources, err = v.sources(pid); err != nil {
		return nil, err
	}
	s.past.marks, s.past.segs = v.marks, segments(nil, rec.first, events)
	q.cache[sid] = s
	return s, nil
}

// notBefore returns the observation before a change: the last of the series, or
// for its first the last run of the feed that did not list it.
func (s *changed) notBefore(at uint32) (t time.Time, err error) {
	i := segmentAt(s.past.segs, at)
	if i > 0 {
		seen, _, err := s.past.observed(at - 1)
		return moment(seen), err
	}
	if i < 0 || at == 0 {
		return t, nil
	}
	seen, err := s.past.marks.confirmed(s.past.segs[0].feed, at-1)
	return moment(seen), err
}

// lastSeq returns the newest sequence number of the feed.
func (v *view) lastSeq() uint64 { return v.tx.table(bucketLog).Sequence() }
