// Package query answers questions about stored offers: what they cost, how
// prices moved, what spot and commitments save, what changed, what an instance
// type is. It is pure: it reads through [Reader],
// learns meanings from [Catalogue] and [Regions], and does no other I/O.
//
// An [Engine] has one method per question. Every request holds a [Filter],
// whose values are text as a person or a URL gives them; a value that means
// nothing is [gputide.ErrInvalid] with the near ones named. Every answer holds
// rows of the output contract, whose version is [Contract]: prices are decimal
// strings, what is not known is null, order is fixed.
//
// # What offers hides
//
// Unless [OffersRequest].All is set or a filter asks for them, these are left
// out and counted in [OffersAnswer].Hidden:
//
//   - states other than priced, held, gap and stale; imported_end is shown where no
//     live crawl covers the provider. Filter state asks for others.
//   - stats bid_floor and payable. Filter stat asks for them.
//   - tier unverified. Filter tier asks for it.
//   - spot offers flagged spot_equals_on_demand or spot_above_on_demand: they
//     are no cheap spot, and a filter on market alone does not ask for them.
//     Filter flag does.
//   - offers flagged listed_not_sold or accelerator_only: nobody can buy them as
//     they stand. Filter flag asks for them. Trend, discount and compare leave
//     them out, too; they still stand as partners of a discount.
//
// # Statistics over history
//
// [Engine.Trend] and [Engine.Discount] read the past of the offers their filter
// selects at the end of the window. Every statistic has a basis, [OverTime] or
// [OverRows]. Series are read one at a time; of each only its different prices
// are kept. Percentiles, means and discounts are exact to one rounding at the
// end; volatility and the index are computed in floating point.
//
// # Where an offer is sold
//
// An offer with one price everywhere has no region; its regions are those its
// availability signals name with something in stock. A filter on region,
// country or continent selects such an offer by those signals and judges its
// availability by them alone.
//
// # Currency
//
// A price stands in the currency it was published in, beside its price in US
// dollars; offers are compared in dollars. With [OffersRequest].In the price,
// the price per accelerator and the currency of a row are those of In, the
// published text keeps its own, and offers are compared in In. Without a rate
// the converted price is null and the row flagged no_fx.
package query
