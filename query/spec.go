package query

import (
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// specKey names an instance type.
type specKey struct{ provider, partition, instanceType string }

func keySpec(k *gputide.Key) specKey { return specKey{k.Provider, k.Partition, k.InstanceType} }

// specView is a spec read through the catalogue.
type specView struct {
	spec    *gputide.Spec // nil when nothing is known of the type
	device  gputide.Accelerator
	row     *AcceleratorRow // nil when the spec names no accelerator
	count   gputide.Count
	unknown bool               // the catalogue does not know the name
	dense   map[string]float64 // precision → dense peak rate
}

// specViews reads each instance type once.
type specViews struct {
	catalogue Catalogue
	seen      map[specKey]*specView
}

func newSpecViews(c Catalogue) *specViews {
	return &specViews{catalogue: c, seen: map[specKey]*specView{}}
}

func (v *specViews) of(k *gputide.Key, s *gputide.Spec) *specView {
	id := keySpec(k)
	if got, ok := v.seen[id]; ok {
		return got
	}
	got := readSpec(v.catalogue, k.Provider, s)
	v.seen[id] = got
	return got
}

func readSpec(c Catalogue, provider string, s *gputide.Spec) *specView {
	v := &specView{spec: s}
	if s == nil || !s.Device.Known() {
		return v
	}
	acc, ok := c.Resolve(provider, &s.Device)
	if acc.Class == gputide.DeviceFPGA || acc.Class == gputide.DeviceVideo {
		return v
	}
	v.device, v.unknown, v.count = acc, !ok, s.Device.Count
	if entry, ok := c.Entry(acc.Slug); ok {
		v.dense = entry.Dense
	}
	v.row = acceleratorRow(&acc, &s.Device)
	return v
}

// bridge marks links that only some hosts have: the catalogue's word on the
// card is then none on the machine.
const bridge = "bridge"

func acceleratorRow(acc *gputide.Accelerator, d *gputide.Device) *AcceleratorRow {
	r := &AcceleratorRow{
		Vendor: Text(acc.Vendor), Model: Text(acc.Model), Variant: Text(acc.Variant), Slug: Text(acc.Slug),
		Count: Text(d.Count.String()), MemoryGB: acc.MemoryGB, ReportedMiB: d.MemoryMiB,
		Share: Text(d.Share), Interconnect: Text(d.Interconnect),
		Confidence: Text(acc.Confidence), Raw: Text(acc.Raw),
	}
	if r.Raw == "" {
		r.Raw = Text(d.Name)
	}
	if r.Vendor == "" {
		r.Vendor = Text(d.Vendor)
	}
	if r.MemoryGB == nil {
		r.MemoryGB = d.MemoryGB
	}
	if r.Interconnect == "" && !strings.Contains(acc.Interconnect, bridge) {
		r.Interconnect = Text(acc.Interconnect)
	}
	if d.Count.Known() {
		r.CountValue = new(d.Count.Value())
		if r.MemoryGB != nil {
			r.TotalMemoryGB = new(*r.MemoryGB * float64(d.Count.Num) / float64(d.Count.Den))
		}
	}
	return r
}

// name returns the slug of the accelerator, the provider's words after "? " for
// one the catalogue does not know, and "" for none.
func (v *specView) name() string {
	switch {
	case v.row == nil:
		return ""
	case v.device.Slug != "":
		return v.device.Slug
	case v.row.Raw != "":
		return "? " + string(v.row.Raw)
	}
	return ""
}

// each returns the memory one accelerator, or the slice of one, offers.
func (v *specView) each() *float64 {
	if v.row == nil || v.row.MemoryGB == nil {
		return nil
	}
	if v.count.Known() && v.count.Num < v.count.Den {
		return v.row.TotalMemoryGB
	}
	return v.row.MemoryGB
}

// total returns the memory of all accelerators together.
func (v *specView) total() *float64 {
	if v.row == nil {
		return nil
	}
	return v.row.TotalMemoryGB
}

// specTest judges instance types.
type specTest struct {
	derived                    []gputide.Match // gpu, vendor, software, count
	minGPUMemory, fits, minRAM *float64
	interconnect, precision    []string
	bareMetal                  *bool
}

// active reports whether t asks for anything the store was not asked for.
func (t *specTest) active() bool {
	return t.minGPUMemory != nil || t.fits != nil || t.minRAM != nil || t.interconnect != nil ||
		t.precision != nil || t.bareMetal != nil
}

// matches judges everything but what [specTest.resolves] does. What is not
// known of a type does not match.
func (t *specTest) matches(v *specView) bool {
	if !t.active() {
		return true
	}
	return v.spec != nil && t.built(v) && t.remembers(v) && t.linked(v) && t.computes(v)
}

func (t *specTest) built(v *specView) bool {
	return t.bareMetal == nil || (v.spec.BareMetal != nil && *v.spec.BareMetal == *t.bareMetal)
}

func (t *specTest) remembers(v *specView) bool {
	return atLeast(v.spec.MemoryGiB, t.minRAM) && atLeast(v.each(), t.minGPUMemory) && atLeast(v.total(), t.fits)
}

func (t *specTest) linked(v *specView) bool {
	if t.interconnect == nil || v.row == nil {
		return t.interconnect == nil
	}
	have := strings.ToLower(string(v.row.Interconnect))
	return have != "" && slices.ContainsFunc(t.interconnect, func(want string) bool {
		return strings.Contains(have, want)
	})
}

func (t *specTest) computes(v *specView) bool {
	return t.precision == nil || slices.ContainsFunc(t.precision, func(want string) bool {
		_, ok := v.dense[want]
		return ok
	})
}

// resolves judges gpu, vendor, software and count, for what the store does not
// select by them.
func (t *specTest) resolves(v *specView) bool {
	for _, m := range t.derived {
		if !slices.Contains(m.Values, v.attr(m.Field)) {
			return false
		}
	}
	return true
}

// attr returns a derived field of the type as the store derives it, empty when
// it has none.
func (v *specView) attr(f gputide.Field) string {
	if v.row == nil {
		return ""
	}
	switch f {
	case gputide.FieldGPU:
		return v.device.Slug
	case gputide.FieldVendor:
		return strings.ToLower(v.device.Vendor)
	case gputide.FieldStack:
		return v.device.Stack
	case gputide.FieldCount:
		return v.count.String()
	}
	return ""
}

func atLeast(have, want *float64) bool {
	return want == nil || (have != nil && *have >= *want)
}
