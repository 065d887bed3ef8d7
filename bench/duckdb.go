package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/gputide/gputide"
)

// duckPeer is DuckDB with one row for each observation, the way it is used: no
// change points, column compression, SQL for every question. A commit appends
// the rows of a run in one transaction.
type duckPeer struct {
	path   string
	pool   *sql.DB
	conn   *sql.Conn
	sids   map[gputide.Key]int32 // a favour: no look-up of keys
	scopes map[gputide.Scope]int32
}

const duckSchema = `
CREATE TABLE series (sid INTEGER, scope INTEGER, twin INTEGER, key VARCHAR, provider VARCHAR, gpu VARCHAR);
CREATE TABLE obs (sid INTEGER, ts UINTEGER, price BIGINT);
CREATE TABLE run (scope INTEGER, ts UINTEGER, done BOOLEAN, count INTEGER);`

func newDuckDB(ctx context.Context, path string) (*duckPeer, error) {
	p := &duckPeer{path: path, sids: map[gputide.Key]int32{}, scopes: map[gputide.Scope]int32{}}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	_, err := p.conn.ExecContext(ctx, duckSchema)
	return p, err
}

func (p *duckPeer) open(ctx context.Context) (err error) {
	if p.pool, err = sql.Open("duckdb", p.path+"?threads=2&memory_limit=2GB"); err != nil {
		return err
	}
	p.conn, err = p.pool.Conn(ctx)
	return err
}

func (p *duckPeer) title() string { return "DuckDB, a row an observation" }
func (p *duckPeer) close() error  { return errors.Join(p.conn.Close(), p.pool.Close()) }

func (p *duckPeer) commit(ctx context.Context, run *gputide.Run) error {
	if _, err := p.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	err := p.conn.Raw(func(c any) error { return p.append(c.(driver.Conn), run) }) //nolint:forcetypeassert // database/sql gives no other
	if err != nil {
		_, undo := p.conn.ExecContext(ctx, "ROLLBACK")
		return errors.Join(err, undo)
	}
	_, err = p.conn.ExecContext(ctx, "COMMIT")
	return err
}

// append writes a run into the three tables.
func (p *duckPeer) append(c driver.Conn, run *gputide.Run) error {
	tables := map[string]*duckdb.Appender{}
	for _, name := range []string{"series", "obs", "run"} {
		a, err := duckdb.NewAppenderFromConn(c, "", name)
		if err != nil {
			return err
		}
		tables[name] = a
	}
	ts := uint32(run.At.Unix())
	for i := range run.Scopes {
		s := &run.Scopes[i]
		id, ok := p.scopes[s.Scope]
		if !ok {
			id = int32(len(p.scopes))
			p.scopes[s.Scope] = id
		}
		if err := tables["run"].AppendRow(id, ts, s.Status == gputide.ScopeDone, int32(s.Count)); err != nil {
			return err
		}
	}
	for i := range run.Offers {
		sid, err := p.sid(tables["series"], &run.Offers[i].Key)
		if err != nil {
			return err
		}
		if err := tables["obs"].AppendRow(sid, ts, int64(run.Offers[i].Price)); err != nil {
			return err
		}
	}
	return errors.Join(tables["series"].Close(), tables["obs"].Close(), tables["run"].Close())
}

func (p *duckPeer) sid(series *duckdb.Appender, k *gputide.Key) (int32, error) {
	if sid, ok := p.sids[*k]; ok {
		return sid, nil
	}
	sid := int32(len(p.sids))
	p.sids[*k] = sid
	var twin any
	if k.Market == gputide.Spot {
		twin = p.sids[onDemand(k)]
	}
	return sid, series.AppendRow(sid, p.scopes[gputide.Scope{Region: k.Region}], twin, k.Canonical(), k.Provider, gpuOf(k.InstanceType))
}

func (p *duckPeer) settle(ctx context.Context) error {
	_, err := p.conn.ExecContext(ctx, "CHECKPOINT")
	return err
}

// ask reads rows of one price each.
func (p *duckPeer) ask(ctx context.Context, query string, args ...any) (a answer, err error) {
	rows, err := p.conn.QueryContext(ctx, query, args...)
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

func (p *duckPeer) latest(ctx context.Context, gpu string) (answer, error) {
	return p.ask(ctx, `
SELECT price FROM series JOIN (SELECT scope, max(ts) ts FROM run WHERE done GROUP BY scope) USING (scope) JOIN obs USING (sid, ts)
WHERE gpu = ?`, gpu)
}

func (p *duckPeer) oneSeries(ctx context.Context, k *gputide.Key, from, to time.Time) (answer, error) {
	return p.ask(ctx, `SELECT price FROM obs WHERE sid = ? AND ts >= ? AND ts < ? ORDER BY ts`, p.sids[*k], from.Unix(), to.Unix())
}

func (p *duckPeer) dailyMedian(ctx context.Context, provider, gpu string, from time.Time, n int) (answer, error) {
	return p.ask(ctx, `
SELECT CAST(floor(median(price)) AS BIGINT) FROM obs JOIN series USING (sid)
WHERE provider = ? AND gpu = ? AND ts >= ? AND ts < ? GROUP BY (ts - ?) // 86400`,
		provider, gpu, from.Unix(), from.Add(time.Duration(n)*24*time.Hour).Unix(), from.Unix())
}

func (p *duckPeer) discounts(ctx context.Context, provider string) (answer, error) {
	return p.ask(ctx, `
WITH saved AS (
  SELECT spot.sid, CAST(trunc(1e9::DOUBLE - spot.price::DOUBLE / list.price::DOUBLE * 1e9::DOUBLE) AS BIGINT) AS saved
  FROM series JOIN obs spot USING (sid) JOIN obs list ON list.sid = series.twin AND list.ts = spot.ts
  WHERE provider = ? AND twin IS NOT NULL)
SELECT unnest(quantile_disc(saved, [0.05, 0.5, 0.95])) FROM saved GROUP BY sid`, provider)
}

func (p *duckPeer) export(ctx context.Context) (answer, error) {
	return p.ask(ctx, `SELECT price FROM obs`)
}

func (p *duckPeer) reopen(ctx context.Context) error {
	if err := p.close(); err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	_, err := p.ask(ctx, `SELECT count(*) FROM run`)
	return err
}

func (p *duckPeer) size(ctx context.Context) (int64, error) {
	if err := p.settle(ctx); err != nil {
		return 0, err
	}
	st, err := os.Stat(p.path)
	if err != nil {
		return 0, err
	}
	var free, block int64
	err = p.conn.QueryRowContext(ctx, `SELECT free_blocks, block_size FROM pragma_database_size()`).Scan(&free, &block)
	return st.Size() - free*block, err
}
