package main

import (
	"errors"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	tests := map[string]string{
		"2026-08-22":                "2026-08-22T00:00:00Z",
		"2026-08-22T14:30:00Z":      "2026-08-22T14:30:00Z",
		"2026-08-22T14:30:00+08:00": "2026-08-22T06:30:00Z",
		"2026-08-22 14:30":          "2026-08-22T14:30:00Z",
		"2026-08-22T14:30:59.999Z":  "2026-08-22T14:30:59Z",
		"":                          "",
	}
	for in, want := range tests {
		if got, err := parseTime("at", in); err != nil || stamp(got) != want {
			t.Errorf("%q = %q, %v; want %q", in, stamp(got), err, want)
		}
	}
	for _, in := range []string{"yesterday", "2026-13-01", "22.08.2026", "1e9", "0001-01-01"} {
		if _, err := parseTime("at", in); !isUsage(err) {
			t.Errorf("%q: %v is no usage error", in, err)
		}
	}
}

func TestParseSpan(t *testing.T) {
	const day = 24 * time.Hour
	tests := map[string]time.Duration{"90d": 90 * day, "12h": 12 * time.Hour, "2w": 14 * day, "6mo": 180 * day, "1y": 365 * day, "30m": 30 * time.Minute, "5s": 5 * time.Second}
	for in, want := range tests {
		if got, err := parseSpan("since", in); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "d", "0d", "-1d", "1.5d", "90", "90 d", "9999999999999999999d", "101y"} {
		if got, err := parseSpan("since", in); !isUsage(err) {
			t.Errorf("%q = %v, %v is no usage error", in, got, err)
		}
	}
}

func TestAgo(t *testing.T) {
	tests := map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59 * time.Minute: "59m", time.Hour: "1h", 47 * time.Hour: "47h", 48 * time.Hour: "2d",
	}
	for in, want := range tests {
		if got := ago(in); got != want {
			t.Errorf("%v = %q, want %q", in, got, want)
		}
	}
}

func isUsage(err error) bool {
	var u *usageError
	return errors.As(err, &u)
}
