package store

import (
	"container/list"
	"encoding/binary"
	"sort"
	"sync"
)

// maxCachedMarks bounds the memory of unpacked run vectors: 16 bytes each.
const maxCachedMarks = 4 << 20

// runCache holds unpacked months of the run log. An entry is as new as the
// transaction that read it; a commit that changes a month raises the bar.
type runCache struct {
	mu     sync.Mutex
	months map[monthKey]*list.Element
	order  list.List // of *cachedMonth, most recent first
	held   int
	floor  map[uint32]int // scope → oldest transaction whose reading may be kept
}

type monthKey struct {
	scope uint32
	month uint16
}

type cachedMonth struct {
	key   monthKey
	tx    int
	marks []mark
}

func (c *runCache) get(k monthKey, tx int) ([]mark, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.months[k]
	if !ok {
		return nil, false
	}
	m := e.Value.(*cachedMonth)
	if m.tx < c.floor[k.scope] || tx < c.floor[k.scope] {
		return nil, false
	}
	c.order.MoveToFront(e)
	return m.marks, true
}

func (c *runCache) put(k monthKey, tx int, marks []mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if tx < c.floor[k.scope] {
		return
	}
	if c.months == nil {
		c.months = make(map[monthKey]*list.Element)
	}
	if e, ok := c.months[k]; ok {
		c.drop(e)
	}
	c.months[k] = c.order.PushFront(&cachedMonth{key: k, tx: tx, marks: marks})
	c.held += len(marks)
	for c.held > maxCachedMarks && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

func (c *runCache) drop(e *list.Element) {
	m := e.Value.(*cachedMonth)
	c.order.Remove(e)
	delete(c.months, m.key)
	c.held -= len(m.marks)
}

// changed forgets what older transactions read of a scope.
func (c *runCache) changed(scope uint32, tx int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.floor == nil {
		c.floor = make(map[uint32]int)
	}
	c.floor[scope] = tx
}

// reset forgets everything: the transactions of another file are numbered anew.
func (c *runCache) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.months, c.held, c.floor = nil, 0, nil
	c.order.Init()
}

// markReader reads the run log in one transaction. Marks it returns are shared
// and must not be changed.
type markReader struct {
	cache *runCache
	b     *table
	tx    int
}

func newMarkReader(tx *txn, cache *runCache) *markReader {
	return &markReader{cache: cache, b: tx.table(bucketRuns), tx: tx.ID()}
}

func runsKey(scope uint32, month uint16) []byte {
	return binary.BigEndian.AppendUint16(key32(scope), month)
}

// month returns the marks of one month, in order.
func (r *markReader) month(scope uint32, month uint16) ([]mark, error) {
	k := monthKey{scope, month}
	if m, ok := r.cache.get(k, r.tx); ok {
		return m, nil
	}
	v := r.b.Get(runsKey(scope, month))
	if v == nil {
		return nil, nil
	}
	return r.unpack(k, v)
}

func (r *markReader) unpack(k monthKey, v []byte) ([]mark, error) {
	marks, err := decodeMarks(make([]mark, 0, len(v)/2+1), k.month, v)
	if err != nil {
		return nil, err
	}
	r.cache.put(k, r.tx, marks)
	return marks, nil
}

// months calls fn with the marks of every month of a scope from that of a
// moment on, in order, until it returns false.
func (r *markReader) months(scope, from uint32, fn func([]mark) bool) error {
	return r.walk(scope, runsKey(scope, monthOf(from)), (*cursor).Next, (*cursor).Seek, fn)
}

// monthsBack is months from the month of a moment back to the first.
func (r *markReader) monthsBack(scope, from uint32, fn func([]mark) bool) error {
	return r.walk(scope, runsKey(scope, monthOf(from)), (*cursor).Prev, (*cursor).SeekLast, fn)
}

type (
	cursorMove func(*cursor) (k, v []byte)
	cursorSeek func(*cursor, []byte) (k, v []byte)
)

func (r *markReader) walk(scope uint32, start []byte, move cursorMove, seek cursorSeek, fn func([]mark) bool) error {
	c := r.b.Cursor()
	for k, v := seek(c, start); len(k) == 6 && binary.BigEndian.Uint32(k) == scope; k, v = move(c) {
		key := monthKey{scope, binary.BigEndian.Uint16(k[4:])}
		marks, ok := r.cache.get(key, r.tx)
		if !ok {
			var err error
			if marks, err = r.unpack(key, v); err != nil {
				return err
			}
		}
		if !fn(marks) {
			return nil
		}
	}
	return nil
}

// before returns the newest mark of a scope at or before a moment that ok
// accepts.
func (r *markReader) before(scope, at uint32, ok func(*mark) bool) (m mark, found bool, err error) {
	err = r.monthsBack(scope, at, func(marks []mark) bool {
		end := sort.Search(len(marks), func(i int) bool { return marks[i].at > at })
		for i := end - 1; i >= 0; i-- {
			if ok(&marks[i]) {
				m, found = marks[i], true
				return false
			}
		}
		return true
	})
	return m, found, err
}

// after returns the oldest mark of a scope at or after a moment that ok accepts.
func (r *markReader) after(scope, at uint32, ok func(*mark) bool) (m mark, found bool, err error) {
	err = r.months(scope, at, func(marks []mark) bool {
		start := sort.Search(len(marks), func(i int) bool { return marks[i].at >= at })
		for i := start; i < len(marks); i++ {
			if ok(&marks[i]) {
				m, found = marks[i], true
				return false
			}
		}
		return true
	})
	return m, found, err
}

// confirmed returns the newest moment at or before another at which a feed
// confirmed what it lists; 0 when it did not.
func (r *markReader) confirmed(f feed, at uint32) (uint32, error) {
	m, _, err := r.before(f.scope(), at, func(m *mark) bool { return m.source == f.source() && m.confirms() })
	return m.at, err
}

// between calls fn with every moment in [from, to] at which a feed confirmed
// what it lists.
func (r *markReader) between(f feed, from, to uint32, fn func(at uint32)) error {
	if from > to {
		return nil
	}
	return r.months(f.scope(), from, func(marks []mark) bool {
		start := sort.Search(len(marks), func(i int) bool { return marks[i].at >= from })
		for i := start; i < len(marks); i++ {
			m := &marks[i]
			if m.at > to {
				return false
			}
			if m.source == f.source() && m.confirms() && (i == start || marks[i-1].at != m.at || marks[i-1].source != m.source) {
				fn(m.at)
			}
		}
		return true
	})
}
