package fetch

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestUserAgent: every request names the project, an SDK's too.
func TestUserAgent(t *testing.T) {
	var agents, encodings []string
	w, stop := newWorld(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		agents = append(agents, r.Header.Get("User-Agent"))
		encodings = append(encodings, r.Header.Get("Accept-Encoding"))
	}), Options{}, testInfo())
	defer stop()
	_, err := w.get(t.Context(), Request{URL: "http://localhost/"})
	fatal(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
	fatal(t, err)
	req.Header.Set("User-Agent", "aws-sdk-go-v2/1")
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := w.HTTPClient("list").Do(req)
	fatal(t, err)
	fatal(t, resp.Body.Close())
	if !slices.Equal(agents, []string{DefaultUserAgent, DefaultUserAgent + " aws-sdk-go-v2/1"}) || !slices.Equal(encodings, []string{"zstd, gzip", "identity"}) {
		t.Errorf("%q %q", agents, encodings)
	}
}

// TestCredentialsStay: no credential follows a redirect to another host.
func TestCredentialsStay(t *testing.T) {
	var got []http.Header
	hop := 0
	w, stop := newWorld(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Clone())
		hop++
		switch hop {
		case 1:
			http.Redirect(w, r, "http://localhost/same?key=abc", http.StatusTemporaryRedirect)
		case 2:
			http.Redirect(w, r, "http://127.0.0.2/other", http.StatusTemporaryRedirect)
		case 3:
			http.Redirect(w, r, "http://localhost/back", http.StatusTemporaryRedirect)
		}
	}), Options{}, testInfo())
	defer stop()
	h := http.Header{
		"Authorization": {"Bearer abc"}, "X-Api-Key": {"abc"}, "X-Auth-Token": {"abc"}, "Cookie": {"a=abc"},
		"X-Amz-Security-Token": {"abc"}, "Accept": {"text/csv"},
	}
	_, err := w.get(t.Context(), Request{URL: "http://localhost/start?key=abc", Header: h})
	fatal(t, err)
	for i, sent := range got {
		for name, values := range sent {
			has := strings.Contains(strings.Join(values, " "), "abc")
			if has != (i < 2 && h.Get(name) != "" && name != "Accept") {
				t.Errorf("hop %d: %s: %s", i, name, values)
			}
		}
		if sent.Get("Accept") != "text/csv" || sent.Get("Referer") != "" {
			t.Errorf("hop %d: %v", i, sent)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d hops", len(got))
	}
}
