package store

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// Baseline returns what is known of a provider: the ground that guards compare
// its run at a moment with. Imports are left out of it. A provider never crawled
// has an empty one.
func (db *DB) Baseline(ctx context.Context, provider string, at time.Time) (*gputide.Baseline, error) {
	out := &gputide.Baseline{
		Series: make(map[gputide.OfferID]gputide.SeriesBaseline), Types: make(map[gputide.TypeName]struct{}),
	}
	sids, err := db.selected(false, gputide.Selection{
		Matches: []gputide.Match{{Field: gputide.FieldProvider, Values: []string{provider}}},
	})
	if err != nil {
		return nil, err
	}
	err = db.view(func(v *view) error {
		pid, ok := v.d.find(provider)
		if !ok {
			return nil
		}
		scopes, err := loadScopes(v.tx.Bucket(bucketScope), v.d, pid)
		if err != nil {
			return err
		}
		sources, err := v.sources(pid)
		if err != nil {
			return err
		}
		for i := range scopes {
			s, seen, err := v.scopeBaseline(&scopes[i], sources, at)
			if err != nil {
				return err
			}
			if seen {
				out.Scopes = append(out.Scopes, s)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = db.eachBatch(ctx, sids, func(v *view, part []uint32) error { return v.seriesBaseline(out, part) })
	if err != nil {
		return nil, err
	}
	return out, db.heldPrices(out, provider)
}

func (v *view) scopeBaseline(s *storedScope, sources *sourceTable, at time.Time) (gputide.ScopeBaseline, bool, error) {
	out := gputide.ScopeBaseline{
		Scope: s.s, LastDone: make(map[string]int), Sources: make(map[string]int64), HeldDigest: s.held,
	}
	err := v.marks.months(s.id, 0, func(month *monthMarks) bool {
		for i := range month.marks {
			m := &month.marks[i]
			if sources.imported(m.source) {
				continue
			}
			out.LastAt = moment(m.at)
			if m.status != markDone {
				continue
			}
			name := sources.name(m.source)
			out.LastSource, out.DoneAt = name, out.LastAt
			if m.confirms() {
				out.LastDone[name] = int(m.count)
				out.Sources[name]++
				continue
			}
			out.Sources[name] += 0 // how much a feed told says nothing of the next run
			if out.LastAt.Before(at) {
				out.FedAt = out.LastAt
			}
		}
		return true
	})
	return out, !out.LastAt.IsZero(), err
}

// LastRun returns the moment of the newest run of a provider that reported a
// scope of one of the markets, or any scope where no market is named; zero when
// there is none. Imports are no runs.
func (db *DB) LastRun(_ context.Context, provider string, markets []gputide.Market) (time.Time, error) {
	var last time.Time
	err := db.view(func(v *view) error {
		pid, ok := v.d.find(provider)
		if !ok {
			return nil
		}
		sources, err := v.sources(pid)
		if err != nil {
			return err
		}
		scopes, err := loadScopes(v.tx.Bucket(bucketScope), v.d, pid)
		if err != nil {
			return err
		}
		for i := range scopes {
			s := &scopes[i]
			if len(markets) > 0 && (s.s.Signal != "" || !slices.Contains(markets, s.s.Market)) {
				continue
			}
			m, found, err := v.marks.before(s.id, math.MaxUint32, func(m *mark) bool { return !sources.imported(m.source) })
			if err != nil {
				return err
			}
			if found && moment(m.at).After(last) {
				last = moment(m.at)
			}
		}
		return nil
	})
	return last, err
}

func (v *view) seriesBaseline(out *gputide.Baseline, sids []uint32) error {
	for _, sid := range sids {
		s := v.offers.slot(sid)
		if s.status == statusNone {
			continue
		}
		rec, err := v.offers.record(sid)
		if err != nil {
			return err
		}
		k, _, err := rec.key(v.d)
		if err != nil {
			return err
		}
		pid, _ := v.d.find(k.Provider)
		sources, err := v.sources(pid)
		if err != nil {
			return err
		}
		out.Types[gputide.TypeName{Partition: k.Partition, InstanceType: k.InstanceType}] = struct{}{}
		out.Series[k.ID()] = gputide.SeriesBaseline{
			Price: gputide.Nano(s.price), Present: s.listedOrHeld(), Held: s.status == statusHeld, Source: sources.name(s.source),
		}
	}
	return nil
}

// heldPrices adds the prices of the rows in quarantine that nobody rejected.
func (db *DB) heldPrices(out *gputide.Baseline, provider string) error {
	return db.view(func(v *view) error {
		pid, ok := v.d.find(provider)
		if !ok {
			return nil
		}
		return eachRefused(v.tx.Bucket(bucketQuarantine), key32(pid), func(_ []byte, q *gputide.Quarantined) {
			if q.Price == nil || q.Rejected {
				return
			}
			id := q.Key.ID()
			s := out.Series[id]
			s.HeldPrice = q.Price
			out.Series[id] = s
		})
	})
}
