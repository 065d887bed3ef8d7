package azure

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// answer is an answer of Resource Graph with total rows in all. A fixture tells
// the queries apart by their order only; each is declared alone.
func answer(source string, total int, rest string, rows ...string) exchange {
	return exchange{
		Source: source, Method: "POST", URL: graphURL + "?api-version=" + graphVersion,
		Body: fmt.Sprintf(`{"totalRecords":%d,"count":%d,"data":[%s],"facets":[],"resultTruncated":"false"%s}`, total, len(rows), strings.Join(rows, ","), rest),
	}
}

// priced are the prices of two sizes in eastus.
func priced() []exchange {
	return []exchange{index("eastus"), first("eastus", body("null", sized("Standard_NC24ads_A100_v4", "3.673"), sized("Standard_NC4as_T4_v3", "0.526")))}
}

func TestEvictionRates(t *testing.T) {
	row := func(size, region, rate string) string {
		return fmt.Sprintf(`{"skuName":%q,"location":%q,"spotEvictionRate":%q}`, size, region, rate)
	}
	got, err := crawl(t, Config{Regions: []string{"eastus"}}, append(priced(), answer(sourceEviction, 7, "",
		row("standard_nc24ads_a100_v4", "eastus", "20+"), row("standard_nc4as_t4_v3", "eastus", "5-10"),
		row("standard_nd96isr_h100_v5", "eastus", "0-5"), row("standard_nc4as_t4_v3", "westus", "0-5"),
		row("standard_nc4as_t4_v3", "eastus", ""), row("standard_nc24ads_a100_v4", "eastus", "25-30"), `{"skuName":"x"}`,
	))...)
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]string{}
	for _, s := range got.Signals {
		rates[s.Key.InstanceType+" "+s.Key.Region] = fmt.Sprintf("%d %s", s.Value, gputide.SignalLabel(s.Name, s.Value))
	}
	if d := cmp.Diff(map[string]string{"Standard_NC24ads_A100_v4 eastus": "20 20+%", "Standard_NC4as_T4_v3 eastus": "5 5-10%"}, rates); d != "" {
		t.Errorf("rates (-want +got):\n%s", d)
	}
	var rest []string
	for _, line := range said(got) {
		if line[0] == '-' || line[0] == '?' {
			rest = append(rest, line)
		}
	}
	if d := cmp.Diff([]string{"- rate_unknown 1", "- region_not_asked 1", "- size_without_price 1", "? bad_row", "? unknown_band"}, rest); d != "" {
		t.Errorf("left out (-want +got):\n%s", d)
	}
}

func TestSpotHistory(t *testing.T) {
	const lists = `{"skuName":"standard_nc4as_t4_v3","osType":"linux","location":"eastus","spotPrices":[` +
		`{"priceUSD":"0.149174","effectiveDate":"2026-11-01T00:00:00Z"},{"priceUSD":0.15,"dateTime":"2026-10-01T00:00:00Z"}]}`
	const text = `{"skuName":"standard_nc4as_t4_v3","osType":"Windows","location":"eastus","spotPrices":` +
		`"[{\"priceUSD\":\"0.201356\",\"effectiveDate\":\"2026-08-01T00:00:00Z\"}]"}`
	const bad = `{"skuName":"standard_nc24ads_a100_v4","osType":"linux","location":"eastus","spotPrices":[` +
		`{"priceUSD":"0","effectiveDate":"2026-11-01T00:00:00Z"},{"priceUSD":"1","effectiveDate":"2027-01-01T00:00:00Z"},{"priceUSD":"1"}]}`
	const system = `{"skuName":"standard_nc24ads_a100_v4","osType":"plan9","location":"eastus","spotPrices":[]}`
	got, err := crawl(t, Config{}, append(priced(), answer(sourceHistory, 4, "", lists, text, bad, system))...)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, o := range got.Offers {
		if !o.At.IsZero() {
			events = append(events, name(&o.Key)+" "+o.Price.Amount+" "+o.At.Format("2006-01-02"))
		}
	}
	if d := cmp.Diff([]string{
		"NC4as_T4_v3 spot linux 0.149174 2026-11-01", "NC4as_T4_v3 spot linux 0.15 2026-10-01", "NC4as_T4_v3 spot windows 0.201356 2026-08-01",
	}, sorted(events)); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	var feeds []string
	for _, s := range got.Scopes {
		if s.EventFeed {
			feeds = append(feeds, fmt.Sprintf("%s %s %s to %s", s.Scope, s.Status, s.From.Format("2006-01-02"), s.To.Format("2006-01-02")))
		}
	}
	if d := cmp.Diff([]string{"partition=azure region=eastus market=spot done 2026-08-01 to 2026-12-01"}, feeds); d != "" {
		t.Errorf("feeds (-want +got):\n%s", d)
	}
	if len(got.Skips) != 4 {
		t.Errorf("%d rows skipped, want a price of 0, one of the future, one without a date and a system: %v", len(got.Skips), got.Skips)
	}
}

