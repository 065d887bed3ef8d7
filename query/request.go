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
	At     time.Time        `json:"at"`
	In     gputide.Currency `json:"in"` // currency the rows are compared in
	Rows   []OfferRow       `json:"rows"`
	Total  int              `json:"total"`  // rows before Limit
	Hidden []Hidden         `json:"hidden"` // what the filter selected and the defaults left out
	Empty  *Empty           `json:"empty"`  // set when there is no row
}

// Hidden counts offers left out for one reason.
type Hidden struct {
	Reason string `json:"reason"` // gap, sold_out, withdrawn, bid_floor, payable, unverified, spot_equals_on_demand, …
	Count  int    `json:"count"`
	Ask    string `json:"ask"` // the filter that shows them, as in "state=gap"
}

// Empty says why an answer has no rows.
type Empty struct {
	Without []Without `json:"without"` // the filters that emptied it; nil when nothing is stored, or all is hidden
	Text    string    `json:"text"`    // one line for people
}

// Without is a filter that emptied an answer.
type Without struct {
	Filter string `json:"filter"` // as in "region=us-east-9"
	Rows   int    `json:"rows"`   // rows there would be without it; 0 when only several together emptied the answer
}

// ChangesRequest asks what changed.
type ChangesRequest struct {
	Filter   Filter
	Kinds    []string  `param:"kind"` // empty is every kind
	From, To time.Time // event time, [From, To); zero is no bound
	AfterSeq uint64    // the consumer's cursor
	Limit    int       // rows at most; 0 is all
	Newest   bool      // Limit keeps the newest rows, not those next to AfterSeq
	CountBy  string    // one of ChangeCounts; empty lists the changes
	Top      int       // the largest counts or, without CountBy, the largest moves or outliers; 0 is all
	Outliers bool      // prices a series left for and came back from, in place of changes
}

// ChangesAnswer is what changed, in order of Seq; with Top the largest moves
// first; with CountBy the counts; with Outliers those, the largest factor first.
type ChangesAnswer struct {
	Rows     []ChangeRow      `json:"rows"`
	Counts   []ChangeCountRow `json:"counts"`   // nil unless asked for
	Outliers []OutlierRow     `json:"outliers"` // nil unless asked for
	Last     uint64           `json:"last"`     // the cursor to continue with; AfterSeq when there is no row
	More     bool             `json:"more"`     // Limit left some out
	Empty    *Empty           `json:"empty"`
}

// TypesRequest asks for instance types.
type TypesRequest struct {
	Filter Filter
	At     time.Time // zero is now
	Limit  int
}

// TypesAnswer is one row per instance type, by provider, partition and type.
type TypesAnswer struct {
	At    time.Time `json:"at"`
	Rows  []TypeRow `json:"rows"`
	Total int       `json:"total"`
	Empty *Empty    `json:"empty"`
}

// SignalsRequest asks for signals.
type SignalsRequest struct {
	Filter   Filter
	Name     string    // empty is every signal
	At       time.Time // zero is now
	From, To time.Time // [From, To): values over time, in place of those at a moment; one zero is open
	CountBy  string    // "value", or empty for the signals themselves
	Limit    int
}

// SignalsAnswer is the signals by name and key, or their counts by value.
type SignalsAnswer struct {
	At     time.Time        `json:"at"`
	Rows   []SignalRow      `json:"rows"`   // nil when counted, and over a window
	Spans  []SignalSpanRow  `json:"spans"`  // nil unless asked for over a window
	Counts []SignalCountRow `json:"counts"` // by name and value; nil unless asked for
	Total  int              `json:"total"`
	Empty  *Empty           `json:"empty"`
}
