package crawler

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/gputide/gputide"
)

// Bounds of a timetable.
const (
	leastEvery = time.Second
	mostEvery  = 366 * 24 * time.Hour
)

// Timetable says when a provider is crawled. All of it is UTC.
type Timetable struct {
	text     string
	schedule cron.Schedule
	cadence  time.Duration
}

// Every returns the timetable that crawls once in every d, counted from the last
// crawl, in whole seconds. It returns [gputide.ErrInvalid] for less than a
// second and more than a year.
func Every(d time.Duration) (Timetable, error) {
	if d < leastEvery || d > mostEvery {
		return Timetable{}, fmt.Errorf("%w: every %s: it must lie between %s and %s", gputide.ErrInvalid, d, leastEvery, mostEvery)
	}
	s := cron.Every(d)
	text := strings.Replace(s.Delay.String(), "m0s", "m", 1)
	return Timetable{text: "every " + strings.Replace(text, "h0m", "h", 1), schedule: s, cadence: s.Delay}, nil
}

// Cron returns the timetable of a cron expression: minute, hour, day of month,
// month, day of week, or @hourly, @daily, @weekly, @monthly. It returns
// [gputide.ErrInvalid] for one that cannot be read, names a time zone, or never
// comes true.
func Cron(expression string) (Timetable, error) {
	text := strings.TrimSpace(expression)
	if strings.Contains(text, "TZ=") {
		return Timetable{}, fmt.Errorf("%w: schedule %q: times are UTC, leave the time zone out", gputide.ErrInvalid, expression)
	}
	if strings.HasPrefix(text, "@every") {
		return Timetable{}, fmt.Errorf("%w: schedule %q: give the duration as every", gputide.ErrInvalid, expression)
	}
	s, err := cron.ParseStandard(text)
	if err != nil {
		return Timetable{}, fmt.Errorf("%w: schedule %q: %w", gputide.ErrInvalid, expression, err)
	}
	cadence, ok := longestGap(s)
	if !ok {
		return Timetable{}, fmt.Errorf("%w: schedule %q never comes true", gputide.ErrInvalid, expression)
	}
	return Timetable{text: text, schedule: s, cadence: cadence}, nil
}

// longestGap returns the longest time between two moments of a schedule, of
// those that come first. It reports false when there are none.
func longestGap(s cron.Schedule) (time.Duration, bool) {
	const looked = 100
	var gap time.Duration
	t := s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for range looked {
		next := s.Next(t)
		if next.IsZero() {
			break
		}
		gap, t = max(gap, next.Sub(t)), next
	}
	return gap, gap > 0
}

// Default returns the timetable of a provider that is configured with none:
// every cadence, and in the small hours of UTC when that is a day or more.
func Default(cadence time.Duration) (Timetable, error) {
	const day = 24 * time.Hour
	switch {
	case cadence <= 0 || cadence == day:
		return Cron("0 3 * * *")
	default:
		return Every(cadence)
	}
}

// String returns the cron expression, or "every" and a duration.
func (t Timetable) String() string { return t.text }

// Cadence is the longest time between two crawls: an offer is stale when it was
// not confirmed for twice that time.
func (t Timetable) Cadence() time.Duration { return t.cadence }

// next returns the first moment after now.
func (t Timetable) next(now time.Time) time.Time { return t.schedule.Next(now.UTC()) }
