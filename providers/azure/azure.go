// Package azure reads what Microsoft Azure charges for virtual machines: on
// demand, spot, reservations and savings plans, Linux and Windows, of every
// region; with a service principal also the sizes as Azure Resource Manager
// describes them, spot eviction rates and the history of spot prices.
//
// Source: the Retail Prices API, https://prices.azure.com/api/retail/prices
// (version 2023-01-01-preview, which alone gives savings plans), documented at
// https://learn.microsoft.com/en-us/rest/api/cost-management/retail-prices/azure-retail-prices;
// Resource SKUs and the list of locations at https://management.azure.com; Azure
// Resource Graph, table SpotResources.
//
// Auth: none for prices. Sizes, eviction rates and spot history need a service
// principal with the Reader role. A table of accelerators with its sources
// stands in for the sizes.
//
// Markets: on_demand, spot, commitment (reservations, savings plans). Amounts are
// asked and answered in USD, per instance and hour; a reservation's is the total
// of its term. On-demand prices change rarely, spot prices about monthly.
//
// Known gaps: dedicated hosts, Cloud Services, Batch low priority and Dev/Test
// rates are left out and counted. The pages of a list are cut by row number: a
// row that another row's end moves across a page border while the list is read
// is missed for that run; a row that is seen twice shows such a move, and then
// nothing is taken for withdrawn. Zones are those of the subscription unless the
// list of locations tells the physical ones.
//
// Verified: the form of prices on recordings of 2026-08 to 2026-10, of sizes on
// one of 2025-06. Unverified: Resource Graph answers (their form is documented,
// no recording was seen), and that the list of locations and of sizes look the
// same to every subscription.
package azure

import (
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// IDs of the sources.
const (
	sourceSKUs      = "resource-skus"
	sourcePrices    = "retail-prices"
	sourceHistory   = "spot-history"
	sourceFamilies  = "families"
	sourceRegions   = "retail-regions"
	sourceLocations = "locations"
	sourceEviction  = "eviction-rates"
	sourceToken     = "token"
)

// Environment variables of the service principal.
const (
	envTenant       = "GPUTIDE_AZURE_TENANT_ID"
	envClient       = "GPUTIDE_AZURE_CLIENT_ID"
	envSecret       = "GPUTIDE_AZURE_CLIENT_SECRET"
	envSubscription = "GPUTIDE_AZURE_SUBSCRIPTION_ID"
)

const (
	priceHost = "prices.azure.com"
	priceURL  = "https://" + priceHost + "/api/retail/prices"
	armHost   = "management.azure.com"
	armURL    = "https://" + armHost
	loginHost = "login.microsoftonline.com"
)

// currency is asked of the Retail Prices API, which answers in every currency
// Microsoft bills in.
const currency gputide.Currency = "USD"

// Config names the service principal and what is read. The zero value reads
// everything that needs no key.
type Config struct {
	TenantID       string
	ClientID       string
	ClientSecret   string
	SubscriptionID string

	// Regions limits the crawl to these region codes; empty is every region.
	Regions []string
}

// Provider crawls Azure.
type Provider struct {
	http *fetch.Client
	cfg  Config
}

var (
	_ gputide.Provider    = (*Provider)(nil)
	_ gputide.SpecCrawler = (*Provider)(nil)
)

// New returns the provider on f.
func New(f *fetch.Fetcher, cfg Config) *Provider {
	p := &Provider{http: f.Client(info()), cfg: cfg}
	if cfg.ClientSecret != "" {
		p.http.AddSecret(cfg.ClientSecret)
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	return gputide.Info{
		Name:       "azure",
		Title:      "Microsoft Azure Virtual Machines",
		Home:       "https://azure.microsoft.com/en-us/pricing/details/virtual-machines/linux/",
		Sources:    sources(),
		Markets:    []gputide.Market{gputide.OnDemand, gputide.Spot, gputide.Commitment},
		Currencies: []gputide.Currency{currency},
		Partitions: []string{partitionCommercial, partitionChina, partitionGov},
		Cadence:    24 * time.Hour,
		Deadline:   2 * time.Hour,
		// The Retail Prices API states no limit and answers 429 where there is one.
		RequestsPerSecond: 2,
		Evidence:          gputide.EvidenceComposed,
		Note:              "No dedicated hosts, Cloud Services, Batch low priority or Dev/Test rates; prices in USD only.",
	}
}

// sources lists the sources in their order of authority: of instance types, of
// prices, and what leads to them or stands beside them.
func sources() []gputide.Source {
	const (
		docPrices = "https://learn.microsoft.com/en-us/rest/api/cost-management/retail-prices/azure-retail-prices"
		docGraph  = "https://learn.microsoft.com/en-us/azure/virtual-machines/spot-vms#azure-resource-graph"
	)
	keyed := func(s gputide.Source) gputide.Source {
		s.Auth, s.Env = gputide.AuthKey, []string{envTenant, envClient, envSecret, envSubscription}
		s.Hosts = append(s.Hosts, armHost)
		return s
	}
	return []gputide.Source{
		keyed(gputide.Source{
			ID: sourceSKUs, Title: "Resource SKUs of a region", URL: armURL + "/subscriptions/*/providers/Microsoft.Compute/skus",
			Doc:      "https://learn.microsoft.com/en-us/rest/api/compute/resource-skus/list",
			Gives:    "sizes with their accelerators, vCPUs, memory, disks, and the zones that offer them",
			MaxBytes: 64 << 20, Timeout: 5 * time.Minute,
		}),
		{
			ID: sourcePrices, Title: "Retail prices of a region", URL: priceURL, Doc: docPrices,
			Hosts: []string{priceHost}, Auth: gputide.AuthNone, Prices: true, MaxBytes: 16 << 20,
		},
		keyed(gputide.Source{
			ID: sourceHistory, Title: "Spot price history, Resource Graph", URL: graphURL, Doc: docGraph,
			Gives: "when spot prices changed in the last 90 days", Prices: true, MaxBytes: 32 << 20,
		}),
		{
			ID: sourceFamilies, Title: "Accelerators of VM sizes",
			Doc: "https://learn.microsoft.com/en-us/azure/virtual-machines/sizes/overview", Auth: gputide.AuthNone,
		},
		{
			ID: sourceRegions, Title: "Regions that sell common sizes", URL: priceURL, Doc: docPrices,
			Hosts: []string{priceHost}, Auth: gputide.AuthNone, MaxBytes: 16 << 20,
		},
		keyed(gputide.Source{
			ID: sourceLocations, Title: "Locations of the subscription", URL: armURL + "/subscriptions/*/locations",
			Doc:   "https://learn.microsoft.com/en-us/rest/api/resources/subscriptions/list-locations",
			Gives: "the regions whose sizes are read, and their physical zones", MaxBytes: 8 << 20,
		}),
		keyed(gputide.Source{
			ID: sourceEviction, Title: "Spot eviction rates, Resource Graph", URL: graphURL, Doc: docGraph,
			Gives: "how often spot machines were evicted in the last 28 days", MaxBytes: 32 << 20,
		}),
		keyed(gputide.Source{
			ID: sourceToken, Title: "Access token of the service principal", URL: "https://" + loginHost + "/*/oauth2/v2.0/token",
			Doc:   "https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow",
			Hosts: []string{loginHost}, Gives: "access to the sources that need a key", MaxBytes: 1 << 20,
		}),
	}
}
