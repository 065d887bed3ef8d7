package query

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// The orders of the accelerators of a comparison.
const (
	CompareByGPU   = "gpu"
	CompareByPrice = "price" // the cheapest of each, the cheapest first
)

// CompareSorts lists the orders of the accelerators of a comparison.
func CompareSorts() []string { return []string{CompareByGPU, CompareByPrice} }

// Why a provider has no price of an accelerator in a comparison.
const (
	CompareNoOffer       = "no_offer"       // it sells none that the filter selects
	CompareHidden        = "hidden"         // only offers that the defaults leave out
	CompareNotComparable = "not_comparable" // only offers without the rate or the figure the unit needs
)

// CompareRequest asks what an hour of each accelerator costs at each provider.
type CompareRequest struct {
	Filter Filter    // Market empty is on_demand, Stat empty is list, Volume empty is the first step
	At     time.Time // zero is now
	Per    string    // one of Units, or as PerMLPerf; empty is gpu
	In     string    // the one currency of the answer; empty is USD
	FXNow  bool      // convert with today's rate, not that of At
	Sort   string    // one of CompareSorts; empty is gpu
	Limit  int       // accelerators at most; 0 is all
}

// CompareAnswer is a matrix: a row per accelerator and provider, in the order of
// the accelerators and within each in that of Providers. A provider is in it
// that has some price, an accelerator that some provider has a price of.
type CompareAnswer struct {
	At        time.Time        `json:"at"`
	In        gputide.Currency `json:"in"`
	Unit      string           `json:"unit"`
	Providers []string         `json:"providers"`
	Rows      []CompareRow     `json:"rows"`
	Total     int              `json:"total"`   // accelerators before Limit
	Hidden    []Hidden         `json:"hidden"`  // what the filter selected and the defaults left out
	Skipped   []Hidden         `json:"skipped"` // offers that cannot be compared; Ask is empty
	Empty     *Empty           `json:"empty"`
}

// CompareRow is the cheapest offer of one accelerator at one provider. Where
// there is none only GPU, Provider, Unit, Currency and Reason are set.
type CompareRow struct {
	GPU     Text   `json:"gpu"`   // slug, or the raw name after "? "
	Price   *Money `json:"price"` // of one hour of the unit
	Unit    Text   `json:"unit"`  // what one hour of the price buys
	Reason  Text   `json:"reason"`
	OfferID Text   `json:"offer_id"`
	KeyRow
	InstancePrice *Money         `json:"instance_price"` // of one hour of the whole instance
	Count         Text           `json:"count"`          // accelerators of the instance
	Offers        int            `json:"offers"`         // how many the cheapest was chosen among
	State         Text           `json:"state"`
	Since         Stamp          `json:"since"`
	ObservedAt    Stamp          `json:"observed_at"`
	AgeS          *int64         `json:"age_s"`
	Benchmark     *BenchmarkRow  `json:"benchmark"` // null unless the unit is one of a benchmark
	Flags         []gputide.Flag `json:"flags"`
}

// comparison is a request with its values understood.
type comparison struct {
	scene *scene
	unit  string
	per   per
	bench *benchmarks // nil unless the unit is one of a benchmark
	sort  string
	// what is left out unless a filter asks for it
	market, stat, volume bool
}

func (e *Engine) comparison(ctx context.Context, req *CompareRequest) (*comparison, error) {
	c := &comparison{
		sort: req.Sort, market: len(req.Filter.Market) == 0, stat: len(req.Filter.Stat) == 0, volume: len(req.Filter.Volume) == 0,
	}
	switch {
	case c.sort == "":
		c.sort = CompareByGPU
	case !slices.Contains(CompareSorts(), c.sort):
		return nil, unknown("sort", req.Sort, CompareSorts())
	}
	if err := e.compareUnit(ctx, c, cmp.Or(req.Per, PerGPU)); err != nil {
		return nil, err
	}
	var err error
	c.scene, err = e.stage(ctx, &OffersRequest{
		Filter: req.Filter, At: req.At, In: cmp.Or(req.In, string(usd)), FXNow: req.FXNow, Limit: req.Limit,
	})
	return c, err
}

// compareUnit understands what prices are normalised to.
func (e *Engine) compareUnit(ctx context.Context, c *comparison, text string) error {
	ask, bench, err := parseBench(text)
	if err != nil {
		return err
	}
	if bench {
		c.unit = strings.TrimSpace(text)
		c.bench, err = e.benchmarks(ctx, ask)
		return err
	}
	c.per, err = parsePer(text)
	c.unit = c.per.text
	return err
}

