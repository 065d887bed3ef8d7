package store

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

// cursor walks a table in key order, either way. It must not be used after a
// write to the table.
type cursor struct {
	t    *table
	live liveCursor
	pack packCursor
	back bool
}

// liveCursor walks the entries of the bucket; k is nil behind either end.
type liveCursor struct {
	c    *bolt.Cursor
	k, v []byte
}

// packCursor walks the packed entries.
type packCursor struct {
	t     *table
	c     *bolt.Cursor // nil when nothing is packed
	block packed
	i     int
	k     []byte
}

// Cursor returns a cursor over the table.
func (t *table) Cursor() *cursor {
	c := &cursor{t: t, live: liveCursor{c: t.live.Cursor()}, pack: packCursor{t: t}}
	if t.blocks != nil {
		c.pack.c = t.blocks.Cursor()
	}
	return c
}

// First moves to the first entry.
func (c *cursor) First() (k, v []byte) {
	c.back = false
	c.live.k, c.live.v = c.live.c.First()
	c.pack.first()
	return c.entry()
}

// Last moves to the last entry.
func (c *cursor) Last() (k, v []byte) {
	c.back = true
	c.live.k, c.live.v = c.live.c.Last()
	c.pack.last()
	return c.entry()
}

// Seek moves to the first entry with a key at or behind another.
func (c *cursor) Seek(key []byte) (k, v []byte) {
	c.seek(key)
	return c.entry()
}

func (c *cursor) seek(key []byte) {
	c.back = false
	c.live.k, c.live.v = c.live.c.Seek(key)
	c.pack.seek(key)
}

// SeekLast moves to the last entry with a key at or before another.
func (c *cursor) SeekLast(key []byte) (k, v []byte) {
	c.back = true
	c.live.k, c.live.v = seekLast(c.live.c, key)
	c.pack.seekLast(key)
	return c.entry()
}

// Next moves on. Behind the last entry it stays there.
func (c *cursor) Next() (k, v []byte) {
	c.next()
	return c.entry()
}

func (c *cursor) next() {
	at := c.key()
	if at == nil {
		return
	}
	if c.back {
		c.seek(bytes.Clone(at))
		at = c.key()
	}
	l, p := bytes.Equal(c.live.k, at), bytes.Equal(c.pack.k, at)
	if l {
		c.live.k, c.live.v = c.live.c.Next()
	}
	if p {
		c.pack.next()
	}
}

// Prev moves back. Before the first entry it stays there.
func (c *cursor) Prev() (k, v []byte) {
	at := c.key()
	if at == nil {
		return nil, nil
	}
	if !c.back {
		c.SeekLast(bytes.Clone(at))
		at = c.key()
	}
	l, p := bytes.Equal(c.live.k, at), bytes.Equal(c.pack.k, at)
	if l {
		c.live.k, c.live.v = c.live.c.Prev()
	}
	if p {
		c.pack.prev()
	}
	return c.entry()
}

// key returns the key of the entry the cursor stands on; nil behind either end.
func (c *cursor) key() []byte {
	if c.onPacked() {
		return c.pack.k
	}
	return c.live.k
}

// onPacked reports whether the entry the cursor stands on is a packed one.
func (c *cursor) onPacked() bool {
	switch {
	case c.pack.k == nil:
		return false
	case c.live.k == nil:
		return true
	}
	order := bytes.Compare(c.pack.k, c.live.k)
	return order < 0 && !c.back || order > 0 && c.back
}

func (c *cursor) entry() (k, v []byte) {
	if !c.onPacked() {
		return c.live.k, c.live.v
	}
	v = c.t.valueIn(c.pack.block, c.pack.i)
	if c.t.tx.err != nil {
		return nil, nil
	}
	return c.pack.k, v
}

// open makes the block with an entry the current one, at its first or its last.
func (c *packCursor) open(k, v []byte, last bool) {
	c.k, c.block = nil, nil
	if k == nil {
		return
	}
	if c.block = c.t.unpack(v); c.block == nil {
		return
	}
	c.i = 0
	if last {
		c.i = c.block.len() - 1
	}
	c.k = c.block.key(c.i)
}

func (c *packCursor) first() {
	if c.c != nil {
		k, v := c.c.First()
		c.open(k, v, false)
	}
}

func (c *packCursor) last() {
	if c.c != nil {
		k, v := c.c.Last()
		c.open(k, v, true)
	}
}

func (c *packCursor) seek(key []byte) {
	if c.c == nil {
		return
	}
	k, v := seekLast(c.c, key)
	if k == nil {
		c.first()
		return
	}
	c.open(k, v, false)
	if c.block == nil {
		return
	}
	if c.i = c.block.search(key); c.i == c.block.len() {
		k, v = c.c.Next()
		c.open(k, v, false)
		return
	}
	c.k = c.block.key(c.i)
}

func (c *packCursor) seekLast(key []byte) {
	c.k = nil
	if c.c == nil {
		return
	}
	k, v := seekLast(c.c, key)
	c.open(k, v, false)
	if c.block == nil {
		return
	}
	i := c.block.search(key)
	if i < c.block.len() && bytes.Equal(c.block.key(i), key) {
		c.i, c.k = i, c.block.key(i)
		return
	}
	c.i = i
	c.prev()
}

func (c *packCursor) next() {
	if c.i++; c.i == c.block.len() {
		k, v := c.c.Next()
		c.open(k, v, false)
		return
	}
	c.k = c.block.key(c.i)
}

func (c *packCursor) prev() {
	if c.i == 0 {
		k, v := c.c.Prev()
		c.open(k, v, true)
		return
	}
	c.i--
	c.k = c.block.key(c.i)
}
