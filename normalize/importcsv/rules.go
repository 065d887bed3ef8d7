package importcsv

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gputide/gputide"
)

// Tables translate the words of columns. Key fields are given by name.
type Tables struct {
	Markets map[string]Fields `yaml:"markets"`
	OS      map[string]Fields `yaml:"os"`
	Labels  map[string]string `yaml:"labels"` // accelerator label → its one spelling; others stay verbatim

	// Units is what the price of a market word pays for; an hour where it is not
	// named.
	Units map[string]gputide.Unit `yaml:"units"`
}

// ZoneKind is what a zone column holds.
type ZoneKind string

// The kinds of zones. Letters name other places in every account: such zones
// are flagged and never joined with ids.
const (
	ZoneIDs     ZoneKind = "ids"
	ZoneLetters ZoneKind = "letters"
)

// What names the card where cards are sold and not shapes.
const (
	cardsByLabel = "label" // the accelerator label
	cardsByType  = "type"  // the instance type column
)

// Rules are what a profile says of one provider.
type Rules struct {
	Set Fields `yaml:"set"` // fields of every row

	// Partitions is the price book of a region by the longest prefix of its code.
	Partitions map[string]string `yaml:"partitions"`

	// Regions translates the region column where it holds something else than
	// regions. Without it a region stays verbatim.
	Regions map[string]Fields `yaml:"regions"`

	// ZoneNames translates the zone column where it holds names. Others stay
	// verbatim.
	ZoneNames map[string]Fields `yaml:"zone_names"`

	// Counts is the number of cards by instance type, where no column holds it.
	Counts map[string]string `yaml:"counts"`

	// Suffixes are endings of the instance type column that say something else.
	Suffixes map[string]Fields `yaml:"suffixes"`

	// Attached lists prefixes of shapes that cards are attached to: their types
	// become `<shape>+<card>×<n>`.
	Attached []string `yaml:"attached"`

	// Cards says that cards are sold and not shapes, and what names them: label
	// or type. Every type becomes `<card>×<n>`.
	Cards string `yaml:"cards"`

	Zones ZoneKind `yaml:"zones"`

	// Rows left out, with the reason: of the whole provider, by the word of a
	// region, of a market or of an accelerator.
	Omit        Reason            `yaml:"omit"`
	OmitRegions map[string]Reason `yaml:"omit_regions"`
	OmitMarkets map[string]Reason `yaml:"omit_markets"`
	OmitLabels  map[string]Reason `yaml:"omit_labels"`

	// A table given here replaces that of the profile.
	Tables `yaml:",inline"`
}

// Fields are values of key fields.
type Fields map[gputide.Field]string

// apply sets the fields in k.
func (f Fields) apply(k *gputide.Key) {
	for name, v := range f {
		_ = k.Set(name, v) // checked when the profile was loaded
	}
}

// scope returns the slice of a key that a moment lists whole; nil is that of the
// store.
func (p *Profile) scope(k *gputide.Key) (*gputide.Scope, error) {
	if len(p.Whole) == 0 {
		return nil, nil
	}
	var s gputide.Scope
	for _, f := range p.Whole {
		switch f {
		case gputide.FieldPartition:
			s.Partition = k.Partition
		case gputide.FieldSeller:
			s.Seller = k.Seller
		case gputide.FieldRegion:
			s.Region = k.Region
		case gputide.FieldMarket:
			s.Market = k.Market
		default:
			return nil, fmt.Errorf("whole: %q is no field of a scope", f)
		}
	}
	return &s, nil
}

// tables returns the tables that hold for a provider.
func (p *Profile) tables(r *Rules) Tables {
	t := p.Tables
	if r.Markets != nil {
		t.Markets = r.Markets
	}
	if r.OS != nil {
		t.OS = r.OS
	}
	if r.Labels != nil {
		t.Labels = r.Labels
	}
	if r.Units != nil {
		t.Units = r.Units
	}
	return t
}

// partition returns the price book of a region.
func (r *Rules) partition(region string) string {
	best, found := "", ""
	for prefix, partition := range r.Partitions {
		if strings.HasPrefix(region, prefix) && cmp.Compare(len(prefix), len(best)) >= 0 {
			best, found = prefix, partition
		}
	}
	return found
}

// suffix applies the ending of a type name to k.
func (r *Rules) suffix(k *gputide.Key, name string) {
	for end, f := range r.Suffixes {
		if strings.HasSuffix(name, end) {
			f.apply(k)
			return
		}
	}
}
