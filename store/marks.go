package store

import (
	"container/list"
	"encoding/binary"
	"slices"
	"sort"
	"sync"
)

const (
	// maxCachedMarks bounds the memory of unpacked run vectors: 16 bytes each.
	maxCachedMarks = 4 << 20

	// maxCachedScopes bounds that of the months scopes have.
	maxCachedScopes = 1 << 16

	// maxCachedTimelines bounds that of timelines, in bytes.
	maxCachedTimelines = 32 << 20
)

// runCache holds unpacked months of the run log, and which months a scope has.
// An entry is as new as the transaction that read it; a commit that changes a
// scope raises the bar.
type runCache struct {
	reading sync.Mutex // held while a timeline is read, so that it is read once

	mu     sync.Mutex // guards what follows
	months map[monthKey]*list.Element
	order  list.List // of *cachedMonth, most recent first
	held   int
	scopes map[uint32]cachedScope
	times  map[uint32]cachedTimeline
	timed  int            // bytes of the timelines
	floor  map[uint32]int // scope → oldest transaction whose reading may be kept
}

type monthKey struct {
	scope uint32
	month uint16
}

type cachedMonth struct {
	key   monthKey
	tx    int
	marks *monthMarks
}

// cachedScope is the months of a scope, in order.
type cachedScope struct {
	tx     int
	months []uint16
}

type cachedTimeline struct {
	tx   int
	time *timeline
}

// monthMarks is the marks of one month, in order.
type monthMarks struct {
	marks []mark
}

// since returns the index of the first mark at or behind a moment.
func (m *monthMarks) since(at uint32) int {
	return sort.Search(len(m.marks), func(i int) bool { return m.marks[i].at >= at })
}

// fresh reports whether what one transaction read of a scope holds in another.
func (c *runCache) fresh(scope uint32, read, tx int) bool {
	return read >= c.floor[scope] && tx >= c.floor[scope]
}

func (c *runCache) get(k monthKey, tx int) (*monthMarks, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.months[k]
	if !ok {
		return nil, false
	}
	m := e.Value.(*cachedMonth)
	if !c.fresh(k.scope, m.tx, tx) {
		return nil, false
	}
	c.order.MoveToFront(e)
	return m.marks, true
}

func (c *runCache) put(k monthKey, tx int, marks *monthMarks) {
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
	c.held += len(marks.marks)
	for c.held > maxCachedMarks && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

func (c *runCache) drop(e *list.Element) {
	m := e.Value.(*cachedMonth)
	c.order.Remove(e)
	delete(c.months, m.key)
	c.held -= len(m.marks.marks)
}

func (c *runCache) scope(scope uint32, tx int) ([]uint16, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.scopes[scope]
	return s.months, ok && c.fresh(scope, s.tx, tx)
}

func (c *runCache) putScope(scope uint32, tx int, months []uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if tx < c.floor[scope] {
		return
	}
	if c.scopes == nil || len(c.scopes) >= maxCachedScopes {
		c.scopes = make(map[uint32]cachedScope)
	}
	c.scopes[scope] = cachedScope{tx: tx, months: months}
}

func (c *runCache) timeline(scope uint32, tx int) (*timeline, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.times[scope]
	return t.time, ok && c.fresh(scope, t.tx, tx)
}

func (c *runCache) putTimeline(scope uint32, tx int, t *timeline) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if tx < c.floor[scope] || t.bytes() > maxCachedTimelines {
		return
	}
	if old, ok := c.times[scope]; ok {
		c.timed -= old.time.bytes()
	}
	if c.timed += t.bytes(); c.times == nil || c.timed > maxCachedTimelines {
		c.times, c.timed = make(map[uint32]cachedTimeline), t.bytes()
	}
	c.times[scope] = cachedTimeline{tx: tx, time: t}
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
	c.months, c.held, c.scopes, c.floor = nil, 0, nil, nil
	c.times, c.timed = nil, 0
	c.order.Init()
}

// markReader reads the run log in one transaction. Marks it returns are shared
// and must not be changed.
type markReader struct {
	cache *runCache
	b     *table
	tx    int
	lines map[uint32]*scopeLine
	last  *scopeLine // asked for last
}

// scopeLine is the months of one scope, each read when it is first asked for.
type scopeLine struct {
	scope  uint32
	months []uint16
	read   []*monthMarks
	time   *timeline // nil until it is asked for
}

func newMarkReader(tx *txn, cache *runCache) *markReader {
	return &markReader{cache: cache, b: tx.table(bucketRuns), tx: tx.ID(), lines: make(map[uint32]*scopeLine)}
}

