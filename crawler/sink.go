package crawler

import (
	"errors"
	"sync"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

// Reasons of the crawler's own, beside those of normalize.
const (
	reasonNotAccelerated = "not_accelerated" // left out: the type has no accelerator
	reasonSuperseded     = "superseded"      // left out: a more authoritative source fed the scope
	reasonTwin           = "twin"            // left out: another row says the same
	reasonNoScope        = "no_scope"        // skipped: the adapter reported no scope for it
	reasonScopeFailed    = "scope_failed"    // skipped: its scope was not read to the end
	reasonScopeHeld      = "scope_held"      // skipped: its scope was held back
	reasonBadRate        = "bad_rate"        // skipped: an exchange rate that is none
	reasonTwoRates       = "two_rates"       // skipped: exchange rates of one day that differ
	reasonPanic          = "panic"           // skipped: normalize panicked over it
)

// progressRows is the number of rows between two calls of Options.Progress.
const progressRows = 1 << 12

// maxRefusedRows bounds the refused rows held in memory.
const maxRefusedRows = 1 << 18

// normalizer is what the sink needs of normalize.Normalizer.
type normalizer interface {
	Offer(raw *gputide.RawOffer, spec *gputide.Spec) (gputide.Offer, error)
	Accelerated(spec *gputide.Spec) bool
}

// sink takes what a provider reads. Rows that are kept are normalised as they
// arrive; of all others only counts stay, one per cell and reason.
type sink struct {
	info     gputide.Info
	norm     normalizer
	all      bool // keep rows without an accelerator
	base     *gputide.Baseline
	progress func(Progress)
	rank     ranks

	mu     sync.Mutex
	closed bool // the run is being assembled: an adapter's stray goroutine adds nothing
	rows   int64

	texts     interner
	tallies   map[string]*tally
	cells     map[cellKey]*cell
	lastCell  *cell
	types     map[typeKey]*instanceType
	lastType  *instanceType
	kept      []*keptRow
	listed    map[listing]*keptRow // by what a row is joined by
	refused   []refusedRow
	blind     map[blindKey]int64 // rows of unknown key
	reports   map[lane]map[string]*scopeReport
	signals   []gputide.Signal
	rates     []gputide.Rate
	bodies    []gputide.Body
	scopeErrs map[reportedErr]error
	notes     []string
}

// keptRow is a normalised row.
type keptRow struct {
	offer gputide.Offer
	id    gputide.OfferID
	cell  *cell
	typ   *instanceType
	spec  *statement    // of the row; nil when it said nothing
	count gputide.Count // accelerators of the instance
	name  string        // of the accelerator, in the provider's words
	twins int64         // rows that said the same and were joined with it
}

// listing is what rows have in common that say the same of an offer.
type listing struct {
	id    gputide.OfferID
	cell  *cell
	price gputide.Nano
}

// rows is how many rows r stands for.
func (r *keptRow) rows() int64 { return 1 + r.twins }

// join makes r the one of two rows that say the same which a sort puts first. It
// reports false for rows that do not.
func (r *keptRow) join(other *keptRow) bool {
	if r.offer.Part != other.offer.Part || comparePublished(&r.offer.Published, &other.offer.Published) != 0 {
		return false
	}
	twins := r.twins + 1
	if compareRows(other, r) < 0 {
		*r = *other
	}
	r.twins = twins
	return true
}

// refusedRow is a row with a known key that gives no offer.
type refusedRow struct {
	row     gputide.Quarantined
	id      gputide.OfferID
	cell    *cell
	guarded bool // a guard refused it; else the adapter could not read it
}

// blindKey is where rows of unknown key were skipped.
type blindKey struct {
	source string
	scope  gputide.Scope
}

// reportedErr finds the error behind the reason of a failed scope.
type reportedErr struct{ source, reason string }

func newSink(info gputide.Info, norm normalizer, base *gputide.Baseline, all bool, progress func(Progress)) *sink {
	return &sink{
		info:      info,
		norm:      norm,
		all:       all,
		base:      base,
		progress:  progress,
		rank:      newRanks(info.Sources),
		texts:     make(interner),
		tallies:   make(map[string]*tally),
		cells:     make(map[cellKey]*cell),
		types:     make(map[typeKey]*instanceType),
		blind:     make(map[blindKey]int64),
		listed:    make(map[listing]*keptRow),
		reports:   make(map[lane]map[string]*scopeReport),
		scopeErrs: make(map[reportedErr]error),
	}
}

// close ends the intake.
func (s *sink) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// Offer keeps or counts one row. raw is copied only when it is kept: a row that
// is dropped allocates nothing.
func (s *sink) Offer(raw gputide.RawOffer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	c := s.count(raw.Source, &raw.Key, raw.Part, !raw.At.IsZero())
	t := s.instanceType(raw.Key.Partition, raw.Key.InstanceType)
	if !s.all && !t.accelerated(raw.Spec, raw.Source) && !s.isKnown(&raw.Key, t) {
		c.tally.notAccelerated++
		return
	}
	s.keep(raw, c, t)
}

// isKnown reports whether k is an offer the store has. It is ours whatever is
// now said of its type t, or nothing is: leaving it out would tell of an offer
// still listed that it is withdrawn.
func (s *sink) isKnown(k *gputide.Key, t *instanceType) bool {
	if !t.known {
		return false
	}
	key, ok := s.cleanKey(k)
	return ok && s.base.Series[key.ID()].Price > 0
}

func (s *sink) keep(raw gputide.RawOffer, c *cell, t *instanceType) {
	own, spec := t.resolve(raw.Spec, raw.Source)
	offer, err := s.offer(&raw, spec)
	if err != nil {
		s.refuse(&offer, c, err)
		return
	}
	s.texts.offer(&offer)
	row := &keptRow{offer: offer, id: offer.Key.ID(), cell: c, typ: t, spec: own}
	if spec != nil {
		row.count = spec.Device.Count
		row.name = spec.Device.Name
	}
	if !s.joined(row) {
		s.kept = append(s.kept, row)
	}
}

// joined joins a row with one that says the same, so that a list that repeats
// itself takes no room. Events, each of its own moment, are not joined.
func (s *sink) joined(row *keptRow) bool {
	if !row.offer.At.IsZero() {
		return false
	}
	as := listing{row.id, row.cell, row.offer.Price}
	if known := s.listed[as]; known != nil {
		return known.join(row)
	}
	s.listed[as] = row
	return false
}

// offer normalises one row; with an error, too, the offer has the row's key. A
// panic over it is a refusal: rows arrive on the adapter's goroutines, where
// nobody else would catch it.
func (s *sink) offer(raw *gputide.RawOffer, spec *gputide.Spec) (o gputide.Offer, err error) {
	err = protect(func() (err error) {
		o, err = s.norm.Offer(raw, spec)
		return err
	})
	if _, ok := errors.AsType[*PanicError](err); ok {
		o = gputide.Offer{Key: raw.Key, Part: raw.Part, Source: raw.Source, Published: raw.Price}
	}
	if err == nil && !s.sells(o.Key.Currency) {
		err = &normalize.Refusal{
			Reason: normalize.ReasonWrongCurrency, Detail: string(o.Key.Currency), Err: gputide.ErrInvalid,
		}
	}
	return o, err
}

// cleanKey returns k as normalize writes it. ok is false for a key that names no
// series.
func (s *sink) cleanKey(k *gputide.Key) (key gputide.Key, ok bool) {
	o, err := s.offer(&gputide.RawOffer{Key: *k}, nil)
	r, refused := errors.AsType[*normalize.Refusal](err)
	return o.Key, refused && !namesNothing(string(r.Reason))
}

// namesNothing reports whether a row refused for the reason leaves open which
// offer it was.
func namesNothing(reason string) bool {
	switch normalize.Reason(reason) {
	case normalize.ReasonBadKey, normalize.ReasonBadText, normalize.ReasonWrongCurrency:
		return true
	default:
		return false
	}
}

// sells reports whether the provider says it publishes prices in c.
func (s *sink) sells(c gputide.Currency) bool {
	if len(s.info.Currencies) == 0 {
		return true
	}
	for _, known := range s.info.Currencies {
		if c == known {
			return true
		}
	}
	return false
}

func (s *sink) refuse(o *gputide.Offer, c *cell, err error) {
	row := gputide.Quarantined{
		Key: o.Key, Part: o.Part, Source: c.key.source,
		Reason: reasonPanic, Detail: err.Error(), Published: o.Published,
	}
	if r, ok := errors.AsType[*normalize.Refusal](err); ok {
		row.Reason, row.Detail = string(r.Reason), r.Detail
	}
	s.quarantine(row, c, true)
}

// quarantine keeps a refused row until the run is assembled; beyond the bound, its
// count.
func (s *sink) quarantine(row gputide.Quarantined, c *cell, guarded bool) {
	if len(s.refused) >= maxRefusedRows {
		s.skipBlind(c.tally, c.key.where(), row.Reason)
		return
	}
	s.texts.quarantined(&row)
	s.refused = append(s.refused, refusedRow{row: row, id: row.Key.ID(), cell: c, guarded: guarded})
}

// skipBlind counts a row that cannot be told from others of its scope.
func (s *sink) skipBlind(t *tally, where gputide.Scope, reason string) {
	t.skip(reason, 1)
	s.blind[blindKey{t.source, where}]++
}

// Spec adds what a source says of an instance type.
func (s *sink) Spec(spec gputide.Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	t := s.tally(spec.Source)
	t.specs++
	// Any market and currency will do: only the names are in question.
	_, ok := s.cleanKey(&gputide.Key{
		Provider: s.info.Name, Partition: spec.Partition, InstanceType: spec.InstanceType,
		Market: gputide.OnDemand, Currency: s.currency(),
	})
	if !ok || !s.instanceType(spec.Partition, spec.InstanceType).add(spec) {
		t.badSpecs++
	}
}

// currency returns a currency the provider publishes prices in.
func (s *sink) currency() gputide.Currency {
	if len(s.info.Currencies) > 0 {
		return s.info.Currencies[0]
	}
	return "USD"
}

// Signal adds one signal.
func (s *sink) Signal(sig gputide.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.tally(sig.Source).signals++
	s.signals = append(s.signals, sig)
}

// Rate adds one exchange rate.
func (s *sink) Rate(r gputide.Rate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.tally(r.Source).read++
	s.rates = append(s.rates, r)
}

// Skip counts a row that should have been an offer.
func (s *sink) Skip(row gputide.Skipped) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if row.Key == nil {
		t := s.tally(row.Source)
		t.read++
		s.skipBlind(t, row.Scope, row.Reason)
		return
	}
	c := s.count(row.Source, row.Key, row.Part, false)
	key, ok := s.cleanKey(row.Key)
	if !ok {
		s.skipBlind(c.tally, c.key.where(), row.Reason)
		return
	}
	s.quarantine(gputide.Quarantined{
		Key: key, Part: row.Part, Source: row.Source, Reason: row.Reason, Detail: row.Detail,
	}, c, false)
}

