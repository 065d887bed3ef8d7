package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// RefusedRow names rows in quarantine.
type RefusedRow struct {
	ID  gputide.OfferID
	Row int // number of the row; 0 is every row of the offer
}

// Judged says what became of refused rows that were accepted or rejected.
type Judged struct {
	Rows    []gputide.Quarantined // accepted or rejected now
	Already int                   // named, and accepted or rejected before
	Result  gputide.CommitResult  // what acceptance changed, of all providers
}

// Accept makes the prices of refused rows those of their offers, each at the
// moment its row was read: history is as if the run had believed it, and the
// changes have the cause accept. All rows are accepted or, on an error, none of
// the provider it belongs to. A row accepted before is counted and costs
// nothing. It returns [gputide.ErrNotFound] for a name that no refused row has
// and [gputide.ErrInvalid] for a row without a price and for an offer with
// several rows when none of them is named.
func (db *DB) Accept(ctx context.Context, rows []RefusedRow) (Judged, error) {
	return db.judge(ctx, rows, func(named []refusedRow) (Judged, error) {
		var out Judged
		if err := acceptable(named); err != nil {
			return out, err
		}
		for part := range byProvider(named) {
			res, err := db.acceptRows(part)
			if err != nil {
				return out, err
			}
			addResult(&out.Result, &res)
			for i := range part {
				out.Rows = append(out.Rows, part[i].Quarantined)
			}
		}
		return out, nil
	})
}

// Reject marks refused rows as rejected: while a source repeats the price, it is
// not accepted because two runs agree. A row may be accepted after all. A row
// rejected before is counted and costs nothing. It returns [gputide.ErrNotFound]
// for a name that no refused row has.
func (db *DB) Reject(ctx context.Context, rows []RefusedRow) (Judged, error) {
	return db.judge(ctx, rows, func(named []refusedRow) (Judged, error) {
		var out Judged
		var pairs []pair
		for i := range named {
			r := &named[i]
			if r.Rejected {
				out.Already++
				continue
			}
			r.Rejected = true
			v, err := json.Marshal(&r.Quarantined)
			if err != nil {
				return out, fmt.Errorf("quarantine: %w", err)
			}
			pairs = append(pairs, pair{r.key, v})
			out.Rows = append(out.Rows, r.Quarantined)
		}
		if len(pairs) == 0 {
			return out, nil
		}
		db.swap.RLock()
		defer db.swap.RUnlock()
		return out, db.bolt.Update(func(tx *bolt.Tx) error { return putSorted(tx.Bucket(bucketQuarantine), pairs) })
	})
}

// refusedRow is a row in quarantine with its key.
type refusedRow struct {
	gputide.Quarantined
	id  gputide.OfferID
	key []byte
}