// unasked returns why an offer is no part of the comparison unless a filter asks
// for it, and that filter, or "".
func (c *comparison) unasked(k *gputide.Key) (reason, ask string) {
	switch {
	case c.market && k.Market != gputide.OnDemand:
		return string(k.Market), "market=" + string(k.Market)
	case c.stat && k.Stat != gputide.StatList:
		return string(k.Stat), "stat=" + cmp.Or(string(k.Stat), unsaid)
	case c.volume && k.Volume != "" && k.Volume != firstVolume:
		return "volume " + k.Volume, "volume=" + k.Volume
	}
	return "", ""
}

// Compare returns the cheapest offer of every accelerator at every provider. It
// returns [gputide.ErrInvalid] for a request it does not understand.
func (e *Engine) Compare(ctx context.Context, req CompareRequest) (CompareAnswer, error) {
	c, err := e.comparison(ctx, &req)
	if err != nil {
		return CompareAnswer{}, err
	}
	m, err := e.matrix(ctx, c)
	if err != nil {
		return CompareAnswer{}, err
	}
	ans := CompareAnswer{
		At: c.scene.at, In: c.scene.in.to, Unit: c.unit, Hidden: sortHidden(m.hidden), Skipped: sortHidden(m.skipped),
	}
	gpus := m.gpus(c.sort)
	if ans.Total = len(gpus); ans.Total == 0 {
		ans.Empty, err = e.emptyCompare(ctx, req, &ans)
		return ans, err
	}
	if req.Limit > 0 && len(gpus) > req.Limit {
		gpus = gpus[:req.Limit]
	}
	ans.Providers = m.providers(gpus)
	for _, gpu := range gpus {
		for _, p := range ans.Providers {
			ans.Rows = append(ans.Rows, c.row(cellKey{gpu, p}, m.cells[cellKey{gpu, p}]))
		}
	}
	return ans, nil
}

// cellKey names one cell of a comparison.
type cellKey struct{ gpu, provider string }

// compareCell is what is known of one cell.
type compareCell struct {
	best    *candidate // nil when no offer can be compared
	price   *big.Rat   // of one unit, exact
	bench   *benchMatch
	offers  int // that can be compared
	skipped bool
}

// matrix is the cells of a comparison.
type matrix struct {
	cells   map[cellKey]*compareCell
	hidden  map[Hidden]int
	skipped map[Hidden]int
}

func (m *matrix) cell(k cellKey) *compareCell {
	if m.cells[k] == nil {
		m.cells[k] = &compareCell{}
	}
	return m.cells[k]
}

// matrix reads the offers and keeps the cheapest of each cell.
func (e *Engine) matrix(ctx context.Context, c *comparison) (*matrix, error) {
	m := &matrix{cells: map[cellKey]*compareCell{}, hidden: map[Hidden]int{}, skipped: map[Hidden]int{}}
	c.scene.all = true // what is left out here is counted below, one offer once
	offers, _, err := e.gather(ctx, c.scene)
	if err != nil {
		return nil, err
	}
	live, err := e.liveProviders(ctx, c.scene, offers)
	if err != nil {
		return nil, err
	}
	for _, o := range offers {
		name := o.view.name()
		if name == "" {
			continue // no accelerator is no row of the matrix
		}
		cell := m.cell(cellKey{name, o.quote.Key.Provider})
		reason, ask := c.unasked(&o.quote.Key)
		if reason == "" {
			reason, ask = c.scene.plan.hides(o, live[o.quote.Key.Provider])
		}
		if reason != "" {
			m.hidden[Hidden{Reason: reason, Ask: ask}]++
			continue
		}
		price, bench, why := c.price(o, e.Catalogue)
		if why != "" {
			m.skipped[Hidden{Reason: why}]++
			cell.skipped = true
			continue
		}
		cell.see(o, price, bench)
	}
	return m, nil
}

// price returns the exact price of one unit, or why there is none.
func (c *comparison) price(o *candidate, cat Catalogue) (*big.Rat, *benchMatch, string) {
	if o.in == nil {
		return nil, nil, skipNoFX
	}
	if c.bench != nil {
		match, why := c.bench.of(o)
		if why != "" {
			return nil, nil, why
		}
		hour := o.hour()
		return hour.Quo(hour, match.result.value), match, ""
	}
	factor, why := c.per.factor(o, cat)
	if why != "" {
		return nil, nil, why
	}
	hour := o.hour()
	return hour.Mul(hour, factor), nil, ""
}

