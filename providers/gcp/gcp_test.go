package gcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/gcp"
	"github.com/gputide/gputide/providers/providertest"
)

func skus(path string) providertest.Field { return providertest.Field{Source: "skus", Path: path} }

func types(path string) providertest.Field {
	return providertest.Field{Source: "machine-types", Path: path}
}

const (
	tiers  = "skus[].pricingInfo[].pricingExpression.tieredRates"
	apiKey = "dummy-gcp-api-key"
	secret = "dummy-gcp-private-key"
)

func withKeys(f *fetch.Fetcher) gputide.Provider {
	return gcp.New(f, gcp.Config{APIKey: apiKey, ClientEmail: "gputide@example.org", PrivateKey: secret, Project: "example-project"})
}

func TestConformance(t *testing.T) {
	providertest.Run(t, withKeys, providertest.Opt{
		Lists: []providertest.Field{skus("skus")},
		Required: []providertest.Field{
			skus("skus[].description"),
			skus("skus[].serviceRegions"),
			skus("skus[].pricingInfo"),
			skus("skus[].pricingInfo[].pricingExpression.usageUnit"),
			skus(tiers),
			skus(tiers + "[].unitPrice.currencyCode"),
			skus(tiers + "[].unitPrice.units"),
			skus(tiers + "[].unitPrice.nanos"),
			types("items"),
			types("items.*.machineTypes[].name"),
			types("items.*.machineTypes[].accelerators"),
			{Source: "accelerator-types", Path: "items.*.acceleratorTypes[].name"},
		},
		Swaps: [][2]providertest.Field{
			{skus("skus[].skuId"), skus("skus[].description")},
			{skus("skus[].category.resourceGroup"), skus("skus[].category.usageType")},
			{types("items.*.machineTypes[].guestCpus"), types("items.*.machineTypes[].memoryMb")},
		},
		Edits: []providertest.Edit{{
			Name: "the maximum renamed", Source: "accelerator-types", Want: gputide.ErrSchemaDrift, Change: func(body []byte) []byte {
				return bytes.ReplaceAll(body, []byte("maximumCards"), []byte("cards"))
			},
		}},
		Secrets: []string{apiKey, secret},
		Deviations: []providertest.Deviation{
			{Name: "digit", Reason: "the catalogue writes money as units and nanos; TestMoney, the page's suite and the facts change their digits"},
		},
	})
}

// TestConformanceWithoutKey runs the suite as most users crawl: there is the
// page and nothing else.
func TestConformanceWithoutKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gcp")
	if err := os.CopyFS(dir, os.DirFS("../../fixtures/gcp")); err != nil {
		t.Fatal(err)
	}
	keepPage(t, dir)
	golden := filepath.Join(dir, "want.golden.json")
	const kept = "testdata/page.golden.json"
	body, err := os.ReadFile(kept)
	if err == nil {
		err = os.WriteFile(golden, body, 0o644)
	}
	if err != nil && !(providertest.Updating() && errors.Is(err, fs.ErrNotExist)) {
		t.Fatal(err)
	}
	replace := func(old, other string) func([]byte) []byte {
		return func(body []byte) []byte {
			if !bytes.Contains(body, []byte(old)) {
				return nil
			}
			return bytes.ReplaceAll(body, []byte(old), []byte(other))
		}
	}
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return gcp.New(f, gcp.Config{}) }, providertest.Opt{
		Fixtures: dir,
		Edits: []providertest.Edit{
			{Name: "machine type heading renamed", Source: "page", Change: replace("Machine type", "Machine"), Want: gputide.ErrSchemaDrift},
			{Name: "a price heading renamed", Source: "page", Change: replace("Current Spot pricing", "Spot"), Want: gputide.ErrSchemaDrift},
			{Name: "the embedded tables gone", Source: "page", Change: replace("AF_initDataCallback", "AF_other"), Want: gputide.ErrSchemaDrift},
			{Name: "the embedded data broken", Source: "page", Change: replace("(us-central1)\"]", "(us-central1)\""), Want: gputide.ErrSchemaDrift},
			{Name: "the places in another form", Source: "page", Change: replace("(us-central1)", "us-central1"), Want: nil},
			{Name: "no machine types", Source: "page", Change: replace("gpu-", "gpu "), Want: gputide.ErrEmpty},
			{Name: "a type in another form", Source: "page", Change: replace("a3-megagpu-8g", "A3 Mega 8g"), Want: nil},
			{Name: "a price in another unit", Source: "page", Change: replace("$118.236831175 / 1 hour", "$118.236831175 / 1 month"), Want: nil},
			{Name: "columns swapped", Source: "page", Change: replace("- 1 Year", "- 3 Year"), Want: gputide.ErrSchemaDrift},
		},
		Secrets: []string{"no-key-is-set"},
	})
	if providertest.Updating() {
		body, err := os.ReadFile(golden)
		if err == nil {
			err = os.WriteFile(kept, body, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// keepPage takes everything but the page out of a fixture.
func keepPage(t *testing.T, dir string) {
	t.Helper()
	name := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	var kept []any
	for _, e := range m["exchanges"].([]any) {
		if x := e.(map[string]any); x["source"] == "page" {
			kept = append(kept, x)
		} else if err := os.Remove(filepath.Join(dir, x["file"].(string))); err != nil {
			t.Fatal(err)
		}
	}
	m["exchanges"] = kept
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
