package lambda_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/lambda"
	"github.com/gputide/gputide/providers/providertest"
)

const fixtures = "../../fixtures/lambda"

func api(path string) providertest.Field  { return providertest.Field{Source: "api", Path: path} }
func page(path string) providertest.Field { return providertest.Field{Source: "page", Path: path} }

func withKey(f *fetch.Fetcher) gputide.Provider    { return lambda.New(f, "dummy-lambda-key") }
func withoutKey(f *fetch.Fetcher) gputide.Provider { return lambda.New(f, "") }

// pageRequired are the attributes that identify and price the rows of the page.
func pageRequired() []providertest.Field {
	return []providertest.Field{
		page("tr@data-plan"), page("th@data-label"), page("td@data-label"), page("button@role"), page("button@aria-controls"),
	}
}

func TestConformance(t *testing.T) {
	providertest.Run(t, withKey, providertest.Opt{
		Lists: []providertest.Field{api("data"), page("tr@data-plan")},
		Required: append(
			pageRequired(),
			api("data"),
			api("data.*.instance_type"),
			api("data.*.instance_type.name"),
			api("data.*.instance_type.price_cents_per_hour"),
			api("data.*.regions_with_capacity_available"),
		),
		Swaps: [][2]providertest.Field{
			{api("data.*.instance_type.specs.vcpus"), api("data.*.instance_type.specs.memory_gib")},
			{api("data.*.instance_type.specs.storage_gib"), api("data.*.instance_type.specs.gpus")},
			{api("data.*.instance_type.name"), api("data.*.instance_type.description")},
		},
		Secrets: []string{"dummy-lambda-key"},
		Deviations: []providertest.Deviation{
			{Name: "digit", Reason: "the API publishes cents; TestCents and the facts change their digits"},
		},
	})
}

// TestConformanceWithoutKey runs the suite as most users crawl: there is the
// page and nothing else.
func TestConformanceWithoutKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lambda")
	if err := os.CopyFS(dir, os.DirFS(fixtures)); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(dir, "manifest.json"), func(m map[string]any) { m["exchanges"] = m["exchanges"].([]any)[1:] })
	if err := os.Remove(filepath.Join(dir, "instance-types.json")); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join(dir, "want.golden.json")
	const kept = "testdata/page.golden.json"
	body, err := os.ReadFile(kept)
	if err == nil {
		err = os.WriteFile(golden, body, 0o644)
	}
	if err != nil && !(providertest.Updating() && errors.Is(err, fs.ErrNotExist)) {
		t.Fatal(err)
	}
	providertest.Run(t, withoutKey, providertest.Opt{
		Fixtures: dir,
		Lists:    []providertest.Field{page("tr@data-plan")},
		Required: pageRequired(),
		Secrets:  []string{"no-key-is-set"},
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

func edit(t *testing.T, name string, change func(map[string]any)) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// down is a network that is not there.
type down struct{}

func (down) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no network") }

// TestNeedsKey proves that live and without a key the API is skipped and says
// what to do.
func TestNeedsKey(t *testing.T) {
	c, err := providertest.Collect(t.Context(), lambda.New(fetch.New(fetch.Options{
		Transport: down{}, Attempts: 1,
	}), ""))
	if !errors.Is(err, gputide.ErrUnavailable) {
		t.Errorf("error %v, want that of the page", err)
	}
	for _, e := range c.Errors("api") {
		if !errors.Is(e, gputide.ErrNeedsKey) {
			t.Errorf("api: %v", e)
		}
	}
}
