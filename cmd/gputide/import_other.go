package main

import (
	"context"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize/importcsv"
	"github.com/gputide/gputide/store"
)

// record is the run an import of rates or signals is stored as.
func (im *importRun) record(at time.Time, provider string) *gputide.Run {
	return &gputide.Run{
		Provider: provider, At: at, StartedAt: im.now, FinishedAt: im.m.Now().UTC(), Cause: gputide.CauseImport, CodeVersion: version(),
	}
}

// rates stores the rates of a file.
func (im *importRun) rates(ctx context.Context, r *importcsv.Reader) error {
	rates, err := r.Rates(ctx)
	im.out.tally(r.Tally())
	if err != nil || len(rates) == 0 {
		return err
	}
	db, err := im.open()
	if err != nil {
		return err
	}
	run := im.record(time.Time{}, im.profile.Provider)
	for _, r := range rates {
		im.out.span(r.Date)
		if r.Date.After(run.At) {
			run.At = r.Date
		}
		known, err := im.knownRate(ctx, db, &r)
		if err != nil {
			return err
		}
		if !known {
			run.Rates = append(run.Rates, r)
		}
	}
	if len(run.Rates) > 0 {
		res, err := db.CommitRun(ctx, run)
		if err != nil {
			return err
		}
		im.out.Rates += res.Rates
		im.out.Accepted += int64(res.Rates)
	}
	im.out.settle()
	return nil
}

// benchmarks stores the benchmark results of a file.
func (im *importRun) benchmarks(ctx context.Context, r *importcsv.Reader) error {
	results, err := r.Benchmarks(ctx)
	im.out.tally(r.Tally())
	if err != nil || len(results) == 0 {
		return err
	}
	db, err := im.open()
	if err != nil {
		return err
	}
	res, err := db.PutBenchmarks(ctx, results)
	if err != nil {
		return err
	}
	im.out.Benchmarks += res.Added
	im.out.Accepted += int64(res.Added)
	im.out.reject(importcsv.ReasonConflict, int64(res.Conflicts))
	im.out.settle()
	return nil
}

// knownRate reports whether the database has a rate of the day. A stored one
// that differs stays and the row is rejected.
func (im *importRun) knownRate(ctx context.Context, db *store.DB, r *gputide.Rate) (bool, error) {
	old, ok, err := db.Rate(ctx, r.Quote, r.Date)
	if err != nil || !ok || !old.Date.Equal(r.Date) || old.Base != r.Base {
		return false, err
	}
	was, err := gputide.ParseAmount(old.Amount)
	if err != nil {
		return false, err
	}
	is, err := gputide.ParseAmount(r.Amount)
	if err != nil {
		return false, err
	}
	if was.Cmp(is) != 0 {
		im.out.reject(importcsv.ReasonConflict, 1)
	}
	return true, nil
}

// signals stores the signals of a file.
func (im *importRun) signals(ctx context.Context, r *importcsv.Reader) error {
	moments, err := r.Signals(ctx)
	im.out.tally(r.Tally())
	if err != nil || len(moments) == 0 {
		return err
	}
	db, err := im.open()
	if err != nil {
		return err
	}
	for i := range moments {
		if err := im.signalsOf(ctx, db, &moments[i]); err != nil {
			return err
		}
	}
	im.out.settle()
	return nil
}

// signalsPerRow is how many signals a row of the spot advisor states.
const signalsPerRow = 2

// signalsOf stores what the file says of one moment.
func (im *importRun) signalsOf(ctx context.Context, db *store.DB, moment *importcsv.SignalMoment) error {
	im.out.span(moment.At)
	run := im.record(moment.At, im.profile.Provider)
	run.Signals, run.Replace = moment.Signals, true
	listed := make(map[gputide.Scope]int)
	for _, s := range moment.Signals {
		listed[gputide.Scope{Partition: s.Key.Partition, Region: s.Key.Region, Market: s.Key.Market, Signal: s.Name}]++
	}
	for _, s := range moment.Scopes {
		run.Scopes = append(run.Scopes, gputide.ScopeRun{
			Scope: s, Status: gputide.ScopeDone, Source: im.profile.Feed, Count: listed[s], NoWithdraw: moment.Incomplete,
		})
	}
	var err error
	if run.Specs, err = im.unknownSpecs(ctx, db, moment); err != nil {
		return err
	}
	res, err := db.CommitRun(ctx, run)
	if err != nil || res.NoOp {
		return err
	}
	im.out.Accepted += int64(len(moment.Signals) / signalsPerRow)
	im.out.Signals += res.Signals
	im.out.Specs += res.Specs
	im.out.Withdrawn += res.Withdrawn
	return nil
}

// unknownSpecs returns the specs of a moment whose type has none from elsewhere:
// an import never puts its own over one.
func (im *importRun) unknownSpecs(ctx context.Context, db *store.DB, moment *importcsv.SignalMoment) ([]gputide.Spec, error) {
	sel := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldProvider, Values: []string{im.profile.Provider}}}}
	known, err := db.Specs(ctx, sel, moment.At)
	if err != nil {
		return nil, err
	}
	type typ struct{ partition, name string }
	elsewhere := make(map[typ]bool)
	for _, s := range known {
		if !strings.HasSuffix(s.Source, ":"+im.profile.Name) {
			elsewhere[typ{s.Partition, s.InstanceType}] = true
		}
	}
	var out []gputide.Spec
	for _, s := range moment.Specs {
		if !elsewhere[typ{s.Partition, s.InstanceType}] {
			out = append(out, s)
		}
	}
	return out, nil
}
