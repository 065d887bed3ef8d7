package query

import (
	"context"

	"github.com/gputide/gputide"
)

// slice is one series in one bucket.
type slice struct {
	bucket      int
	start, end  int // its prices among those of the reading, in order of time
	rows        int
	first, last int64
	covered     uint64
}

// read cuts a series into buckets, in the unit and currency of the trend, or
// returns why it cannot be used. What was read is in t.reading.
func (t *trend) read(ctx context.Context, c *candidate, tr *track) (why string, err error) {
	factor, why := t.ask.per.factor(c, t.engine.Catalogue)
	if why != "" {
		return why, nil
	}
	r := &t.reading
	r.begin(&converter{factor: factor, from: c.quote.Key.Currency, days: t.ask.days})
	if err := r.run(ctx, tr, t.ask.over); err != nil {
		return "", err
	}
	switch {
	case len(r.out) == 0 && r.lost:
		return skipNoFX, nil
	case len(r.out) == 0:
		return skipNoData, nil
	case t.ask.basket && len(r.out) < len(t.buckets.starts):
		return skipBasket, nil
	}
	return "", nil
}

// reading cuts one series after another into buckets. Its memory is used again.
type reading struct {
	buckets *buckets
	conv    *converter
	out     []slice
	prices  []sample[int64] // of all slices
	bucket  int             // of what was read last
	lost    bool            // some price could not be converted
}

// begin starts a series.
func (r *reading) begin(conv *converter) {
	r.conv, r.out, r.prices, r.bucket, r.lost = conv, r.out[:0], r.prices[:0], 0, false
}

func (r *reading) run(ctx context.Context, tr *track, over Over) error {
	if over == OverRows {
		for i := range tr.rows {
			at := tr.rows[i].At.Unix()
			if err := r.put(ctx, r.at(at), tr.rows[i].Price, at, 1); err != nil {
				return err
			}
		}
		r.cover(tr)
		return nil
	}
	for i := range tr.stretches {
		if err := r.stretch(ctx, &tr.stretches[i]); err != nil {
			return err
		}
	}
	for i := range r.out {
		for _, p := range r.of(&r.out[i]) {
			r.out[i].covered += p.weight
		}
	}
	return nil
}

// at returns the bucket of a moment, which is mostly that of the moment before.
func (r *reading) at(t int64) int {
	if starts := r.buckets.starts; t < starts[r.bucket] || (r.bucket+1 < len(starts) && t >= starts[r.bucket+1]) {
		r.bucket = r.buckets.at(t)
	}
	return r.bucket
}

// stretch cuts a stretch at the bounds of buckets and, where rates are of days,
// at those of days.
func (r *reading) stretch(ctx context.Context, s *stretch) error {
	for from, i := s.from, r.at(s.from); from < s.to; i++ {
		_, end := r.buckets.bounds(i)
		for end = min(end, s.to); from < end; {
			next := r.conv.until(from, end)
			if err := r.put(ctx, i, s.price, from, uint64(next-from)); err != nil {
				return err
			}
			from = next
		}
		r.bucket = i
	}
	return nil
}

func (r *reading) put(ctx context.Context, bucket int, price gputide.Nano, at int64, weight uint64) error {
	v, ok, err := r.conv.at(ctx, price, at)
	if err != nil {
		return err
	}
	if !ok {
		r.lost = true
		return nil
	}
	end := len(r.prices)
	if n := len(r.out); n == 0 || r.out[n-1].bucket != bucket {
		r.out = append(r.out, slice{bucket: bucket, first: v, start: end, end: end})
	}
	s := &r.out[len(r.out)-1]
	s.rows++
	s.last = v
	if s.start < end && r.prices[end-1].value == v {
		r.prices[end-1].weight += weight
		return nil
	}
	r.prices = append(r.prices, sample[int64]{v, weight})
	s.end = end + 1
	return nil
}

// of returns the prices of a slice.
func (r *reading) of(s *slice) []sample[int64] { return r.prices[s.start:s.end] }

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
