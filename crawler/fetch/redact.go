package fetch

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

const redacted = "REDACTED"

// minSecret is the shortest value that is treated as a secret: shorter ones occur
// in ordinary text.
const minSecret = 4

// Redactor removes credentials from addresses and texts: by the name of the
// parameter or header that carries them, and by value for the secrets it knows.
// It is safe for concurrent use.
type Redactor struct {
	query  *regexp.Regexp
	user   *regexp.Regexp
	bearer *regexp.Regexp

	mu       sync.RWMutex
	secrets  []string // longest first, with their encoded forms
	replacer *strings.Replacer
}

// NewRedactor returns a redactor that knows the given secret values.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{
		query:    regexp.MustCompile(`([?&;]|\b)([A-Za-z0-9_.\-]+)=([^&?\s"'<>;,]+)`),
		user:     regexp.MustCompile(`(://)[^/@\s"'<>]+@`),
		bearer:   regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)[A-Za-z0-9+/=_.~\-]{16,}`),
		replacer: strings.NewReplacer(),
	}
	for _, s := range secrets {
		r.Add(s)
	}
	return r
}

// Add registers a secret value. Values shorter than four bytes are ignored.
func (r *Redactor) Add(secret string) {
	secret = strings.TrimSpace(secret)
	if len(secret) < minSecret {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.secrets, secret) {
		return
	}
	for _, form := range []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)),
	} {
		if !slices.Contains(r.secrets, form) {
			r.secrets = append(r.secrets, form)
		}
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(r.secrets))
	for _, s := range r.secrets {
		pairs = append(pairs, s, redacted)
	}
	r.replacer = strings.NewReplacer(pairs...)
}

// known returns the secret values and their encoded forms.
func (r *Redactor) known() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.secrets)
}

func (r *Redactor) values(s string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.replacer.Replace(s)
}

// URL returns an address without its user and with credential parameters
// replaced. The order of the parameters stays.
func (r *Redactor) URL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return r.Text(raw)
	}
	if u.User != nil {
		u.User = url.User(redacted)
	}
	if u.RawQuery != "" {
		parts := strings.Split(u.RawQuery, "&")
		for i, part := range parts {
			name, _, has := strings.Cut(part, "=")
			if plain, err := url.QueryUnescape(name); has && err == nil && isCredentialParam(plain) {
				parts[i] = name + "=" + redacted
			}
		}
		u.RawQuery = strings.Join(parts, "&")
	}
	u.Fragment, u.RawFragment = "", ""
	return r.values(u.String())
}

// Text returns a text with known secrets, credential parameters, users in
// addresses and bearer tokens replaced.
func (r *Redactor) Text(s string) string {
	s = r.values(s)
	if strings.Contains(s, "=") {
		s = r.query.ReplaceAllStringFunc(s, func(m string) string {
			name, _, _ := strings.Cut(m, "=")
			plain := strings.TrimLeft(name, "?&;")
			if isCredentialParam(plain) && (plain != name || !isPlainWord(plain)) {
				return name + "=" + redacted
			}
			return m
		})
	}
	if strings.Contains(s, "://") {
		s = r.user.ReplaceAllString(s, "${1}"+redacted+"@")
	}
	return r.bearer.ReplaceAllString(s, "${1}${2}"+redacted)
}

// redactedError keeps the chain of an error and changes its text.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// error returns err, with another text when its own shows a credential.
func (r *Redactor) error(err error) error {
	if err == nil {
		return nil
	}
	err = withoutURL(err)
	if text := r.Text(err.Error()); text != err.Error() {
		return &redactedError{text: text, err: err}
	}
	return err
}

// plainName folds the spellings of a name: access_key, AccessKey, access-key.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// isCredentialParam reports whether a query parameter proves who asks.
func isCredentialParam(name string) bool {
	n := plainName(name)
	switch n {
	case "key", "apikey", "accesskey", "accesskeyid", "awsaccesskeyid", "secretkey", "secretaccesskey", "secretid", "secret",
		"clientsecret", "token", "accesstoken", "authtoken", "apitoken", "sessiontoken", "securitytoken", "refreshtoken",
		"idtoken", "password", "passwd", "pwd", "signature", "sig", "sign", "auth", "authorization", "credential",
		"credentials", "jwt", "assertion", "clientassertion", "appkey", "appsecret", "keypairid", "policy":
		return true
	}
	return strings.HasPrefix(n, "xamz") || strings.HasPrefix(n, "xgoog") || strings.HasPrefix(n, "xtos") ||
		strings.HasPrefix(n, "xoss")
}

// isPlainWord reports whether a credential parameter is also an ordinary word,
// which means a credential inside an address only.
func isPlainWord(name string) bool {
	switch plainName(name) {
	case "key", "auth", "sign", "policy", "token", "credential", "credentials", "assertion":
		return true
	}
	return false
}

// isSignatureParam reports whether a query parameter belongs to a signature and
// so differs from request to request.
func isSignatureParam(name string) bool {
	switch plainName(name) {
	case "signaturenonce", "signaturemethod", "signatureversion", "nonce", "timestamp", "expires":
		return true
	}
	return false
}

// isCredentialHeader reports whether a header carries, or is derived from, a
// credential.
func isCredentialHeader(name string) bool {
	n := plainName(name)
	switch n {
	case "authorization", "proxyauthorization", "cookie", "setcookie", "wwwauthenticate":
		return true
	}
	for _, part := range []string{"auth", "token", "apikey", "accesskey", "secret", "signature", "credential", "password"} {
		if strings.Contains(n, part) {
			return true
		}
	}
	return strings.HasPrefix(n, "xamz")
}

// keptHeaders returns the response headers that may be stored, one text each.
func (r *Redactor) keptHeaders(h http.Header) map[string]string {
	out := make(map[string]string, len(h))
	for name, values := range h {
		switch http.CanonicalHeaderKey(name) {
		case "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Keep-Alive", "Trailer", "Upgrade", "Alt-Svc",
			"Report-To", "Nel", "Content-Security-Policy", "Strict-Transport-Security":
			continue
		}
		if plain := plainName(name); isCredentialHeader(name) && !strings.HasPrefix(plain, "xamz") && !strings.Contains(plain, "next") {
			continue
		}
		out[name] = r.Text(strings.Join(values, ", "))
	}
	return out
}
