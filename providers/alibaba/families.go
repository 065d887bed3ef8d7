package alibaba

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// familiesCSV is the table of accelerators, with the source of each row.
//
//go:embed families.csv
var familiesCSV string

// bareMetal begins the names of families of ECS Bare Metal Instances
// (https://www.alibabacloud.com/help/en/ecs/user-guide/overview-of-instance-families).
const bareMetal = "ebm"

// family is the accelerator of one family.
type family struct {
	device gputide.Device           // without its count
	cards  map[string]gputide.Count // by the rest of the name
}

// families has the accelerators by family. It is read-only.
type families map[string]family

func loadFamilies() (families, error) {
	c := csv.NewReader(strings.NewReader(familiesCSV))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("families.csv: %w", err)
	}
	out := make(families, len(rows))
	for _, row := range rows[1:] {
		f := family{
			device: gputide.Device{Name: row[1], Kind: gputide.DeviceKind(row[2]), Share: gputide.ShareKind(row[4])},
			cards:  make(map[string]gputide.Count),
		}
		if row[3] != "" {
			gib, err := strconv.ParseInt(row[3], 10, 32)
			if err != nil {
				return nil, fmt.Errorf("families.csv: %s: %w", row[0], err)
			}
			f.device.MemoryMiB = new(1024 * gib)
		}
		for size := range strings.FieldsSeq(row[5]) {
			name, n, _ := strings.Cut(size, "=")
			if f.cards[name], err = gputide.ParseCount(n); err != nil {
				return nil, fmt.Errorf("families.csv: %s: %w", row[0], err)
			}
		}
		out[row[0]] = f
	}
	return out, nil
}

// spec returns what the table says of an instance type, nil for a type of no
// family in it.
func (t families) spec(partition, instanceType string) *gputide.Spec {
	name, size, ok := strings.Cut(strings.TrimPrefix(instanceType, "ecs."), ".")
	if !ok {
		return nil
	}
	for key, rest := name, size; ; {
		if f, ok := t[key]; ok {
			s := &gputide.Spec{Source: sourceFamilies, Partition: partition, InstanceType: instanceType, Device: f.device}
			s.Device.Count = f.cards[rest]
			if s.Device.Share == "" && s.Device.Count.Known() {
				s.Device.Share = gputide.ShareWhole
				if s.Device.Count.Den > 1 {
					s.Device.Share = gputide.ShareVGPU
				}
			}
			if strings.HasPrefix(key, bareMetal) {
				s.BareMetal = new(true)
			}
			return s
		}
		i := strings.LastIndexByte(key, '-')
		if i < 0 {
			return nil
		}
		key, rest = key[:i], name[i+1:]+"."+size
	}
}

// memory returns the MiB of a whole card by its name, with or without its
// vendor; 0 for a card of which there are several, or none.
func (t families) memory(name string) int64 {
	var found int64
	for _, f := range t {
		if f.device.MemoryMiB == nil || !strings.HasSuffix(strings.ToLower(" "+name), strings.ToLower(" "+f.device.Name)) {
			continue
		}
		for _, n := range f.cards {
			mib := *f.device.MemoryMiB
			if n.Den > 1 {
				mib = mib * int64(n.Den) / int64(n.Num)
			}
			if found != 0 && found != mib {
				return 0
			}
			found = mib
		}
	}
	return found
}
