package query

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// trend gathers series into groups and buckets.
type trend struct {
	engine  *Engine
	ask     *trendAsk
	buckets *buckets
	groups  map[string]*trendGroup
	reading reading // of the series being added
	series  int
	skipped map[Hidden]int
}

// trendGroup is one group over all buckets.
type trendGroup struct {
	values   []string // of the fields, then the currency
	currency gputide.Currency
	cells    map[int]*trendCell // by bucket; none where nothing is known
	links    map[[2]int]*link
	differ   map[string]map[string]bool // field → values, of fields that move prices
}

// trendCell is one group in one bucket.
type trendCell struct {
	prices                *samples[int64]
	firsts, lasts         []int64 // of each series
	rows                  int
	series, entered, left int
	changes               int
	covered               uint64
}

// link is how the matched series of two buckets moved.
type link struct {
	logs float64
	n    int
}

func (g *trendGroup) cell(i int) *trendCell {
	if g.cells[i] == nil {
		g.cells[i] = &trendCell{prices: newPrices()}
	}
	return g.cells[i]
}

func (t *trend) skip(reason string) { t.skipped[Hidden{Reason: reason}]++ }

// add takes in one series with its history.
func (t *trend) add(ctx context.Context, c *candidate, tr *track) error {
	why, err := t.read(ctx, c, tr)
	if err != nil {
		return err
	}
	if why != "" {
		t.skip(why)
		return nil
	}
	t.series++
	t.group(c).take(&t.reading, tr, t.ask.index)
	return nil
}

// group returns the group of a series.
func (t *trend) group(c *candidate) *trendGroup {
	currency := c.quote.Key.Currency
	if t.ask.days != nil {
		currency = t.ask.days.to
	}
	values := make([]string, 0, len(t.ask.fields)+1)
	for _, f := range t.ask.fields {
		values = append(values, f.of(c, t.engine.Regions))
	}
	values = append(values, string(currency))
	id := strings.Join(values, "\x00")
	g := t.groups[id]
	if g == nil {
		g = &trendGroup{
			values: values, currency: currency, cells: map[int]*trendCell{},
			links: map[[2]int]*link{}, differ: map[string]map[string]bool{},
		}
		t.groups[id] = g
	}
	for _, f := range movingFields() {
		if g.differ[string(f)] == nil {
			g.differ[string(f)] = map[string]bool{}
		}
		g.differ[string(f)][c.quote.Key.Get(f)] = true
	}
	return g
}

// movingFields are key fields that move the price of the same machine and are
// not kept apart.
func movingFields() []gputide.Field {
	return []gputide.Field{
		gputide.FieldOS, gputide.FieldLicense, gputide.FieldTenancy, gputide.FieldTax, gputide.FieldTerm, gputide.FieldPlan,
		gputide.FieldPayment, gputide.FieldVolume, gputide.FieldStat, gputide.FieldMarket,
	}
}

// take adds one series to the cells of its group, and its moves to the links of
// an index.
func (g *trendGroup) take(r *reading, tr *track, index bool) {
	before, meanBefore := -1, int64(0)
	for i := range r.out {
		s := &r.out[i]
		c := g.cell(s.bucket)
		c.add(r, s)
		if before < 0 {
			if s.bucket > 0 || !tr.carried {
				c.entered++
			}
		} else if before != s.bucket-1 {
			c.entered++
		}
		if index {
			m := meanOf(r.of(s))
			if before >= 0 {
				g.link(before, s.bucket, meanBefore, m)
			}
			meanBefore = m
		}
		if before >= 0 {
			g.leave(before+1, s.bucket)
		} else if tr.carried && s.bucket > 0 {
			g.leave(0, s.bucket)
		}
		before = s.bucket
	}
	g.leave(before+1, len(r.buckets.starts))
	for _, st := range tr.steps {
		g.cell(r.at(st.at)).changes++
	}
}

// add takes in what one series was in the bucket.
func (c *trendCell) add(r *reading, s *slice) {
	for _, p := range r.of(s) {
		c.prices.add(p.value, p.weight)
	}
	c.series++
	c.rows += s.rows
	c.covered += s.covered
	c.firsts, c.lasts = append(c.firsts, s.first), append(c.lasts, s.last)
}

// meanOf returns the mean of weighted prices; there must be one.
func meanOf(list []sample[int64]) int64 {
	var sum wide
	var weight uint64
	for _, p := range list {
		sum.add(p.value, p.weight)
		weight += p.weight
	}
	return sum.over(weight)
}

// leave counts a series as gone in the first bucket without it.
func (g *trendGroup) leave(at, next int) {
	if at < next {
		g.cell(at).left++
	}
}

