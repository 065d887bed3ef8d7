// Package gputide is the vocabulary every other package speaks: what a GPU
// offer is, how its price is written, who publishes it and how one crawl is
// reported. It imports the standard library only.
//
// A price travels one way. A provider reads a source and adds [RawOffer]
// values, verbatim, to a [Batch]; normalize gives them meaning and makes
// [Offer] values; a [Run] carries those to the store; query reads them back.
//
// Three rules hold everywhere. Missing is never zero: what was not published
// is absent. Money is exact: amounts are the provider's own decimal text, and
// the derived hourly price is an int64 count of nano-units. Times are UTC.
package gputide
