package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/mattn/go-sqlite3" // registers the driver

	"github.com/gputide/gputide"
)

// sqlitePeer is SQLite with gputide's layout: change points, a table of latest
// prices and a log of scope runs. A write-ahead log with synchronous=FULL
// fsyncs each commit.
type sqlitePeer struct {
	path   string
	db     *sql.DB
	side   *sql.DB               // for a second query while one is being read
	sids   map[gputide.Key]int64 // a favour to SQLite: no look-up of keys
	twins  map[int64]int64       // of a spot series, its on-demand series
	scopes map[gputide.Scope]int64
}

const sqliteSchema = `
CREATE TABLE scope (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE series (sid INTEGER PRIMARY KEY, offer_id BLOB UNIQUE, scope INTEGER, key TEXT, provider TEXT, gpu TEXT);
CREATE INDEX series_gpu ON series (gpu);
CREATE INDEX series_provider ON series (provider);
CREATE TABLE last (sid INTEGER PRIMARY KEY, price INTEGER, changed_at INTEGER, present INTEGER, source INTEGER);
CREATE TABLE hist (sid INTEGER, ts INTEGER, kind INTEGER, price INTEGER, PRIMARY KEY (sid, ts)) WITHOUT ROWID;
CREATE TABLE run (scope INTEGER, ts INTEGER, status INTEGER, count INTEGER, PRIMARY KEY (scope, ts)) WITHOUT ROWID;`

const (
	kindPrice    = 0
	kindVanished = 1
)

func newSQLite(ctx context.Context, path string) (*sqlitePeer, error) {
	p := &sqlitePeer{path: path, sids: map[gputide.Key]int64{}, twins: map[int64]int64{}, scopes: map[gputide.Scope]int64{}}
	if err := p.open(); err != nil {
		return nil, err
	}
	_, err := p.db.ExecContext(ctx, sqliteSchema)
	return p, err
}

func (p *sqlitePeer) open() error {
	for _, db := range []**sql.DB{&p.db, &p.side} {
		opened, err := sql.Open("sqlite3", p.path+"?_journal_mode=WAL&_synchronous=FULL&_cache_size=-65536")
		if err != nil {
			return err
		}
		opened.SetMaxOpenConns(1)
		*db = opened
	}
	return nil
}

func (p *sqlitePeer) title() string { return "SQLite, same layout" }
func (p *sqlitePeer) close() error  { return errors.Join(p.side.Close(), p.db.Close()) }

type sqliteLast struct {
	price   int64
	present bool
}

func (p *sqlitePeer) commit(ctx context.Context, run *gputide.Run) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // a no-op after Commit
	if err := p.write(ctx, tx, run); err != nil {
		return err
	}
	return tx.Commit()
}

func (p *sqlitePeer) write(ctx context.Context, tx *sql.Tx, run *gputide.Run) error {
	ts := run.At.Unix()
	done := map[string]bool{}
	for i := range run.Scopes {
		s := &run.Scopes[i]
		id, err := p.scope(ctx, tx, s.Scope)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO run VALUES (?,?,?,?)`, id, ts, s.Status == gputide.ScopeDone, s.Count); err != nil {
			return err
		}
		done[s.Scope.Region] = s.Status == gputide.ScopeDone
	}
	last, err := p.last(ctx, tx)
	if err != nil {
		return err
	}
	w, err := newSQLiteWriter(ctx, tx)
	if err != nil {
		return err
	}
	defer w.close()
	listed := make(map[int64]bool, len(run.Offers))
	for i := range run.Offers {
		sid, err := p.sid(ctx, tx, &run.Offers[i].Key)
		if err != nil {
			return err
		}
		listed[sid] = true
		if l, ok := last[sid]; !ok || l.price != int64(run.Offers[i].Price) || !l.present {
			if err := w.change(ctx, sid, ts, kindPrice, int64(run.Offers[i].Price)); err != nil {
				return err
			}
		}
	}
	for k, sid := range p.sids {
		if l := last[sid]; l.present && !listed[sid] && k.Provider == run.Provider && done[k.Region] {
			if err := w.change(ctx, sid, ts, kindVanished, l.price); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *sqlitePeer) last(ctx context.Context, tx *sql.Tx) (map[int64]sqliteLast, error) {
	rows, err := tx.QueryContext(ctx, `SELECT sid, price, present FROM last`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	last := make(map[int64]sqliteLast, len(p.sids))
	for rows.Next() {
		var sid int64
		var l sqliteLast
		if err := rows.Scan(&sid, &l.price, &l.present); err != nil {
			return nil, err
		}
		last[sid] = l
	}
	return last, rows.Err()
}

func (p *sqlitePeer) scope(ctx context.Context, tx *sql.Tx, s gputide.Scope) (int64, error) {
	if id, ok := p.scopes[s]; ok {
		return id, nil
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO scope (name) VALUES (?)`, fmt.Sprint(len(p.scopes), " ", s))
	if err != nil {
		return 0, err
	}
	id, err := res.LastInsertId()
	p.scopes[s] = id
	return id, err
}

