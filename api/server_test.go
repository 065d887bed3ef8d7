package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// page is a question whose answer comes in pages.
type pageRequest struct {
	ID    string
	After int
	Limit int
}

type pageAnswer struct {
	Rows []int `json:"rows"`
	More bool  `json:"more"`
}

const pageRows, allRows = 3, 8

// pages answers numbers up to allRows, pageRows at a time; ID "boom" is an error.
func pages() Question[pageRequest, pageAnswer] {
	return Question[pageRequest, pageAnswer]{
		Path: "/v1/pages/{id}",
		Answer: func(ctx context.Context, _ *View, req pageRequest) (pageAnswer, error) {
			switch req.ID {
			case "boom":
				return pageAnswer{}, errors.New("boom")
			case "late":
				if req.After > 0 {
					return pageAnswer{}, errors.New("boom")
				}
			case "hangs":
				<-ctx.Done()
				return pageAnswer{}, ctx.Err()
			case "hinted":
				return pageAnswer{}, fmt.Errorf("page: %w", &gputide.HintError{Err: fmt.Errorf("x: %w", gputide.ErrNotFound), Hint: "look elsewhere"})
			}
			var a pageAnswer
			for n := req.After + 1; n <= allRows && len(a.Rows) < pageRows; n++ {
				a.Rows = append(a.Rows, n)
			}
			a.More = req.After+len(a.Rows) < allRows
			return a, nil
		},
		Rows: func(a *pageAnswer) iter.Seq[any] { return each(a.Rows) },
		Next: func(req pageRequest, a *pageAnswer) (pageRequest, bool) {
			req.After += len(a.Rows)
			return req, a.More
		},
	}
}

func testServer() *Server {
	return &Server{
		View:    func(_ context.Context, read func(*View) error) error { return read(&View{}) },
		Routes:  []Route{pages(), echo()},
		Version: "test", Database: "/x/y.db",
	}
}

// echo is a command.
func echo() Command[pageRequest, pageAnswer] {
	return Command[pageRequest, pageAnswer]{
		Path: "/v1/echo",
		Do: func(_ context.Context, req pageRequest) (pageAnswer, error) {
			return pageAnswer{Rows: []int{req.Limit}}, nil
		},
	}
}

