package aws_test

import (
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/aws"
	"github.com/gputide/gputide/providers/providertest"
)

const secret = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"

func newProvider(f *fetch.Fetcher) gputide.Provider {
	return aws.New(f, aws.Config{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: secret})
}

func TestConformance(t *testing.T) {
	providertest.Run(t, newProvider, providertest.Opt{
		Secrets: []string{secret},
		Lists: []providertest.Field{
			{Source: "bulk-csv", Path: "SKU"},
			{Source: "bulk-csv-cn", Path: "SKU"},
			{Source: "savings-plan-csv", Path: "SKU"},
			{Source: "savings-plan-index", Path: "regions"},
			{Source: "region-index", Path: "regions"},
			{Source: "page-feed", Path: "regions.*"},
		},
		Required: []providertest.Field{
			{Source: "bulk-csv", Path: "Operating System"},
			{Source: "bulk-csv", Path: "Region Code"},
			{Source: "bulk-csv", Path: "MarketOption"},
			{Source: "bulk-csv", Path: "PricePerUnit"},
			{Source: "bulk-json", Path: "products.*.attributes.tenancy"},
			{Source: "bulk-json", Path: "products.*.attributes.instanceType"},
			{Source: "savings-plan-csv", Path: "DiscountedSKU"},
			{Source: "savings-plan-csv", Path: "DiscountedInstanceType"},
			{Source: "savings-plan-csv", Path: "Product Family"},
			{Source: "savings-plan-json", Path: "terms.savingsPlan"},
			{Source: "savings-plan-index", Path: "regions[].versionUrl"},
			{Source: "page-feed", Path: "regions.*.*.Instance Type"},
			{Source: "offer-index", Path: "offers.*.currentRegionIndexUrl"},
			{Source: "region-index", Path: "regions.*.currentVersionUrl"},
			{Source: "spot-advisor", Path: "spot_advisor"},
		},
		Swaps: [][2]providertest.Field{
			{{Source: "bulk-csv", Path: "Tenancy"}, {Source: "bulk-csv", Path: "Operating System"}},
			{{Source: "bulk-csv", Path: "vCPU"}, {Source: "bulk-csv", Path: "GPU"}},
			{{Source: "bulk-csv", Path: "StartingRange"}, {Source: "bulk-csv", Path: "PricePerUnit"}},
			{{Source: "savings-plan-csv", Path: "SKU"}, {Source: "savings-plan-csv", Path: "DiscountedSKU"}},
			{{Source: "savings-plan-csv", Path: "LeaseContractLength"}, {Source: "savings-plan-csv", Path: "DiscountedRate"}},
			{{Source: "page-feed", Path: "regions.*.*.price"}, {Source: "page-feed", Path: "regions.*.*.vCPU"}},
		},
	})
}