func (p *sqlitePeer) sid(ctx context.Context, tx *sql.Tx, k *gputide.Key) (int64, error) {
	if sid, ok := p.sids[*k]; ok {
		return sid, nil
	}
	id := k.ID()
	res, err := tx.ExecContext(ctx, `INSERT INTO series (offer_id, scope, key, provider, gpu) VALUES (?,?,?,?,?)`,
		id[:], p.scopes[gputide.Scope{Region: k.Region}], k.Canonical(), k.Provider, gpuOf(k.InstanceType))
	if err != nil {
		return 0, err
	}
	sid, err := res.LastInsertId()
	p.sids[*k] = sid
	if k.Market == gputide.Spot {
		p.twins[sid] = p.sids[onDemand(k)]
	}
	return sid, err
}

// sqliteWriter writes change points with prepared statements.
type sqliteWriter struct{ hist, last *sql.Stmt }

func newSQLiteWriter(ctx context.Context, tx *sql.Tx) (*sqliteWriter, error) {
	hist, err := tx.PrepareContext(ctx, `INSERT INTO hist VALUES (?,?,?,?)`)
	if err != nil {
		return nil, err
	}
	last, err := tx.PrepareContext(ctx, `INSERT INTO last VALUES (?,?,?,?,1)
		ON CONFLICT (sid) DO UPDATE SET price=excluded.price, changed_at=excluded.changed_at, present=excluded.present`)
	if err != nil {
		hist.Close()
		return nil, err
	}
	return &sqliteWriter{hist, last}, nil
}

func (w *sqliteWriter) close() {
	w.hist.Close()
	w.last.Close()
}

func (w *sqliteWriter) change(ctx context.Context, sid, ts, kind, price int64) error {
	if _, err := w.hist.ExecContext(ctx, sid, ts, kind, price); err != nil {
		return err
	}
	_, err := w.last.ExecContext(ctx, sid, price, ts, kind == kindPrice)
	return err
}

func (p *sqlitePeer) latest(ctx context.Context, gpu string) (answer, error) {
	var a answer
	rows, err := p.db.QueryContext(ctx,
		`SELECT last.price FROM series JOIN last USING (sid) WHERE series.gpu = ? AND last.present`, gpu)
	if err != nil {
		return a, err
	}
	defer rows.Close()
	for rows.Next() {
		var price int64
		if err := rows.Scan(&price); err != nil {
			return a, err
		}
		a.add(gputide.Nano(price))
	}
	return a, rows.Err()
}

// sqliteChange is one row of hist.
type sqliteChange struct {
	ts, kind, price int64
}

// scan gives the observations of each series that the condition picks, in order
// of sid: one for each done run of its scope while it was present.
func (p *sqlitePeer) scan(ctx context.Context, where string, args []any, from, to time.Time, emit func(sid int64, obs []gputide.Observation)) error {
	rows, err := p.db.QueryContext(ctx, `SELECT sid, scope, ts, kind, price FROM series JOIN hist USING (sid) WHERE `+where+` ORDER BY sid, ts`, args...)
	if err != nil {
		return err
	}
	runs := map[int64][]int64{}
	var sid, scope int64
	var changes []sqliteChange
	var obs []gputide.Observation
	var pending error
	flush := func() {
		if len(changes) > 0 && pending == nil {
			obs = merge(obs[:0], runs[scope], changes, from.Unix(), to.Unix())
			emit(sid, obs)
		}
		changes = changes[:0]
	}
	defer rows.Close()
	for rows.Next() {
		var s, sc int64
		var c sqliteChange
		if err := rows.Scan(&s, &sc, &c.ts, &c.kind, &c.price); err != nil {
			return err
		}
		if s != sid {
			flush()
			sid, scope = s, sc
			if _, ok := runs[scope]; !ok {
				if runs[scope], pending = p.doneRuns(ctx, scope); pending != nil {
					return pending
				}
			}
		}
		changes = append(changes, c)
	}
	flush()
	return rows.Err()
}

