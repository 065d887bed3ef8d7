package gputide

import (
	"fmt"
	"strconv"
	"strings"
)

// Count is a number of accelerators as a fraction in lowest terms: 8/1, 1/8.
// The zero value means unknown.
type Count struct {
	Num uint32
	Den uint32
}

// NewCount returns num/den in lowest terms. It returns the zero Count when
// either is zero.
func NewCount(num, den uint32) Count {
	if num == 0 || den == 0 {
		return Count{}
	}
	a, b := num, den
	for b != 0 {
		a, b = b, a%b
	}
	return Count{Num: num / a, Den: den / a}
}

// ParseCount reads "8" or "1/8". It returns [ErrInvalid] for anything else,
// zero included.
func ParseCount(s string) (Count, error) {
	num, den, ok := strings.Cut(s, "/")
	if !ok {
		den = "1"
	}
	n, errN := strconv.ParseUint(num, 10, 32)
	d, errD := strconv.ParseUint(den, 10, 32)
	if errN != nil || errD != nil || n == 0 || d == 0 {
		return Count{}, fmt.Errorf("%w: count %q", ErrInvalid, clip(s))
	}
	return NewCount(uint32(n), uint32(d)), nil
}

// Known reports whether c holds a count.
func (c Count) Known() bool { return c.Num != 0 && c.Den != 0 }

// Value returns c as a float, 0 when unknown: for display and sorting only.
func (c Count) Value() float64 {
	if !c.Known() {
		return 0
	}
	return float64(c.Num) / float64(c.Den)
}

// String returns "8" or "1/8", and "" when unknown.
func (c Count) String() string {
	switch {
	case !c.Known():
		return ""
	case c.Den == 1:
		return strconv.FormatUint(uint64(c.Num), 10)
	}
	return fmt.Sprintf("%d/%d", c.Num, c.Den)
}

// ShareKind says how much of a card an instance gets and how it is cut.
type ShareKind string

// The share kinds of the schema.
const (
	ShareWhole     ShareKind = "whole"
	ShareMIG       ShareKind = "mig"
	ShareVGPU      ShareKind = "vgpu"
	ShareTimeslice ShareKind = "timeslice"
)

// DeviceKind is the class of device a source says it sells.
type DeviceKind string

// Device kinds. DeviceAny means the source does not say; the catalogue decides.
const (
	DeviceAny   DeviceKind = ""
	DeviceGPU   DeviceKind = "gpu"
	DeviceASIC  DeviceKind = "ai-asic"
	DeviceFPGA  DeviceKind = "fpga"
	DeviceVideo DeviceKind = "video"
)

// Device is the accelerator of an instance type in the provider's own words.
// The zero value means the type has none, or that nothing is known; Spec.Source
// tells who said so.
type Device struct {
	Name         string     // verbatim: "NVIDIA H100 80GB HBM3", "A100", "GPU H"
	Other        []string   // other spellings in the same row: display name, type name
	Vendor       string     // as published; may be empty
	Kind         DeviceKind // as the source groups it
	Count        Count
	MemoryGB     *float64 // per accelerator, the number the provider prints as GB or GiB
	MemoryMiB    *int64   // per accelerator or slice, as reported in MiB
	Share        ShareKind
	Passthrough  *bool
	Interconnect string // between the accelerators of one node: NVLink, PCIe, …
}

// Known reports whether the device has a name or a count.
func (d *Device) Known() bool { return d.Name != "" || d.Count.Known() }

// Confidence says how sure a reading of a device name is.
type Confidence string

// The levels of confidence, best first.
const (
	ConfidenceHigh   Confidence = "high"
	ConfidenceMedium Confidence = "medium"
	ConfidenceLow    Confidence = "low"
)

// Accelerator is a device read through the accelerator catalogue. An unknown
// name has only Raw.
type Accelerator struct {
	Slug         string // model[-variant][-<gb>gb], as in h100-sxm-80gb
	Vendor       string
	Model        string // slug part: h100
	Variant      string // slug part: sxm; may be empty
	Class        DeviceKind
	Stack        string   // cuda, rocm, cann, neuron, …
	MemoryGB     *float64 // label memory per accelerator, as the vendor prints it
	Interconnect string   // of the catalogue row
	Confidence   Confidence
	Raw          string // the provider's words
}
