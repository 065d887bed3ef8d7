package main

import (
	"context"
	"time"

	"github.com/gputide/gputide"
)

// answer is what a query came to, for comparing peers: values seen and their
// sum in nano-units, modulo 2^64.
type answer struct {
	rows int64
	sum  uint64
}

func (a *answer) add(p gputide.Nano) {
	a.rows++
	a.sum += uint64(p)
}

// peer is a store under measurement. Each answers in the way its users would
// ask it: SQL where there is SQL.
type peer interface {
	// title names the peer in the table, with what is special about it.
	title() string

	// commit stores one run, fsynced unless the title says otherwise.
	commit(ctx context.Context, run *gputide.Run) error

	// settle does what the store does in quiet hours: checkpoints, compaction.
	settle(ctx context.Context) error

	// latest reads the last price of every present offer of a GPU model.
	latest(ctx context.Context, gpu string) (answer, error)

	// oneSeries reads every observation of one series in [from, to).
	oneSeries(ctx context.Context, k *gputide.Key, from, to time.Time) (answer, error)

	// dailyMedian gives, for each of days from from, the median of the
	// observations of a GPU model of one provider.
	dailyMedian(ctx context.Context, provider, gpu string, from time.Time, days int) (answer, error)

	// discounts pairs each spot series of a provider with its on-demand twin at
	// equal moments: 5th, 50th and 95th percentile of what is saved.
	discounts(ctx context.Context, provider string) (answer, error)

	// export reads every observation of every series.
	export(ctx context.Context) (answer, error)

	// reopen closes the database and opens it again.
	reopen(ctx context.Context) error

	// size returns the bytes in use, without free pages.
	size(ctx context.Context) (int64, error)

	close() error
}

// days collects the observations of each day.
type days struct {
	from   time.Time
	prices [][]gputide.Nano
}

func newDays(from time.Time, n int) *days { return &days{from, make([][]gputide.Nano, n)} }

func (d *days) add(at time.Time, p gputide.Nano) {
	if i := int(at.Sub(d.from) / (24 * time.Hour)); i >= 0 && i < len(d.prices) {
		d.prices[i] = append(d.prices[i], p)
	}
}

func (d *days) answer() (a answer) {
	for _, prices := range d.prices {
		if len(prices) > 0 {
			a.add(median(prices))
		}
	}
	return a
}
