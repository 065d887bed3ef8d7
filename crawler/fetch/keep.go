package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gputide/gputide"
)

// maxIndexedBody is the longest request body that a run's index holds.
const maxIndexedBody = 64 << 10

// keep arranges what becomes of a body that is about to be read: its copy in the
// archive, its place in the run's index, its validators and its record.
func (h *hop) keep(ctx context.Context, b *body, resp *http.Response) {
	record := recorderOf(ctx)
	if resp.StatusCode/100 == 3 {
		record = func(gputide.Body) {} // a redirect is no body of the run
	}
	if h.t.c.replay != nil {
		h.keepReplayed(b, resp, record, ctx.Value(recorderKey{}) != nil)
		return
	}
	a, entry := h.archived(resp)
	if a == nil {
		b.done = func(bool) { record(b.rec) }
		return
	}
	var err error
	if b.tee, err = a.create(h.call.req.Keep, h.t.c.f.redact.known()); err != nil {
		h.logArchive(ctx, err)
	}
	r := runOf(ctx)
	b.done = func(complete bool) {
		defer func() { record(b.rec) }()
		if b.tee == nil {
			return
		}
		if !complete {
			b.tee.abort()
			return
		}
		obj, err := b.tee.commit()
		if err != nil {
			h.logArchive(ctx, err)
			return
		}
		b.rec.Hash = obj.hash
		entry.File, entry.Size, entry.Reduced, entry.FetchedAt = obj.hash, b.n, obj.reduced, b.rec.FetchedAt
		h.file(ctx, a, r, entry, resp.Header)
	}
}

// archived returns the archive and the start of the index entry of this answer;
// nil when it must not be archived.
func (h *hop) archived(resp *http.Response) (*Archive, *entry) {
	a := h.t.c.f.opt.Archive
	if a == nil || h.call.req.NoArchive || resp.StatusCode == http.StatusPartialContent {
		return nil, nil
	}
	text, ok := h.indexedBody()
	if !ok {
		return nil, nil
	}
	return a, &entry{
		Source: h.t.source, Method: h.req.Method, URL: h.t.c.f.redact.URL(h.req.URL.String()),
		BodyContains: text, Status: resp.StatusCode, Headers: h.t.c.f.redact.keptHeaders(resp.Header),
		Rule: h.call.req.KeepRule,
	}
}

// indexedBody returns the body of the request in the form that tells it from
// others when the run is replayed; false when it may not be written down.
func (h *hop) indexedBody() (string, bool) {
	text := matchedBody(h.call.req.Part, h.req.Header.Get("Content-Type"), h.body)
	if len(text) > maxIndexedBody || !utf8.ValidString(text) {
		return "", false
	}
	return text, h.t.c.f.redact.Text(text) == text
}

// matchedBody returns what requests of one address are told apart by.
func matchedBody(part, contentType string, body []byte) string {
	text := ""
	if len(body) > 0 {
		text = stableBody(contentType, body)
	}
	if part != "" {
		text = part + "\n" + text
	}
	return text
}

// stableBody drops credentials and signature parts from a form: they differ from
// request to request.
func stableBody(contentType string, body []byte) string {
	if !strings.HasPrefix(strings.ToLower(contentType), "application/x-www-form-urlencoded") {
		return string(body)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return string(body)
	}
	signed := false
	for name := range form {
		if isCredentialParam(name) {
			signed = true
			delete(form, name)
		}
	}
	for name := range form {
		if signed && isSignatureParam(name) {
			delete(form, name)
		}
	}
	return form.Encode()
}

// file puts a complete answer into the index of its run and remembers its
// validators for the next run.
func (h *hop) file(ctx context.Context, a *Archive, r *run, e *entry, header http.Header) {
	if r != nil {
		if err := r.index.add(a, h.t.c.info.Name, r.at, e); err != nil {
			h.logArchive(ctx, err)
		}
	}
	if e.Status != http.StatusOK || e.Method != http.MethodGet {
		return
	}
	if err := a.remember(h.t.c.info.Name, h.validatorKey(), header, e); err != nil {
		h.logArchive(ctx, err)
	}
}

// keepReplayed names a replayed body by the hash of the archive, or of the
// fixture's bytes when somebody listens.
func (h *hop) keepReplayed(b *body, resp *http.Response, record func(gputide.Body), heard bool) {
	hash := ""
	if fb, ok := replayedBody(resp); ok {
		h.call.reduced = fb.x.Reduced
		hash = fb.x.hash
	}
	if hash == "" && heard {
		b.sum = sha256.New()
	}
	b.done = func(complete bool) {
		if complete {
			if b.sum != nil {
				hash = hex.EncodeToString(b.sum.Sum(nil))
			}
			b.rec.Hash = hash
		}
		record(b.rec)
	}
}

// replayedBody finds the fixture's body below the timeout of its attempt.
func replayedBody(resp *http.Response) (*fixtureBody, bool) {
	if tb, ok := resp.Body.(*timedBody); ok {
		fb, ok := tb.ReadCloser.(*fixtureBody)
		return fb, ok
	}
	return nil, false
}

// logArchive reports that the archive lost a body. The crawl goes on: prices are
// worth more than their evidence.
func (h *hop) logArchive(ctx context.Context, err error) {
	h.t.c.f.log.LogAttrs(ctx, slog.LevelWarn, "body not archived",
		slog.String("provider", h.t.c.info.Name), slog.String("source", h.t.source),
		slog.String("url", h.t.c.f.redact.URL(h.req.URL.String())), slog.Any("err", h.t.c.f.redact.error(err)))
}
