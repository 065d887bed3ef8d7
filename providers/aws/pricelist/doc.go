// Package pricelist reads the AWS bulk price list of EC2 in its two forms, CSV
// and JSON, and decides of every row whether it is an offer, a row that is by
// rule none, or a row that should be one and cannot be read.
//
// Both readers stream: the CSV reader holds one buffer, the JSON reader the
// instance products of one region. They share one classifier, so that the two
// forms of a list yield the same keys and prices.
//
// Columns and attributes are found by name. A column that lists of the time did
// not have yet restricts nothing; one that a list of its version must have and
// has not is a [gputide.DriftError] naming it.
package pricelist
