package gcp

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

// network answers requests.
type network func(*http.Request) (int, string)

// RoundTrip answers as n does.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	status, text := n(r)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)),
		Request: r, ContentLength: int64(len(text)), ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

func account(t *testing.T) (*rsa.PrivateKey, Config) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return key, Config{
		ClientEmail: "reader@example.iam.gserviceaccount.com", PrivateKey: strings.ReplaceAll(string(text), "\n", `\n`), Project: "my-project",
	}
}

// TestSignIn proves that a service account signs a statement Google can check,
// and that the token goes to the Compute API alone.
func TestSignIn(t *testing.T) {
	key, cfg := account(t)
	asked := map[string]string{}
	f := fetch.New(fetch.Options{Attempts: 1, Transport: network(func(r *http.Request) (int, string) {
		asked[r.URL.Host+r.URL.Path] = r.Header.Get("Authorization")
		switch r.URL.Host {
		case "oauth2.googleapis.com":
			body, _ := io.ReadAll(r.Body)
			checkAssertion(t, key, string(body))
			return 200, `{"access_token":"t0ken-value","expires_in":3599,"token_type":"Bearer"}`
		case "compute.googleapis.com":
			return 503, ""
		}
		return 404, ""
	})})
	_, err := providertest.Collect(t.Context(), New(f, cfg))
	if !errors.Is(err, gputide.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	want := map[string]string{
		"oauth2.googleapis.com/token": "", "cloud.google.com/robots.txt": "", "cloud.google.com/products/compute/pricing/accelerator-optimized": "",
		"compute.googleapis.com/compute/v1/projects/my-project/aggregated/machineTypes":     "Bearer t0ken-value",
		"compute.googleapis.com/compute/v1/projects/my-project/aggregated/acceleratorTypes": "Bearer t0ken-value",
	}
	if d := cmp.Diff(want, asked); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

func checkAssertion(t *testing.T, key *rsa.PrivateKey, body string) {
	t.Helper()
	form, err := url.ParseQuery(body)
	if err != nil || form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		t.Errorf("grant %q, %v", form.Get("grant_type"), err)
	}
	parts := strings.Split(form.Get("assertion"), ".")
	if len(parts) != 3 {
		t.Fatalf("assertion of %d parts", len(parts))
	}
	var decoded [3][]byte
	for i, p := range parts {
		if decoded[i], err = base64.RawURLEncoding.DecodeString(p); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], decoded[2]); err != nil {
		t.Errorf("signature: %v", err)
	}
	var claims map[string]any
	if err := json.Unmarshal(decoded[1], &claims); err != nil {
		t.Fatal(err)
	}
	at := float64(providertest.Moment().Unix())
	want := map[string]any{
		"iss": "reader@example.iam.gserviceaccount.com", "scope": "https://www.googleapis.com/auth/compute.readonly",
		"aud": "https://oauth2.googleapis.com/token", "iat": at, "exp": at + 3600,
	}
	if d := cmp.Diff(want, claims); d != "" || string(decoded[0]) != `{"alg":"RS256","typ":"JWT"}` {
		t.Errorf("%s %s", decoded[0], d)
	}
}

// TestBadKey proves that a key that is none fails the sources that need it, and
// is not shown.
func TestBadKey(t *testing.T) {
	_, good := account(t)
	for name, text := range map[string]string{
		"no PEM": "s3cret-text", "no key": strings.ReplaceAll(good.PrivateKey, "A", "B"), "cut": good.PrivateKey[:200],
	} {
		cfg := good
		cfg.PrivateKey = text
		f := fetch.New(fetch.Options{Attempts: 1, Transport: network(func(*http.Request) (int, string) { return 404, "" })})
		c, _ := providertest.Collect(t.Context(), New(f, cfg))
		for _, source := range []string{sourceTypes, sourceCards} {
			err := errors.Join(c.Errors(source)...)
			if !errors.Is(err, gputide.ErrAuth) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %s: %v", name, source, err)
			}
		}
	}
}
