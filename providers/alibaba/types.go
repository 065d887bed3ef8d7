package alibaba

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/gputide/gputide"
)

const (
	// maxPages bounds an answer: some 1,500 types stand on 15 pages.
	maxPages = 1000

	// maxCards bounds the cards of a machine: a larger number is a misread field.
	maxCards = 64

	gibPerGB = 1.073741824
)

// instanceType is one row of DescribeInstanceTypes.
type instanceType struct {
	ID       string          `json:"InstanceTypeId"`
	Cores    *float64        `json:"CpuCoreCount"`
	Memory   *float64        `json:"MemorySize"` // GiB
	GPUs     json.RawMessage `json:"GPUAmount"`
	GPU      string          `json:"GPUSpec"`
	GPUGiB   *float64        `json:"GPUMemorySize"` // of one card or slice; older answers have none
	Arch     string          `json:"CpuArchitecture"`
	CPU      string          `json:"PhysicalProcessorModel"`
	Disks    *float64        `json:"LocalStorageAmount"`
	DiskGiB  *float64        `json:"LocalStorageCapacity"` // of one disk
	DiskKind string          `json:"LocalStorageCategory"`
}

type typesPage struct {
	InstanceTypes *struct {
		InstanceType []json.RawMessage
	}
	NextToken string
}

// described is what ECS said of instance types: whether they are accelerated.
type described struct {
	mu    sync.Mutex
	types map[string]bool
}

func (d *described) learn(types map[string]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.types = types
}

// knows returns whether a type is accelerated, and whether ECS said so.
func (d *described) knows(name string) (accelerated, said bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	accelerated, said = d.types[name]
	return accelerated, said
}

// CrawlSpecs reads what ECS says of instance types, the same at both sites.
func (p *Provider) CrawlSpecs(ctx context.Context, b *gputide.Batch) error {
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	if err := p.needsKey(); err != nil {
		b.Source(sourceTypes, gputide.SourceSkipped, err)
		return nil
	}
	rows, err := p.types(ctx)
	if errors.Is(err, gputide.ErrNotInFixture) {
		note(b, sourceTypes, err)
		return nil
	}
	if err != nil {
		if context.Cause(ctx) == nil {
			note(b, sourceTypes, err)
		}
		return err
	}
	accelerated := make(map[string]bool, len(rows))
	named, counted := 0, 0
	for _, raw := range rows {
		var t instanceType
		if json.Unmarshal(raw, &t) != nil || t.ID == "" {
			b.Omit(sourceTypes, "bad_row", 1)
			continue
		}
		named++
		if strings.HasPrefix(t.ID, testTypes) {
			b.Omit(sourceTypes, "test_type", 1)
			continue
		}
		spec := t.spec(table)
		if t.GPUs != nil { // else the table says it
			counted++
			accelerated[t.ID] = isAccelerated(&spec.Device)
		}
		for _, s := range sites() {
			spec.Partition = s.partition
			b.Spec(spec)
		}
	}
	switch {
	case named == 0:
		err = drift(sourceTypes, "$.InstanceTypes.InstanceType[].InstanceTypeId", "it in some row", fmt.Sprintf("none of %d", len(rows)))
	case counted == 0:
		err = drift(sourceTypes, "$.InstanceTypes.InstanceType[].GPUAmount", "it in some row", fmt.Sprintf("none of %d", len(rows)))
	default:
		p.described.learn(accelerated)
	}
	note(b, sourceTypes, err)
	return err
}

// types returns the rows of all pages.
func (p *Provider) types(ctx context.Context) ([]json.RawMessage, error) {
	var rows []json.RawMessage
	seen := map[string]bool{}
	params := map[string]string{"MaxResults": "100"}
	for range maxPages {
		var page typesPage
		if _, err := p.ask(ctx, sourceTypes, homeRegion, "DescribeInstanceTypes", params, &page); err != nil {
			return nil, err
		}
		if page.InstanceTypes == nil {
			return nil, drift(sourceTypes, "$.InstanceTypes", "an object", "none")
		}
		rows = append(rows, page.InstanceTypes.InstanceType...)
		switch {
		case page.NextToken == "" && len(rows) == 0:
			return nil, fmt.Errorf("%s: %w: InstanceTypes", sourceTypes, gputide.ErrEmpty)
		case page.NextToken == "":
			return rows, nil
		case seen[page.NextToken]:
			return nil, drift(sourceTypes, "$.NextToken", "a new token", "one given before")
		}
		seen[page.NextToken] = true
		params["NextToken"] = page.NextToken
	}
	return nil, fmt.Errorf("%s: %w: more than %d pages", sourceTypes, gputide.ErrTooLarge, maxPages)
}

