package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

const gpusLong = `Lists the accelerator catalogue: every name that --gpu takes, with the memory and
the dense peak rates its vendor prints and where the figures come from (json).

A PATTERN is a slug, a model, a model with its variant, or an alias: h100 lists
every H100 and not the GH200.`

// gpuOut is one card: the JSON of gpus. Absent figures are null or not in the
// map.
type gpuOut struct {
	Slug         string             `json:"slug"`
	Title        string             `json:"title"`
	Vendor       string             `json:"vendor"`
	Model        string             `json:"model"`
	Variant      *string            `json:"variant"`
	Class        string             `json:"class"`
	Software     *string            `json:"software"`
	MemoryGB     *float64           `json:"memory_gb"`
	MemoryType   *string            `json:"memory_type"`
	BandwidthGBs *float64           `json:"bandwidth_gbs"`
	DenseTFLOPS  map[string]float64 `json:"dense_tflops"` // TOPS for int8 and int4
	Interconnect *string            `json:"interconnect"`
	Architecture *string            `json:"architecture"`
	Release      *string            `json:"release"`
	TDPW         *float64           `json:"tdp_w"`
	MIGMax       *int               `json:"mig_max"`
	Aliases      []string           `json:"aliases"`
	Evidence     string             `json:"evidence"`
	Source       string             `json:"source"`
	SourceDate   *string            `json:"source_date"`
}

func (m *Main) gpusCmd() *cobra.Command {
	var out string
	var vendors []string
	cmd := &cobra.Command{
		Use: "gpus [PATTERN]", Short: "The accelerator catalogue: names, memory, dense rates, sources", Long: gpusLong, Args: argCount(0, 1),
		Example: `  gputide gpus
  gputide gpus h100
  gputide gpus --vendor huawei
  gputide gpus rtx-4090 -o json`,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := oneOf("output", out, listFormats[:])
			if err != nil {
				return err
			}
			pattern := ""
			if len(args) == 1 {
				pattern = args[0]
			}
			return m.gpus(pattern, vendors, f)
		},
	}
	listFlag(cmd, &vendors, "vendor", "VENDOR", "only cards of these makers: nvidia, amd, huawei, aws")
	formatFlag(cmd, &out, listFormats[:])
	return cmd
}

func (m *Main) gpus(pattern string, vendors []string, f format) error {
	norm, err := loadNormalizer()
	if err != nil {
		return err
	}
	rows, err := chooseCards(norm.Catalogue, pattern, vendors)
	if err != nil {
		return err
	}
	if f != formatTable {
		_, err := writeRows(m.Stdout, f, gpuColumns(), sliceRows(rows))
		return err
	}
	if len(rows) == 0 {
		fmt.Fprintf(m.Stderr, "no card of %s is named %q\n", strings.Join(vendors, ", "), clean(pattern))
		return nil
	}
	noRoom, err := printTable(m.screen(m.Stdout), gpuTable(), rows)
	m.footer(answer{noRoom: noRoom})
	return err
}

// chooseCards returns the cards a pattern and vendors select, by slug.
func chooseCards(cat *normalize.Catalogue, pattern string, vendors []string) ([]gpuOut, error) {
	var slugs []string
	if pattern != "" {
		var ok bool
		if slugs, ok = cat.Match(pattern); !ok {
			return nil, usagef("unknown accelerator %q%s", clip(pattern), cmp.Or(didYouMean(cat.Near(pattern, 3)), "; gputide gpus lists all"))
		}
	}
	wanted := make([]string, len(vendors))
	for i, v := range vendors {
		wanted[i] = strings.ToLower(v)
	}
	var known []string
	var rows []gpuOut
	for _, e := range cat.Entries() {
		vendor := strings.ToLower(e.Vendor)
		if !slices.Contains(known, vendor) {
			known = append(known, vendor)
		}
		if (pattern == "" || slices.Contains(slugs, e.Slug)) && (len(wanted) == 0 || slices.Contains(wanted, vendor)) {
			rows = append(rows, newGPUOut(&e))
		}
	}
	for _, v := range wanted {
		if _, err := oneOf("vendor", v, known); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(rows, func(a, b gpuOut) int { return strings.Compare(a.Slug, b.Slug) })
	return rows, nil
}

func newGPUOut(e *normalize.Entry) gpuOut {
	dense := e.Dense
	if dense == nil {
		dense = map[string]float64{}
	}
	return gpuOut{
		Slug: e.Slug, Title: e.Title, Vendor: e.Vendor, Model: e.Model, Variant: opt(e.Variant), Class: string(e.Class),
		Software: opt(e.Stack), MemoryGB: e.MemoryGB, MemoryType: opt(e.MemoryType), BandwidthGBs: e.BandwidthGBs, DenseTFLOPS: dense,
		Interconnect: opt(e.Interconnect), Architecture: opt(e.Architecture), Release: opt(e.Release), TDPW: e.TDPW, MIGMax: e.MIGMax,
		Aliases: append([]string{}, e.Aliases...), Evidence: e.Evidence, Source: e.Source, SourceDate: opt(e.SourceDate),
	}
}

func gpuTable() []column[gpuOut] {
	rate := func(head, name string, shed int) column[gpuOut] {
		return column[gpuOut]{head: head, cell: func(g *gpuOut) string {
			v, ok := g.DenseTFLOPS[name]
			if !ok {
				return ""
			}
			return strconv.FormatFloat(v, 'f', -1, 64)
		}, right: true, shed: shed}
	}
	return []column[gpuOut]{
		{head: "GPU", cell: func(g *gpuOut) string { return g.Slug }},
		{head: "VENDOR", cell: func(g *gpuOut) string { return g.Vendor }},
		{head: "GB", cell: func(g *gpuOut) string { return number(g.MemoryGB) }, right: true},
		{head: "GB/S", cell: func(g *gpuOut) string { return number(g.BandwidthGBs) }, right: true, shed: 2},
		rate("FP64", "fp64", 6),
		rate("FP32", "fp32", 4),
		rate("BF16", "bf16", 0),
		rate("FP16", "fp16", 5),
		rate("FP8", "fp8", 1),
		rate("INT8", "int8", 3),
		{head: "CLASS", cell: classCell, shed: 8},
		{head: "EVIDENCE", cell: func(g *gpuOut) string { return g.Evidence }, shed: 7},
		{head: "NAME", cell: func(g *gpuOut) string { return g.Title }, least: 12, shed: 9},
	}
}

// classCell names the class of what is not a GPU.
func classCell(g *gpuOut) string {
	if gputide.DeviceKind(g.Class) == gputide.DeviceGPU {
		return ""
	}
	return g.Class
}

func gpuColumns() []string {
	cols := []string{"slug", "title", "vendor", "model", "variant", "class", "software", "memory_gb", "memory_type", "bandwidth_gbs"}
	for _, p := range precisions() {
		cols = append(cols, "dense_tflops."+p)
	}
	return append(cols, "interconnect", "architecture", "release", "tdp_w", "mig_max", "aliases", "evidence", "source", "source_date")
}

// precisions lists the precisions a catalogue row may have a rate for.
func precisions() []string {
	return []string{"fp64", "fp64_tensor", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8", "int4"}
}
