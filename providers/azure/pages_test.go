package azure

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// TestPages shows that a list is read whole or its scopes fail.
func TestPages(t *testing.T) {
	a, b, c := sized("Standard_NC4as_T4_v3", "1"), sized("Standard_NC8as_T4_v3", "2"), sized("Standard_NC16as_T4_v3", "3")
	const (
		offerA, offerB, offerC = "NC4as_T4_v3 on_demand linux 1/h", "NC8as_T4_v3 on_demand linux 2/h", "NC16as_T4_v3 on_demand linux 3/h"
		done                   = "partition=azure region=eastus market=on_demand done"
	)
	whole := []string{offerA, offerB, offerC}
	for _, tt := range []struct {
		name  string
		pages []exchange
		want  []string // nil: the scopes fail
		state string
		err   error
	}{
		{"three pages", []exchange{first("eastus", body(link("eastus", 1), a)), later("eastus", 1, body(link("eastus", 2), b)), later("eastus", 2, body("null", c))}, whole, done, nil},
		{"an empty page in the middle", []exchange{first("eastus", body(link("eastus", 2), a, b)), later("eastus", 2, body(link("eastus", 3))), later("eastus", 3, body("null", c))}, whole, done, nil},
		{"an empty page at the end", []exchange{first("eastus", body(link("eastus", 3), a, b, c)), later("eastus", 3, body("null"))}, whole, done, nil},
		{
			"a list that moved shows a row twice",
			[]exchange{first("eastus", body(link("eastus", 2), a, b)), later("eastus", 2, body("null", b, c))},
			append([]string{"- repeated_row 1"}, whole...), done + " no withdrawals", nil,
		},
		{"a page that leads to itself", []exchange{first("eastus", body(link("eastus", 1), a)), later("eastus", 1, body(link("eastus", 1), b))}, nil, "", gputide.ErrSchemaDrift},
		{"a page that leads back", []exchange{first("eastus", body(link("eastus", 0), a)), later("eastus", 0, body(link("eastus", 1), a)), later("eastus", 1, body(link("eastus", 0), b))}, nil, "", gputide.ErrSchemaDrift},
		{"a page that leads elsewhere", []exchange{first("eastus", body("https://evil.example/api/retail/prices?$skip=1", a))}, nil, "", gputide.ErrSchemaDrift},
		{"a page that leads to another path", []exchange{first("eastus", body("https://prices.azure.com:443/api/retail?$skip=1", a))}, nil, "", gputide.ErrSchemaDrift},
		{"a page over plain HTTP", []exchange{first("eastus", body("http://prices.azure.com/api/retail/prices?$skip=1", a))}, nil, "", gputide.ErrSchemaDrift},
		{"a page less", []exchange{first("eastus", body(link("eastus", 1), a))}, nil, "", gputide.ErrUnavailable},
		{"fewer rows than counted", []exchange{first("eastus", strings.Replace(body("null", a, b), `"Count":2`, `"Count":3`, 1))}, nil, "", gputide.ErrSchemaDrift},
		{"no count", []exchange{first("eastus", strings.Replace(body("null", a), `"Count"`, `"Total"`, 1))}, nil, "", gputide.ErrSchemaDrift},
		{"no link", []exchange{first("eastus", strings.Replace(body("null", a), `"NextPageLink"`, `"Next"`, 1))}, nil, "", gputide.ErrSchemaDrift},
		{"rows in another currency", []exchange{first("eastus", body("null", strings.Replace(a, `"USD"`, `"EUR"`, 1)))}, nil, "", gputide.ErrSchemaDrift},
		{"a later page in another currency", []exchange{first("eastus", body(link("eastus", 1), a)), later("eastus", 1, strings.Replace(body("null", b), `"BillingCurrency":"USD"`, `"BillingCurrency":"EUR"`, 1))}, nil, "", gputide.ErrSchemaDrift},
		{"a row of another region", []exchange{first("eastus", body("null", a, strings.Replace(b, `"eastus"`, `"westus"`, 1)))}, nil, "", gputide.ErrSchemaDrift},
		{"no row", []exchange{first("eastus", body("null"))}, nil, "", gputide.ErrEmpty},
		{"429 on the second page", []exchange{first("eastus", body(link("eastus", 1), a)), {Source: sourcePrices, URL: link("eastus", 1), Status: 429, Body: "slow down"}}, nil, "", gputide.ErrRateLimited},
		{"a refused filter", []exchange{{Source: sourcePrices, URL: regionURL("eastus"), Status: 400, Body: `{"Error":{"Code":"BadRequest","Message":"Invalid OData parameters supplied"}}`}}, nil, "", gputide.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// A second region shows that the fault touches no other.
			other := strings.ReplaceAll(body("null", a), `"eastus"`, `"westus"`)
			got, err := crawl(t, Config{}, append([]exchange{index("eastus", "westus"), first("westus", other)}, tt.pages...)...)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			state := []string{"partition=azure region=westus market=on_demand done"}
			if tt.want == nil {
				for _, s := range []string{"market=on_demand", "market=spot", "market=commitment", "market=commitment part=savings_plan"} {
					state = append(state, "partition=azure region=eastus "+s+" failed")
				}
			} else {
				state = append(state, tt.state)
			}
			if d := cmp.Diff(sorted(state), states(got)); d != "" {
				t.Errorf("scopes (-want +got):\n%s", d)
			}
			want := append([]string{offerA}, tt.want...) // of the other region
			if d := cmp.Diff(sorted(want), said(got)); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
		})
	}
}

