package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
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

	type result struct {
		Body, Err string
		Header    string
	}
	play := func(ctx context.Context, w *world) (out []result) {
		for i, s := range steps {
			if i == 10 && w.Replaying() {
				s.body = strings.Replace(s.body, "abc&Timestamp=1", "xyz&Timestamp=2", 1)
			}
			r := Request{Source: "list", Method: s.method, URL: "http://localhost" + s.url, Header: s.header}
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
		if len(runs) != 1 || !runs[0].At.Equal(at) || runs[0].Exchanges != 12 {
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

func TestReduced(t *testing.T) {
	head := "\"FormatVersion\",\"v1.0\"\n\"SKU\",\"Type\"\n"
	var full, want strings.Builder
	full.WriteString(head)
	want.WriteString(head)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		line := fmt.Sprintf("%d,m5.large,%d\n", i, rng.Int64())
		if i%100 == 7 {
			line = fmt.Sprintf("%d,p5.48xlarge,\"55.04\"\n", i)
			want.WriteString(line)
		}
		full.WriteString(line)
	}
	full.WriteString("9999,p5.48xlarge,last line without end")
	want.WriteString("9999,p5.48xlarge,last line without end")
	keep := func() func([]byte) bool {
		n := 0
		return func(line []byte) bool {
			n++
			return n <= 2 || strings.Contains(string(line), ",p5.")
		}
	}
	tests := []struct {
		name    string
		over    int64
		keep    func([]byte) bool
		want    string
		reduced bool
	}{
		{"small body", 1 << 20, keep(), full.String(), false},
		{"large body", 1 << 10, keep(), want.String(), true},
		{"large body, late", int64(full.Len()) - 10, keep(), want.String(), true},
		{"large body without rule", 1 << 10, nil, full.String(), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := openArchive(t, ArchiveOptions{ReduceOver: tt.over})
				w, stop := newWorld(text(full.String()), Options{Archive: a}, testInfo())
				defer stop()
				at := time.Now()
				r := Request{Source: "list", URL: "http://localhost/list", Keep: tt.keep, KeepRule: "p5/1"}
				got, err := w.get(WithRun(t.Context(), at), r)
				fatal(t, err)
				if got != full.String() {
					t.Error("the reader did not get the whole body")
				}
				b := w.bodies[0]
				if b.Hash != sha(tt.want) || b.Size != int64(full.Len()) {
					t.Errorf("body %+v", b)
				}
				if got, err := readObject(a, b.Hash); err != nil || got != tt.want {
					t.Errorf("archived %d bytes (%v), want %d", len(got), err, len(tt.want))
				}
				fix, err := a.Replay("acme", at)
				fatal(t, err)
				w2, stop2 := newWorld(text(""), Options{Fixtures: fix}, testInfo())
				defer stop2()
				resp, err := w2.Do(t.Context(), r)
				fatal(t, err)
				defer resp.Body.Close()
				if again, err := io.ReadAll(resp.Body); err != nil || string(again) != tt.want || resp.Reduced != tt.reduced {
					t.Errorf("replayed %d bytes, reduced %t, %v", len(again), resp.Reduced, err)
				}
			})
		})
	}
}

// TestReduceLongLine: a line too long to judge is kept, its neighbours judged.
func TestReduceLongLine(t *testing.T) {
	a := openArchive(t, ArchiveOptions{ReduceOver: 10})
	w, err := a.create(func(line []byte) bool { return line[0] == 'y' }, nil)
	fatal(t, err)
	long := "n" + strings.Repeat("x", maxLine+5000) + "\n"
	for _, part := range []string{"n1\ny1\n", long[:100], long[100 : maxLine+4000], long[maxLine+4000:] + "n2\ny", "2\nn3"} {
		w.write([]byte(part))
	}
	obj, err := w.commit()
	fatal(t, err)
	got, err := readObject(a, obj.hash)
	fatal(t, err)
	if got != "y1\n"+long+"y2\n" || !obj.reduced {
		t.Errorf("kept %d bytes: %.20q … %q", len(got), got, got[max(0, len(got)-20):])
	}
}

// TestSecretAcrossWrites: a credential is found however the body is cut.
func TestSecretAcrossWrites(t *testing.T) {
	a := openArchive(t, ArchiveOptions{})
	body := "some text " + testSecret + " and more"
	for step := 1; step <= len(body); step++ {
		w, err := a.create(nil, []string{"other-secret", testSecret})
		fatal(t, err)
		for i := 0; i < len(body); i += step {
			w.write([]byte(body[i:min(i+step, len(body))]))
		}
		if _, err := w.commit(); !errors.Is(err, errSecretInBody) {
			t.Fatalf("in steps of %d: %v", step, err)
		}
	}
	if runs, _ := os.ReadDir(filepath.Join(a.dir, "objects")); len(runs) != 0 {
		t.Errorf("objects %v", runs)
	}
}

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

