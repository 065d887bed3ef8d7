package alibaba_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/alibaba"
	"github.com/gputide/gputide/providers/providertest"
)

const (
	keyID  = "LTAI4GEXAMPLEKEYID"
	secret = "exampleSecretOfAlibabaCloud"
)

func cn(path string) providertest.Field { return providertest.Field{Source: "list-cn", Path: path} }

func intl(path string) providertest.Field { return providertest.Field{Source: "list-intl", Path: path} }

// replace is an edit of every body of a source.
func replace(name, source, old, text string, want error) providertest.Edit {
	return providertest.Edit{Name: name, Source: source, Want: want, Change: func(body []byte) []byte {
		out := bytes.ReplaceAll(body, []byte(old), []byte(text))
		if bytes.Equal(out, body) {
			return nil
		}
		return out
	}}
}

func TestConformance(t *testing.T) {
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider {
		return alibaba.New(f, alibaba.Config{AccessKeyID: keyID, AccessKeySecret: secret})
	}, providertest.Opt{
		Secrets: []string{keyID, secret},
		Lists:   []providertest.Field{cn("pricingInfo"), intl("pricingInfo")},
		Required: []providertest.Field{
			cn("currency"),
			cn("pricingInfo"),
			cn("pricingInfo.*.hours"),
			cn("pricingInfo.*.hours[].price"),
			cn("pricingInfo.*.hours[].period"),
			intl("pricingInfo.*.months"),
			intl("pricingInfo.*.months[].price"),
			intl("pricingInfo.*.months[].period"),
			intl("pricingInfo.*.years"),
			intl("pricingInfo.*.years[].price"),
			intl("pricingInfo.*.years[].period"),
			{Source: "instance-types", Path: "InstanceTypes.InstanceType[].InstanceTypeId"},
			{Source: "instance-types", Path: "InstanceTypes.InstanceType[].GPUAmount"},
			{Source: "regions", Path: "Regions.Region[].RegionId"},
			{Source: "stock", Path: "AvailableZones.AvailableZone[].AvailableResources.AvailableResource[].SupportedResources.SupportedResource[].Value"},
			{Source: "stock", Path: "AvailableZones.AvailableZone[].AvailableResources.AvailableResource[].SupportedResources.SupportedResource[].Status"},
			{Source: "spot-history", Path: "SpotPrices.SpotPriceType"},
			{Source: "spot-history", Path: "SpotPrices.SpotPriceType[].ZoneId"},
			{Source: "spot-history", Path: "SpotPrices.SpotPriceType[].Timestamp"},
			{Source: "spot-history", Path: "SpotPrices.SpotPriceType[].SpotPrice"},
			{Source: "spot-history", Path: "Currency"},
			{Source: "price", Path: "PriceInfo.Price.OriginalPrice"},
			{Source: "price", Path: "PriceInfo.Price.TradePrice"},
			{Source: "price", Path: "PriceInfo.Price.Currency"},
			{Source: "spot-advice", Path: "AvailableSpotZones.AvailableSpotZone[].AvailableSpotResources.AvailableSpotResource[].InstanceType"},
		},
		Swaps: [][2]providertest.Field{
			{intl("pricingInfo.*.hours"), intl("pricingInfo.*.months")},
			{intl("pricingInfo.*.months"), intl("pricingInfo.*.years")},
			{intl("pricingInfo.*.years[].price"), intl("pricingInfo.*.years[].period")},
			{{Source: "spot-history", Path: "SpotPrices.SpotPriceType[].SpotPrice"}, {Source: "spot-history", Path: "SpotPrices.SpotPriceType[].OriginPrice"}},
			{{Source: "price", Path: "PriceInfo.Price.TradePrice"}, {Source: "price", Path: "PriceInfo.Price.DiscountPrice"}},
			{{Source: "instance-types", Path: "InstanceTypes.InstanceType[].CpuCoreCount"}, {Source: "instance-types", Path: "InstanceTypes.InstanceType[].MemorySize"}},
		},
		Edits: []providertest.Edit{
			replace("another currency", "list-cn", `"CNY"`, `"USD"`, gputide.ErrSchemaDrift),
			replace("list of the other site", "list-cn", `"China"`, `"Intl"`, gputide.ErrSchemaDrift),
			replace("another separator", "list-cn", "::", "/", gputide.ErrSchemaDrift),
			replace("another network", "list-cn", "::vpc::", "::vpc2::", gputide.ErrSchemaDrift),
			replace("no version", "page-cn", "2.0.312", "latest", gputide.ErrSchemaDrift),
			replace("another folder", "page-intl", "ecs-price-info-intl", "ecs-price", gputide.ErrSchemaDrift),
			replace("date of the list", "list-cn", "2024-12-27", "2024-12-28", nil),
		},
	})
}
