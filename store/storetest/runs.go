package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gputide/gputide"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func record(t *testing.T, s Store) {
	r := night{rows: prices1{"a": 5, "b": 0}}.run(0)
	r.StartedAt, r.FinishedAt = r.At.Add(-time.Second), r.At.Add(time.Minute)
	r.Scopes[0].URLs = []string{"https://example.invalid/prices"}
	r.Scopes = append(r.Scopes, gputide.ScopeRun{
		Scope: gputide.Scope{Market: gputide.Spot}, Status: gputide.ScopeFailed, Source: "api", Reason: "HTTP 500",
	})
	r.Report = gputide.Report{Sources: []gputide.SourceReport{{Source: "api", Status: gputide.SourceOK, Read: 2, Kept: 1, Skipped: map[string]int64{"no_price": 1}}}}
	r.Bodies = []gputide.Body{{Source: "api", URL: "https://example.invalid/prices", Status: 200, Hash: strings.Repeat("ab", 32), Size: 12, FetchedAt: r.At}}
	r.Err = "1 scope failed"
	res := commit(t, s, r)
	got, err := s.Run(t.Context(), res.RunID)
	if err != nil {
		t.Fatal(err)
	}
	want := gputide.RunRecord{
		ID: res.RunID, Provider: "acme", At: r.At, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, RecordedAt: got.RecordedAt,
		Cause: r.Cause, CodeVersion: r.CodeVersion, Scopes: r.Scopes, Report: r.Report, Result: res, Bodies: r.Bodies, Err: r.Err,
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("record (-want +got):\n%s", d)
	}
	second := commit(t, s, night{rows: prices1{"a": 5}}.run(1))
	list, err := s.Runs(t.Context(), "", 1)
	if err != nil || len(list) != 1 || list[0].ID != second.RunID {
		t.Errorf("newest run: %+v, %v", list, err)
	}
	if second.Confirmed != 1 || second.Changed+second.FirstSeen != 0 {
		t.Errorf("result of an uneventful run: %+v", second)
	}
	moved := commit(t, s, night{source: "page", rows: prices1{"a": 5}}.run(2))
	if moved.Confirmed != 1 || moved.Changed != 0 {
		t.Errorf("result of a run from another source: %+v, want the offer confirmed", moved)
	}
	if none, err := s.Runs(t.Context(), "other", 0); err != nil || len(none) != 0 {
		t.Errorf("runs of a provider never crawled: %v, %v", none, err)
	}
	if _, err := s.Run(t.Context(), 99); !errors.Is(err, gputide.ErrNotFound) {
		t.Errorf("run 99: %v, want ErrNotFound", err)
	}
}

func quarantine(t *testing.T, s Store) {
	row := gputide.Quarantined{
		Key: offer("east", "a", 1).Key, Source: "api", Reason: "price_step", Price: new(gputide.Nano(500)),
		Published: gputide.Published{Amount: "500", Unit: gputide.PerHour}, BodyHash: "ab",
	}
	commit(t, s, night{rows: prices1{"a": 5}}.run(0))
	r := night{rows: prices1{"a": 0}}.run(1)
	r.Quarantined = []gputide.Quarantined{row}
	commit(t, s, r)
	row.At, row.Row = r.At, 1
	got, err := s.Quarantine(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]gputide.Quarantined{row}, got); d != "" {
		t.Errorf("quarantine (-want +got):\n%s", d)
	}
	b, err := s.Baseline(t.Context(), "acme", at(1000*day24))
	if err != nil {
		t.Fatal(err)
	}
	want := gputide.SeriesBaseline{Price: 5, Present: true, Held: true, Source: "api", HeldPrice: row.Price}
	if d := cmp.Diff(want, b.Series[row.Key.ID()]); d != "" {
		t.Errorf("baseline (-want +got):\n%s", d)
	}
	commit(t, s, night{status: gputide.ScopeFailed}.run(2))
	if got, _ := s.Quarantine(t.Context(), ""); len(got) != 1 {
		t.Errorf("a failed scope settled %d rows", 1-len(got))
	}
	commit(t, s, night{rows: prices1{"a": 500}}.run(3))
	if got, _ := s.Quarantine(t.Context(), "acme"); len(got) != 0 {
		t.Errorf("a usable row left %d in quarantine", len(got))
	}
}

