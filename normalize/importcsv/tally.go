package importcsv

import (
	"slices"

	"github.com/gputide/gputide/normalize"
)

// Reason is why a row was rejected or left out.
type Reason string

// The reasons of a rejected row, beside those of package normalize.
const (
	ReasonColumns  Reason = "bad_columns"
	ReasonTime     Reason = "bad_time"
	ReasonPrice    Reason = "bad_price"
	ReasonProvider Reason = "unknown_provider"
	ReasonMarket   Reason = "unknown_market"
	ReasonOS       Reason = "unknown_os"
	ReasonRegion   Reason = "unknown_region"
	ReasonCount    Reason = "bad_count"
	ReasonSpec     Reason = "bad_spec"
	ReasonType     Reason = "no_instance_type"
	ReasonCurrency Reason = "bad_currency"
	ReasonValue    Reason = "bad_value"
	ReasonID       Reason = "bad_offer_id"
	ReasonTwice    Reason = "twice"
	ReasonConflict Reason = "conflicting_price" // found by the store
)

// The reasons of a row that is left out by rule: it is well formed and its
// profile has no place for it. Such a row keeps nothing from being withdrawn.
const (
	LeftAnyTier    Reason = "any_tier"
	LeftProvider   Reason = "other_provider"
	LeftParts      Reason = "parts_apart"
	LeftTier       Reason = "tier_not_said"
	LeftCopied     Reason = "copied_price"
	LeftAggregated Reason = "aggregated"
	LeftNoGPU      Reason = "no_accelerator"
)

// ReasonDoc is a reason with its meaning.
type ReasonDoc struct {
	Code    Reason
	Meaning string // one sentence
}

// Reasons lists every reason of a rejected row with its meaning, in the order of
// the docs.
func Reasons() []ReasonDoc {
	docs := []ReasonDoc{
		{ReasonColumns, "The row has not as many fields as the header, a quote is not closed, or a JSON element is none of the form."},
		{ReasonTime, "The time is not RFC 3339 UTC in whole seconds (a date, for rates), or lies before 1990 or in the future."},
		{ReasonPrice, "The price is blank, zero, negative, unreadable, beyond 9.2e9 or rounds to zero."},
		{ReasonProvider, "The profile does not know the provider."},
		{ReasonMarket, "The profile does not know the market."},
		{ReasonOS, "The profile does not know the operating system."},
		{ReasonRegion, "The profile has a table for the region column and not this word, or a zone lies in no region."},
		{ReasonCount, "The count is no whole number and no binary fraction: a third has no exact decimal and is not guessed."},
		{ReasonSpec, "A figure of the machine (vcpu, memory_gib) is no positive number."},
		{ReasonType, "There is no instance type, and no label with a count to make one of."},
		{ReasonCurrency, "A currency is not three capital letters."},
		{ReasonValue, "A rate, band, percentage or result is out of its range, or a band and its label differ."},
		{ReasonID, "The offer id of an exported row is not that of its key, or its price is not that of its published amounts."},
		{ReasonTwice, "Another row of the file says something else of the same."},
		{ReasonConflict, "Another price, rate or result is stored, or stated in the file, for the same offer and moment."},
	}
	for _, code := range [...]normalize.Reason{normalize.ReasonBadKey, normalize.ReasonBadText} {
		for _, d := range normalize.Reasons() {
			if d.Code == code {
				docs = append(docs, ReasonDoc{Reason(code), d.Meaning})
			}
		}
	}
	return docs
}

// LeftOut lists every reason of a row left out by rule with its meaning.
func LeftOut() []ReasonDoc {
	return []ReasonDoc{
		{LeftAnyTier, "RunPod's cheapest price over both clouds: it restates a row that names its cloud."},
		{LeftProvider, "The catalogue of a provider that the profile does not read."},
		{LeftParts, "The catalogue prices machine and card apart; neither is what an instance costs."},
		{LeftTier, "The row does not say which service class its price is of, and the classes differ in price."},
		{LeftCopied, "The catalogue writes the on-demand price into the spot column."},
		{LeftAggregated, "One price stands for many listings, and the row does not say which."},
		{LeftNoGPU, "The row is of a machine without an accelerator, or of one with an FPGA."},
	}
}

func isLeftOut(reason Reason) bool {
	return slices.ContainsFunc(LeftOut(), func(d ReasonDoc) bool { return d.Code == reason })
}

// maxExamples bounds the rejected rows that are kept to be shown.
const maxExamples = 5

// Example is a rejected row.
type Example struct {
	Line   int64
	Reason Reason
	Text   string // the row, shortened
}

// Tally counts the rows of a file.
type Tally struct {
	Rows     int64 // rows read, rejected and left out ones included
	Rejected map[Reason]int64
	Left     map[Reason]int64 // left out by rule
	Examples []Example        // the first rejected rows
}

// RejectedRows returns the number of rejected rows.
func (t *Tally) RejectedRows() int64 { return sum(t.Rejected) }

// LeftRows returns the number of rows left out by rule.
func (t *Tally) LeftRows() int64 { return sum(t.Left) }

func sum(counts map[Reason]int64) int64 {
	var n int64
	for _, v := range counts {
		n += v
	}
	return n
}

// note counts a row that is no offer.
func (t *Tally) note(line int64, reason Reason, text []byte) {
	if isLeftOut(reason) {
		if t.Left == nil {
			t.Left = make(map[Reason]int64)
		}
		t.Left[reason]++
		return
	}
	if t.Rejected == nil {
		t.Rejected = make(map[Reason]int64)
	}
	t.Rejected[reason]++
	if len(t.Examples) < maxExamples {
		t.Examples = append(t.Examples, Example{Line: line, Reason: reason, Text: clipText(string(text))})
	}
}
