package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/gputide/gputide"
)

// PruneChanges takes what was recorded before a moment out of the change feed
// and returns how many entries that were. Prices, states and their history stay
// as they are. Whoever asks the feed for what it no longer holds is told so; see
// [DB.Changes].
func (db *DB) PruneChanges(ctx context.Context, before time.Time) (int64, error) {
	if db.readOnly {
		return 0, errReadOnly
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	at, err := seconds(before)
	if err != nil {
		return 0, err
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	db.swap.RLock()
	defer db.swap.RUnlock()
	var gone int64
	err = db.write(func(tx *txn) error {
		keys, last, err := prunable(tx, at)
		if err != nil || len(keys) == 0 {
			return err
		}
		was, err := prunedOf(tx)
		if err != nil {
			return err
		}
		gone = int64(last - was.seq)
		if err := tx.table(bucketLog).deleteAll(keys); err != nil {
			return fmt.Errorf("log: %w", err)
		}
		now := pruned{seq: last, before: max(at, was.before)}
		return tx.Bucket(bucketMeta).Put(metaPruned, now.encode())
	})
	if err != nil {
		return 0, fmt.Errorf("prune the change feed of %s: %w", db.path, err)
	}
	return gone, nil
}

// prunable returns the blocks at the start of the feed that were recorded before
// a moment, and the number of the last entry in them.
func prunable(tx *txn, before uint32) (keys [][]byte, last uint64, err error) {
	c := tx.table(bucketLog).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		b, n, err := decodeBlock(k, v, true)
		if err != nil {
			return nil, 0, err
		}
		if b.recorded >= before {
			break
		}
		keys, last = append(keys, append([]byte(nil), k...)), b.first+uint64(n)-1
	}
	return keys, last, nil
}

// pruned is what the change feed no longer holds.
type pruned struct {
	seq    uint64 // number of the newest entry taken out; 0 when none was
	before uint32 // all that was taken out was recorded before
}

func (p pruned) encode() []byte {
	return binary.BigEndian.AppendUint32(key64(p.seq), p.before)
}

func prunedOf(tx *txn) (p pruned, err error) {
	v := tx.Bucket(bucketMeta).Get(metaPruned)
	if v == nil {
		return p, nil
	}
	if len(v) != 12 {
		return p, corrupt("meta", "pruned part of %d bytes", len(v))
	}
	return pruned{seq: binary.BigEndian.Uint64(v), before: be32(v[8:])}, nil
}

// holds reports, by its error, whether the feed has all that is asked of it.
func (p pruned) holds(f *gputide.ChangeFilter) error {
	switch {
	case f.AfterSeq > 0 && f.AfterSeq < p.seq:
		return &gputide.HintError{
			Err:  fmt.Errorf("%w: the changes after number %d: those up to %d were pruned", gputide.ErrNotFound, f.AfterSeq, p.seq),
			Hint: fmt.Sprintf("read the state anew with gputide query offers, then go on with --after-seq %d", p.seq),
		}
	case f.AfterSeq == 0 && !f.From.IsZero() && f.From.Before(moment(p.before)):
		return &gputide.HintError{
			Err: fmt.Errorf("%w: changes from %s on: those recorded before %s were pruned", gputide.ErrNotFound,
				f.From.UTC().Format(time.RFC3339), moment(p.before).Format(time.RFC3339)),
			Hint: "ask from then on, or without a start for all there are; query trend knows the prices before",
		}
	}
	return nil
}
