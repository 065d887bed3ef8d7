package query

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// ParseTime reads a moment: RFC 3339, a UTC date (its first second), or a UTC
// date and time without zone. It returns [gputide.ErrInvalid] for other text.
func ParseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil && inRange(t) {
			return t.UTC().Truncate(time.Second), nil
		}
	}
	return time.Time{}, &gputide.HintError{
		Err:  fmt.Errorf("%w: time %q", gputide.ErrInvalid, clip(s)),
		Hint: "write it as 2026-09-30 or 2026-09-30T12:00:00Z",
	}
}

// inRange bounds moments to what the store can hold: whole seconds in 32 bits.
func inRange(t time.Time) bool { return t.Unix() >= 0 && t.Unix() <= 1<<32-1 }

// ParseSince reads a span before now ("90d", "12h", "2w", "6mo", "1y"; months
// and years by the calendar) or a moment as [ParseTime] does, and returns the
// moment. It returns [gputide.ErrInvalid] for other text.
func ParseSince(s string, now time.Time) (time.Time, error) {
	i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if i <= 0 || strings.ContainsAny(s, "-:") {
		return parseSinceTime(s)
	}
	const mostUnits = 100_000
	n, err := strconv.Atoi(s[:i])
	if err != nil || n > mostUnits {
		return parseSinceTime(s)
	}
	t, ok := before(now.UTC().Truncate(time.Second), n, s[i:])
	if !ok {
		return parseSinceTime(s)
	}
	if !inRange(t) {
		return time.Unix(0, 0).UTC(), nil
	}
	return t, nil
}

// before returns the moment n units before now; false for an unknown unit.
func before(now time.Time, n int, unit string) (time.Time, bool) {
	switch unit {
	case "m", "min":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d":
		return now.AddDate(0, 0, -n), true
	case "w":
		return now.AddDate(0, 0, -7*n), true
	case "mo":
		return now.AddDate(0, -n, 0), true
	case "y":
		return now.AddDate(-n, 0, 0), true
	}
	return now, false
}

func parseSinceTime(s string) (time.Time, error) {
	t, err := ParseTime(s)
	if err != nil {
		return t, &gputide.HintError{
			Err:  fmt.Errorf("%w: span or time %q", gputide.ErrInvalid, clip(s)),
			Hint: "write it as 90d, 12h, 2w, 6mo, 1y or 2026-09-30",
		}
	}
	return t, nil
}

// ParseSize reads an amount of memory and returns it in GB as vendors print it:
// GB and GiB are read alike, since labels do not tell them apart; a TB is 1,000
// and a TiB 1,024 of them, a plain number is GB. It may be written as a least
// one, as in 显存≥80G. It returns
// [gputide.ErrInvalid] for other text and for zero.
func ParseSize(s string) (float64, error) {
	bad := &gputide.HintError{
		Err:  fmt.Errorf("%w: size %q", gputide.ErrInvalid, clip(s)),
		Hint: "write it as 80GB",
	}
	text := strings.ToLower(bareSize(s))
	i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i < 0 {
		i = len(text)
	}
	scale, ok := map[string]float64{
		"": 1, "g": 1, "gb": 1, "gib": 1, "t": 1000, "tb": 1000, "tib": 1024, "m": 1.0 / 1000, "mb": 1.0 / 1000, "mib": 1.0 / 1024,
	}[strings.TrimSpace(text[i:])]
	r, err := gputide.ParseAmount(text[:i])
	if !ok || err != nil || r.Sign() <= 0 {
		return 0, bad
	}
	v, _ := r.Float64()
	return v * scale, nil
}

// budget is the highest price a filter allows.
type budget struct {
	most *big.Rat
	each bool // per accelerator, not per instance
}

// parseBudget reads "2.5" or "2.5/gpu".
func parseBudget(s string) (*budget, error) {
	amount, per, _ := strings.Cut(s, "/")
	r, err := gputide.ParseAmount(strings.TrimSpace(amount))
	if err != nil || r.Sign() <= 0 || (per != "" && per != "gpu" && per != "instance") || strings.HasSuffix(s, "/") {
		return nil, &gputide.HintError{
			Err:  fmt.Errorf("%w: max-price %q", gputide.ErrInvalid, clip(s)),
			Hint: "write it as 2.5 for an instance-hour or 2.5/gpu for an accelerator-hour",
		}
	}
	return &budget{most: r, each: per == "gpu"}, nil
}

// parseCurrency reads an ISO 4217 code in either case.
func parseCurrency(field, s string) (gputide.Currency, error) {
	c := gputide.Currency(strings.ToUpper(strings.TrimSpace(s)))
	if !c.Valid() {
		return "", &gputide.HintError{
			Err:  fmt.Errorf("%w: %s %q", gputide.ErrInvalid, field, clip(s)),
			Hint: "write a three-letter code, as in USD",
		}
	}
	if c == "RMB" || c == "CNH" {
		return "", &gputide.HintError{Err: fmt.Errorf("%w: %s %q is no ISO 4217 code", gputide.ErrInvalid, field, c), Hint: "did you mean CNY?"}
	}
	return c, nil
}
