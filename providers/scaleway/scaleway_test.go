package scaleway_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
	"github.com/gputide/gputide/providers/scaleway"
)

func field(path string) providertest.Field {
	return providertest.Field{Source: "catalogue", Path: path}
}

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
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return scaleway.New(f, nil) }, providertest.Opt{
		Lists: []providertest.Field{
			field("products"),
			{Source: "server-types", Path: "servers"},
			{Source: "availability", Path: "servers"},
		},
		Required: []providertest.Field{
			field("products"),
			field("products[].product"),
			field("products[].status"),
			field("products[].locality.zone"),
			field("products[].price.retail_price"),
			field("products[].unit_of_measure.unit"),
			field("products[].unit_of_measure.size"),
			{Source: "server-types", Path: "servers"},
			{Source: "server-types", Path: "servers.*.gpu"},
			{Source: "server-types", Path: "servers.*.end_of_service"},
			{Source: "availability", Path: "servers"},
			{Source: "availability", Path: "servers.*.availability"},
		},
		Swaps: [][2]providertest.Field{
			{field("products[].price.retail_price.units"), field("products[].price.retail_price.nanos")},
		},
		Edits: []providertest.Edit{
			replace("one digit of a price", "catalogue", `13125000`, `13126000`, nil),
			replace("one digit of units", "catalogue", `"units": 1`, `"units": 2`, nil),
			replace("another currency", "catalogue", `"EUR"`, `"USD"`, gputide.ErrSchemaDrift),
			replace("another unit", "catalogue", `"minute"`, `"second"`, nil),
			replace("another word for sold", "catalogue", `"general_availability"`, `"ga"`, nil),
			replace("cards of another name", "catalogue", `"gpu"`, `"accelerator"`, nil),
			replace("another count of cards", "server-types", `"gpu": 8`, `"gpu": 4`, nil),
			replace("another word for stock", "availability", `"shortage"`, `"none"`, nil),
		},
		Deviations: []providertest.Deviation{{
			Name: "digit", Reason: "an amount is given in units and nanos; two edits stand for it",
		}},
	})
}
