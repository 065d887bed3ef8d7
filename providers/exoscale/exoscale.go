// Package exoscale reads what Exoscale charges for its instances, in each of its
// three currencies.
//
// Source: https://portal.exoscale.com/api/pricing/opencompute, keyless; the price
// page https://www.exoscale.com/pricing/ is made from it. Market: on_demand.
// Amounts are CHF, EUR and USD per instance and hour, without tax. The numbers are
// the same in each currency: none is converted from another, and each is an offer
// of its own. A price holds in every zone. Local disk and addresses are billed
// beside it. The source states no rhythm.
//
// Known gaps: the number of cards of a type, its vCPUs and its zones are in the
// instance types of the API, which need a key; they are not read, and the number
// is not derived from prices, which are not linear. The cards of the families gpu,
// gpu2 and gpu3 are not named by the source. Families that are no longer sold stay
// in the list.
//
// Verified: 2026-10, against a recorded answer.
package exoscale

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	source   = "pricing"
	endpoint = "https://portal.exoscale.com/api/pricing/opencompute"

	// prefix is that of the prices of running instances.
	prefix = "running_"

	// standard is the family of the types whose key names none.
	standard = "standard"

	// maxRows bounds the prices of one currency: there have been 60.
	maxRows = 10000
)

// Provider crawls Exoscale.
type Provider struct{ http *fetch.Client }

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f.
func New(f *fetch.Fetcher) *Provider { return &Provider{http: f.Client(info())} }

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	return gputide.Info{
		Name:  "exoscale",
		Title: "Exoscale",
		Home:  "https://www.exoscale.com/pricing/",
		Sources: []gputide.Source{{
			ID: source, Title: "Prices of Open Compute", URL: endpoint, Doc: "https://www.exoscale.com/pricing/",
			Hosts: []string{"portal.exoscale.com"}, Auth: gputide.AuthNone, Prices: true, MaxBytes: 1 << 20,
		}},
		Markets:    []gputide.Market{gputide.OnDemand},
		Currencies: []gputide.Currency{"CHF", "EUR", "USD"},
		Cadence:    24 * time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note:       "Prices per instance; how many cards a type has is not published with them.",
	}
}

// Crawl reads the price list.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	var books map[string]map[string]json.RawMessage // by currency, lower case
	url, err := p.http.JSON(ctx, fetch.Request{Source: source, URL: endpoint}, &books)
	if err == nil {
		err = add(b, books)
	}
	if err != nil {
		b.Fail(source, gputide.Scope{}, err)
		return err
	}
	b.Done(source, gputide.Scope{}, url)
	return nil
}

// add adds the prices of every currency. A currency that is not known here is
// counted.
func add(b *gputide.Batch, books map[string]map[string]json.RawMessage) error {
	if len(books) == 0 {
		return fmt.Errorf("%s: %w: currencies", source, gputide.ErrEmpty)
	}
	for _, c := range info().Currencies {
		if err := check(c, books[strings.ToLower(string(c))]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(books)) {
		c := gputide.Currency(strings.ToUpper(name))
		if !slices.Contains(info().Currencies, c) {
			b.Omit(source, "other_currency", int64(len(books[name])))
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(books[name])) {
			addPrice(b, c, key, books[name][key])
		}
	}
	return nil
}

// check returns what is wrong with the prices of one currency as a whole.
func check(c gputide.Currency, book map[string]json.RawMessage) error {
	path := "$." + strings.ToLower(string(c))
	switch {
	case book == nil:
		return drift(path, "prices", "none")
	case len(book) == 0:
		return fmt.Errorf("%s: %w: %s", source, gputide.ErrEmpty, c)
	case len(book) > maxRows:
		return drift(path, fmt.Sprintf("at most %d prices", maxRows), fmt.Sprint(len(book)))
	}
	for key, raw := range book {
		if _, _, ok := parseKey(key); ok && isPrice(text(raw)) {
			return nil
		}
	}
	return drift(path+"."+prefix+"*", "the price of an instance", fmt.Sprintf("none of %d", len(book)))
}

// addPrice adds one price.
func addPrice(b *gputide.Batch, c gputide.Currency, key string, raw json.RawMessage) {
	if !strings.HasPrefix(key, prefix) {
		b.Omit(source, "other_product", 1)
		return
	}
	family, size, ok := parseKey(key)
	if !ok {
		b.SkipUnknown(source, gputide.Scope{}, "bad_key", key)
		return
	}
	o := gputide.RawOffer{
		Source: source, SKU: key, Spec: spec(family, size),
		Price: gputide.Published{Amount: text(raw), Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		Key: gputide.Key{
			InstanceType: family + "." + size, Market: gputide.OnDemand,
			Stat: gputide.StatList, Tax: gputide.TaxExcluded, Currency: c,
		},
	}
	if o.Spec.Device.Known() { // not how many cards, nor what is around them
		o.Flags = []gputide.Flag{gputide.FlagSpecUnknown}
	}
	if !isPrice(o.Price.Amount) {
		b.Skip(source, o.Key, "no_price", string(raw))
		return
	}
	b.Add(o)
}

// text returns a price as it is written; empty for what is no text.
func text(raw json.RawMessage) string {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return ""
	}
	return s
}

func isPrice(s string) bool {
	v, err := gputide.ParseAmount(s)
	return err == nil && v.Sign() > 0
}

// sizes are those of instance types. A size may hold the separator, so that a key
// is read from its end.
func sizes() []string {
	return []string{
		"extra_large", "micro", "tiny", "small", "medium", "large", "huge",
		"mega", "titan", "titan48c", "jumbo", "colossus",
	}
}

// parseKey returns the family and the size of a key, as in running_gpu3_small and
// running_extra_large.
func parseKey(key string) (family, size string, ok bool) {
	name, ok := strings.CutPrefix(key, prefix)
	if !ok {
		return "", "", false
	}
	for _, size := range sizes() {
		if name == size {
			return standard, size, true
		}
		if family, ok := strings.CutSuffix(name, "_"+size); ok && family != "" && !strings.Contains(family, "_") {
			return family, size, true
		}
	}
	return "", "", false
}

// spec returns what the name of a family says: that it has cards, and which.
func spec(family, size string) *gputide.Spec {
	s := &gputide.Spec{Source: source, InstanceType: family + "." + size}
	card, ok := strings.CutPrefix(family, "gpu")
	if !ok {
		return s
	}
	s.Device = gputide.Device{Name: family, Kind: gputide.DeviceGPU, Share: gputide.ShareWhole}
	switch card {
	case "", "2", "3": // a generation
	case "rtx6000pro":
		s.Device.Name, s.Device.Other = "RTX 6000 PRO", []string{family}
	case "3080ti":
		s.Device.Name, s.Device.Other = "RTX 3080 Ti", []string{family}
	default: // a30, a5000
		s.Device.Name, s.Device.Other = strings.ToUpper(card), []string{family}
	}
	return s
}

func drift(path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
