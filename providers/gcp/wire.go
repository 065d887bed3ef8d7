package gcp

import "encoding/json"

// sku is one row of the catalogue; only the fields used. Numbers that make up
// money stay raw: a missing one is not zero.
type sku struct {
	ID          string `json:"skuId"`
	Description string `json:"description"`
	Category    struct {
		Group string `json:"resourceGroup"`
		Usage string `json:"usageType"`
	} `json:"category"`
	Regions []string  `json:"serviceRegions"`
	Pricing []pricing `json:"pricingInfo"` // the current one; further ones are of other times
}

type pricing struct {
	Expression struct {
		Unit  string `json:"usageUnit"`
		Tiers []tier `json:"tieredRates"`
	} `json:"pricingExpression"`
}

// tier is the rate of usage from an amount on, in a month.
type tier struct {
	Start json.RawMessage `json:"startUsageAmount"` // missing in projections: 0
	Price struct {
		Currency string          `json:"currencyCode"`
		Units    *string         `json:"units"`
		Nanos    json.RawMessage `json:"nanos"`
	} `json:"unitPrice"`
}

// zonePage is one page of the Compute API: machine types or accelerator types by
// zone, "zones/us-central1-a". A zone without any has a warning instead.
type zonePage struct {
	Items         map[string]zoneTypes `json:"items"`
	NextPageToken string               `json:"nextPageToken"`
}

type zoneTypes struct {
	MachineTypes     []machineType     `json:"machineTypes"`
	AcceleratorTypes []acceleratorType `json:"acceleratorTypes"`
}

type machineType struct {
	Name         string     `json:"name"`
	CPUs         *float64   `json:"guestCpus"`
	MemoryMB     *float64   `json:"memoryMb"` // MiB
	Architecture string     `json:"architecture"`
	Deprecated   deprecated `json:"deprecated"`
	Accelerators []struct {
		Type  string `json:"guestAcceleratorType"`
		Count uint32 `json:"guestAcceleratorCount"`
	} `json:"accelerators"`
}

type acceleratorType struct {
	Name       string     `json:"name"`
	Most       *uint32    `json:"maximumCardsPerInstance"`
	Deprecated deprecated `json:"deprecated"`
}

type deprecated struct {
	State string `json:"state"`
}

// gone reports whether none can be made any more; what is merely deprecated can.
func (d deprecated) gone() bool { return d.State == "OBSOLETE" || d.State == "DELETED" }