// TestSeventhPageIsRefused shows that a list fails with its seventh page, and
// keeps nothing of the six before.
func TestSeventhPageIsRefused(t *testing.T) {
	pages := []exchange{index("eastus")}
	for i := range 6 {
		text := body(link("eastus", i+1), sized(fmt.Sprintf("Standard_NC%das_T4_v3", i+1), "1"))
		if i == 0 {
			pages = append(pages, first("eastus", text))
		} else {
			pages = append(pages, later("eastus", i, text))
		}
	}
	pages = append(pages, exchange{Source: sourcePrices, URL: link("eastus", 6), Status: 429, Body: "slow down"})
	got, err := crawl(t, Config{}, pages...)
	if !errors.Is(err, gputide.ErrRateLimited) || len(got.Offers) != 0 || len(got.Errors(sourcePrices)) == 0 {
		t.Errorf("%v, %d offers", err, len(got.Offers))
	}
}

// TestPageCap shows that a list without end is no list.
func TestPageCap(t *testing.T) {
	pages := []exchange{index("eastus"), first("eastus", body(link("eastus", 1), sized("Standard_NC4as_T4_v3", "1")))}
	for i := range maxPages {
		pages = append(pages, later("eastus", i+1, body(link("eastus", i+2))))
	}
	got, err := crawl(t, Config{}, pages...)
	if !errors.Is(err, gputide.ErrTooLarge) || len(got.Offers) != 0 {
		t.Errorf("%v, %d offers", err, len(got.Offers))
	}
}

// TestFieldGone shows that a list without a field it always had is drift.
func TestFieldGone(t *testing.T) {
	for _, field := range []string{
		"armRegionName", "armSkuName", "retailPrice", "unitOfMeasure", "meterName", "productName", "type", "effectiveStartDate", "reservationTerm",
	} {
		row := strings.ReplaceAll(good(), `"`+field+`"`, `"renamed"`)
		_, err := crawl(t, Config{}, index("eastus"), first("eastus", body("null", row)))
		if d, ok := errors.AsType[*gputide.DriftError](err); !ok || d.Path != "Items[]."+field {
			t.Errorf("without %s: %v", field, err)
		}
	}
}

func TestIndex(t *testing.T) {
	row := sized("Standard_NC4as_T4_v3", "1")
	for name, tt := range map[string]struct {
		index exchange
		cfg   Config
		want  []string
		err   error
	}{
		"regions and partitions": {
			index("usgovvirginia", "eastus", "chinanorth3"),
			Config{},
			[]string{
				"partition=azure region=eastus market=on_demand done", "partition=azure-cn region=chinanorth3 market=on_demand done",
				"partition=azure-us-gov region=usgovvirginia market=on_demand done",
			},
			nil,
		},
		"regions asked for": {
			index("usgovvirginia", "eastus"),
			Config{Regions: []string{"eastus", "us-east-1"}},
			[]string{"partition=azure region=eastus market=on_demand done"},
			nil,
		},
		"codes that are none": {index("eastus", "", "east us' or 1 eq 1"), Config{}, []string{"partition=azure region=eastus market=on_demand done"}, nil},
		"no code": {index("", ""), Config{}, []string{
			"market=commitment failed", "market=commitment part=savings_plan failed", "market=on_demand failed", "market=spot failed",
		}, gputide.ErrSchemaDrift},
	} {
		t.Run(name, func(t *testing.T) {
			pages := []exchange{tt.index}
			for _, r := range []string{"eastus", "usgovvirginia", "chinanorth3"} {
				pages = append(pages, first(r, body("null", strings.Replace(row, `"eastus"`, `"`+r+`"`, 1))))
			}
			got, err := crawl(t, tt.cfg, pages...)
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if d := cmp.Diff(tt.want, states(got)); d != "" {
				t.Errorf("scopes (-want +got):\n%s", d)
			}
		})
	}
}
