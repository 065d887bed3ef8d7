package ibm

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

type network func(*http.Request) (*http.Response, error)

// RoundTrip calls n.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) { return n(r) }

func answer(r *http.Request, status int, body string) (*http.Response, error) {
	return &http.Response{
		StatusCode: status, ContentLength: -1, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// TestToken proves that the key goes to IAM only, in the body of a POST, and the
// token to the VPC API only.
func TestToken(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		want       error
	}{
		{"a token", `{"access_token":"tok-123456789","expires_in":3600}`, 200, nil},
		{"a key that is not known", `{"errorCode":"BXNIM0415E"}`, 400, gputide.ErrAuth},
		{"no token", `{}`, 200, gputide.ErrSchemaDrift},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				f := fetch.New(fetch.Options{Transport: network(func(r *http.Request) (*http.Response, error) {
					asked = append(asked, r.URL.Host+" "+r.Header.Get("Authorization"))
					if r.URL.Host == "iam.cloud.ibm.com" {
						form, err := io.ReadAll(r.Body)
						if err != nil || !strings.Contains(string(form), "apikey=key-123456789") || strings.Contains(r.URL.String(), "key-") {
							t.Errorf("form %q, %v", form, err)
						}
						return answer(r, tt.status, tt.body)
					}
					return answer(r, 200, `{"profiles":[{"name":"bx2-2x8","vcpu_count":{"type":"fixed","value":2},"memory":{"type":"fixed","value":8}}]}`)
				})})
				defer f.Close()
				c := new(providertest.Collector)
				err := New(f, "key-123456789").CrawlSpecs(t.Context(), newBatch(c))
				if !errors.Is(err, tt.want) || (err != nil && strings.Contains(err.Error(), "key-123456789")) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
				want := "iam.cloud.ibm.com "
				if tt.want == nil {
					want = "iam.cloud.ibm.com ;us-south.iaas.cloud.ibm.com Bearer tok-123456789;us-east.iaas.cloud.ibm.com Bearer tok-123456789"
				}
				if got := strings.Join(asked, ";"); got != want {
					t.Errorf("asked %s, want %s", got, want)
				}
			})
		})
	}
}

// TestWithoutKey proves that nothing is asked, and that the reader is told what
// to set.
func TestWithoutKey(t *testing.T) {
	f := fetch.New(fetch.Options{Transport: network(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return answer(r, 500, "")
	})})
	defer f.Close()
	c := new(providertest.Collector)
	if err := New(f, "").CrawlSpecs(t.Context(), newBatch(c)); err != nil {
		t.Error(err)
	}
	if errs := c.Errors(sourceProfiles); len(errs) != 1 || !errors.Is(errs[0], gputide.ErrNeedsKey) || !strings.Contains(errs[0].Error(), envKey) {
		t.Errorf("said %v", errs)
	}
}

// TestField proves that a property has a value only where it is fixed.
func TestField(t *testing.T) {
	for text, want := range map[string]float64{
		`{"type":"fixed","value":8}`: 8, `{"type":"fixed","value":0}`: 0, `{"type":"fixed"}`: 0, `{"type":"fixed","values":["8"]}`: 0,
		`{"type":"range","min":1,"max":8,"default":4}`: 0, `{"type":"enum","values":["2","4"]}`: 0, `{"type":"dependent","value":8}`: 0, `{"type":"fixed","value":"8"}`: 0,
	} {
		c, _ := collect(t, exchange(sourceProfiles, strings.Replace(profilesURL, "%s", "us-south", 1), `{"profiles":[`+
			`{"name":"a","vcpu_count":{"type":"fixed","value":1},"memory":{"type":"fixed","value":1}},{"name":"b","vcpu_count":`+text+`}]}`))
		got := -1.0
		for _, s := range c.Specs {
			if s.InstanceType == "b" {
				got = 0
				if s.VCPU != nil {
					got = *s.VCPU
				}
			}
		}
		if got != want {
			t.Errorf("%s: %g, want %g", text, got, want)
		}
	}
}
