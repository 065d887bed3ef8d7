package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// timeLayouts are the forms a moment may have; without a zone it is UTC.
var timeLayouts = [...]string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

// parseTime reads the moment of a flag. Empty is the zero time.
func parseTime(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil && !t.IsZero() { // zero is no moment given
			return t.UTC().Truncate(time.Second), nil
		}
	}
	return time.Time{}, usagef("cannot read --%s %q: give a UTC time such as 2026-08-22 or 2026-08-22T14:00:00Z", flag, clip(s))
}

// maxSpan bounds a span of time: a hundred years.
const maxSpan = 100 * 365 * 24 * time.Hour

// parseSpan reads a span such as 90d, 12h, 2w, 6mo or 1y. A month is 30 days
// and a year 365.
func parseSpan(flag, s string) (time.Duration, error) {
	i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if i > 0 {
		units := map[string]time.Duration{
			"s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
			"w": 7 * 24 * time.Hour, "mo": 30 * 24 * time.Hour, "y": 365 * 24 * time.Hour,
		}
		n, err := strconv.ParseInt(s[:i], 10, 64)
		unit := units[s[i:]]
		if err == nil && unit > 0 && n > 0 && n <= int64(maxSpan/unit) {
			return time.Duration(n) * unit, nil
		}
	}
	return 0, usagef("cannot read --%s %q: give a span such as 12h, 90d, 2w, 6mo or 1y", flag, clip(s))
}

// stamp writes a moment for people and files.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// ago words an age in its largest unit, "3d".
func ago(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// clip shortens text from outside for a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// withoutHint removes the hint from the text of an error that holds it.
func withoutHint(text string, he *gputide.HintError) string {
	return strings.Replace(text, " ("+he.Hint+")", "", 1)
}
