package normalize

// Reason is the code of a refusal.
type Reason string

// The reasons of a refusal.
const (
	ReasonNoPrice             Reason = "no_price"
	ReasonOverflow            Reason = "overflow"
	ReasonIncomplete          Reason = "incomplete_components"
	ReasonWrongCurrency       Reason = "wrong_currency"
	ReasonBadKey              Reason = "bad_key"
	ReasonBadText             Reason = "bad_text"
	ReasonUnknownUnit         Reason = "unknown_unit"
	ReasonUnknownBasis        Reason = "unknown_basis"
	ReasonCountUnknown        Reason = "count_unknown"
	ReasonDuplicateKey        Reason = "duplicate_key"
	ReasonPriceStep           Reason = "price_step"
)

// ReasonDoc is a reason with its meaning.
type ReasonDoc struct {
	Code       Reason
	Quarantine bool
	Meaning    string
}

// Reasons lists every reason with its meaning.
func Reasons() []ReasonDoc { return nil }

// Refusal is a row that is not an offer, with the reason.
type Refusal struct {
	Reason Reason
	Detail string
	Err    error
}

// Error returns the reason and the detail.
func (r *Refusal) Error() string { return string(r.Reason) + ": " + r.Detail }

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }
