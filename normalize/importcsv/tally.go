package importcsv

import "strings"

// Reason is why a row was rejected.
type Reason string

// The reasons of a rejected row, beside those of package normalize.
const (
	ReasonColumns  Reason = "bad_columns"       // not as many fields as the header
	ReasonTime     Reason = "bad_time"          // not RFC 3339 UTC in whole seconds, before 1990 or in the future
	ReasonPrice    Reason = "bad_price"         // blank, zero, negative, unreadable or more than nine decimals
	ReasonProvider Reason = "unknown_provider"  // the profile does not know the provider
	ReasonMarket   Reason = "unknown_market"    // the profile does not know the market
	ReasonOS       Reason = "unknown_os"        // the profile does not know the operating system
	ReasonRegion   Reason = "unknown_region"    // the profile has a table of regions and not this one
	ReasonCount    Reason = "bad_count"         // no whole number and no binary fraction
	ReasonType     Reason = "no_instance_type"  // neither a type nor a label with its count
	ReasonCurrency Reason = "bad_currency"      // not three capital letters
	ReasonValue    Reason = "bad_value"         // a rate, band or percentage outside its range
	ReasonTwice    Reason = "twice"             // two rows state one thing differently
	ReasonConflict Reason = "conflicting_price" // another price is stored, or stated in the file, for the offer and moment
)

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
