package main

import (
	"time"

	"github.com/spf13/cobra"
)

// windowFlags are the flags that set the window of a question about the past.
type windowFlags struct{ since, from, to, over string }

func (o *windowFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "", "the last `SPAN`: 12h, 90d, 6mo, 1y")
	f.StringVar(&o.from, "from", "", "from `TIME` on, UTC (default the first observation)")
	f.StringVar(&o.to, "to", "", "before `TIME`, UTC (default now, or the last observation of an import)")
	f.StringVar(&o.over, "over", "time", "`BASIS` of statistics: time (the price in force at each instant) or rows (the observations)")
}

// window returns the bounds asked for, zero where open.
func (o *windowFlags) window(now time.Time) (from, to time.Time, err error) {
	if _, err := oneOf("over", o.over, []string{"time", "rows"}); err != nil {
		return from, to, err
	}
	if o.since != "" && o.from != "" {
		return from, to, usagef("--since and --from both set the start: give one")
	}
	if from, err = parseTime("from", o.from); err != nil {
		return from, to, err
	}
	if to, err = parseTime("to", o.to); err != nil {
		return from, to, err
	}
	if o.since != "" {
		span, err := parseSpan("since", o.since)
		if err != nil {
			return from, to, err
		}
		from = now.UTC().Truncate(time.Second).Add(-span)
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return from, to, usagef("--from must lie before --to")
	}
	return from, to, nil
}
