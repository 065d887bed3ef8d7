package normalize

import "github.com/gputide/gputide"

const (
	priceDigits = 9
	nanoPerUnit = 1_000_000_000

	// plainWhole bounds the whole part that fits an int64 of nano-units.
	plainWhole = int64(gputide.MaxNano) / nanoPerUnit
)

// parsePlain reads digits[.digits] as nano-units, rounded half-even, without
// allocating: the form in which nearly every price list prints nearly every
// price. It reports false for anything it does not decide itself, zero, signs,
// exponents, errors and amounts near the limit included; the exact way then
// gives the answer.
func parsePlain(s string) (gputide.Nano, bool) {
	if len(s) > 64 {
		return 0, false
	}
	whole, i := int64(0), 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		if whole = whole*10 + int64(s[i]-'0'); whole >= plainWhole {
			return 0, false
		}
	}
	if i == 0 {
		return 0, false
	}
	n := whole * nanoPerUnit
	if i < len(s) {
		if s[i] != '.' {
			return 0, false
		}
		frac, ok := parseFraction(s[i+1:])
		if !ok {
			return 0, false
		}
		n += frac
	}
	return gputide.Nano(n), n > 0
}

// parseFraction reads the digits after a point as nano-units, rounded half-even.
func parseFraction(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	n, rest := int64(0), byte(0)
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		switch {
		case i < priceDigits:
			n = n*10 + int64(s[i]-'0')
		case i == priceDigits:
			rest = (s[i] - '0') * 2 // in halves of a nano-unit, tenths: 10 is exactly half
		case s[i] != '0':
			rest |= 1 // beyond: more than what is counted
		}
	}
	for i := len(s); i < priceDigits; i++ {
		n *= 10
	}
	if rest > 10 || (rest == 10 && n&1 == 1) {
		n++
	}
	return n, true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
