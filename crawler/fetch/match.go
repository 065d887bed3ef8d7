package fetch

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// pattern is the address of an exchange in the form in which addresses are
// compared: lower-case host, no default port, no user, no fragment, decoded path
// segments, query parameters by name without credentials. In a path segment and
// in a parameter's value * stands for any text.
type pattern struct {
	scheme, host string
	path         []string
	query        map[string][]string
}

const maxURL = 16 << 10

var errURLLong = errors.New("url is too long")

func parsePattern(raw string) (*pattern, error) {
	if len(raw) > maxURL {
		return nil, errURLLong
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("url: %w", withoutURL(err))
	}
	if u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("url %q is no absolute http address", raw)
	}
	return patternOf(u), nil
}

func patternOf(u *url.URL) *pattern {
	p := &pattern{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Host), query: make(map[string][]string)}
	switch p.scheme {
	case "https":
		p.host = strings.TrimSuffix(p.host, ":443")
	case "http":
		p.host = strings.TrimSuffix(p.host, ":80")
	}
	for seg := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		if plain, err := url.PathUnescape(seg); err == nil {
			seg = plain
		}
		p.path = append(p.path, seg)
	}
	values := u.Query()
	signed := false
	for name := range values {
		signed = signed || isCredentialParam(name)
	}
	for name, vs := range values {
		if isCredentialParam(name) || (signed && isSignatureParam(name)) {
			continue
		}
		slices.Sort(vs)
		p.query[name] = vs
	}
	return p
}

// match reports whether a request's address is of this pattern.
func (p *pattern) match(q *pattern) bool {
	if p.scheme != q.scheme || p.host != q.host || len(p.path) != len(q.path) || len(p.query) != len(q.query) {
		return false
	}
	for i, seg := range p.path {
		if !glob(seg, q.path[i]) {
			return false
		}
	}
	for name, want := range p.query {
		if !matchValues(want, q.query[name]) {
			return false
		}
	}
	return true
}

// matchValues pairs the values of one parameter: those without a wildcard first,
// then each wildcard with the first value left that fits.
func matchValues(want, got []string) bool {
	if len(want) != len(got) {
		return false
	}
	left := slices.Clone(got)
	take := func(fits func(string) bool) bool {
		i := slices.IndexFunc(left, fits)
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
		return true
	}
	var wild []string
	for _, w := range want {
		if strings.Contains(w, "*") {
			wild = append(wild, w)
		} else if !take(func(s string) bool { return s == w }) {
			return false
		}
	}
	slices.SortFunc(wild, func(a, b string) int { return len(b) - len(a) })
	for _, w := range wild {
		if !take(func(s string) bool { return glob(w, s) }) {
			return false
		}
	}
	return true
}
