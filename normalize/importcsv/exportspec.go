package importcsv

import (
	"encoding/json"
	"fmt"

	"github.com/gputide/gputide"
)

// specFields is gputide.Spec as exported. The conversion between the two
// compiles only while their fields agree.
type specFields struct {
	Source            string         `json:"source,omitempty"`
	Provider          string         `json:"-"` // in the key
	Partition         string         `json:"-"` // in the key
	InstanceType      string         `json:"-"` // in the key
	Device            gputide.Device `json:"-"` // deviceFields
	VCPU              *float64       `json:"vcpu,omitempty"`
	CPUArch           string         `json:"cpu_arch,omitempty"`
	CPUModel          string         `json:"cpu_model,omitempty"`
	MemoryGiB         *float64       `json:"memory_gib,omitempty"`
	LocalDiskGB       *float64       `json:"local_disk_gb,omitempty"`
	LocalDiskKind     string         `json:"local_disk_kind,omitempty"`
	NetworkGbps       *float64       `json:"network_gbps,omitempty"`
	RDMAKind          string         `json:"rdma_kind,omitempty"`
	RDMAGbps          *float64       `json:"rdma_gbps,omitempty"`
	BareMetal         *bool          `json:"bare_metal,omitempty"`
	OnDemand          *bool          `json:"on_demand,omitempty"`
	MaxInstances      *int64         `json:"max_instances,omitempty"`
	BillingIncrementS *int64         `json:"billing_increment_s,omitempty"`
	MinimumS          *int64         `json:"minimum_s,omitempty"`
	BilledWhenStopped *bool          `json:"billed_when_stopped,omitempty"`
	IncludedDiskGB    *float64       `json:"included_disk_gb,omitempty"`
	EgressPricePerGB  string         `json:"egress_price_per_gb,omitempty"`
	Use               []string       `json:"use,omitempty"`
}

// deviceFields is gputide.Device as exported.
type deviceFields struct {
	Name         string             `json:"name,omitempty"`
	Other        []string           `json:"other,omitempty"`
	Vendor       string             `json:"vendor,omitempty"`
	Kind         gputide.DeviceKind `json:"kind,omitempty"`
	Count        gputide.Count      `json:"-"` // text of it
	MemoryGB     *float64           `json:"memory_gb,omitempty"`
	MemoryMiB    *int64             `json:"memory_mib,omitempty"`
	Share        gputide.ShareKind  `json:"share,omitempty"`
	Passthrough  *bool              `json:"passthrough,omitempty"`
	Interconnect string             `json:"interconnect,omitempty"`
}

type specText struct {
	specFields
	Device deviceFields `json:"device,omitzero"`
	Count  string       `json:"count,omitempty"`
}

// encodeSpec returns a spec as JSON; nil when there is none.
func encodeSpec(s *gputide.Spec) (json.RawMessage, error) {
	if s == nil {
		return nil, nil
	}
	return json.Marshal(specText{specFields(*s), deviceFields(s.Device), s.Device.Count.String()})
}

// decodeSpec is the inverse of encodeSpec.
func decodeSpec(text []byte) (*gputide.Spec, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var t specText
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("%w: spec: %w", gputide.ErrInvalid, err)
	}
	s := gputide.Spec(t.specFields)
	s.Device = gputide.Device(t.Device)
	if t.Count == "" {
		return &s, nil
	}
	var err error
	s.Device.Count, err = gputide.ParseCount(t.Count)
	return &s, err
}
