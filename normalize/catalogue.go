package normalize

import "github.com/gputide/gputide"

// Entry is one card of the catalogue.
type Entry struct {
	Slug, Model, Variant string
	Vendor, Name, Form   string
	Architecture         string
	Release              string
	MemoryGB             *float64
	MemoryType           string
	BandwidthGBs         *float64
	Rates                Rates
	Interconnect         string
	InterconnectGBs      *float64
	PCIeGen              *float64
	TDPW                 *float64
	ISA                  string
	Stack                string
	RTCores              *bool
	MIGMax               *int
	UsableMiB            []int64
	Aliases              []string
	Source, SourceDate   string
	Confidence           string
	Class                gputide.DeviceKind
}

// Rates are dense peak rates in TFLOPS or TOPS; nil is not published.
type Rates struct {
	FP64, FP64Tensor, FP32, TF32, BF16, FP16, FP8, FP4, INT8, INT4 *float64
}

// Catalogue is the accelerator catalogue.
type Catalogue struct{}

// LoadCatalogue returns the embedded catalogue.
func LoadCatalogue() (*Catalogue, error) { return &Catalogue{}, nil }

// Version returns the version of the data.
func (c *Catalogue) Version() string { return "" }

// Entries lists the cards.
func (c *Catalogue) Entries() []Entry { return nil }

// Entry returns one card.
func (c *Catalogue) Entry(slug string) (Entry, bool) { return Entry{}, false }

// Match returns the slugs of a pattern.
func (c *Catalogue) Match(pattern string) ([]string, bool) { return nil, false }

// Near returns slugs and models near an unknown pattern.
func (c *Catalogue) Near(pattern string, n int) []string { return nil }

// Resolve reads a device.
func (c *Catalogue) Resolve(provider string, d *gputide.Device) (gputide.Accelerator, bool) {
	return gputide.Accelerator{Raw: d.Name}, false
}

// Regions is the region table.
type Regions struct{}

// Region is one place.
type Region struct {
	Provider, Partition, Code string
	Country, City, Continent  string
	MainlandCN                bool
	NameEN, NameZH            string
}

// LoadRegions returns the embedded table.
func LoadRegions() (*Regions, error) { return &Regions{}, nil }

// Version returns the version of the data.
func (r *Regions) Version() string { return "" }

// Lookup finds a region.
func (r *Regions) Lookup(provider, partition, region string) (Region, bool) { return Region{}, false }
