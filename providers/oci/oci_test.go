package oci_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/oci"
	"github.com/gputide/gputide/providers/providertest"
)

func shapes(path string) providertest.Field {
	return providertest.Field{Source: "estimator-shapes", Path: path}
}

func products(path string) providertest.Field {
	return providertest.Field{Source: "estimator-products", Path: path}
}

func list(path string) providertest.Field {
	return providertest.Field{Source: "price-list", Path: path}
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

func newProvider(f *fetch.Fetcher) gputide.Provider {
	return oci.New(f, oci.Config{Tenancy: "t", User: "u", Fingerprint: "f", PrivateKey: oci.PublishedKey, Region: "us-phoenix-1"})
}

func TestConformance(t *testing.T) {
	providertest.Run(t, newProvider, providertest.Opt{
		Secrets: []string{oci.PublishedKey},
		Lists:   []providertest.Field{shapes("items"), products("items"), list("items")},
		Required: []providertest.Field{
			shapes("items"),
			shapes("items[].name"),
			shapes("items[].hidden"),
			shapes("items[].status"),
			shapes("items[].allowPreemptible"),
			shapes("items[].gpuQty"),
			shapes("items[].products"),
			shapes("items[].products[].partNumber"),
			shapes("items[].products[].type"),
			products("items"),
			products("items[].partNumber"),
			products("items[].pricetype"),
			products("items[].currencyCodeLocalizations"),
			products("items[].currencyCodeLocalizations[].currencyCode"),
			products("items[].currencyCodeLocalizations[].prices"),
			products("items[].currencyCodeLocalizations[].prices[].model"),
			products("items[].currencyCodeLocalizations[].prices[].value"),
			{Source: "compute-shapes", Path: "[].shape"},
			{Source: "compute-shapes", Path: "[].gpus"},
			list("items"),
			list("items[].partNumber"),
			list("items[].metricName"),
			list("items[].currencyCodeLocalizations"),
			list("items[].currencyCodeLocalizations[].prices[].value"),
		},
		Swaps: [][2]providertest.Field{
			{shapes("items[].gpuQty"), shapes("items[].gpuMemoryQty")},
			{shapes("items[].gpuQty"), shapes("items[].bundleMemoryQty")},
			{shapes("items[].hidden"), shapes("items[].allowPreemptible")},
			{list("items[].metricName"), list("items[].serviceCategory")},
		},
		Edits: []providertest.Edit{
			{Name: "no shapes", Source: "compute-shapes", Want: gputide.ErrEmpty, Change: func([]byte) []byte { return []byte("[]") }},
			replace("another currency", "estimator-products", `"USD"`, `"EUR"`, gputide.ErrSchemaDrift),
			replace("another currency in the list", "price-list", `"USD"`, `"EUR"`, gputide.ErrSchemaDrift),
			replace("another price model", "price-list", "PAY_AS_YOU_GO", "MONTHLY_COMMIT", gputide.ErrSchemaDrift),
			replace("a part renumbered", "price-list", "B98415", "B98416", nil),
			replace("another word for active", "estimator-shapes", `"ACTIVE"`, `"CURRENT"`, gputide.ErrSchemaDrift),
			replace("a flag of another meaning", "estimator-shapes", `"hidden": false`, `"hidden": true`, gputide.ErrSchemaDrift),
		},
	})
}
