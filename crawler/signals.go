package crawler

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gputide/gputide"
)

// placedSignal is a signal with its scope, nil when it belongs to none.
type placedSignal struct {
	signal gputide.Signal
	id     gputide.OfferID
	state  *scopeState
}

// takeSignals puts the signals of the sources that feed their scopes into the
// run. Of two that disagree the one of the more authoritative source is taken,
// and of two of the same source neither.
func (a *assembly) takeSignals() {
	placed := a.placeSignals()
	slices.SortFunc(placed, func(x, y placedSignal) int {
		return cmp.Or(
			compareSignals(&x, &y),
			a.rank.compare(x.signal.Source, y.signal.Source),
			cmp.Compare(x.signal.Value, y.signal.Value),
			cmp.Compare(x.signal.Part, y.signal.Part),
		)
	})
	var taken []placedSignal
	disagree := 0
	for len(placed) > 0 {
		n, equal := 1, true
		for n < len(placed) && compareSignals(&placed[n], &placed[0]) == 0 {
			same := placed[n].signal.Source == placed[0].signal.Source
			equal = equal && (!same || placed[n].signal.Value == placed[0].signal.Value)
			n++
		}
		if equal {
			taken = append(taken, placed[0])
		} else {
			disagree++
		}
		placed = placed[n:]
	}
	if disagree > 0 {
		a.note("%d signals were stated twice with different values and are left out", disagree)
	}
	a.judgeSignals(taken)
	for _, p := range taken {
		if p.state == nil || p.state.done() {
			a.run.Signals = append(a.run.Signals, p.signal)
		}
	}
}

// placeSignals returns the signals that their scopes, or for want of a signal
// scope the price scopes of their source, let through.
func (a *assembly) placeSignals() []placedSignal {
	placed := make([]placedSignal, 0, len(a.signals))
	left := 0
	for _, sig := range a.signals {
		if sig.Name == "" {
			left++
			continue
		}
		p := placedSignal{signal: sig, id: sig.Key.ID()}
		k := cellKey{
			sig.Source, sig.Key.Partition, sig.Key.Seller, sig.Key.Region, sig.Key.Market, sig.Part, false,
		}
		if x := a.index[sig.Name]; x != nil {
			p.state = x.find(&k, sig.Name)
		}
		if p.state != nil {
			if !p.state.feeds(sig.Source) {
				left++
				continue
			}
			p.state.read++
		} else if !a.besidePrices(&k) {
			left++
			continue
		}
		placed = append(placed, p)
	}
	if left > 0 {
		a.note("%d signals are left out: unnamed, or their scopes are not read from their source", left)
	}
	a.signals = nil
	return placed
}

// besidePrices reports whether a signal outside any signal scope stands: its
// source feeds a price scope it may belong to, or reported none.
func (a *assembly) besidePrices(k *cellKey) bool {
	where := k.where()
	reported := false
	for _, st := range a.states {
		if st.run.Scope.Signal != "" || !overlap(st.run.Scope, where) {
			continue
		}
		if st.feeds(k.source) {
			return true
		}
		reported = reported || a.reports[lane{st.run.Scope, st.run.EventFeed}][k.source] != nil
	}
	return !reported
}

// judgeSignals applies the scope guards to the signal scopes.
func (a *assembly) judgeSignals(taken []placedSignal) {
	for _, p := range taken {
		if p.state != nil {
			p.state.kept++
			p.state.list.Write(p.id[:])
		}
	}
	for _, st := range a.states {
		if st.done() && st.run.Scope.Signal != "" {
			a.judge(st, (*scopeState).judgeSignals)
		}
	}
}

func compareSignals(a, b *placedSignal) int {
	return cmp.Or(cmp.Compare(a.signal.Name, b.signal.Name), bytes.Compare(a.id[:], b.id[:]))
}
