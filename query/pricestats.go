package query

import (
	"context"

	"github.com/gputide/gputide"
)

// priceStats gathers the prices of one series in the currency of the answer.
type priceStats struct {
	over        Over
	samples     *samples[int64]
	n           int   // stretches or rows
	first, last int64 // of those that could be converted
	lost        bool  // some price could not be converted
	fall        drawdown
}

func newPriceStats(ctx context.Context, t *track, over Over, conv *converter) (*priceStats, error) {
	p := &priceStats{over: over, samples: newPrices()}
	var failed error
	t.each(over, func(at int64, price gputide.Nano, weight uint64) {
		p.n++
		p.fall.see(price) // moves are told as published
		for end := at + int64(weight); at < end && failed == nil; {
			next := conv.until(at, end)
			failed = p.put(ctx, conv, price, at, uint64(next-at))
			at = next
		}
	})
	return p, failed
}

func (p *priceStats) put(ctx context.Context, conv *converter, price gputide.Nano, at int64, weight uint64) error {
	v, ok, err := conv.at(ctx, price, at)
	if err != nil {
		return err
	}
	if !ok {
		p.lost = true
		return nil
	}
	if p.samples.weight == 0 {
		p.first = v
	}
	p.last = v
	p.samples.add(v, weight)
	return nil
}

// covered returns the seconds in which a price was in force and could be
// converted.
func (p *priceStats) covered(t *track) uint64 {
	if p.over == OverTime {
		return p.samples.weight
	}
	return t.covered()
}

// moneyOf is a statistic as a price.
func moneyOf(v int64) *Money { return new(Money(v)) }
