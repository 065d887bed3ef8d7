package query

import (
	"context"

	"github.com/gputide/gputide"
)

// slice is one series in one bucket.
type slice struct {
	bucket      int
	prices      []sample[int64] // in order of time
	rows        int
	first, last int64
	covered     uint64
}

// read cuts a series into buckets, in the unit and currency of the trend, or
// returns why it cannot be used.
func (t *trend) read(ctx context.Context, c *candidate, tr *track) ([]slice, string, error) {
	factor, why := t.ask.per.factor(c, t.engine.Catalogue)
	if why != "" {
		return nil, why, nil
	}
	r := reading{ctx: ctx, buckets: t.buckets, conv: &converter{factor: factor, from: c.quote.Key.Currency, days: t.ask.days}}
	if err := r.run(tr, t.ask.over); err != nil {
		return nil, "", err
	}
	switch {
	case len(r.out) == 0 && r.lost:
		return nil, skipNoFX, nil
	case len(r.out) == 0:
		return nil, skipNoData, nil
	case t.ask.basket && len(r.out) < len(t.buckets.starts):
		return nil, skipBasket, nil
	}
	return r.out, "", nil
}

// reading cuts a series into buckets.
type reading struct {
	ctx     context.Context
	buckets *buckets
	conv    *converter
	out     []slice
	lost    bool // some price could not be converted
}

func (r *reading) run(tr *track, over Over) error {
	if over == OverRows {
		for i := range tr.rows {
			at := tr.rows[i].At.Unix()
			if err := r.put(r.buckets.at(at), tr.rows[i].Price, at, 1); err != nil {
				return err
			}
		}
		r.cover(tr)
		return nil
	}
	for i := range tr.stretches {
		if err := r.stretch(&tr.stretches[i]); err != nil {
			return err
		}
	}
	for i := range r.out {
		for _, p := range r.out[i].prices {
			r.out[i].covered += p.weight
		}
	}
	return nil
}

func (r *reading) stretch(s *stretch) error {
	var failed error
	r.buckets.split(s.from, s.to, func(bucket int, from, to int64) {
		err := r.conv.pieces(from, to, func(from, to int64) error { return r.put(bucket, s.price, from, uint64(to-from)) })
		if failed == nil {
			failed = err
		}
	})
	return failed
}

func (r *reading) put(bucket int, price gputide.Nano, at int64, weight uint64) error {
	v, ok, err := r.conv.at(r.ctx, price, at)
	if err != nil {
		return err
	}
	if !ok {
		r.lost = true
		return nil
	}
	if n := len(r.out); n == 0 || r.out[n-1].bucket != bucket {
		r.out = append(r.out, slice{bucket: bucket, first: v})
	}
	s := &r.out[len(r.out)-1]
	s.rows++
	s.last = v
	if n := len(s.prices); n > 0 && s.prices[n-1].value == v {
		s.prices[n-1].weight += weight
		return nil
	}
	s.prices = append(s.prices, sample[int64]{v, weight})
	return nil
}

// cover adds, over rows, the time in which a price was in force; over time it is
// the weight of the prices.
func (r *reading) cover(tr *track) {
	next := 0
	for i := range tr.stretches {
		r.buckets.split(tr.stretches[i].from, tr.stretches[i].to, func(bucket int, from, to int64) {
			for next < len(r.out) && r.out[next].bucket < bucket {
				next++
			}
			if next < len(r.out) && r.out[next].bucket == bucket {
				r.out[next].covered += uint64(to - from)
			}
		})
	}
}
