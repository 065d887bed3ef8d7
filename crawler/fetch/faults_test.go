package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gputide/gputide"
)

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func zstded(s string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(s), nil))
}

func encoded(encoding, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", encoding)
		_, _ = w.Write([]byte(body))
	}
}

// TestFaults runs one request against one misbehaving server each.
func TestFaults(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    error // nil: the body "fine"
		tries   int64 // requests the server saw
		after   time.Duration
		took    [2]time.Duration
	}{
		{name: "fine", handler: text("fine"), tries: 1},
		{name: "gzip", handler: encoded("gzip", gzipped("fine")), tries: 1},
		{name: "zstd", handler: encoded("zstd", zstded("fine")), tries: 1},
		{name: "gzip in parts", handler: encoded("gzip", gzipped("fi")+gzipped("ne")), tries: 1},
		{name: "just at the cap", handler: text("fine" + big[4:]), tries: 1},
		{name: "401", handler: status(401), want: gputide.ErrAuth, tries: 1},
		{name: "403", handler: status(403), want: gputide.ErrAuth, tries: 1},
		{name: "404", handler: status(404), want: gputide.ErrNotFound, tries: 1},
		{name: "410", handler: status(410), want: gputide.ErrNotFound, tries: 1},
		{name: "400", handler: status(400), want: gputide.ErrInvalid, tries: 1},
		{name: "451", handler: status(451), want: gputide.ErrBlocked, tries: 1},
		{name: "501", handler: status(501), want: gputide.ErrUnavailable, tries: 1},
		{name: "304 without asking", handler: status(304), want: gputide.ErrSchemaDrift, tries: 1},
		{
			name: "429 once, seconds", handler: sequence(status(429, "Retry-After", "7"), text("fine")), tries: 2,
			took: [2]time.Duration{7 * time.Second, 7 * time.Second},
		},
		{
			name: "503 once, date", handler: sequence(retryDate(9*time.Second), text("fine")), tries: 2,
			took: [2]time.Duration{9 * time.Second, 10 * time.Second},
		},
		{
			name: "429 for ever", handler: status(429, "Retry-After", "3"), want: gputide.ErrRateLimited, tries: 4, after: 3 * time.Second,
			took: [2]time.Duration{9 * time.Second, 9 * time.Second},
		},
		{
			name: "429 for an hour", handler: status(429, "Retry-After", "3600"), want: gputide.ErrRateLimited, tries: 1, after: time.Hour,
			took: [2]time.Duration{0, 0},
		},
		{
			name: "429 without delay", handler: sequence(status(429), text("fine")), tries: 2,
			took: [2]time.Duration{time.Second / 2, time.Second},
		},
		{
			name: "500 for ever", handler: status(500), want: gputide.ErrUnavailable, tries: 4,
			took: [2]time.Duration{7 * time.Second / 2, 7 * time.Second},
		},
		{name: "502 then fine", handler: sequence(status(502), status(504), status(408), text("fine")), tries: 4},
		{name: "reset", handler: raw(""), want: gputide.ErrUnavailable, tries: 4},
		{name: "reset then fine", handler: sequence(raw(""), text("fine")), tries: 2},
		{name: "no HTTP", handler: raw("SSH-2.0-x\r\n\r\n"), want: gputide.ErrUnavailable, tries: 4},
		{name: "no answer", handler: hang, want: gputide.ErrUnavailable, tries: 4, took: [2]time.Duration{43 * time.Second, 47 * time.Second}},
		{name: "stalled body", handler: stall, want: gputide.ErrUnavailable, tries: 1, took: [2]time.Duration{10 * time.Second, 10 * time.Second}},
		{
			name:    "cut body",
			handler: raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of it"), want: gputide.ErrSchemaDrift, tries: 1,
		},
		{
			name:    "cut chunked body",
			handler: raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nstart\r\n"), want: gputide.ErrSchemaDrift, tries: 1,
		},
		{name: "206 without asking", handler: status(206), want: gputide.ErrSchemaDrift, tries: 1},
		{name: "cut gzip", handler: encoded("gzip", gzipped(big)[:500]), want: gputide.ErrSchemaDrift, tries: 1},
		{name: "cut zstd", handler: encoded("zstd", zstded(big + "tail")[:20]), want: gputide.ErrSchemaDrift, tries: 1},
		{name: "broken gzip", handler: encoded("gzip", "no gzip at all, but text"), want: gputide.ErrSchemaDrift, tries: 1},
		{name: "broken zstd", handler: encoded("zstd", "no zstd at all, but text"), want: gputide.ErrSchemaDrift, tries: 1},
		{name: "empty gzip", handler: encoded("gzip", ""), want: nil, tries: 1},
		{name: "gzip checksum", handler: encoded("gzip", badSum(gzipped("fine"))), want: gputide.ErrSchemaDrift, tries: 1},
		{name: "unknown encoding", handler: encoded("br", "?"), want: gputide.ErrSchemaDrift, tries: 1},
		{name: "gzip bomb", handler: encoded("gzip", gzipped(strings.Repeat("\x00", 64<<20))), want: gputide.ErrTooLarge, tries: 1},
		{name: "zstd bomb", handler: encoded("zstd", zstded(strings.Repeat("\x00", 64<<20))), want: gputide.ErrTooLarge, tries: 1},
		{name: "too large, announced", handler: announce(big + "x"), want: gputide.ErrTooLarge, tries: 1},
		{name: "too large, streamed", handler: text(big + "x"), want: gputide.ErrTooLarge, tries: 1},
		{name: "redirect to a stranger", handler: status(302, "Location", "https://elsewhere.example/x"), want: gputide.ErrBlocked, tries: 1},
		{name: "redirect to metadata", handler: status(302, "Location", "http://169.254.169.254/latest"), want: gputide.ErrBlocked, tries: 1},
		{name: "redirect to plain http", handler: status(302, "Location", "http://example.com/x"), want: gputide.ErrBlocked, tries: 1},
		{name: "redirect to a login", handler: status(302, "Location", "/login?next=x"), want: gputide.ErrBlocked, tries: 1},
		{name: "redirect for ever", handler: status(302, "Location", "/list"), want: gputide.ErrUnavailable, tries: 6},
		{name: "redirect to a declared host", handler: sequence(status(302, "Location", "http://127.0.0.2/x"), text("fine")), tries: 2},
		{name: "bot wall", handler: wall(403, "<html><body>Please solve this CAPTCHA</body></html>"), want: gputide.ErrBlocked, tries: 1},
		{name: "bot wall of 503", handler: wall(503, "<html><title>Just a moment...</title></html>"), want: gputide.ErrBlocked, tries: 1},
		{name: "not found, with a captcha in the footer", handler: wall(404, "<html>captcha"), want: gputide.ErrNotFound, tries: 1},
		{name: "plain refusal in HTML", handler: wall(403, "<html><body>Forbidden</body></html>"), want: gputide.ErrAuth, tries: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tries atomic.Int64 // the last answer may be under way when the client has given up
				w, stop := newWorld(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					tries.Add(1)
					tt.handler(rw, r)
				}), Options{}, testInfo())
				defer stop()
				start := time.Now()
				got, err := w.get(t.Context(), Request{URL: "http://localhost/list?key=abc"})
				took := time.Since(start)
				checkFault(t, tt.want, got, err)
				if tt.want == nil && err == nil && tt.name != "empty gzip" && !strings.HasPrefix(got, "fine") {
					t.Errorf("body %.20q", got)
				}
				if n := tries.Load(); n != tt.tries {
					t.Errorf("%d requests, want %d", n, tt.tries)
				}
				if fe, ok := errors.AsType[*gputide.FetchError](err); ok && fe.RetryAfter != tt.after {
					t.Errorf("RetryAfter %s, want %s", fe.RetryAfter, tt.after)
				}
				if tt.took != [2]time.Duration{} && (took < tt.took[0] || took > tt.took[1]) {
					t.Errorf("took %s, want %s to %s", took, tt.took[0], tt.took[1])
				}
			})
		})
	}
}

