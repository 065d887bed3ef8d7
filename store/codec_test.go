package store

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func randomEvents(rng *rand.Rand, n int) []event {
	events := make([]event, 0, n)
	at := rng.Uint32N(1 << 30)
	scale := pow10[rng.IntN(10)]
	for range n {
		at += rng.Uint32N(1 << 22)
		e := event{at: at, kind: kind(rng.IntN(int(kindWide)))}
		switch e.kind {
		case kindPrice:
			switch rng.IntN(12) {
			case 0:
				e.val = math.MaxInt64
			case 1:
				e.val = math.MinInt64
			default:
				e.val = rng.Int64N(1000) * scale
			}
		case kindMoved:
			e.val = int64(makeFeed(rng.Uint32(), uint8(rng.IntN(maxSources))))
		case kindHeld:
			e.val = int64(rng.IntN(2))
		}
		events = append(events, e)
	}
	return events
}

// TestHistoryRoundTrip writes histories of every size, in one piece and in
// parts, and reads them back.
func TestHistoryRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	split := 0
	for i := range 300 {
		events := randomEvents(rng, 1+rng.IntN(600))
		parts := encodeHistory(events)
		if len(parts) > 1 {
			split++
		}
		var got []event
		for _, p := range parts {
			var err error
			if got, _, err = decodeChunk(got, p.bytes); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(events, got) {
			t.Fatalf("history %d of %d events in %d parts came back otherwise", i, len(events), len(parts))
		}
	}
	if split == 0 {
		t.Error("no history was long enough to be cut by year")
	}
}

func TestChunkSize(t *testing.T) {
	events := []event{{at: 1 << 30, kind: kindPrice, val: 2_500_000_000}}
	for i := range 100 {
		e := events[len(events)-1]
		events = append(events, event{at: e.at + 4*86400, kind: kindPrice, val: e.val + int64(10_000*(i%7+1))})
	}
	if per := float64(len(encodeChunk(base{}, false, events))) / float64(len(events)); per > 6.6 {
		t.Errorf("%.2f bytes a change, want 6.6 at most", per)
	}
}

func FuzzChunk(f *testing.F) {
	f.Add(encodeChunk(base{}, false, randomEvents(rand.New(rand.NewPCG(1, 1)), 20)))
	f.Add(encodeChunk(base{5, 100}, true, []event{{at: 9, kind: kindPrice, val: 300}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		events, _, err := decodeChunk(nil, b)
		if err != nil {
			if !errors.Is(err, errCorrupt) {
				t.Fatalf("error %v is not errCorrupt", err)
			}
			return
		}
		if len(events) == 0 {
			return
		}
		again, _, err := decodeChunk(nil, encodeChunk(base{}, false, events))
		if err != nil || !slices.Equal(events, again) {
			t.Fatalf("round trip: %v, %v became %v", err, events, again)
		}
	})
}

func FuzzMarks(f *testing.F) {
	at := monthStart(600)
	f.Add(uint16(600), encodeMarks(600, []mark{
		{at: at, source: 3, count: 900, cadence: 600},
		{at: at + 600, source: 3, count: 900, cadence: 600},
		{at: at + 1200, status: markFailed, source: 3, cadence: 600},
		{at: at + 1200, flags: markEventFeed, source: 4},
	}))
	f.Fuzz(func(t *testing.T, month uint16, b []byte) {
		marks, err := decodeMarks(nil, month, b)
		if err != nil {
			if !errors.Is(err, errCorrupt) {
				t.Fatalf("error %v is not errCorrupt", err)
			}
			return
		}
		again, err := decodeMarks(nil, month, encodeMarks(month, marks))
		if err != nil || !slices.Equal(marks, again) {
			t.Fatalf("round trip: %v, %v became %v", err, marks, again)
		}
	})
}

// TestMarkSize holds the run log to its budget: 1,000 scopes every ten minutes
// for a year in 250 MB is 4.7 bytes a run, pages included.
func TestMarkSize(t *testing.T) {
	var marks []mark
	at := monthStart(600)
	for range 4320 {
		marks = append(marks, mark{at: at, source: 2, count: 700, cadence: 600})
		at += 600
	}
	if per := float64(len(encodeMarks(600, marks))) / float64(len(marks)); per > 2.1 {
		t.Errorf("%.2f bytes a run, want 2.1 at most", per)
	}
}

func FuzzContent(f *testing.F) {
	f.Add(int64(550_400_000_00), "55.0400000000", "h", "instance", "", "", "", uint32(0))
	f.Add(int64(1), "0.000000001", "mo", "accelerator", "12", "core", "0.1", uint32(8))
	f.Fuzz(func(t *testing.T, price int64, amount, unit, basis, upfront, kind, part string, n uint32) {
		if price <= 0 {
			return
		}
		p := gputide.Published{
			Amount: amount, Unit: gputide.Unit(unit), Basis: gputide.Basis(basis), Upfront: upfront, Multiplier: gputide.Count{Num: n, Den: 1},
		}
		var flags []gputide.Flag
		if kind != "" {
			p.Components = []gputide.Component{{Kind: kind, Amount: part, Unit: p.Unit, Quantity: amount, SKU: upfront}}
			flags = []gputide.Flag{gputide.Flag(kind)}
		}
		got, gotFlags, err := decodeContent(gputide.Nano(price), encodeContent(gputide.Nano(price), &p, flags))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p, got); d != "" || !slices.Equal(flags, gotFlags) {
			t.Fatalf("round trip (-want +got):\n%s", d)
		}
	})
}

