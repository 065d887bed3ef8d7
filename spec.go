package gputide

// Spec is what a source says of an instance type. A nil pointer or empty text
// is "not said"; nothing in it is guessed. Specs belong to the type, not to a
// price series.
type Spec struct {
	Source       string
	Provider     string // filled by Batch
	Partition    string
	InstanceType string

	Device Device

	VCPU              *float64
	CPUArch           string // x86_64, arm64
	CPUModel          string
	MemoryGiB         *float64
	LocalDiskGB       *float64 // decimal GB, total
	LocalDiskKind     string   // nvme, ssd, hdd
	NetworkGbps       *float64
	RDMAKind          string // efa, infiniband, roce
	RDMAGbps          *float64
	BareMetal         *bool
	OnDemand          *bool // purchasable on demand, as the source says
	MaxInstances      *int64
	BillingIncrementS *int64
	MinimumS          *int64
	BilledWhenStopped *bool
	IncludedDiskGB    *float64
	EgressPricePerGB  string   // decimal text in the currency of the offers
	Use               []string // training, inference, graphics: vendor's own tags
}

// Fill copies into s the fields it lacks from a less authoritative spec of the
// same type. The device is taken whole or not at all.
func (s *Spec) Fill(lower *Spec) {
	if !s.Device.Known() {
		s.Device = lower.Device
	}
	fillText(&s.CPUArch, lower.CPUArch)
	fillText(&s.CPUModel, lower.CPUModel)
	fillText(&s.LocalDiskKind, lower.LocalDiskKind)
	fillText(&s.RDMAKind, lower.RDMAKind)
	fillText(&s.EgressPricePerGB, lower.EgressPricePerGB)
	fill(&s.VCPU, lower.VCPU)
	fill(&s.MemoryGiB, lower.MemoryGiB)
	fill(&s.LocalDiskGB, lower.LocalDiskGB)
	fill(&s.NetworkGbps, lower.NetworkGbps)
	fill(&s.RDMAGbps, lower.RDMAGbps)
	fill(&s.BareMetal, lower.BareMetal)
	fill(&s.OnDemand, lower.OnDemand)
	fill(&s.MaxInstances, lower.MaxInstances)
	fill(&s.BillingIncrementS, lower.BillingIncrementS)
	fill(&s.MinimumS, lower.MinimumS)
	fill(&s.BilledWhenStopped, lower.BilledWhenStopped)
	fill(&s.IncludedDiskGB, lower.IncludedDiskGB)
	if s.Use == nil {
		s.Use = lower.Use
	}
}

func fill[T any](dst **T, src *T) {
	if *dst == nil {
		*dst = src
	}
}

func fillText(dst *string, src string) {
	if *dst == "" {
		*dst = src
	}
}
