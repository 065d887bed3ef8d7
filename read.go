package gputide

import "time"

// Fields a selection can match beside the key fields. They are derived from the
// spec, the accelerator catalogue and the region table.
const (
	FieldGPU       Field = "gpu"    // accelerator slug
	FieldVendor    Field = "vendor" // accelerator vendor, lower case
	FieldModel     Field = "model"
	FieldStack     Field = "software"
	FieldCountry   Field = "country" // ISO 3166-1 alpha-2, lower case
	FieldContinent Field = "continent"
	FieldCount     Field = "count" // "8", "1/8"
)

// Match selects values of one field: any of Values.
type Match struct {
	Field  Field
	Values []string
}

// Selection selects series: all matches must hold. IDs, when not empty, names
// series directly and further matches narrow them.
type Selection struct {
	IDs     []OfferID
	Matches []Match
}

// Quote is one offer as known at a moment.
type Quote struct {
	ID         OfferID
	Key        Key
	State      State
	Price      Nano // last known hourly instance price; see State
	Published  Published
	Flags      []Flag
	Source     string    // which source listed it last
	SKU        string    // as of the last price change
	FirstSeen  time.Time // first observation
	Since      time.Time // observation that first saw Price
	NotBefore  time.Time // observation before Since; zero when there was none
	ObservedAt time.Time // last observation that confirmed it
	Imported   bool      // the last observation came from an import
	Spec       *Spec     // in force at the moment; nil when none is known
}

// Interval is a stretch of time in which a series had one price and state.
type Interval struct {
	From, To     time.Time // [From, To)
	Price        Nano
	State        State
	LastObserved time.Time // last observation inside or before the interval
	KnownSince   time.Time // observation that first saw Price
}

// Observation is one moment at which a source stated a price.
type Observation struct {
	At    time.Time
	Price Nano
}

// ChangeKind is what happened to a series.
type ChangeKind string

// The kinds of change.
const (
	ChangeFirstSeen ChangeKind = "first_seen"
	ChangePrice     ChangeKind = "price"
	ChangeWithdrawn ChangeKind = "withdrawn"
	ChangeReturned  ChangeKind = "returned"
	ChangeHeld      ChangeKind = "held"
	ChangeReleased  ChangeKind = "released"
	ChangeSpec      ChangeKind = "spec"
)

// ChangeKinds lists the kinds of change.
func ChangeKinds() []ChangeKind {
	return []ChangeKind{
		ChangeFirstSeen, ChangePrice, ChangeWithdrawn, ChangeReturned, ChangeHeld, ChangeReleased, ChangeSpec,
	}
}

// Change is one entry of the change feed. Before and After are nil where there
// is no price on that side; a spec change has neither.
type Change struct {
	Seq        uint64
	ID         OfferID // of a spec change: zero
	Key        Key     // of a spec change: provider, partition and instance type
	Kind       ChangeKind
	Before     *Nano
	After      *Nano
	SeenAt     time.Time // the observation that first saw it
	NotBefore  time.Time // the observation before; the true moment lies between
	RecordedAt time.Time
	Cause      Cause
	Flags      []Flag
}

// ChangeFilter selects changes. Zero times and an empty list mean no bound.
type ChangeFilter struct {
	Selection Selection
	Kinds     []ChangeKind
	From, To  time.Time // event time, [From, To)
	AfterSeq  uint64
	Limit     int
}

// SignalValue is one signal as known at a moment.
type SignalValue struct {
	Key        Key
	Name       string
	Value      int64
	Source     string
	Since      time.Time
	ObservedAt time.Time
}

// SignalHistory is one signal over time.
type SignalHistory struct {
	Key       Key
	Name      string
	Intervals []SignalInterval // oldest first; time in which the signal was not in force is in none
}

// SignalInterval is a stretch of time in which a signal had one value.
type SignalInterval struct {
	From, To     time.Time // [From, To)
	Value        int64
	LastObserved time.Time // last observation inside or before the interval
}

// Baseline is what the store knows of a provider before a run: the ground that
// guards compare the run with.
type Baseline struct {
	Scopes []ScopeBaseline
	Series map[OfferID]SeriesBaseline
	Types  map[TypeName]struct{} // of the series
}

// TypeName names an instance type of one provider.
type TypeName struct{ Partition, InstanceType string }

// ScopeBaseline is the past of one scope.
type ScopeBaseline struct {
	Scope      Scope
	LastSource string           // source of the last done run
	LastDone   map[string]int   // source → count of its last done run
	LastAt     time.Time        // moment of the last run of any outcome
	DoneAt     time.Time        // moment of the last done run
	FedAt      time.Time        // moment of the last done run of its event feed, of those older than the run; zero when there is none
	HeldDigest string           // digest of the run held last; empty when the last run was not held
	Sources    map[string]int64 // source → done runs
}

// SeriesBaseline is the past of one series.
type SeriesBaseline struct {
	Price     Nano
	Present   bool // listed by the last done run that covered it
	Held      bool
	Source    string
	HeldPrice *Nano // price of the row that was held last; nil when none
}

// StoreStats describes a database.
type StoreStats struct {
	Path          string
	FileBytes     int64
	UsedBytes     int64
	SchemaVersion int
	ToolVersion   string
	Catalogue     string
	CreatedAt     time.Time
	Series        int64
	Changes       int64
	Runs          int64
	Observations  int64
	Specs         int64
	Signals       int64
	Rates         int64
	Quarantined   int64
	Buckets       map[string]int64 // bucket → bytes in use
}

// Attr is one derived attribute of a series, for selection.
type Attr struct {
	Field Field
	Value string
}

// ImportKind says what the rows of an import are.
type ImportKind string

// The kinds of import. A snapshot lists everything on offer at its moments, so
// absence withdraws; events state single prices and absence means nothing.
const (
	ImportSnapshot ImportKind = "snapshot"
	ImportEvents   ImportKind = "events"
)

// ImportRow is one observation of an import.
type ImportRow struct {
	At    time.Time // the moment observed, in whole seconds
	Offer Offer

	// State is empty for a price. [StateWithdrawn] says that the offer was no
	// longer listed at the moment, [StateHeld] that its row could not be used; the
	// offer then has its key alone.
	State State

	// Scope is the slice that a snapshot lists whole at its moments; the same for
	// every row of a key. Nil is the partition, seller, region, market and part of
	// the offer.
	Scope *Scope

	// Spec is what the record says of the instance type. It is stored where no
	// spec is known at the moment, never over one. Many rows may share one value;
	// it must not change. Nil means the record says nothing.
	Spec *Spec
}

// ImportResult says what an import changed.
type ImportResult struct {
	Rows      int // rows read
	Series    int // series they belong to
	FirstSeen int
	Changed   int // price changes added
	Withdrawn int
	Returned  int
	Confirmed int // rows that repeat a price, newly recorded
	Known     int // rows that were stored before, or twice in the import
	Specs     int // specs added
	Conflicts int // rows refused: another price is stated for the same offer and moment
}
