package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

// backfillRows yields a past sorted by series, then time: one event a day for
// each series, moving as the nightly workload does.
func backfillRows(series, days int) iter.Seq2[gputide.ImportRow, error] {
	return func(yield func(gputide.ImportRow, error) bool) {
		w := nightly(series, days)
		for i := range series {
			for day := range days {
				if day > 0 {
					w.step1(i)
				}
				row := gputide.ImportRow{At: w.start.Add(time.Duration(day) * w.step), Offer: gputide.Offer{
					Key: w.keys[i], Price: w.prices[i], Source: "import:bench",
					Published: gputide.Published{Amount: w.prices[i].String(), Unit: gputide.PerHour, Basis: gputide.BasisInstance},
				}}
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// benchBackfill imports a sorted past into each peer, and the same again.
func benchBackfill(ctx context.Context, dir string, series, days int) ([]row, error) {
	rows := int64(series) * int64(days)
	db, err := store.Open(filepath.Join(dir, "backfill.db"), store.Options{Deriver: derive{}, ToolVersion: "bench"})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var took [2]time.Duration
	var used [2]int64
	for i := range took {
		began := time.Now()
		if _, err := db.Import(ctx, "bench", gputide.ImportEvents, backfillRows(series, days)); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
		st, err := db.Stats(ctx)
		if err != nil {
			return nil, err
		}
		used[i] = st.UsedBytes
	}
	theirs, grown, err := backfillSQLite(ctx, filepath.Join(dir, "backfill.sqlite"), series, days)
	if err != nil {
		return nil, err
	}
	rate := func(d time.Duration) string { return fmt.Sprintf("%.0fk rows/s", float64(rows)/d.Seconds()/1e3) }
	line := func(what, mine, other string, value float64, a aim) row {
		return row{what, []string{mine, other, "–", "–", a.cell([]float64{value})}}
	}
	return []row{
		line(fmt.Sprintf("sorted backfill of %.1f M rows", float64(rows)/1e6), rate(took[0]), rate(theirs[0]),
			took[0].Seconds()/float64(rows), aim{text: "≥ 200k rows/s", limit: 1. / 200e3}),
		line("the same again: bytes added", fmt.Sprintf("%d at %s", used[1]-used[0], rate(took[1])), fmt.Sprintf("%d at %s", grown, rate(theirs[1])),
			float64(used[1]-used[0]), aim{text: "0"}),
	}, nil
}

func backfillSQLite(ctx context.Context, path string, series, days int) (took [2]time.Duration, grown int64, err error) {
	p, err := newSQLite(ctx, path)
	if err != nil {
		return took, 0, err
	}
	defer p.close()
	var used [2]int64
	for i := range took {
		began := time.Now()
		if err := p.backfill(ctx, backfillRows(series, days)); err != nil {
			return took, 0, err
		}
		took[i] = time.Since(began)
		if used[i], err = p.size(ctx); err != nil {
			return took, 0, err
		}
	}
	return took, used[1] - used[0], nil
}

// backfill inserts rows in transactions of 10,000, as gputide does.
func (p *sqlitePeer) backfill(ctx context.Context, rows iter.Seq2[gputide.ImportRow, error]) error {
	const perTx = 10_000
	next, stop := iter.Pull2(rows)
	defer stop()
	for more := true; more; {
		tx, err := p.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		insert, err := tx.PrepareContext(ctx, `INSERT OR IGNORE INTO hist VALUES (?,?,?,?)`)
		if err != nil {
			return err
		}
		for range perTx {
			r, _, ok := next()
			if !ok {
				more = false
				break
			}
			sid, err := p.sid(ctx, tx, &r.Offer.Key)
			if err != nil {
				return err
			}
			if _, err := insert.ExecContext(ctx, sid, r.At.Unix(), kindPrice, int64(r.Offer.Price)); err != nil {
				return err
			}
		}
		insert.Close()
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// benchRunLog commits runs of many scopes that change nothing and measures what
// the log of them costs.
func benchRunLog(ctx context.Context, dir string, scopes, runs int, progress func(int)) ([]row, error) {
	path := filepath.Join(dir, "runlog.db")
	db, err := store.Open(path, store.Options{Deriver: derive{}, ToolVersion: "bench"})
	if err != nil {
		return nil, err
	}
	// One offer a scope: the log is measured, not the offers.
	w := newWorkload("runlog", scopes, runs, 10*time.Minute, 0)
	w.perScope = 1
	for i := range scopes {
		w.keys = append(w.keys, keyOf(w.provider, w.region(i), "type", gputide.OnDemand))
	}
	w.fill()
	run := *w.next(0)
	var commits sample
	for n := range runs {
		run.At = w.at(n)
		run.StartedAt, run.FinishedAt = run.At, run.At
		began := time.Now()
		if _, err := db.CommitRun(ctx, &run); err != nil {
			return nil, err
		}
		commits = append(commits, time.Since(began))
		if n%1000 == 0 {
			progress(n)
		}
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return runLogRows(ctx, path, w, commits)
}

func runLogRows(ctx context.Context, path string, w *workload, commits sample) ([]row, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	db, err := store.Open(path, store.Options{Deriver: derive{}, ToolVersion: "bench"})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	opened := time.Since(began)
	stats, err := db.Stats(ctx)
	if err != nil {
		return nil, err
	}
	now := w.end()
	began = time.Now()
	const asked = 100
	for i := range asked {
		sel := gputide.Selection{IDs: []gputide.OfferID{w.keys[i%len(w.keys)].ID()}}
		if _, err := db.Quotes(ctx, sel, now); err != nil {
			return nil, err
		}
	}
	confirmed := time.Since(began) / asked
	what := fmt.Sprintf("run log, %d scopes × %d runs", w.scopes(), w.runs)
	return []row{
		own(what+": in use (file)", fmt.Sprintf("%.1f MB (%.1f)", float64(stats.UsedBytes)/1e6, float64(st.Size())/1e6),
			float64(st.Size())/1e6, peers, aim{text: "≤ 250 MB", limit: 250}),
		own(what+": reopen", milliseconds(opened), opened.Seconds(), peers, aim{text: "≤ 5 ms", limit: 0.005}),
		own(what+": last confirmed of a series", milliseconds(confirmed), confirmed.Seconds(), peers, aim{text: "≤ 0.1 ms", limit: 0.0001}),
		own(what+": commit, fsynced", duration(commits), 0, peers, aim{}),
	}, nil
}
