package main

import (
	"context"

	"github.com/gputide/gputide/api"
)

// asker answers questions: the daemon that has the database open, or else the
// database, opened here for reading.
type asker struct {
	daemon *api.Client // nil without a daemon
	view   *api.View
	close  func()
}

// open returns who answers questions about the database.
func (m *Main) open(ctx context.Context) (*asker, error) {
	daemon, err := m.dial(ctx)
	if err != nil {
		return nil, err
	}
	if daemon != nil {
		return &asker{daemon: daemon, close: daemon.Close}, nil
	}
	norm, err := loadNormalizer()
	if err != nil {
		return nil, err
	}
	db, err := m.openReadWith(norm)
	if err != nil {
		return nil, err
	}
	return &asker{view: &api.View{Engine: m.newEngine(norm, db), Store: db}, close: func() { db.Close() }}, nil
}

// ask has a question answered. Whoever answers, the answer is the same.
func ask[Req, Ans any](ctx context.Context, a *asker, q api.Question[Req, Ans], req Req) (Ans, error) {
	if a.daemon != nil {
		return q.Ask(ctx, a.daemon, req)
	}
	return q.Answer(ctx, a.view, req)
}

// askOnce opens, asks one question and closes. A question that was not
// understood is a usage error; a database that cannot be opened is not.
func askOnce[Req, Ans any](ctx context.Context, m *Main, q api.Question[Req, Ans], req Req) (Ans, error) {
	a, err := m.open(ctx)
	if err != nil {
		var none Ans
		return none, err
	}
	defer a.close()
	ans, err := ask(ctx, a, q, req)
	return ans, queryError(err)
}
