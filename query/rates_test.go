package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func ratesWorld(t *testing.T) *world {
	w := newWorld(t)
	w.rate("USD", "1.0894", "2023-02-01")
	w.rate("CNY", "7.3452", "2023-02-01")
	w.rate("USD", "1.0937", "2023-02-03")
	w.rate("CNY", "7.4027", "2023-02-03")
	return w
}

func (w *world) ratesOf(req RatesRequest) RatesAnswer {
	w.Helper()
	ans, err := newEngine(w.memory).Rates(w.Context(), req)
	if err != nil {
		w.Fatal(err)
	}
	return ans
}

func TestRates(t *testing.T) {
	w := ratesWorld(t)
	ans := w.ratesOf(RatesRequest{Base: "cny", Quote: []string{"usd"}, Amount: "36.078", At: moment(t, "2023-02-01")})
	r := ans.Rows[0]
	if len(ans.Rows) != 1 || r.Converted.String() != "5.350892174" || r.Rate != "0.148314546" || len(r.Legs) != 2 || len(r.Flags) != 0 {
		t.Errorf("%+v", ans.Rows)
	}
	var got []string
	for _, r := range w.ratesOf(RatesRequest{Quote: []string{"USD"}, From: moment(t, "2023-01-31"), To: moment(t, "2023-02-05")}).Rows {
		day := "none"
		if !r.FXDate.IsZero() {
			day = r.FXDate.Format("01-02")
		}
		got = append(got, fmt.Sprintf("%s %s of %s %v", r.Day.Format("01-02"), r.Rate, day, r.Flags))
	}
	want := []string{
		"01-31  of none [no_fx]", "02-01 1.0894 of 02-01 []", "02-02 1.0894 of 02-01 []", "02-03 1.0937 of 02-03 []",
		"02-04 1.0937 of 02-03 []", // a Saturday
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	old := w.ratesOf(RatesRequest{Quote: []string{"CNY"}}).Rows[0]
	if d := cmp.Diff([]gputide.Flag{gputide.FlagFXOld}, old.Flags); d != "" {
		t.Error(d)
	}
	golden(t, "fx.json", "fx.golden.json", w.ratesOf(RatesRequest{Base: "CNY", Quote: []string{"USD", "GBP"}, Amount: "100", At: moment(t, "2023-02-04")}).Rows)
}

func TestRatesRefuse(t *testing.T) {
	w := ratesWorld(t)
	for want, req := range map[string]RatesRequest{
		"three-letter code":     {Base: "EURO"},
		"two different":         {Base: "USD", Quote: []string{"usd"}},
		"amount":                {Amount: "1,000"},
		"from is not before to": {From: noon, To: noon},
		"more than 14640 days":  {From: moment(t, "1975-01-01"), To: noon},
	} {
		_, err := newEngine(w.memory).Rates(t.Context(), req)
		if !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%+v: %v, want %q", req, err, want)
		}
	}
	ans := w.ratesOf(RatesRequest{Quote: []string{"GBP"}})
	if len(ans.Rows) != 0 || ans.Empty == nil || !strings.Contains(ans.Empty.Text, "EUR in GBP") {
		t.Errorf("%+v", ans)
	}
}
