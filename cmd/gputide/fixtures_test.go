package main

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// serveLive answers as the live source of a provider from the project's fixture,
// and tells in every answer who asked.
func serveLive(t *testing.T, provider string) roundTrip {
	t.Helper()
	dir := filepath.Join("..", "..", "fixtures", provider)
	var manifest struct{ Exchanges []exchange }
	if err := json.Unmarshal(mustRead(t, filepath.Join(dir, "manifest.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	return func(r *http.Request) (*http.Response, error) {
		answer := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Request: r, Body: http.NoBody, ProtoMajor: 1, ProtoMinor: 1}
		var asked []byte
		if r.Body != nil {
			asked, _ = io.ReadAll(r.Body)
		}
		for _, x := range manifest.Exchanges {
			if x.URL != r.URL.String() || cmp.Or(x.Method, http.MethodGet) != r.Method || !strings.Contains(string(asked), x.BodyContains) {
				continue
			}
			text := string(mustRead(t, filepath.Join(dir, x.File)))
			answer.StatusCode, answer.Body, answer.ContentLength = http.StatusOK, io.NopCloser(strings.NewReader(text)), int64(len(text))
			answer.Header.Set("Content-Type", x.Headers["Content-Type"])
			answer.Header.Set("X-Request-Id", "request-of-the-test")
			return answer, nil
		}
		return answer, nil
	}
}

// TestExportedFixture crawls a live source into the archive, exports the run and
// crawls the export: the offers are the same.
func TestExportedFixture(t *testing.T) {
	for _, provider := range []string{"ecb", "lambda", "runpod"} {
		t.Run(provider, func(t *testing.T) {
			c := testMain(t)
			c.Transport = serveLive(t, provider)
			raw, out := filepath.Join(t.TempDir(), "raw"), filepath.Join(t.TempDir(), "fixtures")
			c.must(t, "crawl", "--provider", provider, "--archive", raw)
			live := c.offers(t, testNow.Format(time.RFC3339))

			c.Transport = nil
			said := c.must(t, "fixtures", "export", "--provider", provider, "--from-archive", raw, "--out", out)
			if !strings.Contains(said, "gives the same") {
				t.Errorf("said %q", said)
			}
			manifest := string(mustRead(t, filepath.Join(out, provider, "manifest.json")))
			if strings.Contains(manifest, "request-of-the-test") || !strings.Contains(manifest, `"kind": "recorded"`) {
				t.Errorf("manifest:\n%s", manifest)
			}

			again := testMain(t)
			report := again.must(t, "crawl", "--fixtures", out, "-o", "json")
			if diff := gocmp.Diff(live, again.offers(t, testNow.Format(time.RFC3339))); diff != "" {
				t.Errorf("(-live +exported):\n%s\n%s", diff, report)
			}
			if provider != "ecb" && len(live) == 0 {
				t.Error("no offers")
			}
		})
	}
}

// TestExportThatReadsOtherwise holds that a fixture whose adapter needs what was
// replaced is refused, with its folder kept.
func TestExportThatReadsOtherwise(t *testing.T) {
	c := testMain(t)
	c.Transport = serveLive(t, "runpod")
	raw, out := filepath.Join(t.TempDir(), "raw"), t.TempDir()
	c.must(t, "crawl", "--provider", "runpod", "--archive", raw)
	c.Transport = nil
	c.env["GPUTIDE_LAMBDA_API_KEY"] = "MI300X" // a secret that is a name in the answer
	if code := c.run(t, "fixtures", "export", "--provider", "runpod", "--from-archive", raw, "--out", out); code != exitError {
		t.Errorf("exit code %d: %s", code, c.out.String())
	}
	if got := c.err.String(); !strings.Contains(got, "reads otherwise") {
		t.Errorf("said %q", got)
	}
	if _, err := os.Stat(filepath.Join(out, "runpod", "manifest.json")); err != nil {
		t.Error(err)
	}
}
