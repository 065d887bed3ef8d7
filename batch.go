package gputide

import (
	"slices"
	"sync"
	"time"
)

// Sink takes what a crawl reads, one value at a time, in the order it was
// added. Batch calls it from one goroutine at a time.
type Sink interface {
	Offer(RawOffer)
	Spec(Spec)
	Signal(Signal)
	Rate(Rate)
	Skip(Skipped)
	Omit(source, reason string, rows int64)
	Scope(ScopeRun)
	Source(source string, status SourceStatus, err error)
}

// Batch is where a provider puts what it reads. It is safe for concurrent use.
type Batch struct {
	provider string
	at       time.Time

	markets []Market
	fed     func(Scope) time.Time

	mu   sync.Mutex
	sink Sink
}

// NewBatch returns a batch of the named provider that hands everything to sink.
// at is the moment the crawl observes.
func NewBatch(provider string, at time.Time, sink Sink) *Batch {
	return &Batch{provider: provider, at: at.UTC().Truncate(time.Second), sink: sink}
}

// At returns the moment the crawl observes, in whole seconds.
func (b *Batch) At() time.Time { return b.at }

// Narrow limits what is asked for to some markets (none is all of them) and says
// up to which moment the event feed of a scope was read before, by the runs
// older than this one. It is called before the batch is handed to a provider.
func (b *Batch) Narrow(markets []Market, fed func(Scope) time.Time) {
	b.markets, b.fed = markets, fed
}

// Wants reports whether offers of a market are asked for. A provider whose Info
// names a pace leaves out what is not; others read everything at once.
func (b *Batch) Wants(m Market) bool { return len(b.markets) == 0 || slices.Contains(b.markets, m) }

// Fed returns the moment up to which the event feed of a scope was read before,
// zero when it never was.
func (b *Batch) Fed(scope Scope) time.Time {
	if b.fed == nil {
		return time.Time{}
	}
	return b.fed(scope)
}

// Add adds one offer row.
func (b *Batch) Add(o RawOffer) {
	o.Key.Provider = b.provider
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink.Offer(o)
}

// Spec adds what a source says of an instance type, priced or not. Of two specs
// of one type the one of the source named first in Info is kept, and fields it
// lacks are filled from the other.
func (b *Batch) Spec(s Spec) {
	s.Provider = b.provider
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink.Spec(s)
}

// Signal adds one signal.
func (b *Batch) Signal(s Signal) {
	s.Key.Provider = b.provider
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink.Signal(s)
}

// Stock adds the availability of the offers that match key, once per region. An
// offer with one price everywhere learns its regions from it.
func (b *Batch) Stock(source string, key Key, level int64, regions ...string) {
	for _, r := range regions {
		k := key
		k.Region = r
		b.Signal(Signal{Source: source, Key: k, Name: SignalAvailability, Value: level})
	}
}

// Rate adds one exchange rate.
func (b *Batch) Rate(r Rate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink.Rate(r)
}

// Skip counts a row that should have been an offer and is not, whose key is
// known: the offer counts as listed and keeps its last price.
func (b *Batch) Skip(source string, key Key, reason, detail string) {
	b.SkipPart(source, key, "", reason, detail)
}

// SkipPart is Skip for a row of one part of a source.
func (b *Batch) SkipPart(source string, key Key, part, reason, detail string) {
	key.Provider = b.provider
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink.Skip(Skipped{Source: source, Key: &key, Part: part, Reason: reason, Detail: clip(detail)})
}

// SkipUnknown counts a row that does not even say what it is: nothing is
// withdrawn from its scope in this run.
func (b *Batch) SkipUnknown(source string, scope Scope, reason, detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink.Skip(Skipped{Source: source, Scope: scope, Reason: reason, Detail: clip(detail)})
}

// Omit counts rows that are, by rule, no offers of ours: storage, a twin of
// another row, the provider's own "not offered".
func (b *Batch) Omit(source, reason string, rows int64) {
	if rows == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink.Omit(source, reason, rows)
}

// Done marks a scope as read to its end from one source: what the source no
// longer lists is withdrawn. urls are the addresses its rows came from, as
// fetch returned them.
func (b *Batch) Done(source string, scope Scope, urls ...string) {
	b.Report(ScopeRun{Scope: scope, Status: ScopeDone, Source: source, URLs: urls})
}

// Fail marks a scope as not read: its offers keep their last price and show a
// gap. Rows of the source in that scope are discarded. A scope that another
// source feeds after all is done.
func (b *Batch) Fail(source string, scope Scope, err error) {
	b.Report(ScopeRun{Scope: scope, Status: ScopeFailed, Source: source, Reason: err.Error()})
	b.Source(source, SourceFailed, err)
}

// DoneFeed marks an event feed as read for the window [from, to]: the rows with
// a moment of their own are its events, and what is absent from them concludes
// nothing. The same scope may also be done as a whole: rows without a moment say
// what is on offer now.
func (b *Batch) DoneFeed(source string, scope Scope, from, to time.Time, urls ...string) {
	b.Report(ScopeRun{Scope: scope, Status: ScopeDone, Source: source, URLs: urls, EventFeed: true, From: from, To: to})
}

// FailFeed marks an event feed as not read: its events are discarded.
func (b *Batch) FailFeed(source string, scope Scope, err error) {
	b.Report(ScopeRun{Scope: scope, Status: ScopeFailed, Source: source, Reason: err.Error(), EventFeed: true})
	b.Source(source, SourceFailed, err)
}

// Report marks a scope with everything that can be said of it.
func (b *Batch) Report(s ScopeRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink.Scope(s)
}

// Source records that a source was skipped ([ErrNeedsKey], [ErrNotInFixture]) or
// failed as a whole.
func (b *Batch) Source(source string, status SourceStatus, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink.Source(source, status, err)
}
