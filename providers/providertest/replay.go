package providertest

import (
	"fmt"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// Exchange is one request of a source and its answer, for tests of single
// answers. A Status of 0 is 200, a Method of "" GET. BodyContains is a text of
// the request; Times is how often it is answered, 0 without limit.
type Exchange struct {
	Source, Method, URL string
	BodyContains        string
	Status              int
	Header              map[string]string
	Body                string
	Times               int
}

// Replay returns a fetcher that knows the given exchanges of one provider and
// nothing else.
func Replay(t testing.TB, provider string, exchanges ...Exchange) *fetch.Fetcher {
	t.Helper()
	f := &fixture{
		Provider: provider, Kind: string(gputide.EvidenceComposed), CapturedAt: Moment(), bodies: map[string][]byte{},
	}
	for i, e := range exchanges {
		file := fmt.Sprintf("body-%d", i)
		f.bodies[file] = []byte(e.Body)
		f.Exchanges = append(f.Exchanges, exchange{
			Source: e.Source, Method: e.Method, URL: e.URL, BodyContains: e.BodyContains, Status: e.Status, Headers: e.Header,
			File: file, Times: e.Times,
		})
	}
	fixtures, err := f.open()
	if err != nil {
		t.Fatal(err)
	}
	return fetch.New(fetch.Options{Fixtures: fixtures, Transport: deadEnd{}})
}
