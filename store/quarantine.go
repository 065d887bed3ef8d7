package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// quarantine replaces the refused rows of the scopes that were read by those of
// this run. What an older run refused does not touch what a newer one did, and
// what the operator rejected stays rejected while the price is the same.
func (c *commit) quarantine() error {
	b := c.w.tx.Bucket(bucketQuarantine)
	var gone [][]byte
	rejected := make(map[rejection]bool)
	err := eachRefused(b, key32(c.w.pid), func(k []byte, q *gputide.Quarantined) {
		if q.Rejected {
			rejected[rejectionOf(q)] = true
		}
		scope := c.cover(&q.Key, q.Part, "", false, -1)
		if scope >= 0 && c.scopes[scope].Status == gputide.ScopeDone && c.scopes[scope].forward {
			gone = append(gone, bytes.Clone(k))
		}
	})
	if err != nil {
		return err
	}
	for _, k := range gone {
		if err := b.Delete(k); err != nil {
			return fmt.Errorf("quarantine: %w", err)
		}
	}
	seen := make(map[gputide.OfferID]uint16)
	var pairs []pair
	for i := range c.run.Quarantined {
		q := c.run.Quarantined[i]
		if scope := c.cover(&q.Key, q.Part, "", false, -1); scope >= 0 && !c.scopes[scope].forward && len(c.drops) == 0 {
			continue
		}
		q.At = moment(c.at)
		q.Rejected = rejected[rejectionOf(&q)]
		v, err := json.Marshal(&q)
		if err != nil {
			return fmt.Errorf("%w: quarantined row: %w", gputide.ErrInvalid, err)
		}
		id := q.Key.ID()
		key := binary.BigEndian.AppendUint16(append(key32(c.w.pid), id[:]...), seen[id])
		seen[id]++
		pairs = append(pairs, pair{key, v})
	}
	return putSorted(b, pairs)
}

// Quarantine returns the refused rows of a provider that no later run settled;
// of every provider, by its name, when it is empty.
func (db *DB) Quarantine(_ context.Context, provider string) ([]gputide.Quarantined, error) {
	var out []gputide.Quarantined
	err := db.view(func(v *view) error {
		var prefix []byte
		if provider != "" {
			pid, ok := v.d.find(provider)
			if !ok {
				return nil
			}
			prefix = key32(pid)
		}
		return eachRefused(v.tx.Bucket(bucketQuarantine), prefix, func(_ []byte, q *gputide.Quarantined) {
			out = append(out, *q)
		})
	})
	slices.SortStableFunc(out, func(a, b gputide.Quarantined) int { return strings.Compare(a.Key.Provider, b.Key.Provider) })
	return out, err
}

// eachRefused calls fn with every refused row whose key starts with a prefix.
func eachRefused(b *bolt.Bucket, prefix []byte, fn func(key []byte, q *gputide.Quarantined)) error {
	c := b.Cursor()
	for k, raw := c.Seek(prefix); bytes.HasPrefix(k, prefix) && k != nil; k, raw = c.Next() {
		var q gputide.Quarantined
		if err := json.Unmarshal(raw, &q); err != nil || len(k) != refusedKeyLen {
			return corrupt("quarantine", "row of %d bytes", len(raw))
		}
		q.Row = int(binary.BigEndian.Uint16(k[refusedKeyLen-2:])) + 1
		fn(k, &q)
	}
	return nil
}

// refusedKeyLen is the length of the key of a refused row: provider, offer id
// and number.
const refusedKeyLen = 4 + 16 + 2

// rejection is what the operator rejects: a price of an offer.
type rejection struct {
	id     gputide.OfferID
	price  gputide.Nano // 0 when there is none
	reason string
}

func rejectionOf(q *gputide.Quarantined) rejection {
	r := rejection{id: q.Key.ID(), reason: q.Reason}
	if q.Price != nil {
		r.price = *q.Price
	}
	return r
}
