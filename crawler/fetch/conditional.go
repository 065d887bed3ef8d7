package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/gputide/gputide"
)

// fromArchive answers with the archived body that the source has confirmed.
func (h *hop) fromArchive(ctx context.Context) (*http.Response, error) {
	a, e := h.t.c.f.opt.Archive, h.cached.entry
	obj, err := a.Open(e.File)
	if err != nil {
		a.forget(h.t.c.info.Name, h.validatorKey())
		h.cached = nil
		return h.run(ctx)
	}
	header := make(http.Header, len(e.Headers))
	for name, value := range e.Headers {
		header.Set(name, value)
	}
	resp := response(h.req, http.StatusOK, header, obj)
	b := h.newBody(http.StatusOK)
	b.closer, b.raw = obj, &countingReader{r: obj}
	b.decoded = b.raw
	h.call.reduced = e.Reduced
	record, r := recorderOf(ctx), runOf(ctx)
	b.done = func(complete bool) {
		defer func() { record(b.rec) }()
		if errors.Is(b.err, errObject) { // the next request must get a whole body
			a.forget(h.t.c.info.Name, h.validatorKey())
			_ = os.Remove(a.object(e.File))
		}
		if !complete {
			return
		}
		b.rec.Hash = e.File
		again := *e
		again.FetchedAt = b.rec.FetchedAt
		if r != nil {
			if err := r.index.add(a, h.t.c.info.Name, r.at, &again); err != nil {
				h.logArchive(ctx, err)
			}
		}
	}
	h.handOut(resp, b)
	return resp, nil
}

// conditional returns the validators of the archived body of a request; nil when
// it must be asked for anew.
func (c *Client) conditional(h *hop) *validators {
	a := c.f.opt.Archive
	if a == nil || c.f.opt.NoConditional || h.call.req.NoArchive || h.req.Method != http.MethodGet || h.body != nil {
		return nil
	}
	for _, name := range []string{"If-None-Match", "If-Modified-Since", "Range"} {
		if h.req.Header.Get(name) != "" {
			return nil
		}
	}
	v := a.recall(c.info.Name, h.validatorKey())
	if v == nil || (v.entry.Reduced && (h.call.req.Keep == nil || h.call.req.KeepRule == "" || h.call.req.KeepRule != v.entry.Rule)) {
		return nil
	}
	return v
}

// validatorKey tells the answers of one provider apart.
func (h *hop) validatorKey() string {
	return h.t.c.f.redact.URL(h.req.URL.String()) + "\n" + h.req.Header.Get("Accept")
}

// validators are the ETag and date of an archived body.
type validators struct {
	etag, modified string
	entry          *entry
}

// apply makes a request conditional; on nil it does nothing.
func (v *validators) apply(h http.Header) {
	if v == nil {
		return
	}
	if v.etag != "" {
		h.Set("If-None-Match", v.etag)
	}
	if v.modified != "" {
		h.Set("If-Modified-Since", v.modified)
	}
}

// latest is what a conditional request needs to know of the newest body of an
// address.
type latest struct {
	Key      string `json:"key"`
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"last_modified,omitempty"`
	Entry    entry  `json:"entry"`
}

func (a *Archive) latestPath(provider, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(a.dir, "latest", provider, hex.EncodeToString(sum[:16])+".json")
}

// remember files the validators of an archived body, or drops those of the body
// before when it has none.
func (a *Archive) remember(provider, key string, h http.Header, e *entry) error {
	if !isSlug(provider) {
		return fmt.Errorf("%w: provider %q is no slug", gputide.ErrInvalid, provider)
	}
	l := latest{Key: key, ETag: h.Get("ETag"), Modified: h.Get("Last-Modified"), Entry: *e}
	if l.ETag == "" && l.Modified == "" {
		a.forget(provider, key)
		return nil
	}
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	path := a.latestPath(provider, key)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Join(a.dir, "tmp"), "latest-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// recall returns the validators of an address; nil when there are none whose
// body is still there.
func (a *Archive) recall(provider, key string) *validators {
	if !isSlug(provider) {
		return nil
	}
	l, err := readLatest(a.latestPath(provider, key))
	if err != nil || l.Key != key || !a.Has(l.Entry.File) {
		return nil
	}
	return &validators{etag: l.ETag, modified: l.Modified, entry: &l.Entry}
}

func (a *Archive) forget(provider, key string) { _ = os.Remove(a.latestPath(provider, key)) }

func readLatest(path string) (*latest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer closeQuietly(f)
	l := new(latest)
	return l, json.NewDecoder(io.LimitReader(f, maxIndexLine)).Decode(l)
}
