package alibaba

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/gputide/gputide"
)

// partQuote is the part of the offers that no price list has.
const partQuote = "quote"

// period is what DescribePrice is asked for.
type period struct {
	unit string
	n    int
}

func periods() []period {
	return []period{{"Hour", 1}, {"Month", 1}, {"Year", 1}, {"Year", 2}, {"Year", 3}, {"Year", 4}, {"Year", 5}}
}

// key returns the market, the term and the unit of a period.
func (p period) key() (gputide.Market, gputide.Term, gputide.Unit) {
	switch p.unit {
	case "Month":
		return gputide.Subscription, gputide.NewTerm(p.n, "mo"), gputide.PerTerm
	case "Year":
		return gputide.Subscription, gputide.NewTerm(p.n, "y"), gputide.PerTerm
	}
	return gputide.OnDemand, "", gputide.PerHour
}

// amounts is a price before and after discount.
type amounts struct {
	Original json.RawMessage `json:"OriginalPrice"` // the list price
	Trade    json.RawMessage `json:"TradePrice"`    // what the account pays; DiscountPrice is what is taken off
}

// quoteAnswer is the answer of DescribePrice.
type quoteAnswer struct {
	PriceInfo *struct {
		Price *struct {
			amounts
			Currency    string
			DetailInfos struct {
				DetailInfo []struct {
					amounts
					Resource string
				}
			}
		}
		Rules struct {
			Rule []struct {
				ID json.RawMessage `json:"RuleId"` // a number or a text
			}
		}
	}
}

// instance returns the price of the instance: without its system disk, where the
// answer tells them apart.
func (q *quoteAnswer) instance() (amounts, bool) {
	details := q.PriceInfo.Price.DetailInfos.DetailInfo
	for _, d := range details {
		if d.Resource == "instanceType" {
			return d.amounts, true
		}
	}
	return q.PriceInfo.Price.amounts, len(details) == 0
}

// quotes asks for the prices of the types of a region that the price list of the
// account's site lacks. Where ECS gives none, the on-demand prices beside spot
// prices stand in.
func (r *run) quotes(ctx context.Context, region string, types []string, seen *spotFacts) {
	q := quoter{run: r, region: region, facts: seen}
	err := q.all(ctx, types)
	if context.Cause(ctx) != nil || errors.Is(err, errListUnread) {
		return
	}
	scopes := q.scopes()
	if err == nil {
		for _, s := range scopes {
			r.b.Done(sourcePrice, s, q.urls...)
		}
	}
	r.report(ctx, sourcePrice, err, scopes...)
	if err != nil && seen.site != nil {
		r.origins(region, types, seen, scopes[0])
	}
}

