package gputide

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Nano is an amount of money in nano-units (1e-9) of its currency. The zero
// value is an amount of zero; an absent price is never a Nano.
type Nano int64

// MaxNano is the largest magnitude a [Nano] may hold: 9.2e9 units.
const MaxNano Nano = 9_200_000_000 * nanoPerUnit

const (
	nanoDigits  = 9
	nanoPerUnit = 1_000_000_000
)

// maxAmountText bounds the length of an amount's text.
const maxAmountText = 64

// String returns the decimal text of n without exponent or trailing zeros.
func (n Nano) String() string {
	sign, u := "", uint64(n)
	if n < 0 {
		sign, u = "-", uint64(-n)
	}
	whole, frac := u/nanoPerUnit, u%nanoPerUnit
	if frac == 0 {
		return fmt.Sprintf("%s%d", sign, whole)
	}
	return sign + strings.TrimRight(fmt.Sprintf("%d.%0*d", whole, nanoDigits, frac), "0")
}

// Units returns n as a float of currency units, for statistics and display only.
func (n Nano) Units() float64 { return float64(n) / nanoPerUnit }

// Rat returns n as an exact rational number of currency units.
func (n Nano) Rat() *big.Rat { return big.NewRat(int64(n), nanoPerUnit) }

// ParseNano reads a plain decimal of at most nine fractional digits exactly.
// It returns [ErrInvalid] for any other form and [ErrOverflow] beyond [MaxNano].
func ParseNano(s string) (Nano, error) {
	r, err := ParseAmount(s)
	if err != nil {
		return 0, err
	}
	n, err := RoundNano(r)
	if err != nil {
		return 0, err
	}
	if n.Rat().Cmp(r) != 0 {
		return 0, fmt.Errorf("%w: amount %q has more than %d decimals", ErrInvalid, clip(s), nanoDigits)
	}
	return n, nil
}

// ParseAmount reads the text of an amount exactly: an optional sign, digits, an
// optional point with digits, an optional exponent between -30 and 30 (JSON
// writes one for small numbers). Separators of thousands, currency signs,
// blanks, NaN and infinities are refused with [ErrInvalid]; what is longer than
// 64 bytes or beyond ±1e30 is [ErrOverflow].
func ParseAmount(s string) (*big.Rat, error) {
	if len(s) > maxAmountText {
		return nil, fmt.Errorf("%w: amount %q", ErrOverflow, clip(s))
	}
	mantissa, exp, hasExp := cutExponent(s)
	if !isDecimal(mantissa) {
		return nil, fmt.Errorf("%w: amount %q", ErrInvalid, clip(s))
	}
	r, ok := new(big.Rat).SetString(mantissa)
	if !ok {
		return nil, fmt.Errorf("%w: amount %q", ErrInvalid, clip(s))
	}
	if !hasExp {
		return r, nil
	}
	e, err := parseExponent(exp)
	if err != nil {
		return nil, fmt.Errorf("%w: amount %q", err, clip(s))
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(abs(e))), nil))
	if e < 0 {
		scale.Inv(scale)
	}
	return r.Mul(r, scale), nil
}

// RoundNano rounds an exact amount half-even to nano-units. It returns
// [ErrOverflow] when the result lies beyond [MaxNano].
func RoundNano(r *big.Rat) (Nano, error) {
	v, err := RoundScaled(r, nanoDigits)
	if err != nil || v > int64(MaxNano) || v < -int64(MaxNano) {
		return 0, fmt.Errorf("%w: %s", ErrOverflow, r.FloatString(2))
	}
	return Nano(v), nil
}

// RoundScaled rounds r half-even to the given number of decimals and returns it
// scaled to an integer: RoundScaled(1.25, 1) is 12. It returns [ErrOverflow]
// when the result does not fit an int64.
func RoundScaled(r *big.Rat, decimals int) (int64, error) {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	num := new(big.Int).Mul(r.Num(), scale)
	den := r.Denom()
	q, rem := new(big.Int).QuoRem(num, den, new(big.Int))
	twice := new(big.Int).Lsh(rem.Abs(rem), 1)
	if c := twice.Cmp(den); c > 0 || (c == 0 && q.Bit(0) == 1) {
		q.Add(q, big.NewInt(int64(r.Sign())))
	}
	if !q.IsInt64() || q.Int64() == math.MinInt64 {
		return 0, fmt.Errorf("%w: %s", ErrOverflow, r.FloatString(2))
	}
	return q.Int64(), nil
}

func cutExponent(s string) (mantissa, exp string, ok bool) {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func parseExponent(s string) (int, error) {
	neg := strings.HasPrefix(s, "-")
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, ErrInvalid
	}
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > 2 {
		return 0, ErrOverflow
	}
	e := 0
	for _, c := range digits {
		e = e*10 + int(c-'0')
	}
	if e > 30 {
		return 0, ErrOverflow
	}
	if neg {
		e = -e
	}
	return e, nil
}

// isDecimal reports whether s is [+-]digits[.digits].
func isDecimal(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	whole, frac, hasPoint := strings.Cut(s, ".")
	return whole != "" && isDigits(whole) && (!hasPoint || (frac != "" && isDigits(frac)))
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func abs(i int) int { return max(i, -i) }

// clip shortens text from outside for an error message.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
