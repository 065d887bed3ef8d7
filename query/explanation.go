package query

import "github.com/gputide/gputide"

// Explanation says where the price of one offer comes from.
type Explanation struct {
	OfferID     Text            `json:"offer_id"`
	At          Stamp           `json:"at"`
	Key         KeyRow          `json:"key"`
	State       gputide.State   `json:"state"`
	Price       *Money          `json:"price"` // last known; null before the offer was first seen
	PriceUSD    *Money          `json:"price_usd"`
	FirstSeen   Stamp           `json:"first_seen"`
	Since       Stamp           `json:"since"`
	NotBefore   Stamp           `json:"not_before"`
	ObservedAt  Stamp           `json:"observed_at"`
	AgeS        int64           `json:"age_s"`
	Published   PublishedRow    `json:"published"`
	Upfront     Text            `json:"upfront"`
	Components  []ComponentRow  `json:"components"`
	Multiplier  Text            `json:"multiplier"` // how many of the basis one instance has
	Arithmetic  []string        `json:"arithmetic"` // one step a line
	FX          *FXRow          `json:"fx"`         // null for a price in USD
	Accelerator *AcceleratorRow `json:"accelerator"`
	Catalogue   *CatalogueRow   `json:"catalogue"`
	Flags       []gputide.Flag  `json:"flags"`
	SKU         Text            `json:"sku"`
	Source      Text            `json:"source"`
	Confirmed   *EvidenceRow    `json:"confirmed_by"` // the run that confirmed the price last
	Priced      *EvidenceRow    `json:"priced_by"`    // the run that first saw it
}

// FXRow is a conversion to USD through the euro.
type FXRow struct {
	From Text    `json:"from"`
	To   Text    `json:"to"`
	Rate Text    `json:"rate"`
	Legs []FXLeg `json:"legs"`
}

// FXLeg is one published rate: one EUR buys Rate of Currency.
type FXLeg struct {
	Currency Text `json:"currency"`
	Rate     Text `json:"rate"`
	Date     Day  `json:"date"`
	Source   Text `json:"source"`
}

// CatalogueRow is the catalogue's word on an accelerator.
type CatalogueRow struct {
	Version    Text `json:"version"`
	Slug       Text `json:"slug"`
	Title      Text `json:"title"`
	Source     Text `json:"source"`
	SourceDate Text `json:"source_date"`
	Evidence   Text `json:"evidence"`
}

// EvidenceRow is a run and what it read for the scope of one offer.
type EvidenceRow struct {
	RunID  uint64              `json:"run_id"`
	At     Stamp               `json:"at"`
	Cause  gputide.Cause       `json:"cause"`
	Scope  Text                `json:"scope"`
	Status gputide.ScopeStatus `json:"status"`
	Source Text                `json:"source"`
	URLs   []string            `json:"urls"`
	Bodies []BodyRow           `json:"bodies"` // of the source of the offer
}

// BodyRow is one archived response.
type BodyRow struct {
	URL       Text  `json:"url"`
	Status    int   `json:"status"`
	Hash      Text  `json:"sha256"` // SHA-256, hex; null when it was not archived
	Size      int64 `json:"size"`
	FetchedAt Stamp `json:"fetched_at"`
}
