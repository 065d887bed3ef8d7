package query

import (
	"fmt"
	"sort"
	"time"

	"github.com/gputide/gputide"
)

// The buckets of a trend. BucketAuto takes hours for three days, days for four
// months, weeks for two years and months beyond.
const (
	BucketAuto    = "auto"
	BucketHour    = "hour"
	BucketDay     = "day"
	BucketWeek    = "week"
	BucketMonth   = "month"
	BucketQuarter = "quarter"
	BucketYear    = "year"
	BucketAll     = "all"
)

// Buckets lists the buckets of a trend. Weeks start on Monday; all are in UTC.
func Buckets() []string {
	return []string{BucketAuto, BucketHour, BucketDay, BucketWeek, BucketMonth, BucketQuarter, BucketYear, BucketAll}
}

// mostBuckets bounds the buckets of one answer.
const mostBuckets = 100_000

// buckets cuts a window at calendar bounds. starts holds the start of each, the
// first the calendar's, before or at the window.
type buckets struct {
	name     string
	from, to int64
	starts   []int64
}

func newBuckets(name string, from, to time.Time) (*buckets, error) {
	if name == "" || name == BucketAuto {
		name = bucketFor(to.Sub(from))
	}
	b := &buckets{name: name, from: from.Unix(), to: to.Unix()}
	if name == BucketAll {
		b.starts = []int64{b.from}
		return b, nil
	}
	for at := bucketStart(name, from.UTC()); at.Before(to); at = bucketNext(name, at) {
		if len(b.starts) == mostBuckets {
			return nil, &gputide.HintError{
				Err:  fmt.Errorf("%w: more than %d buckets of a %s", gputide.ErrInvalid, mostBuckets, name),
				Hint: "narrow the window or take a wider bucket",
			}
		}
		b.starts = append(b.starts, at.Unix())
	}
	return b, nil
}

// bucketFor returns the bucket that suits the length of a window.
func bucketFor(length time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case length <= 3*day:
		return BucketHour
	case length <= 124*day:
		return BucketDay
	case length <= 732*day:
		return BucketWeek
	}
	return BucketMonth
}

// bucketStart returns the start of the bucket that holds a moment.
func bucketStart(name string, t time.Time) time.Time {
	t = t.UTC()
	y, m, d := t.Date()
	switch name {
	case BucketHour:
		return t.Truncate(time.Hour)
	case BucketDay:
	case BucketWeek:
		d -= (int(t.Weekday()) + 6) % 7
	case BucketMonth:
		d = 1
	case BucketQuarter:
		m, d = m-(m-1)%3, 1
	case BucketYear:
		m, d = time.January, 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// bucketNext returns the start of the bucket after the one that starts at t.
func bucketNext(name string, t time.Time) time.Time {
	switch name {
	case BucketHour:
		return t.Add(time.Hour)
	case BucketWeek:
		return t.AddDate(0, 0, 7)
	case BucketMonth:
		return t.AddDate(0, 1, 0)
	case BucketQuarter:
		return t.AddDate(0, 3, 0)
	case BucketYear:
		return t.AddDate(1, 0, 0)
	}
	return t.AddDate(0, 0, 1)
}

// at returns the bucket of a moment of the window.
func (b *buckets) at(t int64) int {
	return max(0, sort.Search(len(b.starts), func(i int) bool { return b.starts[i] > t })-1)
}

// bounds returns the part of a bucket inside the window.
func (b *buckets) bounds(i int) (from, to int64) {
	from, to = max(b.starts[i], b.from), b.to
	if i+1 < len(b.starts) {
		to = b.starts[i+1]
	}
	return from, to
}

// start returns when a bucket starts: the calendar's bound, or the start of the
// window where there is one bucket only.
func (b *buckets) start(i int) time.Time { return timeOf(b.starts[i]) }

func timeOf(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// split cuts [from, to) at the bounds of the buckets.
func (b *buckets) split(from, to int64, fn func(bucket int, from, to int64)) {
	for i := b.at(from); from < to && i < len(b.starts); i++ {
		_, end := b.bounds(i)
		end = min(end, to)
		fn(i, from, end)
		from = end
	}
}