// origins adds the on-demand prices that stand beside spot prices.
func (r *run) origins(region string, types []string, seen *spotFacts, scope gputide.Scope) {
	added := 0
	for name, o := range seen.origin {
		if listed, known := r.lacks(seen.site, region, name); listed || !known {
			continue
		}
		added++
		r.b.Add(gputide.RawOffer{
			Source: sourceSpot, Part: partQuote, Spec: r.spec(seen.site.partition, name),
			Key: gputide.Key{
				Partition: seen.site.partition, Region: region, InstanceType: name, Market: gputide.OnDemand, OS: "linux",
				Stat: gputide.StatList, Currency: seen.site.currency,
			},
			Price: gputide.Published{Amount: o.amount, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		})
	}
	if added > 0 {
		r.b.Done(sourceSpot, scope, seen.url)
	}
}

// lacks reports whether the list of a site prices a type in a region; known is
// false when the list could not be read.
func (r *run) lacks(s *site, region, name string) (listed, known bool) {
	l, ok := r.lists[s.partition]
	if ok && l == nil {
		return false, false
	}
	return ok && (*l)[regional{region, name}], true
}

var errListUnread = errors.New("the price list was not read")

// quoter asks for the prices of one region.
type quoter struct {
	*run
	region  string
	facts   *spotFacts
	urls    []string // the last one asked
	refused error
	priced  int
}

func (q *quoter) scopes() []gputide.Scope {
	var out []gputide.Scope
	for _, m := range listMarkets() {
		out = append(out, gputide.Scope{Partition: q.facts.partition(), Region: q.region, Market: m, Part: partQuote})
	}
	return out
}

func (q *quoter) all(ctx context.Context, types []string) error {
	for _, name := range types {
		for _, p := range periods() {
			if q.facts.site != nil {
				listed, known := q.lacks(q.facts.site, q.region, name)
				if !known {
					return errListUnread
				}
				if listed {
					q.b.Omit(sourcePrice, "in_the_list", 1)
					break
				}
			}
			if err := q.ask(ctx, name, p); err != nil {
				return err
			}
		}
	}
	if q.priced == 0 && q.refused != nil {
		return q.refused
	}
	if len(types) == 0 {
		q.b.Omit(sourcePrice, "region_without_types", 1)
	}
	return nil
}

// ask adds the price of a type for one period. That ECS does not sell it so, or
// does not understand the request, concerns no other.
func (q *quoter) ask(ctx context.Context, name string, p period) error {
	var answer quoteAnswer
	url, err := q.run.ask(ctx, sourcePrice, q.region, "DescribePrice", map[string]string{
		"RegionId": q.region, "ResourceType": "instance", "InstanceType": name, "PriceUnit": p.unit, "Period": strconv.Itoa(p.n),
		"SystemDisk.Category": "cloud_essd", "SystemDisk.Size": "40",
	}, &answer)
	q.urls = []string{url}
	market, term, unit := p.key()
	switch {
	case notSold(err):
		q.b.Omit(sourcePrice, "not_offered", 1)
		return nil
	case err != nil && errors.Is(err, gputide.ErrInvalid):
		q.refused = err
		scope := gputide.Scope{Partition: q.facts.partition(), Region: q.region, Market: market, Part: partQuote}
		q.b.SkipUnknown(sourcePrice, scope, "refused", fmt.Sprintf("%s %s: %v", name, term, err))
		return nil
	case err != nil:
		return err
	case answer.PriceInfo == nil || answer.PriceInfo.Price == nil:
		return drift(sourcePrice, "$.PriceInfo.Price", "an object", "none")
	case answer.PriceInfo.Price.Original == nil || answer.PriceInfo.Price.Trade == nil:
		return drift(sourcePrice, "$.PriceInfo.Price", "OriginalPrice and TradePrice", "one of them at most")
	}
	if err := q.facts.settle(sourcePrice, answer.PriceInfo.Price.Currency); err != nil {
		return err
	}
	q.add(&answer, gputide.Key{
		Partition: q.facts.site.partition, Region: q.region, InstanceType: name, Market: market, Term: term, OS: "linux",
		Stat: gputide.StatList, Currency: q.facts.site.currency,
	}, unit)
	return nil
}

// add adds the list price and what the account would pay.
func (q *quoter) add(answer *quoteAnswer, key gputide.Key, unit gputide.Unit) {
	listed, known := q.lacks(q.facts.site, q.region, key.InstanceType)
	if listed || !known {
		q.b.Omit(sourcePrice, "in_the_list", 1)
		return
	}
	price, alone := answer.instance()
	sku := ""
	if rules := answer.PriceInfo.Rules.Rule; len(rules) == 1 {
		sku = newValue(rules[0].ID).text
	}
	for _, s := range []struct {
		stat   gputide.Stat
		amount json.RawMessage
		sku    string
	}{{gputide.StatList, price.Original, ""}, {gputide.StatPayable, price.Trade, sku}} {
		key.Stat = s.stat
		amount := newValue(s.amount).text
		if !alone || !isPrice(amount) {
			q.b.SkipPart(sourcePrice, key, partQuote, "no_price", string(s.amount))
			continue
		}
		q.priced++
		q.b.Add(gputide.RawOffer{
			Source: sourcePrice, Key: key, Part: partQuote, SKU: s.sku, Spec: q.spec(key.Partition, key.InstanceType),
			Price: gputide.Published{Amount: amount, Unit: unit, Basis: gputide.BasisInstance},
		})
	}
}
