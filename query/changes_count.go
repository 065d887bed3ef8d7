package query

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gputide/gputide"
)

// What changes can be counted by, beside the calendar buckets hour to year.
const (
	countBySeries   = "series"
	countByProvider = "provider"
)

// ChangeCounts lists what changes can be counted by.
func ChangeCounts() []string {
	return []string{BucketHour, BucketDay, BucketWeek, BucketMonth, BucketQuarter, BucketYear, countBySeries, countByProvider}
}

// ChangeCountRow counts changes. The key fields and the offer id are null
// unless changes are counted by series, but for the provider.
type ChangeCountRow struct {
	By      Text `json:"by"`
	Value   Text `json:"value"` // start of the bucket, offer id, or provider
	Count   int  `json:"count"`
	OfferID Text `json:"offer_id"`
	KeyRow
	First Stamp `json:"first"` // seen_at of the first change counted
	Last  Stamp `json:"last"`
}

// Counting reports whether a request asks for counts, the largest moves or
// outliers, and not for the feed of changes.
func (req *ChangesRequest) Counting() bool { return req.CountBy != "" || req.Top != 0 || req.Outliers }

// prepare checks what a request counts and completes it: counts and tops take
// price changes unless told.
func (req *ChangesRequest) prepare() error {
	if req.Top < 0 {
		return fmt.Errorf("%w: top %d", gputide.ErrInvalid, req.Top)
	}
	if req.CountBy != "" && !slices.Contains(ChangeCounts(), req.CountBy) {
		return unknown("count-by", req.CountBy, ChangeCounts())
	}
	if req.Counting() && !req.Outliers && len(req.Kinds) == 0 {
		req.Kinds = []string{string(gputide.ChangePrice)}
	}
	return nil
}

// changeCounter counts changes as they stream by.
type changeCounter struct {
	by    string
	count map[string]*ChangeCountRow
}

func newChangeCounter(by string) *changeCounter {
	return &changeCounter{by: by, count: map[string]*ChangeCountRow{}}
}

func (n *changeCounter) add(c *gputide.Change) {
	value := ""
	switch n.by {
	case countBySeries:
		value = seriesName(c)
	case countByProvider:
		value = c.Key.Provider
	default:
		value = stampText(bucketStart(n.by, c.SeenAt))
	}
	row := n.count[value]
	if row == nil {
		row = &ChangeCountRow{By: Text(n.by), Value: Text(value), First: Stamp{c.SeenAt}}
		switch n.by {
		case countBySeries:
			row.KeyRow = NewKeyRow(&c.Key)
			if c.ID != (gputide.OfferID{}) {
				row.OfferID = Text(c.ID.String())
			}
		case countByProvider:
			row.Provider = Text(c.Key.Provider)
		}
		n.count[value] = row
	}
	row.Count++
	if c.SeenAt.Before(row.First.Time) {
		row.First = Stamp{c.SeenAt}
	}
	if c.SeenAt.After(row.Last.Time) {
		row.Last = Stamp{c.SeenAt}
	}
}

// seriesName tells series apart; a change of a spec belongs to its type.
func seriesName(c *gputide.Change) string {
	if c.ID != (gputide.OfferID{}) {
		return c.ID.String()
	}
	return c.Key.Canonical()
}

// rows returns the counts: of a calendar in order of time, of all else the
// largest first. top keeps the largest; 0 keeps all.
func (n *changeCounter) rows(top int) []ChangeCountRow {
	out := make([]ChangeCountRow, 0, len(n.count))
	for _, row := range n.count {
		out = append(out, *row)
	}
	calendar := n.by != countBySeries && n.by != countByProvider
	slices.SortFunc(out, func(a, b ChangeCountRow) int {
		if calendar && top == 0 {
			return cmp.Compare(a.Value, b.Value)
		}
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	if top > 0 && len(out) > top {
		out = out[:top]
	}
	return out
}

// topChanges keeps the largest moves, a rise to the double and a fall to the
// half being alike.
type topChanges struct {
	most int
	list []gputide.Change
}

func (t *topChanges) add(c *gputide.Change) {
	if c.Before == nil || c.After == nil || *c.Before <= 0 || *c.After <= 0 {
		return
	}
	t.list = append(t.list, *c)
	if len(t.list) >= 2*t.most+64 {
		t.cut()
	}
}

func (t *topChanges) cut() {
	slices.SortStableFunc(t.list, func(a, b gputide.Change) int {
		return cmp.Or(compareMoves(&b, &a), cmp.Compare(a.Seq, b.Seq))
	})
	t.list = t.list[:min(len(t.list), t.most)]
}

// compareMoves compares the sizes of two moves.
func compareMoves(a, b *gputide.Change) int {
	highA, lowA := uint64(max(*a.Before, *a.After)), uint64(min(*a.Before, *a.After))
	highB, lowB := uint64(max(*b.Before, *b.After)), uint64(min(*b.Before, *b.After))
	xh, xl := bits.Mul64(highA, lowB)
	yh, yl := bits.Mul64(highB, lowA)
	return cmp.Or(cmp.Compare(xh, yh), cmp.Compare(xl, yl))
}

// countChanges answers a request that counts or ranks.
func (e *Engine) countChanges(ctx context.Context, req *ChangesRequest) (ChangesAnswer, error) {
	counter, top := newChangeCounter(req.CountBy), &topChanges{most: req.Top}
	ans := ChangesAnswer{Last: req.AfterSeq}
	err := e.eachChange(ctx, req, func(c *gputide.Change) bool {
		ans.Last = max(ans.Last, c.Seq)
		if req.CountBy != "" {
			counter.add(c)
		} else {
			top.add(c)
		}
		return true
	})
	if err != nil {
		return ChangesAnswer{}, err
	}
	if req.CountBy != "" {
		ans.Counts = counter.rows(req.Top)
	} else {
		top.cut()
		for i := range top.list {
			ans.Rows = append(ans.Rows, changeRow(&top.list[i]))
		}
	}
	if n := max(len(ans.Counts), len(ans.Rows)); req.Limit > 0 && n > req.Limit {
		ans.More = true
		ans.Counts = ans.Counts[:min(len(ans.Counts), req.Limit)]
		ans.Rows = ans.Rows[:min(len(ans.Rows), req.Limit)]
	}
	if len(ans.Counts)+len(ans.Rows) == 0 {
		ans.Empty, err = e.emptyChanges(ctx, *req)
	}
	return ans, err
}

// eachChange passes the changes that answer a request once each; fn returns
// false to end. Their order is that of Seq within one selection of the store.
func (e *Engine) eachChange(ctx context.Context, req *ChangesRequest, fn func(*gputide.Change) bool) error {
	filter, sels, keep, err := e.changeQuery(ctx, req)
	if err != nil {
		return err
	}
	seen := map[uint64]bool{} // what the first selections gave, where there are several
	for i, sel := range sels {
		filter.Selection = sel
		for c, err := range e.Reader.Changes(ctx, filter) {
			if err != nil {
				return fmt.Errorf("changes: %w", err)
			}
			if seen[c.Seq] || !keep(&c) {
				continue
			}
			if i < len(sels)-1 {
				seen[c.Seq] = true
			}
			if !fn(&c) {
				return nil
			}
		}
	}
	return nil
}
