package tencent

import (
	"cmp"

	"github.com/gputide/gputide"
)

// pair is an amount of the list and what is paid of it.
type pair struct{ list, paid number }

// offered reports whether one of the two is a price: both 0 say that there is
// none.
func (p pair) offered() bool { return positive(p.list) || positive(p.paid) }

// told reports whether both are there.
func (p pair) told() bool { return p.list != "" && p.paid != "" }

// volumes are the steps of hourly prices, by the hours an instance runs.
func volumes() [3]string { return [3]string{"h<=96", "h<=360", "h>360"} }

func (p *price) hours() [3]pair {
	return [3]pair{
		{p.UnitPrice, p.UnitPriceDiscount},
		{p.UnitPriceSecondStep, p.UnitPriceDiscountSecondStep},
		{p.UnitPriceThirdStep, p.UnitPriceDiscountThirdStep},
	}
}

// total is the price of a term.
type total struct {
	term gputide.Term
	pair
}

func (p *price) totals() [4]total {
	return [4]total{
		{"1mo", pair{p.OriginalPrice, p.DiscountPrice}},
		{"1y", pair{p.OriginalPriceOneYear, p.DiscountPriceOneYear}},
		{"3y", pair{cmp.Or(p.OriginalPriceThreeYear, p.OriginalPriceThreeYears), cmp.Or(p.DiscountPriceThreeYear, p.DiscountPriceThreeYears)}},
		{"5y", pair{cmp.Or(p.OriginalPriceFiveYear, p.OriginalPriceFiveYears), cmp.Or(p.DiscountPriceFiveYear, p.DiscountPriceFiveYears)}},
	}
}

// priced is what all offers of a row share.
type priced struct {
	b      *gputide.Batch
	source string
	part   string
	spec   *gputide.Spec
}

// add adds the two offers of a pair. Where one of the two is no price the other
// does not stand in for it.
func (o *priced) add(key gputide.Key, unit gputide.Unit, p pair) {
	for _, side := range [2]struct {
		stat   gputide.Stat
		amount number
	}{{gputide.StatList, p.list}, {gputide.StatPayable, p.paid}} {
		key.Stat = side.stat
		o.one(key, unit, side.amount)
	}
}

// one adds one offer.
func (o *priced) one(key gputide.Key, unit gputide.Unit, amount number) {
	if !positive(amount) {
		o.b.SkipPart(o.source, key, o.part, "no_price", string(amount))
		return
	}
	row := gputide.RawOffer{
		Source: o.source, Key: key, Part: o.part, Spec: o.spec,
		Price: gputide.Published{Amount: string(amount), Unit: unit, Basis: gputide.BasisInstance},
	}
	if d := &o.spec.Device; d.Known() && !d.Count.Known() {
		row.Flags = []gputide.Flag{gputide.FlagSpecUnknown}
	}
	o.b.Add(row)
}

// hourly adds the prices by the hour. Steps of 0 say that the first price holds
// throughout; an hourly row without the first has no price.
func (o *priced) hourly(key gputide.Key, p *price) {
	steps := p.hours()
	if !steps[1].offered() && !steps[2].offered() {
		o.add(key, gputide.PerHour, steps[0])
		return
	}
	for i, volume := range volumes() {
		key.Volume = volume
		o.add(key, gputide.PerHour, steps[i])
	}
}

// spot adds the price of a spot row: what is paid. Beside it stands the list
// price of on-demand.
func (o *priced) spot(key gputide.Key, p *price) {
	key.Stat = gputide.StatList
	o.one(key, gputide.PerHour, p.UnitPriceDiscount)
}

// terms adds the prices of whole periods and returns how many are not offered.
func (o *priced) terms(key gputide.Key, p *price) (notOffered int64) {
	for _, t := range p.totals() {
		key.Term = t.term
		if !t.offered() && t.told() {
			notOffered++
			continue
		}
		o.add(key, gputide.PerTerm, t.pair)
	}
	return notOffered
}
