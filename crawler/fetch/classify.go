package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/gputide/gputide"
)

var (
	errSource      = errors.New("the provider declares no such source")
	errRequestBody = errors.New("the request body is too large")
	errTimeout     = errors.New("timed out")
)

// StatusKind returns the sentinel that an HTTP status of 300 and above stands
// for: ErrAuth, ErrRateLimited, ErrUnavailable, ErrNotFound, or ErrInvalid for a
// request that the source does not accept as it is.
func StatusKind(status int) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return gputide.ErrAuth
	case status == http.StatusTooManyRequests:
		return gputide.ErrRateLimited
	case status == http.StatusNotFound, status == http.StatusGone:
		return gputide.ErrNotFound
	case status == http.StatusUnavailableForLegalReasons:
		return gputide.ErrBlocked
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusProxyAuthRequired:
		return gputide.ErrUnavailable
	case status >= 400:
		return gputide.ErrInvalid
	}
	return gputide.ErrSchemaDrift
}

// newError returns a FetchError without status.
func (c *Client) newError(source, address string, kind, cause error) *gputide.FetchError {
	return &gputide.FetchError{Source: source, URL: c.f.redact.URL(address), Kind: kind, Err: c.f.redact.error(cause)}
}

// statusError returns the error of an answer that is no success.
func (c *Client) statusError(source string, resp *http.Response, ca *call) *gputide.FetchError {
	fe := c.newError(source, resp.Request.URL.String(), StatusKind(resp.StatusCode), nil)
	fe.Status = resp.StatusCode
	fe.Attempt = ca.attempts
	fe.RetryAfter = retryAfter(resp.Header, c.f.opt.Now())
	if ca.wall != "" {
		fe.Kind, fe.Err = gputide.ErrBlocked, errors.New(ca.wall)
	}
	return fe
}

// failure strips what http.Client wraps around the error of a request: it would
// show the address with its credentials.
func (c *Client) failure(ctx context.Context, source, address string, err error) error {
	if fe, ok := errors.AsType[*gputide.FetchError](err); ok {
		return fe
	}
	if cause := ctx.Err(); errors.Is(cause, context.Canceled) {
		return cancelled(source)
	}
	return c.newError(source, address, gputide.ErrUnavailable, withoutURL(err))
}

// transportError gives the failure of one attempt its sentinel.
func (h *hop) transportError(ctx context.Context, err error) error {
	if fe, ok := errors.AsType[*gputide.FetchError](err); ok {
		return fe
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return cancelled(h.t.source)
	}
	kind := gputide.ErrUnavailable
	if isAddressRefusal(err) {
		kind = gputide.ErrInvalid
	}
	fe := h.t.c.newError(h.t.source, h.req.URL.String(), kind, err)
	fe.Attempt = h.attempt
	return fe
}

func isAddressRefusal(err error) bool {
	return errors.Is(err, errMetadata) || errors.Is(err, errNotPublic) || errors.Is(err, errLoopback)
}

// finalError is a failure that another attempt cannot mend.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// isFinal reports whether an error stays the same however often it is tried.
func isFinal(err error) bool {
	var (
		fetched *gputide.FetchError // the fixture has spoken
		ended   *finalError
		cert    *tls.CertificateVerificationError
		name    *net.DNSError
	)
	return errors.As(err, &fetched) || errors.As(err, &ended) || errors.As(err, &cert) || isAddressRefusal(err) ||
		(errors.As(err, &name) && name.IsNotFound)
}

// waitError is why waiting for the limit of a host ended.
func waitError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.DeadlineExceeded
}

func cancelled(source string) error { return fmt.Errorf("%s: %w", source, context.Canceled) }

// withoutURL removes *url.Error layers, whose text holds the full address.
func withoutURL(err error) error {
	for {
		ue, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = ue.Err
	}
}

// wallIn names the bot or login wall that a refusal comes from; empty when it is
// an ordinary refusal. Only the statuses that walls use are searched: price pages
// and pages not found carry captcha scripts for their contact forms too.
func wallIn(resp *http.Response, body []byte) string {
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
	default:
		return ""
	}
	if resp.Header.Get("Cf-Mitigated") == "challenge" || resp.Header.Get("X-Datadome") != "" {
		return "a bot challenge answered"
	}
	if !looksLikeHTML(resp.Header.Get("Content-Type"), body) {
		return ""
	}
	lower := bytes.ToLower(body)
	for _, mark := range wallMarks() {
		if bytes.Contains(lower, []byte(mark)) {
			return "a bot wall answered (" + mark + ")"
		}
	}
	return ""
}

// wallMarks lists texts of the walls of the common content networks, lower case.
func wallMarks() []string {
	return []string{
		"captcha", "cf-chl", "challenge-platform", "just a moment...", "attention required!",
		"px-captcha", "perimeterx", "datadome", "_incapsula_resource", "incident id", "errors.edgesuite.net",
		"verify you are human", "are you a robot", "unusual traffic", "request blocked", "access denied",
		"enable javascript and cookies", "人机验证", "安全验证",
	}
}

func looksLikeHTML(contentType string, body []byte) bool {
	if strings.Contains(strings.ToLower(contentType), "html") {
		return true
	}
	b := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n"))
	return bytes.HasPrefix(b, []byte("<!doctype html")) || bytes.HasPrefix(b, []byte("<html"))
}
