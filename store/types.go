package store

import (
	"github.com/gputide/gputide"
)

// Deriver computes the attributes of a series that come from the accelerator
// catalogue and the region table. The spec is nil when none is known.
type Deriver interface {
	// Version identifies the tables: when it changes, attributes are rebuilt.
	Version() string
	// Derive returns the attributes of a series.
	Derive(*gputide.Key, *gputide.Spec) []gputide.Attr
}

// ImportResult says what an import changed.
type ImportResult = gputide.ImportResult

// Series is one series of an export: who it is and every observation of it.
// Values are reused by the iterator: copy what must outlive a step.
type Series struct {
	Key   gputide.Key
	State gputide.State // at the time of the export, sold_out aside

	// Times holds the moments observed, as Unix seconds, ascending; Prices the
	// price stated at each.
	Times  []int64
	Prices []gputide.Nano
}

// Latest holds the current prices of a selection, one element per offer in each
// slice. Slices are reused by the next call.
type Latest struct {
	Refs    []uint32 // private to the database; stable while it is open
	Prices  []gputide.Nano
	Listed  []bool   // listed by the last run that concluded anything about it
	Changed []uint32 // last change of any kind, Unix seconds
}

// ID returns the offer id.
func (s *Series) ID() gputide.OfferID { return s.Key.ID() }