// isAccelerated reports whether a device is an accelerator of ours, as far as
// its source groups it.
func isAccelerated(d *gputide.Device) bool {
	return d.Known() && d.Kind != gputide.DeviceFPGA && d.Kind != gputide.DeviceVideo
}

func (t *instanceType) spec(table families) gputide.Spec {
	s := gputide.Spec{
		Source: sourceTypes, InstanceType: t.ID, VCPU: positive(t.Cores), MemoryGiB: positive(t.Memory), CPUModel: t.CPU, Device: t.device(table),
	}
	switch strings.ToUpper(t.Arch) {
	case "X86":
		s.CPUArch = "x86_64"
	case "ARM":
		s.CPUArch = "arm64"
	}
	if disks, gib := positive(t.Disks), positive(t.DiskGiB); disks != nil && gib != nil {
		s.LocalDiskGB = new(*disks * *gib * gibPerGB)
		switch t.DiskKind {
		case "local_ssd_pro":
			s.LocalDiskKind = "ssd"
		case "local_hdd_pro":
			s.LocalDiskKind = "hdd"
		}
	}
	if strings.HasPrefix(t.ID, "ecs."+bareMetal) {
		s.BareMetal = new(true)
	}
	return s
}

// device returns the accelerator of a type, zero for a type without. A card that
// is cut shows it in one of three ways: a divisor behind its name, a fraction as
// its number, or one card with less memory than such a card has. The table says
// what the row does not: the memory, and that a card is an FPGA.
func (t *instanceType) device(table families) gputide.Device {
	amount := t.amount()
	if amount == nil || amount.Sign() <= 0 {
		return gputide.Device{}
	}
	d := gputide.Device{Name: t.GPU}
	if name, divisor, ok := strings.Cut(t.GPU, "/"); ok {
		if n, err := strconv.ParseInt(strings.TrimSpace(divisor), 10, 16); err == nil && n > 0 {
			d.Name = strings.TrimSpace(name)
			amount = new(big.Rat).Quo(amount, big.NewRat(n, 1))
		}
	}
	known := table.spec("", t.ID)
	if known != nil {
		d.Kind, d.MemoryMiB, d.Share = known.Device.Kind, known.Device.MemoryMiB, known.Device.Share
	}
	if gib := positive(t.GPUGiB); gib != nil {
		d.MemoryMiB = new(int64(*gib * 1024))
		card := table.memory(d.Name)
		if card > 0 && *d.MemoryMiB < card && amount.Cmp(big.NewRat(1, 1)) == 0 {
			amount = big.NewRat(*d.MemoryMiB, card)
		}
	} else if known != nil && known.Device.Count.Den > 1 && amount.IsInt() {
		amount = big.NewRat(int64(known.Device.Count.Num), int64(known.Device.Count.Den))
	}
	if amount.Cmp(big.NewRat(maxCards, 1)) <= 0 && amount.Denom().Cmp(big.NewInt(1<<20)) < 0 {
		d.Count = gputide.NewCount(uint32(amount.Num().Uint64()), uint32(amount.Denom().Uint64()))
	}
	switch {
	case d.Count.Den > 1:
		d.Share = gputide.ShareVGPU
	case d.Share == "" && d.Count.Known():
		d.Share = gputide.ShareWhole
	}
	if d.Name == "" { // it has cards, and nothing says which
		d.Name, _, _ = strings.Cut(strings.TrimPrefix(t.ID, "ecs."), ".")
	}
	return d
}

// amount returns the number of cards, nil when the row states none.
func (t *instanceType) amount() *big.Rat {
	v, err := gputide.ParseAmount(newValue(t.GPUs).text)
	if err != nil {
		return nil
	}
	return v
}

// positive returns v where it is above zero: a zero is "not said".
func positive(v *float64) *float64 {
	if v == nil || *v <= 0 {
		return nil
	}
	return v
}
