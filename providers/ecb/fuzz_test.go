package ecb

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// FuzzDocument proves that no document makes a rate that is none, and that what
// is refused is refused as one of two things.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`<g:Envelope xmlns:g="u"><Cube><Cube time='2023-02-01'><Cube currency='USD' rate='1.0894'/></Cube></Cube></g:Envelope>`))
	f.Add([]byte(`<Envelope><Cube><Cube time="2023-02-01"><Cube currency="RUB" rate="N/A"/></Cube></Cube></Envelope>`))
	f.Add([]byte(`<html>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		doc, err := decode("daily", bytes.NewReader(body))
		if err != nil {
			if !errors.Is(err, gputide.ErrSchemaDrift) && !errors.Is(err, gputide.ErrEmpty) {
				t.Errorf("error %v", err)
			}
			return
		}
		rates, err := doc.rates(gputide.NewBatch("ecb", providertest.Moment(), new(providertest.Collector)), "daily")
		if err != nil && !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("error %v", err)
		}
		for _, r := range rates {
			v, err := gputide.ParseAmount(r.Amount)
			if err != nil || v.Sign() <= 0 || !r.Quote.Valid() || r.Date.After(providertest.Moment()) {
				t.Errorf("rate %v", r)
			}
		}
	})
}
