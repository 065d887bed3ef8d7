package oci

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// shapesCSV is the table of GPU shapes, with the source of each row.
//
//go:embed shapes.csv
var shapesCSV string

// known is what the table says of one shape.
type known struct {
	shape       string
	part        string
	device      string
	gpus        uint32
	memoryGB    *float64 // of one card
	ocpus       *float64
	memoryGiB   *float64
	arch        string
	preemptible bool
}

// table has the GPU shapes by name and by part. It is read-only.
type table struct {
	byName map[string]*known
	byPart map[string][]*known // in the order of the file
}

// shapeless are GPU-hour parts of the price list that no public shape is billed
// by (price list of 2026-10-01: "GPU - E4", "H100T").
func shapeless(part string) bool { return part == "B93544" || part == "B109480" }

func loadTable() (*table, error) {
	c := csv.NewReader(strings.NewReader(shapesCSV))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("shapes.csv: %w", err)
	}
	t := &table{byName: make(map[string]*known), byPart: make(map[string][]*known)}
	for _, row := range rows[1:] {
		k := &known{shape: row[0], part: row[1], device: row[2], arch: row[7], preemptible: row[8] == "yes"}
		gpus, err := strconv.ParseUint(row[3], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("shapes.csv: %s: %w", k.shape, err)
		}
		k.gpus = uint32(gpus)
		for i, field := range []**float64{&k.memoryGB, &k.ocpus, &k.memoryGiB} {
			if row[4+i] == "" {
				continue
			}
			v, err := strconv.ParseFloat(row[4+i], 64)
			if err != nil {
				return nil, fmt.Errorf("shapes.csv: %s: %w", k.shape, err)
			}
			*field = &v
		}
		t.byName[k.shape] = k
		t.byPart[k.part] = append(t.byPart[k.part], k)
	}
	return t, nil
}

// spec returns what the table says of the shape.
func (k *known) spec() *gputide.Spec {
	return &gputide.Spec{
		Source: sourceTable, InstanceType: k.shape,
		Device: gputide.Device{
			Name: k.device, Count: gputide.NewCount(k.gpus, 1), MemoryGB: k.memoryGB, Share: gputide.ShareWhole,
		},
		VCPU: vcpus(k.ocpus, k.arch), CPUArch: k.arch, MemoryGiB: k.memoryGiB, BareMetal: new(isBareMetal(k.shape)),
	}
}

// isBareMetal reports whether a shape is a whole machine: its name begins with
// BM.
func isBareMetal(shape string) bool { return strings.HasPrefix(shape, "BM.") }

// vcpus turns OCPUs into vCPUs: an OCPU is a core, which has two threads on x86
// and one on Arm. Of an unknown architecture nothing is said.
func vcpus(ocpus *float64, arch string) *float64 {
	switch {
	case ocpus == nil || *ocpus <= 0:
		return nil
	case arch == archX86:
		return new(2 * *ocpus)
	case arch == archArm:
		return new(*ocpus)
	}
	return nil
}

// CPU architectures.
const (
	archX86 = "x86_64"
	archArm = "arm64"
)
