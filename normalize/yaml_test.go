package normalize

// cardRow is one card as accelerators.yaml writes it. Absent is empty or nil.
type cardRow struct {
	Slug    string `yaml:"slug"`
	Model   string `yaml:"model"`             // slug part
	Variant string `yaml:"variant,omitempty"` // slug part

	Vendor       string `yaml:"vendor"`
	Name         string `yaml:"name"`           // as the vendor calls it
	Form         string `yaml:"form,omitempty"` // form factor, in words
	Class        string `yaml:"class"`
	Stack        string `yaml:"stack,omitempty"`
	Architecture string `yaml:"architecture,omitempty"`
	ISA          string `yaml:"isa,omitempty"` // compute capability or ISA
	Release      string `yaml:"release,omitempty"`

	MemoryGB     *float64  `yaml:"memory_gb,omitempty"`       // label, as the vendor prints it
	AlsoGB       []float64 `yaml:"also_gb,flow,omitempty"`    // other labels in use for the same card
	UsableMiB    []int64   `yaml:"usable_mib,flow,omitempty"` // as drivers and APIs report it
	MemoryType   string    `yaml:"memory_type,omitempty"`
	BandwidthGBs *float64  `yaml:"bandwidth_gbs,omitempty"`

	FP64       *float64 `yaml:"fp64,omitempty"`
	FP64Tensor *float64 `yaml:"fp64_tensor,omitempty"`
	FP32       *float64 `yaml:"fp32,omitempty"`
	TF32       *float64 `yaml:"tf32,omitempty"`
	BF16       *float64 `yaml:"bf16,omitempty"`
	FP16       *float64 `yaml:"fp16,omitempty"`
	FP8        *float64 `yaml:"fp8,omitempty"`
	FP4        *float64 `yaml:"fp4,omitempty"`
	INT8       *float64 `yaml:"int8,omitempty"`
	INT4       *float64 `yaml:"int4,omitempty"`

	Interconnect    string   `yaml:"interconnect,omitempty"`
	InterconnectGBs *float64 `yaml:"interconnect_gbs,omitempty"` // both directions
	PCIeGen         string   `yaml:"pcie_gen,omitempty"`
	TDPW            *float64 `yaml:"tdp_w,omitempty"`
	RTCores         *bool    `yaml:"rt_cores,omitempty"`
	MIGMax          *int     `yaml:"mig_max,omitempty"`

	Aliases    []string `yaml:"aliases,flow,omitempty"`
	Source     string   `yaml:"source"`
	SourceDate string   `yaml:"source_date,omitempty"`
	Evidence   string   `yaml:"evidence"` // datasheet, secondary, press
}

// maskedRow is one name of masked.yaml.
type maskedRow struct {
	Name       string   `yaml:"name"`
	Providers  []string `yaml:"providers"` // empty: any
	MemoryGB   *float64 `yaml:"memory_gb"` // the reading holds for this size
	Sliced     bool     `yaml:"sliced"`    // sold in slices up to that size
	Slug       string   `yaml:"slug"`      // empty: no card is named
	Vendor     string   `yaml:"vendor"`    // where only that much is known
	Confidence string   `yaml:"confidence"`
	Reading    string   `yaml:"reading"` // why
}

// regionTable is regions.yaml.
type regionTable struct {
	Countries map[string]struct {
		Continent string `yaml:"continent"`
		EN        string `yaml:"en"`
		ZH        string `yaml:"zh"`
	} `yaml:"countries"`
	Cities map[string]struct {
		Country string `yaml:"country"`
		EN      string `yaml:"en"`
		ZH      string `yaml:"zh"`
	} `yaml:"cities"`
	Providers map[string]struct {
		ByCountry bool              `yaml:"by_country"`
		Regions   map[string]string `yaml:"regions"`
	} `yaml:"providers"`
}