// judge finds the rows named and passes them on, each once, in order of key.
func (db *DB) judge(ctx context.Context, rows []RefusedRow, do func([]refusedRow) (Judged, error)) (Judged, error) {
	if db.readOnly {
		return Judged{}, errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return Judged{}, err
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	var named []refusedRow
	already := 0
	err := db.view(func(v *view) error {
		stored := make(map[gputide.OfferID][]refusedRow)
		err := eachRefused(v.tx.Bucket(bucketQuarantine), nil, func(k []byte, q *gputide.Quarantined) {
			r := refusedRow{Quarantined: *q, id: q.Key.ID(), key: bytes.Clone(k)}
			stored[r.id] = append(stored[r.id], r)
		})
		if err != nil {
			return err
		}
		for _, name := range rows {
			found := slices.DeleteFunc(slices.Clone(stored[name.ID]), func(r refusedRow) bool { return name.Row != 0 && r.Row != name.Row })
			named = append(named, found...)
			if len(found) > 0 {
				continue
			}
			if err := v.acceptedBefore(name); err != nil {
				return err
			}
			already++
		}
		return nil
	})
	if err != nil {
		return Judged{}, err
	}
	slices.SortFunc(named, func(a, b refusedRow) int { return bytes.Compare(a.key, b.key) })
	named = slices.CompactFunc(named, func(a, b refusedRow) bool { return bytes.Equal(a.key, b.key) })
	out, err := do(named)
	out.Already += already
	return out, err
}

// acceptedBefore returns nil when a row of an offer was accepted once.
func (v *view) acceptedBefore(name RefusedRow) error {
	sid, ok := v.offers.find(name.ID)
	c := v.tx.table(bucketLog).Cursor()
	for k, raw := c.First(); ok && k != nil; k, raw = c.Next() {
		b, _, err := decodeBlock(k, raw, true)
		if err != nil {
			return err
		}
		if b.kind != blockSeries || causes[b.cause] != gputide.CauseAccept {
			continue
		}
		if b, _, err = decodeBlock(k, raw, false); err != nil {
			return err
		}
		if slices.ContainsFunc(b.entries, func(e logEntry) bool { return e.sid == sid }) {
			return nil
		}
	}
	return &gputide.HintError{
		Err:  fmt.Errorf("%w: refused row %s", gputide.ErrNotFound, name),
		Hint: "gputide quarantine list shows the refused rows; a later run may have settled it",
	}
}

// String returns the name as the lists show it.
func (r RefusedRow) String() string {
	if r.Row == 0 {
		return r.ID.String()
	}
	return fmt.Sprintf("%s/%d", r.ID, r.Row)
}

// acceptable refuses rows that cannot become the price of their offer.
func acceptable(rows []refusedRow) error {
	var errs []error
	for i := range rows {
		r := &rows[i]
		name := RefusedRow{r.id, r.Row}
		if r.Price == nil || *r.Price <= 0 {
			errs = append(errs, &gputide.HintError{
				Err:  fmt.Errorf("%w: row %s has no price that could be accepted: %s", gputide.ErrInvalid, name, r.Reason),
				Hint: "what its source published cannot be read as a price: wait for the next run, or mend the adapter and gputide replay",
			})
		}
		if i > 0 && rows[i-1].id == r.id {
			errs = append(errs, &gputide.HintError{
				Err:  fmt.Errorf("%w: offer %s has several refused rows", gputide.ErrInvalid, r.id),
				Hint: fmt.Sprintf("accept one of them: %s", strings.Join(rowNames(rows, r.id), ", ")),
			})
			break
		}
	}
	return errors.Join(errs...)
}

func rowNames(rows []refusedRow, id gputide.OfferID) []string {
	var out []string
	for i := range rows {
		if r := &rows[i]; r.id == id {
			text := RefusedRow{r.id, r.Row}.String()
			if r.Price != nil {
				text += fmt.Sprintf(" (%s %s)", *r.Price, r.Key.Currency)
			}
			out = append(out, text)
		}
	}
	return out
}

// byProvider cuts rows, which are in order of key, into those of each provider.
func byProvider(rows []refusedRow) func(func([]refusedRow) bool) {
	return func(yield func([]refusedRow) bool) {
		for start := 0; start < len(rows); {
			end := start
			for end < len(rows) && rows[end].Key.Provider == rows[start].Key.Provider {
				end++
			}
			if !yield(rows[start:end]) {
				return
			}
			start = end
		}
	}
}

func addResult(sum, r *gputide.CommitResult) {
	sum.FirstSeen += r.FirstSeen
	sum.Changed += r.Changed
	sum.Returned += r.Returned
	sum.Released += r.Released
	sum.Conflicts += r.Conflicts
}

// acceptRows accepts rows of one provider in one transaction.
func (db *DB) acceptRows(rows []refusedRow) (gputide.CommitResult, error) {
	provider := rows[0].Key.Provider
	var res gputide.CommitResult
	err := db.update(provider, gputide.CauseAccept, func(w *writer) error {
		quarantine := w.tx.Bucket(bucketQuarantine)
		var notes []string
		for i := range rows {
			r := &rows[i]
			if err := w.accept(r); err != nil {
				return fmt.Errorf("accept %s: %w", RefusedRow{r.id, r.Row}, err)
			}
			// The price is settled: no other row of the moment speaks for the offer.
			if err := dropRefused(quarantine, r.key[:refusedKeyLen-2]); err != nil {
				return err
			}
			notes = append(notes, fmt.Sprintf("%s %s accepted at %s %s as of %s: %s",
				r.id, r.Key.InstanceType, *r.Price, r.Key.Currency, r.At.UTC().Format("2006-01-02T15:04:05Z"), r.Reason))
		}
		if err := w.recordAccept(notes); err != nil {
			return err
		}
		res = w.res
		return nil
	})
	return res, err
}

func dropRefused(b *bolt.Bucket, prefix []byte) error {
	var gone [][]byte
	err := eachRefused(b, prefix, func(k []byte, _ *gputide.Quarantined) { gone = append(gone, bytes.Clone(k)) })
	for _, k := range gone {
		err = errors.Join(err, b.Delete(k))
	}
	return err
}

// accept states the price of a refused row in the place of what its run said of
// the offer.
func (w *writer) accept(r *refusedRow) error {
	at, err := seconds(r.At)
	if err != nil {
		return err
	}
	m, scope, err := w.markOf(r, at)
	if err != nil {
		return err
	}
	sid, _, ok, err := w.offers.lookup(&r.Key, "", 0)
	if err != nil {
		return err
	}
	if !ok {
		attrs, err := w.attrs(&r.Key, newSpecReader(w.tx, w.d))
		if err != nil {
			return err
		}
		if sid, err = w.offers.create(&r.Key, "", attrs); err != nil {
			return err
		}
	}
	rec, err := w.offers.recordOf(sid)
	if err != nil {
		return err
	}
	st := statement{
		at: at, rank: rankRun, say: sayListed, feed: makeFeed(scope, m.source), price: int64(*r.Price),
		detail: detail{content: w.d.intern(encodeContent(*r.Price, &r.Published, nil))},
	}
	if !m.confirms() { // the scope as a whole was held: nothing implies the row
		st.rank, st.explicit = rankFeed, true
	}
	var done applied
	err = w.touch(0).apply(sid, rec, []statement{st}, []takeOut{{feed: st.feed, from: at, to: at}}, &done)
	w.res.Conflicts += done.conflicts
	return err
}

// markOf finds the mark of the run that refused a row: that of the narrowest
// scope around it.
func (w *writer) markOf(r *refusedRow, at uint32) (m mark, scope uint32, err error) {
	width := -1
	for id, s := range w.scopes {
		if !s.CoversSignal("", &r.Key, r.Part) || (width >= 0 && cmp.Compare(s.Width(), width) >= 0) {
			continue
		}
		marks, err := w.marks.month(id, monthOf(at))
		if err != nil {
			return m, 0, err
		}
		i := slices.IndexFunc(marks, func(m mark) bool { return m.at == at && w.sources.name(m.source) == r.Source })
		if i >= 0 {
			m, scope, width = marks[i], id, s.Width()
		}
	}
	if width < 0 {
		err = fmt.Errorf("%w: the run of %s that read it is no longer stored", gputide.ErrNotFound, r.At.UTC().Format("2006-01-02T15:04:05Z"))
	}
	return m, scope, err
}

// recordAccept adds the decision to the list of runs, at the moment it is made.
func (w *writer) recordAccept(notes []string) error {
	text, err := json.Marshal(runStatic{Report: gputide.Report{Notes: notes}})
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	return w.putRun(&runRow{
		provider: w.pid, at: w.recorded, cause: w.log.cause, recorded: int64(w.recorded), static: w.d.intern(string(text)),
		results: resultCounts(&w.res),
	})
}
