package main

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

const typesLong = `One row for each instance type with what its provider says of it, priced or not.
What the provider does not say is absent, never guessed.

` + listHelp

const typesExample = `  gputide query types --gpu h100
  gputide query types --provider aws --type "g6.*"
  gputide query types --fits 320GB --vendor amd -o json`

func (m *Main) typesCmd() *cobra.Command {
	var at, out string
	var limit int
	cmd := &cobra.Command{
		Use: "types", Short: "Instance types and what is in them, priced or not", Long: typesLong, Example: typesExample, Args: noArgs,
	}
	filter := addFilters(cmd, forTypes)
	cmd.Flags().StringVar(&at, "at", "", "as of a moment, `TIME` in UTC (default now)")
	limitFlag(cmd, &limit, 0)
	formatFlag(cmd, &out, listFormats[:])
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		form, err := oneOf("output", out, listFormats[:])
		if err != nil {
			return err
		}
		if err := checkLimit(limit); err != nil {
			return err
		}
		moment, err := parseTime("at", at)
		if err != nil {
			return err
		}
		return m.types(cmd.Context(), query.TypesRequest{Filter: *filter, At: moment, Limit: limit}, form)
	}
	return cmd
}

func (m *Main) types(ctx context.Context, req query.TypesRequest, form format) error {
	ans, err := askOnce(ctx, m, api.Types(), req)
	if err != nil {
		return err
	}
	end := answer{shown: len(ans.Rows), total: ans.Total, noun: "types", empty: ans.Empty, more: "--limit 0 shows all"}
	switch {
	case form != formatTable:
		_, err = writeRows(m.Stdout, form, typeColumns(), sliceRows(ans.Rows))
	case len(ans.Rows) > 0:
		end.noRoom, err = printTable(m.screen(m.Stdout), typeTable(), ans.Rows)
	}
	m.footer(end)
	return err
}

// tenths writes an amount that was converted for people, as of TiB in GB.
func tenths(v *float64) string {
	if v == nil {
		return ""
	}
	return number(new(math.Round(*v*10) / 10))
}

func typeTable() []column[query.TypeRow] {
	return []column[query.TypeRow]{
		{head: "PROVIDER", cell: func(r *query.TypeRow) string {
			return sellerText(&query.KeyRow{Provider: r.Provider, Partition: r.Partition})
		}},
		{head: "TYPE", cell: func(r *query.TypeRow) string { return string(r.InstanceType) }, least: 10},
		{head: "N", cell: func(r *query.TypeRow) string { return acceleratorCount(r.Accelerator) }, right: true},
		{head: "GPU", cell: func(r *query.TypeRow) string { return acceleratorName(r.Accelerator) }, least: 8},
		{head: "GB EACH", cell: func(r *query.TypeRow) string { return acceleratorMemory(r.Accelerator) }, right: true},
		{head: "SHARE", cell: func(r *query.TypeRow) string {
			if r.Accelerator == nil {
				return ""
			}
			return string(r.Accelerator.Share)
		}, shed: 7},
		{head: "VCPU", cell: func(r *query.TypeRow) string { return number(r.VCPU) }, right: true},
		{head: "RAM GIB", cell: func(r *query.TypeRow) string { return number(r.MemoryGiB) }, right: true},
		{head: "ARCH", cell: func(r *query.TypeRow) string { return string(r.CPUArch) }, shed: 6},
		{head: "DISK GB", cell: func(r *query.TypeRow) string { return tenths(r.LocalDiskGB) }, right: true, shed: 4},
		{head: "NET GBPS", cell: func(r *query.TypeRow) string { return number(r.NetworkGbps) }, right: true, shed: 3},
		{head: "RDMA", cell: func(r *query.TypeRow) string {
			if r.RDMA == nil {
				return ""
			}
			return string(r.RDMA.Kind)
		}, shed: 5},
		{head: "BARE METAL", cell: func(r *query.TypeRow) string { return yesNo(r.BareMetal) }, shed: 8},
		{head: "FLAGS", cell: func(r *query.TypeRow) string { return flagText(r.Flags) }, shed: 2},
		{head: "SOURCE", cell: func(r *query.TypeRow) string { return string(r.Source) }, shed: 9},
	}
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "yes"
	}
	return "no"
}

func typeColumns() []string {
	return []string{
		"provider", "partition", "instance_type", "accelerator.vendor", "accelerator.model", "accelerator.variant",
		"accelerator.slug", "accelerator.count", "accelerator.count_value", "accelerator.memory_gb", "accelerator.reported_mib",
		"accelerator.total_memory_gb", "accelerator.share", "accelerator.interconnect", "accelerator.confidence",
		"accelerator.raw", "passthrough", "vcpu", "cpu_arch", "cpu_model", "memory_gib", "local_disk_gb", "local_disk_kind",
		"network_gbps", "rdma.kind", "rdma.gbps", "bare_metal", "on_demand", "max_instances", "billing_increment_s",
		"minimum_s", "billed_when_stopped", "included_disk_gb", "egress_price_per_gb", "use", "flags", "source",
	}
}
