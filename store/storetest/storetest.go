// Package storetest is the conformance suite of the price store. Any backend
// with the methods of [Store] must pass it: nothing in it knows how prices are
// kept.
//
// A backend's own test is one call:
//
//	storetest.Run(t, func(t *testing.T) storetest.Store { return open(t) })
//
// The suite has two halves. Tables state the rules one by one: withdrawal, held
// rows, gaps, staleness, imports, specs, signals, rates. Random histories are
// committed in any order and every answer is compared with a model that keeps
// every statement and replays them all for each question.
package storetest

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// Store is what a backend has. The methods mean what package store documents.
type Store interface {
	CommitRun(context.Context, *gputide.Run) (gputide.CommitResult, error)
	Import(ctx context.Context, profile string, kind gputide.ImportKind, rows iter.Seq2[gputide.ImportRow, error]) (gputide.ImportResult, error)
	Baseline(ctx context.Context, provider string, at time.Time) (*gputide.Baseline, error)
	Quotes(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Quote, error)
	Intervals(ctx context.Context, id gputide.OfferID, from, to time.Time) ([]gputide.Interval, error)
	Observations(ctx context.Context, id gputide.OfferID, from, to time.Time) ([]gputide.Observation, error)
	IntervalsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Interval, error]
	ObservationsOf(ctx context.Context, ids []gputide.OfferID, from, to time.Time) iter.Seq2[[]gputide.Observation, error]
	Changes(ctx context.Context, f gputide.ChangeFilter) iter.Seq2[gputide.Change, error]
	Signals(ctx context.Context, sel gputide.Selection, name string, at time.Time) ([]gputide.SignalValue, error)
	Specs(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Spec, error)
	Rate(ctx context.Context, quote gputide.Currency, at time.Time) (gputide.Rate, bool, error)
	Values(ctx context.Context, f gputide.Field) ([]string, error)
	Runs(ctx context.Context, provider string, limit int) ([]gputide.RunRecord, error)
	Run(ctx context.Context, id uint64) (gputide.RunRecord, error)
	Quarantine(ctx context.Context, provider string) ([]gputide.Quarantined, error)
}

// Run runs the suite. open returns an empty store that the test closes and, if
// the backend can, verifies when it ends.
func Run(t *testing.T, open func(t *testing.T) Store) {
	t.Run("Rules", func(t *testing.T) { runRules(t, open) })
	t.Run("Steady", func(t *testing.T) { runSteady(t, open) })
	t.Run("Runs", func(t *testing.T) { runRuns(t, open) })
	t.Run("Imports", func(t *testing.T) { runImports(t, open) })
	t.Run("Facts", func(t *testing.T) { runFacts(t, open) })
	t.Run("Random", func(t *testing.T) { runRandom(t, open) })
}
