package seeweb_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
	"github.com/gputide/gputide/providers/seeweb"
)

func replace(name, old, text string, want error) providertest.Edit {
	return providertest.Edit{Name: name, Source: "page", Want: want, Change: func(body []byte) []byte {
		out := bytes.ReplaceAll(body, []byte(old), []byte(text))
		if bytes.Equal(out, body) {
			return nil
		}
		return out
	}}
}

func TestConformance(t *testing.T) {
	field := func(path string) providertest.Field { return providertest.Field{Source: "page", Path: path} }
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return seeweb.New(f) }, providertest.Opt{
		Edits: []providertest.Edit{
			replace("no cards", `class="cardType"`, `class="card"`, gputide.ErrEmpty),
			replace("no names", `class="cardname"`, `class="name"`, gputide.ErrSchemaDrift),
			replace("no price", `class="hourly"`, `class="price"`, gputide.ErrSchemaDrift),
			replace("no reserved price", `class="hourly_3mnths"`, `class="hourly_3"`, gputide.ErrSchemaDrift),
			replace("another currency", `&euro;`, `&pound;`, gputide.ErrSchemaDrift),
			replace("one card without a price", `<span>1.89</span>`, `<span>on request</span>`, nil),
			replace("a promotion", `<p class="hourly"><span>1.89`, `<p class="hourly"><span>1.79`, nil),
			replace("a card twice", `NVIDIA H100`, `NVIDIA H200`, gputide.ErrSchemaDrift),
			replace("a number that is none", `<option value="8">8`, `<option value="8">max`, nil),
		},
		Required: []providertest.Field{field("section@id")},
	})
}
