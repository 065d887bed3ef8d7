package query

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func TestCurrency(t *testing.T) {
	w := newWorld(t)
	cny := gputide.Key{Provider: "alibaba", Partition: "cn", Region: "cn-hangzhou", InstanceType: "gn7i", Currency: "CNY"}
	w.shape("alibaba", "cn", "gn7i", "l4-24gb", 2, 1)
	w.offer(cny, "36.078")
	w.rate("USD", "1.0894", "2023-02-01")
	w.rate("CNY", "7.3452", "2023-02-01")
	at := time.Date(2026, 9, 30, 0, 0, 0, 0, time.UTC)

	type got struct{ Price, USD, Each, Rate, Currency, Published string }
	show := func(req OffersRequest) (got, OfferRow) {
		r := w.offers(req).Rows[0]
		text := func(m *Money) string {
			if m == nil {
				return "null"
			}
			return m.String()
		}
		return got{text(r.Price), text(r.PriceUSD), text(r.PricePerAccelerator), string(r.FXRate), string(r.Currency), string(r.Published.Currency)}, r
	}
	g, r := show(OffersRequest{At: at})
	if diff := cmp.Diff(got{"36.078", "5.350892174", "18.039", "0.148314546", "CNY", "CNY"}, g); diff != "" {
		t.Errorf("as published (-want +got):\n%s", diff)
	}
	if !slices.Contains(r.Flags, gputide.FlagFXOld) || r.FXDate.Format(time.DateOnly) != "2023-02-01" {
		t.Errorf("flags %v, date %v; want fx_old of 2023-02-01", r.Flags, r.FXDate)
	}
	g, _ = show(OffersRequest{At: at, In: "usd"})
	if diff := cmp.Diff(got{"5.350892174", "5.350892174", "2.675446087", "0.148314546", "USD", "CNY"}, g); diff != "" {
		t.Errorf("in USD (-want +got):\n%s", diff)
	}
	g, _ = show(OffersRequest{At: at, In: "EUR"})
	if diff := cmp.Diff(got{"4.911779121", "5.350892174", "2.455889561", "0.136143332", "EUR", "CNY"}, g); diff != "" {
		t.Errorf("in EUR (-want +got):\n%s", diff)
	}
	g, r = show(OffersRequest{At: at, In: "GBP"})
	if diff := cmp.Diff(got{"null", "5.350892174", "null", "", "CNY", "CNY"}, g); diff != "" {
		t.Errorf("no rate (-want +got):\n%s", diff)
	}
	if !slices.Contains(r.Flags, gputide.FlagNoFX) {
		t.Errorf("flags %v, want no_fx", r.Flags)
	}
}

func TestRateOfTheDay(t *testing.T) {
	w := newWorld(t)
	w.offer(gputide.Key{Provider: "x", InstanceType: "y", Currency: "EUR"}, "1", func(q *gputide.Quote) { q.FirstSeen = time.Time{} })
	w.rate("USD", "1.0894", "2023-02-01")
	w.rate("USD", "1.0937", "2023-02-03")
	w.rate("USD", "1.5", "2024-01-01")
	for _, tt := range []struct {
		at, want string
		old      bool
	}{
		{"2023-01-31", "null", false},
		{"2023-02-02T23:59:59Z", "1.0894", false},
		{"2023-02-04", "1.0937", false},
		{"2023-02-10T23:59:59Z", "1.0937", false},
		{"2023-02-11", "1.0937", true},
	} {
		at, err := ParseTime(tt.at)
		if err != nil {
			t.Fatal(err)
		}
		r := w.offers(OffersRequest{At: at}).Rows[0]
		got := "null"
		if r.PriceUSD != nil {
			got = r.PriceUSD.String()
		}
		if got != tt.want || slices.Contains(r.Flags, gputide.FlagFXOld) != tt.old {
			t.Errorf("at %s: %s, flags %v; want %s, old %t", tt.at, got, r.Flags, tt.want, tt.old)
		}
	}
	if r := w.offers(OffersRequest{At: noon.AddDate(-3, -7, 0), FXNow: true}).Rows[0]; r.PriceUSD.String() != "1.5" {
		t.Errorf("with today's rate %s, want 1.5", r.PriceUSD)
	}
}

// Without rates offers still stand in order, currency by currency, behind those
// that can be compared.
func TestOrderWithoutRates(t *testing.T) {
	w := newWorld(t)
	for i, p := range []string{"30", "4", "200"} {
		for _, c := range []gputide.Currency{"CNY", "EUR"} {
			w.offer(gputide.Key{Provider: "x", InstanceType: string(c) + string(rune('a'+i)), Currency: c}, p)
		}
	}
	w.offer(gputide.Key{Provider: "x", InstanceType: "USD"}, "999")
	want := []string{"USD 999", "CNYb 4", "CNYa 30", "CNYc 200", "EURb 4", "EURa 30", "EURc 200"}
	if diff := cmp.Diff(want, prices(w.offers(OffersRequest{Sort: []string{"price"}}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range w.quotes {
		w.shape("x", "", w.quotes[i].Key.InstanceType, "l4-24gb", 2, 1)
	}
	if diff := cmp.Diff(want, prices(w.offers(OffersRequest{}))); diff != "" {
		t.Errorf("per accelerator (-want +got):\n%s", diff)
	}
}
