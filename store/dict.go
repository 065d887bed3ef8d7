package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// maxLiteral is the longest text whose reverse entry is the text itself; a
// longer one is found by its hash.
const maxLiteral = 255

// dictCache holds the texts of committed ids. Long texts are not cached.
type dictCache struct {
	mu   sync.RWMutex
	text map[uint32]string
	id   map[string]uint32
}

func (c *dictCache) lookupText(id uint32) (string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.text[id]
	return s, ok
}

func (c *dictCache) lookupID(s string) (uint32, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	id, ok := c.id[s]
	return id, ok
}

func (c *dictCache) add(id uint32, s string) {
	if len(s) > maxLiteral {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text == nil {
		c.text, c.id = make(map[uint32]string), make(map[string]uint32)
	}
	c.text[id], c.id[s] = s, id
}

// dict is the dictionary as one transaction sees it. Id 0 is the empty text.
type dict struct {
	cache *dictCache
	texts *table
	ids   *table

	next  uint32
	added map[string]uint32
	order []string // added texts; the i-th has id next - len + i
}

func newDict(tx *txn, cache *dictCache) *dict {
	return &dict{cache: cache, texts: tx.table(bucketDict), ids: tx.table(bucketRDict)}
}

// get returns the text of an id.
func (d *dict) get(id uint32) (string, error) {
	if id == 0 {
		return "", nil
	}
	if s, ok := d.cache.lookupText(id); ok {
		return s, nil
	}
	if first := d.next - uint32(len(d.order)); len(d.order) > 0 && id >= first && id < d.next {
		return d.order[id-first], nil
	}
	v := d.texts.Get(key32(id))
	if v == nil {
		return "", corrupt("dict", "id %d is missing", id)
	}
	s := string(v)
	d.cache.add(id, s)
	return s, nil
}

// find returns the id of a text that is stored.
func (d *dict) find(s string) (uint32, bool) {
	if s == "" {
		return 0, true
	}
	if id, ok := d.cache.lookupID(s); ok {
		return id, true
	}
	if id, ok := d.added[s]; ok {
		return id, true
	}
	v := d.ids.Get(reverseKey(s))
	if len(v) != 4 {
		return 0, false
	}
	id := binary.BigEndian.Uint32(v)
	d.cache.add(id, s)
	return id, true
}

// intern returns the id of a text and gives it one when it is new. Call flush
// before the transaction commits.
func (d *dict) intern(s string) uint32 {
	if id, ok := d.find(s); ok {
		return id
	}
	if d.added == nil {
		d.added = make(map[string]uint32)
		d.next = uint32(d.texts.Sequence()) + 1
	}
	id := d.next
	d.next++
	d.added[s] = id
	d.order = append(d.order, s)
	return id
}

// flush writes the new texts, in key order.
func (d *dict) flush() error {
	if len(d.order) == 0 {
		return nil
	}
	d.texts.fill(fillAppend)
	d.ids.fill(fillInsert)
	first := d.next - uint32(len(d.order))
	reverse := make([]pair, 0, len(d.order))
	for i, s := range d.order {
		id := first + uint32(i)
		if err := d.texts.Put(key32(id), []byte(s)); err != nil {
			return fmt.Errorf("dict: %w", err)
		}
		reverse = append(reverse, pair{reverseKey(s), key32(id)})
	}
	if err := d.ids.putSorted(reverse); err != nil {
		return fmt.Errorf("rdict: %w", err)
	}
	return d.texts.SetSequence(uint64(d.next - 1))
}

// publish makes the new texts known to other transactions. Call it after the
// commit.
func (d *dict) publish() {
	first := d.next - uint32(len(d.order))
	for i, s := range d.order {
		d.cache.add(first+uint32(i), s)
	}
}

// reverseKey is the key of a text in rdict: 0 and the text, or 1 and the first
// 16 bytes of its SHA-256.
func reverseKey(s string) []byte {
	if len(s) <= maxLiteral {
		return append([]byte{0}, s...)
	}
	sum := sha256.Sum256([]byte(s))
	return append([]byte{1}, sum[:16]...)
}

// pair is one key and value on its way to a bucket.
type pair struct{ key, value []byte }

// putSorted writes pairs in key order. Order matters: a leaf splits only at
// commit, so random keys into a large empty leaf cost quadratic time.
func putSorted(b *bolt.Bucket, pairs []pair) error {
	slices.SortFunc(pairs, func(a, c pair) int { return compareBytes(a.key, c.key) })
	for _, p := range pairs {
		if err := b.Put(p.key, p.value); err != nil {
			return err
		}
	}
	return nil
}