// TestGraphPages shows that an answer is read whole or fails.
func TestGraphPages(t *testing.T) {
	row := func(size string) string {
		return fmt.Sprintf(`{"skuName":%q,"location":"eastus","spotEvictionRate":"0-5"}`, size)
	}
	a, b := row("standard_nc4as_t4_v3"), row("standard_nc24ads_a100_v4")
	const more = `,"$skipToken":"next"`
	for _, tt := range []struct {
		name    string
		answers []exchange
		want    int // rates
		err     error
	}{
		{"two pages", []exchange{answer(sourceEviction, 2, more, a), answer(sourceEviction, 2, "", b)}, 2, nil},
		{"an empty page in the middle", []exchange{answer(sourceEviction, 2, more, a), answer(sourceEviction, 2, `,"$skipToken":"last"`), answer(sourceEviction, 2, "", b)}, 2, nil},
		{"an empty token", []exchange{answer(sourceEviction, 1, `,"$skipToken":""`, a)}, 1, nil},
		{"a token repeated", []exchange{answer(sourceEviction, 3, more, a), answer(sourceEviction, 3, more, b)}, 0, gputide.ErrSchemaDrift},
		{"fewer rows than counted", []exchange{answer(sourceEviction, 2, "", a)}, 0, gputide.ErrSchemaDrift},
		{"cut without a token", []exchange{{Source: sourceEviction, Method: "POST", URL: graphURL + "?api-version=" + graphVersion, Body: strings.Replace(answer(sourceEviction, 1, "", a).Body, `"false"`, `"true"`, 1)}}, 0, gputide.ErrSchemaDrift},
		{"no rows", []exchange{answer(sourceEviction, 0, "")}, 0, gputide.ErrEmpty},
		{"no total", []exchange{{Source: sourceEviction, Method: "POST", URL: graphURL + "?api-version=" + graphVersion, Body: `{"data":[]}`}}, 0, gputide.ErrSchemaDrift},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.answers {
				tt.answers[i].Times = 1
				if i > 0 { // a page after the first is asked for with the token of the one before
					tt.answers[i].BodyContains = `"$skipToken":"`
				}
			}
			got, err := crawl(t, Config{}, append(priced(), tt.answers...)...)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if n := liveSignals(got); n != tt.want {
				t.Errorf("%d rates, want %d", n, tt.want)
			}
			if (tt.err == nil) != (len(got.Errors(sourceEviction)) == 0) {
				t.Errorf("said of the source: %v", got.Errors(sourceEviction))
			}
		})
	}
}

// liveSignals counts the signals whose scope is done.
func liveSignals(c *providertest.Collector) int {
	n := 0
	for _, sig := range c.Signals {
		for _, s := range c.Scopes {
			if s.Status == gputide.ScopeDone && s.Scope.CoversSignal(sig.Name, &sig.Key, sig.Part) {
				n++
			}
		}
	}
	return n
}