func (g *trendGroup) link(from, to int, before, after int64) {
	if before <= 0 || after <= 0 {
		return
	}
	l := g.links[[2]int{from, to}]
	if l == nil {
		l = &link{}
		g.links[[2]int{from, to}] = l
	}
	l.logs += math.Log(float64(after) / float64(before))
	l.n++
}

// mixed lists the fields in which the series of one group differ.
func (t *trend) mixed() []string {
	var out []string
	for _, f := range movingFields() {
		for _, g := range t.groups {
			if len(g.differ[string(f)]) > 1 {
				out = append(out, string(f))
				break
			}
		}
	}
	return out
}

// rows returns the rows of every group, from its first bucket to the last in
// which something is known.
func (t *trend) rows() []TrendRow {
	groups := make([]*trendGroup, 0, len(t.groups))
	for _, g := range t.groups {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *trendGroup) int { return slices.Compare(a.values, b.values) })
	var out []TrendRow
	for _, g := range groups {
		out = append(out, t.groupRows(g)...)
	}
	return out
}

func (t *trend) groupRows(g *trendGroup) []TrendRow {
	known := slices.Sorted(maps.Keys(g.cells))
	group := make(Group, len(t.ask.fields))
	for i, f := range t.ask.fields {
		group[i] = GroupField{Field: f.name, Value: Text(g.values[i])}
	}
	var index map[int]*Fraction
	if t.ask.index {
		index = g.index(known)
	}
	var out []TrendRow
	for i := known[0]; i <= known[len(known)-1]; i++ {
		row := TrendRow{
			Group: group, BucketStart: Stamp{t.buckets.start(i)}, Currency: Text(g.currency), Unit: Text(t.ask.per.text), Over: t.ask.over,
			Index: index[i],
		}
		from, to := t.buckets.bounds(i)
		row.fill(g.cell(i), uint64(to-from), t.ask)
		out = append(out, row)
	}
	return out
}

// fill writes the statistics of a cell.
func (row *TrendRow) fill(c *trendCell, length uint64, ask *trendAsk) {
	row.N, row.Series, row.Changes, row.Entered, row.Left = c.series, c.series, c.changes, c.entered, c.left
	if ask.over == OverRows {
		row.N = c.rows
	}
	row.CoveredShare = share(c.covered, length*uint64(max(c.series, 1)))
	if c.series == 0 {
		return
	}
	least, greatest := c.prices.ends()
	row.Min, row.Max, row.Mean = moneyOf(least), moneyOf(greatest), moneyOf(mean(c.prices))
	row.P5, row.P50, row.P95 = moneyOf(percentile(c.prices, ask.over, 5)), moneyOf(percentile(c.prices, ask.over, 50)), moneyOf(percentile(c.prices, ask.over, 95))
	row.First, row.Last = moneyOf(middle(c.firsts, ask.over)), moneyOf(middle(c.lasts, ask.over))
	if *row.First > 0 {
		moved := big.NewRat(int64(*row.Last), int64(*row.First))
		row.ChangePct = NewPercent(moved.Sub(moved, big.NewRat(1, 1)))
	}
	if ask.budget != nil {
		row.ShareOfTimeLE = share(c.prices.within(func(v int64) bool { return v <= int64(*ask.budget) }), c.prices.weight)
	}
}

// middle returns the median of prices of equal weight, which it sorts; there
// must be one.
func middle(list []int64, over Over) int64 {
	slices.Sort(list)
	at := (len(list) - 1) / 2
	if over == OverTime || len(list)%2 == 1 {
		return list[at]
	}
	return interpolate(list[at], list[at+1], 50)
}

// index chains the geometric means of matched series' moves from 100 in the
// first bucket with a price; there is none from where no series matches.
func (g *trendGroup) index(known []int) map[int]*Fraction {
	out := map[int]*Fraction{}
	level, before := 100.0, -1
	for _, i := range known {
		if g.cells[i].series == 0 {
			continue
		}
		if before >= 0 {
			l := g.links[[2]int{before, i}]
			if l == nil {
				break
			}
			level *= math.Exp(l.logs / float64(l.n))
		}
		out[i], before = fractionOf(level), i
	}
	return out
}

// noneUsable says that nothing selected could be used.
func noneUsable(skipped []Hidden, noun string) *Empty {
	parts := make([]string, len(skipped))
	for i, s := range skipped {
		parts[i] = fmt.Sprintf("%d: %s", s.Count, s.Reason)
	}
	return &Empty{Text: "no selected " + noun + " can be used: " + strings.Join(parts, ", ")}
}
