package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// runMoment names the runs of one provider at one moment.
type runMoment struct {
	provider, at uint32
}

// runRow is a run as the runlog bucket holds it. What repeats from run to run
// is one text of the dictionary; the outcome of its scopes is in runs.
type runRow struct {
	provider uint32
	at       uint32
	cause    byte
	plain    bool // nothing changed and every scope was done
	hash     [8]byte
	started  int64 // Unix seconds; 0 for none
	finished int64
	recorded int64
	static   uint32 // dictionary id of a runStatic
	results  [11]uint32
	err      string
	bodies   []gputide.Body
}

// runStatic is the part of a run that tends to repeat, as JSON.
type runStatic struct {
	CodeVersion string         `json:"code,omitempty"`
	Scopes      []scopeStatic  `json:"scopes,omitempty"`
	Report      gputide.Report `json:"report"`
}

type scopeStatic struct {
	ID     uint32   `json:"id"`
	Feed   bool     `json:"feed,omitempty"`
	From   int64    `json:"from,omitempty"`
	To     int64    `json:"to,omitempty"`
	Digest string   `json:"digest,omitempty"`
	Reason string   `json:"reason,omitempty"`
	URLs   []string `json:"urls,omitempty"`
}

func resultCounts(r *gputide.CommitResult) [11]uint32 {
	return [11]uint32{
		uint32(r.Confirmed), uint32(r.Changed), uint32(r.FirstSeen), uint32(r.Withdrawn), uint32(r.Returned),
		uint32(r.Held), uint32(r.Released), uint32(r.Specs), uint32(r.Signals), uint32(r.Rates), uint32(r.Conflicts),
	}
}

func countsResult(id uint64, n [11]uint32) gputide.CommitResult {
	return gputide.CommitResult{
		RunID: id, Confirmed: int(n[0]), Changed: int(n[1]), FirstSeen: int(n[2]), Withdrawn: int(n[3]), Returned: int(n[4]),
		Held: int(n[5]), Released: int(n[6]), Specs: int(n[7]), Signals: int(n[8]), Rates: int(n[9]), Conflicts: int(n[10]),
	}
}

const runPlain = 0x80

func (r *runRow) encode() []byte {
	head := r.cause
	if r.plain {
		head |= runPlain
	}
	b := binary.BigEndian.AppendUint32([]byte{head}, r.provider)
	b = binary.BigEndian.AppendUint32(b, r.at)
	b = append(b, r.hash[:]...)
	for _, t := range []int64{r.started, r.finished, r.recorded} {
		d := uint64(0)
		if t != 0 {
			d = zigzag(t-int64(r.at)) + 1
		}
		b = binary.AppendUvarint(b, d)
	}
	b = binary.AppendUvarint(b, uint64(r.static))
	n := len(r.results)
	for n > 0 && r.results[n-1] == 0 {
		n--
	}
	b = append(b, byte(n))
	for _, v := range r.results[:n] {
		b = binary.AppendUvarint(b, uint64(v))
	}
	if r.err == "" && len(r.bodies) == 0 {
		return b
	}
	b = appendText(b, r.err)
	b = binary.AppendUvarint(b, uint64(len(r.bodies)))
	for i := range r.bodies {
		x := &r.bodies[i]
		b = appendText(appendText(appendText(b, x.Source), x.URL), x.Hash)
		b = binary.AppendUvarint(b, zigzag(int64(x.Status)))
		b = binary.AppendUvarint(b, zigzag(x.Size))
		b = binary.AppendUvarint(b, zigzag(stamp(x.FetchedAt)))
	}
	return b
}

// stamp is a time as Unix seconds; 0 for none.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func unstamp(s int64) time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(s, 0).UTC()
}

const runHead = 1 + 4 + 4 + 8

