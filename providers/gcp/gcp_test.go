package gcp_test

import (
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/gcp"
	"github.com/gputide/gputide/providers/providertest"
)

func skus(path string) providertest.Field { return providertest.Field{Source: "skus", Path: path} }

func types(path string) providertest.Field {
	return providertest.Field{Source: "machine-types", Path: path}
}

const (
	tiers  = "skus[].pricingInfo[].pricingExpression.tieredRates"
	apiKey = "dummy-gcp-api-key"
	token  = "dummy-gcp-access-token"
)

func withKeys(f *fetch.Fetcher) gputide.Provider {
	return gcp.New(f, gcp.Config{APIKey: apiKey, AccessToken: token, Project: "example-project"})
}

func TestConformance(t *testing.T) {
	providertest.Run(t, withKeys, providertest.Opt{
		Lists: []providertest.Field{skus("skus")},
		Required: []providertest.Field{
			skus("skus[].description"),
			skus("skus[].serviceRegions"),
			skus("skus[].pricingInfo"),
			skus("skus[].pricingInfo[].pricingExpression"),
			skus("skus[].pricingInfo[].pricingExpression.usageUnit"),
			skus(tiers),
			skus(tiers + "[].unitPrice"),
			skus(tiers + "[].unitPrice.currencyCode"),
			skus(tiers + "[].unitPrice.units"),
			skus(tiers + "[].unitPrice.nanos"),
			types("items"),
			types("items.*.machineTypes[].name"),
			types("items.*.machineTypes[].accelerators"),
		},
		Swaps: [][2]providertest.Field{
			{skus("skus[].skuId"), skus("skus[].description")},
			{skus("skus[].category.resourceGroup"), skus("skus[].category.usageType")},
			{types("items.*.machineTypes[].guestCpus"), types("items.*.machineTypes[].memoryMb")},
		},
		Secrets: []string{apiKey, token},
		Deviations: []providertest.Deviation{
			{Name: "digit", Reason: "the catalogue writes money as units and nanos; TestMoney, the page's suite and the facts change their digits"},
		},
	})
}
