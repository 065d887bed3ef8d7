package gcp

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

//go:embed machines.csv
var machinesCSV string

//go:embed rates.csv
var ratesCSV string

// bytesPerGiB and bytesPerGB turn GiB into the decimal GB of local disks.
const (
	bytesPerGiB = 1 << 30
	bytesPerGB  = 1e9
)

// machine is one machine type: what it has and what its price is made of. Its
// numbers are decimal text, as they enter a sum.
type machine struct {
	name      string
	series    string // of the core and RAM SKUs; empty: the accelerator rate holds for the whole machine
	vcpu      string
	memoryGiB string
	device    string // accelerator type of the API
	count     gputide.Count
	rate      string // accelerator rate
	units     string // of that rate
	ssdGiB    string // fixed local SSD; empty is none or optional
	onDemand  bool   // sold plain on demand
}

// accelerator is one accelerator rate.
type accelerator struct {
	rate   string
	kind   gputide.DeviceKind
	counts []uint32 // sold as an offer of their own
}

// table is both tables. It is read-only.
type table struct {
	machines     []machine
	byName       map[string]*machine
	series       map[string]bool
	accelerators map[string]*accelerator // by words of a description
	byRate       map[string]*accelerator
}

func loadTable() (*table, error) {
	t := &table{
		byName: map[string]*machine{}, series: map[string]bool{},
		accelerators: map[string]*accelerator{}, byRate: map[string]*accelerator{},
	}
	if err := t.loadRates(); err != nil {
		return nil, fmt.Errorf("rates.csv: %w", err)
	}
	if err := t.loadMachines(); err != nil {
		return nil, fmt.Errorf("machines.csv: %w", err)
	}
	return t, nil
}

func (t *table) loadRates() error {
	rows, err := readTable(ratesCSV)
	if err != nil {
		return err
	}
	for _, row := range rows {
		a := &accelerator{rate: row[1], kind: gputide.DeviceGPU}
		if row[2] == "tpu" {
			a.kind = gputide.DeviceASIC
		}
		for text := range strings.FieldsSeq(row[3]) {
			n, err := strconv.ParseUint(text, 10, 8)
			if err != nil {
				return fmt.Errorf("%s: %w", row[0], err)
			}
			a.counts = append(a.counts, uint32(n))
		}
		t.accelerators[row[0]] = a
		if t.byRate[a.rate] == nil {
			t.byRate[a.rate] = a
		}
	}
	return nil
}

func (t *table) loadMachines() error {
	rows, err := readTable(machinesCSV)
	if err != nil {
		return err
	}
	for _, row := range rows {
		count, err := gputide.ParseCount(row[5])
		if err != nil {
			return fmt.Errorf("%s: %w", row[0], err)
		}
		for _, number := range []string{row[2], row[3], row[7], row[8]} {
			if _, err := gputide.ParseAmount(number); err != nil && number != "" {
				return fmt.Errorf("%s: %w", row[0], err)
			}
		}
		if t.byRate[row[6]] == nil {
			return fmt.Errorf("%w: %s: no rate %q", gputide.ErrInvalid, row[0], row[6])
		}
		t.machines = append(t.machines, machine{
			name: row[0], series: row[1], vcpu: row[2], memoryGiB: row[3], device: row[4], count: count,
			rate: row[6], units: row[7], ssdGiB: row[8], onDemand: row[9] == "yes",
		})
	}
	for i := range t.machines {
		m := &t.machines[i]
		t.byName[m.name] = m
		if m.series != "" {
			t.series[m.series] = true
		}
	}
	return nil
}

// readTable returns the rows of an embedded table without its heading.
func readTable(text string) ([][]string, error) {
	c := csv.NewReader(strings.NewReader(text))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, err
	}
	return rows[1:], nil
}

// spec returns what the table says of a machine type.
func (m *machine) spec() gputide.Spec {
	s := gputide.Spec{
		Source: sourceMachines, InstanceType: m.name, VCPU: number(m.vcpu), MemoryGiB: number(m.memoryGiB), OnDemand: &m.onDemand,
		Device: gputide.Device{Name: m.device, Kind: gputide.DeviceGPU, Count: m.count, Share: gputide.ShareWhole},
	}
	if m.count.Den > 1 {
		s.Device.Share = gputide.ShareVGPU
	}
	if gib := number(m.ssdGiB); gib != nil {
		s.LocalDiskGB, s.LocalDiskKind = new(*gib*bytesPerGiB/bytesPerGB), "nvme"
	}
	return s
}

// number reads a number of the table; nil for none.
func number(text string) *float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &v
}

// instanceType names n cards or chips that are sold without a shape.
func (a *accelerator) instanceType(n uint32) string { return fmt.Sprintf("%s×%d", a.rate, n) }

// spec describes n cards or chips that are sold without a shape.
func (a *accelerator) spec(n uint32) *gputide.Spec {
	return &gputide.Spec{
		Source: sourceMachines, InstanceType: a.instanceType(n),
		Device: gputide.Device{Name: a.rate, Kind: a.kind, Count: gputide.NewCount(n, 1), Share: gputide.ShareWhole},
	}
}
