package normalize

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gputide/gputide"
)

func perInstance(amount string) gputide.Published {
	return gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisInstance}
}

func published(amount string, unit gputide.Unit, basis gputide.Basis) gputide.Published {
	return gputide.Published{Amount: amount, Unit: unit, Basis: basis}
}

func TestHourly(t *testing.T) {
	eight := gputide.NewCount(8, 1)
	for _, tc := range []struct {
		name  string
		p     gputide.Published
		term  gputide.Term
		count gputide.Count
		vcpu  float64 // 0 is unknown
		want  string
		mult  string
	}{
		{name: "plain", p: perInstance("55.0400000000"), want: "55.04"},
		{name: "plain, more digits than nano", p: perInstance("0.1234567894999"), want: "0.123456789"},
		{name: "half goes to even, down", p: perInstance("0.1234567885"), want: "0.123456788"},
		{name: "half goes to even, up", p: perInstance("0.1234567895"), want: "0.12345679"},
		{name: "more than half", p: perInstance("0.12345678850001"), want: "0.123456789"},
		{name: "carry", p: perInstance("0.9999999999"), want: "1"},
		{name: "exponent", p: perInstance("2.69e0"), want: "2.69"},
		{name: "sign", p: perInstance("+1.5"), want: "1.5"},
		{name: "per second", p: published("0.00116", gputide.PerSecond, gputide.BasisInstance), want: "4.176"},
		{name: "per minute", p: published("0.013125000", gputide.PerMinute, gputide.BasisInstance), want: "0.7875"},
		{name: "per day", p: published("24", gputide.PerDay, gputide.BasisInstance), want: "1"},
		{name: "per week", p: published("168", gputide.PerWeek, gputide.BasisInstance), want: "1"},
		{name: "per month", p: published("2500", gputide.PerMonth, gputide.BasisInstance), want: "3.424657534"},
		{name: "per year", p: published("24900", gputide.PerYear, gputide.BasisInstance), want: "2.842465753"},
		{name: "per term", p: published("551221", gputide.PerTerm, gputide.BasisInstance), term: "1y", want: "62.924771689"},
		{name: "per accelerator", p: published("2.69", gputide.PerHour, gputide.BasisAccelerator), count: eight, want: "21.52", mult: "8"},
		{name: "per accelerator, one", p: published("2.69", gputide.PerHour, gputide.BasisAccelerator), count: gputide.NewCount(1, 1), want: "2.69", mult: "1"},
		{name: "per accelerator, a slice", p: published("1", gputide.PerHour, gputide.BasisAccelerator), count: gputide.NewCount(1, 8), want: "0.125", mult: "1/8"},
		{name: "rounded once, at the end", p: published("0.0000000005", gputide.PerHour, gputide.BasisAccelerator), count: eight, want: "0.000000004", mult: "8"},
		{name: "per vCPU", p: published("0.05", gputide.PerHour, gputide.BasisVCPU), vcpu: 96, want: "4.8", mult: "96"},
		{name: "per vCPU, shared", p: published("0.05", gputide.PerHour, gputide.BasisVCPU), vcpu: 0.1, want: "0.005", mult: "1/10"},
		{name: "multiplier of before", p: gputide.Published{Amount: "2", Unit: gputide.PerHour, Basis: gputide.BasisAccelerator, Multiplier: gputide.NewCount(4, 1)}, want: "8", mult: "4"},
		{name: "partial upfront", p: gputide.Published{Amount: "0.10463", Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: "2750"}, term: "3y", want: "0.209272314"},
		{name: "partial upfront, ref 2021", p: gputide.Published{Amount: "0.019", Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: "505"}, term: "3y", want: "0.038216134"},
		{name: "all upfront", p: gputide.Published{Amount: "0.0000000000", Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: "8760"}, term: "1y", want: "1"},
		{name: "all upfront, no recurring amount", p: gputide.Published{Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: "8760"}, term: "1y", want: "1"},
		{name: "upfront of zero", p: gputide.Published{Amount: "0.06", Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: "0"}, term: "1y", want: "0.06"},
		{name: "capacity block", p: gputide.Published{Basis: gputide.BasisInstance, Upfront: "511"}, term: "43h", want: "11.88372093"},
		{name: "reserved per month", p: published("45.04", gputide.PerMonth, gputide.BasisInstance), term: "1y", want: "0.061698630"},
		{
			name: "components",
			p: gputide.Published{Basis: gputide.BasisInstance, Components: []gputide.Component{
				{Kind: "core", Amount: "0.029917642", Unit: gputide.PerHour, Quantity: "12"},
				{Kind: "ram", Amount: "0.004009917", Unit: gputide.PerHour, Quantity: "85"},
				{Kind: "accelerator", Amount: "2.933908", Unit: gputide.PerHour, Quantity: "1"},
				{Kind: "local_ssd", Amount: "0.08", Unit: gputide.PerMonth, Quantity: "375"},
			}},
			want: "3.674858539", // 0.359011704 + 0.340842945 + 2.933908 + 30/730
		},
		{
			name: "components per accelerator",
			p: gputide.Published{Basis: gputide.BasisAccelerator, Components: []gputide.Component{
				{Kind: "accelerator", Amount: "2", Unit: gputide.PerHour, Quantity: "1"},
				{Kind: "disk", Amount: "0.5", Unit: gputide.PerHour, Quantity: "1"},
			}},
			count: eight, want: "20", mult: "8",
		},
		{name: "largest", p: perInstance("9200000000"), want: "9200000000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var vcpu *float64
			if tc.vcpu != 0 {
				vcpu = &tc.vcpu
			}
			n, p, err := Hourly(tc.p, tc.term, tc.count, vcpu)
			want, perr := gputide.ParseNano(tc.want)
			if perr != nil {
				t.Fatal(perr)
			}
			if err != nil || n != want || p.Multiplier.String() != tc.mult {
				t.Fatalf("%s × %q, %v; want %s × %q", n, p.Multiplier, err, tc.want, tc.mult)
			}
			p.Multiplier = tc.p.Multiplier
			if diff := cmp.Diff(tc.p, p); diff != "" {
				t.Errorf("the published price changed:\n%s", diff)
			}
		})
	}
}