func checkFault(t *testing.T, want error, body string, err error) {
	t.Helper()
	if want == nil {
		if err != nil {
			t.Errorf("error %v", err)
		}
		return
	}
	if !errors.Is(err, want) {
		t.Errorf("error %v (body %.20q), want %v", err, body, want)
	}
	for _, s := range sentinels() {
		if s != want && errors.Is(err, s) {
			t.Errorf("error %v is %v too", err, s)
		}
	}
	fe, ok := errors.AsType[*gputide.FetchError](err)
	if !ok {
		t.Fatalf("error %T is no FetchError", err)
	}
	if fe.Source != "list" || strings.Contains(err.Error(), "abc") {
		t.Errorf("error text %q, source %q", err, fe.Source)
	}
}

func sentinels() []error {
	return []error{
		gputide.ErrAuth, gputide.ErrRateLimited, gputide.ErrUnavailable, gputide.ErrBlocked, gputide.ErrSchemaDrift,
		gputide.ErrInvalid, gputide.ErrNotFound, gputide.ErrTooLarge, gputide.ErrNotInFixture,
	}
}

func retryDate(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(d).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func badSum(s string) string { return s[:len(s)-5] + "\x00" + s[len(s)-4:] }

func announce(s string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(s)))
		_, _ = w.Write([]byte(s))
	}
}

