package store

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/gputide/gputide"
)

const (
	// maxImportKeys is how many series one transaction of an import writes.
	maxImportKeys = 10_000

	// maxImportRows bounds the memory of one import: 40 bytes a row.
	maxImportRows = 50_000_000
)

// Import stores rows of other people's records under the source
// "import:<profile>". Rows may come in any order: the same rows give the same
// contents. What is stored already is counted and costs nothing; a row that
// contradicts a stored one of the same profile, offer and moment is refused and
// counted, and so are two rows of one import that contradict each other.
//
// Rows of a snapshot kind list everything of their scope at their moment: what an earlier snapshot of the profile listed and a
// later one does not is withdrawn. A spec of a row is stored at the first moment
// of its type where none is in force. An import is written in transactions of
// 10,000 series; one that was interrupted is completed by repeating it.
func (db *DB) Import(ctx context.Context, profile string, kind gputide.ImportKind, rows iter.Seq2[gputide.ImportRow, error]) (ImportResult, error) {
	if db.readOnly {
		return ImportResult{}, errReadOnly
	}
	if profile == "" || len(profile) > maxLiteral {
		return ImportResult{}, fmt.Errorf("%w: import profile %q", gputide.ErrInvalid, profile)
	}
	if kind != gputide.ImportSnapshot && kind != gputide.ImportEvents {
		return ImportResult{}, fmt.Errorf("%w: import kind %q", gputide.ErrInvalid, kind)
	}
	im := &importer{db: db, source: ImportPrefix + profile, snapshot: kind == gputide.ImportSnapshot, ids: make(map[gputide.Key]int32)}
	if err := im.read(ctx, rows); err != nil {
		return ImportResult{}, fmt.Errorf("import %s: %w", profile, err)
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	for _, provider := range slices.Sorted(maps.Keys(im.providers)) {
		if err := im.write(ctx, provider); err != nil {
			return im.res, fmt.Errorf("import %s: %w", profile, err)
		}
	}
	return im.res, nil
}

// importer holds one import in memory, compactly.
type importer struct {
	db       *DB
	source   string
	snapshot bool
	res      ImportResult

	ids       map[gputide.Key]int32
	series    []importSeries
	details   []importDetail
	detailIDs map[importDetail]int32
	providers map[string][]int32 // series of a provider
}

type importSeries struct {
	key   gputide.Key
	scope gputide.Scope
	rows  []importRow
	spec  importSpec
}

// priced reports whether any row is a price.
func (s *importSeries) priced() bool {
	return slices.ContainsFunc(s.rows, func(r importRow) bool { return r.detail >= 0 })
}

type importRow struct {
	at     uint32
	detail int32 // index; of a row that is no price, what it says, negated
	price  int64
}

func (r *importRow) say() say {
	if r.detail < 0 {
		return say(-r.detail)
	}
	return sayListed
}

// importDetail is the detail of a row, encoded.
type importDetail struct{ content, sku string }

func (im *importer) read(ctx context.Context, rows iter.Seq2[gputide.ImportRow, error]) error {
	im.detailIDs = map[importDetail]int32{}
	im.providers = make(map[string][]int32)
	for row, err := range rows {
		if err != nil {
			return err
		}
		if im.res.Rows++; im.res.Rows > maxImportRows {
			return &gputide.HintError{
				Err:  fmt.Errorf("%w: more than %d rows", gputide.ErrTooLarge, maxImportRows),
				Hint: "split the file and import its parts",
			}
		}
		if im.res.Rows%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := im.add(&row); err != nil {
			return fmt.Errorf("row %d: %w", im.res.Rows, err)
		}
	}
	im.res.Series = len(im.series)
	return nil
}

func (im *importer) add(row *gputide.ImportRow) error {
	o := &row.Offer
	at, err := seconds(row.At)
	if err != nil {
		return err
	}
	said, err := importSay(row.State)
	if err != nil {
		return err
	}
	if said != sayListed && im.snapshot {
		return fmt.Errorf("%w: a snapshot says by its rows what is listed, and %s is %s", gputide.ErrInvalid, o.Key.InstanceType, row.State)
	}
	if said == sayListed && (o.Price <= 0 || o.Price > gputide.MaxNano) {
		return fmt.Errorf("%w: price %s of %s", gputide.ErrInvalid, o.Price, o.Key.InstanceType)
	}
	if o.Key.Provider == "" {
		return fmt.Errorf("%w: no provider", gputide.ErrInvalid)
	}
	scope, err := importScope(row)
	if err != nil {
		return err
	}
	id, ok := im.ids[o.Key]
	if !ok {
		id = int32(len(im.series))
		im.ids[o.Key] = id
		im.series = append(im.series, importSeries{key: o.Key, scope: scope})
		im.providers[o.Key.Provider] = append(im.providers[o.Key.Provider], id)
	}
	if im.series[id].scope != scope {
		return fmt.Errorf("%w: %s in scope %s and in scope %s", gputide.ErrInvalid, o.Key.InstanceType, im.series[id].scope, scope)
	}
	s := &im.series[id]
	if said != sayListed {
		s.rows = append(s.rows, importRow{at: at, detail: -int32(said)})
		return nil
	}
	d := importDetail{encodeContent(o.Price, &o.Published, o.Flags), o.SKU}
	di, ok := im.detailIDs[d]
	if !ok {
		di = int32(len(im.details))
		im.detailIDs[d] = di
		im.details = append(im.details, d)
	}
	s.rows = append(s.rows, importRow{at: at, detail: di, price: int64(o.Price)})
	return s.spec.note(row.Spec, &s.key, at)
}

// importSay is what a row of a state says.
func importSay(state gputide.State) (say, error) {
	switch state {
	case "":
		return sayListed, nil
	case gputide.StateHeld:
		return sayHeld, nil
	case gputide.StateWithdrawn:
		return sayAbsent, nil
	}
	return 0, fmt.Errorf("%w: row of state %q", gputide.ErrInvalid, state)
}

// importScope returns the slice a row is part of.
func importScope(row *gputide.ImportRow) (gputide.Scope, error) {
	o := &row.Offer
	if row.Scope == nil {
		return gputide.Scope{
			Partition: o.Key.Partition, Seller: o.Key.Seller, Region: o.Key.Region, Market: o.Key.Market, Part: o.Part,
		}, nil
	}
	if !row.Scope.Covers(&o.Key, o.Part) {
		return gputide.Scope{}, fmt.Errorf("%w: %s does not lie in scope %s", gputide.ErrInvalid, o.Key.InstanceType, row.Scope)
	}
	return *row.Scope, nil
}

// write stores the series of one provider and then the marks of their moments,
// so that nothing counts as confirmed before it is stored.
func (im *importer) write(ctx context.Context, provider string) error {
	ids := im.providers[provider]
	slices.SortFunc(ids, func(a, b int32) int {
		return cmp.Compare(im.series[a].key.Canonical(), im.series[b].key.Canonical())
	})
	p := importProvider{im: im, provider: provider, moments: make(map[gputide.Scope]map[uint32]uint32)}
	for _, id := range ids {
		p.settle(&im.series[id])
	}
	p.gatherSpecs(ids)
	for part := range slices.Chunk(ids, maxImportKeys) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := im.db.update(provider, gputide.CauseImport, func(w *writer) error { return p.series(w, part) }); err != nil {
			return err
		}
	}
	return im.db.update(provider, gputide.CauseImport, p.finish)
}

