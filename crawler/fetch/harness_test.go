package fetch

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// pipeNet is a network in memory: whatever is dialled reaches one server. It
// works inside a synctest bubble, where a test ends only when every goroutine of
// client and server has ended.
type pipeNet struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeNet() *pipeNet {
	return &pipeNet{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (p *pipeNet) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipeNet) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipeNet) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipeNet) Addr() net.Addr { return &net.IPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// world is a server, and a client that can reach nothing else.
type world struct {
	*Client
	fetcher *Fetcher
	log     *bytes.Buffer
	bodies  []gputide.Body
	mu      sync.Mutex
}

const testSecret = "s3cr3t-Value/with+signs"

func testInfo() gputide.Info {
	return gputide.Info{
		Name: "acme", RequestsPerSecond: 1000,
		Sources: []gputide.Source{
			{ID: "list", URL: "http://localhost/list", Hosts: []string{"127.0.0.2"}, MaxBytes: 1 << 20, Timeout: 10 * time.Second},
			{ID: "page", URL: "http://localhost/pricing", Page: true},
		},
	}
}

// newWorld starts h and returns a client of it. The test must call close.
func newWorld(h http.Handler, opt Options, info gputide.Info) (w *world, stop func()) {
	pn := newPipeNet()
	srv := &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go func() { _ = srv.Serve(pn) }()
	w = &world{log: new(bytes.Buffer)}
	opt.Dial = pn.Dial
	opt.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	opt.Secrets = append(opt.Secrets, testSecret)
	opt.Redactor = NewRedactor()
	opt.Logger = slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.fetcher = New(opt)
	w.Client = w.fetcher.Client(info)
	return w, func() {
		w.fetcher.Close()
		_ = srv.Close()
	}
}

func (w *world) record(b gputide.Body) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies = append(w.bodies, b)
}

// get reads one body to its end.
func (w *world) get(ctx context.Context, r Request) (string, error) {
	if r.Source == "" {
		r.Source = "list"
	}
	resp, err := w.Do(WithRecorder(ctx, w.record), r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func text(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
}

// sequence answers with one handler after the other, then with the last again.
func sequence(hs ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	i := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := hs[min(i, len(hs)-1)]
		i++
		mu.Unlock()
		h(w, r)
	}
}

func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

// raw writes bytes of its own making to the connection and closes it.
func raw(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(conn, s)
		_ = conn.Close()
	}
}

// hang holds the answer back until the client goes away.
func hang(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// stall sends a start and then nothing.
func stall(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "start")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
