package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/gputide/gputide"
)

// finish withdraws what the snapshots no longer list and records their moments.
func (p *importProvider) finish(w *writer) error {
	source, err := w.sources.add(p.im.source)
	if err != nil {
		return err
	}
	marked := 0
	t := w.touch(0)
	scopes := slices.SortedFunc(maps.Keys(p.moments), func(a, b gputide.Scope) int { return cmp.Compare(a.String(), b.String()) })
	for _, s := range scopes {
		if !p.im.snapshot {
			break
		}
		scope, err := w.scope(s)
		if err != nil {
			return err
		}
		if err := p.missing(w, t, scope, makeFeed(scope, source), p.momentsOf(s)); err != nil {
			return err
		}
		n, err := p.mark(w, scope, source, s)
		if err != nil {
			return err
		}
		marked += n
	}
	p.count(w)
	if marked == 0 && p.total == (gputide.CommitResult{}) {
		return nil
	}
	return p.record(w)
}

// missing states the absence of series of a scope that the import does not name
// at all.
func (p *importProvider) missing(w *writer, t *touch, scope uint32, f feed, moments []uint32) error {
	bm := roaring.New()
	if err := (index{inv: w.offers.inv}).union(bm, fieldScope, string(key32(scope))); err != nil {
		return err
	}
	bm.AndNot(&p.done)
	add := make([]statement, 0, len(moments))
	for _, at := range moments {
		add = append(add, statement{at: at, feed: f, rank: rankImport, say: sayAbsent})
	}
	it := bm.Iterator()
	for it.HasNext() {
		sid := it.Next()
		rec, err := w.offers.recordOf(sid)
		if err != nil {
			return err
		}
		var res applied
		if err := t.apply(sid, rec, add, nil, &res); err != nil {
			return err
		}
	}
	return nil
}

// mark records the moments of a scope as done and returns how many were new.
func (p *importProvider) mark(w *writer, scope uint32, source uint8, s gputide.Scope) (int, error) {
	n := 0
	for _, at := range p.momentsOf(s) {
		stored, err := w.marks.month(scope, monthOf(at))
		if err != nil {
			return n, err
		}
		if slices.ContainsFunc(stored, func(m mark) bool { return m.at == at && m.source == source }) {
			continue
		}
		if err := w.addMark(scope, mark{at: at, source: source, count: p.moments[s][at]}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// record adds the import to the list of runs.
func (p *importProvider) record(w *writer) error {
	h := sha256.New()
	var b []byte
	for _, id := range p.im.providers[p.provider] {
		for _, r := range p.im.series[id].rows {
			b = binary.BigEndian.AppendUint32(b[:0], r.at)
			h.Write(binary.BigEndian.AppendUint64(b, uint64(r.price)))
		}
	}
	w.res = gputide.CommitResult{
		FirstSeen: p.total.FirstSeen, Changed: p.total.Changed, Withdrawn: p.total.Withdrawn, Returned: p.total.Returned,
		Specs: p.total.Specs,
	}
	static := w.d.intern(`{"report":{"Sources":[{"Source":"` + p.im.source + `","Status":"ok"}]}}`)
	row := runRow{provider: w.pid, at: p.last, cause: w.log.cause, recorded: int64(w.recorded), static: static, results: resultCounts(&w.res)}
	copy(row.hash[:], h.Sum(nil))
	return w.putRun(&row)
}
