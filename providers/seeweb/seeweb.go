// Package seeweb reads what Seeweb charges for the cards of its cloud servers, on
// demand and reserved for 3, 6 and 12 months.
//
// Source: the page https://www.seeweb.it/en/products/cloud-server-gpu. Markets:
// on_demand and commitment. Amounts are EUR per card and hour, and one offer
// stands for each number of cards a server is sold with. Where the price asked
// differs from the one it is compared with, the latter is the list price and the
// former a promotion. The page does not say whether tax is included, and names no
// region. It states no rhythm.
//
// Known gaps: the API, which has regions and whole plans and needs a token; spot
// servers, of which the page prints no price; what is around the cards: it is
// printed for the number selected in the browser.
//
// Verified: 2026-09-15, against three cards of the page as recorded.
package seeweb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	source  = "page"
	pageURL = "https://www.seeweb.it/en/products/cloud-server-gpu"

	currency = "EUR"

	// maxCards bounds the cards of one server: a larger number is a misread page.
	maxCards = 64

	// maxRows bounds the cards of the page: it has had 10.
	maxRows = 1000
)

// Provider crawls Seeweb.
type Provider struct{ http *fetch.Client }

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f.
func New(f *fetch.Fetcher) *Provider { return &Provider{http: f.Client(info())} }

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	return gputide.Info{
		Name:  "seeweb",
		Title: "Seeweb",
		Home:  pageURL,
		Sources: []gputide.Source{{
			ID: source, Title: "Page of the cloud servers with GPU", URL: pageURL, Doc: pageURL,
			Hosts: []string{"www.seeweb.it"}, Auth: gputide.AuthNone, Prices: true, Page: true, MaxBytes: 8 << 20,
		}},
		Markets:    []gputide.Market{gputide.OnDemand, gputide.Commitment},
		Currencies: []gputide.Currency{currency},
		Cadence:    24 * time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note:       "Prices per card from the public page: no regions, no spot, and nothing of the machine around the cards.",
	}
}

// Crawl reads the page.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	doc, url, err := p.http.Page(ctx, source, pageURL)
	if err == nil {
		err = add(b, doc)
	}
	if err != nil {
		b.Fail(source, gputide.Scope{}, err)
		return err
	}
	b.Done(source, gputide.Scope{}, url)
	return nil
}

// rate is a price of a card, by the class of its element.
type rate struct {
	class  string
	market gputide.Market
	term   gputide.Term
}

// reservations are the prices beside that on demand.
func reservations() []rate {
	return []rate{
		{"hourly_3mnths", gputide.Commitment, "3mo"},
		{"hourly_6mnths", gputide.Commitment, "6mo"},
		{"hourly_12mnths", gputide.Commitment, "1y"},
	}
}

// add adds the cards of the page.
func add(b *gputide.Batch, doc *goquery.Document) error {
	cards := doc.Find("div.cardType")
	switch n := cards.Length(); {
	case doc.Find("#js-gpu").Length() == 0:
		return drift("#js-gpu", "the section of the cards", "none")
	case n == 0:
		return fmt.Errorf("%s: %w: div.cardType", source, gputide.ErrEmpty)
	case n > maxRows:
		return drift("div.cardType", fmt.Sprintf("at most %d", maxRows), strconv.Itoa(n))
	}
	for _, class := range append(reservations(), rate{class: "hourly"}) {
		if price(cards, class.class) == "" {
			return drift("p."+class.class+" > span", "a price in euros of some card", "none")
		}
	}
	seen := make(map[string]bool)
	var names []string
	for _, card := range cards.EachIter() {
		name := text(card.Find("span.cardname"))
		if seen[name] {
			return drift("span.cardname", "each card once", name)
		}
		seen[name] = true
		names = append(names, name)
	}
	if !slices.ContainsFunc(names, func(s string) bool { return s != "" }) {
		return drift("span.cardname", "a name", "none")
	}
	for i, card := range cards.EachIter() {
		addCard(b, names[i], card)
	}
	return nil
}

// addCard adds the offers of one card, for each number it is sold in.
func addCard(b *gputide.Batch, name string, card *goquery.Selection) {
	counts := counts(card)
	if name == "" || counts == nil {
		b.SkipUnknown(source, gputide.Scope{}, "bad_card", name)
		return
	}
	sxm := strings.Contains(text(card), "GPU SXM")
	asked, list := price(card, "hourly"), price(card, "compare")
	if list == "" && card.Find("p.compare").Length() == 0 {
		list = asked
	}
	for _, n := range counts {
		o := gputide.RawOffer{
			Source: source, Spec: spec(name, n, sxm),
			Key: gputide.Key{
				InstanceType: fmt.Sprintf("%s×%d", name, n), Market: gputide.OnDemand, Stat: gputide.StatList, Currency: currency,
			},
		}
		addOffer(b, o, list)
		if asked != list {
			promo := o
			promo.Key.Stat = gputide.StatPromo
			addOffer(b, promo, asked)
		}
		for _, r := range reservations() {
			if card.Find("p."+r.class).Length() == 0 {
				continue // not every card is reserved
			}
			o.Key.Market, o.Key.Term, o.Key.Plan = r.market, r.term, "reservation"
			addOffer(b, o, price(card, r.class))
		}
	}
}

// addOffer adds an offer at a price per card and hour.
func addOffer(b *gputide.Batch, o gputide.RawOffer, amount string) {
	if v, err := gputide.ParseAmount(amount); err != nil || v.Sign() <= 0 {
		b.Skip(source, o.Key, "no_price", amount)
		return
	}
	o.Price = gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisAccelerator}
	b.Add(o)
}

// counts returns how many cards a server is sold with; nil when that cannot be
// read.
func counts(card *goquery.Selection) []int {
	var out []int
	for _, option := range card.Find("select[name=card-number] option").EachIter() {
		n, err := strconv.Atoi(option.AttrOr("value", ""))
		if err != nil || n < 1 || n > maxCards || text(option) != strconv.Itoa(n) || slices.Contains(out, n) {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// price returns the first price of a class, empty when it is missing or not in
// euros.
func price(s *goquery.Selection, class string) string {
	p := s.Find("p." + class).First()
	if !strings.Contains(p.Text(), "€") {
		return ""
	}
	return text(p.ChildrenFiltered("span").First())
}

// spec describes n cards. What the page prints of the machine is that of the
// number selected, and is left out.
func spec(name string, n int, sxm bool) *gputide.Spec {
	d := gputide.Device{
		Name: name, Kind: gputide.DeviceGPU, Count: gputide.NewCount(uint32(n), 1), Share: gputide.ShareWhole,
	}
	if sxm {
		d.Other = []string{name + " SXM"}
	}
	return &gputide.Spec{Source: source, InstanceType: fmt.Sprintf("%s×%d", name, n), Device: d}
}

// text returns the text of an element with its blanks collapsed.
func text(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }

func drift(path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
