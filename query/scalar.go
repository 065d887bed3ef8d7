package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// Text is text of which the empty string is absent: it is null in JSON.
type Text string

// MarshalJSON writes a string, or null when t is empty.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return appendString(string(t))
}

// Money is an amount in the currency of its row: a decimal string without
// exponent in JSON.
type Money gputide.Nano

// String returns the decimal text.
func (m Money) String() string { return gputide.Nano(m).String() }

// MarshalJSON writes the decimal text as a string.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(`"` + m.String() + `"`), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Money) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	n, err := gputide.ParseNano(s)
	*m = Money(n)
	return err
}

// Percent is a percentage in units of 1e-4: 475100 is 47.51 %. It is a number
// of at most four decimals in JSON.
type Percent int64

const percentDecimals = 4

// NewPercent returns 100·r rounded half-even to four decimals, and nil when
// that does not fit.
func NewPercent(r *big.Rat) *Percent {
	v, err := gputide.RoundScaled(new(big.Rat).Mul(r, big.NewRat(100, 1)), percentDecimals)
	if err != nil {
		return nil
	}
	return new(Percent(v))
}

// String returns the number of percent, without a sign for percent.
func (p Percent) String() string {
	sign, u := "", uint64(p)
	if p < 0 {
		sign, u = "-", -uint64(p)
	}
	whole, frac := u/10_000, u%10_000
	if frac == 0 {
		return sign + strconv.FormatUint(whole, 10)
	}
	return sign + strings.TrimRight(fmt.Sprintf("%d.%04d", whole, frac), "0")
}

// MarshalJSON writes a number.
func (p Percent) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Percent) UnmarshalJSON(b []byte) error {
	r, err := gputide.ParseAmount(string(b))
	if err != nil {
		return err
	}
	v, err := gputide.RoundScaled(r, percentDecimals)
	*p = Percent(v)
	return err
}

// Stamp is a moment in UTC and whole seconds: RFC 3339 with Z in JSON, null when
// zero.
type Stamp struct{ time.Time }

// MarshalJSON writes the moment, or null.
func (s Stamp) MarshalJSON() ([]byte, error) { return appendTime(s.Time, time.RFC3339) }

// Day is a date in UTC: YYYY-MM-DD in JSON, null when zero.
type Day struct{ time.Time }

// MarshalJSON writes the date, or null.
func (d Day) MarshalJSON() ([]byte, error) { return appendTime(d.Time, time.DateOnly) }

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Day) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		d.Time = time.Time{}
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	var err error
	d.Time, err = time.Parse(time.DateOnly, s)
	return err
}

func appendTime(t time.Time, layout string) ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Truncate(time.Second).Format(layout) + `"`), nil
}

// appendString writes a JSON string and leaves <, > and & as they are: "<5%" is
// data, not markup.
func appendString(s string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
