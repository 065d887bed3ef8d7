package fetch

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

func writeFixture(t *testing.T, provider, manifest string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, provider, name)
		fatal(t, os.MkdirAll(filepath.Dir(path), 0o755))
		fatal(t, os.WriteFile(path, []byte(content), 0o644))
	}
	fatal(t, os.MkdirAll(filepath.Join(dir, provider), 0o755))
	fatal(t, os.WriteFile(filepath.Join(dir, provider, manifestName), []byte(manifest), 0o644))
	return dir
}

const testManifest = `{"provider": "acme", "kind": "documented", "captured_at": "2026-08-22T00:00:00Z", "note": "made for a test",
 "exchanges": [
  {"source": "list", "url": "https://api.example.com/v1/types?page=2&region=eu", "file": "p2.json"},
  {"source": "list", "url": "https://api.example.com/v1/types?region=*&page=1", "file": "p1.json", "headers": {"Content-Type": "application/json"}},
  {"source": "list", "method": "POST", "url": "https://api.example.com/graphql", "body_contains": "gpuTypes", "file": "sub/gpu.json"},
  {"source": "list", "method": "POST", "url": "https://ec2.*.example.com/", "body_contains": "Action=Describe", "file": "p1.json"},
  {"source": "list", "url": "https://api.example.com/offers/*/index.csv", "file": "p1.json"},
  {"source": "list", "url": "https://api.example.com/busy", "status": 429, "headers": {"Retry-After": "9"}, "times": 2},
  {"source": "list", "url": "https://api.example.com/busy", "file": "p1.json"},
  {"source": "list", "url": "https://api.example.com/once", "file": "p1.json", "times": 1},
  {"source": "list", "url": "https://api.example.com/refused", "status": 403, "headers": {"Content-Type": "text/html"}, "file": "page.html"},
  {"source": "list", "url": "https://api.example.com/cut", "headers": {"Content-Length": "1000"}, "file": "p1.json"},
  {"source": "list", "url": "https://api.example.com/long", "headers": {"Content-Length": "3"}, "file": "p1.json"},
  {"source": "list", "url": "https://api.example.com/packed", "headers": {"Content-Encoding": "gzip"}, "file": "p1.json.gz"},
  {"source": "list", "url": "https://api.example.com/html", "file": "page.html"},
  {"source": "list", "url": "https://api.example.com/from", "status": 302, "headers": {"Location": "/v1/types?page=1&region=x"}},
  {"source": "page", "url": "https://www.example.com/pricing", "headers": {"Content-Type": "text/html"}, "file": "page.html"},
  {"source": "page", "url": "https://shut.example.com/robots.txt", "file": "robots.txt"},
  {"source": "page", "url": "https://down.example.com/robots.txt", "status": 503}
 ]}`

func fixtureClient(t *testing.T) *Client {
	t.Helper()
	dir := writeFixture(t, "acme", testManifest, map[string]string{
		"p1.json": `{"page":1}`, "p2.json": `{"page":2}`, "sub/gpu.json": `{"gpu":1}`, "page.html": pageHTML,
		"robots.txt": "User-agent: *\nDisallow: /", "p1.json.gz": gzipped(`{"page":1}`),
	})
	fix, err := OpenFixtures(dir)
	fatal(t, err)
	return New(Options{Fixtures: fix}).Client(gputide.Info{Name: "acme", Sources: []gputide.Source{
		{ID: "list", Hosts: []string{".example.com"}}, {ID: "page", Page: true}, {ID: "other"},
	}})
}

func TestFixtures(t *testing.T) {
	tests := []struct {
		name, method, url, body string
		want                    string
		err                     error
		source                  string
	}{
		{name: "query in another order", url: "https://API.example.com:443/v1/types?region=eu&page=2", want: `{"page":2}`},
		{name: "wildcard value, key dropped", url: "https://api.example.com/v1/types?page=1&key=s3cr3t&region=us", want: `{"page":1}`},
		{name: "empty for a wildcard", url: "https://api.example.com/v1/types?page=1&region=", want: `{"page":1}`},
		{name: "parameter missing", url: "https://api.example.com/v1/types?page=1", err: gputide.ErrUnavailable},
		{name: "parameter too many", url: "https://api.example.com/v1/types?page=1&region=us&x=1", err: gputide.ErrUnavailable},
		{name: "another value", url: "https://api.example.com/v1/types?page=3&region=eu", err: gputide.ErrUnavailable},
		{name: "another scheme", url: "http://localhost/v1/types?page=2&region=eu", err: gputide.ErrInvalid},
		{name: "POST", url: "https://api.example.com/graphql", body: `query { gpuTypes }`, want: `{"gpu":1}`},
		{name: "POST of something else", url: "https://api.example.com/graphql", body: `query { cpus }`, err: gputide.ErrUnavailable},
		{name: "GET for POST", url: "https://api.example.com/graphql", err: gputide.ErrUnavailable},
		{name: "wildcard in a path", url: "https://api.example.com/offers/AmazonEC2/index.csv", want: `{"page":1}`},
		{name: "wildcard stays in its segment", url: "https://api.example.com/offers/a/b/index.csv", err: gputide.ErrUnavailable},
		{name: "429 then success", url: "https://api.example.com/busy", want: `{"page":1}`},
		{name: "refusal", url: "https://api.example.com/refused", err: gputide.ErrAuth},
		{name: "shorter than its Content-Length", url: "https://api.example.com/cut", err: gputide.ErrSchemaDrift},
		{name: "longer than its Content-Length", url: "https://api.example.com/long", err: gputide.ErrSchemaDrift},
		{name: "packed", url: "https://api.example.com/packed", want: `{"page":1}`},
		{name: "redirect", url: "https://api.example.com/from", want: `{"page":1}`},
		{name: "undeclared host", url: "https://stranger.net/", err: gputide.ErrInvalid},
		{name: "undeclared source", source: "other", url: "https://api.example.com/busy", err: gputide.ErrNotInFixture},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fixtureClient(t)
			r := Request{Source: "list", Method: tt.method, URL: tt.url}
			if tt.source != "" {
				r.Source = tt.source
			}
			if tt.body != "" {
				r.Body = []byte(tt.body)
			}
			got, err := readAll(t.Context(), c, r)
			if !errors.Is(err, tt.err) || got != tt.want {
				t.Errorf("%q, %v", got, err)
			}
			if err == nil || tt.err != gputide.ErrUnavailable {
				return
			}
			fe, _ := errors.AsType[*gputide.FetchError](err)
			if !strings.Contains(err.Error(), "not declared in the fixture") || fe.URL == "" || fe.Source != "list" {
				t.Errorf("error %v", err)
			}
		})
	}
}

func readAll(ctx context.Context, c *Client, r Request) (string, error) {
	resp, err := c.Do(ctx, r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	return string(b), nil
}

func TestFixturePages(t *testing.T) {
	c := fixtureClient(t)
	doc, _, err := c.Page(t.Context(), "page", "https://www.example.com/pricing")
	fatal(t, err)
	if doc.Find("td").Length() != 2 {
		t.Error("the page was not parsed")
	}
	for u, want := range map[string]error{
		"https://shut.example.com/pricing": gputide.ErrBlocked,
		"https://down.example.com/pricing": gputide.ErrUnavailable,
		"https://www.example.com/other":    gputide.ErrUnavailable,
	} {
		if _, _, err := c.Page(t.Context(), "page", u); !errors.Is(err, want) {
			t.Errorf("%s: %v", u, err)
		}
	}
	if _, _, err := c.Page(t.Context(), "other", "https://www.example.com/pricing"); !errors.Is(err, gputide.ErrNotInFixture) {
		t.Errorf("undeclared source: %v", err)
	}
	_, err = c.JSON(t.Context(), Request{Source: "list", URL: "https://api.example.com/html"}, new(any))
	if de, ok := errors.AsType[*gputide.DriftError](err); !ok || !strings.HasPrefix(de.Got, "HTML") {
		t.Errorf("HTML for JSON: %v", err)
	}
}

// TestFixtureTimes: servings are counted within a run.
func TestFixtureTimes(t *testing.T) {
	c := fixtureClient(t)
	ctx := t.Context()
	once := Request{Source: "list", URL: "https://api.example.com/once"}
	for range 2 {
		run := WithRun(ctx, time.Now())
		_, err := readAll(run, c, once)
		fatal(t, err)
		if _, err := readAll(run, c, once); !errors.Is(err, gputide.ErrUnavailable) {
			t.Errorf("served twice in a run: %v", err)
		}
	}
	_, err := readAll(ctx, c, once)
	fatal(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			run := WithRun(ctx, time.Now())
			if got, err := readAll(run, c, Request{Source: "list", URL: "https://api.example.com/busy"}); err != nil || got != `{"page":1}` {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	wg.Wait()
}

func TestFixturesFacts(t *testing.T) {
	c := fixtureClient(t)
	fix := c.f.opt.Fixtures
	at := time.Date(2026, 8, 22, 0, 0, 0, 0, time.UTC)
	if !fix.CapturedAt("acme").Equal(at) || fix.Kind("acme") != gputide.EvidenceDocumented || fix.Note("acme") != "made for a test" {
		t.Errorf("%v", fix.sets["acme"])
	}
	if !fix.CapturedAt("x").IsZero() || fix.Kind("x") != "" || fix.Note("x") != "" || fix.Declares("x", "list") {
		t.Error("an unknown provider has facts")
	}
	if !slices.Equal(fix.Providers(), []string{"acme"}) || !fix.Declares("acme", "page") || fix.Declares("acme", "other") {
		t.Error(fix.Providers())
	}
	if got, ok := c.CapturedAt(); !ok || !got.Equal(at) || !c.Replaying() || !c.f.Replaying() {
		t.Error("the client does not know that it replays")
	}
	other := c.f.Client(gputide.Info{Name: "x", Sources: []gputide.Source{{ID: "list", Hosts: []string{"api.example.com"}}}})
	if _, err := readAll(t.Context(), other, Request{Source: "list", URL: "https://api.example.com/once"}); !errors.Is(err, gputide.ErrNotInFixture) {
		t.Errorf("a provider without manifest: %v", err)
	}
	if _, ok := other.CapturedAt(); ok {
		t.Error("a provider without manifest was captured")
	}
}
