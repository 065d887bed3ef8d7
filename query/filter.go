package query

import (
	"fmt"
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

// Question is one of the questions an [Engine] answers.
type Question uint8

// The questions that take a [Filter].
const (
	AskOffers Question = 1 << iota
	AskChanges
	AskTypes
	AskSignals
)

const (
	askAll    = AskOffers | AskChanges | AskTypes | AskSignals
	askPrices = AskOffers | AskChanges
	askSeries = AskOffers | AskChanges | AskSignals
)

// FilterField describes one field of [Filter]: the flag of the command line and
// the parameter of a URL are made from it.
type FilterField struct {
	Name string   // "min-gpu-memory"
	Help string   // one line for people
	List bool     // takes several values
	Bool bool     // takes true or false
	Enum []string // the values it takes; nil is open

	asks Question
	key  gputide.Field // of a field that selects series in the store
	list func(*Filter) *[]string
	text func(*Filter) *string
	flag func(*Filter) **bool
}

// FilterFields lists the filters that apply to a question, in the order of the
// help.
func FilterFields(q Question) []FilterField {
	var out []FilterField
	for _, f := range allFilters() {
		if f.asks&q != 0 {
			out = append(out, f)
		}
	}
	return out
}

func allFilters() []FilterField {
	return append(keyFilters(), specFilters()...)
}

func keyFilters() []FilterField {
	return []FilterField{
		{Name: "provider", Help: "cloud", asks: askAll, key: gputide.FieldProvider, list: func(f *Filter) *[]string { return &f.Provider }},
		{Name: "partition", Help: "price book of the cloud: aws-cn, intl", asks: askAll, key: gputide.FieldPartition, list: func(f *Filter) *[]string { return &f.Partition }},
		{Name: "seller", Help: "who runs the machine when an aggregator sells it", asks: askSeries, key: gputide.FieldSeller, list: func(f *Filter) *[]string { return &f.Seller }},
		{Name: "region", Help: "region as the cloud names it", asks: askSeries, key: gputide.FieldRegion, list: func(f *Filter) *[]string { return &f.Region }},
		{Name: "country", Help: "two-letter country code of the region", asks: askSeries, key: gputide.FieldCountry, list: func(f *Filter) *[]string { return &f.Country }},
		{Name: "continent", Help: "continent of the region", asks: askSeries, key: gputide.FieldContinent, list: func(f *Filter) *[]string { return &f.Continent }},
		{Name: "zone", Help: "zone inside the region", asks: askSeries, key: gputide.FieldZone, list: func(f *Filter) *[]string { return &f.Zone }},
		{Name: "type", Help: "instance type as the cloud names it", asks: askAll, key: gputide.FieldInstanceType, list: func(f *Filter) *[]string { return &f.Type }},
		{Name: "market", Help: "how it is bought", Enum: texts(gputide.Markets()), asks: askSeries, key: gputide.FieldMarket, list: func(f *Filter) *[]string { return &f.Market }},
		{Name: "plan", Help: "kind of commitment: ri_standard, sp_compute, cud", asks: askPrices, key: gputide.FieldPlan, list: func(f *Filter) *[]string { return &f.Plan }},
		{Name: "term", Help: "length of commitment: 1mo, 1y, 3y", asks: askPrices, key: gputide.FieldTerm, list: func(f *Filter) *[]string { return &f.Term }},
		{Name: "payment", Help: "when a commitment is paid", Enum: []string{"none", "partial", "all"}, asks: askPrices, key: gputide.FieldPayment, list: func(f *Filter) *[]string { return &f.Payment }},
		{Name: "os", Help: "operating system: linux, windows, rhel", asks: askSeries, key: gputide.FieldOS, list: func(f *Filter) *[]string { return &f.OS }},
		{Name: "license", Help: "licence in the price: byol, sql_std; - for none", asks: askSeries, key: gputide.FieldLicense, list: func(f *Filter) *[]string { return &f.License }},
		{Name: "tenancy", Help: "shared, dedicated, host", asks: askSeries, key: gputide.FieldTenancy, list: func(f *Filter) *[]string { return &f.Tenancy }},
		{Name: "tier", Help: "service class of the cloud: secure, community", asks: askSeries, key: gputide.FieldTier, list: func(f *Filter) *[]string { return &f.Tier }},
		{Name: "volume", Help: "step the price holds for; - for none", asks: askPrices, key: gputide.FieldVolume, list: func(f *Filter) *[]string { return &f.Volume }},
		{Name: "stat", Help: "which price", Enum: stats(), asks: askPrices, key: gputide.FieldStat, list: func(f *Filter) *[]string { return &f.Stat }},
		{Name: "tax", Help: "whether tax is in the price", Enum: []string{"excluded", "included"}, asks: askPrices, key: gputide.FieldTax, list: func(f *Filter) *[]string { return &f.Tax }},
		{Name: "currency", Help: "currency the price is published in", asks: askPrices, key: gputide.FieldCurrency, list: func(f *Filter) *[]string { return &f.Currency }},
	}
}

func specFilters() []FilterField {
	return []FilterField{
		{Name: "gpu", Help: "accelerator: h100, h100-sxm, h100-sxm-80gb, or another name of it", asks: askAll, key: gputide.FieldGPU, list: func(f *Filter) *[]string { return &f.GPU }},
		{Name: "vendor", Help: "maker of the accelerator: nvidia, amd", asks: askAll, key: gputide.FieldVendor, list: func(f *Filter) *[]string { return &f.Vendor }},
		{Name: "software", Help: "software it runs: cuda, rocm, cann", asks: askAll, key: gputide.FieldStack, list: func(f *Filter) *[]string { return &f.Software }},
		{Name: "count", Help: "accelerators of the instance: 8, 1/8", asks: askAll, key: gputide.FieldCount, list: func(f *Filter) *[]string { return &f.Count }},
		{Name: "min-gpu-memory", Help: "least memory of each accelerator: 80GB", asks: askAll, text: func(f *Filter) *string { return &f.MinGPUMemory }},
		{Name: "fits", Help: "least memory of all accelerators together: 640GB", asks: askAll, text: func(f *Filter) *string { return &f.Fits }},
		{Name: "min-ram", Help: "least memory of the machine: 256GB", asks: askAll, text: func(f *Filter) *string { return &f.MinRAM }},
		{Name: "interconnect", Help: "link between the accelerators: nvlink", asks: askAll, list: func(f *Filter) *[]string { return &f.Interconnect }},
		{Name: "precision", Help: "number format its vendor prints a dense rate for", Enum: precisions(), asks: askAll, list: func(f *Filter) *[]string { return &f.Precision }},
		{Name: "bare-metal", Help: "bare metal, or not", Bool: true, asks: askAll, flag: func(f *Filter) **bool { return &f.BareMetal }},
		{Name: "max-price", Help: "highest price per instance-hour in the currency of the answer; 2.5/gpu per accelerator", asks: AskOffers, text: func(f *Filter) *string { return &f.MaxPrice }},
		{Name: "available", Help: "known to be in stock, or known not to be", Bool: true, asks: AskOffers, flag: func(f *Filter) **bool { return &f.Available }},
		{Name: "state", Help: "what is known of the offer", Enum: texts(gputide.States()), asks: AskOffers, list: func(f *Filter) *[]string { return &f.State }},
		{Name: "flag", Help: "a mark of the offer: spot_equals_on_demand", Enum: flags(), asks: askPrices, list: func(f *Filter) *[]string { return &f.Flag }},
	}
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
		gputide.FlagAccountZone, gputide.FlagFXOld, gputide.FlagMaskedAccelerator, gputide.FlagMemoryMismatch,
		gputide.FlagNoFX, gputide.FlagSourceChanged, gputide.FlagSpecUnknown, gputide.FlagSpotAboveOnDemand,
		gputide.FlagSpotEqualsOnDemand, gputide.FlagTruncated, gputide.FlagUnknownAccelerator, gputide.FlagUnknownRegion,
	})
}

