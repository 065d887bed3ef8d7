package azure

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

// network answers requests by host.
type network func(*http.Request) (int, string)

// RoundTrip answers as n does.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	status, text := n(r)
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r,
		ContentLength: int64(len(text)), ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

func live(ctx context.Context, cfg Config, n network) (*providertest.Collector, error) {
	return providertest.Collect(ctx, New(fetch.New(fetch.Options{Transport: n}), cfg))
}

var principal = Config{TenantID: "tenant", ClientID: "client", ClientSecret: "s3cret~value", SubscriptionID: "sub"}

// TestSignIn shows the token request, and that the token goes to Azure Resource
// Manager alone.
func TestSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var asked []string
		got, err := live(t.Context(), principal, func(r *http.Request) (int, string) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, strings.TrimSpace(r.Method+" "+r.URL.Host+r.URL.Path+" "+r.Header.Get("Authorization")))
			switch r.URL.Host {
			case loginHost:
				form, _ := io.ReadAll(r.Body)
				want := url.Values{
					"grant_type": {"client_credentials"}, "client_id": {"client"}, "client_secret": {"s3cret~value"},
					"scope": {"https://management.azure.com/.default"},
				}
				if string(form) != want.Encode() || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
					t.Errorf("token request %s", form)
				}
				return 200, `{"token_type":"Bearer","expires_in":3599,"access_token":"t0ken"}`
			case armHost:
				return 200, `{"value":[]}`
			}
			return 200, body("null")
		})
		if !errors.Is(err, gputide.ErrEmpty) {
			t.Errorf("error %v", err)
		}
		if !slices.Contains(got.Sources, providertest.SourceNote{Source: sourceToken, Status: gputide.SourceOK}) {
			t.Errorf("the token is not reported: %v", got.Sources)
		}
		if d := cmp.Diff([]string{
			"POST login.microsoftonline.com/tenant/oauth2/v2.0/token", "GET management.azure.com/subscriptions/sub/locations Bearer t0ken",
			"GET prices.azure.com/api/retail/prices", "POST login.microsoftonline.com/tenant/oauth2/v2.0/token",
			"POST management.azure.com/providers/Microsoft.ResourceGraph/resources Bearer t0ken",
			"POST management.azure.com/providers/Microsoft.ResourceGraph/resources Bearer t0ken",
		}, asked); d != "" {
			t.Errorf("requests (-want +got):\n%s", d)
		}
	})
}

// TestSignInFails shows that prices do without Azure Resource Manager, and that
// no secret shows.
func TestSignInFails(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg    Config
		status int
		answer string
		source string
		want   error
	}{
		"no key":     {Config{}, 0, "", sourceSKUs, gputide.ErrNeedsKey},
		"half a key": {Config{TenantID: "tenant", ClientID: "client", ClientSecret: "s3cret~value"}, 0, "", sourceEviction, gputide.ErrNeedsKey},
		"refused":    {principal, 401, `{"error":"invalid_client","error_description":"s3cret~value"}`, sourceToken, gputide.ErrAuth},
		"no token":   {principal, 200, `{"token_type":"Bearer"}`, sourceToken, gputide.ErrSchemaDrift},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, err := live(t.Context(), tt.cfg, func(r *http.Request) (int, string) {
					switch {
					case r.URL.Host == loginHost:
						return tt.status, tt.answer
					case strings.Contains(r.URL.RawQuery, "armRegionName"):
						return 200, body("null", sized("Standard_NC4as_T4_v3", "0.526"))
					}
					return 200, index("eastus").Body
				})
				if keyed := tt.status != 0; !keyed && err != nil || keyed && !errors.Is(err, tt.want) {
					t.Errorf("error %v", err)
				}
				if n := len(got.Live()); n != 1 {
					t.Errorf("%d offers", n)
				}
				said := errors.Join(got.Errors(tt.source)...)
				if !errors.Is(said, tt.want) {
					t.Errorf("said of %s: %v", tt.source, said)
				}
				if err != nil && strings.Contains(err.Error(), "s3cret") || said != nil && strings.Contains(said.Error(), "s3cret") {
					t.Errorf("the secret shows: %v, %v", err, said)
				}
			})
		})
	}
}

// TestThrottled shows that a page refused once is asked again.
func TestThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		start := time.Now()
		got, err := live(t.Context(), Config{}, func(r *http.Request) (int, string) {
			switch {
			case !strings.Contains(r.URL.RawQuery, "armRegionName"):
				return 200, index("eastus").Body
			case !r.URL.Query().Has("$skip"):
				return 200, body(link("eastus", 1), sized("Standard_NC4as_T4_v3", "0.526"))
			case refused == 0:
				refused++
				return 429, "slow down"
			}
			return 200, body("null", sized("Standard_NC8as_T4_v3", "0.752"))
		})
		if err != nil || len(got.Live()) != 2 || time.Since(start) < time.Second {
			t.Errorf("%v, %d offers after %s", err, len(got.Live()), time.Since(start))
		}
	})
}
