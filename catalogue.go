package gputide

// CatalogueEntry is one row of the accelerator catalogue: what a vendor prints
// of one card or module. Absent figures are nil or missing from the map.
type CatalogueEntry struct {
	Accelerator // Raw is empty

	Title        string             // the vendor's name of the card
	BandwidthGBs *float64           // memory bandwidth, GB/s
	Dense        map[string]float64 // precision (fp64 fp32 tf32 bf16 fp16 fp8 fp4 int8 int4) → dense peak, TFLOPS or TOPS
	Source       string             // where the figures were taken from
	SourceDate   string             // YYYY-MM-DD
	Evidence     string             // datasheet, secondary, press
}

// Place is where a region code lies.
type Place struct {
	Country    string // ISO 3166-1 alpha-2, lower case
	City       string // may be empty
	Continent  string // africa, antarctica, asia, europe, north-america, oceania, south-america
	MainlandCN bool
	NameEN     string // display names; may be empty
	NameZH     string
	CountryEN  string // display names of the country alone; may be empty
	CountryZH  string
}
