package importcsv

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// The columns of the spot advisor's file.
const (
	advTime = iota
	advProvider
	advRegion
	advType
	advGPU
	advCount
	advOS
	advSavings
	advBand
	advLabel
	advCells
)

// maxSignals bounds the signals of one file, which are held in memory.
const maxSignals = 5_000_000

// SignalMoment is everything a file says of one moment.
type SignalMoment struct {
	At      time.Time
	Scopes  []gputide.Scope // what it lists whole, sorted
	Signals []gputide.Signal
	Specs   []gputide.Spec

	// Incomplete is set when a row of the moment was rejected: what is missing
	// may be that row, so nothing is concluded from absence.
	Incomplete bool
}

// Signals returns what a file of form [FormSignals] or [FormAdvisor] says, by
// moment. It returns [gputide.ErrTooLarge] for more than five million signals.
func (r *Reader) Signals(ctx context.Context) ([]SignalMoment, error) {
	a := advisor{r: r, moments: make(map[time.Time]*advised)}
	var err error
	if r.p.Form == FormAdvisor {
		err = r.advisorDump(ctx, &a)
	} else {
		err = r.each(ctx, func(c []string) (Reason, bool) {
			reason := a.add(c)
			return reason, a.n <= maxSignals
		})
	}
	if err == nil && a.n > maxSignals {
		err = gputide.ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	var out []SignalMoment
	for _, at := range slices.SortedFunc(maps.Keys(a.moments), time.Time.Compare) {
		out = append(out, a.moments[at].moment(at, a.lost || a.moments[at].lost))
	}
	return out, nil
}

// advisor gathers rows by moment.
type advisor struct {
	r       *Reader
	n       int
	lost    bool // a row of unknown moment was rejected
	moments map[time.Time]*advised
}

// advised is one moment.
type advised struct {
	signals map[gputide.Signal]int64 // without the value → the value
	specs   map[string]gputide.Spec
	scopes  map[gputide.Scope]bool
	lost    bool
}

func (a *advisor) add(c []string) Reason {
	at, ok := a.r.moment(c[advTime])
	if !ok {
		a.lost = true
		return ReasonTime
	}
	m := a.moments[at]
	if m == nil {
		m = &advised{signals: make(map[gputide.Signal]int64), specs: make(map[string]gputide.Spec), scopes: make(map[gputide.Scope]bool)}
		a.moments[at] = m
	}
	reason := a.row(m, c)
	m.lost = m.lost || reason != ""
	return reason
}

// row takes one row: both of its signals or none.
func (a *advisor) row(m *advised, c []string) Reason {
	p := a.r.p
	os, known := p.OS[c[advOS]]
	switch {
	case c[advProvider] != p.Provider:
		return ReasonProvider
	case !known:
		return ReasonOS
	case c[advType] == "" || c[advRegion] == "":
		return ReasonType
	}
	savings, err := strconv.ParseInt(c[advSavings], 10, 16)
	if err != nil || savings > 100 {
		return ReasonValue
	}
	band, err := strconv.ParseInt(c[advBand], 10, 8)
	if label := gputide.SignalLabel(gputide.SignalInterruption, band); err != nil || label == "" || label != c[advLabel] {
		return ReasonValue
	}
	rules := Rules{Partitions: p.Partitions}
	k := gputide.Key{
		Provider: p.Provider, Partition: rules.partition(c[advRegion]), Region: c[advRegion], InstanceType: c[advType], Market: gputide.Spot,
	}
	os.apply(&k)
	spec := gputide.Spec{Source: "import:" + p.Name, Provider: k.Provider, Partition: k.Partition, InstanceType: k.InstanceType, Device: gputide.Device{Name: c[advGPU]}}
	if c[advCount] != "" {
		var ok bool
		if spec.Device.Count, ok = readCount(c[advCount]); !ok {
			return ReasonCount
		}
	}
	interruption := gputide.Signal{Source: p.Feed, Key: k, Name: gputide.SignalInterruption}
	saved := gputide.Signal{Source: p.Feed, Key: k, Name: gputide.SignalSavings}
	if old, twice := m.signals[interruption]; twice && (old != band || m.signals[saved] != savings) {
		return ReasonTwice
	}
	m.signals[interruption], m.signals[saved] = band, savings
	if spec.Device.Name != "" {
		m.specs[k.Partition+"\x00"+k.InstanceType] = spec
	}
	for _, name := range [...]string{gputide.SignalInterruption, gputide.SignalSavings} {
		m.scopes[gputide.Scope{Partition: k.Partition, Region: k.Region, Market: gputide.Spot, Signal: name}] = true
	}
	a.n += 2
	return ""
}

func (m *advised) moment(at time.Time, incomplete bool) SignalMoment {
	out := SignalMoment{At: at, Incomplete: incomplete}
	for s, v := range m.signals {
		s.Value = v
		out.Signals = append(out.Signals, s)
	}
	slices.SortFunc(out.Signals, func(a, b gputide.Signal) int {
		return strings.Compare(a.Name+"\x00"+a.Key.Canonical(), b.Name+"\x00"+b.Key.Canonical())
	})
	for _, id := range slices.Sorted(maps.Keys(m.specs)) {
		out.Specs = append(out.Specs, m.specs[id])
	}
	for s := range m.scopes {
		out.Scopes = append(out.Scopes, s)
	}
	slices.SortFunc(out.Scopes, func(a, b gputide.Scope) int { return strings.Compare(a.String(), b.String()) })
	return out
}
