package query

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func TestParseTime(t *testing.T) {
	for in, want := range map[string]string{
		"2026-09-30":                "2026-09-30T00:00:00Z",
		"2026-09-30T12:34:56Z":      "2026-09-30T12:34:56Z",
		"2026-09-30T12:34:56.789Z":  "2026-09-30T12:34:56Z",
		"2026-09-30T14:34:56+02:00": "2026-09-30T12:34:56Z",
		"2026-09-30T12:34:56":       "2026-09-30T12:34:56Z",
		"2026-09-30T12:34":          "2026-09-30T12:34:00Z",
		"":                          "", "yesterday": "", "2026-13-01": "", "1969-12-31": "", "2107-01-01": "", "30.9.2026": "", "90d": "",
	} {
		got, err := ParseTime(in)
		switch {
		case want == "" && !errors.Is(err, gputide.ErrInvalid):
			t.Errorf("%q: %v, %v; want invalid", in, got, err)
		case want != "" && (err != nil || got.Format(time.RFC3339) != want || got.Location() != time.UTC):
			t.Errorf("%q: %v, %v; want %s", in, got, err, want)
		}
	}
}

func TestParseSince(t *testing.T) {
	for in, want := range map[string]string{
		"90d":        "2026-07-02T12:00:00Z",
		"12h":        "2026-09-30T00:00:00Z",
		"30m":        "2026-09-30T11:30:00Z",
		"2w":         "2026-09-16T12:00:00Z",
		"6mo":        "2026-03-30T12:00:00Z",
		"1y":         "2025-09-30T12:00:00Z",
		"100y":       "1970-01-01T00:00:00Z",
		"2026-09-01": "2026-09-01T00:00:00Z",
		"":           "", "d": "", "-1d": "", "1.5d": "", "9999999d": "", "90": "", "90 d": "", "1fortnight": "",
	} {
		got, err := ParseSince(in, noon)
		switch {
		case want == "" && !errors.Is(err, gputide.ErrInvalid):
			t.Errorf("%q: %v, %v; want invalid", in, got, err)
		case want != "" && (err != nil || got.Format(time.RFC3339) != want):
			t.Errorf("%q: %v, %v; want %s", in, got, err, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]float64{
		"80": 80, "80GB": 80, "80gib": 80, "80 GB": 80, "80G": 80, "1.5TB": 1500, "2TiB": 2048, "512MB": 0.512, "2048MiB": 2,
		"显存≥80G": 80, "显存 ＞＝ ８０ＧＢ": 80, ">=80": 80, "内存不低于256GB": 256, "显存": 0, "≥": 0, "80GB显存": 0, "≥≥80": 0,
		"": 0, "0": 0, "0GB": 0, "-80GB": 0, "GB": 0, "80PB": 0, "8e1GB": 0, "80GBs": 0, "1e400": 0, "NaN": 0,
	} {
		got, err := ParseSize(in)
		if want == 0 && !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%q: %v, %v; want invalid", in, got, err)
		}
		if want != 0 && (err != nil || got != want) {
			t.Errorf("%q: %v, %v; want %v", in, got, err, want)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"p5.*", "p5.48xlarge", true},
		{"p5.*", "p5en.48xlarge", false},
		{"*", "", true},
		{"*.metal", "c7g.metal", true},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "a1c2b", false},
		{"a*a", "a", false},
		{"p5", "p5", true},
		{"p5", "p5e", false},
		{"*×1", "l4×1", true},
	} {
		if got := glob(tt.pattern, tt.text); got != tt.want {
			t.Errorf("glob(%q, %q) = %t", tt.pattern, tt.text, got)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"aws", "azure", "gcp", "runpod", "vastai", "verda"}
	for in, want := range map[string][]string{
		"asw": {"aws"}, "aws2": {"aws"}, "runpid": {"runpod"}, "AZUR": {"azure"}, "verde": {"verda"}, "x": nil, "": nil, "ecb": nil, "vast": {"vastai"},
	} {
		if diff := cmp.Diff(want, nearest(in, known), cmp.Transformer("nil", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}

func TestScalars(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{Text(""), `null`},
		{Text(`<5% "&"`), `"\u003c5% \"\u0026\""`}, // json.Marshal escapes; an encoder may be told not to
		{Money(0), `"0"`},
		{Money(1), `"0.000000001"`},
		{Money(-1_500_000_000), `"-1.5"`},
		{Money(9_200_000_000_000_000_000), `"9200000000"`},
		{(*Money)(nil), `null`},
		{*NewPercent(big.NewRat(4751, 10000)), `47.51`},
		{*NewPercent(big.NewRat(1, 3)), `33.3333`},
		{*NewPercent(big.NewRat(2, 3)), `66.6667`},
		{*NewPercent(big.NewRat(5, 10_000_000)), `0`},       // 0.00005 to even
		{*NewPercent(big.NewRat(15, 10_000_000)), `0.0002`}, // 0.00015 to even
		{*NewPercent(big.NewRat(-1, 2)), `-50`},
		{*NewPercent(big.NewRat(-1, 100_000)), `-0.001`},
		{Stamp{}, `null`},
		{Stamp{time.Date(2026, 9, 30, 14, 0, 0, 5, time.FixedZone("", 7200))}, `"2026-09-30T12:00:00Z"`},
		{Day{}, `null`},
		{Day{noon}, `"2026-09-30"`},
	} {
		if got := jsonOf(t, tt.v); got != tt.want {
			t.Errorf("%#v is %s, want %s", tt.v, got, tt.want)
		}
	}
	if p := NewPercent(new(big.Rat).SetInt64(1 << 62)); p != nil {
		t.Errorf("a percentage beyond int64 is %v, want none", p)
	}
}

// A row reads back as it was written.
func TestRowsRoundTrip(t *testing.T) {
	w := showcase(t)
	want := w.offers(OffersRequest{All: true}).Rows
	var got []OfferRow
	if err := json.Unmarshal([]byte(jsonOf(t, want)), &got); err != nil {
		t.Fatal(err)
	}
	if a, b := jsonOf(t, want), jsonOf(t, got); a != b {
		t.Errorf("wrote %s\nread %s", a, b)
	}
	ans, err := newEngine(changed(t).memory).Changes(t.Context(), ChangesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var rows []ChangeRow
	if err := json.Unmarshal([]byte(jsonOf(t, ans.Rows)), &rows); err != nil {
		t.Fatal(err)
	}
	if a, b := jsonOf(t, ans.Rows), jsonOf(t, rows); a != b {
		t.Errorf("wrote %s\nread %s", a, b)
	}
}

func FuzzParseSince(f *testing.F) {
	for _, s := range []string{"90d", "2026-09-30", "1y", "99999999999999999999d", "-", "1mo", "2026-09-30T12:00:00Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseSince(s, noon)
		if err != nil {
			if !errors.Is(err, gputide.ErrInvalid) {
				t.Errorf("%q: %v is not invalid", s, err)
			}
			return
		}
		if !inRange(got) || got.Nanosecond() != 0 {
			t.Errorf("%q is %v, outside what the store holds", s, got)
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"80GB", "1.5 TiB", "0", "1e9", ".5", "١GB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseSize(s)
		if (err == nil) == (got <= 0) {
			t.Errorf("%q is %v with error %v", s, got, err)
		}
		if err != nil && !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%q: %v is not invalid", s, err)
		}
	})
}

func FuzzParseBudget(f *testing.F) {
	for _, s := range []string{"2.5", "2.5/gpu", "2/instance", "/", "-1", "2.5/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := parseBudget(s)
		if err == nil && b.most.Sign() <= 0 {
			t.Errorf("%q allows %v", s, b.most)
		}
		if err != nil && !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%q: %v is not invalid", s, err)
		}
	})
}

func FuzzMoneyJSON(f *testing.F) {
	f.Add([]byte(`"1.5"`))
	f.Add([]byte(`"-0.000000001"`))
	f.Add([]byte(`1.5`))
	f.Add([]byte(`"1e3"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m, again Money
		if json.Unmarshal(b, &m) != nil {
			return
		}
		if err := json.Unmarshal([]byte(jsonOf(t, m)), &again); err != nil || again != m {
			t.Errorf("%s read as %s, then %s (%v)", b, m, again, err)
		}
	})
}
