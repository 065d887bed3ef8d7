package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// specShare is the part of a deadline that reading specs may take, so that specs
// that hang leave time for prices.
const specShare = 3

// crawl reads one provider, assembles its run and commits it.
func (c *Crawler) crawl(ctx context.Context, p gputide.Provider, info gputide.Info, opt Options) Result {
	started := c.now()
	res := Result{Provider: info.Name, At: moment(opt.At, info.Name, started)}
	run, scopes, err := c.read(ctx, p, info, opt, res.At)
	if run != nil {
		run.StartedAt = started.UTC().Truncate(time.Second)
		run.FinishedAt = c.now().UTC().Truncate(time.Second)
		run.CodeVersion = c.CodeVersion
		res.take(run)
	}
	if run != nil && says(run, errors.Is(ctx.Err(), context.Canceled)) {
		// What was read is worth keeping even when the caller has had enough.
		var commitErr error
		res.Commit, commitErr = c.Store.CommitRun(context.WithoutCancel(ctx), run)
		err = errors.Join(err, commitErr)
	}
	if err != nil {
		res.Err = fmt.Errorf("%s: %w", info.Name, err)
	}
	res.Duration = c.now().Sub(started)
	c.log(ctx, &res, scopes)
	return res
}

// says reports whether a run is worth storing: it read something, or failed. A
// cancelled run that read nothing tells nothing of its provider.
func says(run *gputide.Run, cancelled bool) bool {
	return len(run.Scopes) > 0 || len(run.Rates) > 0 || (!cancelled && (len(run.Specs) > 0 || run.Err != ""))
}

// moment returns the moment a run observes.
func moment(at func(string) time.Time, provider string, now time.Time) time.Time {
	if at != nil {
		if t := at(provider); !t.IsZero() {
			now = t
		}
	}
	return now.UTC().Truncate(time.Second)
}

// take copies what the caller is told of a run, so that its offers can go.
func (r *Result) take(run *gputide.Run) {
	r.Scopes, r.Report, r.Offers = run.Scopes, run.Report, len(run.Offers)
	skipped, answered := 0, 0
	for i := range run.Report.Sources {
		s := &run.Report.Sources[i]
		for _, n := range s.Skipped {
			r.Skips += n
		}
		switch {
		case s.Status != gputide.SourceSkipped:
			answered++
		case s.Message != notAsked:
			skipped++
		}
	}
	r.SkippedAll = run.Err == "" && len(run.Scopes) == 0 && skipped > 0 && answered == 0
}

// read returns the run of one provider and its scopes; the run is nil when the
// store could not be asked for the past. The error is everything that went wrong.
func (c *Crawler) read(
	ctx context.Context, p gputide.Provider, info gputide.Info, opt Options, at time.Time,
) (*gputide.Run, []*scopeState, error) {
	base, err := c.Store.Baseline(ctx, info.Name, at)
	if err != nil {
		return nil, nil, fmt.Errorf("what is known before the run: %w", err)
	}
	if base == nil {
		base = &gputide.Baseline{}
	}
	s := newSink(info, c.Normalizer, base, opt.Collect == CollectAll, opt.Progress)
	deadline := opt.Deadline
	if info.Deadline > 0 {
		deadline = info.Deadline
	}
	o := outcome{at: at, cause: opt.Cause, replace: opt.Replace}
	if len(info.Paces) > 0 {
		o.markets = opt.Markets
	}
	s.ask(ctx, p, deadline, &o)
	o.cancelled = errors.Is(ctx.Err(), context.Canceled)
	run, scopes := s.assemble(o)
	if o.crawlErr == nil && o.rateErr == nil && len(scopes) == 0 && s.silent() {
		o.crawlErr = fmt.Errorf("%w: the adapter reported no scope", gputide.ErrEmpty)
	}
	if err := errors.Join(o.crawlErr, o.rateErr); err != nil {
		run.Err = err.Error()
	}
	return run, scopes, failures(o, scopes)
}

// silent reports whether a provider with price sources said nothing of any.
func (s *sink) silent() bool {
	prices := false
	for _, source := range s.info.Sources {
		if t := s.tallies[source.ID]; t.failed || len(t.skips) > 0 {
			return false
		}
		prices = prices || source.Prices
	}
	return prices
}

