package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/gputide/gputide"
)

// served counts how often each exchange was served.
type served struct {
	mu    sync.Mutex
	times map[*exchange]int
}

func newServed() *served { return &served{times: make(map[*exchange]int)} }

// take claims one serving of x and reports whether there was one left.
func (s *served) take(x *exchange) bool {
	if x.Times == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times[x] >= x.Times {
		return false
	}
	s.times[x]++
	return true
}

// replayTransport answers the requests of one provider from its fixture.
type replayTransport struct {
	provider string
	set      *fixtureSet // nil when the fixtures lack the provider
	redact   *Redactor
	served   *served // for requests outside any run
}

// serve answers a request, or says that the fixture does not declare it.
func (t *replayTransport) serve(r *run, source string, req *http.Request, body []byte) (*http.Response, error) {
	if t.set == nil || !t.set.declares(source) {
		return nil, t.refuse(source, req, gputide.ErrNotInFixture, nil)
	}
	count := t.served
	if r != nil {
		count = r.served
	}
	asked := patternOf(req.URL)
	text := matchedBody(callOf(req.Context()).req.Part, req.Header.Get("Content-Type"), body)
	for _, x := range t.set.exchanges {
		if x.method() == req.Method && x.pattern.match(asked) && x.matchBody(text) && count.take(x) {
			return t.answer(x, req)
		}
	}
	if req.URL.Path == robotsPath {
		return response(req, http.StatusNotFound, nil, io.NopCloser(bytes.NewReader(nil))), nil
	}
	return nil, t.refuse(source, req, gputide.ErrUnavailable, fmt.Errorf("%s is not declared in the fixture", req.Method))
}

func (t *replayTransport) refuse(source string, req *http.Request, kind, cause error) error {
	return &gputide.FetchError{Source: source, URL: t.redact.URL(req.URL.String()), Kind: kind, Err: cause}
}

func (t *replayTransport) answer(x *exchange, req *http.Request) (*http.Response, error) {
	body, err := t.set.open(x)
	if err != nil {
		return nil, t.refuse(x.Source, req, gputide.ErrUnavailable, err)
	}
	status := x.Status
	if status == 0 {
		status = http.StatusOK
	}
	header := make(http.Header, len(x.Headers))
	for name, value := range x.Headers {
		header.Set(name, value)
	}
	if req.Method == http.MethodHead {
		closeQuietly(body)
		body = io.NopCloser(bytes.NewReader(nil))
	}
	return response(req, status, header, &fixtureBody{ReadCloser: body, x: x}), nil
}

// fixtureBody is a body that a fixture keeps.
type fixtureBody struct {
	io.ReadCloser
	x *exchange
}

func response(req *http.Request, status int, header http.Header, body io.ReadCloser) *http.Response {
	if header == nil {
		header = make(http.Header)
	}
	length := int64(-1)
	if n, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: length, Request: req,
	}
}

func (x *exchange) method() string {
	if x.Method == "" {
		return http.MethodGet
	}
	return x.Method
}

func (x *exchange) matchBody(text string) bool {
	if x.Exact {
		return text == x.BodyContains
	}
	return strings.Contains(text, x.BodyContains)
}

var errObject = errors.New("the archived body is damaged")
