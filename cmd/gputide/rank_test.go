package main

import (
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ratesOfRank is a composed day of the ECB, one before the recordings are asked.
const ratesOfRank = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<Cube><Cube time='2026-09-30'><Cube currency='USD' rate='1.0894'/><Cube currency='CNY' rate='7.3452'/></Cube></Cube>
</gesmes:Envelope>`

// TestRankAcrossCurrencies holds that offers in yuan and in dollars stand in one
// table, cheapest first in either currency, and that the amount published in
// yuan stands before the one derived from it.
func TestRankAcrossCurrencies(t *testing.T) {
	clouds := []string{"alibaba", "aws", "huawei", "runpod", "tencent"}
	dir := fixtureDir(t, append(clouds, "ecb")...)
	for _, name := range []string{"eurofxref-daily.xml", "eurofxref-hist-90d.xml"} {
		if err := os.WriteFile(filepath.Join(dir, "ecb", name), []byte(ratesOfRank), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const at = "2026-10-01"
	c := testMain(t)
	c.run(t, "crawl", "--fixtures", dir, "--at", at) // what one source fails to give is no matter here

	ask := append([]string{"query", "offers", "--provider", strings.Join(clouds, ","), "--at", at, "--limit", "0"}, "--in")
	order := map[string][]string{}
	for _, currency := range []string{"CNY", "USD"} {
		seen := map[string]bool{}
		last := new(big.Rat)
		for line := range strings.Lines(c.must(t, append(ask, currency, "-o", "ndjson")...)) {
			var row struct {
				OfferID  string  `json:"offer_id"`
				Provider string  `json:"provider"`
				Currency string  `json:"currency"`
				Price    *string `json:"price"`
				PerCard  *string `json:"price_per_accelerator"`
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			if row.Currency != currency || row.Price == nil {
				t.Fatalf("in %s: %s", currency, line)
			}
			seen[row.Provider] = true
			if row.PerCard == nil {
				continue
			}
			price, ok := new(big.Rat).SetString(*row.PerCard)
			if !ok || price.Cmp(last) < 0 {
				t.Fatalf("in %s %s follows %s: %s", currency, *row.PerCard, last.FloatString(9), line)
			}
			last = price
			order[currency] = append(order[currency], row.OfferID)
		}
		for _, p := range clouds {
			if !seen[p] {
				t.Errorf("in %s no offer of %s", currency, p)
			}
		}
	}
	if n := len(order["CNY"]); n < 100 || n != len(order["USD"]) {
		t.Errorf("%d offers in CNY, %d in USD", n, len(order["USD"]))
	}

	for currency, want := range map[string]string{
		"CNY": `(?m)^ *PUBLISHED +PRICE/H .*\n(.*\n)* *¥2500/月 +≈ ¥3\.4247 +.*tencent`,
		"USD": `(?m)^ *PUBLISHED +PRICE/H .*\n(.*\n)* *¥2500/月 +≈ \$0\.5079 +.*tencent`,
	} {
		out := c.must(t, append(ask, currency, "--gpu", "t4")...)
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("in %s:\n%s", currency, out)
		}
		for _, p := range []string{"alibaba/cn", "aws", "tencent/cn"} {
			if !strings.Contains(out, " "+p+" ") {
				t.Errorf("in %s no row of %s:\n%s", currency, p, out)
			}
		}
	}
}
