package gcp

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	tokenURL = "https://oauth2.googleapis.com/token"

	// readOnly is all that is asked for: to list what Compute Engine has.
	readOnly = "https://www.googleapis.com/auth/compute.readonly"

	// tokenLife is how long an assertion holds, the most Google takes.
	tokenLife = time.Hour
)

// Config says whose credentials are used. The zero value reads what needs none.
type Config struct {
	APIKey string // of any project; for the Cloud Billing Catalog

	// A service account that may list machine types, and the project whose they
	// are; for the Compute API.
	ClientEmail string
	PrivateKey  string // PEM; line feeds may be written \n
	Project     string
}

// canSignIn reports whether nothing of the service account is missing.
func (c *Config) canSignIn() bool {
	return c.ClientEmail != "" && c.PrivateKey != "" && c.Project != ""
}

// token asks for an access token by the JWT bearer grant
// (https://developers.google.com/identity/protocols/oauth2/service-account).
func (p *Provider) token(ctx context.Context, at time.Time) (string, error) {
	assertion, err := p.cfg.assertion(at)
	if err != nil {
		return "", err
	}
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
	var answer struct {
		Token string `json:"access_token"`
	}
	_, err = p.http.JSON(ctx, fetch.Request{
		Source: sourceToken, URL: tokenURL, Body: []byte(form.Encode()), NoArchive: true,
		Header: map[string][]string{"Content-Type": {"application/x-www-form-urlencoded"}},
	}, &answer)
	switch {
	case err != nil:
		return "", err
	case answer.Token == "":
		return "", drift(sourceToken, "access_token", "a token", "none")
	}
	p.http.AddSecret(answer.Token)
	return answer.Token, nil
}

// assertion returns the signed statement that the service account asks for a
// token. Errors do not show the key.
func (c *Config) assertion(at time.Time) (string, error) {
	key, err := c.key()
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": c.ClientEmail, "scope": readOnly, "aud": tokenURL, "iat": at.Unix(), "exp": at.Add(tokenLife).Unix(),
	})
	if err != nil {
		return "", fmt.Errorf("%w: %s", gputide.ErrAuth, envEmail)
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("%w: %s cannot sign: %w", gputide.ErrAuth, envPrivateKey, err)
	}
	return text + "." + encode(signature), nil
}

// key reads the private key of the service account.
func (c *Config) key() (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(strings.ReplaceAll(c.PrivateKey, `\n`, "\n")))
	if block == nil {
		return nil, fmt.Errorf("%w: %s is not PEM", gputide.ErrAuth, envPrivateKey)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%w: %s is no RSA key in PKCS #8", gputide.ErrAuth, envPrivateKey)
	}
	return key, nil
}