// importProvider is the part of an import that belongs to one provider.
type importProvider struct {
	im       *importer
	provider string
	moments  map[gputide.Scope]map[uint32]uint32 // rows of a scope at each moment
	sorted   map[gputide.Scope][]uint32
	done     roaring.Bitmap // series written
	total    gputide.CommitResult
	last     uint32
	specs    map[string]importSpec // by type; taken out when written
}

// settle sorts the rows of a series, joins equal twins and refuses rows that
// contradict each other.
func (p *importProvider) settle(s *importSeries) {
	slices.SortStableFunc(s.rows, func(a, b importRow) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.price, b.price), cmp.Compare(a.detail, b.detail))
	})
	out := s.rows[:0]
	for i := 0; i < len(s.rows); {
		j := i + 1
		for j < len(s.rows) && s.rows[j].at == s.rows[i].at {
			j++
		}
		if s.rows[i].price == s.rows[j-1].price && s.rows[i].say() == s.rows[j-1].say() {
			out = append(out, s.rows[i])
			p.im.res.Known += j - i - 1
		} else {
			p.im.res.Conflicts += j - i
		}
		i = j
	}
	s.rows = out
	m := p.moments[s.scope]
	if m == nil {
		m = make(map[uint32]uint32)
		p.moments[s.scope] = m
	}
	for _, r := range out {
		m[r.at]++
		p.last = max(p.last, r.at)
	}
}

