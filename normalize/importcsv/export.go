package importcsv

import (
	"time"

	"github.com/gputide/gputide"
)

// The columns of an export beside the key fields. As NDJSON they are the fields
// of an object, where components, flags and spec are no text.
const (
	exportTime       = "time"
	exportState      = "state"
	exportID         = "offer_id"
	exportPrice      = "price"
	exportAmount     = "amount"
	exportUnit       = "unit"
	exportBasis      = "basis"
	exportUpfront    = "upfront"
	exportMultiplier = "multiplier"
	exportComponents = "components"
	exportSKU        = "sku"
	exportFlags      = "flags"
	exportSpec       = "spec"
)

// ExportColumns lists the columns of an export, in order.
func ExportColumns() []string {
	names := []string{exportTime, exportState, exportID}
	for _, f := range gputide.KeyFields() {
		names = append(names, string(f))
	}
	return append(names, exportPrice, exportAmount, exportUnit, exportBasis, exportUpfront, exportMultiplier, exportComponents,
		exportSKU, exportFlags, exportSpec)
}

// Exported is a row of an export: what was said of an offer at a moment.
type Exported struct {
	At        time.Time
	State     gputide.State // priced, held or withdrawn
	Key       gputide.Key
	Price     gputide.Nano // of a priced row, as all below
	Published gputide.Published
	SKU       string
	Flags     []gputide.Flag
	Spec      *gputide.Spec // of the first row of an offer; nil when none is known
}

// exportComponent is a part of a price as exported.
type exportComponent struct {
	Kind     string       `json:"kind"`
	Amount   string       `json:"amount"`
	Unit     gputide.Unit `json:"unit"`
	Quantity string       `json:"quantity"`
	SKU      string       `json:"sku,omitempty"`
}
