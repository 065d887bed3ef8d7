package main

import (
	"context"
	"slices"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

// gputidePeer is the store as shipped.
type gputidePeer struct {
	path string
	db   *store.DB
	last store.Latest // reused
}

func newGputide(path string) (*gputidePeer, error) {
	p := &gputidePeer{path: path}
	return p, p.open()
}

func (p *gputidePeer) open() (err error) {
	p.db, err = store.Open(p.path, store.Options{Deriver: derive{}, ToolVersion: "bench"})
	return err
}

func (p *gputidePeer) title() string { return "gputide" }
func (p *gputidePeer) close() error  { return p.db.Close() }

func (p *gputidePeer) commit(ctx context.Context, run *gputide.Run) error {
	_, err := p.db.CommitRun(ctx, run)
	return err
}

func (p *gputidePeer) settle(ctx context.Context) error { return nil }

func selection(provider, gpu string) gputide.Selection {
	var sel gputide.Selection
	if provider != "" {
		sel.Matches = append(sel.Matches, gputide.Match{Field: gputide.FieldProvider, Values: []string{provider}})
	}
	if gpu != "" {
		sel.Matches = append(sel.Matches, gputide.Match{Field: gputide.FieldGPU, Values: []string{gpu}})
	}
	return sel
}

func (p *gputidePeer) latest(ctx context.Context, gpu string) (answer, error) {
	var a answer
	if err := p.db.Latest(ctx, selection("", gpu), &p.last); err != nil {
		return a, err
	}
	for i, listed := range p.last.Listed {
		if listed {
			a.add(p.last.Prices[i])
		}
	}
	return a, nil
}

func (p *gputidePeer) oneSeries(ctx context.Context, k *gputide.Key, from, to time.Time) (a answer, err error) {
	obs, err := p.db.Observations(ctx, k.ID(), from, to)
	for _, o := range obs {
		a.add(o.Price)
	}
	return a, err
}

// offers returns the ids of a selection, and of each spot offer the position of
// its on-demand twin; -1 without one.
func (p *gputidePeer) offers(ctx context.Context, sel gputide.Selection, at time.Time) (ids []gputide.OfferID, twins []int, err error) {
	quotes, err := p.db.Quotes(ctx, sel, at)
	if err != nil {
		return nil, nil, err
	}
	place := make(map[gputide.OfferID]int, len(quotes))
	for i := range quotes {
		ids = append(ids, quotes[i].ID)
		place[quotes[i].ID] = i
	}
	for i := range quotes {
		twin := -1
		if k := &quotes[i].Key; k.Market == gputide.Spot {
			list := onDemand(k)
			if at, ok := place[list.ID()]; ok {
				twin = at
			}
		}
		twins = append(twins, twin)
	}
	return ids, twins, nil
}

func (p *gputidePeer) dailyMedian(ctx context.Context, provider, gpu string, from time.Time, n int) (answer, error) {
	to := from.Add(time.Duration(n) * 24 * time.Hour)
	d := newDays(from, n)
	ids, _, err := p.offers(ctx, selection(provider, gpu), to)
	if err != nil {
		return answer{}, err
	}
	for obs, err := range p.db.ObservationsOf(ctx, ids, from, to) {
		if err != nil {
			return answer{}, err
		}
		for _, o := range obs {
			d.add(o.At, o.Price)
		}
	}
	return d.answer(), nil
}

func (p *gputidePeer) discounts(ctx context.Context, provider string) (a answer, err error) {
	ids, twins, err := p.offers(ctx, selection(provider, ""), always[1])
	if err != nil {
		return a, err
	}
	var asked []gputide.OfferID // list, spot, list, spot, …
	for i, twin := range twins {
		if twin >= 0 {
			asked = append(asked, ids[twin], ids[i])
		}
	}
	var list []gputide.Observation
	i := 0
	for obs, err := range p.db.ObservationsOf(ctx, asked, always[0], always[1]) {
		if err != nil {
			return a, err
		}
		if i%2 == 0 {
			list = slices.Clone(obs)
		} else {
			a.addPercentiles(pairs(list, obs))
		}
		i++
	}
	return a, nil
}

func (p *gputidePeer) export(ctx context.Context) (answer, error) {
	var a answer
	for series, err := range p.db.Export(ctx) {
		if err != nil {
			return a, err
		}
		for _, price := range series.Prices {
			a.add(price)
		}
	}
	return a, nil
}

func (p *gputidePeer) reopen(context.Context) error {
	if err := p.db.Close(); err != nil {
		return err
	}
	return p.open()
}

func (p *gputidePeer) size(ctx context.Context) (int64, error) {
	st, err := p.db.Stats(ctx)
	return st.UsedBytes, err
}
