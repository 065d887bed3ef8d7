package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/gputide/gputide"
)

const (
	// maxRequestBody bounds what a caller may send.
	maxRequestBody = 8 << 20

	// idleTimeout is how long a body may bring nothing; the timeout of a large
	// source is too long to wait for a dead connection.
	idleTimeout = 60 * time.Second

	// maxErrorBody is how much of the body of a refused request is read.
	maxErrorBody = 64 << 10
)

// transport is one hop: allow-list, limit, retry, conditional request, body. It
// is the RoundTripper of every client, an SDK's and colly's included.
type transport struct {
	c      *Client
	source string
}

// hop is one request on its way through the transport.
type hop struct {
	t       *transport
	src     gputide.Source
	req     *http.Request
	body    []byte
	call    *call
	host    *hostLimit // nil under replay
	cached  *validators
	attempt int
}

// RoundTrip sends a request, repeating it as long as that may help, and returns
// an answer of any status.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := takeBody(req)
	if err != nil {
		return nil, t.c.newError(t.source, req.URL.String(), gputide.ErrInvalid, err)
	}
	src, ok := t.c.source(t.source)
	if !ok {
		return nil, t.c.newError(t.source, req.URL.String(), gputide.ErrInvalid, errSource)
	}
	if err := t.c.checkURL(req.URL); err != nil {
		return nil, t.c.newError(t.source, req.URL.String(), gputide.ErrInvalid, err)
	}
	h := &hop{t: t, src: src, req: t.prepare(req), body: body, call: callOf(req.Context())}
	if t.c.replay == nil {
		h.host = t.c.f.limits.of(req.URL.Host, t.c.info.RequestsPerSecond)
		h.cached = t.c.conditional(h)
	}
	return h.run(req.Context())
}

// prepare returns a copy of the request that says who asks and which encodings
// are understood.
func (t *transport) prepare(req *http.Request) *http.Request {
	out := req.Clone(req.Context())
	agent := t.c.f.opt.UserAgent
	if own := req.Header.Get("User-Agent"); own != "" && own != agent {
		agent += " " + own
	}
	out.Header.Set("User-Agent", agent)
	if out.Header.Get("Accept-Encoding") == "" {
		out.Header.Set("Accept-Encoding", "zstd, gzip")
	}
	return out
}

// run makes attempts until one is final.
func (h *hop) run(ctx context.Context) (*http.Response, error) {
	for h.attempt = 1; ; h.attempt++ {
		h.call.attempts = h.attempt
		resp, err := h.try(ctx)
		if err != nil {
			if h.again(ctx, !isFinal(err), 0) {
				continue
			}
			return nil, h.transportError(ctx, err)
		}
		if resp.StatusCode == http.StatusNotModified && h.cached != nil {
			closeQuietly(resp.Body)
			return h.fromArchive(ctx)
		}
		if resp.StatusCode < 300 {
			return h.deliver(ctx, resp, nil)
		}
		data := h.errorBody(resp)
		h.call.wall = wallIn(resp, data)
		asked := retryAfter(resp.Header, h.t.c.f.opt.Now())
		if h.again(ctx, retryable(resp.StatusCode) && h.call.wall == "", asked) {
			continue
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, cancelled(h.t.source)
		}
		return h.deliver(ctx, resp, data)
	}
}

// again waits before the next attempt and reports whether it should be made.
func (h *hop) again(ctx context.Context, worth bool, asked time.Duration) bool {
	return worth && h.attempt < h.t.c.f.opt.Attempts && h.t.wait(ctx, h.host, h.attempt, asked)
}

// try makes one attempt. The timeout of the source covers it until its body is
// closed; waiting for the limit is not part of it.
func (h *hop) try(ctx context.Context) (*http.Response, error) {
	if h.host != nil {
		if err := h.host.wait(ctx); err != nil {
			return nil, &finalError{waitError(ctx)}
		}
	}
	start := time.Now()
	tctx, release := context.WithTimeoutCause(ctx, h.src.Timeout, errTimeout)
	actx, cancel := context.WithCancelCause(tctx)
	out := h.req.Clone(actx)
	if h.body != nil {
		out.Body = io.NopCloser(bytes.NewReader(h.body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(h.body)), nil }
		out.ContentLength = int64(len(h.body))
	}
	h.cached.apply(out.Header)
	resp, err := h.send(ctx, out)
	h.logAttempt(ctx, resp, err, time.Since(start))
	if err != nil {
		if context.Cause(actx) == errTimeout {
			err = errTimeout
		}
		cancel(nil)
		release()
		return nil, err
	}
	idle := time.AfterFunc(idleTimeout, func() { cancel(errTimeout) })
	idle.Stop() // runs while a read waits
	resp.Body = &timedBody{
		ReadCloser: resp.Body,
		why: func() error {
			if context.Cause(actx) == errTimeout {
				return errTimeout
			}
			return actx.Err()
		},
		idle:    idle,
		release: func() { cancel(nil); release() },
	}
	return resp, nil
}

func (h *hop) send(ctx context.Context, out *http.Request) (*http.Response, error) {
	if h.t.c.replay != nil {
		return h.t.c.replay.serve(runOf(ctx), h.t.source, out, h.body)
	}
	return h.t.c.f.base.RoundTrip(out)
}

func (h *hop) logAttempt(ctx context.Context, resp *http.Response, err error, dur time.Duration) {
	log := h.t.c.f.log
	if !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("provider", h.t.c.info.Name), slog.String("source", h.t.source),
		slog.String("url", h.t.c.f.redact.URL(h.req.URL.String())), slog.Int("attempt", h.attempt), slog.Duration("dur", dur),
	}
	if resp != nil {
		attrs = append(attrs, slog.Int("status", resp.StatusCode))
	}
	if err != nil {
		attrs = append(attrs, slog.String("err", h.t.c.f.redact.Text(err.Error())))
	}
	log.LogAttrs(ctx, slog.LevelDebug, "request", attrs...)
}

// errorBody reads the start of the body of a refused request, decoded, and
// closes it. What cannot be read is left out: the status has already said it.
func (h *hop) errorBody(resp *http.Response) []byte {
	defer closeQuietly(resp.Body)
	if resp.StatusCode < 400 {
		return []byte{} // the body of a redirect says nothing
	}
	r, done, err := h.t.c.f.codecs.decode(resp.Header.Get("Content-Encoding"), resp.Body)
	if err != nil {
		return []byte{}
	}
	defer done()
	data, _ := io.ReadAll(io.LimitReader(r, maxErrorBody))
	return data
}

// takeBody reads and closes the body of a request, so that it can be sent again.
func takeBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer closeQuietly(req.Body)
	b, err := io.ReadAll(io.LimitReader(req.Body, maxRequestBody+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxRequestBody {
		return nil, errRequestBody
	}
	return b, nil
}

// timedBody ends a body that takes too long as a whole or brings nothing for too
// long, and says so as the error of the read.
type timedBody struct {
	io.ReadCloser
	why     func() error // why the attempt was ended; nil while it was not
	idle    *time.Timer
	release func()
}

func (b *timedBody) Read(p []byte) (int, error) {
	b.idle.Reset(idleTimeout)
	n, err := b.ReadCloser.Read(p)
	b.idle.Stop()
	if err != nil && err != io.EOF {
		if cause := b.why(); cause != nil {
			err = cause
		}
	}
	return n, err
}

func (b *timedBody) Close() error {
	b.idle.Stop()
	b.release()
	return b.ReadCloser.Close()
}
