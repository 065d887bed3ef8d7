package store

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gputide/gputide"
)

// writer is one write transaction on behalf of one provider.
type writer struct {
	db       *DB
	tx       *txn
	d        *dict
	offers   *bookWriter
	signals  *bookWriter
	marks    *markReader
	log      logWriter
	recorded uint32

	provider  string
	pid       uint32
	sources   *sourceTable
	sourcesIn int // sources stored before
	scopes    map[uint32]gputide.Scope
	fresh     []uint32             // scopes that came to be in this transaction
	months    map[monthKey][]mark  // changed months, unpacked
	appended  map[uint32]markChain // marks behind everything stored of their scope
	held      map[uint32]string    // scopes with a new digest of the run held last
	res       gputide.CommitResult
	prints    []print
	retired   []uint64 // runs deleted
	runAt     uint32   // moment of the run written
	forgotten [2][]uint32
	spliced   [2]map[uint32]bool // series changed in their past: what was listed need not be what holds
}

// markChain is marks that go behind the newest stored one.
type markChain struct {
	tail  mark // the newest stored mark
	has   bool // whether there is one
	marks []mark
}

// print remembers what was listed of a series, to be cached after the commit.
type print struct {
	book int
	sid  uint32
	next uint32
	sum  uint64
	ids  *[recordSlots]uint32
}

func (db *DB) newWriter(tx *txn, provider string, cause gputide.Cause) (*writer, error) {
	code, err := causeCode(cause)
	if err != nil {
		return nil, err
	}
	d := newDict(tx, &db.dict)
	w := &writer{
		db: db, tx: tx, d: d, provider: provider,
		offers:   newBookWriter(offersOf(tx), d, &db.keys[0], tx.table(bucketDetail)),
		signals:  newBookWriter(signalsOf(tx), d, &db.keys[1], nil),
		marks:    newMarkReader(tx, &runCache{}),
		recorded: clampSeconds(db.now()),
		months:   make(map[monthKey][]mark),
		appended: make(map[uint32]markChain),
		held:     make(map[uint32]string),
		scopes:   make(map[uint32]gputide.Scope),
		spliced:  [2]map[uint32]bool{make(map[uint32]bool), make(map[uint32]bool)},
	}
	w.log = logWriter{cause: code, recorded: w.recorded}
	w.pid = d.intern(provider)
	if w.sources, err = loadSources(tx.Bucket(bucketScope), d, w.pid); err != nil {
		return nil, err
	}
	w.sourcesIn = len(w.sources.names)
	stored, err := loadScopes(tx.Bucket(bucketScope), d, w.pid)
	if err != nil {
		return nil, err
	}
	for _, s := range stored {
		w.scopes[s.id] = s.s
	}
	return w, nil
}

func (w *writer) books() [2]*bookWriter { return [2]*bookWriter{w.offers, w.signals} }

// scope returns the id of a scope of the provider.
func (w *writer) scope(s gputide.Scope) (uint32, error) {
	text := scopeText(w.provider, s)
	if len(text) > maxKeyText {
		return 0, fmt.Errorf("%w: scope of %d bytes", gputide.ErrInvalid, len(text))
	}
	id := w.d.intern(text)
	if _, ok := w.scopes[id]; !ok {
		if _, _, err := parseScope(text); err != nil {
			return 0, fmt.Errorf("%w: scope %q holds a zero byte", gputide.ErrInvalid, s)
		}
		w.scopes[id] = s
		w.fresh = append(w.fresh, id)
	}
	return id, nil
}

func (w *writer) imported(f feed) bool { return w.sources.imported(f.source()) }

// rank places a mark among those of its moment.
func (w *writer) rank(m *mark) uint8 { return markRank(w.sources, m) }

func markRank(sources *sourceTable, m *mark) uint8 {
	switch {
	case sources.imported(m.source):
		return rankImport
	case m.flags&markEventFeed != 0:
		return rankFeed
	}
	return rankRun
}

func (w *writer) compareMarks(a, b mark) int {
	return cmp.Or(cmp.Compare(w.rank(&a), w.rank(&b)), cmp.Compare(a.source, b.source))
}

// newest returns the newest stored mark of a scope.
func (w *writer) newest(scope uint32) (mark, bool, error) {
	if m, ok := w.db.tails[scope]; ok {
		return m, true, nil
	}
	m, ok, err := w.marks.before(scope, maxSeconds, func(*mark) bool { return true })
	if err == nil && ok {
		if w.db.tails == nil {
			w.db.tails = make(map[uint32]mark)
		}
		w.db.tails[scope] = m
	}
	return m, ok, err
}

// month returns an unpacked month that may be changed.
func (w *writer) month(k monthKey) ([]mark, error) {
	if m, ok := w.months[k]; ok {
		return m, nil
	}
	m, err := w.marks.month(k.scope, k.month)
	if err != nil {
		return nil, err
	}
	m = slices.Clone(m)
	w.months[k] = m
	return m, nil
}

// addMark records the outcome of a scope.
func (w *writer) addMark(scope uint32, m mark) error {
	tail, has, err := w.newest(scope)
	if err != nil {
		return err
	}
	chain, started := w.appended[scope]
	if !started {
		chain = markChain{tail: tail, has: has}
	}
	last, any := chain.tail, chain.has
	if n := len(chain.marks); n > 0 {
		last, any = chain.marks[n-1], true
	}
	_, unpacked := w.months[monthKey{scope, monthOf(m.at)}]
	if !unpacked && (!any || m.at > last.at) {
		chain.marks = append(chain.marks, m)
		w.appended[scope] = chain
		return nil
	}
	if started { // give the order of arrival up
		delete(w.appended, scope)
		for _, c := range chain.marks {
			if err := w.insertMark(scope, c); err != nil {
				return err
			}
		}
	}
	return w.insertMark(scope, m)
}

