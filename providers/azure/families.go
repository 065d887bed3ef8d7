package azure

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

// families has the device of VM sizes and of families of sizes. It is read-only.
type families struct {
	sizes    map[string]gputide.Device // by size
	families map[string]gputide.Device // by size with # for its number of vCPUs
}

func loadFamilies() (*families, error) {
	c := csv.NewReader(strings.NewReader(familiesCSV))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("families.csv: %w", err)
	}
	f := &families{sizes: map[string]gputide.Device{}, families: map[string]gputide.Device{}}
	for _, row := range rows[1:] {
		d := gputide.Device{Name: row[1], Vendor: row[2], Kind: gputide.DeviceKind(row[3])}
		if row[4] != "" {
			if d.Count, err = gputide.ParseCount(row[4]); err != nil {
				return nil, fmt.Errorf("families.csv: %s: %w", row[0], err)
			}
			if d.Count.Den == 1 {
				d.Share = gputide.ShareWhole
			}
		}
		if row[5] != "" {
			gb, err := strconv.ParseFloat(row[5], 64)
			if err != nil {
				return nil, fmt.Errorf("families.csv: %s: %w", row[0], err)
			}
			d.MemoryGB = &gb
		}
		if strings.Contains(row[0], "#") {
			f.families[row[0]] = d
		} else {
			f.sizes[row[0]] = d
		}
	}
	return f, nil
}

// find returns the device of a size: of the table by its name or its family; of
// any other N size, whose names begin with the letter of accelerated machines,
// what its name says of the accelerator, or the name itself.
func (f *families) find(size string) (gputide.Device, bool) {
	if d, ok := f.sizes[size]; ok {
		return d, true
	}
	if d, ok := f.families[familyOf(size)]; ok {
		return d, true
	}
	name, ok := strings.CutPrefix(size, "Standard_N")
	if !ok || name == "" {
		return gputide.Device{}, false
	}
	return gputide.Device{Name: acceleratorIn(size)}, true
}

// familyOf returns a size with # for its first number, that of vCPUs:
// Standard_NC#ads_A100_v4.
func familyOf(size string) string {
	const digits = "0123456789"
	i := strings.IndexAny(size, digits)
	if i < 0 {
		return size
	}
	return size[:i] + "#" + strings.TrimLeft(size[i:], digits)
}

// acceleratorIn returns the accelerator in the name of a size, by the naming
// convention: the last part before the version. A name that has none is
// returned without "Standard_".
//
// Source: https://learn.microsoft.com/en-us/azure/virtual-machines/vm-naming-conventions (2026-09)
func acceleratorIn(size string) string {
	name := strings.TrimPrefix(size, "Standard_")
	parts := strings.Split(name, "_")
	if last := parts[len(parts)-1]; len(parts) > 2 && len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		return parts[len(parts)-2]
	}
	return name
}
