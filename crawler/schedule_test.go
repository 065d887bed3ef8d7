package crawler

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// diary is a provider of a schedule that notes when it is crawled.
type diary struct {
	last time.Time
	runs []string
	now  func() time.Time
	work func(ctx context.Context) // what a crawl takes
}

func (d *diary) entry(t *testing.T, table Timetable, err error) Entry {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return Entry{
		Provider: "acme", Table: table,
		Last: func(context.Context) (time.Time, error) { return d.last, nil },
		Crawl: func(ctx context.Context) {
			at := d.now().UTC()
			d.runs = append(d.runs, at.Format("01-02 15:04:05"))
			if d.work != nil {
				d.work(ctx)
			}
			d.last = at.Truncate(time.Second)
		},
	}
}

// clock is the wall clock of a bubble: that of synctest, moved.
type clock struct{ moved atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(c.offset()).Round(0) }

func (c *clock) offset() time.Duration { return time.Duration(c.moved.Load()) }

// set puts the clock off the true one.
func (c *clock) set(off time.Duration) func() { return func() { c.moved.Store(int64(off)) } }

// The bubbles of synctest begin at midnight of 2000-01-01, UTC.
func hour(h int) time.Time { return time.Date(2000, 1, 1, h, 0, 0, 0, time.UTC) }

