package crawler

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/gputide/gputide"
)

// ranks gives each source its authority: 0 is the highest.
type ranks map[string]int

func newRanks(sources []gputide.Source) ranks {
	r := make(ranks, len(sources))
	for i, s := range sources {
		r[s.ID] = i
	}
	return r
}

// compare orders sources by authority; those Info does not name stand last, by
// name.
func (r ranks) compare(a, b string) int {
	return cmp.Or(cmp.Compare(r.of(a), r.of(b)), cmp.Compare(a, b))
}

func (r ranks) of(source string) int {
	if i, ok := r[source]; ok {
		return i
	}
	return len(r)
}

// typeKey names an instance type of the provider.
type typeKey struct{ partition, name string }

// statement is one spec with the text that tells it from others.
type statement struct {
	spec *gputide.Spec
	text string
}

// instanceType is what a run has read of one instance type. Specs added apart
// from rows stand in base; a row is judged by base and its own spec, never by
// the spec of another row, so that the order of rows does not matter.
type instanceType struct {
	provider string
	key      typeKey
	norm     normalizer
	rank     ranks
	known    bool // the store has offers of it

	base   []statement
	baseOK bool // base alone describes an accelerator
	any    bool // some spec of the type does

	// The row spec seen last, and what was made of it.
	last       *gputide.Spec
	lastSource string
	lastOwn    *statement
	lastMerged *gputide.Spec
	lastOK     bool

	rows map[string]*statement // distinct specs of rows, by text
}

// add takes a spec that came apart from rows. It reports false for one with a
// number that is none.
func (t *instanceType) add(spec gputide.Spec) bool {
	st, ok := t.state(&spec, spec.Source)
	if !ok || slices.ContainsFunc(t.base, func(b statement) bool { return b.text == st.text }) {
		return ok
	}
	t.base = append(t.base, st)
	t.forget()
	t.baseOK = t.norm.Accelerated(t.merge())
	t.any = t.any || t.baseOK
	return true
}

// forget drops what was made of the last row spec.
func (t *instanceType) forget() {
	t.last, t.lastOwn, t.lastMerged, t.lastOK, t.lastSource = nil, nil, nil, false, ""
}

// accelerated reports whether a row with the given spec of its own is an offer
// of an accelerator.
func (t *instanceType) accelerated(own *gputide.Spec, source string) bool {
	if own == nil || !own.Device.Known() {
		return t.baseOK
	}
	t.look(own, source)
	return t.lastOK
}

// resolve returns the row's own spec, one value for equal ones, and that spec
// completed by those that came apart. Both are nil when nothing is known.
func (t *instanceType) resolve(own *gputide.Spec, source string) (row *statement, merged *gputide.Spec) {
	if own == nil {
		if t.lastMerged == nil || t.last != nil {
			t.forget()
			t.lastMerged = t.merge()
		}
		return nil, t.lastMerged
	}
	t.look(own, source)
	return t.lastOwn, t.lastMerged
}

// look makes own the spec seen last.
func (t *instanceType) look(own *gputide.Spec, source string) {
	if t.last == own && t.lastSource == source {
		return
	}
	t.forget()
	t.last, t.lastSource = own, source
	st, ok := t.state(own, source)
	if !ok {
		t.lastMerged, t.lastOK = t.merge(), t.baseOK
		return
	}
	if t.rows == nil {
		t.rows = make(map[string]*statement)
	}
	if t.rows[st.text] == nil {
		t.rows[st.text] = &st
	}
	t.lastOwn = t.rows[st.text]
	t.lastMerged = t.merge(*t.lastOwn)
	t.lastOK = t.norm.Accelerated(t.lastMerged)
	t.any = t.any || t.lastOK
}

// state returns a copy of spec that names its type and its source. ok is false
// for a spec with a number that is none.
func (t *instanceType) state(spec *gputide.Spec, source string) (st statement, ok bool) {
	s := *spec
	s.Provider, s.Partition, s.InstanceType = t.provider, t.key.partition, t.key.name
	if s.Source == "" {
		s.Source = source
	}
	text, err := json.Marshal(&s)
	if err != nil {
		return statement{}, false // NaN or infinity
	}
	return statement{spec: &s, text: string(text)}, true
}

// merge returns base and more as one spec, nil when there is none.
func (t *instanceType) merge(more ...statement) *gputide.Spec {
	return mergeSpecs(t.rank, append(more, t.base...))
}

// mergeSpecs makes one spec of several: of two statements the one of the more
// authoritative source holds, and between equals the one that sorts first, so
// that the outcome does not depend on the order of arrival.
func mergeSpecs(rank ranks, all []statement) *gputide.Spec {
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b statement) int {
		return cmp.Or(rank.compare(a.spec.Source, b.spec.Source), cmp.Compare(a.text, b.text))
	})
	merged := *all[0].spec
	for _, st := range all[1:] {
		merged.Fill(st.spec)
	}
	return &merged
}

// textOf returns the text of st, "" when there is none.
func (st *statement) textOf() string {
	if st == nil {
		return ""
	}
	return st.text
}