func (p *sqlitePeer) doneRuns(ctx context.Context, scope int64) ([]int64, error) {
	rows, err := p.side.QueryContext(ctx, `SELECT ts FROM run WHERE scope = ? AND status ORDER BY ts`, scope)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var runs []int64
	for rows.Next() {
		var ts int64
		if err := rows.Scan(&ts); err != nil {
			return nil, err
		}
		runs = append(runs, ts)
	}
	return runs, rows.Err()
}

// merge appends the observations of a series to out.
func merge(out []gputide.Observation, runs []int64, changes []sqliteChange, from, to int64) []gputide.Observation {
	i := -1
	for _, ts := range runs {
		if ts >= to {
			break
		}
		for i+1 < len(changes) && changes[i+1].ts <= ts {
			i++
		}
		if i >= 0 && changes[i].kind == kindPrice && ts >= from {
			out = append(out, gputide.Observation{At: time.Unix(ts, 0).UTC(), Price: gputide.Nano(changes[i].price)})
		}
	}
	return out
}

// always is a window that holds every observation, in the range of the store (32-bit seconds).
var always = [2]time.Time{time.Unix(1, 0).UTC(), time.Unix(1<<32-1, 0).UTC()}

func (p *sqlitePeer) oneSeries(ctx context.Context, k *gputide.Key, from, to time.Time) (a answer, err error) {
	err = p.scan(ctx, `sid = ?`, []any{p.sids[*k]}, from, to, func(_ int64, obs []gputide.Observation) {
		for _, o := range obs {
			a.add(o.Price)
		}
	})
	return a, err
}

func (p *sqlitePeer) dailyMedian(ctx context.Context, provider, gpu string, from time.Time, n int) (answer, error) {
	d := newDays(from, n)
	err := p.scan(ctx, `provider = ? AND gpu = ?`, []any{provider, gpu}, from, from.Add(time.Duration(n)*24*time.Hour),
		func(_ int64, obs []gputide.Observation) {
			for _, o := range obs {
				d.add(o.At, o.Price)
			}
		})
	return d.answer(), err
}

func (p *sqlitePeer) discounts(ctx context.Context, provider string) (a answer, err error) {
	var list []gputide.Observation
	var listed int64
	err = p.scan(ctx, `provider = ?`, []any{provider}, always[0], always[1], func(sid int64, obs []gputide.Observation) {
		if twin, ok := p.twins[sid]; !ok {
			list, listed = append(list[:0], obs...), sid
		} else if twin == listed {
			a.addPercentiles(pairs(list, obs))
		}
	})
	return a, err
}

func (p *sqlitePeer) export(ctx context.Context) (a answer, err error) {
	err = p.scan(ctx, `1`, nil, always[0], always[1], func(_ int64, obs []gputide.Observation) {
		for _, o := range obs {
			a.add(o.Price)
		}
	})
	return a, err
}

func (p *sqlitePeer) settle(ctx context.Context) error {
	_, err := p.db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}

func (p *sqlitePeer) vacuum(ctx context.Context) error {
	_, err := p.db.ExecContext(ctx, `VACUUM`)
	return err
}

func (p *sqlitePeer) reopen(ctx context.Context) error {
	if err := p.close(); err != nil {
		return err
	}
	if err := p.open(); err != nil {
		return err
	}
	var n int
	return p.db.QueryRowContext(ctx, `SELECT count(*) FROM scope`).Scan(&n)
}

func (p *sqlitePeer) size(ctx context.Context) (int64, error) {
	if err := p.settle(ctx); err != nil {
		return 0, err
	}
	var pages, free, pageSize int64
	for _, q := range []struct {
		sql  string
		into *int64
	}{{`PRAGMA page_count`, &pages}, {`PRAGMA freelist_count`, &free}, {`PRAGMA page_size`, &pageSize}} {
		if err := p.db.QueryRowContext(ctx, q.sql).Scan(q.into); err != nil {
			return 0, err
		}
	}
	return (pages - free) * pageSize, nil
}
