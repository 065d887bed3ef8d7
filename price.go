package gputide

import "time"

// Unit is the time a published amount pays for.
type Unit string

// The units of published amounts.
const (
	PerHour   Unit = "h"
	PerSecond Unit = "s"
	PerMinute Unit = "min"
	PerDay    Unit = "d"
	PerWeek   Unit = "w"
	PerMonth  Unit = "mo"
	PerYear   Unit = "y"
	PerTerm   Unit = "term" // the whole term of the key
)

// Basis is the thing a published amount pays for.
type Basis string

// The bases of published amounts.
const (
	BasisInstance    Basis = "instance"
	BasisAccelerator Basis = "accelerator"
	BasisVCPU        Basis = "vcpu"
	BasisGiB         Basis = "gib" // one GiB of memory or disk, of a component
)

// Published is a price exactly as its source prints it. It is the record; the
// hourly instance price is derived from it.
type Published struct {
	// Amount is the recurring amount, decimal text as published. It is empty
	// only where the price is wholly Upfront or a sum of Components.
	Amount string
	Unit   Unit
	Basis  Basis

	// Upfront is the fee paid once for the term of the key, decimal text; empty
	// means none is published.
	Upfront string

	// Components are the parts of a price that is a sum; empty for one amount.
	Components []Component

	// Multiplier is how many of Basis one instance has. normalize fills it for a
	// basis other than instance.
	Multiplier Count
}

// Component is one part of a price that is a sum.
type Component struct {
	Kind     string // core, ram, accelerator, local_ssd, disk
	Amount   string // decimal text for one unit of Quantity; empty is a missing part
	Unit     Unit
	Quantity string // decimal text: how many of them the instance has
	SKU      string // the provider's billing id; may be empty
}

// Flag marks what a reader must know about an offer.
type Flag string

// The flags of the schema. docs/flags.md says what each means.
const (
	FlagAccountZone        Flag = "account_zone"
	FlagUnknownAccelerator Flag = "unknown_accelerator"
	FlagUnknownRegion      Flag = "unknown_region"
	FlagMaskedAccelerator  Flag = "masked_accelerator"
	FlagSourceChanged      Flag = "source_changed"
	FlagSpotEqualsOnDemand Flag = "spot_equals_on_demand" // derived at read time
	FlagSpotAboveOnDemand  Flag = "spot_above_on_demand"  // derived at read time
	FlagTruncated          Flag = "truncated"
	FlagNoFX               Flag = "no_fx"
	FlagFXOld              Flag = "fx_old"
	FlagMemoryMismatch     Flag = "memory_mismatch"
	FlagSpecUnknown        Flag = "spec_unknown"
	FlagListedNotSold      Flag = "listed_not_sold"  // priced by the list, not to be had
	FlagAcceleratorOnly    Flag = "accelerator_only" // the cards without the machine around them
)

// RawOffer is one row of a source in the provider's own spelling. The adapter
// translates syntax; normalize decides meaning.
type RawOffer struct {
	Source string // source ID of the provider's Info
	Key    Key    // Provider is filled by Batch
	Part   string // the slice of the source the row came from; see [Scope]
	Price  Published

	// Spec is what the same row says of the instance type. Many offers may share
	// one value; it must not change after it was added. Nil means the row says
	// nothing.
	Spec *Spec

	SKU   string // the provider's billing id, verbatim; may be empty
	Flags []Flag

	// At is the moment the price took effect, stated by an event feed. Zero is
	// the moment of the run.
	At time.Time
}

// Offer is a normalised offer: its key, its derived hourly price and the price
// as published.
type Offer struct {
	Key       Key
	Part      string
	Price     Nano // per instance-hour, in Key.Currency; always positive
	Published Published
	Source    string
	SKU       string
	Flags     []Flag // sorted; stored flags only, derived ones are added by queries

	// At is the moment the price took effect, stated by an event feed. Zero is
	// the moment of the run.
	At time.Time
}
