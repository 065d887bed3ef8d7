package tencent_test

import (
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
	"github.com/gputide/gputide/providers/tencent"
)

const (
	secretKey     = "dummySecretKeyOfTheChinaSite0000"
	intlSecretKey = "dummySecretKeyOfTheOtherSite00000"
)

func newProvider(f *fetch.Fetcher) gputide.Provider {
	return tencent.New(f, tencent.Config{
		SecretID: "AKIDdummy", SecretKey: secretKey, IntlSecretID: "IKIDdummy", IntlSecretKey: intlSecretKey,
		Now: func() time.Time { return time.Date(2026, 9, 20, 0, 0, 0, 0, time.UTC) },
	})
}

func TestConformance(t *testing.T) {
	field := func(source, path string) providertest.Field { return providertest.Field{Source: source, Path: path} }
	row := func(name string) providertest.Field { return field("cvm", "Response.InstanceTypeQuotaSet[]."+name) }
	providertest.Run(t, newProvider, providertest.Opt{
		Secrets: []string{secretKey, intlSecretKey},
		Lists: []providertest.Field{
			field("cvm", "Response.RegionSet"),
			field("cvm", "Response.InstanceTypeQuotaSet"),
			field("gateway", "data.Response.InstanceTypeQuotaSet"),
		},
		Required: []providertest.Field{
			field("cvm", "Response"),
			field("cvm", "Response.RegionSet[].Region"),
			row("Zone"), row("InstanceType"), row("InstanceChargeType"), row("Status"), row("Price"), row("Price.UnitPrice"),
			field("gateway", "data"),
			field("gateway", "data.Response.InstanceTypeQuotaSet[].Price"),
		},
		Swaps: [][2]providertest.Field{
			{row("Price.UnitPrice"), row("Price.UnitPriceDiscount")},
			{row("Price.UnitPriceSecondStep"), row("Price.UnitPriceThirdStep")},
			{row("Price.OriginalPriceOneYear"), row("Price.DiscountPriceOneYear")},
			{row("Price.OriginalPriceThreeYear"), row("Price.OriginalPriceFiveYear")},
			{row("Cpu"), row("Memory")},
			{row("Zone"), row("InstanceType")},
		},
	})
}
