package fetch

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gputide/gputide"
)

// TestDeadline: a wait that would outlast the deadline of the crawl is not begun.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := newWorld(status(429, "Retry-After", "60"), Options{}, testInfo())
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		start := time.Now()
		_, err := w.get(ctx, Request{URL: "http://localhost/list"})
		if !errors.Is(err, gputide.ErrRateLimited) || time.Since(start) != 0 {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		info := testInfo()
		info.RequestsPerSecond = 0 // the default: one a second
		w, stop := newWorld(sequence(text("a"), text("b"), status(429, "Retry-After", "5"), text("c")), Options{}, info)
		defer stop()
		start := time.Now()
		at := func(url string) time.Duration {
			_, err := w.get(t.Context(), Request{URL: url})
			fatal(t, err)
			return time.Since(start)
		}
		if d := at("http://localhost/list"); d != 0 {
			t.Errorf("first at %s", d)
		}
		if d := at("http://127.0.0.2/list"); d != 0 {
			t.Errorf("another host at %s", d)
		}
		if d := at("http://localhost/list"); d != 6*time.Second { // 1 s for the limit, 5 s as asked
			t.Errorf("after the pause at %s", d)
		}
		if d := at("http://localhost/list"); d != 7*time.Second {
			t.Errorf("next at %s", d)
		}
	})
}

// TestSharedPause: one 429 holds every request to the host back.
func TestSharedPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := newWorld(sequence(status(429, "Retry-After", "20"), text("x")), Options{}, testInfo())
		defer stop()
		start := time.Now()
		done := make(chan time.Duration)
		go func() {
			_, _ = w.get(t.Context(), Request{URL: "http://localhost/list?n=1"})
			done <- time.Since(start)
		}()
		synctest.Wait()
		go func() {
			_, _ = w.get(t.Context(), Request{URL: "http://localhost/list?n=2"})
			done <- time.Since(start)
		}()
		for range 2 {
			if d := <-done; d < 20*time.Second || d > 21*time.Second {
				t.Errorf("answered after %s", d)
			}
		}
	})
}

func TestBackoff(t *testing.T) {
	for attempt := 1; attempt < 80; attempt++ {
		full := min(backoffBase<<min(attempt-1, 20), backoffMax)
		for range 50 {
			if d := backoff(attempt); d < full/2 || d > full {
				t.Fatalf("attempt %d: %s, want %s to %s", attempt, d, full/2, full)
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 8, 22, 10, 0, 0, 5e8, time.UTC)
	tests := []struct {
		value string
		want  time.Duration
	}{
		{"", 0},
		{"0", 0},
		{"-5", 0},
		{"120", 2 * time.Minute},
		{" 3 ", 3 * time.Second},
		{"1.5", 0},
		{"soon", 0},
		{"99999999999999999", 1<<63 - 1 - (1<<63-1)%time.Second},
		{"Sat, 22 Aug 2026 10:00:30 GMT", 30 * time.Second},
		{"Sat, 22 Aug 2026 09:00:00 GMT", 0},
	}
	for _, tt := range tests {
		h := http.Header{"Retry-After": {tt.value}}
		if got := retryAfter(h, now); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.value, got, tt.want)
		}
	}
}
