package providertest

import (
	"slices"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

func acmeOpt() Opt {
	opt := Opt{Fixtures: "testdata/acme", Secrets: []string{secret}}
	for source, at := range map[string]string{"api": "rows[].", "list": ""} {
		list := Field{source, "rows"}
		if source == "list" {
			list.Path = "name"
		}
		opt.Lists = append(opt.Lists, list)
		for _, f := range []string{"name", "gpu", "count", "usd"} {
			opt.Required = append(opt.Required, Field{source, at + f})
		}
		opt.Swaps = append(opt.Swaps, [2]Field{{source, at + "count"}, {source, at + "usd"}})
	}
	return opt
}

func newAcme(bug string) New {
	return func(f *fetch.Fetcher) gputide.Provider {
		a := &acme{bug: bug}
		a.http = f.Client((&acme{}).Info())
		return a
	}
}

// TestRun runs the suite as an adapter does.
func TestRun(t *testing.T) { Run(t, newAcme(""), acmeOpt()) }

// TestBugs proves that the suite finds each mistake, by the check that should.
func TestBugs(t *testing.T) {
	for bug, want := range map[string][]string{
		"promises spot":        {"complete"},
		"lists twice":          {"complete", "golden"},
		"sells in euro":        {"declared"},
		"hosts elsewhere":      {"info", "declared"},
		"claims a recording":   {"fixture"},
		"swallows":             {"cancel", "reset", "fault api-0 500", "fault api-0 other form"},
		"fails in silence":     {"cancel", "reset", "fault api-0 401"},
		"forgets the sentinel": {"cancel", "reset", "fault api-0 429", "fault list-1 cut in half", "empty api:rows"},
		"tells the secret":     {"secrets"},
		"sells nothing":        {"empty api:rows", "empty list:name"},
		"sees no drift":        {"renamed api:rows[].usd", "renamed api:rows[].name"},
		"drops rows":           {"no price", "removed api:rows[].usd", "removed list:usd", "removed api:rows[].name"},
		"types a price":        {"digit"},
		"one price a day":      {"golden", "digit"},
	} {
		t.Run(bug, func(t *testing.T) {
			s, err := newSuite(t.Context(), newAcme(bug), acmeOpt())
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, c := range s.checks() {
				if slices.Contains(want, c.name) {
					found++
					if len(c.run(t)) == 0 {
						t.Errorf("check %q holds", c.name)
					}
				}
			}
			if found != len(want) {
				t.Errorf("%d of the checks %q exist", found, want)
			}
		})
	}
}