// onSocket serves h on a socket and returns a client of it.
func onSocket(t *testing.T, s *Server) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := s.HTTP(s.Handler(true))
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	c, err := Dial(t.Context(), path)
	if err != nil || c == nil {
		t.Fatalf("dial: %v, %v", c, err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestAsk(t *testing.T) {
	c := onSocket(t, testServer())
	got, err := pages().Ask(t.Context(), c, pageRequest{ID: "a/b?c", After: 6})
	if diff := cmp.Diff(pageAnswer{Rows: []int{7, 8}}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := echo().Ask(t.Context(), c, pageRequest{Limit: 7}); err != nil || !slices.Equal(got.Rows, []int{7}) {
		t.Errorf("command: %v, %v", got, err)
	}
	if h, err := c.Health(t.Context()); err != nil || h.Status != "ok" || h.Version != "test" || h.Database != "/x/y.db" {
		t.Errorf("health %+v, %v", h, err)
	}
}

// TestAskErrors holds that an error reads, unwraps and hints on this side as on
// the other.
func TestAskErrors(t *testing.T) {
	c := onSocket(t, testServer())
	_, err := pages().Ask(t.Context(), c, pageRequest{ID: "hinted"})
	he, ok := errors.AsType[*gputide.HintError](err)
	if !errors.Is(err, gputide.ErrNotFound) || !ok || he.Hint != "look elsewhere" || err.Error() != "page: x: not found (look elsewhere)" {
		t.Errorf("%v", err)
	}
	_, err = pages().Ask(t.Context(), c, pageRequest{ID: "boom"})
	if err == nil || err.Error() != "boom" || errors.Is(err, gputide.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err = pages().Ask(t.Context(), c, pageRequest{}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("without an id: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = pages().Ask(ctx, c, pageRequest{ID: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestDialNobody(t *testing.T) {
	dir := t.TempDir()
	dead := filepath.Join(dir, "dead")
	l, err := net.Listen("unix", dead)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	for _, path := range []string{filepath.Join(dir, "none"), dead, filepath.Join(dir, strings.Repeat("x", 200))} {
		if c, err := Dial(t.Context(), path); c != nil || err != nil {
			t.Errorf("%s: %v, %v", path, c, err)
		}
	}
}

// TestOtherVersion holds that an answer of another contract is not misread.
func TestOtherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(contractHeader, "99")
		fmt.Fprint(w, "{}")
	})}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Health(t.Context()); !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(err.Error(), "same version") {
		t.Errorf("%v", err)
	}
}

func get(h http.Handler, target, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRoutes(t *testing.T) {
	h := testServer().Handler(false)
	tests := []struct {
		target string
		status int
		want   string
	}{
		{"/v1/pages/a", 200, `{"rows":[1,2,3],"more":true}`},
		{"/v1/pages/a?after=6", 200, `{"rows":[7,8],"more":false}`},
		{"/v1/pages/a?aftr=6", 400, `unknown parameter`},
		{"/v1/pages/a?id=b", 400, `stands in the path`},
		{"/v1/pages/a?after=%zz", 400, `parameters`},
		{"/v1/pages/hinted", 404, `"hint":"look elsewhere"`},
		{"/v1/pages/boom", 500, `"code":"internal"`},
		{"/v1/nothing", 404, `"code":"not_found"`},
		{"/", 404, `/v1/`},
		{"/healthz", 200, `"status":"ok"`},
		{"/v1/explain/zz", 400, `no offer id`},
	}
	for _, tt := range tests {
		w := get(h, tt.target, "")
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) || w.Header().Get("Content-Type") != typeJSON || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s", tt.target, w.Code, w.Body)
		}
	}
	if w := get(h, "/healthz", ""); strings.Contains(w.Body.String(), "/x/y.db") {
		t.Errorf("health tells others of the file: %s", w.Body)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/echo", http.NoBody)
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusNotFound {
		t.Errorf("a command without the right to it: %d", w.Code)
	}
}

// TestLines streams an answer of several pages, and one that breaks off.
func TestLines(t *testing.T) {
	srv := httptest.NewServer(testServer().Handler(false))
	defer srv.Close()
	read := func(id string) ([]string, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+"/v1/pages/"+id, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", typeLines)
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.Header.Get("Content-Type") != typeLines {
			t.Errorf("%s: %s", id, resp.Header.Get("Content-Type"))
		}
		var rows []string
		sc := bufio.NewScanner(resp.Body)
		for sc.Scan() {
			rows = append(rows, sc.Text())
		}
		return rows, sc.Err()
	}
	rows, err := read("a")
	if diff := cmp.Diff([]string{"1", "2", "3", "4", "5", "6", "7", "8"}, rows); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if rows, err := read("late"); err == nil {
		t.Errorf("an answer that broke off reads as whole: %v", rows)
	}
	if w := get(testServer().Handler(false), "/v1/pages/boom", typeLines); w.Code != http.StatusInternalServerError {
		t.Errorf("an error before the first row: %d", w.Code)
	}
}

// TestLimits holds that an answer has its time, and that those who find no turn
// are told.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testServer()
		s.Timeout, s.AtOnce = 10*time.Second, 1
		h := s.Handler(false)
		begun := time.Now()
		done := make(chan *httptest.ResponseRecorder)
		go func() { done <- get(h, "/v1/pages/hangs", "") }()
		synctest.Wait()
		time.Sleep(time.Second)
		if w := get(h, "/healthz", ""); w.Code != http.StatusOK {
			t.Errorf("health waits for a turn: %d", w.Code)
		}
		late := make(chan *httptest.ResponseRecorder)
		go func() { late <- get(h, "/v1/pages/a", "") }()
		if w := <-done; w.Code != http.StatusGatewayTimeout || time.Since(begun) != 10*time.Second {
			t.Errorf("%d after %s: %s", w.Code, time.Since(begun), w.Body)
		}
		if w := <-late; w.Code != http.StatusOK {
			t.Errorf("the next in turn: %d", w.Code)
		}
		go func() { done <- get(h, "/v1/pages/hangs", "") }()
		synctest.Wait()
		s2 := httptest.NewRecorder()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h.ServeHTTP(s2, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/pages/a", http.NoBody))
		if s2.Code != http.StatusServiceUnavailable || s2.Header().Get("Retry-After") == "" {
			t.Errorf("without a turn: %d %s", s2.Code, s2.Body)
		}
		<-done
	})
}
