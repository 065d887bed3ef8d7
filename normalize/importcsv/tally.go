package importcsv

import (
	"strings"

	"github.com/gputide/gputide/normalize"
)

// Reason is why a row was rejected.
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
	ReasonType     Reason = "no_instance_type"
	ReasonCurrency Reason = "bad_currency"
	ReasonValue    Reason = "bad_value"
	ReasonTwice    Reason = "twice"
	ReasonConflict Reason = "conflicting_price" // found by the store
)

// ReasonDoc is a reason with its meaning.
type ReasonDoc struct {
	Code    Reason
	Meaning string // one sentence
}

// Reasons lists every reason with its meaning, in the order of the docs.
func Reasons() []ReasonDoc {
	docs := []ReasonDoc{
		{ReasonColumns, "The row has not as many fields as the header, or a quote is not closed."},
		{ReasonTime, "The time is not RFC 3339 UTC in whole seconds (a date, for rates), or lies before 1990 or in the future."},
		{ReasonPrice, "The price is blank, zero, negative, unreadable, beyond 9.2e9 or rounds to zero."},
		{ReasonProvider, "The profile does not know the provider."},
		{ReasonMarket, "The profile does not know the market."},
		{ReasonOS, "The profile does not know the operating system."},
		{ReasonRegion, "The profile has a table for the region column and not this word."},
		{ReasonCount, "The count is no whole number and no binary fraction: a third has no exact decimal and is not guessed."},
		{ReasonType, "There is no instance type, and no label with a count to make one of."},
		{ReasonCurrency, "A currency is not three capital letters."},
		{ReasonValue, "A rate, band or percentage is out of its range, or a band and its label differ."},
		{ReasonTwice, "Another row of the file says something else of the same."},
		{ReasonConflict, "Another price or rate is stored, or stated in the file, for the same offer and moment."},
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
	Rows     int64 // rows read, rejected ones included
	Rejected map[Reason]int64
	Examples []Example // the first rejected rows
}

// RejectedRows returns the number of rejected rows.
func (t *Tally) RejectedRows() int64 {
	var n int64
	for _, v := range t.Rejected {
		n += v
	}
	return n
}

func (t *Tally) reject(line int64, reason Reason, text []byte) {
	if t.Rejected == nil {
		t.Rejected = make(map[Reason]int64)
	}
	t.Rejected[reason]++
	if len(t.Examples) >= maxExamples {
		return
	}
	const most = 200
	shown := string(text)
	if len(shown) > most {
		shown = shown[:most] + "…"
	}
	t.Examples = append(t.Examples, Example{Line: line, Reason: reason, Text: strings.ToValidUTF8(shown, "�")})
}