func FuzzContentGarbage(f *testing.F) {
	p := gputide.Published{Amount: "1", Unit: "h", Basis: "vcpu", Components: []gputide.Component{{Kind: "a"}}}
	f.Add(encodeContent(5, &p, []gputide.Flag{"x"}))
	f.Fuzz(func(t *testing.T, s string) {
		if _, _, err := decodeContent(1, s); err != nil && !errors.Is(err, errCorrupt) {
			t.Fatalf("error %v is not errCorrupt", err)
		}
	})
}

func FuzzRecords(f *testing.F) {
	rec := record{first: makeFeed(9, 2), scope: 9}
	rec.ids[1], rec.ids[18] = 5, 6
	f.Add(rec.encode())
	f.Add((&runRow{provider: 3, at: 5, bodies: []gputide.Body{{Source: "a"}}}).encode())
	f.Add(encodeBlock(&logBlock{entries: []logEntry{{sid: 5, at: 9, kind: logPrice}, {sid: 6, at: 7, void: true, has: 3, before: -1}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if rec, err := decodeRecord(b); err == nil {
			if again, err := decodeRecord(rec.encode()); err != nil || again != rec {
				t.Fatalf("record round trip: %v", err)
			}
		}
		if row, err := decodeRunRow(b); err == nil {
			if again, err := decodeRunRow(row.encode()); err != nil || cmp.Diff(row, again, cmp.AllowUnexported(runRow{})) != "" {
				t.Fatalf("run round trip: %v", err)
			}
		}
		if block, _, err := decodeBlock(key64(1), b, false); err == nil && block.kind != blockRates {
			again, _, err := decodeBlock(key64(1), encodeBlock(&block), false)
			if err != nil || !slices.Equal(again.entries, block.entries) {
				t.Fatalf("block round trip: %v", err)
			}
		}
		if _, err := decodeDetail(b); err != nil && !errors.Is(err, errCorrupt) {
			t.Fatal(err)
		}
	})
}

func FuzzReverseKey(f *testing.F) {
	f.Add("", strings.Repeat("x", 300))
	f.Fuzz(func(t *testing.T, a, b string) {
		if (a == b) != (string(reverseKey(a)) == string(reverseKey(b))) {
			t.Fatalf("texts %q and %q share a key", a, b)
		}
	})
}
