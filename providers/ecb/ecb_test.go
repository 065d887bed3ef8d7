package ecb_test

import (
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/ecb"
	"github.com/gputide/gputide/providers/providertest"
)

func TestConformance(t *testing.T) {
	var opt providertest.Opt
	for _, source := range []string{"hist-90d", "daily"} {
		field := func(path string) providertest.Field { return providertest.Field{Source: source, Path: path} }
		opt.Lists = append(opt.Lists, field("Cube@time"))
		opt.Required = append(opt.Required, field("Cube@time"), field("Cube@currency"), field("Cube@rate"))
		opt.Swaps = append(opt.Swaps, [2]providertest.Field{field("Cube@currency"), field("Cube@rate")})
	}
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return ecb.New(f) }, opt)
}
