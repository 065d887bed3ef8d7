package main

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveAWS answers as a live AWS from the project's fixture, with an entity tag
// on every body, and tells asked of every request. What the fixture lacks is
// status 404.
func serveAWS(t *testing.T, asked func(*http.Request)) roundTrip {
	t.Helper()
	dir := filepath.Join("..", "..", "fixtures", "aws")
	var manifest struct{ Exchanges []exchange }
	if err := json.Unmarshal(mustRead(t, filepath.Join(dir, "manifest.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	return func(r *http.Request) (*http.Response, error) {
		asked(r)
		answer := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Request: r, Body: http.NoBody, ProtoMajor: 1, ProtoMinor: 1}
		for _, x := range manifest.Exchanges {
			if x.URL != r.URL.String() || cmp.Or(x.Method, http.MethodGet) != r.Method {
				continue
			}
			answer.Header.Set("ETag", `"`+x.File+`"`)
			if r.Header.Get("If-None-Match") == `"`+x.File+`"` {
				answer.StatusCode = http.StatusNotModified
				return answer, nil
			}
			text := string(mustRead(t, filepath.Join(dir, x.File)))
			answer.StatusCode, answer.Body, answer.ContentLength = http.StatusOK, io.NopCloser(strings.NewReader(text)), int64(len(text))
			return answer, nil
		}
		return answer, nil
	}
}

// TestUnchangedListIsReadFromTheArchive holds that a list that did not change
// costs no download and confirms its offers, and that a crawl of everything
// downloads it all the same: the archived copy may hold accelerated rows only.
func TestUnchangedListIsReadFromTheArchive(t *testing.T) {
	c := testMain(t)
	conditional := 0
	c.Transport = serveAWS(t, func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".csv") && r.Header.Get("If-None-Match") != "" {
			conditional++
		}
	})
	crawl := func(hours int, more ...string) map[string]offer {
		t.Helper()
		now := testNow.Add(time.Duration(hours) * time.Hour)
		c.Now = func() time.Time { return now }
		conditional = 0
		c.run(t, append([]string{"crawl", "--provider", "aws", "--region", "us-east-1"}, more...)...)
		return c.offers(t, now.Format(time.RFC3339))
	}
	first := crawl(0)
	if conditional != 0 || len(first) == 0 {
		t.Fatalf("first crawl: %d offers, %d conditional requests", len(first), conditional)
	}
	second := crawl(1)
	if conditional == 0 || len(second) != len(first) {
		t.Errorf("second crawl: %d offers of %d, %d conditional requests", len(second), len(first), conditional)
	}
	for id, o := range second {
		if o.Price != first[id].Price || o.State != "priced" || o.AgeS != 0 {
			t.Errorf("%s: %+v, before %+v", id, o, first[id])
		}
	}
	crawl(2, "--collect", "all") // so much that is new is held until a second run agrees
	if everything := crawl(3, "--collect", "all"); conditional != 0 || len(everything) <= len(first) {
		t.Errorf("crawl of everything: %d offers, %d conditional requests", len(everything), conditional)
	}
}

// TestRegionThatIsNotListed holds that a mistyped region is an error that names
// the regions there are, live, and none of a fixture's business otherwise.
func TestRegionThatIsNotListed(t *testing.T) {
	c := testMain(t)
	c.Transport = serveAWS(t, func(*http.Request) {})
	if code := c.run(t, "crawl", "--provider", "aws", "--region", "us-est-1"); code != exitProviders {
		t.Errorf("exit code %d", code)
	}
	if out := c.out.String(); !strings.Contains(out, `region "us-est-1"`) || !strings.Contains(out, "us-east-1") {
		t.Errorf("report:\n%s", out)
	}
	c = testMain(t)
	out := c.must(t, "crawl", "--fixtures", fixtureDir(t, "aws"), "--provider", "aws", "--region", "eu-central-1")
	if !strings.Contains(out, "not in fixture: region eu-central-1") {
		t.Errorf("report:\n%s", out)
	}
}
