package ucloud_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
	"github.com/gputide/gputide/providers/ucloud"
)

const (
	public = "PublicKey-0123456789abcdefghijklmnopqrstu"
	secret = "PrivateKey-0123456789abcdefghijklmnopqrst"
)

func field(source, path string) providertest.Field {
	return providertest.Field{Source: source, Path: path}
}

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
	newProvider := func(f *fetch.Fetcher) gputide.Provider {
		return ucloud.New(f, ucloud.Config{PublicKey: public, PrivateKey: secret})
	}
	const types = "AvailableInstanceTypes"
	providertest.Run(t, newProvider, providertest.Opt{
		Secrets: []string{secret, public},
		Lists:   []providertest.Field{field("regions", "Regions"), field("types", types), field("prices", "PriceSet")},
		Required: []providertest.Field{
			field("regions", "RetCode"),
			field("regions", "Regions"),
			field("regions", "Regions[].Region"),
			field("types", "RetCode"),
			field("types", types),
			field("types", types+"[].Name"),
			field("types", types+"[].Zone"),
			field("types", types+"[].MachineSizes"),
			field("prices", "RetCode"),
			field("prices", "PriceSet"),
			field("prices", "PriceSet[].ChargeType"),
		},
		Swaps: [][2]providertest.Field{
			{field("types", types+"[].Name"), field("types", types+"[].Zone")},
			{field("types", types+"[].Status"), field("types", types+"[].MachineClass")},
		},
		Edits: []providertest.Edit{
			replace("a signature that is not taken", "prices", `"RetCode": 0`, `"RetCode": 171`, gputide.ErrAuth),
			replace("an action that is not known", "types", `"RetCode": 0`, `"RetCode": 161`, gputide.ErrSchemaDrift),
			replace("every price refused", "prices", `"RetCode": 0`, `"RetCode": 8039`, gputide.ErrUnavailable),
			replace("a price by the month", "prices", `"Dynamic"`, `"Month"`, gputide.ErrSchemaDrift),
			replace("a list price beside", "prices", `"Price": 0.42`, `"Price": 0.42, "ListPrice": 0.5`, nil),
			replace("sold out", "types", `"Normal"`, `"Soldout"`, nil),
			replace("another number of cards", "types", `"Gpu": 1`, `"Gpu": 2`, nil),
			replace("another size of cards", "types", `"Value": 16`, `"Value": 15`, nil),
		},
	})
}
