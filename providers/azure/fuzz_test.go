package azure

import (
	"encoding/json"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// FuzzRow proves that no row makes a price that is none, an offer without a size,
// or more offers than its savings plans.
func FuzzRow(f *testing.F) {
	f.Add([]byte(itemOf(nil)))
	f.Add([]byte(itemOf(map[string]string{"type": `"Reservation"`, "reservationTerm": `"3 Years"`})))
	f.Add([]byte(itemOf(map[string]string{"savingsPlan": `[{"retailPrice":1e-9,"term":"1 Year"},{"retailPrice":null}]`, "armSkuName": `"  "`})))
	f.Add([]byte(`{"effectiveEndDate":"2026-11-31T00:00:00Z","tierMinimumUnits":"x","retailPrice":1e999}`))
	f.Fuzz(func(t *testing.T, row []byte) {
		l := newList("eastus", providertest.Moment())
		if err := l.row(row); err != nil {
			return
		}
		for k, entries := range l.offers {
			for _, e := range entries {
				v, err := gputide.ParseAmount(e.amount)
				if e.reason == "" && (err != nil || v.Sign() <= 0) {
					t.Errorf("price %q of %v", e.amount, k)
				}
			}
			if _, err := k.term.Hours(); k.size == "" || k.os == "" || !k.market.Valid() || (k.market == gputide.Commitment && err != nil) {
				t.Errorf("offer %+v", k)
			}
		}
	})
}

// FuzzSpotPrices proves that both forms of a history are bounded in what they give.
func FuzzSpotPrices(f *testing.F) {
	f.Add([]byte(`[{"priceUSD":"0.1","effectiveDate":"2026-08-01T00:00:00Z"}]`))
	f.Add([]byte(`"[{\"priceUSD\":1,\"dateTime\":\"x\"}]"`))
	f.Add([]byte(`"\"[]\""`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var p spotPrices
		if err := json.Unmarshal(text, &p); err == nil && len(p) > len(text) {
			t.Errorf("%d prices in %d bytes", len(p), len(text))
		}
	})
}
