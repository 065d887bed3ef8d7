package fetch

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

// refusing is a network that refuses every request with a text.
type refusing string

// RoundTrip answers 400.
func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 400, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(r))), Request: req}, nil
}

// TestExplain shows that a caller may read why it was refused.
func TestExplain(t *testing.T) {
	info := gputide.Info{Name: "acme", Sources: []gputide.Source{{ID: "types", URL: "https://api.example.com/"}}}
	c := New(Options{Transport: refusing("slow down")}).Client(info)
	why := errors.New("throttled")
	_, err := c.Do(t.Context(), Request{
		Source: "types", URL: "https://api.example.com/",
		Explain: func(fe *gputide.FetchError, body []byte) error {
			if fe.Status != 400 || !errors.Is(fe, gputide.ErrInvalid) || string(body) != "slow down" {
				t.Errorf("%v with %q", fe, body)
			}
			return why
		},
	})
	if !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}
