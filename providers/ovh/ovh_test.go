package ovh_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/ovh"
	"github.com/gputide/gputide/providers/providertest"
)

func field(path string) providertest.Field {
	return providertest.Field{Source: "catalogue-de", Path: path}
}

func replace(name, old, text string, want error) providertest.Edit {
	return providertest.Edit{Name: name, Source: "catalogue-de", Want: want, Change: func(body []byte) []byte {
		out := bytes.ReplaceAll(body, []byte(old), []byte(text))
		if bytes.Equal(out, body) {
			return nil
		}
		return out
	}}
}

func TestConformance(t *testing.T) {
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return ovh.New(f) }, providertest.Opt{
		Lists: []providertest.Field{field("addons"), {Source: "catalogue-us", Path: "addons"}},
		Required: []providertest.Field{
			field("addons"),
			field("addons[].planCode"),
			field("addons[].product"),
			field("addons[].pricings"),
			field("addons[].pricings[].price"),
			field("addons[].pricings[].interval"),
			field("addons[].pricings[].intervalUnit"),
			field("addons[].pricings[].mode"),
			field("addons[].blobs.tags"),
		},
		Swaps: [][2]providertest.Field{
			{field("addons[].pricings[].price"), field("addons[].pricings[].tax")},
		},
		Edits: []providertest.Edit{
			replace("one digit of a price", `275000000`, `276000000`, nil),
			replace("another currency", `"EUR"`, `"USD"`, gputide.ErrSchemaDrift),
			replace("no currency", `"locale"`, `"local"`, gputide.ErrSchemaDrift),
			replace("cards of another name", `"gpu": {`, `"card": {`, nil),
			replace("another system", `"windows"`, `"linux"`, nil),
			replace("another interval", `"hour"`, `"minute"`, nil),
		},
		Deviations: []providertest.Deviation{{
			Name: "digit", Reason: "the catalogue writes whole hundred-millionths; an edit and the facts change their digits",
		}},
	})
}
