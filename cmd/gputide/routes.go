package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
)

// rowsOut is a list as an answer.
type rowsOut[T any] struct {
	Rows []T `json:"rows"`
}

// lines are the rows of a list, for NDJSON.
func lines[T any](a *rowsOut[T]) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range a.Rows {
			if !yield(&a.Rows[i]) {
				return
			}
		}
	}
}

// runsRequest asks for runs, newest first.
type runsRequest struct {
	Provider string // empty is every provider
	Limit    int    // 0 is all
}

func runsQuestion() api.Question[runsRequest, rowsOut[runRow]] {
	return api.Question[runsRequest, rowsOut[runRow]]{
		Path: "/v1/runs",
		Answer: func(ctx context.Context, v *api.View, req runsRequest) (rowsOut[runRow], error) {
			if req.Limit < 0 {
				return rowsOut[runRow]{}, fmt.Errorf("%w: limit %d", gputide.ErrInvalid, req.Limit)
			}
			records, err := v.Store.Runs(ctx, req.Provider, req.Limit)
			out := rowsOut[runRow]{Rows: make([]runRow, len(records))}
			for i := range records {
				out.Rows[i] = newRunRow(&records[i])
			}
			return out, err
		},
		Rows: lines[runRow],
	}
}

// runRequest asks for one run.
type runRequest struct {
	ID string // its number, or "newest"
	// Provider, with "newest", limits to the runs of one.
	Provider string
}

func runQuestion() api.Question[runRequest, runDetail] {
	return api.Question[runRequest, runDetail]{
		Path: "/v1/runs/{id}",
		Answer: func(ctx context.Context, v *api.View, req runRequest) (runDetail, error) {
			var rec gputide.RunRecord
			var err error
			if req.ID == newestRunID {
				rec, err = newestRun(ctx, v.Store, req.Provider)
			} else {
				var id uint64
				if id, err = parseRunID(req.ID); err == nil {
					rec, err = v.Store.Run(ctx, id)
				}
			}
			if err != nil {
				return runDetail{}, err
			}
			return newRunDetail(&rec), nil
		},
	}
}

// newestRunID stands for the id of the newest run.
const newestRunID = "newest"

// refusedRequest asks for refused rows.
type refusedRequest struct {
	Provider string // empty is every provider
}

func refusedQuestion() api.Question[refusedRequest, rowsOut[refusedRow]] {
	return api.Question[refusedRequest, rowsOut[refusedRow]]{
		Path: "/v1/quarantine",
		Answer: func(ctx context.Context, v *api.View, req refusedRequest) (rowsOut[refusedRow], error) {
			list, err := v.Store.Quarantine(ctx, req.Provider)
			out := rowsOut[refusedRow]{Rows: make([]refusedRow, len(list))}
			for i := range list {
				out.Rows[i] = newRefusedRow(&list[i])
			}
			return out, err
		},
		Rows: lines[refusedRow],
	}
}

// providersQuestion asks for the providers and their last runs. The static facts
// come from m, and so does which credentials are set.
func (m *Main) providersQuestion() api.Question[struct{}, rowsOut[providerOut]] {
	return api.Question[struct{}, rowsOut[providerOut]]{
		Path: "/v1/providers",
		Answer: func(ctx context.Context, v *api.View, _ struct{}) (rowsOut[providerOut], error) {
			rows, err := m.providerRows()
			if err != nil {
				return rowsOut[providerOut]{}, err
			}
			return rowsOut[providerOut]{Rows: rows}, addRuns(ctx, v.Store, rows, m.Now().UTC())
		},
		Rows: lines[providerOut],
	}
}

// statsQuestion asks what the database holds and how large it is.
func statsQuestion() api.Question[struct{}, statsOut] {
	return api.Question[struct{}, statsOut]{
		Path: "/v1/stats",
		Answer: func(ctx context.Context, v *api.View, _ struct{}) (statsOut, error) {
			s, err := v.Store.Stats(ctx)
			return newStatsOut(&s), err
		},
	}
}

// crawlRequest asks a daemon to crawl now.
type crawlRequest struct {
	Provider []string // empty is every one of the daemon's
}

func crawlCommand(do func(ctx context.Context, req crawlRequest) (rowsOut[crawlRow], error)) api.Command[crawlRequest, rowsOut[crawlRow]] {
	return api.Command[crawlRequest, rowsOut[crawlRow]]{Path: "/v1/crawl", Do: do}
}

// routes returns what the daemon answers beside the queries. A crawl that was
// asked for goes on when the asker goes; it ends with ctx, as those of the
// schedule do.
func (d *daemon) routes(ctx context.Context) []api.Route {
	return []api.Route{
		runsQuestion(), runQuestion(), refusedQuestion(), d.m.providersQuestion(), statsQuestion(),
		crawlCommand(func(_ context.Context, req crawlRequest) (rowsOut[crawlRow], error) {
			rows, err := d.crawlNow(ctx, req.Provider)
			return rowsOut[crawlRow]{Rows: rows}, err
		}),
		compactCommand(func(ctx context.Context, req compactRequest) (compactOut, error) { return compactOf(ctx, d.db, req) }),
		backupCommand(func(ctx context.Context, req backupRequest) (backupOut, error) { return backupOf(ctx, d.db, req.File) }),
		d.judgeRoute(acceptVerdict()), d.judgeRoute(rejectVerdict()),
	}
}

// judgeRoute accepts or rejects refused rows.
func (d *daemon) judgeRoute(v verdict) api.Route {
	return v.command(func(ctx context.Context, req judgeRequest) (judgeOut, error) { return v.judge(ctx, d.db, req) })
}
