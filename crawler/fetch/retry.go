package fetch

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Backoff between attempts when the source names no delay.
const (
	backoffBase = time.Second
	backoffMax  = 30 * time.Second
)

// backoff returns the wait after the given attempt, counted from 1: exponential,
// with the upper half random so that clients do not return in step.
func backoff(attempt int) time.Duration {
	d := backoffMax
	if attempt < 6 {
		d = min(backoffBase<<(attempt-1), backoffMax)
	}
	return d/2 + rand.N(d/2+1)
}

// retryAfter returns the delay a source asks for, in seconds or as a date; 0 when
// it asks for none or what it says cannot be read.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if sec, err := strconv.ParseInt(v, 10, 64); err == nil {
		const most = int64(1<<63-1) / int64(time.Second)
		return time.Duration(min(max(sec, 0), most)) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		// Whole seconds, rounded up: the date has no fraction, the clock has.
		return max(at.Sub(now)+time.Second-1, 0).Truncate(time.Second)
	}
	return 0
}

// retryable reports whether a status may be another one on the next attempt.
func retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// wait holds the next attempt back. It returns false when that attempt should
// not be made: ctx ends before, or the source asks for more than is waited for.
func (t *transport) wait(ctx context.Context, host *hostLimit, attempt int, asked time.Duration) bool {
	if t.c.replay != nil {
		return ctx.Err() == nil
	}
	if asked > DefaultMaxRetryAfter {
		return false
	}
	d := asked
	if d == 0 {
		d = backoff(attempt)
	} else {
		host.pause(d)
	}
	return sleep(ctx, d) == nil
}
