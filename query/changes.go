package query

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// Changes returns what changed, in order of Seq. It returns
// [gputide.ErrInvalid] for a request it does not understand.
func (e *Engine) Changes(ctx context.Context, req ChangesRequest) (ChangesAnswer, error) {
	if err := req.prepare(); err != nil {
		return ChangesAnswer{}, err
	}
	if req.Outliers {
		return e.answerOutliers(ctx, req)
	}
	if req.Counting() {
		return e.countChanges(ctx, &req)
	}
	found, err := e.changes(ctx, &req)
	if err != nil {
		return ChangesAnswer{}, err
	}
	ans := ChangesAnswer{Last: req.AfterSeq}
	if len(found) == 0 {
		ans.Empty, err = e.emptyChanges(ctx, req)
		return ans, err
	}
	if req.Limit > 0 && len(found) > req.Limit {
		ans.More = true
		if req.Newest {
			found = found[len(found)-req.Limit:]
		} else {
			found = found[:req.Limit]
		}
	}
	ans.Rows = make([]ChangeRow, len(found))
	for i := range found {
		ans.Rows[i] = changeRow(&found[i])
	}
	ans.Last = found[len(found)-1].Seq
	return ans, nil
}

// changes reads the changes that answer a request, one more than its limit
// where that many are enough.
func (e *Engine) changes(ctx context.Context, req *ChangesRequest) ([]gputide.Change, error) {
	filter, sels, keep, err := e.changeQuery(ctx, req)
	if err != nil {
		return nil, err
	}
	var out []gputide.Change
	for _, sel := range sels {
		filter.Selection = sel
		got, err := e.readChanges(ctx, req, filter, keep)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	slices.SortFunc(out, func(a, b gputide.Change) int { return cmp.Compare(a.Seq, b.Seq) })
	return slices.CompactFunc(out, func(a, b gputide.Change) bool { return a.Seq == b.Seq }), nil
}

// changeQuery returns what to ask the store for, and the test for what it does
// not select by.
func (e *Engine) changeQuery(ctx context.Context, req *ChangesRequest) (gputide.ChangeFilter, []gputide.Selection, func(*gputide.Change) bool, error) {
	filter := gputide.ChangeFilter{From: req.From, To: req.To, AfterSeq: req.AfterSeq}
	fail := func(err error) (gputide.ChangeFilter, []gputide.Selection, func(*gputide.Change) bool, error) {
		return filter, nil, nil, err
	}
	if !req.From.IsZero() && !req.To.IsZero() && !req.From.Before(req.To) {
		return fail(fmt.Errorf("%w: from is not before to", gputide.ErrInvalid))
	}
	if req.Limit < 0 {
		return fail(fmt.Errorf("%w: limit %d", gputide.ErrInvalid, req.Limit))
	}
	kinds := filterField{name: "kind", enum: texts(gputide.ChangeKinds())}
	names, err := e.values(ctx, &kinds, req.Kinds)
	if err != nil {
		return fail(err)
	}
	for _, k := range names {
		filter.Kinds = append(filter.Kinds, gputide.ChangeKind(k))
	}
	r, err := e.plain(ctx, &req.Filter, askChanges)
	if err != nil {
		return fail(err)
	}
	sels, err := e.changeSelections(ctx, r)
	if err != nil {
		return fail(err)
	}
	keep, err := e.changeTest(ctx, r)
	return filter, sels, keep, err
}

func (e *Engine) readChanges(ctx context.Context, req *ChangesRequest, f gputide.ChangeFilter, keep func(*gputide.Change) bool) ([]gputide.Change, error) {
	var out []gputide.Change
	for c, err := range e.Reader.Changes(ctx, f) {
		if err != nil {
			return nil, fmt.Errorf("changes: %w", err)
		}
		if !keep(&c) {
			continue
		}
		out = append(out, c)
		if req.Limit > 0 && len(out) > req.Limit {
			if !req.Newest {
				break
			}
			if len(out) > 2*req.Limit {
				out = append(out[:0], out[len(out)-req.Limit-1:]...)
			}
		}
	}
	return out, nil
}

// plain understands a filter for a question about the stored past.
func (e *Engine) plain(ctx context.Context, f *Filter, q question) (*scene, error) {
	p, err := e.plan(ctx, f, q)
	return &scene{plan: p, at: e.moment(time.Time{})}, err
}

// changeSelections returns the series to read. With a place, those with one
// price everywhere are named one by one: their stock says where they are sold.
func (e *Engine) changeSelections(ctx context.Context, r *scene) ([]gputide.Selection, error) {
	sels, err := e.selections(ctx, r)
	if err != nil || len(sels) < 2 {
		return sels, err
	}
	quotes, err := e.Reader.Quotes(ctx, sels[1], r.at)
	if err != nil {
		return nil, fmt.Errorf("offers: %w", err)
	}
	var offers []*candidate
	for i := range quotes {
		if quotes[i].Key.Region == "" {
			offers = append(offers, &candidate{quote: &quotes[i], state: quotes[i].State})
		}
	}
	if err := e.attachStock(ctx, r, offers); err != nil {
		return nil, err
	}
	var ids []gputide.OfferID
	for _, c := range offers {
		if c.stock.level != nil || r.plan.place.everywhere() {
			ids = append(ids, c.quote.ID)
		}
	}
	if len(ids) == 0 {
		return sels[:1], nil
	}
	return []gputide.Selection{sels[0], {IDs: ids}}, nil
}

// changeTest returns the test for what the store does not select by.
func (e *Engine) changeTest(ctx context.Context, r *scene) (func(*gputide.Change) bool, error) {
	p := r.plan
	specs, err := e.specsFor(ctx, r, p.spec.active())
	if err != nil {
		return nil, err
	}
	return func(c *gputide.Change) bool {
		if !p.matches(&c.Key) || (specs != nil && !p.spec.matches(specs.of(&c.Key))) {
			return false
		}
		return p.flags == nil || slices.ContainsFunc(p.flags, func(f gputide.Flag) bool { return slices.Contains(c.Flags, f) })
	}, nil
}

func changeRow(c *gputide.Change) ChangeRow {
	row := ChangeRow{
		KeyRow: NewKeyRow(&c.Key), Seq: c.Seq, Kind: c.Kind,
		Before: (*Money)(c.Before), After: (*Money)(c.After),
		SeenAt: Stamp{c.SeenAt}, NotBefore: Stamp{c.NotBefore}, RecordedAt: Stamp{c.RecordedAt},
		Cause: c.Cause, Flags: orNone(c.Flags),
	}
	if c.ID != (gputide.OfferID{}) {
		row.OfferID = Text(c.ID.String())
	}
	if c.Before != nil && c.After != nil && *c.Before > 0 {
		step := new(big.Rat).Sub(c.After.Rat(), c.Before.Rat())
		row.Pct = NewPercent(step.Quo(step, c.Before.Rat()))
	}
	return row
}

func (e *Engine) emptyChanges(ctx context.Context, req ChangesRequest) (*Empty, error) {
	cs := filterConstraints(func(r *ChangesRequest) *Filter { return &r.Filter }, req)
	if len(req.Kinds) > 0 {
		cs = append(cs, constraint[ChangesRequest]{"kind=" + clip(joined(req.Kinds)), func(r *ChangesRequest) { r.Kinds = nil }})
	}
	if !req.From.IsZero() {
		cs = append(cs, constraint[ChangesRequest]{"from=" + stampText(req.From), func(r *ChangesRequest) { r.From = time.Time{} }})
	}
	if !req.To.IsZero() {
		cs = append(cs, constraint[ChangesRequest]{"to=" + stampText(req.To), func(r *ChangesRequest) { r.To = time.Time{} }})
	}
	if req.AfterSeq > 0 {
		cs = append(cs, constraint[ChangesRequest]{fmt.Sprintf("after-seq=%d", req.AfterSeq), func(r *ChangesRequest) { r.AfterSeq = 0 }})
	}
	return whyEmpty(req, cs, "changes", func(less ChangesRequest) (int, error) {
		less.Limit = 0
		got, err := e.changes(ctx, &less)
		return len(got), err
	})
}
