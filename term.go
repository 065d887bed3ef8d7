package gputide

import (
	"fmt"
	"strconv"
	"strings"
)

// Term is the length of a commitment, subscription or dated block: a whole
// number and one of h, d, w, mo, y, for example "1y". Empty means none.
type Term string

// Hours of one unit of a term: a year is 8,760 h and a month 730 h.
const (
	HoursPerYear  = 8760
	HoursPerMonth = 730
	hoursPerWeek  = 168
	hoursPerDay   = 24
)

// NewTerm returns the term of n units. unit is h, d, w, mo or y.
func NewTerm(n int, unit string) Term { return Term(strconv.Itoa(n) + unit) }

// Hours returns the length of t. It returns [ErrInvalid] for a malformed or
// empty term.
func (t Term) Hours() (int64, error) {
	s := string(t)
	i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if i <= 0 {
		return 0, fmt.Errorf("%w: term %q", ErrInvalid, clip(s))
	}
	n, err := strconv.ParseInt(s[:i], 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w: term %q", ErrInvalid, clip(s))
	}
	unit := map[string]int64{"h": 1, "d": hoursPerDay, "w": hoursPerWeek, "mo": HoursPerMonth, "y": HoursPerYear}[s[i:]]
	if unit == 0 {
		return 0, fmt.Errorf("%w: term %q", ErrInvalid, clip(s))
	}
	return n * unit, nil
}
