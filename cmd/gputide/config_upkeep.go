package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/gputide/gputide/crawler"
)

// defaultCompact is when a daemon compacts its database.
const defaultCompact = "30 4 * * 0"

// upkeep is when a daemon compacts its database, nil for never, and how far back
// its change feed is kept, 0 for all of it.
type upkeep struct {
	table *crawler.Timetable
	keep  time.Duration
}

// String says what becomes of the database, for people.
func (u upkeep) String() string {
	switch {
	case u.table == nil:
		return "the database is not compacted"
	case u.keep == 0:
		return "the database is compacted at " + u.table.String()
	}
	return fmt.Sprintf("the database is compacted at %s; its change feed reaches back %s", u.table, spanText(u.keep))
}

// upkeep understands how the database is kept.
func (c *config) upkeep() (u upkeep, err error) {
	if c.Compact != "off" {
		table, err := crawler.Cron(cmp.Or(c.Compact, defaultCompact))
		if err != nil {
			return u, c.wrong(err, "compact")
		}
		u.table = &table
	}
	if c.KeepChanges == "" || c.KeepChanges == "all" {
		return u, nil
	}
	if u.keep, err = configSpan(c.KeepChanges); err != nil {
		return u, c.wrong(err, "keep_changes")
	}
	if u.table == nil {
		return u, c.wrong(errors.New("the change feed is cut when the database is compacted, and compact is off"), "keep_changes")
	}
	return u, nil
}