func TestHourlyRefuses(t *testing.T) {
	component := func(amount, quantity string) gputide.Published {
		return gputide.Published{Basis: gputide.BasisInstance, Components: []gputide.Component{
			{Kind: "core", Amount: "1", Unit: gputide.PerHour, Quantity: "8"},
			{Kind: "ram", Amount: amount, Unit: gputide.PerHour, Quantity: quantity},
		}}
	}
	upfront := func(amount, fee string) gputide.Published {
		return gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: fee}
	}
	for _, tc := range []struct {
		name string
		p    gputide.Published
		term gputide.Term
		want error
	}{
		{"blank", perInstance(""), "", gputide.ErrNoPrice},
		{"blanks", perInstance("  "), "", gputide.ErrNoPrice},
		{"zero", perInstance("0"), "", gputide.ErrNoPrice},
		{"long zero", perInstance("0.0000000000"), "", gputide.ErrNoPrice},
		{"negative", perInstance("-1"), "", gputide.ErrNoPrice},
		{"NaN", perInstance("NaN"), "", gputide.ErrNoPrice},
		{"Inf", perInstance("Inf"), "", gputide.ErrNoPrice},
		{"N/A", perInstance("N/A"), "", gputide.ErrNoPrice},
		{"comma", perInstance("1,5"), "", gputide.ErrNoPrice},
		{"currency sign", perInstance("$1.5"), "", gputide.ErrNoPrice},
		{"hex", perInstance("0x10"), "", gputide.ErrNoPrice},
		{"point only", perInstance("."), "", gputide.ErrNoPrice},
		{"no whole part", perInstance(".5"), "", gputide.ErrNoPrice},
		{"no fraction", perInstance("5."), "", gputide.ErrNoPrice},
		{"fraction in thirds", perInstance("1/3"), "", gputide.ErrNoPrice},
		{"rounds to zero", perInstance("0.0000000001"), "", gputide.ErrNoPrice},
		{"1e400", perInstance("1e400"), "", gputide.ErrOverflow},
		{"beyond the limit", perInstance("9200000000.000000001"), "", gputide.ErrOverflow},
		{"beyond the limit by count", gputide.Published{Amount: "9200000000", Unit: gputide.PerHour, Basis: gputide.BasisAccelerator, Multiplier: gputide.NewCount(2, 1)}, "", gputide.ErrOverflow},
		{"long text", perInstance(strings.Repeat("1", 65)), "", gputide.ErrOverflow},
		{"no unit", published("1", "", gputide.BasisInstance), "", errUnit},
		{"strange unit", published("1", "fortnight", gputide.BasisInstance), "", errUnit},
		{"no basis", published("1", gputide.PerHour, ""), "", errBasis},
		{"per GiB", published("1", gputide.PerHour, gputide.BasisGiB), "", errBasis},
		{"count not known", published("1", gputide.PerHour, gputide.BasisAccelerator), "", errCount},
		{"vCPU not known", published("1", gputide.PerHour, gputide.BasisVCPU), "", errCount},
		{"term of none", published("1", gputide.PerTerm, gputide.BasisInstance), "", errTerm},
		{"upfront without term", upfront("1", "100"), "", errTerm},
		{"upfront with a strange term", upfront("1", "100"), "soon", errTerm},
		{"upfront unreadable", upfront("1", "none"), "1y", gputide.ErrNoPrice},
		{"upfront negative", upfront("1", "-1"), "1y", gputide.ErrNoPrice},
		{"upfront and amount of zero", upfront("0", "0"), "1y", gputide.ErrNoPrice},
		{"upfront of zero alone", upfront("", "0"), "1y", gputide.ErrNoPrice},
		{"negative beside upfront", upfront("-0.5", "8760"), "1y", gputide.ErrNoPrice},
		{"component without amount", component("", "8"), "", gputide.ErrIncomplete},
		{"component without quantity", component("1", ""), "", gputide.ErrIncomplete},
		{"component of zero", component("0", "8"), "", gputide.ErrNoPrice},
		{"component of nothing", component("1", "0"), "", gputide.ErrNoPrice},
		{"component negative", component("-1", "8"), "", gputide.ErrNoPrice},
		{"component unreadable", component("free", "8"), "", gputide.ErrNoPrice},
		{"component without unit", gputide.Published{Basis: gputide.BasisInstance, Components: []gputide.Component{{Kind: "core", Amount: "1", Quantity: "1"}}}, "", errUnit},
		{"amount beside components", gputide.Published{Amount: "9", Unit: gputide.PerHour, Basis: gputide.BasisInstance, Components: component("1", "1").Components}, "", errShape},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n, _, err := Hourly(tc.p, tc.term, gputide.Count{}, nil)
			if !errors.Is(err, tc.want) || n != 0 {
				t.Errorf("%s, %v; want %v", n, err, tc.want)
			}
			if lines, err := Explain(tc.p, tc.term, "USD"); !errors.Is(err, tc.want) || lines != nil {
				t.Errorf("explained as %q, %v", lines, err)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	for _, tc := range []struct {
		name string
		p    gputide.Published
		term gputide.Term
		cur  gputide.Currency
		want []string
	}{
		{"plain", perInstance("55.0400000000"), "", "USD", []string{"55.0400000000 USD per instance-hour, as published"}},
		{
			"per accelerator",
			gputide.Published{Amount: "2.69", Unit: gputide.PerHour, Basis: gputide.BasisAccelerator, Multiplier: gputide.NewCount(8, 1)},
			"", "USD",
			[]string{"2.69 USD per accelerator-hour × 8 = 21.52 USD per instance-hour"},
		},
		{
			"a slice, rounded",
			gputide.Published{Amount: "1", Unit: gputide.PerHour, Basis: gputide.BasisAccelerator, Multiplier: gputide.NewCount(1, 3)},
			"", "USD",
			[]string{"1 USD per accelerator-hour × 1/3 ≈ 0.333333333 USD per instance-hour"},
		},
		{
			"per second and accelerator",
			gputide.Published{Amount: "0.00116", Unit: gputide.PerSecond, Basis: gputide.BasisAccelerator, Multiplier: gputide.NewCount(2, 1)},
			"", "USD",
			[]string{
				"0.00116 USD per accelerator-second × 3600 = 4.176 USD per accelerator-hour",
				"4.176 USD per accelerator-hour × 2 = 8.352 USD per instance-hour",
			},
		},
		{"per month", published("2500", gputide.PerMonth, gputide.BasisInstance), "", "CNY", []string{"2500 CNY per instance-month ÷ 730 h ≈ 3.424657534 CNY per instance-hour"}},
		{"per term", published("8760", gputide.PerTerm, gputide.BasisInstance), "1y", "CNY", []string{"8760 CNY per instance-term of 1y ÷ 8760 h = 1 CNY per instance-hour"}},
		{
			"partial upfront",
			gputide.Published{Amount: "0.10463", Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: "2750"},
			"3y", "USD",
			[]string{"(2750 USD upfront + 0.10463 USD per hour × 26280 h) ÷ 26280 h (3y) ≈ 0.209272314 USD per instance-hour"},
		},
		{
			"all upfront",
			gputide.Published{Amount: "0.0000000000", Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: "8760"},
			"1y", "USD",
			[]string{"8760 USD upfront ÷ 8760 h (1y) = 1 USD per instance-hour"},
		},
		{
			"components",
			gputide.Published{Basis: gputide.BasisInstance, Components: []gputide.Component{
				{Kind: "core", Amount: "0.03", Unit: gputide.PerHour, Quantity: "8"},
				{Kind: "local_ssd", Amount: "0.08", Unit: gputide.PerMonth, Quantity: "375"},
			}},
			"", "USD",
			[]string{
				"core: 0.03 USD per hour × 8 = 0.24 USD per hour",
				"local_ssd: 0.08 USD per month × 375 ÷ 730 h ≈ 0.04109589 USD per hour",
				"0.24 + 0.04109589 ≈ 0.28109589 USD per instance-hour",
			},
		},
		{
			"components of one accelerator",
			gputide.Published{
				Unit: gputide.PerHour, Basis: gputide.BasisAccelerator, Multiplier: gputide.NewCount(4, 1),
				Components: []gputide.Component{{Kind: "accelerator", Amount: "2.95", Unit: gputide.PerHour, Quantity: "0.5"}},
			},
			"", "USD",
			[]string{
				"accelerator: 2.95 USD per hour × 0.5 = 1.475 USD per hour",
				"1.475 = 1.475 USD per accelerator-hour",
				"1.475 USD per accelerator-hour × 4 = 5.9 USD per instance-hour",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Explain(tc.p, tc.term, tc.cur)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// FuzzPlainPrice: the short way gives what exact arithmetic gives, or leaves it.
func FuzzPlainPrice(f *testing.F) {
	for _, s := range []string{
		"0", "1", "55.04", "0.1234567885", "0.9999999999", "9199999999.9999999999", "9200000000", "00001.50", "1e9", "-1",
		"0.0000000005", "0.0000000015", "0.00000000150000000000000000000000000000000001", ".5", "5.", "", "1.2.3", "٣",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := parsePlain(s)
		exact, _, err := hourlyExact(perInstance(s), "", gputide.Count{}, nil)
		if ok && (err != nil || n != exact) {
			t.Fatalf("%q: the short way says %s, exact arithmetic %s, %v", s, n, exact, err)
		}
		got, _, gotErr := Hourly(perInstance(s), "", gputide.Count{}, nil)
		if got != exact || (gotErr == nil) != (err == nil) {
			t.Fatalf("%q: Hourly says %s, %v, exact arithmetic %s, %v", s, got, gotErr, exact, err)
		}
	})
}

// FuzzHourly compares the arithmetic with a sum written out on the spot.
func FuzzHourly(f *testing.F) {
	f.Add("0.10463", "h", "instance", "2750", uint32(1), uint32(1), 3)
	f.Add("2.69", "h", "accelerator", "", uint32(8), uint32(1), 0)
	f.Add("0.00116", "s", "accelerator", "", uint32(1), uint32(8), 1)
	f.Add("2500", "mo", "vcpu", "", uint32(2), uint32(1), 1)
	f.Fuzz(func(t *testing.T, amount, unit, basis, upfront string, num, den uint32, years int) {
		term := gputide.Term("")
		if years > 0 && years < 100 {
			term = gputide.NewTerm(years, "y")
		}
		count := gputide.NewCount(num, den)
		p := gputide.Published{Amount: amount, Unit: gputide.Unit(unit), Basis: gputide.Basis(basis), Upfront: upfront}
		n, out, err := Hourly(p, term, count, nil)
		if err != nil {
			if n != 0 {
				t.Fatalf("price %s beside %v", n, err)
			}
			return
		}
		if n <= 0 || n > gputide.MaxNano {
			t.Fatalf("price %s", n)
		}
		hours := map[gputide.Unit]*big.Rat{
			"s": big.NewRat(1, 3600), "min": big.NewRat(1, 60), "h": big.NewRat(1, 1), "d": big.NewRat(24, 1), "w": big.NewRat(168, 1),
			"mo": big.NewRat(730, 1), "y": big.NewRat(8760, 1), "term": big.NewRat(int64(years)*8760, 1),
		}[p.Unit]
		sum := new(big.Rat)
		if amount != "" {
			sum.SetString(amount)
			sum.Quo(sum, hours)
		}
		if upfront != "" {
			fee, _ := new(big.Rat).SetString(upfront)
			sum.Add(sum, fee.Quo(fee, big.NewRat(int64(years)*8760, 1)))
		}
		if basis == "accelerator" {
			sum.Mul(sum, big.NewRat(int64(count.Num), int64(count.Den)))
		}
		diff := new(big.Rat).Sub(sum, n.Rat())
		if diff.Abs(diff).Cmp(big.NewRat(1, 2_000_000_000)) > 0 {
			t.Fatalf("%+v over %q × %s = %s, want %s", p, term, count, n, sum.FloatString(12))
		}
		again, _, err := Hourly(out, term, gputide.Count{}, nil)
		if err != nil || again != n {
			t.Fatalf("derived again: %s, %v; before %s", again, err, n)
		}
		if lines, err := Explain(out, term, "USD"); err != nil || len(lines) == 0 {
			t.Fatalf("explained as %q, %v", lines, err)
		}
	})
}

func BenchmarkHourly(b *testing.B) {
	for _, bc := range []struct {
		name string
		p    gputide.Published
		term gputide.Term
	}{
		{"plain", perInstance("55.0400000000"), ""},
		{"accelerator", published("2.69", gputide.PerHour, gputide.BasisAccelerator), ""},
		{"upfront", gputide.Published{Amount: "0.10463", Unit: gputide.PerHour, Basis: gputide.BasisInstance, Upfront: "2750"}, "3y"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Hourly(bc.p, bc.term, gputide.NewCount(8, 1), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("plain, exact way", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := hourlyExact(perInstance("55.0400000000"), "", gputide.Count{}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
