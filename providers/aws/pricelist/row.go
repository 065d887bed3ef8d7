package pricelist

import "github.com/gputide/gputide"

// Reasons of rows that are, by rule, no offers.
const (
	OmitFamily         = "other_product_family"    // storage, transfer, dedicated hosts, …
	OmitNoType         = "no_instance_type"        // the free-trial row of every list
	OmitUnused         = "unused_capacity"         // UnusedBox and reservation twins of a priced row
	OmitCapacityBlock  = "capacity_block_twin"     // listed at 0; sold by another API
	OmitInfrastructure = "infrastructure_twin"     // the licence-free part of a licensed row
	OmitNotWanted      = "not_wanted"              // left out by Options.Only
	OmitNoTerm         = "no_term"                 // a product without any price
	OmitTermKind       = "other_term_kind"         // terms beside OnDemand and Reserved
	omitJoined         = "part_of_a_reserved_term" // second row of an offer of two rows
)

// Reasons of rows that should be offers and cannot be read.
const (
	SkipNoPrice       = "no_price"
	SkipOverflow      = "overflow"
	SkipCurrency      = "wrong_currency"
	SkipIncomplete    = "incomplete"   // a reserved term without its hourly rate or its fee
	SkipContradictory = "bad_term"     // on-demand with a lease, a lease of unknown length, …
	SkipUnit          = "wrong_unit"   // neither Hrs nor Quantity
	SkipTiered        = "tiered"       // a price for a range of usage
	SkipBadRow        = "bad_row"      // an attribute is missing or outside its vocabulary
	SkipOtherRegion   = "other_region" // the row belongs to another list
	SkipRateCode      = "bad_rate_code"
)

// Options say which list is read and what is wanted of it.
type Options struct {
	Source    string // source ID, for errors
	Partition string
	Currency  gputide.Currency // of the partition; other currencies are refused
	Region    string           // the region the list is for; empty for a list of all regions

	// Only leaves out everything but on-demand Linux rows when set, unread where
	// possible.
	Only Wanted

	// Products, when set, takes the products of the list.
	Products *Products
}

// Wanted selects a part of a list.
type Wanted uint8

// The parts of a list. The zero value is the whole.
const (
	Everything Wanted = iota
	OnDemandLinux
)

// Type is what a row says of its instance type, verbatim. Rows of one list
// share one value per type.
type Type struct {
	Name      string // p5.48xlarge
	Family    string // "GPU instance", "Machine Learning ASIC Instances", …
	VCPU      string
	Memory    string // "2048 GiB"
	GPU       string // devices of any accelerated kind; empty or "NA" when not said
	GPUMemory string // of the instance: "640 GB HBM3"; "NA" in older lists
	Network   string // "3200 Gigabit"
	Processor string
	Metal     bool
}

// Row is one offer of a list, or one row that should have been one.
type Row struct {
	Key   gputide.Key // Provider is empty
	Price gputide.Published
	SKU   string
	Type  *Type // nil when not known

	// Skip is the reason the row has no price; empty for an offer. Known tells
	// whether Key could be read all the same; if not, it has the market at most.
	Skip   string
	Detail string
	Known  bool
}

// Report counts what became of the rows of a list.
type Report struct {
	Version   string // yyyymmddhhmmss
	Published string // publication date as printed
	Rows      int64  // price rows read
	Offers    int64
	Skipped   int64
	Omitted   map[string]int64 // reason → rows; products and kinds of terms where there is no row
}