// hour returns the exact price of an instance-hour in the currency offers are
// compared in; there must be a rate.
func (c *candidate) hour() *big.Rat {
	r := c.quote.Price.Rat()
	return r.Mul(r, c.in.rate)
}

// see takes in one offer. Of equals the one of the smaller instance is kept, and
// then that of the lower id.
func (cell *compareCell) see(o *candidate, price *big.Rat, bench *benchMatch) {
	cell.offers++
	if cell.best != nil {
		n := price.Cmp(cell.price)
		if n == 0 {
			n = o.hour().Cmp(cell.best.hour())
		}
		if n == 0 {
			n = slices.Compare(o.quote.ID[:], cell.best.quote.ID[:])
		}
		if n >= 0 {
			return
		}
	}
	cell.best, cell.price, cell.bench = o, price, bench
}

// gpus returns the accelerators that some provider has a price of, in order.
func (m *matrix) gpus(by string) []string {
	least := map[string]*big.Rat{}
	for k, cell := range m.cells {
		if cell.best != nil && (least[k.gpu] == nil || cell.price.Cmp(least[k.gpu]) < 0) {
			least[k.gpu] = cell.price
		}
	}
	out := make([]string, 0, len(least))
	for gpu := range least {
		out = append(out, gpu)
	}
	slices.SortFunc(out, func(a, b string) int {
		if by == CompareByPrice {
			if n := least[a].Cmp(least[b]); n != 0 {
				return n
			}
		}
		return strings.Compare(a, b)
	})
	return out
}

// providers returns the providers with a price of one of the accelerators.
func (m *matrix) providers(gpus []string) []string {
	found := map[string]bool{}
	for k, cell := range m.cells {
		if cell.best != nil && slices.Contains(gpus, k.gpu) {
			found[k.provider] = true
		}
	}
	return sortedKeys(found)
}

// row returns the output form of a cell; nil is one without an offer.
func (c *comparison) row(k cellKey, cell *compareCell) CompareRow {
	row := CompareRow{GPU: Text(k.gpu), Unit: Text(c.unit), Flags: orNone(nil)}
	row.Provider, row.Currency = Text(k.provider), Text(c.scene.in.to)
	if cell == nil || cell.best == nil {
		row.Reason = CompareNoOffer
		switch {
		case cell != nil && cell.skipped:
			row.Reason = CompareNotComparable
		case cell != nil:
			row.Reason = CompareHidden
		}
		return row
	}
	o := cell.best
	q := o.quote
	row.KeyRow = NewKeyRow(&q.Key)
	row.Currency = Text(c.scene.in.to)
	row.OfferID, row.Offers = Text(q.ID.String()), cell.offers
	if price, err := gputide.RoundNano(cell.price); err == nil {
		row.Price = new(Money(price))
	}
	row.InstancePrice = o.in.apply(q.Price)
	row.Count = Text(o.view.count.String())
	row.State, row.Since, row.ObservedAt = Text(o.state), Stamp{q.Since}, Stamp{q.ObservedAt}
	row.AgeS = new(age(c.scene.at, q.ObservedAt))
	if cell.bench != nil {
		row.Benchmark = cell.bench.row(o.hour())
	}
	row.Flags = orNone(o.flags)
	return row
}

func (e *Engine) emptyCompare(ctx context.Context, req CompareRequest, ans *CompareAnswer) (*Empty, error) {
	if len(ans.Skipped) > 0 {
		return noneUsable(ans.Skipped, "offer"), nil
	}
	if len(ans.Hidden) > 0 {
		return allHidden(ans.Hidden), nil
	}
	cs := filterConstraints(func(r *CompareRequest) *Filter { return &r.Filter }, req)
	cs = append(cs, momentConstraint(req, func(r *CompareRequest) *time.Time { return &r.At })...)
	return whyEmpty(req, cs, "offers with an accelerator", func(less CompareRequest) (int, error) {
		c, err := e.comparison(ctx, &less)
		if err != nil {
			return 0, err
		}
		m, err := e.matrix(ctx, c)
		if err != nil {
			return 0, fmt.Errorf("without a filter: %w", err)
		}
		n := 0
		for _, cell := range m.cells {
			n += cell.offers
		}
		for _, hidden := range m.hidden {
			n += hidden
		}
		return n, nil
	})
}
