package store

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomHistory makes a history that a chunk can hold.
func randomHistory(rng *rand.Rand, n int) []event {
	events := make([]event, 0, n)
	at, price := uint32(1_700_000_000+rng.IntN(1000)*86_400), int64(0)
	for range n {
		switch rng.IntN(5) {
		case 0:
			at += uint32(rng.IntN(1_000_000))
		case 1: // the same moment
		default:
			at += uint32(1+rng.IntN(40)) * 86_400
		}
		e := event{at: at, kind: kind(rng.IntN(int(kindWide)))}
		switch e.kind {
		case kindPrice:
			price += (rng.Int64N(2000) - 1000) * pow10[rng.IntN(10)]
			if rng.IntN(50) == 0 {
				price = rng.Int64() - rng.Int64()
			}
			e.val = price
		case kindMoved:
			e.val = rng.Int64N(1 << 38)
		case kindHeld:
			e.val = rng.Int64N(2)
		}
		events = append(events, e)
	}
	return events
}

func TestHistBlock(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var entries []histEntry
		sid := uint32(rng.IntN(3))
		for range 1 + rng.IntN(40) {
			e := histEntry{sid: sid, events: randomHistory(rng, rng.IntN(30))}
			if rng.IntN(4) == 0 {
				e.year = uint32(2014 + rng.IntN(3))
				e.continued, e.base = true, base{at: 1_600_000_000, price: rng.Int64N(1e12) * pow10[rng.IntN(4)]}
			}
			entries = append(entries, e)
			sid += 1 + uint32(rng.IntN(3)*rng.IntN(100))
		}
		b, err := decodeHistBlock(encodeHistBlock(entries))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if b.len() != len(entries) {
			t.Fatalf("seed %d: %d entries of %d", seed, b.len(), len(entries))
		}
		for _, i := range rng.Perm(len(entries)) {
			want := entries[i]
			got, err := b.entry(nil, i)
			if err != nil || got.sid != want.sid || got.year != want.year || got.continued != want.continued || got.base != want.base ||
				!slices.Equal(got.events, want.events) {
				t.Fatalf("seed %d: entry %d is %+v, %v, want %+v", seed, i, got, err, want)
			}
			if n := b.search(want.key()); n != i {
				t.Fatalf("seed %d: entry %d is found at %d", seed, i, n)
			}
			chunk, err := b.value(i)
			if want := encodeChunk(want.base, want.continued, want.events); err != nil || !bytes.Equal(chunk, want) {
				t.Fatalf("seed %d: chunk %d is %x, %v, want %x", seed, i, chunk, err, want)
			}
		}
	}
}

// TestHistBlockSize holds the block to its reason: nights of one scope take
// less than two thirds of the bytes of their chunks.
func TestHistBlockSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var entries []histEntry
	chunks := 0
	for sid := range uint32(300) {
		e := histEntry{sid: sid}
		price := int64(1_000_000_000)
		for night := range uint32(365) {
			if night == 0 || rng.IntN(50) == 0 {
				price += (rng.Int64N(20_000) - 10_000) * 10_000
				e.events = append(e.events, event{at: 1_735_700_000 + night*86_400, kind: kindPrice, val: price})
			}
		}
		chunks += len(encodeChunk(base{}, false, e.events))
		entries = append(entries, e)
	}
	if n := len(encodeHistBlock(entries)); n*3 > chunks*2 {
		t.Errorf("a block of %d bytes for chunks of %d", n, chunks)
	}
}

func FuzzHistBlock(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		f.Add(encodeHistBlock([]histEntry{{sid: 1, events: randomHistory(rng, 8)}, {sid: 2, events: randomHistory(rng, 3)}}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decodeHistBlock(data)
		if err != nil {
			return
		}
		for i := range b.len() {
			e, err := b.entry(nil, i)
			if err != nil {
				if !errors.Is(err, errCorrupt) {
					t.Fatal(err)
				}
				continue
			}
			if len(e.events) > len(data)*8 {
				t.Fatalf("%d events of %d bytes", len(e.events), len(data))
			}
		}
	})
}

func FuzzRows(f *testing.F) {
	f.Add(encodeRows([]pair{{[]byte("a"), []byte("1")}, {[]byte("ab"), nil}, {[]byte("b"), []byte("22")}}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := decodeRows(raw)
		if err != nil {
			return
		}
		var pairs []pair
		for i := range b.len() {
			v, _ := b.value(i)
			pairs = append(pairs, pair{b.key(i), v})
			if n := b.search(b.key(i)); n != i {
				t.Fatalf("entry %d is found at %d", i, n)
			}
		}
		again, err := decodeRows(encodeRows(pairs))
		if err != nil || !slices.Equal(again.keys, b.keys) || !slices.Equal(again.values, b.values) || !bytes.Equal(again.data, b.data) {
			t.Fatalf("%x comes back as %+v, %v", raw, again, err)
		}
	})
}

func TestRice(t *testing.T) {
	values := []uint64{0, 1, 2, 63, 64, 1 << 20, 1 << 40, math.MaxUint64 - 1, math.MaxUint64}
	for k := range maxRice {
		var w bitWriter
		bits := 0
		for _, v := range values {
			w.rice(v, k)
			bits += riceBits(v, k)
		}
		w.put(5, 3)
		if w.n != bits+3 {
			t.Errorf("k %d takes %d bits, said to be %d", k, w.n-3, bits)
		}
		r := newBitReader(w.b)
		for _, v := range values {
			if got := r.rice(k); got != v {
				t.Fatalf("k %d: %d comes back as %d", k, v, got)
			}
		}
		if r.take(3) != 5 || r.bad {
			t.Errorf("k %d: the rest is lost", k)
		}
		if r.take(57); !r.bad {
			t.Errorf("k %d: reading on past the end passes", k)
		}
	}
}
