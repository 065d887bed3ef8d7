package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gputide/gputide"
)

func TestConditional(t *testing.T) {
	version, served := 1, 0
	handler := func(w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf(`"v%d"`, version)
		w.Header().Set("Etag", tag)
		w.Header().Set("Content-Type", "text/csv")
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		served++
		fmt.Fprintf(w, "line one of v%d\nline two\n", version)
	}
	synctest.Test(t, func(t *testing.T) {
		served, version = 0, 1
		a := openArchive(t, ArchiveOptions{ReduceOver: 20})
		now := time.Now()
		w, stop := newWorld(http.HandlerFunc(handler), Options{Archive: a}, testInfo())
		defer stop()
		step := func(name string, r Request, want string, wantServed int) {
			t.Helper()
			r.URL, r.Source = "http://localhost/list?key=abc", "list"
			now = now.Add(time.Hour)
			w.bodies = nil
			resp, err := w.Do(WithRecorder(WithRun(t.Context(), now), w.record), r)
			fatal(t, err)
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			fatal(t, err)
			if string(b) != want || served != wantServed || resp.Status != 200 || resp.Header.Get("Content-Type") != "text/csv" {
				t.Errorf("%s: status %d, body %q, served %d times", name, resp.Status, b, served)
			}
			if len(w.bodies) != 1 || w.bodies[0].Status != 200 {
				t.Errorf("%s: bodies %+v", name, w.bodies)
			}
			archived, err := readObject(a, w.bodies[0].Hash)
			if err != nil || !strings.HasPrefix(archived, "line one") {
				t.Errorf("%s: archived %q, %v", name, archived, err)
			}
			fix, err := a.Replay("acme", now)
			fatal(t, err)
			w2, stop2 := newWorld(text("x"), Options{Fixtures: fix}, testInfo())
			defer stop2()
			if got, err := w2.get(t.Context(), r); err != nil || got != archived {
				t.Errorf("%s: replayed %q, %v", name, got, err)
			}
		}
		full := "line one of v1\nline two\n"
		one := func(line []byte) bool { return strings.HasPrefix(string(line), "line one") }
		step("first", Request{}, full, 1)
		step("not modified", Request{}, full, 1)
		step("another Accept", Request{Accept: "text/csv"}, full, 2)
		step("the caller's own condition", Request{Header: http.Header{"If-None-Match": {`"v0"`}}}, full, 3)
		version = 2
		full = "line one of v2\nline two\n"
		step("modified, reduced", Request{Keep: one, KeepRule: "one"}, full, 4)
		step("reduced is good enough", Request{Keep: one, KeepRule: "one"}, "line one of v2\n", 4)
		step("another rule", Request{Keep: one, KeepRule: "two"}, full, 5)
		step("no rule", Request{Keep: one}, full, 6)
		step("all lines wanted", Request{}, full, 7)
		step("not modified again", Request{}, full, 7)

		hash := sha(full)
		fatal(t, os.Remove(a.object(hash)))
		step("archived body gone", Request{}, full, 8)
		fatal(t, os.WriteFile(a.object(hash), []byte("damaged"), 0o644))
		step2, err := w.get(t.Context(), Request{URL: "http://localhost/list?key=abc"})
		if err == nil || errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("damaged body: %q, %v", step2, err)
		}
		if got, err := w.get(t.Context(), Request{URL: "http://localhost/list?key=abc"}); err != nil || got != full {
			t.Errorf("after a damaged body: %q, %v", got, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		served = 0
		w, stop := newWorld(http.HandlerFunc(handler), Options{Archive: openArchive(t, ArchiveOptions{}), NoConditional: true}, testInfo())
		defer stop()
		for range 2 {
			_, err := w.get(t.Context(), Request{URL: "http://localhost/list"})
			fatal(t, err)
		}
		if served != 2 {
			t.Errorf("served %d times with NoConditional", served)
		}
	})
}
