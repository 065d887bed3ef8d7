package ibm_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/ibm"
	"github.com/gputide/gputide/providers/providertest"
)

const secret = "ApiKey-0123456789abcdefghijklmnopqrstuvwxyz"

func plans(path string) providertest.Field { return providertest.Field{Source: "plans", Path: path} }

func prices(path string) providertest.Field { return providertest.Field{Source: "prices", Path: path} }

func profiles(path string) providertest.Field {
	return providertest.Field{Source: "profiles", Path: path}
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
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return ibm.New(f, secret) }, providertest.Opt{
		Secrets: []string{secret},
		Lists:   []providertest.Field{profiles("profiles")},
		Required: []providertest.Field{
			profiles("profiles"),
			profiles("profiles[].name"),
			profiles("profiles[].vcpu_count"),
			profiles("profiles[].memory"),
			plans("offset"),
			plans("count"),
			plans("resources"),
			plans("resources[].id"),
			plans("resources[].name"),
			prices("offset"),
			prices("count"),
			prices("resources"),
			prices("resources[].deployment_region"),
			prices("resources[].metrics"),
			prices("resources[].metrics[].charge_unit_name"),
		},
		Swaps: [][2]providertest.Field{
			{prices("resources[].metrics[].charge_unit"), prices("resources[].metrics[].charge_unit_name")},
			{prices("resources[].metrics[].effective_from"), prices("resources[].metrics[].effective_until")},
			{prices("resources[].metrics[].amounts[].country"), prices("resources[].metrics[].amounts[].currency")},
			{profiles("profiles[].vcpu_count"), profiles("profiles[].memory")},
		},
		Edits: []providertest.Edit{
			replace("no plan left", "plans", `"count": 4`, `"count": 0`, gputide.ErrSchemaDrift),
			replace("no deployment left", "prices", `"count": 9`, `"count": 0`, gputide.ErrSchemaDrift),
			replace("a page that shifts", "prices", `"offset": 5`, `"offset": 4`, gputide.ErrSchemaDrift),
			replace("a list that ends early", "prices", `"count": 9`, `"count": 10`, gputide.ErrUnavailable),
			replace("another currency", "prices", `"USD"`, `"EUR"`, nil),
			replace("another unit", "prices", `"Instance-Hour"`, `"Instance-Month"`, nil),
			replace("another quantity", "prices", `"charge_unit_quantity": 1`, `"charge_unit_quantity": 10`, nil),
			replace("another model of tiers", "prices", `"Linear Tier"`, `"Block Tier"`, nil),
			replace("no longer in force", "prices", `"9999-12-31T00:00:00Z"`, `"9999-12-31"`, nil),
			replace("a plan that is not an id", "plans", "473375e7-f226", "../x", gputide.ErrSchemaDrift),
		},
	})
}
