package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gputide/gputide"
)

const maxRedirects = 5

var (
	errRedirects = errors.New("too many redirects")
	errLogin     = errors.New("redirected to a login")
)

// checkRedirect follows redirects to declared hosts only and carries no
// credential to another host.
func (c *Client) checkRedirect(source string, req *http.Request, via []*http.Request) error {
	fail := func(kind, cause error) error {
		return c.newError(source, req.URL.String(), kind, cause)
	}
	if len(via) > maxRedirects {
		return fail(gputide.ErrUnavailable, errRedirects)
	}
	if isLoginPath(req.URL.Path) && !isLoginPath(via[0].URL.Path) {
		return fail(gputide.ErrBlocked, errLogin)
	}
	if err := c.checkURL(req.URL); err != nil {
		return fail(gputide.ErrBlocked, fmt.Errorf("redirected: %w", err))
	}
	req.Header.Del("Referer") // it would show the query of the page before
	for _, v := range via {
		if v.URL.Host != req.URL.Host || v.URL.Scheme != req.URL.Scheme {
			dropCredentials(req.Header)
			break
		}
	}
	return nil
}

// dropCredentials removes every header that may prove who asks.
func dropCredentials(h http.Header) {
	for name := range h {
		if isCredentialHeader(name) {
			h.Del(name)
		}
	}
}

func isLoginPath(path string) bool {
	for seg := range strings.SplitSeq(strings.ToLower(path), "/") {
		switch strings.TrimSuffix(seg, ".html") {
		case "login", "signin", "sign-in", "sign_in", "sso", "captcha":
			return true
		}
	}
	return false
}