func (w *writer) insertMark(scope uint32, m mark) error {
	k := monthKey{scope, monthOf(m.at)}
	marks, err := w.month(k)
	if err != nil {
		return err
	}
	w.months[k] = insertMark(marks, m, w.compareMarks)
	return nil
}

// dropMarks takes marks of one moment out of a scope.
func (w *writer) dropMarks(scope, at uint32, match func(*mark) bool) error {
	k := monthKey{scope, monthOf(at)}
	marks, err := w.month(k)
	if err != nil {
		return err
	}
	w.months[k] = slices.DeleteFunc(marks, func(m mark) bool { return m.at == at && match(&m) })
	return nil
}

// flushMarks writes the run log.
func (w *writer) flushMarks() error {
	b := w.tx.table(bucketRuns)
	b.fill(fillAppend)
	var pairs []pair
	for k, marks := range w.months {
		if len(marks) == 0 {
			if err := b.Delete(runsKey(k.scope, k.month)); err != nil {
				return fmt.Errorf("runs: %w", err)
			}
			continue
		}
		pairs = append(pairs, pair{runsKey(k.scope, k.month), encodeMarks(k.month, marks)})
	}
	for scope, chain := range w.appended {
		for start := 0; start < len(chain.marks); {
			month := monthOf(chain.marks[start].at)
			end := start
			for end < len(chain.marks) && monthOf(chain.marks[end].at) == month {
				end++
			}
			key := runsKey(scope, month)
			v := encodeMarks(month, chain.marks[start:end])
			if start == 0 && chain.has && monthOf(chain.tail.at) == month {
				v = slices.Clone(b.Get(key))
				prev := chain.tail
				for _, m := range chain.marks[:end] {
					v = appendMark(v, prev, m, false)
					prev = m
				}
			}
			pairs = append(pairs, pair{key, v})
			start = end
		}
	}
	if err := b.putSorted(pairs); err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	return nil
}

// flush writes everything but the run's own record, `runs` last.
func (w *writer) flush() error {
	scopes := w.tx.Bucket(bucketScope)
	var pairs []pair
	if len(w.sources.names) > w.sourcesIn {
		pairs = append(pairs, pair{key32(w.pid), w.sources.encode(w.d)})
	}
	for _, id := range w.fresh {
		if _, ok := w.held[id]; !ok {
			w.held[id] = ""
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.held)) {
		pairs = append(pairs, pair{keyPair(w.pid, id), []byte(w.held[id])})
	}
	for _, b := range w.books() {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if err := w.log.flush(w.tx.table(bucketLog)); err != nil {
		return err
	}
	if err := putSorted(scopes, pairs); err != nil {
		return fmt.Errorf("scope: %w", err)
	}
	if err := w.d.flush(); err != nil {
		return err
	}
	return w.flushMarks()
}

// changedScopes lists the scopes whose run log the transaction changed.
func (w *writer) changedScopes() []uint32 {
	set := make(map[uint32]bool)
	for k := range w.months {
		set[k.scope] = true
	}
	for s := range w.appended {
		set[s] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// committed brings the caches up to what was written.
func (w *writer) committed() {
	w.d.publish()
	w.rememberRun()
	for k := range w.months {
		delete(w.db.tails, k.scope)
	}
	for s, chain := range w.appended {
		if w.db.tails == nil {
			w.db.tails = make(map[uint32]mark)
		}
		w.db.tails[s] = chain.marks[len(chain.marks)-1]
	}
	for i := range w.db.keys {
		for _, sid := range w.forgotten[i] {
			w.db.keys[i].forget(sid)
		}
	}
	for i := range w.prints {
		p := &w.prints[i]
		if w.spliced[p.book][p.sid] {
			continue
		}
		c := &w.db.keys[p.book]
		e := c.entry(p.sid)
		if e == nil {
			if p.ids == nil {
				continue
			}
			e = c.add(p.sid, p.ids)
		}
		e.print, e.next = p.sum, p.next
	}
}

// update runs fn in a write transaction of a provider and brings the caches up
// to date after the commit. An error of fn leaves everything as it was.
func (db *DB) update(provider string, cause gputide.Cause, fn func(*writer) error) error {
	db.swap.RLock()
	defer db.swap.RUnlock()
	var w *writer
	err := db.write(func(tx *txn) error {
		var err error
		if w, err = db.newWriter(tx, provider, cause); err != nil {
			return err
		}
		if err := fn(w); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
		for _, s := range w.changedScopes() {
			db.runs.changed(s, tx.ID())
		}
		return nil
	})
	if err != nil {
		// What the writer cached of a transaction that did not happen is void.
		db.keys, db.tails, db.runAt = [2]keyCache{}, nil, nil
		return err
	}
	w.committed()
	return nil
}

// rememberRun keeps the index of runs by moment, and the newest run of the
// provider, up to date.
func (w *writer) rememberRun() {
	if w.res.RunID == 0 {
		return
	}
	if w.db.lastRun == nil {
		w.db.lastRun = make(map[uint32]uint64)
	}
	w.db.lastRun[w.pid] = w.res.RunID
	if w.db.runAt == nil {
		return
	}
	m := runMoment{w.pid, w.runAt}
	ids := slices.DeleteFunc(w.db.runAt[m], func(id uint64) bool { return slices.Contains(w.retired, id) })
	w.db.runAt[m] = append(ids, w.res.RunID)
}
