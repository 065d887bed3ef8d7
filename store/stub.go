package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/gputide/gputide"
)

var errStub = errors.New("store: not built yet")

func (db *DB) Import(ctx context.Context, profile string, kind gputide.ImportKind, rows iter.Seq2[gputide.ImportRow, error]) (ImportResult, error) {
	return ImportResult{}, errStub
}
func (db *DB) Baseline(ctx context.Context, provider string) (*gputide.Baseline, error) {
	return nil, errStub
}
func (db *DB) Quotes(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Quote, error) {
	return nil, errStub
}
func (db *DB) Intervals(ctx context.Context, id gputide.OfferID, from, to time.Time) ([]gputide.Interval, error) {
	return nil, errStub
}
func (db *DB) Observations(ctx context.Context, id gputide.OfferID, from, to time.Time) ([]gputide.Observation, error) {
	return nil, errStub
}
func (db *DB) Changes(ctx context.Context, f gputide.ChangeFilter) iter.Seq2[gputide.Change, error] {
	return func(yield func(gputide.Change, error) bool) { yield(gputide.Change{}, errStub) }
}
func (db *DB) Signals(ctx context.Context, sel gputide.Selection, name string, at time.Time) ([]gputide.SignalValue, error) {
	return nil, errStub
}
func (db *DB) Specs(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Spec, error) {
	return nil, errStub
}
func (db *DB) Values(ctx context.Context, f gputide.Field) ([]string, error) { return nil, errStub }
func (db *DB) Stats(ctx context.Context) (gputide.StoreStats, error) {
	return gputide.StoreStats{}, errStub
}
func (db *DB) Check(ctx context.Context) error { return errStub }
func (db *DB) Snapshot(w io.Writer) error      { return errStub }
func (db *DB) Export(ctx context.Context) iter.Seq2[*Series, error] {
	return func(yield func(*Series, error) bool) { yield(nil, errStub) }
}
func (db *DB) Latest(ctx context.Context, sel gputide.Selection, into *Latest) error { return errStub }
