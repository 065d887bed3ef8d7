package main

import (
	"context"
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

func (p *gputidePeer) name() string { return "gputide" }
func (p *gputidePeer) close() error { return p.db.Close() }

func (p *gputidePeer) commit(ctx context.Context, run *gputide.Run) error {
	_, err := p.db.CommitRun(ctx, run)
	return err
}

func (p *gputidePeer) latest(ctx context.Context, gpu string) (answer, error) {
	var a answer
	sel := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldGPU, Values: []string{gpu}}}}
	if err := p.db.Latest(ctx, sel, &p.last); err != nil {
		return a, err
	}
	for i, listed := range p.last.Listed {
		if listed {
			a.add(p.last.Prices[i])
		}
	}
	return a, nil
}

func (p *gputidePeer) observations(ctx context.Context, k *gputide.Key, from, to time.Time) ([]gputide.Observation, error) {
	return p.db.Observations(ctx, k.ID(), from, to)
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

func (p *gputidePeer) size(ctx context.Context) (used, file int64, err error) {
	st, err := p.db.Stats(ctx)
	return st.UsedBytes, st.FileBytes, err
}
