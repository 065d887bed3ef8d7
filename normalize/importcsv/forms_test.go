package importcsv

import (
	"errors"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func reader(t testing.TB, profile, text string) *Reader {
	t.Helper()
	r, err := New(strings.NewReader(text), load(t, profile), Options{Normalizer: normalizer(t), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRates(t *testing.T) {
	r := reader(t, "fx_ecb_2013_2026", ratesHeader+`
2023-02-03,EUR,USD,1.0937,ECB
2023-02-01,EUR,CNY,7.3452,ECB
2023-02-01,EUR,CNY,7.3452,ECB
2023-02-01,EUR,CNY,7.3453,ECB
2023-02-01,EUR,GBP,0,ECB
2023-02-01,EUR,GBP,-1,ECB
2023-02-01,EUR,GBP,N/A,ECB
2023-02-30,EUR,GBP,1,ECB
2027-01-01,EUR,GBP,1,ECB
2023-02-01,EUR,eur,1,ECB
2023-02-01,EUR,EUR,1,ECB
2023-02-01,EUR,GBP,1
`)
	got, err := r.Rates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []gputide.Rate{
		{Date: time.Date(2023, 2, 3, 0, 0, 0, 0, time.UTC), Base: "EUR", Quote: "USD", Amount: "1.0937", Source: "hist"},
		{Date: time.Date(2023, 2, 1, 0, 0, 0, 0, time.UTC), Base: "EUR", Quote: "CNY", Amount: "7.3452", Source: "hist"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	reasons := map[Reason]int64{ReasonTwice: 1, ReasonValue: 3, ReasonTime: 2, ReasonCurrency: 2, ReasonColumns: 1}
	if d := cmp.Diff(reasons, r.Tally().Rejected); d != "" || r.Tally().Rows != 12 || len(r.Tally().Examples) != maxExamples {
		t.Errorf("%d rows, rejected %s", r.Tally().Rows, d)
	}
}

func TestSignals(t *testing.T) {
	rows := []string{
		"2024-02-28T14:54:21Z,aws,us-east-1,g4dn.xlarge,NVIDIA T4,1,Linux,58,1,5-10%",
		"2021-02-10T11:17:16Z,aws,cn-north-1,p3.2xlarge,NVIDIA V100,1,Windows,49,3,15-20%",
		"2021-02-10T11:17:16Z,aws,us-east-1,g4dn.xlarge,NVIDIA T4,1,Linux,70,1,5-10%",
		"2021-02-10T11:17:16Z,aws,us-east-1,g4dn.xlarge,NVIDIA T4,1,Linux,70,1,5-10%",
		"2021-02-10T11:17:16Z,aws,us-east-1,g7.xlarge,,,Linux,-3,0,<5%",
	}
	r := reader(t, "aws_spot_advisor", signalsHeader+"\n"+strings.Join(rows, "\n")+"\n")
	got, err := r.Signals(t.Context())
	if err != nil || len(got) != 2 || r.Tally().RejectedRows() != 0 {
		t.Fatalf("%d moments, %+v, %v", len(got), r.Tally(), err)
	}
	first := got[0]
	if !first.At.Equal(time.Date(2021, 2, 10, 11, 17, 16, 0, time.UTC)) || first.Incomplete {
		t.Errorf("first moment %s, incomplete %t", first.At, first.Incomplete)
	}
	values := map[string]int64{}
	for _, s := range first.Signals {
		values[s.Name+" "+s.Key.Partition+" "+s.Key.Region+" "+s.Key.InstanceType+" "+s.Key.OS+" "+string(s.Key.Market)+" "+s.Source] = s.Value
	}
	want := map[string]int64{
		"interruption aws us-east-1 g4dn.xlarge linux spot spot-advisor":      1,
		"savings aws us-east-1 g4dn.xlarge linux spot spot-advisor":           70,
		"interruption aws us-east-1 g7.xlarge linux spot spot-advisor":        0,
		"savings aws us-east-1 g7.xlarge linux spot spot-advisor":             -3,
		"interruption aws-cn cn-north-1 p3.2xlarge windows spot spot-advisor": 3,
		"savings aws-cn cn-north-1 p3.2xlarge windows spot spot-advisor":      49,
	}
	if d := cmp.Diff(want, values); d != "" {
		t.Error(d)
	}
	if len(first.Scopes) != 4 || len(first.Specs) != 2 || first.Specs[0].Device.Name == "" {
		t.Errorf("scopes %v, specs %v", first.Scopes, first.Specs)
	}
}

func TestRejectedSignals(t *testing.T) {
	good := "2024-02-28T14:54:21Z,aws,us-east-1,g4dn.xlarge,NVIDIA T4,1,Linux,58,1,5-10%"
	for _, tt := range []struct {
		old, new string
		want     Reason
	}{
		{"aws,", "gcp,", ReasonProvider},
		{"Linux", "BSD", ReasonOS},
		{"g4dn.2xlarge", "", ReasonType},
		{",58,", ",101,", ReasonValue},
		{",58,", ",,", ReasonValue},
		{",1,5-10%", ",2,5-10%", ReasonValue},
		{",1,5-10%", ",5,>25%", ReasonValue},
		{"T4,1", "T4,x", ReasonCount},
		{"2024-02-28T14:54:21Z", "2024-02-28", ReasonTime},
		{"g4dn.2xlarge,NVIDIA T4,1,Linux,58", "g4dn.xlarge,NVIDIA T4,1,Linux,59", ReasonTwice},
	} {
		bad := strings.Replace(strings.Replace(good, "g4dn.xlarge", "g4dn.2xlarge", 1), tt.old, tt.new, 1)
		r := reader(t, "aws_spot_advisor", signalsHeader+"\n"+good+"\n"+bad+"\n")
		got, err := r.Signals(t.Context())
		if err != nil || len(got) != 1 || r.Tally().Rejected[tt.want] != 1 || len(got[0].Signals) != 2 || !got[0].Incomplete {
			t.Errorf("%s: %+v %+v, %v", bad, got, r.Tally(), err)
		}
	}
}

func TestProfilesAreStrict(t *testing.T) {
	text, err := profiles.ReadFile(path.Join(profileDir, "aws_spot_2020"+profileExt))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseProfile("good", text); err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{"kind: events", "kind: feed"},
		{"form: prices", "form: price"},
		{"covers:", "cover:"},
		{"title: AWS", "title:\nx: AWS"},
		{"licence: MIT, 2020 Stanford Future Data Systems", "licence: ' '"},
		{"tenancy: shared", "tenance: shared"},
		{"provider: aws, ", ""},
		{"market: spot}", "market: sopt}"},
		{"os: linux}", "oss: linux}"},
		{"zones:", "zone:"},
		{"zones: letters", "zones: names"},
		{"providers:", "columns: {a: price, b: price}\nproviders:"},
		{"providers:", "columns: {a: prize}\nproviders:"},
		{"providers:", "prices: {a: spot}\nproviders:"},
		{"providers:", "files: {path: '[', provider: file}\nproviders:"},
		{"providers:", "files: {path: x, provider: name}\nproviders:"},
		{"providers:", "set: {colour: red}\nproviders:"},
		{"zones: letters", "omit_regions: {x: unheard}"},
		{"zones: letters", "cards: shape"},
		{"markets:\n  spot: {market: spot}\n", ""},
		{"form: prices\nkind: events", "form: signals"},
		{"form: prices", "form: prices\nfeed: x"},
		{"form: prices", "form: prices\nwhole: [os]"},
	} {
		bad := strings.Replace(string(text), edit[0], edit[1], 1)
		if bad == string(text) {
			t.Fatalf("%q is not in the profile", edit[0])
		}
		if _, err := parseProfile("bad", []byte(bad)); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%q for %q: %v", edit[1], edit[0], err)
		}
	}
	if _, err := Load("../doc"); !errors.Is(err, gputide.ErrNotFound) {
		t.Errorf("a profile outside the folder: %v", err)
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string]string{
		"8": "8", "1": "1", "0.5": "1/2", "0.125": "1/8", "1.5": "3/2", "0.25": "1/4", "4096": "4096",
		"0": "", "-1": "", "0.333": "", "0.0625e3x": "", "": "", "1/8": "", "4097": "", "0.001": "",
	} {
		if c, ok := readCount(text); c.String() != want || ok != (want != "") {
			t.Errorf("readCount(%q) = %s, %t; want %q", text, c, ok, want)
		}
	}
}

// FuzzPrices holds what is read of any file within its bounds: every row is
// yielded or rejected, and what is yielded can be stored.
func FuzzPrices(f *testing.F) {
	f.Add(uint8(0), []byte("2020-01-05T10:00:00Z,aws,us-east-1,us-east-1a,p3.2xlarge,NVIDIA V100,1,spot,Linux/UNIX,1.5,USD\n"))
	f.Add(uint8(3), []byte("2020-01-05T10:00:00Z,aws,us-east-1,,\"a,b\",\"NVIDIA \"\"V100\",0.5,on_demand,Linux,1e-9,USD\r\n\n,,,"))
	f.Add(uint8(9), []byte("2025-10-19T21:01:58Z,primeintellect/dc_gnu,,,,NVIDIA A100 80GB SXM4,1,,,0.89,USD"))
	for _, seed := range seeds(f) {
		f.Add(uint8(5), seed)
	}
	norm := normalizer(f)
	var prices []*Profile
	for _, name := range Names() {
		if p := load(f, name); p.Form == FormPrices && len(p.Columns) == 0 {
			prices = append(prices, p)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		p := prices[int(which)%len(prices)]
		r, err := New(strings.NewReader(HeaderOf(FormPrices)+"\n"+string(body)), p, Options{Normalizer: norm, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		var kept int64
		for row, err := range r.Prices(t.Context()) {
			if err != nil {
				return
			}
			kept++
			o := &row.Offer
			if o.Price <= 0 || o.Price > gputide.MaxNano || row.At.After(now) || row.At.Year() < firstYear || o.Key.InstanceType == "" ||
				!o.Key.Currency.Valid() || !o.Key.Market.Valid() {
				t.Fatalf("yielded %+v", row)
			}
			amount, err := gputide.ParseAmount(o.Published.Amount)
			if err != nil {
				t.Fatalf("published %q", o.Published.Amount)
			}
			if n, err := gputide.RoundNano(amount); err != nil || n != o.Price {
				t.Fatalf("published %q, price %s", o.Published.Amount, o.Price)
			}
			if s := row.Spec; s != nil && (s.InstanceType != o.Key.InstanceType || s.Provider != o.Key.Provider) {
				t.Fatalf("spec of %q at %q", s.InstanceType, o.Key.InstanceType)
			}
		}
		if tally := r.Tally(); kept+tally.RejectedRows()+tally.LeftRows() != tally.Rows {
			t.Fatalf("%d kept, %d rejected and %d left out of %d rows", kept, tally.RejectedRows(), tally.LeftRows(), tally.Rows)
		}
	})
}

// seeds returns the first lines of a shared file, when there is one.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		return nil
	}
	text, err := os.ReadFile(path.Join(dir, "history", "fsdl_cloud_gpus_2022_2025.csv"))
	if err != nil {
		f.Fatal(err)
	}
	return [][]byte{text[len(HeaderOf(FormPrices))+1 : 4000]}
}

func FuzzRatesAndSignals(f *testing.F) {
	f.Add([]byte("2023-02-03,EUR,USD,1.0937,ECB\n"))
	f.Add([]byte("2024-02-28T14:54:21Z,aws,us-east-1,g4dn.xlarge,NVIDIA T4,1,Linux,58,1,5-10%\n"))
	fx, adv := load(f, "fx_ecb_2013_2026"), load(f, "aws_spot_advisor")
	read := func(t *testing.T, p *Profile, header string, body []byte) *Reader {
		t.Helper()
		r, err := New(strings.NewReader(header+"\n"+string(body)), p, Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		rates := read(t, fx, ratesHeader, body)
		list, err := rates.Rates(t.Context())
		if err == nil && int64(len(list))+rates.Tally().RejectedRows() > rates.Tally().Rows {
			t.Fatalf("%d rates of %d rows", len(list), rates.Tally().Rows)
		}
		signals := read(t, adv, signalsHeader, body)
		moments, err := signals.Signals(t.Context())
		if err != nil {
			return
		}
		for _, m := range moments {
			if len(m.Signals)%2 != 0 || len(m.Signals) > 0 && len(m.Scopes) == 0 {
				t.Fatalf("%+v", m)
			}
		}
	})
}

func BenchmarkPrices(b *testing.B) {
	const n = 10_000
	text := HeaderOf(FormPrices) + "\n" + strings.Repeat("2020-01-05T10:00:00Z,aws,us-east-1,us-east-1a,p3.2xlarge,NVIDIA V100,1,spot,Linux/UNIX,1.0033,USD\n", n)
	p, norm := load(b, "aws_spot_2020"), normalizer(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r, err := New(strings.NewReader(text), p, Options{Normalizer: norm, Now: now})
		if err != nil {
			b.Fatal(err)
		}
		got := 0
		for _, err := range r.Prices(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			got++
		}
		if got != n {
			b.Fatalf("%d rows", got)
		}
	}
}
