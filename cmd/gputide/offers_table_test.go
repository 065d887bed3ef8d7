package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// TestOffersTable shows how offers of every kind of price look to people.
func TestOffersTable(t *testing.T) {
	nano := func(s string) *query.Money {
		n, err := gputide.ParseNano(s)
		if err != nil {
			t.Fatal(err)
		}
		return new(query.Money(n))
	}
	card := &query.AcceleratorRow{Slug: "a10-24gb", Count: "1"}
	rows := []query.OfferRow{
		{
			OfferID: "00112233445566778899aabbccddeeff",
			KeyRow:  query.KeyRow{Provider: "alibaba", Partition: "cn", Region: "cn-hangzhou", InstanceType: "ecs.gn7i-c8g1.2xlarge", Market: "subscription", Term: "1mo", Stat: "list", Currency: "CNY"},
			Price:   nano("3.424657534"), PricePerAccelerator: nano("3.424657534"), Accelerator: card,
			Published: query.PublishedRow{Amount: "2500", Unit: "mo", Basis: "instance", Currency: "CNY"}, State: gputide.StatePriced, AgeS: 3600,
		},
		{
			OfferID: "10112233445566778899aabbccddeeff",
			KeyRow:  query.KeyRow{Provider: "aws", Partition: "aws", Region: "us-east-1", InstanceType: "g5.xlarge", Market: "commitment", Plan: "ri_standard", Term: "1y", Payment: "partial", OS: "linux", Stat: "list", Currency: "USD"},
			Price:   nano("0.61"), PricePerAccelerator: nano("0.61"), Accelerator: card,
			Published: query.PublishedRow{Amount: "0.3", Unit: "h", Basis: "instance", Currency: "USD"}, Upfront: "2715.6", State: gputide.StateStale, AgeS: 3 * 86400,
		},
		{
			OfferID: "20112233445566778899aabbccddeeff",
			KeyRow:  query.KeyRow{Provider: "acme", Region: "r1", InstanceType: "x", Market: "spot", Stat: "bid_floor", Currency: "EUR"},
			Price:   nano("0.5"), Accelerator: &query.AcceleratorRow{Raw: "GPU Z"},
			Published: query.PublishedRow{Currency: "EUR"}, Components: make([]query.ComponentRow, 3), State: gputide.StateHeld,
			Flags: []gputide.Flag{gputide.FlagUnknownAccelerator},
		},
	}
	want := strings.TrimPrefix(`
               PUBLISHED    PRICE/H  PER GPU  N  GPU       PROVIDER    REGION       TYPE                   MARKET                             STAT       OS     STATE   AGE  FLAGS                OFFER
                ¥2500/月  ≈ ¥3.4247  ¥3.4247  1  a10-24gb  alibaba/cn  cn-hangzhou  ecs.gn7i-c8g1.2xlarge  subscription 1mo                                     priced   1h                       001122334455
$2715.6 upfront + $0.3/h    ≈ $0.61    $0.61  1  a10-24gb  aws         us-east-1    g5.xlarge              commitment ri_standard 1y partial             linux  stale    3d                       101122334455
                sum of 3      €0.50              ? GPU Z   acme        r1           x                      spot                               bid_floor         held     0s  unknown_accelerator  201122334455
`, "\n")
	var b bytes.Buffer
	if _, err := printTable(screen{w: &b}, offerTable(rows), rows); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Reset()
	noRoom, err := printTable(screen{w: &b, width: 80}, offerTable(rows), rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, must := range []string{"¥2500/月", "≈ ¥3.4247", "stale", "held"} {
		if !strings.Contains(b.String(), must) {
			t.Errorf("80 columns lose %q (no room for %q):\n%s", must, noRoom, b.String())
		}
	}
}
