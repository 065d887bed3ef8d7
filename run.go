package gputide

import "time"

// State is what is known of an offer at a moment. Exactly one holds, by the
// precedence of the list.
type State string

// The states of an offer at a moment T, in order of precedence.
const (
	StateUnknown     State = "unknown"      // T lies before the offer was first seen
	StateWithdrawn   State = "withdrawn"    // a done scope no longer listed it
	StateHeld        State = "held"         // listed, but its row was refused or skipped; the last price is kept
	StateGap         State = "gap"          // its scope failed or was held at T
	StateStale       State = "stale"        // the last good run is older than twice the cadence in force
	StateSoldOut     State = "sold_out"     // the availability signal says none
	StatePriced      State = "priced"       // confirmed at its price
	StateImportedEnd State = "imported_end" // after the last observation of an import
)

// States lists the states in order of precedence.
func States() []State {
	return []State{
		StateUnknown, StateWithdrawn, StateHeld, StateGap, StateStale, StateSoldOut, StatePriced, StateImportedEnd,
	}
}

// Cause is what wrote a change.
type Cause string

// The causes of a change.
const (
	CauseCrawl  Cause = "crawl"
	CauseImport Cause = "import"
	CauseReplay Cause = "replay"
	CauseAccept Cause = "accept"
)

// ScopeStatus is the outcome of one scope of a run.
type ScopeStatus string

// The outcomes of a scope.
const (
	ScopeDone   ScopeStatus = "done"
	ScopeFailed ScopeStatus = "failed"
	ScopeHeld   ScopeStatus = "held"
)

// ScopeRun is the outcome of one scope of a run.
type ScopeRun struct {
	Scope  Scope
	Status ScopeStatus
	Source string // the one source that fed it; of a failed scope, the last asked
	Count  int    // offers (or signals) listed in it, held ones included

	// Digest identifies what the source listed in it, whatever the prices; the
	// crawler fills it. A held scope whose next run has the same is accepted.
	Digest string

	// NoWithdraw is set when a row of unknown key was skipped: what is missing
	// may be that row, so nothing is concluded from absence.
	NoWithdraw bool

	// EventFeed is set when the source reports changes in a window and not
	// everything on offer: absence means nothing. From and To are the window.
	EventFeed bool
	From, To  time.Time

	Reason string   // why it failed or was held
	URLs   []string // redacted, where its rows came from
}

// Body is one response of a run, as archived.
type Body struct {
	Source    string
	URL       string // redacted
	Status    int
	Hash      string // SHA-256 of the body, hex; empty when nothing was archived
	Size      int64
	FetchedAt time.Time
}

// SourceStatus is the outcome of one source of a run.
type SourceStatus string

// The outcomes of a source. A skipped source was not asked: it needs a key, the
// fixture lacks it, or a more authoritative one answered.
const (
	SourceOK      SourceStatus = "ok"
	SourceFailed  SourceStatus = "failed"
	SourceSkipped SourceStatus = "skipped"
)

// SourceReport counts what became of the rows of one source in one run.
type SourceReport struct {
	Source  string
	Status  SourceStatus
	Message string // error, or why it was skipped and what to do

	Read    int64            // rows read: the sum of all counts below
	Kept    int64            // offers stored
	Skipped map[string]int64 // reason → rows that should have been offers and are not
	Omitted map[string]int64 // reason → rows that are, by rule, no offers of ours
}

// Report is what a run tells its operator.
type Report struct {
	Sources             []SourceReport
	UnknownAccelerators map[string]int64 // raw name → offers
	UnknownRegions      map[string]int64
	Notes               []string // guards that fired, holds that were accepted
}

// Quarantined is a row that was refused, kept for review.
type Quarantined struct {
	Key       Key
	Part      string
	Source    string
	Reason    string // a closed list: see normalize
	Detail    string
	Price     *Nano // the price it would have had; nil when there is none
	Published Published
	BodyHash  string
	At        time.Time

	// Row numbers the refused rows of one offer, from 1; the store sets it.
	Row int `json:"-"`

	// Rejected is set when the operator refused the row: the same price is not
	// accepted when the next run agrees.
	Rejected bool `json:",omitempty"`
}

// Skipped is a row that should have been an offer and could not be read.
type Skipped struct {
	Source string
	Key    *Key // nil when the row does not even say what it is
	Part   string
	Scope  Scope // where the row belongs when Key is nil
	Reason string
	Detail string
}

// Rate is an exchange rate of one day: one Base buys Amount of Quote.
type Rate struct {
	Date   time.Time // midnight UTC of the day it was published for
	Base   Currency
	Quote  Currency
	Amount string // decimal text as published
	Source string
}

// Run is one crawl of one provider, normalised and ready to commit.
type Run struct {
	Provider    string
	At          time.Time // the moment observed, in whole seconds
	StartedAt   time.Time
	FinishedAt  time.Time
	Cause       Cause
	Replace     bool // overwrite a run of the same scope and moment
	Cadence     time.Duration
	CodeVersion string

	Scopes      []ScopeRun
	Offers      []Offer // of done scopes only
	HeldKeys    []HeldKey
	Specs       []Spec
	Signals     []Signal
	Rates       []Rate
	Quarantined []Quarantined
	Bodies      []Body
	Report      Report
	Err         string // of the crawl as a whole; empty when it ended well
}

// HeldKey names a series that was listed by a row that could not be used: it
// counts as listed and keeps its last price.
type HeldKey struct {
	Key    Key
	Part   string
	Source string
	Reason string
}

// CommitResult says what a committed run changed.
type CommitResult struct {
	RunID     uint64
	NoOp      bool // the same run was stored before
	FirstSeen int
	Changed   int // price changes
	Withdrawn int
	Returned  int
	Held      int
	Released  int
	Specs     int
	Signals   int
	Confirmed int // offers listed again at their price
	Rates     int // exchange rates added or corrected
	Conflicts int // event rows refused: another price is stored for the same offer and moment
}

// RunRecord is a stored run as listed and shown.
type RunRecord struct {
	ID          uint64
	Provider    string
	At          time.Time
	StartedAt   time.Time
	FinishedAt  time.Time
	RecordedAt  time.Time
	Cause       Cause
	CodeVersion string
	Scopes      []ScopeRun
	Report      Report
	Result      CommitResult
	Bodies      []Body
	Err         string
}

// Failed reports whether any scope of the run failed or was held, or the crawl
// ended in an error.
func (r *RunRecord) Failed() bool {
	if r.Err != "" {
		return true
	}
	for _, s := range r.Scopes {
		if s.Status != ScopeDone {
			return true
		}
	}
	return false
}