func specs(t *testing.T, s Store) {
	spec := func(vcpu float64) gputide.Spec {
		return gputide.Spec{
			Source: "api", Provider: "acme", Partition: "p", InstanceType: "a", VCPU: new(vcpu), BareMetal: new(false),
			Device: gputide.Device{
				Name: "H100 \u2026\"80GB\"", Other: []string{"x"}, Count: gputide.NewCount(1, 8), MemoryGB: new(80.0), Passthrough: new(true),
			},
			Use: []string{"training"}, EgressPricePerGB: "0.090",
		}
	}
	put := func(day int, sp ...gputide.Spec) gputide.CommitResult {
		r := night{rows: prices1{"a": 5}}.run(day)
		r.Specs = sp
		return commit(t, s, r)
	}
	if res := put(0, spec(8)); res.Specs != 1 {
		t.Errorf("first spec: %+v", res)
	}
	if res := put(1, spec(8)); res.Specs != 0 {
		t.Errorf("the same spec again: %+v", res)
	}
	put(4, spec(16))
	put(2, spec(12)) // into the past: the run of night 4 says what came after
	for day, want := range map[int]float64{0: 8, 1: 8, 2: 12, 3: 12, 4: 16, 9: 16} {
		got, err := s.Specs(t.Context(), gputide.Selection{}, at(time.Duration(day)*day24))
		if err != nil || len(got) != 1 {
			t.Fatalf("night %d: %d specs, %v", day, len(got), err)
		}
		if d := cmp.Diff(spec(want), got[0]); d != "" {
			t.Errorf("night %d (-want +got):\n%s", day, d)
		}
	}
	if got, err := s.Specs(t.Context(), gputide.Selection{}, at(-time.Hour)); err != nil || len(got) != 0 {
		t.Errorf("before it was known: %v, %v", got, err)
	}
	other := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldInstanceType, Values: []string{"b"}}}}
	if got, err := s.Specs(t.Context(), other, at(9*day24)); err != nil || len(got) != 0 {
		t.Errorf("of another type: %v, %v", got, err)
	}
	n := 0
	for c, err := range s.Changes(t.Context(), gputide.ChangeFilter{Kinds: []gputide.ChangeKind{gputide.ChangeSpec}}) {
		if err != nil || c.Key != (gputide.Key{Provider: "acme", Partition: "p", InstanceType: "a"}) {
			t.Errorf("change %+v, %v", c, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d spec changes, want 2: the first spec is none", n)
	}
}

func signals(t *testing.T, s Store) {
	signal := func(typ string, v int64) gputide.Signal {
		return gputide.Signal{
			Source: "api", Name: gputide.SignalAvailability, Value: v, Key: gputide.Key{Provider: "acme", Region: "east", InstanceType: typ},
		}
	}
	put := func(day int, status gputide.ScopeStatus, sig ...gputide.Signal) {
		t.Helper()
		r := &gputide.Run{Provider: "acme", At: at(time.Duration(day) * day24), Cause: gputide.CauseCrawl}
		r.Scopes = []gputide.ScopeRun{{
			Scope: gputide.Scope{Signal: gputide.SignalAvailability}, Status: status, Source: "api", Count: len(sig),
		}}
		r.Signals = sig
		commit(t, s, r)
	}
	put(0, gputide.ScopeDone, signal("a", 0), signal("b", 4))
	put(1, gputide.ScopeDone, signal("a", 3), signal("b", 4))
	put(2, gputide.ScopeFailed)
	put(3, gputide.ScopeDone, signal("b", 4))
	for _, c := range []struct {
		day  int
		want map[string]int64
		seen int
	}{
		{0, map[string]int64{"a": 0, "b": 4}, 0},
		{1, map[string]int64{"a": 3, "b": 4}, 1},
		{2, map[string]int64{"a": 3, "b": 4}, 1},
		{3, map[string]int64{"b": 4}, 3},
	} {
		got, err := s.Signals(t.Context(), gputide.Selection{}, gputide.SignalAvailability, at(time.Duration(c.day)*day24))
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]int64{}
		for _, v := range got {
			values[v.Key.InstanceType] = v.Value
			if !v.ObservedAt.Equal(at(time.Duration(c.seen) * day24)) {
				t.Errorf("night %d: %s observed %s, want night %d", c.day, v.Key.InstanceType, v.ObservedAt, c.seen)
			}
		}
		if d := cmp.Diff(c.want, values); d != "" {
			t.Errorf("night %d (-want +got):\n%s", c.day, d)
		}
	}
	if q, err := s.Quotes(t.Context(), gputide.Selection{}, at(9*day24)); err != nil || len(q) != 0 {
		t.Errorf("signals are quoted: %v, %v", q, err)
	}
	if got, err := s.Signals(t.Context(), gputide.Selection{}, gputide.SignalSavings, at(9*day24)); err != nil || len(got) != 0 {
		t.Errorf("another signal: %v, %v", got, err)
	}
}

