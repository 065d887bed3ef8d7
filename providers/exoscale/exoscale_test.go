package exoscale_test

import (
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/exoscale"
	"github.com/gputide/gputide/providers/providertest"
)

func field(path string) providertest.Field { return providertest.Field{Source: "pricing", Path: path} }

func TestConformance(t *testing.T) {
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return exoscale.New(f) }, providertest.Opt{
		Lists:    []providertest.Field{field("chf"), field("eur"), field("usd")},
		Required: []providertest.Field{field("chf"), field("eur"), field("usd")},
		Swaps: [][2]providertest.Field{
			{field("eur.running_gpu3_small"), field("eur.running_gpu3_huge")},
			{field("eur.running_gpua30_small"), field("eur.traffic_free")},
		},
	})
}