func TestPrune(t *testing.T) {
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := t0
	day := 24 * time.Hour
	setup := func(t *testing.T, opt ArchiveOptions) (*Archive, []string) {
		now = t0
		opt.Now = func() time.Time { return now }
		a := openArchive(t, opt)
		var hashes []string
		for i := range 6 {
			now = t0.Add(time.Duration(i) * 10 * day)
			r := &run{at: now}
			for _, content := range []string{"shared by all", fmt.Sprintf("run %d %s", i, noise(uint64(i), 1000))} {
				w, err := a.create(nil, nil)
				fatal(t, err)
				w.write([]byte(content))
				obj, err := w.commit()
				fatal(t, err)
				fatal(t, r.index.add(a, "acme", r.at, &entry{Source: "list", Method: "GET", URL: "http://localhost/" + content[:5], Status: 200, File: obj.hash, Size: int64(len(content)), FetchedAt: now}))
				if content != "shared by all" {
					hashes = append(hashes, obj.hash)
				}
			}
		}
		return a, hashes
	}
	kept := func(a *Archive, hashes []string) (s string) {
		for _, h := range hashes {
			if a.Has(h) {
				s += "1"
			} else {
				s += "0"
			}
		}
		return s
	}
	tests := []struct {
		name   string
		opt    ArchiveOptions
		pin    []int
		want   string
		runs   int
		shared bool
	}{
		{"nothing to do", ArchiveOptions{MaxAge: 60 * day}, nil, "111111", 6, true},
		{"by age", ArchiveOptions{MaxAge: 25 * day}, nil, "000111", 3, true},
		{"by age with a pin", ArchiveOptions{MaxAge: 25 * day}, []int{1}, "010111", 3, true},
		{"by size", ArchiveOptions{MaxAge: 600 * day, MaxBytes: 2500}, nil, "000011", 2, true},
		{"by size, the oldest pinned", ArchiveOptions{MaxAge: 600 * day, MaxBytes: 2500}, []int{0}, "100001", 1, true},
		{"the run being written stays", ArchiveOptions{MaxAge: time.Nanosecond, MaxBytes: 1}, nil, "000001", 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, hashes := setup(t, tt.opt)
			fatal(t, os.WriteFile(filepath.Join(a.dir, "tmp", "left"), nil, 0o644))
			fatal(t, os.Chtimes(filepath.Join(a.dir, "tmp", "left"), t0, t0))
			pins := map[string]bool{}
			for _, i := range tt.pin {
				pins[hashes[i]] = true
			}
			res, err := a.Prune(t.Context(), pins)
			fatal(t, err)
			if got := kept(a, hashes); got != tt.want {
				t.Errorf("kept %s, want %s", got, tt.want)
			}
			runs, err := a.Runs("acme")
			fatal(t, err)
			if len(runs) != tt.runs || res.Runs != 6-tt.runs || res.Bodies != strings.Count(tt.want, "0") {
				t.Errorf("%d runs, result %+v", len(runs), res)
			}
			if a.Has(sha("shared by all")) != tt.shared {
				t.Error("the shared body is gone")
			}
			if _, err := a.Prune(t.Context(), pins); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDamagedIndex: a torn last line is what a killed process leaves; any other
// damage stops the replay of that run and nothing else.
func TestDamagedIndex(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := openArchive(t, ArchiveOptions{Now: func() time.Time { return now }})
	e := &entry{Source: "list", Method: "GET", URL: "http://localhost/", Status: 200, File: sha("x"), FetchedAt: now}
	for i := range 3 {
		r := &run{at: now.Add(time.Duration(i) * time.Hour)}
		fatal(t, r.index.add(a, "acme", r.at, e))
		again := &run{at: r.at}
		fatal(t, again.index.add(a, "acme", r.at, e))
		fatal(t, again.index.add(a, "acme", r.at, e))
	}
	runs, err := a.Runs("acme")
	fatal(t, err)
	if len(runs) != 6 || runs[0].Exchanges != 1 || runs[1].Exchanges != 2 {
		t.Fatalf("runs %+v", runs)
	}
	tear := func(path, s string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		fatal(t, err)
		_, err = f.WriteString(s)
		fatal(t, errors.Join(err, f.Close()))
	}
	tear(runs[1].path, `{"source":"li`)
	tear(runs[3].path, "{\"source\":\"li\n")
	tear(runs[5].path, strings.Repeat("x", maxIndexLine+10)+"\n")
	fix, err := a.Replay("acme", runs[1].At)
	if err != nil || len(fix.sets["acme"].exchanges) != 2 {
		t.Errorf("torn: %v", err)
	}
	for _, i := range []int{3, 5} {
		if _, err := a.Replay("acme", runs[i].At); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("damaged: %v", err)
		}
	}
	runs, err = a.Runs("acme")
	if err != nil || len(runs) != 6 || !runs[3].Damaged || !runs[5].Damaged || runs[1].Damaged {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

func noise(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}

func BenchmarkArchive(b *testing.B) {
	a, err := OpenArchive(b.TempDir(), ArchiveOptions{ReduceOver: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	var csv strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&csv, "\"SKU%d\",\"JRTCKXETXF\",\"OnDemand\",\"$0.%04d per On Demand Linux m5.large Instance Hour\",\"USD\",\"us-east-1\"\n", i, i%9999)
	}
	body := []byte(csv.String())
	for name, keep := range map[string]func([]byte) bool{"whole": nil, "reduced": func(l []byte) bool { return l[5] == '7' && l[6] == '7' }} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				w, err := a.create(keep, []string{testSecret})
				if err != nil {
					b.Fatal(err)
				}
				for i := 0; i < len(body); i += 64 << 10 {
					w.write(body[i:min(i+64<<10, len(body))])
				}
				if _, err := w.commit(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
