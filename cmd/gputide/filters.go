package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gputide/gputide/query"
)

// verbs says which queries take a filter.
type verbs uint8

// The queries.
const (
	forOffers verbs = 1 << iota
	forChanges
	forTypes
	forSignals
	forAll = forOffers | forChanges | forTypes | forSignals
)

// filterFlag is one filter of the command line. Exactly one of list, text and
// yes is set.
type filterFlag struct {
	name  string
	value string // placeholder in help
	help  string
	verbs verbs
	list  func(*query.Filter) *[]string
	text  func(*query.Filter) *string
	yes   func(*query.Filter) **bool
}

// filterFlags is the one table of filters: flags, help and requests are made
// from it.
func filterFlags() []filterFlag {
	return slices.Concat(machineFilters(), placeFilters(), purchaseFilters())
}

func placeFilters() []filterFlag {
	return []filterFlag{
		{name: "provider", value: "NAME", help: "cloud, as in gputide providers; 阿里云", verbs: forAll, list: func(f *query.Filter) *[]string { return &f.Provider }},
		{name: "partition", value: "NAME", help: "price book of a cloud: aws, aws-cn; cn, intl", verbs: forAll, list: func(f *query.Filter) *[]string { return &f.Partition }},
		{name: "seller", value: "NAME", help: "who runs the machine when an aggregator sells it", verbs: forOffers | forChanges | forSignals, list: func(f *query.Filter) *[]string { return &f.Seller }},
		{name: "region", value: "CODE", help: "region as the provider names it, us-* matches many; or a city: Frankfurt, 广州", verbs: forOffers | forChanges | forSignals, list: func(f *query.Filter) *[]string { return &f.Region }},
		{name: "zone", value: "CODE", help: "zone as published; AWS zone ids (use1-az4)", verbs: forOffers | forChanges | forSignals, list: func(f *query.Filter) *[]string { return &f.Zone }},
		{name: "country", value: "CC", help: "country of the region: us, de, cn, 中国", verbs: forOffers | forChanges | forSignals, list: func(f *query.Filter) *[]string { return &f.Country }},
		{name: "continent", value: "NAME", help: "continent of the region: europe, asia, north-america", verbs: forOffers | forChanges | forSignals, list: func(f *query.Filter) *[]string { return &f.Continent }},
		{name: "type", value: "NAME", help: "instance type; p5.* matches a family", verbs: forAll, list: func(f *query.Filter) *[]string { return &f.Type }},
	}
}

func purchaseFilters() []filterFlag {
	const priced = forOffers | forChanges
	return []filterFlag{
		{name: "market", value: "NAME", help: "on_demand, spot, commitment, subscription, capacity_block, flex, serverless", verbs: priced | forSignals, list: func(f *query.Filter) *[]string { return &f.Market }},
		{name: "plan", value: "NAME", help: "kind of commitment: ri_standard, sp_compute, cud; - for none", verbs: priced, list: func(f *query.Filter) *[]string { return &f.Plan }},
		{name: "term", value: "TERM", help: "length of a commitment or subscription: 1mo, 1y, 3y", verbs: priced, list: func(f *query.Filter) *[]string { return &f.Term }},
		{name: "payment", value: "NAME", help: "upfront payment of a commitment: none, partial, all", verbs: priced, list: func(f *query.Filter) *[]string { return &f.Payment }},
		{name: "os", value: "NAME", help: "operating system: linux, windows, rhel, suse; - for not said", verbs: priced | forSignals, list: func(f *query.Filter) *[]string { return &f.OS }},
		{name: "license", value: "NAME", help: "licence in the price: byol, sql_std, sql_ent; - for none", verbs: priced, list: func(f *query.Filter) *[]string { return &f.License }},
		{name: "tenancy", value: "NAME", help: "shared, dedicated, host", verbs: priced, list: func(f *query.Filter) *[]string { return &f.Tenancy }},
		{name: "tier", value: "NAME", help: "service class of the provider: secure, community, datacenter, unverified", verbs: priced | forSignals, list: func(f *query.Filter) *[]string { return &f.Tier }},
		{name: "volume", value: "STEP", help: "step the price holds for: h<=96, gpus>=64", verbs: priced, list: func(f *query.Filter) *[]string { return &f.Volume }},
		{name: "stat", value: "NAME", help: "which price: list, promo, payable, bid_floor, min, p50", verbs: priced, list: func(f *query.Filter) *[]string { return &f.Stat }},
		{name: "tax", value: "NAME", help: "tax in the price: excluded, included; - for not said", verbs: priced, list: func(f *query.Filter) *[]string { return &f.Tax }},
		{name: "currency", value: "CODE", help: "currency as published: USD, CNY, EUR", verbs: priced, list: func(f *query.Filter) *[]string { return &f.Currency }},
		{name: "max-price", value: "AMOUNT", help: "dearest instance-hour, in the currency of the answer; 2.5/gpu is per accelerator", verbs: forOffers, text: func(f *query.Filter) *string { return &f.MaxPrice }},
		{name: "available", help: "in stock, as the provider says", verbs: forOffers, yes: func(f *query.Filter) **bool { return &f.Available }},
		{name: "state", value: "STATE", help: "priced, held, stale, gap, sold_out, withdrawn, imported_end (see gputide help flags)", verbs: forOffers, list: func(f *query.Filter) *[]string { return &f.State }},
		{name: "flag", value: "FLAG", help: "offers that carry a flag (see gputide help flags)", verbs: forOffers, list: func(f *query.Filter) *[]string { return &f.Flag }},
	}
}