func rates(t *testing.T, s Store) {
	rate := func(date, amount string) gputide.Rate {
		d, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		return gputide.Rate{Date: d, Base: "EUR", Quote: "USD", Amount: amount, Source: "ecb"}
	}
	put := func(day int, r ...gputide.Rate) int {
		t.Helper()
		return commit(t, s, &gputide.Run{Provider: "ecb", At: at(time.Duration(day) * day24), Cause: gputide.CauseCrawl, Rates: r}).Rates
	}
	// The values of 1, 2 and 3 February 2023 are in history/facts.md 17 and 46.
	if n := put(0, rate("2023-02-01", "1.0894"), rate("2023-02-03", "1.0937")); n != 2 {
		t.Errorf("%d rates added, want 2", n)
	}
	if n := put(1, rate("2023-02-01", "1.0894"), rate("2023-02-03", "1.0937")); n != 0 {
		t.Errorf("%d rates added again, want 0", n)
	}
	for when, want := range map[string]string{
		"2023-02-01T00:00:00Z": "1.0894", "2023-02-02T23:59:59Z": "1.0894", "2023-02-04T12:00:00Z": "1.0937", "2023-01-31T23:59:59Z": "",
	} {
		at, _ := time.Parse(time.RFC3339, when)
		got, ok, err := s.Rate(t.Context(), "USD", at)
		if err != nil || ok != (want != "") || got.Amount != want {
			t.Errorf("rate at %s: %+v %t, %v, want %q", when, got, ok, err, want)
		}
	}
	if _, ok, err := s.Rate(t.Context(), "CNY", at(0)); ok || err != nil {
		t.Errorf("rate of a currency without one: %t, %v", ok, err)
	}
	if n := put(2, rate("2023-02-03", "1.0938")); n != 1 {
		t.Errorf("a corrected rate counts %d", n)
	}
	if got, _, _ := s.Rate(t.Context(), "USD", at(0)); got.Amount != "1.0938" {
		t.Errorf("corrected rate: %+v", got)
	}
	if _, err := s.CommitRun(t.Context(), &gputide.Run{Provider: "ecb", At: at(3 * day24), Cause: gputide.CauseCrawl, Rates: []gputide.Rate{rate("2023-02-03", "0")}}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("a rate of zero: %v, want ErrInvalid", err)
	}
}

func baseline(t *testing.T, s Store) {
	empty, err := s.Baseline(t.Context(), "acme", at(1000*day24))
	if err != nil || len(empty.Scopes)+len(empty.Series) != 0 {
		t.Errorf("before any run: %+v, %v", empty, err)
	}
	commit(t, s, night{rows: prices1{"a": 5, "b": 6}}.run(0))
	commit(t, s, night{source: "page", rows: prices1{"a": 5}}.run(1))
	held := night{status: gputide.ScopeHeld}.run(2)
	held.Scopes[0].Digest = "d1"
	commit(t, s, held)
	check := func(want gputide.ScopeBaseline) {
		t.Helper()
		got, err := s.Baseline(t.Context(), "acme", at(1000*day24))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]gputide.ScopeBaseline{want}, got.Scopes); d != "" {
			t.Errorf("scopes (-want +got):\n%s", d)
		}
	}
	want := gputide.ScopeBaseline{
		Scope: wholeMarket, LastSource: "page", LastDone: map[string]int{"api": 2, "page": 1}, LastAt: at(2 * day24), DoneAt: at(day24),
		HeldDigest: "d1", Sources: map[string]int64{"api": 1, "page": 1},
	}
	check(want)
	commit(t, s, night{rows: prices1{"a": 5}}.run(3))
	want.LastSource, want.LastDone["api"], want.LastAt, want.DoneAt, want.HeldDigest = "api", 1, at(3*day24), at(3*day24), ""
	want.Sources["api"]++
	check(want)
	got, _ := s.Baseline(t.Context(), "acme", at(1000*day24))
	series := map[gputide.OfferID]gputide.SeriesBaseline{
		offer("east", "a", 1).Key.ID(): {Price: 5, Present: true, Source: "api"},
		offer("east", "b", 1).Key.ID(): {Price: 6, Source: "api"},
	}
	if d := cmp.Diff(series, got.Series); d != "" {
		t.Errorf("series (-want +got):\n%s", d)
	}
	types := map[gputide.TypeName]struct{}{{InstanceType: "a"}: {}, {InstanceType: "b"}: {}}
	if d := cmp.Diff(types, got.Types); d != "" {
		t.Errorf("types (-want +got):\n%s", d)
	}
}

