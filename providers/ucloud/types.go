package ucloud

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// diskGB is the size of the system disk asked for: the smallest of a Linux image
// (https://docs.ucloud.cn/api/uhost-api/describe_available_instance_types,
// 2026-08).
const diskGB = 20

// machineType is one machine type of a zone.
type machineType struct {
	Name         string // T4; G is the family
	Zone         string
	Status       string // Normal, Beta, Soldout, Hidden
	MachineClass string // GPU, Normal
	InstanceType string // uhost, spot
	Sizes        []struct {
		Gpu        int
		Collection []struct {
			Cpu    int
			Memory []int // GB
		}
	} `json:"MachineSizes"`
	GraphicsMemory struct{ Value *float64 } // GB of one card
	Disks          []struct {
		BootDisk []struct{ Name string }
	}
}

// size is one combination that a price is asked for.
type size struct {
	region, zone, card   string
	cards, cpu, memoryGB int
	disk                 string
	cardMemoryGB         *float64
}

// types returns the sizes of the GPU types of a region, and adds their stock.
func (r *run) types(ctx context.Context, region string) (sizes []size, at string, err error) {
	var answer struct {
		AvailableInstanceTypes []json.RawMessage
	}
	if at, err = r.call(ctx, sourceTypes, actionTypes, map[string]string{"Region": region}, &answer); err != nil {
		return nil, at, err
	}
	switch {
	case answer.AvailableInstanceTypes == nil:
		return nil, at, drift(sourceTypes, "$.AvailableInstanceTypes", "a list", "none")
	case len(answer.AvailableInstanceTypes) == 0:
		return nil, at, fmt.Errorf("%s: %w: AvailableInstanceTypes", sourceTypes, gputide.ErrEmpty)
	}
	named := 0
	for _, raw := range answer.AvailableInstanceTypes {
		var t machineType
		if err := json.Unmarshal(raw, &t); err != nil || t.Name == "" || t.Zone == "" || len(t.Sizes) == 0 {
			r.unread(region, "bad_row", string(raw))
			continue
		}
		named++
		sizes = append(sizes, r.sizes(region, &t)...)
	}
	switch {
	case named == 0:
		return nil, at, drift(sourceTypes, "$.AvailableInstanceTypes[]", "Name, Zone and MachineSizes in some row",
			fmt.Sprintf("none of %d", len(answer.AvailableInstanceTypes)))
	case len(sizes) > maxAsks:
		return nil, at, drift(sourceTypes, "$.AvailableInstanceTypes[].MachineSizes", fmt.Sprintf("%d sizes at most", maxAsks), strconv.Itoa(len(sizes)))
	}
	return sizes, at, nil
}

// unread counts a row that may be of any type of a region.
func (r *run) unread(region, reason, detail string) {
	r.b.SkipUnknown(sourcePrices, scope(region), reason, detail)
	r.b.SkipUnknown(sourceTypes, stock(region), reason, detail)
}

// sizes returns the sizes of a type; none of one that is, by rule, not ours.
func (r *run) sizes(region string, t *machineType) (list []size) {
	level := gputide.AvailabilityYes
	switch t.Status {
	case "Normal", "Beta":
	case "Soldout":
		level = gputide.AvailabilityNone
	case "Hidden":
		r.b.Omit(sourceTypes, "hidden", 1)
		return nil
	default:
		r.unread(region, "other_status", t.Name+" is "+t.Status)
		return nil
	}
	if t.InstanceType != "" && t.InstanceType != "uhost" {
		r.b.Omit(sourceTypes, "other_product", 1)
		return nil
	}
	seen := make(map[size]bool)
	for _, m := range t.Sizes {
		if m.Gpu == 0 && t.MachineClass != "GPU" {
			r.b.Omit(sourceTypes, "no_accelerator", 1)
			continue
		}
		if m.Gpu < 1 || m.Gpu > maxCards || t.Name == "G" || model(t.Name) == "" || t.disk() == "" {
			r.unread(region, "bad_size", fmt.Sprintf("%s with %d cards", t.Name, m.Gpu))
			continue
		}
		for _, c := range m.Collection {
			for _, gb := range c.Memory {
				s := size{region, t.Zone, t.Name, m.Gpu, c.Cpu, gb, t.disk(), t.GraphicsMemory.Value}
				switch {
				case c.Cpu < 1 || gb < 1:
					r.unread(region, "bad_size", s.instanceType())
				case seen[s]: // named once for each processor
					r.b.Omit(sourceTypes, "twin", 1)
				default:
					seen[s] = true
					list = append(list, s)
					k := s.key("")
					k.Market, k.Currency = "", ""
					r.b.Signal(gputide.Signal{Source: sourceTypes, Key: k, Name: gputide.SignalAvailability, Value: level})
				}
			}
		}
	}
	return list
}

// disk returns the kind of system disk asked for.
func (t *machineType) disk() string {
	for _, d := range t.Disks {
		for _, b := range d.BootDisk {
			if b.Name != "" {
				return b.Name
			}
		}
	}
	return ""
}

func (s *size) instanceType() string {
	return fmt.Sprintf("G.%sx%d.c%dm%d", s.card, s.cards, s.cpu, s.memoryGB)
}

func (s *size) key(stat gputide.Stat) gputide.Key {
	return gputide.Key{
		Region: s.region, Zone: s.zone, InstanceType: s.instanceType(), Market: gputide.OnDemand, Stat: stat, Currency: currency,
	}
}

// slice is the name of a part of a card: T4/4 is a quarter.
var slice = regexp.MustCompile(`^([^/]+)/([0-9]{1,2})$`)

// model returns the name of a card without the part of it that is sold.
func model(card string) string {
	if m := slice.FindStringSubmatch(card); m != nil {
		card = m[1]
	}
	return strings.TrimSpace(card)
}

// spec returns what the type says of a size.
func (s *size) spec() *gputide.Spec {
	spec := &gputide.Spec{
		Source: sourceTypes, InstanceType: s.instanceType(), VCPU: new(float64(s.cpu)), MemoryGiB: new(float64(s.memoryGB)),
		IncludedDiskGB: new(float64(diskGB)),
		Device:         gputide.Device{Name: s.card, Kind: gputide.DeviceGPU, Count: gputide.NewCount(uint32(s.cards), 1), Share: gputide.ShareWhole},
	}
	if m := slice.FindStringSubmatch(s.card); m != nil {
		den, _ := strconv.ParseUint(m[2], 10, 32) // digits only
		spec.Device.Name, spec.Device.Other = model(s.card), []string{s.card}
		spec.Device.Count, spec.Device.Share = gputide.NewCount(uint32(s.cards), uint32(den)), gputide.ShareVGPU
	} else if v := s.cardMemoryGB; v != nil && *v > 0 {
		spec.Device.MemoryGB = v
	}
	return spec
}
