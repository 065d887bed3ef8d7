package query

import (
	"cmp"

	"github.com/gputide/gputide"
)

// priceStats gathers the prices of one series.
type priceStats struct {
	over        Over
	samples     *samples[int64]
	n           int
	first, last gputide.Nano
	fall        drawdown
}

func newPriceStats(t *track, over Over) *priceStats {
	p := &priceStats{over: over, samples: newSamples(cmp.Compare[int64])}
	t.each(over, func(_ int64, price gputide.Nano, weight uint64) {
		if p.n == 0 {
			p.first = price
		}
		p.n++
		p.last = price
		p.samples.add(int64(price), weight)
		p.fall.see(price)
	})
	return p
}

// moneyOf is a statistic as a price.
func moneyOf(v int64) *Money { return new(Money(v)) }
