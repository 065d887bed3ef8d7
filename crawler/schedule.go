package crawler

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Entry is one provider of a schedule, or another thing that is done at its times.
type Entry struct {
	Provider string // what log lines name
	Table    Timetable

	// Last returns the moment of the newest stored run, zero when there is none.
	Last func(ctx context.Context) (time.Time, error)

	// Crawl crawls the provider. Of one entry it is never called twice at once.
	Crawl func(ctx context.Context)
}

// Schedule crawls providers at their times until it is told to stop.
//
// The moments come from cron expressions, but the waiting is its own: the runner
// of cron sleeps through on a monotonic clock, so that it oversleeps by the time
// a machine was suspended, and when the clock was wrong by a year and is set
// back, it waits for that year.
type Schedule struct {
	Entries []Entry
	Now     func() time.Time // nil is time.Now
	Logger  *slog.Logger     // nil discards

	// Jitter returns a time from zero to most by which a crawl begins late, so
	// that not everyone asks a provider on the hour. Nil is no jitter.
	Jitter func(most time.Duration) time.Duration
}

const (
	// lookAgain bounds how long the clock goes unread: a jump of it is noticed
	// within that time.
	lookAgain = 30 * time.Second

	// stepBack is how far the clock must go back to count as set anew.
	stepBack = time.Second

	// mostJitter bounds how late a crawl begins; more often than hourly, a tenth
	// of the time between crawls does.
	mostJitter = 10 * time.Minute
	jitterPart = 10
)

// Run crawls until ctx ends, which it hands on to the crawls, and returns when
// the last of them has ended. A provider whose last run is older than its
// timetable asks for is crawled at once. One that is still being crawled when
// its time comes again misses that time.
func (s *Schedule) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for i := range s.Entries {
		wg.Go(func() { s.keep(ctx, &s.Entries[i]) })
	}
	wg.Wait()
}

// keep crawls one provider at its times.
func (s *Schedule) keep(ctx context.Context, e *Entry) {
	due := s.first(ctx, e)
	for {
		if !s.wait(ctx, e, due) {
			return
		}
		started := s.now()
		s.once(ctx, e, started)
		due = s.after(e, started)
	}
}

// first returns when a provider is crawled first: at once when a crawl was
// missed, or none is stored.
func (s *Schedule) first(ctx context.Context, e *Entry) time.Time {
	now := s.now()
	last, err := e.Last(ctx)
	if err != nil {
		s.logger().WarnContext(ctx, "last run not known", "provider", e.Provider, "err", err)
		return now
	}
	if last.IsZero() {
		return now
	}
	if last.After(now) {
		return s.late(e, e.Table.next(now))
	}
	if next := e.Table.next(last); next.After(now) {
		return s.late(e, next)
	}
	return now
}

// after returns when a provider is due again that was crawled from started until
// now. What came due in the meantime is missed.
func (s *Schedule) after(e *Entry, started time.Time) time.Time {
	now := s.now()
	next := e.Table.next(started)
	if !next.After(now) || now.Before(started) {
		next = e.Table.next(now)
	}
	return s.late(e, next)
}

// late adds jitter to a moment.
func (s *Schedule) late(e *Entry, t time.Time) time.Time {
	if s.Jitter == nil {
		return t
	}
	return t.Add(s.Jitter(min(e.Table.Cadence()/jitterPart, mostJitter)))
}

// wait returns true at the moment due, and false when ctx ends before. When the
// clock is set back, the next moment by the new clock counts.
func (s *Schedule) wait(ctx context.Context, e *Entry, due time.Time) bool {
	seen := s.now()
	for ctx.Err() == nil {
		now := s.now()
		if seen.Sub(now) > stepBack {
			s.logger().WarnContext(ctx, "the clock went back", "provider", e.Provider, "dur", seen.Sub(now))
			if next := s.late(e, e.Table.next(now)); next.Before(due) {
				due = next
			}
			seen = now
		}
		if now.After(seen) {
			seen = now
		}
		if !now.Before(due) {
			return true
		}
		timer := time.NewTimer(min(due.Sub(now), lookAgain))
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
	return false
}

// once crawls one provider. A run dated before one that is stored would be told
// as its past, so there is none until the clock has passed it.
func (s *Schedule) once(ctx context.Context, e *Entry, now time.Time) {
	log := s.logger().With("provider", e.Provider)
	defer func() {
		if v := recover(); v != nil {
			log.ErrorContext(ctx, "crawl failed", "err", fmt.Sprintf("panic: %v", v))
			log.DebugContext(ctx, "stack of the panic", "err", string(debug.Stack()))
		}
	}()
	last, err := e.Last(ctx)
	if err != nil {
		log.WarnContext(ctx, "last run not known", "err", err)
	} else if !now.Truncate(time.Second).After(last) {
		log.WarnContext(ctx, "crawl put off: the newest run is dated after the clock", "err", "newest run at "+last.UTC().Format(time.RFC3339))
		return
	}
	e.Crawl(ctx)
}

// now is the moment by the wall: what a monotonic clock adds to it would hide a
// clock that was set.
func (s *Schedule) now() time.Time {
	if s.Now != nil {
		return s.Now().Round(0).UTC()
	}
	return time.Now().Round(0).UTC()
}

func (s *Schedule) logger() *slog.Logger {
	if s.Logger != nil {
		return s.Logger
	}
	return slog.New(slog.DiscardHandler)
}
