package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gputide/gputide"
)

// Runs returns the newest runs of a provider, newest first; of every provider
// when it is empty. limit 0 means all.
func (db *DB) Runs(ctx context.Context, provider string, limit int) ([]gputide.RunRecord, error) {
	var out []gputide.RunRecord
	err := db.view(func(v *view) error {
		pid, ok := v.d.find(provider)
		if !ok {
			return nil
		}
		c := v.tx.table(bucketRunLog).Cursor()
		for k, raw := c.Last(); k != nil && (limit <= 0 || len(out) < limit); k, raw = c.Prev() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if provider != "" && (len(raw) < runHead || be32(raw[1:]) != pid) {
				continue
			}
			rec, err := v.runRecord(binary.BigEndian.Uint64(k), raw)
			if err != nil {
				return err
			}
			out = append(out, rec)
		}
		return nil
	})
	return out, err
}

// Run returns one run. It returns [gputide.ErrNotFound] when there is none of
// that id.
func (db *DB) Run(_ context.Context, id uint64) (gputide.RunRecord, error) {
	var rec gputide.RunRecord
	err := db.view(func(v *view) (err error) {
		raw := v.tx.table(bucketRunLog).Get(key64(id))
		if raw == nil {
			return &gputide.HintError{
				Err:  fmt.Errorf("%w: run %d", gputide.ErrNotFound, id),
				Hint: "gputide runs list shows the ids",
			}
		}
		rec, err = v.runRecord(id, raw)
		return err
	})
	return rec, err
}

func (v *view) runRecord(id uint64, raw []byte) (gputide.RunRecord, error) {
	row, err := decodeRunRow(raw)
	if err != nil {
		return gputide.RunRecord{}, err
	}
	st, err := readStatic(v.d, row.static)
	if err != nil {
		return gputide.RunRecord{}, err
	}
	provider, err := v.d.get(row.provider)
	if err != nil {
		return gputide.RunRecord{}, err
	}
	rec := gputide.RunRecord{
		ID: id, Provider: provider, At: moment(row.at), StartedAt: unstamp(row.started), FinishedAt: unstamp(row.finished),
		RecordedAt: unstamp(row.recorded), Cause: causes[row.cause], CodeVersion: st.CodeVersion, Report: st.Report,
		Result: countsResult(id, row.results), Bodies: row.bodies, Err: row.err,
	}
	sources, err := v.sources(row.provider)
	if err != nil {
		return rec, err
	}
	for _, s := range st.Scopes {
		run, ok, err := v.scopeRun(&row, &s, sources)
		if err != nil {
			return rec, err
		}
		if ok {
			rec.Scopes = append(rec.Scopes, run)
		}
	}
	return rec, nil
}

var scopeStatuses = [...]gputide.ScopeStatus{gputide.ScopeDone, gputide.ScopeFailed, gputide.ScopeHeld}

// scopeRun puts the outcome of a scope together from its mark and the record.
func (v *view) scopeRun(row *runRow, s *scopeStatic, sources *sourceTable) (gputide.ScopeRun, bool, error) {
	text, err := v.d.get(s.ID)
	if err != nil {
		return gputide.ScopeRun{}, false, err
	}
	_, scope, err := parseScope(text)
	if err != nil {
		return gputide.ScopeRun{}, false, err
	}
	marks, err := v.marks.month(s.ID, monthOf(row.at))
	if err != nil {
		return gputide.ScopeRun{}, false, err
	}
	i, _ := slices.BinarySearchFunc(marks, row.at, func(m mark, at uint32) int { return cmp.Compare(m.at, at) })
	for ; i < len(marks) && marks[i].at == row.at; i++ {
		m := &marks[i]
		imported := sources.imported(m.source)
		if imported != (causes[row.cause] == gputide.CauseImport) || s.Feed != (m.flags&markEventFeed != 0) {
			continue
		}
		return gputide.ScopeRun{
			Scope: scope, Status: scopeStatuses[m.status], Source: sources.name(m.source), Count: int(m.count),
			Digest: s.Digest, NoWithdraw: m.flags&markNoWithdraw != 0, EventFeed: s.Feed,
			From: unstamp(s.From), To: unstamp(s.To), Reason: s.Reason, URLs: s.URLs,
		}, true, nil
	}
	return gputide.ScopeRun{}, false, nil
}