// follow runs a schedule of one entry for a time and returns its log.
func follow(t *testing.T, s *Schedule, stages ...func()) string {
	t.Helper()
	var log bytes.Buffer
	s.Logger = slog.New(slog.NewTextHandler(&log, nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(done)
	}()
	for _, stage := range stages {
		stage()
		synctest.Wait()
	}
	cancel()
	<-done
	return log.String()
}

func pass(d time.Duration) func() { return func() { time.Sleep(d) } }

func TestScheduleTimes(t *testing.T) {
	tests := map[string]struct {
		table func() (Timetable, error)
		last  time.Time
		pass  time.Duration
		work  time.Duration
		want  []string
	}{
		"never run: at once": {
			table: func() (Timetable, error) { return Cron("30 3 * * *") }, pass: 28 * time.Hour,
			want: []string{"01-01 00:00:00", "01-01 03:30:00", "01-02 03:30:00"},
		},
		"a night was missed: at once": {
			table: func() (Timetable, error) { return Cron("30 3 * * *") }, last: hour(0).Add(-21 * time.Hour), pass: 4 * time.Hour,
			want: []string{"01-01 00:00:00", "01-01 03:30:00"},
		},
		"no night was missed": {
			table: func() (Timetable, error) { return Cron("30 3 * * *") }, last: hour(0).Add(-20 * time.Hour), pass: 4 * time.Hour,
			want: []string{"01-01 03:30:00"},
		},
		"every counts from the last run": {
			table: func() (Timetable, error) { return Every(10 * time.Minute) }, last: hour(0).Add(-4 * time.Minute), pass: 27 * time.Minute,
			want: []string{"01-01 00:06:00", "01-01 00:16:00", "01-01 00:26:00"},
		},
		"every, missed": {
			table: func() (Timetable, error) { return Every(10 * time.Minute) }, last: hour(0).Add(-4 * time.Hour), pass: 11 * time.Minute,
			want: []string{"01-01 00:00:00", "01-01 00:10:00"},
		},
		"what comes due during a crawl is missed": {
			table: func() (Timetable, error) { return Cron("*/10 * * * *") }, pass: 51 * time.Minute, work: 15 * time.Minute,
			want: []string{"01-01 00:00:00", "01-01 00:20:00", "01-01 00:40:00"},
		},
		"the default of a nightly provider": {
			table: func() (Timetable, error) { return Default(24 * time.Hour) }, last: hour(0), pass: 28 * time.Hour,
			want: []string{"01-01 03:00:00", "01-02 03:00:00"},
		},
		"the default of an hourly provider": {
			table: func() (Timetable, error) { return Default(time.Hour) }, last: hour(0), pass: 121 * time.Minute,
			want: []string{"01-01 01:00:00", "01-01 02:00:00"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &diary{last: tt.last, now: time.Now, work: func(context.Context) { time.Sleep(tt.work) }}
				table, err := tt.table()
				follow(t, &Schedule{Entries: []Entry{d.entry(t, table, err)}}, pass(tt.pass))
				if diff := cmp.Diff(tt.want, d.runs); diff != "" {
					t.Errorf("crawls (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestScheduleClockGoesBack sets the clock back at half past two: nothing is
// dated before what is stored, and the schedule goes on by the new clock.
func TestScheduleClockGoesBack(t *testing.T) {
	tests := map[string]struct {
		by, pass time.Duration
		want     []string
		warnings int // that a crawl was put off
	}{
		"ten minutes": {
			by: 10 * time.Minute, pass: 41 * time.Minute,
			want: []string{"01-01 00:00:00", "01-01 01:00:00", "01-01 02:00:00", "01-01 03:00:00"},
		},
		"an hour": {
			by: time.Hour, pass: 80 * time.Minute, // noticed within half a minute
			want: []string{"01-01 00:00:00", "01-01 01:00:00", "01-01 02:00:00", "01-01 02:30:30"},
		},
		"two hours": {
			by: 2 * time.Hour, pass: 121 * time.Minute,
			want:     []string{"01-01 00:00:00", "01-01 01:00:00", "01-01 02:00:00", "01-01 02:30:30"},
			warnings: 1, // at 01:30 by the new clock: 02:00 is stored
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c clock
				d := &diary{now: c.now}
				table, err := Every(time.Hour)
				log := follow(t, &Schedule{Entries: []Entry{d.entry(t, table, err)}, Now: c.now},
					pass(150*time.Minute), c.set(-tt.by), pass(tt.pass))
				if diff := cmp.Diff(tt.want, d.runs); diff != "" {
					t.Errorf("crawls (-want +got):\n%s", diff)
				}
				if n := strings.Count(log, "put off"); n != tt.warnings || !strings.Contains(log, "the clock went back") {
					t.Errorf("%d warnings of a crawl put off, want %d:\n%s", n, tt.warnings, log)
				}
			})
		})
	}
}

// TestScheduleClockWasAhead begins with a run stored a year ahead: the provider
// waits, tells so, and neither spins nor dates a run before it.
func TestScheduleClockWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{last: hour(0).AddDate(1, 0, 0), now: time.Now}
		table, err := Every(time.Hour)
		log := follow(t, &Schedule{Entries: []Entry{d.entry(t, table, err)}}, pass(3*time.Hour+time.Minute))
		if len(d.runs) != 0 {
			t.Errorf("crawled at %v", d.runs)
		}
		if n := strings.Count(log, "dated after the clock"); n != 3 {
			t.Errorf("%d warnings in three hours:\n%s", n, log)
		}
	})
}

// TestScheduleClockCorrected sets a clock back that was a year ahead while the
// daemon waited: by the new clock the provider is due within its cadence.
func TestScheduleClockCorrected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		c.set(365 * 24 * time.Hour)()
		d := &diary{now: c.now}
		table, err := Cron("0 3 * * *")
		e := d.entry(t, table, err)
		e.Last = func(context.Context) (time.Time, error) {
			if c.offset() > 0 {
				return c.now(), nil // nothing is due: it waits for the next night of that year
			}
			return time.Time{}, nil
		}
		follow(t, &Schedule{Entries: []Entry{e}, Now: c.now}, pass(time.Minute), c.set(0), pass(4*time.Hour))
		if diff := cmp.Diff([]string{"01-01 03:00:00"}, d.runs); diff != "" {
			t.Errorf("crawls after the correction (-want +got):\n%s", diff)
		}
	})
}

// TestScheduleSuspended jumps the clock ahead, as waking from suspension does.
func TestScheduleSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		d := &diary{now: c.now, last: hour(0)}
		table, err := Cron("0 3 * * *")
		follow(t, &Schedule{Entries: []Entry{d.entry(t, table, err)}, Now: c.now},
			pass(time.Minute),
			c.set(12*time.Hour),
			pass(lookAgain),
		)
		if len(d.runs) != 1 || d.runs[0] > "01-01 12:02:00" {
			t.Errorf("crawls %v: want one as soon as the jump is seen", d.runs)
		}
	})
}

func TestScheduleJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{now: time.Now, last: hour(0)}
		var asked time.Duration
		table, err := Cron("0 * * * *")
		follow(t, &Schedule{
			Entries: []Entry{d.entry(t, table, err)},
			Jitter:  func(most time.Duration) time.Duration { asked = most; return 90 * time.Second },
		}, pass(125*time.Minute))
		if diff := cmp.Diff([]string{"01-01 01:01:30", "01-01 02:01:30"}, d.runs); diff != "" || asked != 6*time.Minute {
			t.Errorf("at most %s late; crawls (-want +got):\n%s", asked, diff)
		}
	})
}

// TestScheduleStops cancels in the middle of a crawl: the crawl is told, and Run
// waits for its end.
func TestScheduleStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		d := &diary{now: time.Now, work: func(ctx context.Context) {
			<-ctx.Done()
			time.Sleep(5 * time.Second) // storing what was read
			ended = true
		}}
		table, err := Every(time.Hour)
		follow(t, &Schedule{Entries: []Entry{d.entry(t, table, err)}}, pass(time.Minute))
		if !ended {
			t.Error("Run returned before the crawl ended")
		}
	})
}

// TestScheduleSurvives holds that a panic, and a store that does not answer,
// end one crawl and not the schedule, and that providers do not wait for each
// other.
func TestScheduleSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, err := Every(time.Hour)
		panics := &diary{now: time.Now, work: func(context.Context) { panic("boom") }}
		slow := &diary{now: time.Now, work: func(ctx context.Context) { <-ctx.Done() }}
		blind := &diary{now: time.Now}
		entry := blind.entry(t, table, err)
		entry.Last = func(context.Context) (time.Time, error) { return time.Time{}, gputide.ErrUnavailable }
		log := follow(t, &Schedule{Entries: []Entry{slow.entry(t, table, err), panics.entry(t, table, err), entry}}, pass(61*time.Minute))
		want := []string{"01-01 00:00:00", "01-01 01:00:00"}
		if diff := cmp.Diff(want, panics.runs); diff != "" {
			t.Errorf("crawls that panic (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, blind.runs); diff != "" {
			t.Errorf("crawls without a past (-want +got):\n%s", diff)
		}
		if !strings.Contains(log, "panic: boom") {
			t.Errorf("log:\n%s", log)
		}
	})
}

func TestTimetables(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"17 3 * * *":                   24 * time.Hour,
		"*/10 * * *":                   0,
		"* * * * *":                    time.Minute,
		"0 3 * * 1":                    7 * 24 * time.Hour,
		"0 3 * * 1-5":                  3 * 24 * time.Hour,
		"@hourly":                      time.Hour,
		"@every 1h":                    0,
		"0 0 31 2 *":                   0,
		"61 0 * * *":                   0,
		"TZ=":                          0,
		"CRON_TZ=Asia/Tokyo 0 3 * * *": 0,
		"":                             0,
	} {
		table, err := Cron(text)
		if (err == nil) != (want > 0) || table.Cadence() != want || (err != nil && !errors.Is(err, gputide.ErrInvalid)) {
			t.Errorf("Cron(%q): cadence %s, want %s; %v", text, table.Cadence(), want, err)
		}
	}
	for d, want := range map[time.Duration]string{time.Hour: "every 1h", 10 * time.Minute: "every 10m", 90 * time.Second: "every 1m30s", 20 * time.Second: "every 20s"} {
		if table, err := Every(d); err != nil || table.String() != want {
			t.Errorf("Every(%s) is %q, want %q; %v", d, table, want, err)
		}
	}
	for d, ok := range map[time.Duration]bool{0: false, -time.Hour: false, time.Millisecond: false, time.Second: true, 400 * 24 * time.Hour: false} {
		if _, err := Every(d); (err == nil) != ok {
			t.Errorf("Every(%s): %v", d, err)
		}
	}
}

func FuzzCron(f *testing.F) {
	for _, s := range []string{"0 3 * * *", "@daily", "TZ=UTC 0 3 * * *", "*/5 1-3,7 ? JAN MON", "@every 1s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		table, err := Cron(s)
		if err != nil {
			return
		}
		now := hour(0)
		if next := table.next(now); !next.After(now) && !next.IsZero() {
			t.Errorf("%q: %s is not after %s", s, next, now)
		}
	})
}
