package query

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// Fraction is a number in units of 1e-6: 500000 is 0.5. It is a number of at
// most six decimals in JSON.
type Fraction int64

const fractionDecimals = 6

// NewFraction returns r rounded half-even to six decimals, and nil when that
// does not fit.
func NewFraction(r *big.Rat) *Fraction {
	v, err := gputide.RoundScaled(r, fractionDecimals)
	if err != nil {
		return nil
	}
	return new(Fraction(v))
}

// fractionOf rounds a statistic that has no exact value; nil when it is no
// number or does not fit.
func fractionOf(f float64) *Fraction {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return NewFraction(new(big.Rat).SetFloat64(f))
}

// share returns part of whole, nil of nothing.
func share(part, whole uint64) *Fraction {
	if whole == 0 {
		return nil
	}
	return NewFraction(new(big.Rat).SetFrac(new(big.Int).SetUint64(part), new(big.Int).SetUint64(whole)))
}

// Float returns the number, for display.
func (f Fraction) Float() float64 { return float64(f) / 1e6 }

// String returns the number without exponent or trailing zeros.
func (f Fraction) String() string {
	s := new(big.Rat).SetFrac64(int64(f), 1e6).FloatString(fractionDecimals)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// MarshalJSON writes a number.
func (f Fraction) MarshalJSON() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Fraction) UnmarshalJSON(b []byte) error {
	r, err := gputide.ParseAmount(string(b))
	if err != nil {
		return err
	}
	v, err := gputide.RoundScaled(r, fractionDecimals)
	*f = Fraction(v)
	return err
}

// decimalOf returns a catalogue figure as the decimal it is printed as, not as
// the binary fraction nearest to it; nil when it is not above zero.
func decimalOf(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'f', -1, 64))
	if !ok || r.Sign() <= 0 {
		return nil
	}
	return r
}
