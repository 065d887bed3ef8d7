package query

import "github.com/gputide/gputide"

// Filter selects offers, changes, instance types and signals. Values are text
// as a person gives them. A list selects any of its values; filters of
// different fields must all hold; an empty one selects everything. In the text
// fields of a key a * stands for any characters, and - for "not said".
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

var _ = gputide.Key{}
