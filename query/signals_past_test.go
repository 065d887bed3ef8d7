package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// hears adds a signal with values from days of September on; the last holds
// until now, and a negative one is time without the signal.
func (w *world) hears(name string, k gputide.Key, days []int, values []int64) {
	h := gputide.SignalHistory{Key: k, Name: name}
	for i, v := range values {
		from, to := time.Date(2026, 9, days[i], 0, 0, 0, 0, time.UTC), noon
		if i+1 < len(days) {
			to = time.Date(2026, 9, days[i+1], 0, 0, 0, 0, time.UTC)
		}
		if v >= 0 {
			h.Intervals = append(h.Intervals, gputide.SignalInterval{From: from, To: to, Value: v, LastObserved: to.Add(-time.Hour)})
		}
	}
	w.heard = append(w.heard, h)
}

func spans(ans SignalsAnswer) []string {
	out := []string{}
	for _, r := range ans.Spans {
		out = append(out, fmt.Sprintf("%s %s %d %s..%s", r.InstanceType, r.Name, r.Value, r.From.Format("02T15"), r.To.Format("02T15")))
	}
	return out
}

func TestSignalsOverAWindow(t *testing.T) {
	w := showcase(t)
	k := func(typ string) gputide.Key {
		return gputide.Key{Provider: "aws", Region: "eu-west-1", InstanceType: typ, OS: "linux"}
	}
	w.hears(gputide.SignalInterruption, k("b"), []int{1, 11, 21}, []int64{0, -1, 2})
	w.hears(gputide.SignalInterruption, k("a"), []int{11, 16}, []int64{0, 1})
	w.hears(gputide.SignalSavings, k("a"), []int{21}, []int64{60})
	e := newEngine(w.memory)
	ask := func(req SignalsRequest) SignalsAnswer {
		t.Helper()
		ans, err := e.Signals(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return ans
	}
	all := []string{
		"a interruption 0 11T00..16T00", "a interruption 1 16T00..30T12", "b interruption 0 01T00..11T00", "b interruption 2 21T00..30T12",
		"a savings 60 21T00..30T12",
	}
	window := SignalsRequest{From: moment(t, "2026-09-14"), To: moment(t, "2026-09-24")}
	if d := cmp.Diff(all, spans(ask(SignalsRequest{From: moment(t, "2026-01-01")}))); d != "" {
		t.Errorf("from: %s", d)
	}
	if d := cmp.Diff(all[:1], spans(ask(SignalsRequest{To: moment(t, "2026-10-01"), Limit: 1}))); d != "" {
		t.Errorf("to, and a limit: %s", d)
	}
	ans := ask(window)
	want := []string{"a interruption 0 14T00..16T00", "a interruption 1 16T00..24T00", "b interruption 2 21T00..24T00", "a savings 60 21T00..24T00"}
	if d := cmp.Diff(want, spans(ans)); d != "" {
		t.Errorf("cut to the window: %s", d)
	}
	golden(t, "signals.json", "signals-spans.golden.json", ans.Spans)
	window.Filter.Type, window.Name = []string{"b"}, "interruption"
	if d := cmp.Diff(want[2:3], spans(ask(window))); d != "" {
		t.Errorf("of one type, though no offer and no signal of now is of it: %s", d)
	}
	counted := ask(SignalsRequest{Name: "interruption", From: moment(t, "2026-09-01"), To: moment(t, "2026-09-26"), CountBy: "value"})
	var counts []string
	for _, c := range counted.Counts {
		counts = append(counts, fmt.Sprint(c.Value, " ", c.Count, " ", c.ShareOfTime))
	}
	if d := cmp.Diff([]string{"0 2 0.5", "1 1 0.333333", "2 1 0.166667"}, counts); d != "" {
		t.Errorf("15, 10 and 5 days of 30: %s", d)
	}
	empty := ask(SignalsRequest{From: moment(t, "2026-08-01"), To: moment(t, "2026-08-02")})
	if empty.Empty == nil || !strings.Contains(empty.Empty.Text, "to=2026-08-02T00:00:00Z emptied") {
		t.Errorf("%+v", empty.Empty)
	}
	for name, req := range map[string]SignalsRequest{
		"a moment too": {From: moment(t, "2026-09-01"), At: noon}, "backwards": {From: noon, To: noon.Add(-time.Hour)},
		"the future": {From: noon.Add(time.Hour)}, "a name": {From: moment(t, "2026-09-01"), Name: "weather"},
	} {
		if _, err := e.Signals(t.Context(), req); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
