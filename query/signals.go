package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// countByValue is the one field signals are counted by.
const countByValue = "value"

// Signals returns signals by name and key, or how many there are of each value;
// over a window, each value with the time in which it held. It returns
// [gputide.ErrInvalid] for a request it does not understand.
func (e *Engine) Signals(ctx context.Context, req SignalsRequest) (SignalsAnswer, error) {
	if req.windowed() {
		return e.signalSpans(ctx, req)
	}
	rows, at, err := e.signals(ctx, &req)
	if err != nil {
		return SignalsAnswer{}, err
	}
	ans := SignalsAnswer{At: at, Total: len(rows)}
	if len(rows) == 0 {
		ans.Empty, err = e.emptySignals(ctx, req)
		return ans, err
	}
	if req.CountBy == countByValue {
		ans.Counts = countSignals(rows)
		ans.Total = len(ans.Counts)
		ans.Counts = atMost(ans.Counts, req.Limit)
		return ans, nil
	}
	rows = atMost(rows, req.Limit)
	ans.Rows = make([]SignalRow, len(rows))
	for i := range rows {
		ans.Rows[i] = signalRow(&rows[i], at)
	}
	return ans, nil
}

// signalAsk is a request for signals with its values understood.
type signalAsk struct {
	names []string
	scene *scene
	specs *specIndex // nil where no spec is asked about
	where Regions
}

// signalAsk understands a request about a moment.
func (e *Engine) signalAsk(ctx context.Context, req *SignalsRequest, at time.Time) (*signalAsk, error) {
	ask := &signalAsk{where: e.Regions}
	var err error
	if ask.names, err = req.names(); err != nil {
		return nil, err
	}
	if ask.scene, err = e.plain(ctx, &req.Filter, askSignals); err != nil {
		return nil, err
	}
	ask.scene.at = at
	test := &ask.scene.plan.spec
	ask.specs, err = e.specsFor(ctx, ask.scene, test.active() || test.derived != nil)
	return ask, err
}

// selection returns what to ask the store for.
func (a *signalAsk) selection() gputide.Selection {
	return gputide.Selection{Matches: a.scene.plan.key}
}

// keeps judges the key of a signal by what the store does not select by.
func (a *signalAsk) keeps(k *gputide.Key) bool {
	p := a.scene.plan
	return p.matches(k) && p.place.covers(a.where, k) && (a.specs == nil || a.specs.matches(&p.spec, k))
}

// signals reads the signals that answer a request, sorted by name and key.
func (e *Engine) signals(ctx context.Context, req *SignalsRequest) ([]gputide.SignalValue, time.Time, error) {
	at := e.moment(req.At)
	ask, err := e.signalAsk(ctx, req, at)
	if err != nil {
		return nil, at, err
	}
	var out []gputide.SignalValue
	for _, name := range ask.names {
		values, err := e.Reader.Signals(ctx, ask.selection(), name, at)
		if err != nil {
			return nil, at, fmt.Errorf("signal %s: %w", name, err)
		}
		for i := range values {
			if ask.keeps(&values[i].Key) {
				out = append(out, values[i])
			}
		}
	}
	slices.SortStableFunc(out, compareSignals)
	return out, at, nil
}

// names returns the signals asked for.
func (req *SignalsRequest) names() ([]string, error) {
	if req.CountBy != "" && req.CountBy != countByValue {
		return nil, unknown("count-by", req.CountBy, []string{countByValue})
	}
	if req.Limit < 0 {
		return nil, fmt.Errorf("%w: limit %d", gputide.ErrInvalid, req.Limit)
	}
	names := gputide.SignalNames()
	switch {
	case req.Name == "":
		return names, nil
	case !slices.Contains(names, req.Name):
		return nil, unknown("signal", req.Name, names)
	}
	return []string{req.Name}, nil
}

func compareSignals(a, b gputide.SignalValue) int {
	if n := cmp.Compare(a.Name, b.Name); n != 0 {
		return n
	}
	return compareKeys(&a.Key, &b.Key)
}

// compareKeys orders keys as people read them: provider, place, type, then the
// rest.
func compareKeys(a, b *gputide.Key) int {
	for _, f := range []gputide.Field{
		gputide.FieldProvider, gputide.FieldPartition, gputide.FieldSeller, gputide.FieldRegion, gputide.FieldZone,
		gputide.FieldInstanceType,
	} {
		if n := cmp.Compare(a.Get(f), b.Get(f)); n != 0 {
			return n
		}
	}
	for _, f := range gputide.KeyFields() {
		if n := cmp.Compare(a.Get(f), b.Get(f)); n != 0 {
			return n
		}
	}
	return 0
}

func countSignals(sorted []gputide.SignalValue) []SignalCountRow {
	type class struct {
		name  string
		value int64
	}
	counts := map[class]int64{}
	for i := range sorted {
		counts[class{sorted[i].Name, sorted[i].Value}]++
	}
	out := make([]SignalCountRow, 0, len(counts))
	for c, n := range counts {
		out = append(out, SignalCountRow{
			Name: Text(c.name), Value: c.value, Label: Text(gputide.SignalLabel(c.name, c.value)), Count: n,
		})
	}
	sortCounts(out)
	return out
}

func sortCounts(rows []SignalCountRow) {
	slices.SortFunc(rows, func(a, b SignalCountRow) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
}

func signalRow(s *gputide.SignalValue, at time.Time) SignalRow {
	return SignalRow{
		KeyRow: NewKeyRow(&s.Key), Name: Text(s.Name), Value: s.Value, Label: Text(gputide.SignalLabel(s.Name, s.Value)),
		Since: Stamp{s.Since}, ObservedAt: Stamp{s.ObservedAt}, AgeS: age(at, s.ObservedAt), Source: Text(s.Source),
	}
}

func (e *Engine) emptySignals(ctx context.Context, req SignalsRequest) (*Empty, error) {
	cs := filterConstraints(func(r *SignalsRequest) *Filter { return &r.Filter }, req)
	if req.Name != "" {
		cs = append(cs, constraint[SignalsRequest]{"name=" + req.Name, func(r *SignalsRequest) { r.Name = "" }})
	}
	cs = append(cs, momentConstraint(req, func(r *SignalsRequest) *time.Time { return &r.At })...)
	cs = append(cs, windowConstraints(req, func(r *SignalsRequest) (from, to *time.Time) { return &r.From, &r.To })...)
	return whyEmpty(req, cs, "signals", func(less SignalsRequest) (int, error) {
		if less.windowed() {
			found, _, err := e.signalPasts(ctx, &less)
			return len(found), err
		}
		rows, _, err := e.signals(ctx, &less)
		return len(rows), err
	})
}
