package query

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// noon is the moment the tests ask about.
var noon = time.Date(2026, 9, 30, 12, 0, 0, 0, time.UTC)

// memory is a Reader over slices. It counts what it is asked.
type memory struct {
	quotes  []gputide.Quote
	changes []gputide.Change
	signals []gputide.SignalValue
	heard   []gputide.SignalHistory // signals over time
	specs   []gputide.Spec
	rates   []gputide.Rate
	bench   []gputide.Benchmark
	runs    []gputide.RunRecord
	pasts   map[gputide.OfferID][]gputide.Interval
	rows    map[gputide.OfferID][]gputide.Observation
	read    int // quotes handed out
	fail    error
}

func (m *memory) spec(k *gputide.Key) *gputide.Spec {
	for i := range m.specs {
		s := &m.specs[i]
		if s.Provider == k.Provider && s.Partition == k.Partition && s.InstanceType == k.InstanceType {
			return s
		}
	}
	return nil
}

// attr returns a field as the store derives it for selection.
func (m *memory) attr(k *gputide.Key, f gputide.Field) string {
	switch f {
	case gputide.FieldCountry, gputide.FieldContinent:
		at, _ := table{}.Lookup(k.Provider, k.Partition, k.Region)
		if f == gputide.FieldCountry {
			return at.Country
		}
		return at.Continent
	case gputide.FieldGPU, gputide.FieldVendor, gputide.FieldStack, gputide.FieldCount:
		return readSpec(cards{}, k.Provider, m.spec(k)).attr(f)
	}
	return k.Get(f)
}

func (m *memory) selects(sel gputide.Selection, id gputide.OfferID, k *gputide.Key) bool {
	if len(sel.IDs) > 0 && !slices.Contains(sel.IDs, id) {
		return false
	}
	for _, match := range sel.Matches {
		if v := m.attr(k, match.Field); v == "" || !slices.Contains(match.Values, v) {
			return false
		}
	}
	return true
}

func (m *memory) Quotes(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Quote, error) {
	var out []gputide.Quote
	for _, q := range m.quotes {
		if !m.selects(sel, q.ID, &q.Key) {
			continue
		}
		q.Spec = m.spec(&q.Key)
		if at.Before(q.FirstSeen) {
			q.State = gputide.StateUnknown
		}
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b gputide.Quote) int { return slices.Compare(a.ID[:], b.ID[:]) })
	m.read += len(out)
	return out, m.fail
}

func (m *memory) IntervalsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Interval, error] {
	return each(m.fail, ids, func(id gputide.OfferID) (out []gputide.Interval) {
		for _, iv := range m.pasts[id] {
			iv.From, iv.To = later(iv.From, from), earlier(iv.To, to)
			if iv.From.Before(iv.To) {
				out = append(out, iv)
			}
		}
		return out
	})
}

func (m *memory) ObservationsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Observation, error] {
	return each(m.fail, ids, func(id gputide.OfferID) (out []gputide.Observation) {
		for _, o := range m.rows[id] {
			if !o.At.Before(from) && o.At.Before(to) {
				out = append(out, o)
			}
		}
		return out
	})
}

// each yields what of returns for each id, or the one error.
func each[T any](fail error, ids []gputide.OfferID, of func(gputide.OfferID) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, id := range ids {
			if !yield(of(id), fail) || fail != nil {
				return
			}
		}
	}
}

func (m *memory) Changes(ctx context.Context, f gputide.ChangeFilter) iter.Seq2[gputide.Change, error] {
	return func(yield func(gputide.Change, error) bool) {
		if m.fail != nil {
			yield(gputide.Change{}, m.fail)
			return
		}
		for _, c := range m.changes {
			in := c.Seq > f.AfterSeq && (f.From.IsZero() || !c.SeenAt.Before(f.From)) && (f.To.IsZero() || c.SeenAt.Before(f.To)) &&
				(len(f.Kinds) == 0 || slices.Contains(f.Kinds, c.Kind)) && m.selects(f.Selection, c.ID, &c.Key)
			if in && !yield(c, nil) {
				return
			}
		}
	}
}

func (m *memory) Signals(ctx context.Context, sel gputide.Selection, name string, at time.Time) ([]gputide.SignalValue, error) {
	var out []gputide.SignalValue
	for _, s := range m.signals {
		if s.Name == name && m.selects(sel, gputide.OfferID{}, &s.Key) {
			out = append(out, s)
		}
	}
	return out, m.fail
}

func (m *memory) SignalIntervals(ctx context.Context, sel gputide.Selection, name string, from, to time.Time) ([]gputide.SignalHistory, error) {
	var out []gputide.SignalHistory
	for _, h := range m.heard {
		if h.Name != name || !m.selects(sel, gputide.OfferID{}, &h.Key) {
			continue
		}
		list := h.Intervals
		h.Intervals = nil
		for _, iv := range list {
			iv.From, iv.To = later(iv.From, from), earlier(iv.To, to)
			if iv.From.Before(iv.To) {
				h.Intervals = append(h.Intervals, iv)
			}
		}
		out = append(out, h)
	}
	return out, m.fail
}

