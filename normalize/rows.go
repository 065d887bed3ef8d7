package normalize

// cardRow is one card as accelerators.yaml writes it. Absent is empty or nil.
type cardRow struct {
	Slug    string `yaml:"slug" json:"slug"`
	Model   string `yaml:"model" json:"model"`                         // slug part
	Variant string `yaml:"variant,omitempty" json:"variant,omitempty"` // slug part

	Vendor       string `yaml:"vendor" json:"vendor"`
	Name         string `yaml:"name" json:"name"`                     // as the vendor calls it
	Form         string `yaml:"form,omitempty" json:"form,omitempty"` // form factor, in words
	Class        string `yaml:"class" json:"class"`
	Stack        string `yaml:"stack,omitempty" json:"stack,omitempty"`
	Architecture string `yaml:"architecture,omitempty" json:"architecture,omitempty"`
	ISA          string `yaml:"isa,omitempty" json:"isa,omitempty"` // compute capability or ISA
	Release      string `yaml:"release,omitempty" json:"release,omitempty"`

	MemoryGB     *float64  `yaml:"memory_gb,omitempty" json:"memory_gb,omitempty"`         // label, as the vendor prints it
	AlsoGB       []float64 `yaml:"also_gb,flow,omitempty" json:"also_gb,omitempty"`        // other labels in use for the same card
	UsableMiB    []int64   `yaml:"usable_mib,flow,omitempty" json:"usable_mib,omitempty"`  // as drivers and APIs report it
	MemoryType   string    `yaml:"memory_type,omitempty" json:"memory_type,omitempty"`     //
	BandwidthGBs *float64  `yaml:"bandwidth_gbs,omitempty" json:"bandwidth_gbs,omitempty"` // of memory

	// Dense peak rates: TFLOPS, and TOPS for the integer ones.
	FP64       *float64 `yaml:"fp64,omitempty" json:"fp64,omitempty"`
	FP64Tensor *float64 `yaml:"fp64_tensor,omitempty" json:"fp64_tensor,omitempty"`
	FP32       *float64 `yaml:"fp32,omitempty" json:"fp32,omitempty"`
	TF32       *float64 `yaml:"tf32,omitempty" json:"tf32,omitempty"`
	BF16       *float64 `yaml:"bf16,omitempty" json:"bf16,omitempty"`
	FP16       *float64 `yaml:"fp16,omitempty" json:"fp16,omitempty"`
	FP8        *float64 `yaml:"fp8,omitempty" json:"fp8,omitempty"`
	FP4        *float64 `yaml:"fp4,omitempty" json:"fp4,omitempty"`
	INT8       *float64 `yaml:"int8,omitempty" json:"int8,omitempty"`
	INT4       *float64 `yaml:"int4,omitempty" json:"int4,omitempty"`

	Interconnect    string   `yaml:"interconnect,omitempty" json:"interconnect,omitempty"`
	InterconnectGBs *float64 `yaml:"interconnect_gbs,omitempty" json:"interconnect_gbs,omitempty"` // both directions
	PCIeGen         string   `yaml:"pcie_gen,omitempty" json:"pcie_gen,omitempty"`
	TDPW            *float64 `yaml:"tdp_w,omitempty" json:"tdp_w,omitempty"`
	RTCores         *bool    `yaml:"rt_cores,omitempty" json:"rt_cores,omitempty"`
	MIGMax          *int     `yaml:"mig_max,omitempty" json:"mig_max,omitempty"`

	Aliases    []string `yaml:"aliases,flow,omitempty" json:"aliases,omitempty"`
	Source     string   `yaml:"source" json:"source"`
	SourceDate string   `yaml:"source_date,omitempty" json:"source_date,omitempty"`
	Evidence   string   `yaml:"evidence" json:"evidence"` // datasheet, secondary, press
}

// maskedRow is a device name that its seller does not explain, with what it most
// likely is. masked.yaml lists them.
type maskedRow struct {
	Name       string   `yaml:"name" json:"name"`
	Providers  []string `yaml:"providers,flow,omitempty" json:"providers,omitempty"` // empty: any
	MemoryGB   *float64 `yaml:"memory_gb,omitempty" json:"memory_gb,omitempty"`      // the reading holds for this size
	Sliced     bool     `yaml:"sliced,omitempty" json:"sliced,omitempty"`            // sold in slices up to that size
	Slug       string   `yaml:"slug,omitempty" json:"slug,omitempty"`                // empty: no card is named
	Vendor     string   `yaml:"vendor,omitempty" json:"vendor,omitempty"`            // where only that much is known
	Confidence string   `yaml:"confidence" json:"confidence"`
	Reading    string   `yaml:"reading" json:"reading"` // why
}

// catalogueTable is the compiled form of the catalogue.
type catalogueTable struct {
	Cards  []cardRow   `json:"cards"`
	Masked []maskedRow `json:"masked"`
}
