package crawler

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/gputide/gputide"
)

// ErrHeld is returned for a scope that was held back: what it lists differs from
// the past in a way that is more often an error than news. Its last good data
// stays; the next run that lists the same is accepted.
var ErrHeld = errors.New("held back")

// The bounds of the scope guards.
const (
	minShare       = 50   // percent of the last done run of the same source a scope must list
	maxFresh       = 20   // percent of its offers that may be new
	maxFreshRows   = 5000 // offers that may be new
	maxRefused     = 10   // percent of its rows that may be refused
	hundredfold    = 100
	percentOfWhole = 100
)

// judge returns why the scope is not believed, nil when it is. compare says
// whether the past may be held against it.
func (st *scopeState) judge(compare bool) error {
	if st.run.EventFeed {
		return nil // an empty window is an answer, and rows are events
	}
	if st.read == 0 && !st.unplaced {
		return fmt.Errorf("%w: %w", ErrHeld, gputide.ErrEmpty)
	}
	if st.kept > 0 && st.aggregates == st.kept {
		return nil // listings come and go
	}
	if compare && st.base != nil {
		if err := st.judgePast(); err != nil {
			return err
		}
	}
	if rows := st.kept + st.guarded; st.guarded*percentOfWhole > maxRefused*rows {
		return fmt.Errorf("%w: %d of %d rows refused, see the quarantine", ErrHeld, st.guarded, rows)
	}
	return nil
}

func (st *scopeState) judgePast() error {
	source, listed := st.run.Source, st.kept+st.held
	if last := st.base.LastDone[source]; listed*percentOfWhole < minShare*last {
		return fmt.Errorf("%w: %s lists %d, its last good run %d", ErrHeld, source, listed, last)
	}
	if st.base.Sources[source] == 0 {
		return nil // its first run: everything may be new
	}
	if st.fresh > maxFreshRows || st.fresh*percentOfWhole > maxFresh*st.kept {
		return fmt.Errorf("%w: %d of %d offers are new", ErrHeld, st.fresh, st.kept)
	}
	return nil
}

// volatileSignals are signals whose scopes may shrink to nothing from one run to
// the next.
func volatileSignal(name string) bool {
	return name == gputide.SignalAvailability || name == gputide.SignalListings
}

// judgeSignals is judge for a scope of signals.
func (st *scopeState) judgeSignals(compare bool) error {
	if st.run.EventFeed || volatileSignal(st.run.Scope.Signal) {
		return nil
	}
	if st.read == 0 && !st.unplaced {
		return fmt.Errorf("%w: %w", ErrHeld, gputide.ErrEmpty)
	}
	if last := st.lastDone(); compare && st.kept*percentOfWhole < minShare*last {
		return fmt.Errorf("%w: %s lists %d, its last good run %d", ErrHeld, st.run.Source, st.kept, last)
	}
	return nil
}

func (st *scopeState) lastDone() int {
	if st.base == nil {
		return 0
	}
	return st.base.LastDone[st.run.Source]
}

// isAggregate reports whether a price stands for listings that come and go.
func isAggregate(s gputide.Stat) bool {
	return s == gputide.StatMin || s == gputide.StatP50 || s == gputide.StatBidFloor
}

// hasSteadyPrice reports whether the price of k is a list price that does not
// jump: the price-step guards apply to it.
func hasSteadyPrice(k *gputide.Key) bool {
	if k.Stat != gputide.StatList && k.Stat != "" {
		return false
	}
	switch k.Market {
	case gputide.OnDemand, gputide.Subscription, gputide.Commitment:
		return true
	default:
		return false
	}
}

// priceStep reports whether the price moved by exactly the number of
// accelerators or by exactly a hundred, up or down: the mark of a changed basis
// or unit rather than of a new price. Exactly means up to the rounding of both
// prices to nano-units.
func priceStep(before, after gputide.Nano, count gputide.Count) (detail string, stepped bool) {
	if before <= 0 || after <= 0 || before == after {
		return "", false
	}
	if count.Known() && count.Num > count.Den && isRatio(before, after, count) {
		return fmt.Sprintf("from %s to %s: exactly the accelerator count %s", before, after, count), true
	}
	if isRatio(before, after, gputide.NewCount(hundredfold, 1)) {
		return fmt.Sprintf("from %s to %s: exactly a factor of %d", before, after, hundredfold), true
	}
	return "", false
}

// isRatio reports whether one price is ratio times the other. Each price is off
// by at most half a nano-unit, so small·num and big·den differ by at most half
// of num+den.
func isRatio(a, b gputide.Nano, ratio gputide.Count) bool {
	low, high := min(a, b), max(a, b)
	x := new(big.Int).Mul(big.NewInt(int64(low)), big.NewInt(int64(ratio.Num)))
	y := new(big.Int).Mul(big.NewInt(int64(high)), big.NewInt(int64(ratio.Den)))
	twice := x.Sub(x, y)
	twice.Abs(twice).Lsh(twice, 1)
	return twice.Cmp(big.NewInt(int64(ratio.Num)+int64(ratio.Den))) <= 0
}
