package query

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// moves is a world whose offers changed: the year and month, the type and the
// prices before and after.
func moves(t *testing.T) *world {
	w := newWorld(t)
	for _, c := range []struct{ at, provider, typ, before, after string }{
		{"2025-03-01", "aws", "a", "", "10"},
		{"2025-04-01", "aws", "a", "10", "5"},
		{"2025-04-02", "aws", "a", "5", "9"},
		{"2026-01-05", "aws", "b", "1", "3"},
		{"2026-02-05", "gcp", "c", "8", "2"},
		{"2026-02-06", "gcp", "c", "2", "2.1"},
	} {
		k := gputide.Key{Provider: c.provider, InstanceType: c.typ, Market: gputide.OnDemand, Stat: gputide.StatList, Currency: "USD"}
		change := gputide.Change{
			Seq: uint64(len(w.changes) + 1), ID: k.ID(), Key: k, Kind: gputide.ChangePrice, SeenAt: moment(t, c.at),
			RecordedAt: moment(t, c.at), Cause: gputide.CauseImport, After: new(amount(t, c.after)),
		}
		if c.before == "" {
			change.Kind = gputide.ChangeFirstSeen
			w.offer(k, c.after)
		} else {
			change.Before = new(amount(t, c.before))
		}
		w.changes = append(w.changes, change)
	}
	return w
}

func (w *world) changesOf(req ChangesRequest) ChangesAnswer {
	w.Helper()
	ans, err := newEngine(w.memory).Changes(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	return ans
}

func TestChangesCounted(t *testing.T) {
	w := moves(t)
	for _, tt := range []struct {
		req  ChangesRequest
		want []string
	}{
		{ChangesRequest{CountBy: "year"}, []string{"2025-01-01T00:00:00Z 2", "2026-01-01T00:00:00Z 3"}},
		{ChangesRequest{CountBy: "quarter"}, []string{"2025-04-01T00:00:00Z 2", "2026-01-01T00:00:00Z 3"}},
		{ChangesRequest{CountBy: "month", Top: 1}, []string{"2025-04-01T00:00:00Z 2"}},
		{ChangesRequest{CountBy: "day", From: moment(t, "2026-02-06")}, []string{"2026-02-06T00:00:00Z 1"}},
		{ChangesRequest{CountBy: "provider"}, []string{"aws 3", "gcp 2"}},
		{ChangesRequest{CountBy: "provider", Kinds: []string{"first_seen"}}, []string{"aws 1"}},
		{ChangesRequest{CountBy: "provider", Limit: 1}, []string{"aws 3"}},
	} {
		ans := w.changesOf(tt.req)
		var got []string
		for _, r := range ans.Counts {
			got = append(got, fmt.Sprintf("%s %d", r.Value, r.Count))
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%+v: %s", tt.req, d)
		}
	}
	series := w.changesOf(ChangesRequest{CountBy: "series", Top: 2}).Counts
	if len(series) != 2 || series[0].Count != 2 || series[0].OfferID == "" || series[0].InstanceType == "" || series[0].First.IsZero() {
		t.Errorf("%+v", series)
	}
	golden(t, "changes.json", "changes-count.golden.json", series)
	if e := w.changesOf(ChangesRequest{CountBy: "year", From: moment(t, "2026-03-01")}).Empty; e == nil || e.Without[0].Filter != "from=2026-03-01T00:00:00Z" {
		t.Errorf("%+v", e)
	}
	for _, req := range []ChangesRequest{{CountBy: "moth"}, {Top: -1}} {
		if _, err := newEngine(w.memory).Changes(t.Context(), req); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// A fall to a quarter is larger than a rise to the triple.
func TestTopChanges(t *testing.T) {
	var got []string
	for _, r := range moves(t).changesOf(ChangesRequest{Top: 3}).Rows {
		got = append(got, fmt.Sprintf("%s %s→%s", r.InstanceType, r.Before, r.After))
	}
	if d := cmp.Diff([]string{"c 8→2", "b 1→3", "a 10→5"}, got); d != "" {
		t.Error(d)
	}
}