// Omit counts rows that are, by rule, none of ours.
func (s *sink) Omit(source, reason string, rows int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	t := s.tally(source)
	t.read += rows
	t.unplaced += rows
	t.omit(reason, rows)
}

// Scope takes the outcome of one scope from one source.
func (s *sink) Scope(run gputide.ScopeRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	l := lane{run.Scope, run.EventFeed}
	bySource := s.reports[l]
	if bySource == nil {
		bySource = make(map[string]*scopeReport)
		s.reports[l] = bySource
	}
	if bySource[run.Source] == nil {
		bySource[run.Source] = newScopeReport(run)
	} else {
		bySource[run.Source].merge(run)
	}
	t := s.tally(run.Source)
	if run.Status == gputide.ScopeDone {
		t.done++
	}
	s.tell(t)
}

// Source takes the outcome of a source as a whole.
func (s *sink) Source(source string, status gputide.SourceStatus, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	t := s.tally(source)
	message := ""
	if err != nil {
		message = err.Error()
		s.scopeErrs[reportedErr{source, message}] = err
	}
	switch {
	case status == gputide.SourceOK:
		t.done++
	case status == gputide.SourceSkipped, onlySkipped(err):
		t.skipSource(message)
	default:
		t.fail(message)
	}
}

// body records a response of the run.
func (s *sink) body(b gputide.Body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.bodies = append(s.bodies, b)
	t := s.tally(b.Source)
	t.bytes += b.Size
	s.tell(t)
}
