package pricelist

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strings"
)

// locationsCSV has the long names of regions: code, the name of the price
// pages, other spellings of the price list.
//
//go:embed locations.csv
var locationsCSV string

// Location is a region with its long name.
type Location struct {
	Region string
	Name   string // as the price pages print it: "Europe (Frankfurt)"
	Other  string // another spelling of the price list: "EU (Frankfurt)"
}

// Locations returns the regions whose long names are known.
func Locations() ([]Location, error) {
	c := csv.NewReader(strings.NewReader(locationsCSV))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("locations.csv: %w", err)
	}
	out := make([]Location, 0, len(rows))
	for _, r := range rows[1:] {
		out = append(out, Location{Region: r[0], Name: r[1], Other: r[2]})
	}
	return out, nil
}

// locationCodes returns region codes by long name.
func locationCodes() (map[string]string, error) {
	all, err := Locations()
	if err != nil {
		return nil, err
	}
	codes := make(map[string]string, 2*len(all))
	for _, l := range all {
		codes[l.Name] = l.Region
		if l.Other != "" {
			codes[l.Other] = l.Region
		}
	}
	return codes, nil
}