func (m *memory) Specs(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Spec, error) {
	var out []gputide.Spec
	for _, s := range m.specs {
		k := gputide.Key{Provider: s.Provider, Partition: s.Partition, InstanceType: s.InstanceType}
		if m.selects(sel, gputide.OfferID{}, &k) {
			out = append(out, s)
		}
	}
	return out, m.fail
}

func (m *memory) Benchmarks(ctx context.Context, f gputide.BenchmarkFilter) ([]gputide.Benchmark, error) {
	same := func(want, got string) bool { return want == "" || want == got }
	var out []gputide.Benchmark
	for _, b := range m.bench {
		if same(f.Round, b.Round) && same(f.Model, b.Model) && same(f.Scenario, b.Scenario) && same(f.Units, b.Units) {
			out = append(out, b)
		}
	}
	return out, m.fail
}

func (m *memory) Rate(ctx context.Context, quote gputide.Currency, at time.Time) (gputide.Rate, bool, error) {
	var best gputide.Rate
	for _, r := range m.rates {
		if r.Quote == quote && !r.Date.After(at) && r.Date.After(best.Date) {
			best = r
		}
	}
	return best, best.Quote != "", m.fail
}

func (m *memory) Values(ctx context.Context, f gputide.Field) ([]string, error) {
	var out []string
	for i := range m.quotes {
		if v := m.attr(&m.quotes[i].Key, f); v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), m.fail
}

func (m *memory) Runs(ctx context.Context, provider string, limit int) ([]gputide.RunRecord, error) {
	var out []gputide.RunRecord
	for _, r := range m.runs {
		if r.Provider == provider {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b gputide.RunRecord) int { return cmp.Compare(b.ID, a.ID) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, m.fail
}

func newEngine(m *memory) *Engine {
	return &Engine{Reader: m, Catalogue: cards{}, Regions: table{}, Now: func() time.Time { return noon }}
}

// amount parses a price of a test.
func amount(t testing.TB, s string) gputide.Nano {
	t.Helper()
	n, err := gputide.ParseNano(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// world builds a memory.
type world struct {
	testing.TB
	*memory
}

func newWorld(t testing.TB) *world { return &world{TB: t, memory: &memory{}} }

// offer adds a priced offer seen an hour ago; edit changes it.
func (w *world) offer(k gputide.Key, price string, edit ...func(*gputide.Quote)) gputide.OfferID {
	w.Helper()
	if k.Currency == "" {
		k.Currency = "USD"
	}
	if k.Stat == "" {
		k.Stat = gputide.StatList
	}
	if k.Market == "" {
		k.Market = gputide.OnDemand
	}
	q := gputide.Quote{
		Key: k, State: gputide.StatePriced, Price: amount(w, price),
		Published: gputide.Published{Amount: price, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		Source:    "list", SKU: "SKU1",
		FirstSeen: noon.Add(-48 * time.Hour), Since: noon.Add(-24 * time.Hour), NotBefore: noon.Add(-48 * time.Hour),
		ObservedAt: noon.Add(-time.Hour),
	}
	for _, e := range edit {
		e(&q)
	}
	q.ID = q.Key.ID()
	w.quotes = append(w.quotes, q)
	return q.ID
}

// shape adds the spec of a type with n/d cards.
func (w *world) shape(provider, partition, typ, card string, n, d uint32) {
	s := gputide.Spec{
		Source: "types", Provider: provider, Partition: partition, InstanceType: typ,
		VCPU: new(float64(8 * n)), MemoryGiB: new(float64(64 * n)),
	}
	if card != "" {
		s.Device = gputide.Device{Name: card, Count: gputide.NewCount(n, d), Share: gputide.ShareWhole}
	}
	w.specs = append(w.specs, s)
}

func (w *world) signal(name string, k gputide.Key, v int64) {
	w.signals = append(w.signals, gputide.SignalValue{
		Key: k, Name: name, Value: v, Source: "stock", Since: noon.Add(-2 * time.Hour), ObservedAt: noon.Add(-time.Hour),
	})
}

func (w *world) rate(c gputide.Currency, amount, date string) {
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		w.Fatal(err)
	}
	w.rates = append(w.rates, gputide.Rate{Date: d, Base: "EUR", Quote: c, Amount: amount, Source: "daily"})
}

func in(s gputide.State) func(*gputide.Quote) {
	return func(q *gputide.Quote) { q.State = s }
}

func (w *world) offers(req OffersRequest) OffersAnswer {
	w.Helper()
	ans, err := newEngine(w.memory).Offers(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	return ans
}

// prices lists "type price" of the rows.
func prices(ans OffersAnswer) []string {
	out := []string{}
	for _, r := range ans.Rows {
		p := "-"
		if r.Price != nil {
			p = r.Price.String()
		}
		out = append(out, string(r.InstanceType)+" "+p)
	}
	return out
}