func decodeRunRow(v []byte) (row runRow, err error) {
	if len(v) < runHead {
		return row, corrupt("runlog", "record of %d bytes", len(v))
	}
	row.cause, row.plain = v[0]&^runPlain, v[0]&runPlain != 0
	row.provider, row.at = be32(v[1:]), be32(v[5:])
	copy(row.hash[:], v[9:])
	r := reader{b: v[runHead:]}
	for _, t := range []*int64{&row.started, &row.finished, &row.recorded} {
		if d := r.uvarint(); d != 0 {
			*t = unzigzag(d-1) + int64(row.at)
		}
	}
	row.static = r.u32()
	n := int(r.byte())
	if n > len(row.results) || int(row.cause) >= len(causes) {
		return row, corrupt("runlog", "record of %d bytes", len(v))
	}
	for i := range n {
		row.results[i] = r.u32()
	}
	if len(r.b) > 0 {
		row.err = r.text()
		for range r.count() {
			row.bodies = append(row.bodies, gputide.Body{
				Source: r.text(), URL: r.text(), Hash: r.text(), Status: int(unzigzag(r.uvarint())),
				Size: unzigzag(r.uvarint()), FetchedAt: unstamp(unzigzag(r.uvarint())),
			})
		}
	}
	if r.bad || len(r.b) > 0 {
		return row, corrupt("runlog", "record of %d bytes", len(v))
	}
	return row, nil
}

func readRunRow(tx *txn, id uint64) (runRow, error) {
	v := tx.table(bucketRunLog).Get(key64(id))
	if v == nil {
		return runRow{}, fmt.Errorf("%w: run %d", gputide.ErrNotFound, id)
	}
	return decodeRunRow(v)
}

// runsAt returns the runs of a provider at a moment.
func (db *DB) runsAt(tx *txn, provider, at uint32) ([]uint64, error) {
	if db.runAt == nil {
		index := make(map[runMoment][]uint64)
		c := tx.table(bucketRunLog).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if len(v) < runHead {
				return nil, corrupt("runlog", "record of %d bytes", len(v))
			}
			m := runMoment{be32(v[1:]), be32(v[5:])}
			index[m] = append(index[m], binary.BigEndian.Uint64(k))
		}
		db.runAt = index
	}
	return db.runAt[runMoment{provider, at}], nil
}

// retire deletes the records of runs whose every scope is replaced.
func (w *writer) retire(ids []uint64, scopes []runScope) error {
	for _, id := range ids {
		row, err := readRunRow(w.tx, id)
		if err != nil {
			return err
		}
		st, err := readStatic(w.d, row.static)
		if err != nil {
			return err
		}
		left := slices.ContainsFunc(st.Scopes, func(s scopeStatic) bool {
			return !slices.ContainsFunc(scopes, func(r runScope) bool { return r.id == s.ID && r.EventFeed == s.Feed && !r.kept })
		})
		if left {
			continue
		}
		if err := w.tx.table(bucketRunLog).Delete(key64(id)); err != nil {
			return fmt.Errorf("runlog: %w", err)
		}
		w.retired = append(w.retired, id)
	}
	return nil
}

func readStatic(d *dict, id uint32) (st runStatic, err error) {
	text, err := d.get(id)
	if err != nil || text == "" {
		return st, err
	}
	if err := json.Unmarshal([]byte(text), &st); err != nil {
		return st, corrupt("runlog", "static part %d: %v", id, err)
	}
	return st, nil
}