func wall(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

func TestCancel(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
	}{
		{"before the answer", hang},
		{"in the body", stall},
		{"between attempts", status(503)},
		{"while a pause was asked for", status(429, "Retry-After", "60")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, stop := newWorld(tt.handler, Options{}, testInfo())
				defer stop()
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(200*time.Millisecond, func() { cancel(errors.New("the user left")) })
				start := time.Now()
				_, err := w.get(ctx, Request{URL: "http://localhost/list"})
				if !errors.Is(err, context.Canceled) || errors.Is(err, gputide.ErrUnavailable) {
					t.Errorf("error %v, want context.Canceled alone", err)
				}
				if took := time.Since(start); took != 200*time.Millisecond {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

// TestIdle: a body that brings nothing is given up long before the timeout of a
// large source.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		info := testInfo()
		info.Sources[0].Timeout = time.Hour
		slow := func(w http.ResponseWriter, r *http.Request) {
			for range 10 {
				_, _ = w.Write([]byte("still here "))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(idleTimeout - time.Second)
			}
			<-r.Context().Done()
		}
		w, stop := newWorld(http.HandlerFunc(slow), Options{}, info)
		defer stop()
		start := time.Now()
		got, err := w.get(t.Context(), Request{URL: "http://localhost/list"})
		if !errors.Is(err, gputide.ErrUnavailable) || !strings.Contains(err.Error(), "timed out") || len(got) != 110 {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if took := time.Since(start); took < 10*time.Minute-20*time.Second || took > 11*time.Minute {
			t.Errorf("took %s", took)
		}
	})
}

// TestReaderPause: time that the reader of a body takes is not the source's.
func TestReaderPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		info := testInfo()
		info.Sources[0].Timeout = time.Hour
		w, stop := newWorld(text("fine"), Options{}, info)
		defer stop()
		resp, err := w.Do(t.Context(), Request{Source: "list", URL: "http://localhost/list"})
		fatal(t, err)
		defer resp.Body.Close()
		time.Sleep(5 * idleTimeout)
		if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "fine" {
			t.Errorf("%q, %v", b, err)
		}
	})
}

// TestFinal: what another attempt cannot mend is not attempted.
func TestFinal(t *testing.T) {
	for name, cause := range map[string]error{
		"no such host": &net.DNSError{Err: "no such host", IsNotFound: true},
		"certificate":  &tls.CertificateVerificationError{Err: errors.New("expired")},
	} {
		synctest.Test(t, func(t *testing.T) {
			dials := 0
			f := New(Options{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				dials++
				return nil, &net.OpError{Op: "dial", Err: cause}
			})})
			_, err := readAll(t.Context(), f.Client(testInfo()), Request{Source: "list", URL: "http://localhost/?key=abc"})
			if !errors.Is(err, gputide.ErrUnavailable) || dials != 1 {
				t.Errorf("%s: %d attempts, %v", name, dials, err)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestSecretInError: the text of a transport error is redacted, its chain stays.
func TestSecretInError(t *testing.T) {
	f := New(Options{Attempts: 1, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("proxy refused late-secret: %w", io.ErrClosedPipe)
	})})
	c := f.Client(testInfo())
	c.AddSecret("late-secret")
	_, err := readAll(t.Context(), c, Request{Source: "list", URL: "http://localhost/"})
	if !errors.Is(err, io.ErrClosedPipe) || !errors.Is(err, gputide.ErrUnavailable) || strings.Contains(err.Error(), "late-secret") {
		t.Errorf("error %v", err)
	}
	if got := f.Redactor().Text("late-secret"); got != redacted {
		t.Error(got)
	}
}
