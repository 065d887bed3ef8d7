package query

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// partners are the on-demand offers that others are compared with: those in
// force at the end of the window and, where there is none, those that were.
type partners struct{ live, gone references }

func (p *partners) of(k *gputide.Key) (*gputide.Quote, string) {
	ref, why := p.live.of(k)
	if why == NoReference {
		return p.gone.of(k)
	}
	return ref, why
}

// partners reads the on-demand offers the selected ones may be compared with.
func (e *Engine) partners(ctx context.Context, p *past) (*partners, error) {
	out := &partners{live: references{}, gone: references{}}
	quotes, err := e.onDemand(ctx, p.scene, p.offers)
	if err != nil {
		return nil, err
	}
	out.live.add(quotes)
	for i := range quotes {
		if quotes[i].State == gputide.StateWithdrawn {
			out.gone.take(&quotes[i])
		}
	}
	return out, nil
}

// paired is an offer with its reference and its window.
type paired struct {
	c        *candidate
	from, to time.Time
	ref      *gputide.Quote // nil without one
	why      string         // there is none
	leads    bool           // the history of ref is read before this offer's
}

// pairs lists the offers that have a window, those of one reference together so
// that its history is read once.
func (p *past) pairs(refs *partners) []paired {
	list := make([]paired, 0, len(p.offers))
	for _, c := range p.offers {
		from, to := p.window(c)
		if c.quote.Key.Market == gputide.OnDemand || !from.Before(to) {
			continue
		}
		o := paired{c: c, from: from, to: to}
		o.ref, o.why = refs.of(&c.quote.Key)
		list = append(list, o)
	}
	slices.SortStableFunc(list, func(a, b paired) int {
		if n := a.to.Compare(b.to); n != 0 || a.ref == b.ref {
			return n
		}
		return slices.Compare(a.refID(), b.refID())
	})
	for i := range list {
		o := &list[i]
		o.leads = o.ref != nil && (i == 0 || list[i-1].ref != o.ref || !list[i-1].to.Equal(o.to))
	}
	return list
}

func (o *paired) refID() []byte {
	if o.ref == nil {
		return nil
	}
	return o.ref.ID[:]
}

// pairAsks asks for the history of each offer, and before it for that of its
// reference where the offer leads: over the windows of all it stands for.
func pairAsks(list []paired) []trackAsk {
	asks := make([]trackAsk, 0, 2*len(list))
	lead := 0
	for i := range list {
		o := &list[i]
		if o.leads {
			lead = len(asks)
			asks = append(asks, trackAsk{id: o.ref.ID, key: &o.ref.Key, from: o.from, to: o.to})
		}
		if o.ref != nil {
			asks[lead].from = earlier(asks[lead].from, o.from)
		}
		asks = append(asks, trackAsk{id: o.c.quote.ID, key: &o.c.quote.Key, from: o.from, to: o.to})
	}
	return asks
}

// pull returns the next history.
func pull(next func() (*track, error, bool)) (*track, error) {
	t, err, _ := next()
	return t, err
}

// discountLines returns the history of rows for a chart.
func (e *Engine) discountLines(ctx context.Context, stock *stockPast, ask *discountAsk, rows []discounted) ([][]DiscountPoint, error) {
	var out [][]DiscountPoint
	for i := range rows {
		row := &rows[i].row
		asks := []trackAsk{{id: rows[i].id, key: &rows[i].key, from: row.From.Time, to: row.To.Time}}
		if ref := rows[i].ref; ref != nil {
			asks = append(asks, trackAsk{id: ref.ID, key: &ref.Key, from: row.From.Time, to: row.To.Time})
		}
		both := []*track{{}, {}}
		n := 0
		for t, err := range e.tracks(ctx, stock, asks, OverTime) {
			if err != nil {
				return nil, err
			}
			both[n] = t.clone()
			n++
		}
		line, err := discountLine(ctx, both[0], both[1], ask.converter(&rows[i].key))
		if err != nil {
			return nil, err
		}
		out = append(out, line)
	}
	return out, nil
}

// discountLine sets the prices of two series against each other, or tells the
// prices of the one that has no other. Its last point closes the last stretch. A
// price that cannot be converted has no point.
func discountLine(ctx context.Context, t, other *track, conv *converter) ([]DiscountPoint, error) {
	var out []DiscountPoint
	var failed error
	put := func(at int64, price gputide.Nano, pct *Percent) {
		v, ok, err := conv.at(ctx, price, at)
		if failed == nil {
			failed = err
		}
		if ok {
			out = append(out, DiscountPoint{At: Stamp{timeOf(at)}, Price: Money(v), Pct: pct})
		}
	}
	last := int64(0)
	if len(other.stretches) == 0 {
		for _, s := range t.stretches {
			put(s.from, s.price, nil)
			last = s.to
		}
	}
	eachPair(t, other, func(from, to int64, r ratio) {
		put(from, gputide.Nano(r.num), NewPercent(r.discount()))
		last = to
	})
	if n := len(out); n > 0 {
		out = append(out, DiscountPoint{At: Stamp{timeOf(last)}, Price: out[n-1].Price, Pct: out[n-1].Pct})
	}
	return out, failed
}

