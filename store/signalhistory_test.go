package store_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

var signalStart = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// signalRun lists signals at an hour; without any, a source that has none.
func signalRun(hour int, status gputide.ScopeStatus, signals ...gputide.Signal) *gputide.Run {
	return &gputide.Run{
		Provider: "acme", At: signalStart.Add(time.Duration(hour) * time.Hour), Cause: gputide.CauseCrawl, Cadence: time.Hour,
		Scopes: []gputide.ScopeRun{{
			Scope: gputide.Scope{Signal: gputide.SignalAvailability}, Status: status, Source: "api", Count: len(signals),
		}},
		Signals: signals,
	}
}

func availability(typ string, v int64) gputide.Signal {
	return gputide.Signal{
		Source: "api", Name: gputide.SignalAvailability, Value: v, Key: gputide.Key{Provider: "acme", Region: "east", InstanceType: typ},
	}
}

func TestSignalIntervals(t *testing.T) {
	db := open(t, store.Options{})
	mustCommit(t, db, signalRun(0, gputide.ScopeDone, availability("a", 0), availability("b", 4)))
	mustCommit(t, db, signalRun(1, gputide.ScopeDone, availability("a", 3), availability("b", 4)))
	mustCommit(t, db, signalRun(2, gputide.ScopeFailed))
	mustCommit(t, db, signalRun(3, gputide.ScopeDone, availability("b", 4)))
	mustCommit(t, db, signalRun(5, gputide.ScopeDone, availability("a", 3), availability("b", 4)))
	hour := func(n int) time.Time { return signalStart.Add(time.Duration(n) * time.Hour) }
	half := hour(0).Add(30 * time.Minute)
	got, err := db.SignalIntervals(t.Context(), gputide.Selection{}, gputide.SignalAvailability, half, hour(6))
	if err != nil {
		t.Fatal(err)
	}
	want := []gputide.SignalHistory{
		{Key: availability("a", 0).Key, Name: gputide.SignalAvailability, Intervals: []gputide.SignalInterval{
			{From: half, To: hour(1), Value: 0, LastObserved: hour(0)},
			{From: hour(1), To: hour(3), Value: 3, LastObserved: hour(1)},
			{From: hour(5), To: hour(6), Value: 3, LastObserved: hour(5)},
		}},
		{Key: availability("b", 0).Key, Name: gputide.SignalAvailability, Intervals: []gputide.SignalInterval{
			{From: half, To: hour(6), Value: 4, LastObserved: hour(5)},
		}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	one := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldInstanceType, Values: []string{"a"}}}}
	for name, tt := range map[string]struct {
		sel      gputide.Selection
		signal   string
		from, to time.Time
		want     int
	}{
		"one":               {one, gputide.SignalAvailability, hour(0), hour(6), 1},
		"while it was gone": {one, gputide.SignalAvailability, hour(3), hour(5), 0},
		"before all":        {one, "", hour(-5), hour(0), 0},
		"another signal":    {one, gputide.SignalListings, hour(0), hour(6), 0},
		"no time":           {one, "", hour(1), hour(1), 0},
		"whole history":     {gputide.Selection{}, "", time.Time{}, time.Time{}, 2},
	} {
		got, err := db.SignalIntervals(t.Context(), tt.sel, tt.signal, tt.from, tt.to)
		if err != nil || len(got) != tt.want {
			t.Errorf("%s: %d signals, %v, want %d", name, len(got), err, tt.want)
		}
	}
}

// TestSignalIntervalsAreTheSignals asks of random histories, at random moments
// of random windows, whether the interval of the moment and the signals as of it
// are the same.
func TestSignalIntervalsAreTheSignals(t *testing.T) {
	types := []string{"a", "b", "c", "d"}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 7))
		db := open(t, store.Options{})
		hours := rng.Perm(200)[:40]
		if seed%2 == 0 {
			slices.Sort(hours)
		}
		for _, hour := range hours {
			if rng.IntN(5) == 0 {
				mustCommit(t, db, signalRun(hour, gputide.ScopeFailed))
				continue
			}
			var list []gputide.Signal
			for _, typ := range types {
				if rng.IntN(4) > 0 {
					list = append(list, availability(typ, int64(rng.IntN(3))))
				}
			}
			mustCommit(t, db, signalRun(hour, gputide.ScopeDone, list...))
		}
		for range 20 {
			from := signalStart.Add(time.Duration(rng.IntN(200*3600)-3600) * time.Second)
			to := from.Add(time.Duration(1+rng.IntN(100*3600)) * time.Second)
			checkSignalWindow(t, db, rng, from, to)
		}
	}
}

func checkSignalWindow(t *testing.T, db *store.DB, rng *rand.Rand, from, to time.Time) {
	t.Helper()
	past, err := db.SignalIntervals(t.Context(), gputide.Selection{}, gputide.SignalAvailability, from, to)
	if err != nil {
		t.Fatal(err)
	}
	moments := []time.Time{from, to.Add(-time.Second)}
	for range 10 {
		moments = append(moments, from.Add(time.Duration(rng.Int64N(int64(to.Sub(from)/time.Second)))*time.Second))
	}
	for _, h := range past {
		for i, iv := range h.Intervals {
			if iv.From.Before(from) || iv.To.After(to) || !iv.From.Before(iv.To) || (i > 0 && iv.From.Before(h.Intervals[i-1].To)) {
				t.Fatalf("interval %d of %s in [%s, %s): %+v", i, h.Key.InstanceType, from, to, iv)
			}
			moments = append(moments, iv.From, iv.To.Add(-time.Second))
		}
	}
	for _, at := range moments {
		values, err := db.Signals(t.Context(), gputide.Selection{}, gputide.SignalAvailability, at)
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]int64{}, map[string]int64{}
		for i := range values {
			want[values[i].Key.InstanceType] = values[i].Value
		}
		for _, h := range past {
			for _, iv := range h.Intervals {
				if !at.Before(iv.From) && at.Before(iv.To) {
					got[h.Key.InstanceType] = iv.Value
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("at %s of [%s, %s) (-signals +intervals):\n%s", at, from, to, d)
		}
	}
}
