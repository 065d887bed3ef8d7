package query

import (
	"time"

	"github.com/gputide/gputide"
)

// OffersRequest asks what is on offer.
type OffersRequest struct {
	Filter Filter
	At     time.Time // zero is now
	In     string    // currency to convert prices to; empty leaves them as published
	FXNow  bool      // convert with today's rate, not that of At
	Sort   []string  // fields of SortFields, "-" before one reverses it; empty is price_per_accelerator
	Limit  int       // rows at most; 0 is all
	All    bool      // hide nothing
}

// OffersAnswer is what is on offer.
type OffersAnswer struct {
	At     time.Time
	In     gputide.Currency // currency the rows are compared in
	Rows   []OfferRow
	Total  int      // rows before Limit
	Hidden []Hidden // what the filter selected and the defaults left out
	Empty  *Empty   // set when there is no row
}

// Hidden counts offers left out for one reason.
type Hidden struct {
	Reason string // gap, sold_out, withdrawn, bid_floor, payable, unverified, spot_equals_on_demand, …
	Count  int
	Ask    string // the filter that shows them, as in "state=gap"
}

// Empty says why an answer has no rows.
type Empty struct {
	Without []Without // the filters that emptied it; nil when nothing is stored, or all is hidden
	Text    string    // one line for people
}

// Without is a filter that emptied an answer.
type Without struct {
	Filter string // as in "region=us-east-9"
	Rows   int    // rows there would be without it; 0 when only several together emptied the answer
}

// ChangesRequest asks what changed.
type ChangesRequest struct {
	Filter   Filter
	Kinds    []string  // empty is every kind
	From, To time.Time // event time, [From, To); zero is no bound
	AfterSeq uint64    // the consumer's cursor
	Limit    int       // rows at most; 0 is all
	Newest   bool      // Limit keeps the newest rows, not those next to AfterSeq
}

// ChangesAnswer is what changed, in order of Seq.
type ChangesAnswer struct {
	Rows  []ChangeRow
	Last  uint64 // the cursor to continue with; AfterSeq when there is no row
	More  bool   // Limit left some out
	Empty *Empty
}

// TypesRequest asks for instance types.
type TypesRequest struct {
	Filter Filter
	At     time.Time // zero is now
	Limit  int
}

// TypesAnswer is one row per instance type, by provider, partition and type.
type TypesAnswer struct {
	At    time.Time
	Rows  []TypeRow
	Total int
	Empty *Empty
}

// SignalsRequest asks for signals.
type SignalsRequest struct {
	Filter  Filter
	Name    string    // empty is every signal
	At      time.Time // zero is now
	CountBy string    // "value", or empty for the signals themselves
	Limit   int
}

// SignalsAnswer is the signals by name and key, or their counts by value.
type SignalsAnswer struct {
	At     time.Time
	Rows   []SignalRow      // nil when counted
	Counts []SignalCountRow // by name and value; nil unless asked for
	Total  int
	Empty  *Empty
}