// record writes the marks and the record of the run.
func (c *commit) record() error {
	w := c.w
	st := runStatic{CodeVersion: c.run.CodeVersion, Report: c.run.Report}
	plain := c.run.Err == "" && len(c.run.Quarantined) == 0
	for i := range c.scopes {
		s := &c.scopes[i]
		if s.kept {
			plain = false
			continue
		}
		status, err := statusOf(s.Status)
		if err != nil {
			return err
		}
		m := mark{
			at: c.at, status: status, source: s.feed.source(), count: uint32(max(s.Count, 0)),
			cadence: uint32(min(max(c.run.Cadence/time.Second, 0), maxSeconds)),
		}
		if s.NoWithdraw {
			m.flags |= markNoWithdraw
		}
		if s.EventFeed {
			m.flags |= markEventFeed
		}
		if err := w.addMark(s.id, m); err != nil {
			return err
		}
		plain = plain && status == markDone
		digest := ""
		if status == markHeld {
			digest = s.Digest
		}
		if !s.EventFeed { // a feed is never held
			w.holdDigest(s.id, digest, s.forward)
		}
		st.Scopes = append(st.Scopes, scopeStatic{
			ID: s.id, Feed: s.EventFeed, From: stamp(s.From), To: stamp(s.To), Digest: digest, Reason: s.Reason, URLs: s.URLs,
		})
	}
	text, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("%w: report of the run: %w", gputide.ErrInvalid, err)
	}
	row := runRow{
		provider: w.pid, at: c.at, cause: w.log.cause, hash: c.hash, started: stamp(c.run.StartedAt),
		finished: stamp(c.run.FinishedAt), recorded: int64(w.recorded), static: w.d.intern(string(text)),
		results: resultCounts(&w.res), err: c.run.Err, bodies: c.run.Bodies,
	}
	idle := row.results
	idle[0] = 0
	row.plain = plain && idle == [11]uint32{}
	return w.putRun(&row)
}

// holdDigest remembers the digest of a held scope until its next run.
func (w *writer) holdDigest(scope uint32, digest string, forward bool) {
	if forward && string(w.tx.Bucket(bucketScope).Get(keyPair(w.pid, scope))) != digest {
		w.held[scope] = digest
	}
}

// putRun writes a run and strips the one before of what only the newest keeps.
func (w *writer) putRun(row *runRow) error {
	b := w.tx.table(bucketRunLog)
	b.fill(fillAppend)
	id, err := b.NextSequence()
	if err != nil {
		return fmt.Errorf("runlog: %w", err)
	}
	if err := stripRun(b, w.newestRun(b)); err != nil {
		return err
	}
	if err := b.Put(key64(id), row.encode()); err != nil {
		return fmt.Errorf("runlog: %w", err)
	}
	w.res.RunID = id
	w.runAt = row.at
	return w.putBodies(id, row.bodies)
}

// newestRun returns the newest run of the provider; 0 when none is near.
func (w *writer) newestRun(b *table) uint64 {
	if id, ok := w.db.lastRun[w.pid]; ok {
		return id
	}
	const near = 1024
	c := b.Cursor()
	n := 0
	for k, v := c.Last(); k != nil && n < near; k, v = c.Prev() {
		if len(v) >= runHead && be32(v[1:]) == w.pid {
			return binary.BigEndian.Uint64(k)
		}
		n++
	}
	return 0
}

// stripRun drops the bodies of a run that changed nothing: a later one stands
// for it.
func stripRun(b *table, id uint64) error {
	v := b.Get(key64(id))
	if v == nil {
		return nil
	}
	row, err := decodeRunRow(v)
	if err != nil || !row.plain || len(row.bodies) == 0 {
		return err
	}
	row.bodies = nil
	if err := b.Put(key64(id), row.encode()); err != nil {
		return fmt.Errorf("runlog: %w", err)
	}
	return nil
}

// putBodies records which run last saw each archived body.
func (w *writer) putBodies(id uint64, bodies []gputide.Body) error {
	pairs := make([]pair, 0, len(bodies))
	for i := range bodies {
		x := &bodies[i]
		if x.Hash == "" {
			continue
		}
		v := binary.AppendUvarint(nil, id)
		pairs = append(pairs, pair{[]byte(x.Hash), appendText(appendText(v, x.Source), x.URL)})
	}
	if err := putSorted(w.tx.Bucket(bucketArchive), pairs); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}