// zones are the cheapest zones of one offer.
type zones struct{ now, over *DiscountRow }

// see takes in the row of one zone.
func (z *zones) see(row *DiscountRow) {
	if inForce(row.State) && (z.now == nil || cheaper(row, z.now, row.Price, z.now.Price)) {
		z.now = row
	}
	if row.PriceMean != nil && (z.over == nil || cheaper(row, z.over, row.PriceMean, z.over.PriceMean)) {
		z.over = row
	}
}

// bestZones names, on every row, the cheapest zone of the same offer among the
// rows: now, and by mean price over the window.
func bestZones(rows []discounted) {
	best := map[gputide.Key]*zones{}
	zoneless := func(k gputide.Key) gputide.Key { k.Zone = ""; return k }
	for i := range rows {
		if rows[i].row.Zone == "" {
			continue
		}
		k := zoneless(rows[i].key)
		if best[k] == nil {
			best[k] = &zones{}
		}
		best[k].see(&rows[i].row)
	}
	for i := range rows {
		z := best[zoneless(rows[i].key)]
		if rows[i].row.Zone == "" || z == nil {
			continue
		}
		if z.now != nil {
			rows[i].row.BestZoneNow = z.now.Zone
		}
		if z.over != nil {
			rows[i].row.BestZone = z.over.Zone
		}
	}
}

// cheaper reports whether the zone of a row has the lower price, the name
// deciding between equals.
func cheaper(a, b *DiscountRow, priceA, priceB *Money) bool {
	return cmp.Or(cmp.Compare(*priceA, *priceB), cmp.Compare(a.Zone, b.Zone)) < 0
}

// DiscountSortFields lists the fields discounts can be sorted by.
func DiscountSortFields() []string {
	return []string{
		"now_pct", "min_pct", "p50_pct", "max_pct", "price", "price_p50", "price_mean", "changes", "volatility",
		"provider", "region", "zone", "instance_type",
	}
}

func parseDiscountSort(fields []string) ([]order, error) {
	var out []order
	for _, f := range fields {
		name, reverse := strings.CutPrefix(strings.TrimSpace(f), "-")
		name = strings.ReplaceAll(name, "-", "_")
		if !slices.Contains(DiscountSortFields(), name) {
			return nil, unknown("sort field", name, DiscountSortFields())
		}
		out = append(out, order{field: name, reverse: reverse})
	}
	return append(out, order{field: "now_pct", reverse: true}, order{field: "price"}), nil
}

func sortDiscounts(rows []discounted, by []order) {
	slices.SortFunc(rows, func(a, b discounted) int {
		for _, o := range by {
			if n := o.compare(a.row.rank(o.field), b.row.rank(o.field)); n != 0 {
				return n
			}
		}
		return cmp.Or(compareKeys(&a.key, &b.key), slices.Compare(a.id[:], b.id[:]))
	})
}

// rank returns the value of a row under a field of [DiscountSortFields].
func (row *DiscountRow) rank(field string) rank {
	switch field {
	case "now_pct":
		return rankOf(row.NowPct)
	case "min_pct":
		return rankOf(row.MinPct)
	case "p50_pct":
		return rankOf(row.P50Pct)
	case "max_pct":
		return rankOf(row.MaxPct)
	case "price":
		return row.rankPrice(row.Price)
	case "price_p50":
		return row.rankPrice(row.PriceP50)
	case "price_mean":
		return row.rankPrice(row.PriceMean)
	case "volatility":
		return rankOf(row.Volatility)
	case "changes":
		return rank{known: true, money: int64(row.Changes)}
	}
	return row.rankKey(field)
}

func (row *DiscountRow) rankKey(field string) rank {
	switch field {
	case "provider":
		return rankText(string(row.Provider))
	case "region":
		return rankText(string(row.Region))
	case "zone":
		return rankText(string(row.Zone))
	}
	return rankText(string(row.InstanceType))
}

// rankPrice ranks a price among those of its currency.
func (row *DiscountRow) rankPrice(m *Money) rank {
	r := rankOf(m)
	r.text = string(row.Currency)
	return r
}

func rankOf[T ~int64](v *T) rank {
	if v == nil {
		return rank{}
	}
	return rank{known: true, money: int64(*v)}
}

func (e *Engine) emptyDiscount(ctx context.Context, req DiscountRequest, hidden []Hidden) (*Empty, error) {
	if len(hidden) > 0 {
		return allHidden(hidden), nil
	}
	cs := filterConstraints(func(r *DiscountRequest) *Filter { return &r.Filter }, req)
	cs = append(cs, windowConstraints(req, func(r *DiscountRequest) (from, to *time.Time) { return &r.From, &r.To })...)
	return whyEmpty(req, cs, "offers beside on-demand", func(less DiscountRequest) (int, error) {
		ask, err := e.discountAsk(&less)
		if err != nil {
			return 0, err
		}
		_, rows, err := e.discounts(ctx, &less, ask)
		return len(rows), err
	})
}
