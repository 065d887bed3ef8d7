package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

const (
	// tellBatch is how many series one read transaction of Tell copies.
	tellBatch = 64

	// maxVectors bounds the moments that Tell keeps decoded, 4 bytes each.
	maxVectors = 4 << 20
)

// Told is all that was said of one offer. Values are reused by the iterator:
// copy what must outlive a step.
type Told struct {
	Key  gputide.Key
	Spec *gputide.Spec // the newest of its instance type; nil when none is known
	Rows []ToldRow     // by moment
}

// ToldRow is what was said of an offer at one moment.
type ToldRow struct {
	At    time.Time
	State gputide.State // priced; held or withdrawn where that begins

	// Of a price; Published is shared by rows that are alike.
	Price     gputide.Nano
	Published *gputide.Published
	Flags     []gputide.Flag
	SKU       string
}

// Told returns the offers of a selection with what was said of each, in order of
// offer id: every observation, or, of change points alone, those at which state,
// price or published form were others than before. Zero times are no
// bound of [from, to). Rows before the first price of the window are left out,
// and so are offers without a row. Each read transaction covers some series, so
// a writer never waits for a consumer.
func (db *DB) Told(ctx context.Context, sel gputide.Selection, from, to time.Time, changes bool) iter.Seq2[*Told, error] {
	return func(yield func(*Told, error) bool) {
		sids, err := db.byOffer(sel)
		if err != nil {
			yield(nil, err)
			return
		}
		t := tellerOf(from, to, changes)
		for part := range slices.Chunk(sids, tellBatch) {
			if err = ctx.Err(); err == nil {
				err = db.view(func(v *view) error { return t.copy(v, part) })
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range t.series {
				told, err := t.expand(&t.series[i])
				if err != nil {
					yield(nil, err)
					return
				}
				if len(told.Rows) > 0 && !yield(told, nil) {
					return
				}
			}
		}
	}
}

// byOffer returns the sids of a selection in order of offer id.
func (db *DB) byOffer(sel gputide.Selection) ([]uint32, error) {
	var sids []uint32
	err := db.view(func(v *view) error {
		bm, err := db.selectSeries(v.offers, sel)
		if err != nil {
			return err
		}
		sids = make([]uint32, 0, bm.GetCardinality())
		return v.offers.skey.ForEach(func(_, sid []byte) error {
			if bm.Contains(be32(sid)) {
				sids = append(sids, be32(sid))
			}
			return nil
		})
	})
	return sids, err
}

// teller copies series out of a transaction and expands them outside of it.
type teller struct {
	from, to uint32 // [from, to)
	changes  bool
	vectors  map[feed][]uint32 // moments a feed confirmed what it lists
	moments  int               // in vectors
	series   []toldSeries
	out      Told
}

// toldSeries is a series as copied.
type toldSeries struct {
	key     gputide.Key
	spec    *gputide.Spec
	segs    []segment
	details []toldDetail
}

type toldDetail struct {
	at      uint32
	content string
	sku     string
}

func tellerOf(from, to time.Time, changes bool) *teller {
	t := &teller{from: clampSeconds(from), to: clampSeconds(to), changes: changes, vectors: make(map[feed][]uint32)}
	if from.IsZero() {
		t.from = 0
	}
	if to.IsZero() {
		t.to = maxSeconds
	}
	return t
}

func (t *teller) copy(v *view, sids []uint32) error {
	t.series = t.series[:0]
	if t.moments > maxVectors {
		clear(t.vectors)
		t.moments = 0
	}
	r := v.loader(v.offers)
	specs := newSpecReader(v.tx, v.d)
	for _, sid := range sids {
		l, ok, err := r.load(sid)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		s := toldSeries{key: l.key, segs: slices.Clone(l.past.segs)}
		if s.spec, err = specs.latest(&l.key, maxSeconds); err != nil {
			return err
		}
		if s.details, err = v.toldDetails(sid); err != nil {
			return err
		}
		for i := range s.segs {
			if s.segs[i].status != statusListed {
				continue
			}
			if err := t.vector(v, s.segs[i].feed); err != nil {
				return err
			}
		}
		t.series = append(t.series, s)
	}
	return nil
}

func (v *view) toldDetails(sid uint32) ([]toldDetail, error) {
	stored, err := readDetails(v.tx.table(bucketDetail), sid)
	if err != nil {
		return nil, err
	}
	out := make([]toldDetail, len(stored))
	for i, d := range stored {
		text, err := v.d.get(d.detail.content)
		if err != nil {
			return nil, err
		}
		out[i] = toldDetail{at: d.at, content: text, sku: d.detail.sku}
	}
	return out, nil
}

// vector reads the moments of a feed, unless they are known.
func (t *teller) vector(v *view, f feed) error {
	if _, ok := t.vectors[f]; ok {
		return nil
	}
	moments, err := v.marks.between([]uint32{}, f, 0, maxSeconds)
	t.vectors[f] = moments
	t.moments += len(moments)
	return err
}

// expand turns a series into its rows.
func (t *teller) expand(s *toldSeries) (*Told, error) {
	t.out.Key, t.out.Spec, t.out.Rows = s.key, s.spec, t.out.Rows[:0]
	e := expansion{t: t, s: s, detail: -1, shown: -1}
	for i := range s.segs {
		seg := &s.segs[i]
		end := uint32(maxSeconds)
		if i+1 < len(s.segs) {
			end = s.segs[i+1].at - 1
		}
		if err := e.row(seg, seg.at); err != nil {
			return nil, fmt.Errorf("series %s: %w", s.key.ID(), err)
		}
		if seg.status != statusListed {
			continue
		}
		moments := t.vectors[seg.feed]
		n, _ := slices.BinarySearch(moments, seg.at+1)
		for ; n < len(moments) && moments[n] <= end; n++ {
			if err := e.row(seg, moments[n]); err != nil {
				return nil, fmt.Errorf("series %s: %w", s.key.ID(), err)
			}
		}
	}
	return &t.out, nil
}

// expansion is the way through one series.
type expansion struct {
	t      *teller
	s      *toldSeries
	detail int // in force, -1 before the first
	shown  int // detail of the row told last

	price     gputide.Nano // of published
	of        int          // detail of published
	published *gputide.Published
	flags     []gputide.Flag
}

// row adds what a segment says at a moment.
func (e *expansion) row(seg *segment, at uint32) error {
	for e.detail+1 < len(e.s.details) && e.s.details[e.detail+1].at <= at {
		e.detail++
	}
	rows := e.t.out.Rows
	if at < e.t.from || at >= e.t.to || len(rows) == 0 && seg.status != statusListed {
		return nil
	}
	row := ToldRow{At: moment(at), State: gputide.StatePriced}
	switch seg.status {
	case statusHeld:
		row.State = gputide.StateHeld
	case statusWithdrawn:
		row.State = gputide.StateWithdrawn
	default:
		row.Price = gputide.Nano(seg.price)
	}
	if n := len(rows); e.t.changes && n > 0 {
		last := &rows[n-1]
		if last.State == row.State && last.Price == row.Price && (row.State != gputide.StatePriced || e.shown == e.detail) {
			return nil
		}
	}
	if row.State == gputide.StatePriced {
		if err := e.publish(row.Price); err != nil {
			return err
		}
		row.Published, row.Flags, row.SKU, e.shown = e.published, e.flags, e.sku(), e.detail
	}
	e.t.out.Rows = append(rows, row)
	return nil
}

// publish decodes the published form of a price, unless it is that of the row
// before.
func (e *expansion) publish(price gputide.Nano) error {
	if e.published != nil && e.price == price && e.of == e.detail {
		return nil
	}
	content := ""
	if e.detail >= 0 {
		content = e.s.details[e.detail].content
	}
	p, flags, err := decodeContent(price, content)
	e.published, e.flags, e.price, e.of = &p, flags, price, e.detail
	return err
}

func (e *expansion) sku() string {
	if e.detail < 0 {
		return ""
	}
	return e.s.details[e.detail].sku
}
