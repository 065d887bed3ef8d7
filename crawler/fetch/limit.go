package fetch

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limits holds one limiter per host for the whole process.
type limits struct {
	mu    sync.Mutex
	hosts map[string]*hostLimit
}

// hostLimit spaces the requests to one host and holds them all back while the
// host has asked for a pause.
type hostLimit struct {
	lim *rate.Limiter

	mu    sync.Mutex
	until time.Time // no request before
}

func newLimits() *limits { return &limits{hosts: make(map[string]*hostLimit)} }

// of returns the limit of a host. Of several providers that share a host the
// slowest limit holds.
func (l *limits) of(host string, perSecond float64) *hostLimit {
	limit := rate.Limit(perSecond)
	if perSecond <= 0 {
		limit = 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	switch {
	case h == nil:
		h = &hostLimit{lim: rate.NewLimiter(limit, 1)}
		l.hosts[host] = h
	case limit < h.lim.Limit():
		h.lim.SetLimit(limit)
	}
	return h
}

// wait blocks until the host may be asked, or until ctx ends.
func (h *hostLimit) wait(ctx context.Context) error {
	for {
		h.mu.Lock()
		pause := time.Until(h.until)
		h.mu.Unlock()
		if pause <= 0 {
			break
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
	return h.lim.Wait(ctx)
}

// pause holds back every request to the host for d.
func (h *hostLimit) pause(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if until := time.Now().Add(d); until.After(h.until) {
		h.until = until
	}
}

// sleep waits for d. When ctx ends first, or would end first, it returns the
// error of ctx without waiting in vain.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		if err := ctx.Err(); err != nil {
			return err
		}
		return context.DeadlineExceeded
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
