package normalize

import "slices"

// Reason is the code of a refusal. The list is closed; see [Reasons].
type Reason string

// The reasons of a refusal. The last three are found by the crawler, which sees
// more than one row; they live here so that the list is one.
const (
	ReasonNoPrice       Reason = "no_price"
	ReasonOverflow      Reason = "overflow"
	ReasonIncomplete    Reason = "incomplete_components"
	ReasonAmbiguous     Reason = "ambiguous_price"
	ReasonUnknownUnit   Reason = "unknown_unit"
	ReasonUnknownBasis  Reason = "unknown_basis"
	ReasonCountUnknown  Reason = "count_unknown"
	ReasonBadKey        Reason = "bad_key"
	ReasonBadText       Reason = "bad_text"
	ReasonWrongCurrency Reason = "wrong_currency"
	ReasonDuplicateKey  Reason = "duplicate_key"
	ReasonPriceStep     Reason = "price_step"
)

// ReasonDoc is a reason with its meaning.
type ReasonDoc struct {
	Code    Reason
	Meaning string // one sentence: why the row was refused and what to look at
}

// Reasons lists every reason with its meaning, in the order of the docs.
func Reasons() []ReasonDoc {
	return []ReasonDoc{
		{ReasonNoPrice, "The amount is blank, zero, negative or unreadable, or rounds to zero: there is no price in the row."},
		{ReasonOverflow, "The amount or the derived hourly price lies beyond 9.2e9 units of its currency."},
		{ReasonIncomplete, "The price is a sum and a part has no amount or no quantity; a smaller sum is never stored."},
		{ReasonAmbiguous, "The row states one amount and a sum of components; only one of them can be the price."},
		{ReasonUnknownUnit, "The time an amount pays for is not h, s, min, d, w, mo, y or term."},
		{ReasonUnknownBasis, "The thing an amount pays for is not instance, accelerator or vcpu."},
		{ReasonCountUnknown, "The price is per accelerator or vCPU and how many one instance has is not known."},
		{ReasonBadKey, "A key field is missing or outside its defined values, or an upfront fee has no term."},
		{ReasonBadText, "A text field holds control characters or invalid UTF-8, or is longer than 256 bytes."},
		{ReasonWrongCurrency, "The row is in a currency other than the one its source was asked for."},
		{ReasonDuplicateKey, "The source lists the same key with two different prices; both rows are refused."},
		{ReasonPriceStep, "A list price moved by exactly the accelerator count, or by a factor of 100, since the last run; it is accepted when the next run agrees."},
	}
}

// Known reports whether r is one of [Reasons].
func (r Reason) Known() bool {
	return slices.ContainsFunc(Reasons(), func(d ReasonDoc) bool { return d.Code == r })
}

// Refusal is a row that is no offer, with the reason. It unwraps to the error
// behind it: a sentinel of the root package.
type Refusal struct {
	Reason Reason
	Detail string // for people; holds no secrets
	Err    error  // may be nil
}

// Error returns the reason and the detail.
func (r *Refusal) Error() string {
	if r.Detail == "" {
		return string(r.Reason)
	}
	return string(r.Reason) + ": " + r.Detail
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }
