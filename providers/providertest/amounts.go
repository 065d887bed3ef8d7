package providertest

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/gputide/gputide"
)

// maxAmounts bounds the published amounts that are spoilt one by one.
const maxAmounts = 40

// amounts returns the distinct amounts a crawl read, spread evenly when there
// are many.
func (c *Collector) amounts() []string {
	var all []string
	add := func(texts ...string) {
		for _, t := range texts {
			if t != "" {
				all = append(all, t)
			}
		}
	}
	for _, o := range c.Live() {
		add(o.Price.Amount, o.Price.Upfront)
		for _, part := range o.Price.Components {
			add(part.Amount)
		}
	}
	for _, r := range c.Rates {
		add(r.Amount)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) <= maxAmounts {
		return all
	}
	some := make([]string, maxAmounts)
	for i := range some {
		some[i] = all[i*len(all)/maxAmounts]
	}
	return some
}

// places returns where an amount stands in a body as a number of its own, not as
// a part of a name or of another number.
func places(body []byte, amount string) []span {
	re := regexp.MustCompile(`(?:^|[^0-9A-Za-z._-])(` + regexp.QuoteMeta(amount) + `)(?:$|[^0-9A-Za-z._-])`)
	var spans []span
	for at := 0; at < len(body); {
		m := re.FindSubmatchIndex(body[at:])
		if m == nil {
			break
		}
		spans = append(spans, span{at + m[2], at + m[3]})
		at += m[3]
	}
	return spans
}

// maxPlaces bounds the places of one amount that are spoilt one by one.
const maxPlaces = 20

// eachPlace crawls the fixture once for each place of amount, with another text
// in that place, and hands each outcome to judge until it returns false.
func (s *suite) eachPlace(ctx context.Context, amount, other string, judge func(*outcome) bool) error {
	tried := 0
	for i := range s.fixture.Exchanges {
		e := &s.fixture.Exchanges[i]
		for place := 0; e.File != "" && tried < maxPlaces; place++ {
			body, err := repack(s.fixture.bodies[e.File], func(b []byte) ([]byte, error) {
				spans := places(b, amount)
				if place >= len(spans) {
					return nil, nil
				}
				return splice(b, spans[place:place+1], func(int) string { return other }), nil
			})
			if err != nil {
				return err
			}
			if body == nil {
				break
			}
			tried++
			f := s.fixture.answer(i, e.Status, nil, body)
			dropHeader(f.Exchanges[i].Headers, "Content-Length")
			got, err := s.crawl(ctx, f)
			if err != nil {
				return err
			}
			if !judge(got) {
				return nil
			}
		}
	}
	return nil
}

// checkDigits proves that each published amount is read from the fixture: with
// one digit changed where it stands, an offer or rate has another amount, an
// offer is refused, or the source reports an error.
func (s *suite) checkDigits(t *testing.T) []error {
	var errs []error
	for _, amount := range s.base.amounts() {
		seen := false
		err := s.eachPlace(t.Context(), amount, otherDigit(amount), func(got *outcome) bool {
			seen = repriced(s.base.Collector, got.Collector) || refused(s.base.Collector, got.Collector) || (got.err != nil && s.base.err == nil)
			return !seen
		})
		if err != nil {
			return append(errs, err)
		}
		if !seen {
			errs = append(errs, fmt.Errorf("amount %s: one digit changed in the fixture changes no amount", amount))
		}
	}
	return first(errs)
}

// repriced reports whether something has another amount in b than in a.
func repriced(a, b *Collector) bool {
	priced := func(c *Collector) map[string]string {
		m := make(map[string]string)
		for _, o := range c.Live() {
			m[series(&o.Key, o.Part)+o.At.String()] = fmt.Sprint(o.Price)
		}
		for _, r := range c.Rates {
			m[r.Date.String()+string(r.Base+r.Quote)] = r.Amount
		}
		return m
	}
	after := priced(b)
	for id, price := range priced(a) {
		if now, ok := after[id]; ok && now != price {
			return true
		}
	}
	return false
}

// refused reports whether an offer of a is a row without a price in b: one that
// contradicts itself.
func refused(a, b *Collector) bool {
	live := make(map[string]bool)
	for _, o := range a.Live() {
		live[series(&o.Key, o.Part)] = true
	}
	for _, o := range b.Live() {
		delete(live, series(&o.Key, o.Part))
	}
	return slices.ContainsFunc(b.Skips, func(s gputide.Skipped) bool { return s.Key != nil && live[series(s.Key, s.Part)] })
}

// otherDigit returns amount with its last digit that is not 0 changed.
func otherDigit(amount string) string {
	b := []byte(amount)
	i := bytes.LastIndexAny(b, "123456789")
	if i < 0 {
		return amount + "1"
	}
	b[i] = '1' + (b[i]-'0')%9
	return string(b)
}

// checkNoPrice proves that a row whose price is 0 becomes no price and withdraws
// nothing.
func (s *suite) checkNoPrice(t *testing.T) []error {
	ctx := t.Context()
	var errs []error
	for _, amount := range s.base.amounts() {
		err := s.eachPlace(ctx, amount, "0", func(got *outcome) bool {
			for _, o := range got.Live() {
				spec := s.spec(got.Collector, &o)
				if spec == nil || !s.norm.Accelerated(spec) {
					continue
				}
				if n, err := s.norm.Offer(&o, spec); err == nil && n.Price <= 0 {
					errs = append(errs, fmt.Errorf("amount %s set to 0 is stored as a price of %q", amount, o.Key.Canonical()))
				}
			}
			for _, r := range got.Rates {
				if v, err := gputide.ParseAmount(r.Amount); err != nil || v.Sign() <= 0 {
					errs = append(errs, fmt.Errorf("amount %s set to 0 is stored as a rate", amount))
				}
			}
			errs = append(errs, withdrawn(s.base, got)...)
			return len(errs) == 0
		})
		if err != nil {
			return append(errs, err)
		}
	}
	return first(errs)
}
