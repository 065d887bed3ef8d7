package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gputide/gputide"
)

func readObject(a *Archive, hash string) (string, error) {
	r, err := a.Open(hash)
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	return string(b), err
}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func openArchive(t *testing.T, opt ArchiveOptions) *Archive {
	t.Helper()
	a, err := OpenArchive(t.TempDir(), opt)
	fatal(t, err)
	t.Cleanup(func() {
		left, err := os.ReadDir(filepath.Join(a.dir, "tmp"))
		fatal(t, err)
		if len(left) != 0 {
			t.Errorf("left in tmp: %v", left)
		}
	})
	return a
}

// TestArchiveRun records a run and replays it: byte-equal, in order, with the
// same statuses, and from nothing else.
func TestArchiveRun(t *testing.T) {
	type step struct {
		method, url, body string
		header            http.Header
		part              string
	}
	steps := []step{
		{url: "/list?page=1&region=a"},
		{url: "/list?region=a&page=2"},
		{url: "/list?page=1&region=a"}, // again: another answer
		{url: "/gone"},
		{url: "/down"},
		{url: "/moved"},
		{url: "/gzip"},
		{url: "/empty"},
		{method: "POST", url: "/graphql", body: `{"query":"one"}`},
		{method: "POST", url: "/graphql", body: `{"query":"one more"}`},
		{method: "POST", url: "/sdk", body: "Action=DescribeX&Version=1&Signature=abc&Timestamp=1", header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}},
		{method: "POST", url: "/header", body: "{}", header: http.Header{"X-Region": {"a"}}, part: "a"},
		{method: "POST", url: "/header", body: "{}", header: http.Header{"X-Region": {"b"}}, part: "b"},
	}
	n := 0
	mux := http.NewServeMux()
	mux.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {
		n++
		w.Header().Set("Link", "<http://localhost/list?page=2&key=abc>; rel=next")
		fmt.Fprintf(w, "%s answer %d", r.URL.RawQuery, n)
	})
	mux.HandleFunc("/gone", wall(404, "no such thing"))
	mux.HandleFunc("/down", sequence(status(503), wall(500, "oops")))
	mux.HandleFunc("/moved", status(302, "Location", "/target?token=abc"))
	mux.HandleFunc("/target", text("here"))
	mux.HandleFunc("/gzip", encoded("gzip", gzipped("packed")))
	mux.HandleFunc("/empty", text(""))
	mux.HandleFunc("/graphql", func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	mux.HandleFunc("/sdk", text("<xml/>"))
	mux.HandleFunc("/header", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "region %s, asked with %s", r.Header.Get("X-Region"), body)
	})

	type result struct {
		Body, Err string
		Header    string
	}
	play := func(ctx context.Context, w *world) (out []result) {
		for i, s := range steps {
			if i == 10 && w.Replaying() {
				s.body = strings.Replace(s.body, "abc&Timestamp=1", "xyz&Timestamp=2", 1)
			}
			r := Request{Source: "list", Method: s.method, URL: "http://localhost" + s.url, Header: s.header, Part: s.part}
			if s.body != "" {
				r.Body = []byte(s.body)
			}
			resp, err := w.Do(WithRecorder(ctx, w.record), r)
			if err != nil {
				fe, _ := errors.AsType[*gputide.FetchError](err)
				out = append(out, result{Err: fmt.Sprint(fe.Kind, fe.Status)})
				continue
			}
			b, err := io.ReadAll(resp.Body)
			fatal(t, err)
			fatal(t, resp.Body.Close())
			out = append(out, result{Body: string(b), Header: w.f.redact.Text(resp.Header.Get("Link"))})
		}
		return out
	}
	synctest.Test(t, func(t *testing.T) {
		a := openArchive(t, ArchiveOptions{})
		at := time.Date(2026, 8, 22, 0, 0, 0, 0, time.UTC)
		w, stop := newWorld(mux, Options{Archive: a}, testInfo())
		live := play(WithRun(t.Context(), at), w)
		recorded := w.bodies
		stop()

		runs, err := a.Runs("acme")
		fatal(t, err)
		if len(runs) != 1 || !runs[0].At.Equal(at) || runs[0].Exchanges != 14 {
			t.Fatalf("runs %+v", runs)
		}
		fix, err := a.Replay("acme", at)
		fatal(t, err)
		if fix.Kind("acme") != gputide.EvidenceRecorded || !fix.CapturedAt("acme").Equal(at) {
			t.Errorf("%s %s", fix.Kind("acme"), fix.CapturedAt("acme"))
		}
		w, stop = newWorld(text("the network"), Options{Fixtures: fix, Archive: a}, testInfo())
		defer stop()
		start := time.Now()
		for range 2 { // a second run starts over
			w.bodies = nil
			if diff := cmp.Diff(live, play(WithRun(t.Context(), at), w)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(recorded, w.bodies, cmpopts.IgnoreFields(gputide.Body{}, "FetchedAt")); diff != "" {
				t.Error(diff)
			}
		}
		if time.Since(start) != 0 {
			t.Errorf("replay waited %s", time.Since(start))
		}
		out := t.TempDir()
		_, err = a.Export("acme", at, out, NewRedactor())
		fatal(t, err)
		exported, err := OpenFixtures(out)
		fatal(t, err)
		from, end := newWorld(text("the network"), Options{Fixtures: exported}, testInfo())
		defer end()
		if diff := cmp.Diff(live, play(WithRun(t.Context(), at), from)); diff != "" {
			t.Errorf("exported (-live +got):\n%s", diff)
		}
		if _, err := w.get(t.Context(), Request{URL: "http://localhost/other"}); !errors.Is(err, gputide.ErrUnavailable) {
			t.Errorf("undeclared request: %v", err)
		}
		if _, err := w.get(t.Context(), Request{Source: "page", URL: "http://localhost/list?page=1&region=a"}); !errors.Is(err, gputide.ErrNotInFixture) {
			t.Errorf("undeclared source: %v", err)
		}
		if runs, _ := a.Runs("acme"); len(runs) != 1 {
			t.Errorf("replay was archived: %v", runs)
		}
		if _, err := a.Replay("acme", at.Add(time.Second)); !errors.Is(err, gputide.ErrNotFound) {
			t.Errorf("another moment: %v", err)
		}
	})
}

