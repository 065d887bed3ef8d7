package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/gputide/gputide"
)

// How much, and for how long, a body that its reader abandoned is read on to
// reach its end: further when the archive would lose it otherwise, as it would
// the very body that a parser could not read.
const (
	drainBytes     = 256 << 10
	drainTime      = time.Second
	drainBytesKept = 32 << 20
	drainTimeKept  = 5 * time.Second
)

// body is the reader of one answer. It counts, checks and copies what passes.
type body struct {
	hop     *hop
	raw     *countingReader
	closer  io.Closer
	decoded io.Reader
	release func()
	limit   int64         // of decoded bytes
	n       int64         // decoded bytes handed out
	want    int64         // announced raw length; -1 when none
	tee     *objectWriter // nil when nothing is archived
	sum     hash.Hash     // of a replayed body; nil when live
	rec     gputide.Body
	done    func(complete bool)
	err     error // sticky; io.EOF at the end
	ended   bool
}

// newBody returns a body that is reported under the request's address.
func (h *hop) newBody(status int) *body {
	return &body{
		hop: h, limit: h.src.MaxBytes, want: -1, release: func() {},
		rec: gputide.Body{
			Source: h.t.source, URL: h.t.c.f.redact.URL(h.req.URL.String()), Status: status,
			FetchedAt: wholeSecond(h.t.c.f.opt.Now()),
		},
	}
}

// deliver turns the answer of the last attempt into the one that is handed out.
// data is its body when it has been read already.
func (h *hop) deliver(ctx context.Context, resp *http.Response, data []byte) (*http.Response, error) {
	b := h.newBody(resp.StatusCode)
	b.closer = resp.Body
	if err := b.open(resp, data); err != nil {
		closeQuietly(resp.Body)
		return nil, err
	}
	h.keep(ctx, b, resp)
	h.handOut(resp, b)
	return resp, nil
}

// handOut makes resp the answer of this hop with b as its body.
func (h *hop) handOut(resp *http.Response, b *body) {
	resp.Body = b
	resp.Request = h.req
	if h.req.Method != http.MethodHead { // of those of HEAD they tell what a GET would transfer
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
	}
	resp.ContentLength = -1
	resp.Uncompressed = true
}

// open sets up the decoder.
func (b *body) open(resp *http.Response, data []byte) error {
	if data != nil {
		b.raw = &countingReader{r: bytes.NewReader(data)}
		b.decoded = b.raw
		return nil
	}
	if resp.StatusCode == http.StatusPartialContent && b.hop.req.Header.Get("Range") == "" {
		return b.fail(gputide.ErrSchemaDrift, errors.New("a part of the body came where all of it was asked for"))
	}
	b.want = announced(resp)
	encoding := resp.Header.Get("Content-Encoding")
	if b.want > b.limit && encoding == "" {
		return b.fail(gputide.ErrTooLarge, fmt.Errorf("%d bytes announced, %d allowed", b.want, b.limit))
	}
	b.raw = &countingReader{r: resp.Body}
	if b.want == 0 || resp.StatusCode == http.StatusNoContent || b.hop.req.Method == http.MethodHead {
		b.decoded = b.raw
		return nil
	}
	var err error
	b.decoded, b.release, err = b.hop.t.c.f.codecs.decode(encoding, b.raw)
	if err != nil {
		b.release = func() {}
		return b.readError(err)
	}
	return nil
}

// announced returns the raw length that the headers promise; -1 when none.
func announced(resp *http.Response) int64 {
	if resp.Request != nil && resp.Request.Method == http.MethodHead {
		return -1
	}
	if v := resp.Header.Get("Content-Length"); v != "" {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return resp.ContentLength
}

// Read yields the decoded body.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if room := b.limit - b.n + 1; int64(len(p)) > room {
		p = p[:room] // one byte more than allowed tells too large from just fitting
	}
	n, err := b.decoded.Read(p)
	if b.n+int64(n) > b.limit {
		n = int(b.limit - b.n)
		err = b.fail(gputide.ErrTooLarge, fmt.Errorf("more than %d bytes", b.limit))
	} else if err != nil {
		err = b.readEnd(err)
	}
	b.n += int64(n)
	if b.tee != nil {
		b.tee.write(p[:n])
	}
	if b.sum != nil {
		b.sum.Write(p[:n])
	}
	if err != nil {
		b.err = err
		b.end()
	}
	return n, err
}

// readEnd gives the error that ends the reading its meaning.
func (b *body) readEnd(err error) error {
	if err != io.EOF {
		return b.readError(err)
	}
	if b.want >= 0 && b.raw.n != b.want {
		return b.fail(gputide.ErrSchemaDrift, fmt.Errorf("the body was cut: %d of %d bytes came", b.raw.n, b.want))
	}
	return io.EOF
}

// readError tells a lost connection from a body that is broken in itself.
func (b *body) readError(err error) error {
	var fe *gputide.FetchError
	switch {
	case errors.As(err, &fe), errors.Is(err, context.Canceled):
		if fe != nil {
			return fe
		}
		return cancelled(b.rec.Source)
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		return b.fail(gputide.ErrUnavailable, err)
	case errors.Is(err, io.ErrUnexpectedEOF), b.raw.err == nil, b.raw.err == io.EOF:
		return b.fail(gputide.ErrSchemaDrift, fmt.Errorf("the body is cut or broken: %w", err))
	}
	return b.fail(gputide.ErrUnavailable, err)
}

func (b *body) fail(kind, cause error) error {
	fe := b.hop.t.c.newError(b.hop.t.source, b.hop.req.URL.String(), kind, cause)
	fe.Attempt = b.hop.attempt
	return fe
}

// end settles the archive and the record, once.
func (b *body) end() {
	if b.ended {
		return
	}
	b.ended = true
	b.rec.Size = b.n
	if b.done != nil {
		b.done(b.err == io.EOF)
	}
	b.release()
	closeQuietly(b.closer)
}

// Close gives the body up. Its end is read if that is near, so that a decoder
// that stopped at the last brace does not cost the archive a body.
func (b *body) Close() error {
	if b.ended {
		return nil
	}
	if b.err == nil {
		most, long := int64(drainBytes), drainTime
		if b.tee != nil {
			most, long = drainBytesKept, drainTimeKept
		}
		t := time.AfterFunc(long, func() { closeQuietly(b.closer) })
		_, _ = io.CopyN(io.Discard, b, most)
		t.Stop()
	}
	if b.err == nil {
		b.err = errClosed
	}
	b.end()
	return nil
}

var errClosed = errors.New("read of a closed body")

// countingReader counts bytes and remembers how reading ended.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil {
		c.err = err
	}
	return n, err
}

func (b *body) redactor() *Redactor { return b.hop.t.c.f.redact }
