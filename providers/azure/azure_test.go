package azure_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/azure"
	"github.com/gputide/gputide/providers/providertest"
)

const secret = "dummy~client.secret_0123456789"

func principal() azure.Config {
	return azure.Config{
		TenantID: "11111111-1111-1111-1111-111111111111", ClientID: "22222222-2222-2222-2222-222222222222",
		ClientSecret: secret, SubscriptionID: "33333333-3333-3333-3333-333333333333",
	}
}

func newProvider(f *fetch.Fetcher) gputide.Provider { return azure.New(f, principal()) }

func TestConformance(t *testing.T) {
	prices := func(path string) providertest.Field { return providertest.Field{Source: "retail-prices", Path: path} }
	providertest.Run(t, newProvider, providertest.Opt{
		Secrets: []string{secret},
		Lists: []providertest.Field{
			{Source: "locations", Path: "value"},
			{Source: "resource-skus", Path: "value"},
		},
		Required: []providertest.Field{
			prices("Items[].armSkuName"), prices("Items[].retailPrice"), prices("Items[].type"),
			prices("Items[].meterName"), prices("Items[].productName"), prices("Items[].unitOfMeasure"),
			prices("Items[].effectiveStartDate"), prices("Items[].armRegionName"), prices("Items[].reservationTerm"),
			prices("BillingCurrency"), prices("NextPageLink"), prices("Count"),
			{Source: "retail-regions", Path: "Items[].armRegionName"},
			{Source: "locations", Path: "value[].metadata"},
			{Source: "resource-skus", Path: "value[].name"},
			{Source: "resource-skus", Path: "value[].capabilities"},
		},
		Edits: []providertest.Edit{
			{Name: "no prices", Source: "retail-prices", Want: gputide.ErrEmpty, Change: noRows},
			{Name: "no regions", Source: "retail-regions", Want: gputide.ErrEmpty, Change: noRows},
			{Name: "a row less than counted", Source: "retail-prices", Want: gputide.ErrSchemaDrift, Change: replace(`"Count":3`, `"Count":1000`)},
			{Name: "another currency", Source: "retail-prices", Want: gputide.ErrSchemaDrift, Change: replace(`"BillingCurrency":"USD"`, `"BillingCurrency":"EUR"`)},
			{Name: "another currency in a row", Source: "retail-prices", Want: gputide.ErrSchemaDrift, Change: replace(`"currencyCode":"USD"`, `"currencyCode":"EUR"`)},
		},
		Swaps: [][2]providertest.Field{
			{prices("Items[].retailPrice"), prices("Items[].tierMinimumUnits")},
			{prices("Items[].productName"), prices("Items[].meterName")},
			{prices("Items[].armSkuName"), prices("Items[].skuName")},
			{prices("Items[].type"), prices("Items[].unitOfMeasure")},
		},
	})
}

func noRows([]byte) []byte {
	return []byte(`{"BillingCurrency":"USD","CustomerEntityId":"Default","CustomerEntityType":"Retail","Items":[],"NextPageLink":null,"Count":0}`)
}

// replace returns a change of every old into new.
func replace(old, new string) func([]byte) []byte {
	return func(body []byte) []byte {
		if !bytes.Contains(body, []byte(old)) {
			return nil
		}
		return bytes.ReplaceAll(body, []byte(old), []byte(new))
	}
}