func TestArchiveIncomplete(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 4<<10)
	tests := []struct {
		name    string
		handler http.HandlerFunc
		read    int64 // before Close; -1: to the end
		kept    bool
	}{
		{"read to the end", text(body), -1, true},
		{"given up near the end", text(body), 10, true},
		{"cut", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), -1, false},
		{"cut and given up", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), 2, false},
		{"stalled", stall, -1, false},
		{"stalled and given up", stall, 2, false},
		{"too large", text(strings.Repeat(body, 20)), -1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := openArchive(t, ArchiveOptions{})
				w, stop := newWorld(tt.handler, Options{Archive: a}, testInfo())
				defer stop()
				start := time.Now()
				resp, err := w.Do(WithRecorder(WithRun(t.Context(), start), w.record), Request{Source: "list", URL: "http://localhost/list"})
				fatal(t, err)
				if tt.read < 0 {
					_, _ = io.Copy(io.Discard, resp.Body)
				} else {
					_, err = io.CopyN(io.Discard, resp.Body, tt.read)
					fatal(t, err)
				}
				fatal(t, resp.Body.Close())
				if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
					t.Error("read after close")
				}
				if len(w.bodies) != 1 {
					t.Fatalf("bodies %v", w.bodies)
				}
				if kept := w.bodies[0].Hash != ""; kept != tt.kept {
					t.Errorf("hash %q", w.bodies[0].Hash)
				}
				if tt.kept {
					if got, err := readObject(a, sha(body)); err != nil || got != body {
						t.Errorf("archived %d bytes, %v", len(got), err)
					}
				} else if _, err := a.Replay("acme", start); !errors.Is(err, gputide.ErrNotFound) {
					t.Errorf("the run has an index: %v", err)
				}
				if d := time.Since(start); d > 10*time.Second {
					t.Errorf("took %s", d)
				}
			})
		})
	}
}

// TestConcurrent: many requests of one run at once are all kept and replayed.
func TestConcurrent(t *testing.T) {
	a := openArchive(t, ArchiveOptions{})
	at := time.Date(2026, 8, 22, 0, 0, 0, 0, time.UTC)
	play := func(t *testing.T, opt Options) *world {
		w, stop := newWorld(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(r.URL.RawQuery+" ", 500))
		}), opt, testInfo())
		defer stop()
		ctx := WithRun(t.Context(), at)
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				q := fmt.Sprintf("n=%d", i/2) // each twice
				got, err := w.get(ctx, Request{URL: "http://localhost/list?" + q})
				if err != nil || got != strings.Repeat(q+" ", 500) {
					t.Errorf("%s: %.20q, %v", q, got, err)
				}
			})
		}
		wg.Wait()
		return w
	}
	play(t, Options{Archive: a})
	fix, err := a.Replay("acme", at)
	fatal(t, err)
	if w := play(t, Options{Fixtures: fix}); len(w.bodies) != 40 {
		t.Errorf("%d bodies", len(w.bodies))
	}
}