// ask calls the abilities of the provider one after the other, within its
// deadline, and notes how they ended.
func (s *sink) ask(ctx context.Context, p gputide.Provider, deadline time.Duration, o *outcome) {
	timeout := fmt.Errorf("not done within %s: %w", deadline, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(fetch.WithRun(fetch.WithRecorder(ctx, s.body), o.at), deadline, timeout)
	defer cancel()
	defer s.close()
	b := gputide.NewBatch(s.info.Name, o.at, s)
	b.Narrow(o.markets, s.fed())
	if sp, ok := p.(gputide.SpecCrawler); ok {
		specCtx, done := context.WithTimeout(ctx, deadline/specShare)
		err := protect(func() error { return sp.CrawlSpecs(specCtx, b) })
		done()
		s.specsRead(err)
	}
	o.crawlErr = s.unlessSkipped(protect(func() error { return p.Crawl(ctx, b) }), true)
	if rp, ok := p.(gputide.RateCrawler); ok {
		o.rateErr = s.unlessSkipped(protect(func() error { return rp.CrawlRates(ctx, b) }), false)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		o.late = true
		o.crawlErr, o.rateErr = late(ctx, o.crawlErr), late(ctx, o.rateErr)
	}
}

// late says of an error that the deadline of ctx had passed.
func late(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return &gputide.HintError{
		Err:  fmt.Errorf("%w: %w", gputide.ErrUnavailable, err),
		Hint: "what was read is stored; check the network, or allow a longer deadline",
	}
}

// fed returns the moments up to which event feeds were read before.
func (s *sink) fed() func(gputide.Scope) time.Time {
	at := make(map[gputide.Scope]time.Time)
	for i := range s.base.Scopes {
		if b := &s.base.Scopes[i]; !b.FedAt.IsZero() {
			at[b.Scope] = b.FedAt
		}
	}
	return func(scope gputide.Scope) time.Time { return at[scope] }
}

// specsRead records how reading specs ended. Prices go on either way.
func (s *sink) specsRead(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blame(err, false)
	if err != nil && !onlySkipped(err) {
		s.notes = append(s.notes, "specs: "+err.Error())
	}
}

// unlessSkipped returns err, or nil when all it says is that sources were
// skipped, which it then records.
func (s *sink) unlessSkipped(err error, prices bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blame(err, prices)
	if onlySkipped(err) {
		return nil
	}
	return err
}

// blame records an error with the source it names. An error that skips and names
// none, of a crawl for prices, skips the price sources nothing was heard of.
func (s *sink) blame(err error, prices bool) {
	if err == nil {
		return
	}
	skip := onlySkipped(err)
	source := ""
	if e, ok := errors.AsType[*gputide.FetchError](err); ok {
		source = e.Source
	} else if e, ok := errors.AsType[*gputide.DriftError](err); ok {
		source = e.Source
	}
	switch {
	case source != "" && skip:
		s.tally(source).skipSource(err.Error())
	case source != "":
		s.tally(source).fail(err.Error())
	case skip:
		for _, src := range s.info.Sources {
			if t := s.tally(src.ID); src.Prices == prices && !t.failed && !t.answered() && len(t.skips) == 0 {
				t.skipSource(err.Error())
			}
		}
	}
}

// failures returns everything that went wrong, nil when nothing did.
func failures(o outcome, scopes []*scopeState) error {
	var all []error
	if o.crawlErr != nil {
		all = append(all, o.crawlErr)
	}
	if o.rateErr != nil {
		all = append(all, o.rateErr)
	}
	done := 0
	for _, st := range scopes {
		switch {
		case st.done():
			done++
		case o.crawlErr != nil && errors.Is(st.err, o.crawlErr):
			// said already
		default:
			all = append(all, fmt.Errorf("%s: %w", st.run.Scope, st.err))
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case len(all) == 1 && done == 0:
		return all[0]
	}
	return &gputide.PartialError{Done: done, Failed: all}
}

// log writes the one line of a run, and a warning for each scope that may need
// someone's attention.
func (c *Crawler) log(ctx context.Context, res *Result, scopes []*scopeState) {
	log := c.logger().With("provider", res.Provider)
	warned := make(map[string]bool)
	for _, st := range scopes {
		message := "scope held back"
		switch {
		case st.done():
			continue
		case errors.Is(st.err, gputide.ErrSchemaDrift):
			message = "source changed its format"
		case st.run.Status == gputide.ScopeFailed:
			message = "scope failed"
		}
		warned[st.run.Source] = true
		log.WarnContext(ctx, message, "source", st.run.Source,
			"region", st.run.Scope.Region, "market", string(st.run.Scope.Market), "err", st.err)
	}
	for _, s := range res.Report.Sources {
		if s.Status == gputide.SourceFailed && !warned[s.Source] {
			log.WarnContext(ctx, "source failed", "source", s.Source, "err", s.Message)
		}
	}
	line := []any{
		"run", res.Commit.RunID, "offers", res.Offers, "skips", res.Skips, "dur", res.Duration,
	}
	var panicked *PanicError
	if errors.As(res.Err, &panicked) {
		log.DebugContext(ctx, "stack of the panic", "err", string(panicked.Stack))
	}
	switch {
	case res.Err != nil:
		log.ErrorContext(ctx, "crawl failed", append(line, "err", res.Err)...)
	case res.SkippedAll:
		log.InfoContext(ctx, "crawl skipped", append(line, "status", res.skipReason())...)
	default:
		log.InfoContext(ctx, "crawl done", line...)
	}
}

// skipReason returns why the first skipped source was not asked.
func (r *Result) skipReason() string {
	for i := range r.Report.Sources {
		if s := &r.Report.Sources[i]; s.Message != "" && s.Message != notAsked {
			return s.Message
		}
	}
	return ""
}
