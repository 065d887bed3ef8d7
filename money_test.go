package gputide

import (
	"errors"
	"math/big"
	"strings"
	"testing"
)

func TestParseAmount(t *testing.T) {
	good := map[string]string{
		"55.0400000000": "1376/25", "0.1": "1/10", "2750": "2750", "-3": "-3", "+0.5": "1/2",
		"1.5e-2": "3/200", "2E3": "2000", "1e-30": "1/1" + strings.Repeat("0", 30), "007": "7", "0": "0",
	}
	for in, want := range good {
		r, err := ParseAmount(in)
		if err != nil || r.RatString() != want {
			t.Errorf("ParseAmount(%q) = %v, %v; want %s", in, r, err, want)
		}
	}
	bad := []string{
		"", " ", "N/A", "NaN", "Inf", "-Inf", "1,000", "1_000", "$5", "5 ", " 5", "0x10", "1/2", ".5", "5.", "--5",
		"1e", "e5", "1e+-5", "١", "1.2.3", "—",
	}
	for _, in := range bad {
		if r, err := ParseAmount(in); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseAmount(%q) = %v, %v; want ErrInvalid", in, r, err)
		}
	}
	for _, in := range []string{"1e400", "1e31", "1e-400", strings.Repeat("9", 65)} {
		if r, err := ParseAmount(in); !errors.Is(err, ErrOverflow) {
			t.Errorf("ParseAmount(%q) = %v, %v; want ErrOverflow", in, r, err)
		}
	}
}

func TestRoundNanoIsHalfEven(t *testing.T) {
	tests := []struct {
		amount string
		want   Nano
	}{
		{"0.0000000005", 0},
		{"0.0000000015", 2},
		{"0.0000000025", 2},
		{"-0.0000000005", 0},
		{"-0.0000000015", -2},
		{"0.00000000250000001", 3},
		{"21.957642", 21_957_642_000},
		{"9200000000", MaxNano},
	}
	for _, tt := range tests {
		r, err := ParseAmount(tt.amount)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := RoundNano(r); err != nil || got != tt.want {
			t.Errorf("RoundNano(%s) = %d, %v; want %d", tt.amount, got, err, tt.want)
		}
	}
	for _, amount := range []string{"9200000000.000000001", "-9200000001", "1e30"} {
		r, err := ParseAmount(amount)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := RoundNano(r); !errors.Is(err, ErrOverflow) {
			t.Errorf("RoundNano(%s) = %d, %v; want ErrOverflow", amount, got, err)
		}
	}
}

func TestParseNanoRefusesWhatItCannotHold(t *testing.T) {
	if n, err := ParseNano("0.0000000001"); !errors.Is(err, ErrInvalid) {
		t.Errorf("ParseNano of a tenth decimal = %d, %v; want ErrInvalid", n, err)
	}
	if n, err := ParseNano("1.10"); err != nil || n != 1_100_000_000 {
		t.Errorf("ParseNano(1.10) = %d, %v", n, err)
	}
}

func TestNanoString(t *testing.T) {
	for n, want := range map[Nano]string{
		0: "0", 1: "0.000000001", -1: "-0.000000001", 1_500_000_000: "1.5", -2_000_000_000: "-2",
		MaxNano: "9200000000", 21_957_642_000: "21.957642",
	} {
		if got := n.String(); got != want {
			t.Errorf("Nano(%d) = %q, want %q", int64(n), got, want)
		}
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, s := range []string{"1.5", "-0.000000001", "1e400", "9200000000", "NaN", "1.0000000005"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseAmount(s)
		if err != nil {
			if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrOverflow) {
				t.Fatalf("ParseAmount(%q): %v is neither ErrInvalid nor ErrOverflow", s, err)
			}
			return
		}
		n, err := RoundNano(r)
		if err != nil {
			return
		}
		// The nearest nano-unit is at most half a nano-unit away.
		diff := new(big.Rat).Sub(n.Rat(), r)
		if diff.Abs(diff).Cmp(big.NewRat(1, 2*nanoPerUnit)) > 0 {
			t.Fatalf("RoundNano(%s) = %s is further than half a nano-unit", s, n)
		}
		if back, err := ParseNano(n.String()); err != nil || back != n {
			t.Fatalf("ParseNano(%s) = %s, %v", n, back, err)
		}
	})
}
