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

// machineTypes is one page of the Compute API. A zone without machine types has
// a warning instead.
type machineTypes struct {
	Items         map[string]zoneTypes `json:"items"` // by "zones/us-central1-a"
	NextPageToken string               `json:"nextPageToken"`
}

type zoneTypes struct {
	MachineTypes []machineType `json:"machineTypes"`
}

type machineType struct {
	Name         string   `json:"name"`
	CPUs         *float64 `json:"guestCpus"`
	MemoryMB     *float64 `json:"memoryMb"` // MiB
	Architecture string   `json:"architecture"`
	Deprecated   struct {
		State string `json:"state"`
	} `json:"deprecated"`
	Accelerators []struct {
		Type  string `json:"guestAcceleratorType"`
		Count uint32 `json:"guestAcceleratorCount"`
	} `json:"accelerators"`
}