func machineFilters() []filterFlag {
	return []filterFlag{
		{name: "gpu", value: "NAME", help: "accelerator: a slug, model or model-variant of gputide gpus (h100, h100-sxm, rtx-4090)", verbs: forAll, list: func(f *query.Filter) *[]string { return &f.GPU }},
		{name: "vendor", value: "NAME", help: "maker of the accelerator: nvidia, amd, huawei, aws", verbs: forAll, list: func(f *query.Filter) *[]string { return &f.Vendor }},
		{name: "software", value: "NAME", help: "software stack: cuda, rocm, cann, neuron", verbs: forAll, list: func(f *query.Filter) *[]string { return &f.Software }},
		{name: "count", value: "N", help: "accelerators of an instance: 8, 1/8", verbs: forAll &^ forSignals, list: func(f *query.Filter) *[]string { return &f.Count }},
		{name: "min-gpu-memory", value: "SIZE", help: "least memory of each accelerator: 80GB", verbs: forAll &^ forSignals, text: func(f *query.Filter) *string { return &f.MinGPUMemory }},
		{name: "fits", value: "SIZE", help: "least memory of all accelerators together: 640GB, 显存≥640G", verbs: forAll &^ forSignals, text: func(f *query.Filter) *string { return &f.Fits }},
		{name: "interconnect", value: "NAME", help: "between the accelerators of one machine: nvlink, pcie", verbs: forAll &^ forSignals, list: func(f *query.Filter) *[]string { return &f.Interconnect }},
		{name: "precision", value: "NAME", help: "accelerators with a sourced dense figure for it: fp8, bf16, fp64", verbs: forAll &^ forSignals, list: func(f *query.Filter) *[]string { return &f.Precision }},
		{name: "min-ram", value: "SIZE", help: "least main memory: 256GB", verbs: forAll &^ forSignals, text: func(f *query.Filter) *string { return &f.MinRAM }},
		{name: "bare-metal", help: "bare metal only; --bare-metal=false for virtual machines only", verbs: forAll &^ forSignals, yes: func(f *query.Filter) **bool { return &f.BareMetal }},
	}
}

// listHelp is the part of every query's help about lists.
const listHelp = `A filter that takes a NAME or CODE may be repeated or given a list: --region
us-east-1,us-west-2. * stands for any characters and - for "not said".`

// filterMark marks a flag as a filter, for help.
const filterMark = "gputide_filter"

// addFilters adds the filters of a query to its command and returns the filter
// they fill.
func addFilters(cmd *cobra.Command, v verbs) *query.Filter {
	f := &query.Filter{}
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, d := range filterFlags() {
		if d.verbs&v == 0 {
			continue
		}
		var value pflag.Value
		switch {
		case d.list != nil:
			value = &listValue{kind: d.value, into: d.list(f)}
		case d.text != nil:
			value = &textValue{kind: d.value, into: d.text(f)}
		default:
			value = &yesValue{into: d.yes(f)}
		}
		flag := flags.VarPF(value, d.name, "", d.help)
		flag.Annotations = map[string][]string{filterMark: {"true"}}
		if d.yes != nil {
			flag.NoOptDefVal = "true"
		}
	}
	return f
}

// errEmptyValue refuses a flag set to nothing, as an unset variable of a shell
// does: it would select everything.
var errEmptyValue = errors.New("the value is empty: leave the flag out to select everything")

// listValue is a flag that may be repeated and given lists. kind is its
// placeholder in help.
type listValue struct {
	kind string
	into *[]string
}

func (v *listValue) String() string {
	if v.into == nil {
		return ""
	}
	return strings.Join(*v.into, ",")
}

func (v *listValue) Type() string { return v.kind }

func (v *listValue) Set(s string) error {
	n := len(*v.into)
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*v.into = append(*v.into, part)
		}
	}
	if len(*v.into) == n {
		return errEmptyValue
	}
	return nil
}

// textValue is a flag with one value.
type textValue struct {
	kind string
	into *string
}

func (v *textValue) String() string {
	if v.into == nil {
		return ""
	}
	return *v.into
}

func (v *textValue) Type() string { return v.kind }

func (v *textValue) Set(s string) error {
	if s = strings.TrimSpace(s); s == "" {
		return errEmptyValue
	}
	*v.into = s
	return nil
}

// yesValue is a flag that is yes, no or not given.
type yesValue struct{ into **bool }

func (v *yesValue) String() string {
	if v.into == nil || *v.into == nil {
		return ""
	}
	return strconv.FormatBool(**v.into)
}

// Type is bool, which help shows without a placeholder.
func (v *yesValue) Type() string { return "bool" }

func (v *yesValue) Set(s string) error {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return errors.New("give true or false")
	}
	*v.into = &b
	return nil
}

// listFlag adds a flag that may be repeated or given a list.
func listFlag(cmd *cobra.Command, into *[]string, name, kind, help string) {
	cmd.Flags().Var(&listValue{kind: kind, into: into}, name, help)
}
