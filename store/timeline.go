package store

import (
	"encoding/binary"
	"slices"
	"sort"
	"unsafe"
)

// timeline is the run log of a scope from a month on, in the form histories are read
// against: every series of the scope meets the same few changes of it.
type timeline struct {
	month uint16   // the first it tells of
	ats   []uint32 // moments of the marks, in order
	runs  []markRun
}

// markRun is marks of a timeline that differ in nothing but their moment and
// count, none too late for what was observed at the one before.
type markRun struct {
	mark       mark // the first of them
	start, end int  // in ats
}

// add takes in the marks of the next month.
func (t *timeline) add(marks []mark) {
	for i := range marks {
		m := &marks[i]
		if n := len(t.runs); n > 0 {
			last := t.runs[n-1].mark
			if last.at = t.ats[len(t.ats)-1]; alike(&last, m) {
				t.ats = append(t.ats, m.at)
				t.runs[n-1].end++
				continue
			}
		}
		t.runs = append(t.runs, markRun{mark: *m, start: len(t.ats), end: len(t.ats) + 1})
		t.ats = append(t.ats, m.at)
	}
}

// alike reports whether b says of every series what a said, and in time.
func alike(a, b *mark) bool {
	return a.status == b.status && a.source == b.source && a.flags == b.flags && a.cadence == b.cadence &&
		uint64(b.at) < staleFrom(a, a.at)
}

// behind returns the index of the first run that has a mark behind a moment.
// hint is a run to begin the search at.
func (t *timeline) behind(at uint32, hint int) int {
	last := func(i int) uint32 { return t.ats[t.runs[i].end-1] }
	if hint > len(t.runs) || (hint > 0 && last(hint-1) > at) {
		hint = 0
	}
	for range 2 { // most often it is that run or the next
		if hint == len(t.runs) || last(hint) > at {
			return hint
		}
		hint++
	}
	return hint + sort.Search(len(t.runs)-hint, func(i int) bool { return last(hint+i) > at })
}

// from returns the index of the first mark of a run behind a moment, no lower
// than its start; end of the run when there is none.
func (t *timeline) from(r *markRun, at uint32) int {
	if t.ats[r.start] > at {
		return r.start
	}
	lo, hi := r.start, r.end
	if first, last := t.ats[lo], t.ats[hi-1]; last > at { // marks are mostly as far apart
		guess := lo + int(uint64(at-first)*uint64(hi-1-lo)/uint64(last-first))
		lo, hi = around(t.ats, lo, hi, guess, at)
	}
	return lo + sort.Search(hi-lo, func(i int) bool { return t.ats[lo+i] > at })
}

// around narrows [lo, hi) to a few places beside a guess where what is looked
// for lies there.
func around(ats []uint32, lo, hi, guess int, at uint32) (int, int) {
	const near = 4
	if a := guess - near; a > lo && ats[a] <= at {
		lo = a
	}
	if b := guess + near; b < hi && ats[b] > at {
		hi = b + 1
	}
	return lo, hi
}

// bytes is the memory a timeline takes.
func (t *timeline) bytes() int { return 4*cap(t.ats) + int(unsafe.Sizeof(markRun{}))*cap(t.runs) }

// timeline returns that of a scope from the month of a moment on, or from
// earlier. It is shared and must not be changed.
func (r *markReader) timeline(scope, from uint32) (*timeline, error) {
	l, month := r.line(scope), monthOf(from)
	if l.time != nil && l.time.month <= month {
		return l.time, nil
	}
	r.cache.reading.Lock() // readers of the same series want the same timelines
	defer r.cache.reading.Unlock()
	t, ok := r.cache.timeline(scope, r.tx)
	if !ok || t.month > month {
		var err error
		if t, err = r.readTimeline(l, month); err != nil {
			return nil, err
		}
		r.cache.putTimeline(scope, r.tx, t)
	}
	l.time = t
	return t, nil
}

func (r *markReader) readTimeline(l *scopeLine, month uint16) (*timeline, error) {
	t := &timeline{month: month}
	var marks []mark
	c := r.b.Cursor()
	for k, v := c.Seek(runsKey(l.scope, month)); len(k) == 6 && be32(k) == l.scope; k, v = c.Next() {
		var err error
		if marks, err = decodeMarks(marks[:0], binary.BigEndian.Uint16(k[4:]), v); err != nil {
			return nil, err
		}
		if t.ats == nil { // months are much alike
			first, _ := slices.BinarySearch(l.months, month)
			t.ats = make([]uint32, 0, (len(marks)+1)*(len(l.months)-first))
		}
		t.add(marks)
	}
	return t, nil
}
