package query

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// Explain returns where the price of one offer comes from, as known at a
// moment; zero is now. It returns [gputide.ErrNotFound] for an id that is not
// stored.
func (e *Engine) Explain(ctx context.Context, id gputide.OfferID, at time.Time) (Explanation, error) {
	r := &scene{plan: &plan{}, at: e.moment(at)}
	r.usd = newExchange(e.Reader, usd, r.at)
	r.in = r.usd
	q, err := e.quote(ctx, id, r.at)
	if err != nil {
		return Explanation{}, err
	}
	v := readSpec(e.Catalogue, q.Key.Provider, q.Spec)
	c := &candidate{quote: q, view: v, state: q.State, flags: liveFlags(q, v)}
	if c.state == gputide.StateUnknown {
		return e.unpriced(r, c), nil
	}
	one := []*candidate{c}
	if err := e.attachStock(ctx, r, one); err != nil {
		return Explanation{}, err
	}
	r.keeps(c)
	if err := r.price(ctx, one); err != nil {
		return Explanation{}, err
	}
	if err := e.flagSpot(ctx, r, one); err != nil {
		return Explanation{}, err
	}
	x, err := e.explain(r, c)
	if err != nil {
		return Explanation{}, err
	}
	return x, e.addEvidence(ctx, &x, q)
}

// quote reads one offer. The store has none of a moment before the offer was
// first seen: it is then the offer of now in the state unknown.
func (e *Engine) quote(ctx context.Context, id gputide.OfferID, at time.Time) (*gputide.Quote, error) {
	sel := gputide.Selection{IDs: []gputide.OfferID{id}}
	for _, moment := range []time.Time{at, e.moment(time.Time{})} {
		quotes, err := e.Reader.Quotes(ctx, sel, moment)
		if err != nil {
			return nil, fmt.Errorf("offer: %w", err)
		}
		if len(quotes) == 0 {
			continue
		}
		q := quotes[0]
		if at.Before(q.FirstSeen) {
			q.State = gputide.StateUnknown
		}
		return &q, nil
	}
	return nil, &gputide.HintError{
		Err:  fmt.Errorf("%w: offer %s", gputide.ErrNotFound, id),
		Hint: "`gputide query offers` shows offer ids in json, ndjson and csv output",
	}
}

// unpriced explains an offer at a moment before it was first seen.
func (e *Engine) unpriced(r *scene, c *candidate) Explanation {
	return Explanation{
		OfferID: Text(c.quote.ID.String()), At: Stamp{r.at}, Key: NewKeyRow(&c.quote.Key), State: c.state,
		FirstSeen: Stamp{c.quote.FirstSeen}, Arithmetic: []string{}, Flags: orNone(nil),
	}
}

func (e *Engine) explain(r *scene, c *candidate) (Explanation, error) {
	q := c.quote
	x := Explanation{
		OfferID: Text(q.ID.String()), At: Stamp{r.at}, Key: NewKeyRow(&q.Key), State: c.state,
		Price: new(Money(q.Price)), PriceUSD: c.in.apply(q.Price), FX: fxRow(c.in),
		FirstSeen: Stamp{q.FirstSeen}, Since: Stamp{q.Since}, NotBefore: Stamp{q.NotBefore},
		ObservedAt: Stamp{q.ObservedAt}, AgeS: age(r.at, q.ObservedAt),
		Published: publishedRow(q), Upfront: Text(q.Published.Upfront),
		Components: componentRows(q.Published.Components), Multiplier: Text(q.Published.Multiplier.String()),
		Arithmetic:  []string{},
		Accelerator: c.view.row, Catalogue: e.catalogueRow(c.view),
		Flags: orNone(c.flags), SKU: Text(q.SKU), Source: Text(q.Source),
	}
	if e.Arithmetic == nil {
		return x, nil
	}
	steps, err := e.Arithmetic(q)
	if err != nil {
		return Explanation{}, fmt.Errorf("arithmetic: %w", err)
	}
	x.Arithmetic = append(x.Arithmetic, steps...)
	return x, nil
}

func fxRow(c *cross) *FXRow {
	if c == nil || c.from == c.to {
		return nil
	}
	row := &FXRow{From: Text(c.from), To: Text(c.to), Rate: c.text(), Legs: make([]FXLeg, len(c.legs))}
	for i, l := range c.legs {
		row.Legs[i] = FXLeg{Currency: Text(l.Quote), Rate: Text(l.Amount), Date: Day{l.Date}, Source: Text(l.Source)}
	}
	return row
}

func (e *Engine) catalogueRow(v *specView) *CatalogueRow {
	entry, ok := e.Catalogue.Entry(v.device.Slug)
	if !ok {
		return nil
	}
	return &CatalogueRow{
		Version: Text(e.Catalogue.Version()), Slug: Text(entry.Slug), Title: Text(entry.Title),
		Source: Text(entry.Source), SourceDate: Text(entry.SourceDate), Evidence: Text(entry.Evidence),
	}
}

// recentRuns is how many runs are looked through before all are.
const recentRuns = 100

// addEvidence names the runs that saw the price first and last.
func (e *Engine) addEvidence(ctx context.Context, x *Explanation, q *gputide.Quote) error {
	for _, limit := range []int{recentRuns, 0} {
		runs, err := e.Reader.Runs(ctx, q.Key.Provider, limit)
		if err != nil {
			return fmt.Errorf("runs of %s: %w", q.Key.Provider, err)
		}
		x.Confirmed = evidence(runs, q, q.ObservedAt)
		x.Priced = evidence(runs, q, q.Since)
		if x.Priced != nil || (limit > 0 && len(runs) < limit) {
			return nil
		}
	}
	return nil
}

// evidence finds the run of a moment that read the scope of an offer; nil when
// none is stored.
func evidence(runs []gputide.RunRecord, q *gputide.Quote, at time.Time) *EvidenceRow {
	for i := range runs {
		run := &runs[i]
		if !run.At.Equal(at) {
			continue
		}
		if s := scopeOf(run, q); s != nil {
			return evidenceRow(run, s)
		}
	}
	return nil
}

// scopeOf returns the narrowest scope of a run that covers an offer. The part
// an offer was read from is not known here, so every part counts.
func scopeOf(run *gputide.RunRecord, q *gputide.Quote) *gputide.ScopeRun {
	var best *gputide.ScopeRun
	for i := range run.Scopes {
		s := &run.Scopes[i]
		if !s.Scope.Covers(&q.Key, s.Scope.Part) {
			continue
		}
		if best == nil || s.Scope.Width() < best.Scope.Width() {
			best = s
		}
	}
	return best
}

func evidenceRow(run *gputide.RunRecord, s *gputide.ScopeRun) *EvidenceRow {
	row := &EvidenceRow{
		RunID: run.ID, At: Stamp{run.At}, Cause: run.Cause, Scope: Text(s.Scope.String()), Status: s.Status,
		Source: Text(s.Source), URLs: slices.Clone(s.URLs), Bodies: []BodyRow{},
	}
	if row.URLs == nil {
		row.URLs = []string{}
	}
	for _, b := range run.Bodies {
		if b.Source != s.Source || (len(s.URLs) > 0 && !slices.Contains(s.URLs, b.URL)) {
			continue
		}
		row.Bodies = append(row.Bodies, BodyRow{
			URL: Text(b.URL), Status: b.Status, Hash: Text(b.Hash), Size: b.Size, FetchedAt: Stamp{b.FetchedAt},
		})
	}
	return row
}
