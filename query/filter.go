package query

import (
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// Filter selects offers, changes, instance types and signals. Values are text
// as a person gives them. A list selects any of its values; filters of
// different fields must all hold; an empty one selects everything. In the text
// fields of a key a * stands for any characters, and a lone - for "not said".
type Filter struct {
	Provider, Partition, Seller []string
	Region, Zone                []string
	Country, Continent          []string
	Type                        []string // instance type
	GPU, Vendor, Software       []string
	Market, Plan, Term, Payment []string
	OS, License, Tenancy, Tier  []string
	Volume, Stat, Tax, Currency []string
	Count                       []string // accelerators: "8", "1/8"
	State, Flag                 []string
	Interconnect, Precision     []string

	MinGPUMemory string // of each accelerator: "80GB"
	Fits         string // of all together: "640GB"
	MinRAM       string // "256GB"
	MaxPrice     string // per instance-hour in the currency of the answer; "2.5/gpu" per accelerator
	BareMetal    *bool
	Available    *bool
}

// question is one of the questions that take a [Filter].
type question uint8

const (
	askOffers question = 1 << iota
	askChanges
	askTypes
	askSignals
)

const (
	askAll    = askOffers | askChanges | askTypes | askSignals
	askPrices = askOffers | askChanges
	askSeries = askOffers | askChanges | askSignals
)

// filterField is one field of [Filter]. One of list, text and flag is set.
type filterField struct {
	name string
	enum []string // the values it takes; nil is open
	asks question
	key  gputide.Field // of a field that selects series
	list func(*Filter) *[]string
	text func(*Filter) *string
	flag func(*Filter) **bool

	asked question // the one the value is of
}

func allFilters() []filterField {
	return append(keyFilters(), specFilters()...)
}

func keyFilters() []filterField {
	return []filterField{
		{name: "provider", asks: askAll, key: gputide.FieldProvider, list: func(f *Filter) *[]string { return &f.Provider }},
		{name: "partition", asks: askAll, key: gputide.FieldPartition, list: func(f *Filter) *[]string { return &f.Partition }},
		{name: "seller", asks: askSeries, key: gputide.FieldSeller, list: func(f *Filter) *[]string { return &f.Seller }},
		{name: "region", asks: askSeries, key: gputide.FieldRegion, list: func(f *Filter) *[]string { return &f.Region }},
		{name: "country", asks: askSeries, key: gputide.FieldCountry, list: func(f *Filter) *[]string { return &f.Country }},
		{name: "continent", enum: continents(), asks: askSeries, key: gputide.FieldContinent, list: func(f *Filter) *[]string { return &f.Continent }},
		{name: "zone", asks: askSeries, key: gputide.FieldZone, list: func(f *Filter) *[]string { return &f.Zone }},
		{name: "type", asks: askAll, key: gputide.FieldInstanceType, list: func(f *Filter) *[]string { return &f.Type }},
		{name: "market", enum: texts(gputide.Markets()), asks: askSeries, key: gputide.FieldMarket, list: func(f *Filter) *[]string { return &f.Market }},
		{name: "plan", asks: askPrices, key: gputide.FieldPlan, list: func(f *Filter) *[]string { return &f.Plan }},
		{name: "term", asks: askPrices, key: gputide.FieldTerm, list: func(f *Filter) *[]string { return &f.Term }},
		{name: "payment", enum: []string{"none", "partial", "all"}, asks: askPrices, key: gputide.FieldPayment, list: func(f *Filter) *[]string { return &f.Payment }},
		{name: "os", asks: askSeries, key: gputide.FieldOS, list: func(f *Filter) *[]string { return &f.OS }},
		{name: "license", asks: askSeries, key: gputide.FieldLicense, list: func(f *Filter) *[]string { return &f.License }},
		{name: "tenancy", asks: askSeries, key: gputide.FieldTenancy, list: func(f *Filter) *[]string { return &f.Tenancy }},
		{name: "tier", asks: askSeries, key: gputide.FieldTier, list: func(f *Filter) *[]string { return &f.Tier }},
		{name: "volume", asks: askPrices, key: gputide.FieldVolume, list: func(f *Filter) *[]string { return &f.Volume }},
		{name: "stat", enum: stats(), asks: askPrices, key: gputide.FieldStat, list: func(f *Filter) *[]string { return &f.Stat }},
		{name: "tax", enum: []string{"excluded", "included"}, asks: askPrices, key: gputide.FieldTax, list: func(f *Filter) *[]string { return &f.Tax }},
		{name: "currency", asks: askPrices, key: gputide.FieldCurrency, list: func(f *Filter) *[]string { return &f.Currency }},
	}
}

func specFilters() []filterField {
	return []filterField{
		{name: "gpu", asks: askAll, key: gputide.FieldGPU, list: func(f *Filter) *[]string { return &f.GPU }},
		{name: "vendor", asks: askAll, key: gputide.FieldVendor, list: func(f *Filter) *[]string { return &f.Vendor }},
		{name: "software", asks: askAll, key: gputide.FieldStack, list: func(f *Filter) *[]string { return &f.Software }},
		{name: "count", asks: askAll, key: gputide.FieldCount, list: func(f *Filter) *[]string { return &f.Count }},
		{name: "min-gpu-memory", asks: askAll, text: func(f *Filter) *string { return &f.MinGPUMemory }},
		{name: "fits", asks: askAll, text: func(f *Filter) *string { return &f.Fits }},
		{name: "min-ram", asks: askAll, text: func(f *Filter) *string { return &f.MinRAM }},
		{name: "interconnect", asks: askAll, list: func(f *Filter) *[]string { return &f.Interconnect }},
		{name: "precision", enum: precisions(), asks: askAll, list: func(f *Filter) *[]string { return &f.Precision }},
		{name: "bare-metal", asks: askAll, flag: func(f *Filter) **bool { return &f.BareMetal }},
		{name: "max-price", asks: askOffers, text: func(f *Filter) *string { return &f.MaxPrice }},
		{name: "available", asks: askOffers, flag: func(f *Filter) **bool { return &f.Available }},
		{name: "state", enum: texts(gputide.States()), asks: askOffers, list: func(f *Filter) *[]string { return &f.State }},
		{name: "flag", enum: flags(), asks: askPrices, list: func(f *Filter) *[]string { return &f.Flag }},
	}
}

func continents() []string {
	return []string{"africa", "antarctica", "asia", "europe", "north-america", "oceania", "south-america"}
}

func precisions() []string {
	return []string{"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8", "int4"}
}

func stats() []string {
	return texts([]gputide.Stat{
		gputide.StatList, gputide.StatPromo, gputide.StatPayable, gputide.StatBidFloor, gputide.StatMin, gputide.StatP50,
	})
}

func flags() []string {
	return texts([]gputide.Flag{
		gputide.FlagAcceleratorOnly, gputide.FlagAccountZone, gputide.FlagFXOld, gputide.FlagListedNotSold,
		gputide.FlagMaskedAccelerator, gputide.FlagMemoryMismatch, gputide.FlagNoFX, gputide.FlagSourceChanged,
		gputide.FlagSpecUnknown, gputide.FlagSpotAboveOnDemand, gputide.FlagSpotEqualsOnDemand, gputide.FlagTruncated,
		gputide.FlagUnknownAccelerator, gputide.FlagUnknownRegion,
	})
}

func texts[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, v := range in {
		out[i] = string(v)
	}
	return out
}

// active reports whether f holds a value for the field.
func (d *filterField) active(f *Filter) bool { return d.value(f) != "" }

// value returns what f holds for the field, for people.
func (d *filterField) value(f *Filter) string {
	switch {
	case d.list != nil:
		return strings.Join(*d.list(f), ",")
	case d.text != nil:
		return *d.text(f)
	}
	if b := *d.flag(f); b != nil {
		return strconv.FormatBool(*b)
	}
	return ""
}

// clear empties the field.
func (d *filterField) clear(f *Filter) {
	switch {
	case d.list != nil:
		*d.list(f) = nil
	case d.text != nil:
		*d.text(f) = ""
	default:
		*d.flag(f) = nil
	}
}
