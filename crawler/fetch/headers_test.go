package fetch

import (
	"io"
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

// TestHeadTellsTheLength: the answer to HEAD says how long a body is, as the
// host states it, and has none; that to GET says nothing of its decoded body.
func TestHeadTellsTheLength(t *testing.T) {
	w, stop := newWorld(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/stated") {
			w.Header().Set("Content-Length", "5")
		}
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte("hello"))
		}
	}), Options{}, testInfo())
	defer stop()
	for _, tt := range []struct{ method, path, length string }{
		{http.MethodHead, "stated", "5"}, {http.MethodHead, "silent", ""}, {http.MethodGet, "stated", ""},
	} {
		resp, err := w.Do(t.Context(), Request{Source: "list", Method: tt.method, URL: "http://localhost/" + tt.path})
		fatal(t, err)
		if got := resp.Header.Get("Content-Length"); got != tt.length {
			t.Errorf("%s %s: length %q, want %q", tt.method, tt.path, got, tt.length)
		}
		body, err := io.ReadAll(resp.Body)
		fatal(t, err)
		fatal(t, resp.Body.Close())
		if (string(body) == "hello") != (tt.method == http.MethodGet) {
			t.Errorf("%s %s: body %q", tt.method, tt.path, body)
		}
	}
}