// series writes some series with their rows.
func (p *importProvider) series(w *writer, ids []int32) error {
	source, err := w.sources.add(p.im.source)
	if err != nil {
		return err
	}
	if err := p.writeSpecs(w, ids); err != nil {
		return err
	}
	t := w.touch(0)
	specs := newSpecReader(w.tx, w.d)
	details := make(map[int32]detail)
	var add []statement
	for _, id := range ids {
		s := &p.im.series[id]
		if len(s.rows) == 0 {
			continue
		}
		scope, err := w.scope(s.scope)
		if err != nil {
			return err
		}
		sid, _, ok, err := w.offers.lookup(&s.key, "", 0)
		if err != nil {
			return err
		}
		if !ok && !s.priced() {
			p.im.res.Known += len(s.rows) // nothing is known that could end
			continue
		}
		if !ok {
			attrs, err := w.attrs(&s.key, specs)
			if err != nil {
				return err
			}
			if sid, err = w.offers.create(&s.key, "", attrs); err != nil {
				return err
			}
		}
		add = p.statements(w, s, makeFeed(scope, source), details, add[:0])
		if err := p.apply(t, sid, add); err != nil {
			return err
		}
	}
	p.count(w)
	return nil
}

func (p *importProvider) apply(t *touch, sid uint32, add []statement) error {
	rec, err := t.b.recordOf(sid)
	if err != nil {
		return err
	}
	var res applied
	before := t.w.res.Changed + t.w.res.FirstSeen
	if err := t.apply(sid, rec, add, nil, &res); err != nil {
		return err
	}
	p.done.Add(sid)
	p.im.res.Known += res.known
	p.im.res.Conflicts += res.conflicts
	listed := 0
	for i := range add {
		if add[i].say == sayListed {
			listed++
		}
	}
	p.im.res.Confirmed += max(0, listed-res.known-res.conflicts-(t.w.res.Changed+t.w.res.FirstSeen-before))
	return nil
}

// statements turns the rows of a series, and the moments it is missing at, into
// statements.
func (p *importProvider) statements(w *writer, s *importSeries, f feed, details map[int32]detail, out []statement) []statement {
	st := statement{feed: f, rank: rankImportEvent, explicit: true}
	var moments []uint32
	if p.im.snapshot {
		st.rank, st.explicit = rankImport, false
		moments = p.momentsOf(s.scope)
	}
	for i := range s.rows {
		r := &s.rows[i]
		if said := r.say(); said != sayListed {
			out = append(out, statement{at: r.at, feed: f, rank: st.rank, say: said, explicit: true})
			continue
		}
		for ; len(moments) > 0 && moments[0] <= r.at; moments = moments[1:] {
			if moments[0] < r.at {
				out = append(out, statement{at: moments[0], feed: f, rank: st.rank, say: sayAbsent})
			}
		}
		d, ok := details[r.detail]
		if !ok {
			x := &p.im.details[r.detail]
			d = detail{content: w.d.intern(x.content), sku: x.sku}
			details[r.detail] = d
		}
		st.at, st.price, st.detail = r.at, r.price, d
		out = append(out, st)
	}
	for _, at := range moments {
		out = append(out, statement{at: at, feed: f, rank: st.rank, say: sayAbsent})
	}
	return out
}

func (p *importProvider) momentsOf(s gputide.Scope) []uint32 {
	if m, ok := p.sorted[s]; ok {
		return m
	}
	if p.sorted == nil {
		p.sorted = make(map[gputide.Scope][]uint32)
	}
	m := slices.Sorted(maps.Keys(p.moments[s]))
	p.sorted[s] = m
	return m
}

func (p *importProvider) count(w *writer) {
	r := &w.res
	p.im.res.FirstSeen += r.FirstSeen
	p.im.res.Changed += r.Changed
	p.im.res.Withdrawn += r.Withdrawn
	p.im.res.Returned += r.Returned
	p.im.res.Specs += r.Specs
	p.total.FirstSeen += r.FirstSeen
	p.total.Changed += r.Changed
	p.total.Withdrawn += r.Withdrawn
	p.total.Returned += r.Returned
	p.total.Specs += r.Specs
}
