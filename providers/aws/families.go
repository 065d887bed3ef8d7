package aws

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

// families has the device of instance types and, under names without a dot, of
// families. It is read-only.
type families map[string]gputide.Device

func loadFamilies() (families, error) {
	c := csv.NewReader(strings.NewReader(familiesCSV))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("families.csv: %w", err)
	}
	out := make(families, len(rows))
	for _, row := range rows[1:] {
		d := gputide.Device{Name: row[1], Vendor: row[2], Kind: gputide.DeviceKind(row[3])}
		if row[4] != "" {
			if d.Count, err = gputide.ParseCount(row[4]); err != nil {
				return nil, fmt.Errorf("families.csv: %s: %w", row[0], err)
			}
		}
		if row[5] != "" {
			mib, err := strconv.ParseInt(row[5], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("families.csv: %s: %w", row[0], err)
			}
			d.MemoryMiB = &mib
		}
		d.Share = shareOf(d.Count)
		out[row[0]] = d
	}
	return out, nil
}

// find returns the device of an instance type, by its name or its family.
func (f families) find(instanceType string) (gputide.Device, bool) {
	if d, ok := f[instanceType]; ok {
		return d, true
	}
	family, _, _ := strings.Cut(instanceType, ".")
	d, ok := f[family]
	return d, ok
}

// shareOf says how a count of whole cards or a fraction of one is shared. EC2
// does not say how it cuts a card.
func shareOf(c gputide.Count) gputide.ShareKind {
	if c.Known() && c.Den == 1 {
		return gputide.ShareWhole
	}
	return ""
}
