package main

import (
	"context"
	"time"

	"github.com/gputide/gputide"
)

// answer is what a query came to, for comparing peers: rows seen and a sum over
// their prices in nano-units, modulo 2^64.
type answer struct {
	rows int64
	sum  uint64
}

func (a *answer) add(p gputide.Nano) {
	a.rows++
	a.sum += uint64(p)
}

// peer is a store under measurement.
type peer interface {
	name() string

	// commit stores one run, fsynced.
	commit(ctx context.Context, run *gputide.Run) error

	// latest reads the last price of every present offer of a GPU model.
	latest(ctx context.Context, gpu string) (answer, error)

	// observations reads every observation of one series in [from, to).
	observations(ctx context.Context, k *gputide.Key, from, to time.Time) ([]gputide.Observation, error)

	// export reads every observation of every series.
	export(ctx context.Context) (answer, error)

	// reopen closes the database and opens it again.
	reopen(ctx context.Context) error

	// size returns the bytes in use and the bytes of the file.
	size(ctx context.Context) (used, file int64, err error)

	close() error
}