// refused lists runs that contradict themselves: nothing of them is stored.
func refused(t *testing.T, s Store) {
	for name, spoil := range map[string]func(*gputide.Run){
		"no provider":              func(r *gputide.Run) { r.Provider = "" },
		"no moment":                func(r *gputide.Run) { r.At = time.Time{} },
		"unknown cause":            func(r *gputide.Run) { r.Cause = "guess" },
		"a scope twice":            func(r *gputide.Run) { r.Scopes = append(r.Scopes, r.Scopes[0]) },
		"unknown status":           func(r *gputide.Run) { r.Scopes[0].Status = "maybe" },
		"offer outside all scopes": func(r *gputide.Run) { r.Offers[0].Key.Market = gputide.Spot },
		"offer of a failed scope":  func(r *gputide.Run) { r.Scopes[0].Status = gputide.ScopeFailed },
		"offer of another source":  func(r *gputide.Run) { r.Offers[0].Source = "page" },
		"offer of another cloud":   func(r *gputide.Run) { r.Offers[0].Key.Provider = "evil" },
		"price of zero":            func(r *gputide.Run) { r.Offers[0].Price = 0 },
		"negative price":           func(r *gputide.Run) { r.Offers[0].Price = -1 },
		"price too large":          func(r *gputide.Run) { r.Offers[0].Price = gputide.MaxNano + 1 },
		"two prices for one key": func(r *gputide.Run) {
			o := r.Offers[0]
			o.Price++
			r.Offers = append(r.Offers, o)
		},
		"zero byte in a key":  func(r *gputide.Run) { r.Offers[0].Key.Zone = "a\x00b" },
		"source of an import": func(r *gputide.Run) { r.Scopes[0].Source, r.Offers[0].Source = "import:x", "import:x" },
	} {
		r := night{rows: prices1{"a": 5}}.run(0)
		spoil(r)
		if _, err := s.CommitRun(t.Context(), r); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	if qs, err := s.Quotes(t.Context(), gputide.Selection{}, at(9*day24)); err != nil || len(qs) != 0 {
		t.Errorf("refused runs left %d offers, %v", len(qs), err)
	}
	twins := night{rows: prices1{"a": 5}}.run(0)
	twins.Offers = append(twins.Offers, twins.Offers[0])
	if res := commit(t, s, twins); res.FirstSeen != 1 {
		t.Errorf("equal twins: %+v, want one offer", res)
	}
}

// feeds covers event feeds: rows at their own moments, windows that overlap, a
// price that contradicts a stored one, and that absence means nothing.
func feeds(t *testing.T, s Store) {
	feed := func(day int, rows map[time.Duration]gputide.Nano) *gputide.Run {
		r := &gputide.Run{Provider: "acme", At: at(time.Duration(day) * day24), Cause: gputide.CauseCrawl, Cadence: day24}
		r.Scopes = []gputide.ScopeRun{{
			Scope: wholeMarket, Status: gputide.ScopeDone, Source: "history", EventFeed: true, From: at(0), To: r.At, Count: len(rows),
		}}
		for when, price := range rows {
			o := offer("east", "a", price)
			o.At = at(when)
			r.Offers = append(r.Offers, fromSource("history", o)...)
		}
		return r
	}
	res := commit(t, s, feed(1, map[time.Duration]gputide.Nano{time.Hour: 5, 3 * time.Hour: 6, 4 * time.Hour: 6}))
	if res.FirstSeen != 1 || res.Changed != 1 {
		t.Errorf("first window: %+v", res)
	}
	res = commit(t, s, feed(2, map[time.Duration]gputide.Nano{3 * time.Hour: 6, 30 * time.Hour: 7}))
	if res.FirstSeen != 0 || res.Changed != 1 || res.Conflicts != 0 {
		t.Errorf("a window that overlaps: %+v", res)
	}
	res = commit(t, s, feed(3, map[time.Duration]gputide.Nano{3 * time.Hour: 9}))
	if res.Changed != 0 || res.Conflicts != 1 {
		t.Errorf("another price at a stored moment: %+v, want one conflict", res)
	}
	commit(t, s, feed(4, nil))
	obs, err := s.Observations(t.Context(), offer("east", "a", 1).Key.ID(), time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := []gputide.Observation{
		{At: at(time.Hour), Price: 5}, {At: at(3 * time.Hour), Price: 6}, {At: at(4 * time.Hour), Price: 6}, {At: at(30 * time.Hour), Price: 7},
	}
	if d := cmp.Diff(want, obs); d != "" {
		t.Errorf("observations (-want +got):\n%s", d)
	}
	if q := quoteOf(t, s, offer("east", "a", 1).Key, at(4*day24)); q.State != gputide.StateStale || !q.ObservedAt.Equal(at(30*time.Hour)) {
		t.Errorf("after an empty window: %+v, want stale: a feed confirms nothing it does not tell", q)
	}
}