func texts[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, v := range in {
		out[i] = string(v)
	}
	return out
}

// Set sets a filter by name, replacing what it held. It returns
// [gputide.ErrInvalid] for an unknown name, naming the near ones, and for
// several values where one is due.
func (f *Filter) Set(name string, values ...string) error {
	var names []string
	for _, field := range allFilters() {
		if field.Name == name {
			return field.set(f, values)
		}
		names = append(names, field.Name)
	}
	return unknown("filter", name, names)
}

func (d *FilterField) set(f *Filter, values []string) error {
	if d.list != nil {
		*d.list(f) = append([]string(nil), values...)
		return nil
	}
	if len(values) != 1 {
		return fmt.Errorf("%w: %s takes one value, got %d", gputide.ErrInvalid, d.Name, len(values))
	}
	if d.text != nil {
		*d.text(f) = values[0]
		return nil
	}
	b, err := strconv.ParseBool(values[0])
	if err != nil {
		return fmt.Errorf("%w: %s %q: true or false", gputide.ErrInvalid, d.Name, values[0])
	}
	*d.flag(f) = &b
	return nil
}

// active reports whether f holds a value for the field.
func (d *FilterField) active(f *Filter) bool { return d.value(f) != "" }

// value returns what f holds for the field, for people.
func (d *FilterField) value(f *Filter) string {
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
func (d *FilterField) clear(f *Filter) {
	switch {
	case d.list != nil:
		*d.list(f) = nil
	case d.text != nil:
		*d.text(f) = ""
	default:
		*d.flag(f) = nil
	}
}