// line returns the months of a scope.
func (r *markReader) line(scope uint32) *scopeLine {
	if r.last != nil && r.last.scope == scope {
		return r.last
	}
	l := r.lines[scope]
	if l == nil {
		months, ok := r.cache.scope(scope, r.tx)
		if !ok {
			months = r.monthsOf(scope)
			r.cache.putScope(scope, r.tx, months)
		}
		l = &scopeLine{scope: scope, months: months, read: make([]*monthMarks, len(months))}
		r.lines[scope] = l
	}
	r.last = l
	return l
}

func (r *markReader) monthsOf(scope uint32) (months []uint16) {
	c := r.b.Cursor()
	for c.seek(key32(scope)); len(c.key()) == 6 && be32(c.key()) == scope; c.next() {
		months = append(months, binary.BigEndian.Uint16(c.key()[4:]))
	}
	return months
}

// from returns the index of the first month at or behind that of a moment.
func (l *scopeLine) from(at uint32) int {
	n := len(l.months)
	if n > 0 && at >= monthStart(l.months[n-1]) { // most questions are of now
		if monthOf(at) > l.months[n-1] {
			return n
		}
		return n - 1
	}
	i, _ := slices.BinarySearch(l.months, monthOf(at))
	return i
}

// at returns the marks of month i of a line.
func (r *markReader) at(l *scopeLine, i int) (*monthMarks, error) {
	if m := l.read[i]; m != nil {
		return m, nil
	}
	k := monthKey{l.scope, l.months[i]}
	m, ok := r.cache.get(k, r.tx)
	if !ok {
		v := r.b.Get(runsKey(k.scope, k.month))
		marks, err := decodeMarks(make([]mark, 0, len(v)/2+1), k.month, v)
		if err != nil {
			return nil, err
		}
		m = &monthMarks{marks}
		r.cache.put(k, r.tx, m)
	}
	l.read[i] = m
	return m, nil
}

func runsKey(scope uint32, month uint16) []byte {
	return binary.BigEndian.AppendUint16(key32(scope), month)
}

// month returns the marks of one month, in order.
func (r *markReader) month(scope uint32, month uint16) ([]mark, error) {
	l := r.line(scope)
	i, ok := slices.BinarySearch(l.months, month)
	if !ok {
		return nil, nil
	}
	m, err := r.at(l, i)
	if err != nil {
		return nil, err
	}
	return m.marks, nil
}

// months calls fn with the marks of every month of a scope from that of a
// moment on, in order, until it returns false.
func (r *markReader) months(scope, from uint32, fn func(*monthMarks) bool) error {
	l := r.line(scope)
	for i := l.from(from); i < len(l.months); i++ {
		if m, err := r.at(l, i); err != nil || !fn(m) {
			return err
		}
	}
	return nil
}

// before returns the newest mark of a scope at or before a moment that ok
// accepts.
func (r *markReader) before(scope, at uint32, ok func(*mark) bool) (mark, bool, error) {
	l := r.line(scope)
	for i := min(l.from(at), len(l.months)-1); i >= 0; i-- {
		m, err := r.at(l, i)
		if err != nil {
			return mark{}, false, err
		}
		n := len(m.marks)
		if n > 0 && m.marks[n-1].at > at {
			n = sort.Search(n, func(j int) bool { return m.marks[j].at > at })
		}
		for n--; n >= 0; n-- {
			if ok(&m.marks[n]) {
				return m.marks[n], true, nil
			}
		}
	}
	return mark{}, false, nil
}

// after returns the oldest mark of a scope at or after a moment that ok accepts.
func (r *markReader) after(scope, at uint32, ok func(*mark) bool) (found mark, has bool, err error) {
	err = r.months(scope, at, func(m *monthMarks) bool {
		for i := m.since(at); i < len(m.marks); i++ {
			if ok(&m.marks[i]) {
				found, has = m.marks[i], true
				return false
			}
		}
		return true
	})
	return found, has, err
}

// confirmed returns the newest moment at or before another at which a feed
// confirmed what it lists; 0 when it did not.
func (r *markReader) confirmed(f feed, at uint32) (uint32, error) {
	m, _, err := r.before(f.scope(), at, func(m *mark) bool { return m.source == f.source() && m.confirms() })
	return m.at, err
}

// between appends every moment in [from, to] at which a feed confirmed what it
// lists.
func (r *markReader) between(out []uint32, f feed, from, to uint32) ([]uint32, error) {
	if from > to {
		return out, nil
	}
	source := f.source()
	err := r.months(f.scope(), from, func(month *monthMarks) bool {
		marks := month.marks
		start := month.since(from)
		for i := start; i < len(marks); i++ {
			m := &marks[i]
			if m.at > to {
				return false
			}
			if m.source == source && m.confirms() && (i == start || marks[i-1].at != m.at || marks[i-1].source != source) {
				out = append(out, m.at)
			}
		}
		return true
	})
	return out, err
}
