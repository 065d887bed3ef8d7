package alibaba

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// The lists of an entry.
const (
	hours = iota
	months
	years
	kinds
)

// listNames returns the names of the lists.
func listNames() [kinds]string { return [kinds]string{"hours", "months", "years"} }

// reader reads one price list, entry by entry.
type reader struct {
	site  *site
	b     *gputide.Batch
	table families
	specs map[string]*gputide.Spec // by instance type

	priced func(region, instanceType string) // is told of every price

	currency, place, published string

	entries int64 // of pricingInfo
	read    int64 // of them, of a known form
	kept    int64 // of them, in a network and of a system of ours
	strange int64 // of them, with a member that is none of the lists
	census  [kinds]census
	omitted map[string]int64

	lists entryLists // of the entry that is read
}

// census counts what was seen of one list over all entries.
type census struct{ named, amounts, priced, timed int64 }

func newReader(s *site, b *gputide.Batch, table families) *reader {
	return &reader{
		site: s, b: b, table: table, specs: make(map[string]*gputide.Spec), omitted: make(map[string]int64), priced: func(_, _ string) {},
	}
}

// read reads a list and adds its offers. With an error none of them counts.
func (p *Provider) read(ctx context.Context, r *reader, url string) (string, error) {
	resp, err := p.http.Do(ctx, fetch.Request{Source: r.site.list, URL: url, Accept: "application/json"})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := r.decode(fetch.NewDecoder(r.site.list, resp.Body)); err != nil {
		return "", err
	}
	for reason, rows := range r.omitted {
		r.b.Omit(r.site.list, reason, rows)
	}
	return resp.URL, nil
}

// decode reads the envelope. Its members may stand in any order, so that the
// currency may only be known at the end.
func (r *reader) decode(d *fetch.Decoder) error {
	found := false
	err := d.Object(func(name string) error {
		switch name {
		case "currency":
			return d.Decode(&r.currency)
		case "publicationDate":
			return d.Decode(&r.published)
		case "site":
			return d.Decode(&r.place)
		case "pricingInfo":
			found = true
			return r.prices(d)
		}
		return d.Skip()
	})
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return err
	}
	if !found {
		return drift(r.site.list, "$.pricingInfo", "an object", "none")
	}
	return r.check()
}

// prices reads the entries. One is decoded at a time, so that memory does not
// grow with the list.
func (r *reader) prices(d *fetch.Decoder) error {
	var raw json.RawMessage
	return d.Object(func(name string) error {
		raw = raw[:0]
		if err := d.Decode(&raw); err != nil {
			return err
		}
		r.entries++
		r.entry(name, raw)
		return nil
	})
}

// check returns what is wrong with the list as a whole.
func (r *reader) check() error {
	list := r.site.list
	isIntl := strings.EqualFold(r.place, "intl")
	switch {
	case r.entries == 0:
		return fmt.Errorf("%s: %w: pricingInfo", list, gputide.ErrEmpty)
	case r.currency != string(r.site.currency):
		return drift(list, "$.currency", string(r.site.currency), r.currency)
	case r.place != "" && isIntl != (r.site.partition == "intl"):
		return drift(list, "$.site", "that of "+r.site.partition, r.place)
	case r.read == 0:
		return drift(list, "$.pricingInfo.*", "entries of the known form", fmt.Sprintf("none of %d", r.entries))
	case r.kept == 0:
		return drift(list, "$.pricingInfo", "keys with ::"+network+"::<os>::"+optimized, fmt.Sprintf("none of %d", r.entries))
	}
	for i, name := range listNames() {
		c := &r.census[i]
		path := "$.pricingInfo.*." + name
		switch {
		case c.named == 0 && r.strange > 0: // renamed, and not merely left out
			return drift(list, path, "it in some entry", fmt.Sprintf("another name in %d of %d", r.strange, r.entries))
		case c.amounts > 0 && c.priced == 0:
			return drift(list, path+"[].price", "it in some row", fmt.Sprintf("none of %d rows", c.amounts))
		case c.amounts > 0 && c.timed == 0:
			return drift(list, path+"[].period", "it in some row", fmt.Sprintf("none of %d rows", c.amounts))
		}
	}
	return nil
}

// edition says which list was read, and whether it is old.
func (r *reader) edition(version string) error {
	at, err := time.Parse(time.RFC3339, r.published)
	if err != nil {
		return fmt.Errorf("list %s, without a date of publication: it may be an old one", version)
	}
	text := fmt.Sprintf("list %s, published %s", version, at.UTC().Format(time.RFC3339))
	if age := r.b.At().Sub(at); age > staleAfter {
		text += fmt.Sprintf(", %d days ago: a newer one may stand elsewhere", int(age.Hours()/24))
	}
	return errors.New(text)
}
