package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// Signals returns the values of the named signal in force at a moment, in order
// of their canonical keys; of every signal when name is empty. The selection
// matches the fields a signal states. Values that ended before the moment are
// left out.
func (db *DB) Signals(ctx context.Context, sel gputide.Selection, name string, at time.Time) ([]gputide.SignalValue, error) {
	t := clampSeconds(at)
	type sorted struct {
		key string
		gputide.SignalValue
	}
	var found []sorted
	err := db.eachSignal(ctx, sel, name, func(l *loaded) error {
		i := segmentAt(l.past.segs, t)
		if i < 0 || l.past.segs[i].status == statusWithdrawn {
			return nil
		}
		s := &l.past.segs[i]
		observed, _, err := l.past.observed(t)
		if err != nil {
			return err
		}
		found = append(found, sorted{l.key.Canonical() + "\n" + l.name, gputide.SignalValue{
			Key: l.key, Name: l.name, Value: s.price, Source: l.past.sources.name(s.feed.source()),
			Since: moment(s.since), ObservedAt: moment(observed),
		}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b sorted) int { return strings.Compare(a.key, b.key) })
	out := make([]gputide.SignalValue, len(found))
	for i := range found {
		out[i] = found[i].SignalValue
	}
	return out, nil
}

// eachSignal reads the selected signals of one name, of every name when it is
// empty. fn must not keep what it is given.
func (db *DB) eachSignal(ctx context.Context, sel gputide.Selection, name string, fn func(*loaded) error) error {
	if name != "" {
		sel.Matches = append(slices.Clone(sel.Matches), gputide.Match{Field: fieldSignal, Values: []string{name}})
	}
	ids := sel.IDs
	sel.IDs = nil
	sids, err := db.selected(true, sel)
	if err != nil {
		return err
	}
	return db.eachBatch(ctx, sids, func(v *view, part []uint32) error {
		r := v.loader(v.signals)
		for _, sid := range part {
			l, ok, err := r.load(sid)
			if err != nil {
				return err
			}
			if !ok || len(ids) > 0 && !slices.Contains(ids, l.key.ID()) {
				continue
			}
			if err := fn(l); err != nil {
				return err
			}
		}
		return nil
	})
}

// Values returns the values that any offer has in a field, sorted; for the name
// of signals, those recorded.
func (db *DB) Values(_ context.Context, f gputide.Field) ([]string, error) {
	var out []string
	err := db.view(func(v *view) (err error) {
		b := v.offers
		if f == fieldSignal {
			b = v.signals
		}
		out, err = db.index(b).values(f)
		return err
	})
	return out, err
}

// Specs returns the specs in force at a moment, priced or not, in order of
// provider, partition and instance type. Matches on other fields than those and
// the derived ones of a type need an offer that meets them.
func (db *DB) Specs(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Spec, error) {
	q := specQuery{db: db, sel: sel, at: clampSeconds(at)}
	q.byOffer = len(sel.IDs) > 0 || slices.ContainsFunc(sel.Matches, func(m gputide.Match) bool { return !ofType(m.Field) })
	if err := db.view(func(v *view) error { return q.run(ctx, v) }); err != nil {
		return nil, err
	}
	slices.SortFunc(q.out, func(a, b gputide.Spec) int {
		return strings.Compare(typeText(a.Provider, a.Partition, a.InstanceType), typeText(b.Provider, b.Partition, b.InstanceType))
	})
	return q.out, nil
}

// ofType reports whether a field follows from the instance type alone.
func ofType(f gputide.Field) bool {
	switch f {
	case gputide.FieldProvider, gputide.FieldPartition, gputide.FieldInstanceType, gputide.FieldGPU, gputide.FieldVendor,
		gputide.FieldModel, gputide.FieldStack, gputide.FieldCount:
		return true
	}
	return false
}

type specQuery struct {
	db      *DB
	sel     gputide.Selection
	at      uint32
	byOffer bool
	out     []gputide.Spec
}

func (q *specQuery) run(ctx context.Context, v *view) error {
	specs := newSpecReader(v.tx, v.d)
	types, err := q.types(v)
	if err != nil {
		return err
	}
	c := v.tx.table(bucketSpec).Cursor()
	for k, _ := c.First(); k != nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		tid := be32(k)
		since, raw := specAt(v.tx.table(bucketSpec), tid, q.at)
		if raw != nil && (types == nil || types[tid]) {
			s, err := specs.decode(tid, since, raw)
			if err != nil {
				return err
			}
			if q.byOffer || q.matches(s) {
				q.out = append(q.out, *s)
			}
		}
		if k, _ = c.Seek(keyPair(tid, maxSeconds)); k != nil && be32(k) == tid {
			k, _ = c.Next()
		}
	}
	return nil
}

// types returns the types of the selected offers; nil when no offer is asked.
func (q *specQuery) types(v *view) (map[uint32]bool, error) {
	if !q.byOffer {
		return nil, nil
	}
	bm, err := q.db.selectSeries(v.offers, q.sel)
	if err != nil {
		return nil, err
	}
	out := make(map[uint32]bool)
	it := bm.Iterator()
	for it.HasNext() {
		rec, err := v.offers.record(it.Next())
		if err != nil {
			return nil, err
		}
		k, _, err := rec.key(v.d)
		if err != nil {
			return nil, err
		}
		if tid, ok := v.d.find(typeText(k.Provider, k.Partition, k.InstanceType)); ok {
			out[tid] = true
		}
	}
	return out, nil
}

func (q *specQuery) matches(s *gputide.Spec) bool {
	k := gputide.Key{Provider: s.Provider, Partition: s.Partition, InstanceType: s.InstanceType}
	var attrs []gputide.Attr
	if q.db.deriver != nil {
		attrs = q.db.deriver.Derive(&k, s)
	}
	for _, m := range q.sel.Matches {
		met := slices.ContainsFunc(m.Values, func(v string) bool {
			return k.Get(m.Field) == v && !derivedField(m.Field) || slices.Contains(attrs, gputide.Attr{Field: m.Field, Value: v})
		})
		if !met {
			return false
		}
	}
	return true
}
