package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/gputide/gputide"
)

// Request asks one source for one body.
type Request struct {
	Source string // ID of a source of the provider's Info
	Method string // empty is GET, or POST when there is a Body
	URL    string // https; http is allowed to loopback hosts only
	Header http.Header
	Body   []byte

	// Part tells the request from others of the same address and body, where the
	// difference is in a header: a region. It is not sent. Archive and fixtures
	// match it as a line before the body.
	Part string

	// Accept is sent as the Accept header unless Header has one.
	Accept string

	// Keep chooses the lines of a body that the archive keeps when the body is
	// larger than its reduction threshold: it is asked for each line in order,
	// line feed included, and true keeps it. It may hold state; give each request
	// its own. Without it the whole body is kept.
	Keep func(line []byte) bool

	// KeepRule names what Keep keeps. A conditional request reuses a reduced body
	// only if it was reduced under the same name; change the name when Keep keeps
	// more.
	KeepRule string

	// Explain gives the error of an answer that is no success: fe says its status,
	// body is the start of what it says. Without it fe is returned.
	Explain func(fe *gputide.FetchError, body []byte) error

	// NoArchive keeps request and answer out of the archive: for answers that are
	// themselves credentials.
	NoArchive bool
}

// Response is an answer of status 2xx whose body has not been read yet. Close
// it.
type Response struct {
	Status int
	Header http.Header
	URL    string // where it finally came from; redacted

	// Body yields the decoded body. Its errors are *gputide.FetchError: wrapping
	// ErrTooLarge, ErrSchemaDrift for a cut or broken body, ErrUnavailable.
	Body io.ReadCloser

	// Reduced is set when the body comes from the archive, which had kept only
	// the lines that Request.Keep named.
	Reduced bool
}

// Do sends a request and returns its answer as a stream. Any status but 2xx is a
// *gputide.FetchError.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	ca := &call{req: r}
	hr, err := c.newRequest(withCall(ctx, ca), r)
	if err != nil {
		return nil, err
	}
	resp, err := c.HTTPClient(r.Source).Do(hr)
	if err != nil {
		return nil, c.failure(ctx, r.Source, r.URL, err)
	}
	if resp.StatusCode/100 != 2 {
		defer closeQuietly(resp.Body)
		fe := c.statusError(r.Source, resp, ca)
		if r.Explain == nil {
			return nil, fe
		}
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // of one cut short the start is known
		return nil, r.Explain(fe, body)
	}
	return &Response{
		Status:  resp.StatusCode,
		Header:  resp.Header,
		URL:     c.f.redact.URL(resp.Request.URL.String()),
		Body:    resp.Body,
		Reduced: ca.reduced,
	}, nil
}

func (c *Client) newRequest(ctx context.Context, r Request) (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
		if r.Body != nil {
			method = http.MethodPost
		}
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	hr, err := http.NewRequestWithContext(ctx, method, r.URL, body)
	if err != nil {
		return nil, c.newError(r.Source, r.URL, gputide.ErrInvalid, errors.New("malformed request"))
	}
	for name, values := range r.Header {
		hr.Header[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
	}
	if r.Accept != "" && hr.Header.Get("Accept") == "" {
		hr.Header.Set("Accept", r.Accept)
	}
	return hr, nil
}

// HTTPClient returns an http.Client whose requests count as requests of the
// given source: same hosts, limits, retries, caps, archive and replay. An SDK
// that uses it should not retry itself. Unlike [Client.Do] it returns answers of
// every status; [StatusKind] maps them. Errors of its Do name the request URL,
// so credentials belong in headers.
func (c *Client) HTTPClient(source string) *http.Client {
	if hc, ok := c.once.Load(source); ok {
		return hc.(*http.Client)
	}
	hc, _ := c.once.LoadOrStore(source, &http.Client{
		Transport: &transport{c: c, source: source},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			return c.checkRedirect(source, req, via)
		},
	})
	return hc.(*http.Client)
}

func closeQuietly(c io.Closer) { _ = c.Close() }

type callKey struct{}

// call is what the transport and the caller of one request tell each other
// beyond the http.Request. One goroutine at a time touches it.
type call struct {
	req      Request
	attempts int    // made for the last hop
	wall     string // marker of the bot or login wall that answered
	reduced  bool   // the body comes reduced from the archive
}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the call of a context, or a fresh one for a request that came
// through [Client.HTTPClient] alone.
func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}
