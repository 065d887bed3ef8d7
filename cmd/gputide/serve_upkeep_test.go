package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gputide/gputide/crawler"
)

// TestDaemonKeepsTheDatabase compacts the database of a daemon at its time, and
// takes out of the change feed what the configuration does not keep.
func TestDaemonKeepsTheDatabase(t *testing.T) {
	const day = 24 * time.Hour
	c := testMain(t)
	now := testNow
	c.Now = func() time.Time { return now }
	c.must(t, "crawl", "--fixtures", filepath.Join("..", "..", "fixtures"), "--provider", "runpod", "--archive", "off")
	if changes := c.must(t, "query", "changes", "--kind", "first_seen", "-o", "ndjson"); changes == "" {
		t.Fatal("the crawl gave no changes")
	}
	for _, tt := range []struct {
		yaml   string
		after  time.Duration // since the last one, here the database was made
		due    bool
		pruned bool
	}{
		{"compact: off\n", 100 * day, false, false},
		{"", day / 2, false, false},
		{"", 7 * day, true, false},
		{"keep_changes: 30d\n", 7 * day, true, false},
		{"compact: '@daily'\nkeep_changes: 30d\n", 20 * day, true, true},
	} {
		now = now.Add(tt.after)
		e, d := c.upkeepOf(t, tt.yaml)
		if e == nil {
			if tt.due {
				t.Errorf("%q: the database is never compacted", tt.yaml)
			}
			now = now.Add(-tt.after)
			continue
		}
		last, err := e.Last(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if due := now.Sub(last) > e.Table.Cadence()-time.Hour; due != tt.due {
			t.Errorf("%q: due %t %s after %s, want %t", tt.yaml, due, now.Sub(last), last, tt.due)
		}
		if !tt.due {
			now = now.Add(-tt.after)
			d.close()
			continue
		}
		e.Crawl(t.Context())
		if last, err = e.Last(t.Context()); err != nil || !last.Equal(now.Truncate(time.Second)) {
			t.Errorf("%q: compacted at %s, %v, want %s", tt.yaml, last, err, now)
		}
		d.close()
		c.run(t, "query", "changes", "--kind", "first_seen", "-o", "ndjson")
		if pruned := c.out.String() == ""; pruned != tt.pruned {
			t.Errorf("%q: pruned %t, want %t: %s%s", tt.yaml, pruned, tt.pruned, c.err.String(), c.out.String())
		}
		if offers := c.must(t, "query", "offers", "--provider", "runpod", "-o", "ndjson", "--limit", "0"); !strings.Contains(offers, "runpod") {
			t.Errorf("%q: the offers are gone", tt.yaml)
		}
	}
}

// upkeepOf returns what a daemon does at the times of its database; nil is nothing.
func (c *cli) upkeepOf(t *testing.T, yaml string) (*crawler.Entry, *daemon) {
	t.Helper()
	conf, err := parseConfig(filepath.Join(t.TempDir(), "gputide.yaml"), []byte(yaml+c.idle()))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := conf.check(c.infos())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	d, err := c.startDaemon(ctx, conf, jobs, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range d.schedule().Entries {
		if e.Provider == "database" {
			return &e, d
		}
	}
	d.close()
	return nil, nil
}
