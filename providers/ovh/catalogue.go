package ovh

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// maxRows bounds the addons of a catalogue: it has some thousands.
const maxRows = 100_000

// read reads one catalogue. Its addons stand behind its currency, or before it:
// nothing is added until the whole was read.
func (p *Provider) read(ctx context.Context, b *gputide.Batch, k *book) (url string, err error) {
	resp, err := p.http.Do(ctx, fetch.Request{Source: k.source, URL: k.url(), Accept: "application/json"})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var locale struct {
		Currency   gputide.Currency `json:"currencyCode"`
		Subsidiary string           `json:"subsidiary"`
	}
	var rows []reading
	listed := false
	d := fetch.NewDecoder(k.source, resp.Body)
	err = d.Object(func(name string) error {
		switch name {
		case "locale":
			return d.Decode(&locale)
		case "addons":
			listed = true
			return d.Array(func() error {
				var raw json.RawMessage
				if err := d.Decode(&raw); err != nil {
					return err
				}
				if len(rows) == maxRows {
					return k.drift("$.addons", fmt.Sprintf("at most %d rows", maxRows), "more")
				}
				rows = append(rows, k.readAddon(raw))
				return nil
			})
		}
		return d.Skip()
	})
	if err == nil {
		err = d.End()
	}
	switch {
	case err != nil:
		return "", err
	case !listed:
		return "", k.drift("$.addons", "a list", "none")
	case len(rows) == 0:
		return "", fmt.Errorf("%s: %w: addons", k.source, gputide.ErrEmpty)
	case locale.Currency != k.currency || locale.Subsidiary != k.query:
		return "", k.drift("$.locale", string(k.currency)+" of "+k.query, string(locale.Currency)+" of "+locale.Subsidiary)
	}
	return resp.URL, k.add(b, rows)
}

// add adds the rows of a catalogue, unless none of those that should be offers
// is one.
func (k *book) add(b *gputide.Batch, rows []reading) error {
	priced, last := 0, "no instance"
	for i := range rows {
		switch {
		case rows[i].skip != "":
			last = rows[i].skip
		case rows[i].omit == "":
			priced++
		}
	}
	if priced == 0 {
		return k.drift("$.addons[]", "an instance with a price", fmt.Sprintf("none of %d: %s", len(rows), last))
	}
	for _, r := range rows {
		switch {
		case r.omit != "":
			b.Omit(k.source, r.omit, 1)
		case r.skip != "" && r.known:
			b.Skip(k.source, r.offer.Key, r.skip, r.detail)
		case r.skip != "":
			b.SkipUnknown(k.source, k.scope(), r.skip, r.detail)
		default:
			b.Add(r.offer)
		}
	}
	return nil
}

// pricing is one price of an addon.
type pricing struct {
	Capacities []string    `json:"capacities"`
	Commitment int         `json:"commitment"`
	Interval   int         `json:"interval"`
	Unit       string      `json:"intervalUnit"` // hour, month; none in the US catalogue
	Mode       string      `json:"mode"`
	Phase      int         `json:"phase"`
	Price      json.Number `json:"price"` // 1e-8 of the currency, without tax
	Type       string      `json:"type"`
}

// amount returns the price of a plan as decimal text, or why there is none. unit
// is what the catalogue calls the period of the plan.
func amount(pricings []pricing, unit string) (text, reason string) {
	var found *pricing
	for i := range pricings {
		p := &pricings[i]
		if p.Mode != "default" || p.Type != "consumption" || p.Phase != 0 || p.Commitment != 0 {
			continue
		}
		if found != nil {
			return "", "two_prices"
		}
		found = p
	}
	if found == nil {
		return "", "no_price"
	}
	if found.Interval != 1 || (found.Unit != unit && found.Unit != "none") {
		return "", "bad_interval"
	}
	const nanoPerUnit = 10
	n, err := strconv.ParseInt(found.Price.String(), 10, 64)
	if err != nil || n <= 0 || n > int64(gputide.MaxNano)/nanoPerUnit {
		return "", "no_price"
	}
	return gputide.Nano(n * nanoPerUnit).String(), ""
}
