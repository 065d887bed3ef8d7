package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// GroupField is one field of a group with its value, empty where the offers of
// the group do not say.
type GroupField struct {
	Field string
	Value Text
}

// Group is what the offers of one line of a trend have in common. It is an
// object in JSON, its fields in order.
type Group []GroupField

// Get returns the value of a field, empty when the group has none.
func (g Group) Get(field string) string {
	for _, f := range g {
		if f.Field == field {
			return string(f.Value)
		}
	}
	return ""
}

// MarshalJSON writes an object of text or null.
func (g Group) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range g {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := appendString(f.Field)
		if err != nil {
			return nil, err
		}
		value, err := f.Value.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (g *Group) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	*g = Group{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		f := GroupField{Field: fmt.Sprint(name)}
		if err := dec.Decode(&f.Value); err != nil {
			return err
		}
		*g = append(*g, f)
	}
	return nil
}

// groupField reads one field of a group off an offer.
type groupField struct {
	name string
	of   func(c *candidate, regions Regions) string
}

// groupFields lists what trends can be grouped by: every field of the key, the
// accelerator, the place and the machine.
func groupFields() []groupField {
	var out []groupField
	for _, f := range gputide.KeyFields() {
		out = append(out, groupField{string(f), func(c *candidate, _ Regions) string { return c.quote.Key.Get(f) }})
	}
	return append(append(out, acceleratorFields()...), machineFields()...)
}

func acceleratorFields() []groupField {
	view := func(name string, of func(v *specView) string) groupField {
		return groupField{name, func(c *candidate, _ Regions) string { return of(c.view) }}
	}
	row := func(name string, of func(a *AcceleratorRow) string) groupField {
		return view(name, func(v *specView) string {
			if v.row == nil {
				return ""
			}
			return of(v.row)
		})
	}
	return []groupField{
		view("gpu", (*specView).name),
		view("model", func(v *specView) string {
			if v.unknown {
				return v.name()
			}
			return v.device.Model
		}),
		view("variant", func(v *specView) string { return v.device.Variant }),
		row("vendor", func(a *AcceleratorRow) string { return strings.ToLower(string(a.Vendor)) }),
		view("software", func(v *specView) string { return v.device.Stack }),
		view("count", func(v *specView) string { return v.count.String() }),
		row("memory_gb", func(a *AcceleratorRow) string { return numberText(a.MemoryGB) }),
		row("total_memory_gb", func(a *AcceleratorRow) string { return numberText(a.TotalMemoryGB) }),
		row("share", func(a *AcceleratorRow) string { return string(a.Share) }),
		row("interconnect", func(a *AcceleratorRow) string { return string(a.Interconnect) }),
		{"country", func(c *candidate, r Regions) string { return placeOf(c, r).Country }},
		{"continent", func(c *candidate, r Regions) string { return placeOf(c, r).Continent }},
	}
}

func machineFields() []groupField {
	spec := func(name string, of func(s *gputide.Spec) string) groupField {
		return groupField{name, func(c *candidate, _ Regions) string {
			if c.view.spec == nil {
				return ""
			}
			return of(c.view.spec)
		}}
	}
	return []groupField{
		spec("vcpu", func(s *gputide.Spec) string { return numberText(s.VCPU) }),
		spec("cpu_arch", func(s *gputide.Spec) string { return s.CPUArch }),
		spec("cpu_model", func(s *gputide.Spec) string { return s.CPUModel }),
		spec("memory_gib", func(s *gputide.Spec) string { return numberText(s.MemoryGiB) }),
		spec("local_disk_gb", func(s *gputide.Spec) string { return numberText(s.LocalDiskGB) }),
		spec("local_disk_kind", func(s *gputide.Spec) string { return s.LocalDiskKind }),
		spec("network_gbps", func(s *gputide.Spec) string { return numberText(s.NetworkGbps) }),
		spec("rdma", func(s *gputide.Spec) string { return s.RDMAKind }),
		spec("bare_metal", func(s *gputide.Spec) string {
			if s.BareMetal == nil {
				return ""
			}
			return strconv.FormatBool(*s.BareMetal)
		}),
	}
}

func placeOf(c *candidate, regions Regions) gputide.Place {
	k := &c.quote.Key
	at, _ := regions.Lookup(k.Provider, k.Partition, k.Region)
	return at
}

func numberText(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

// GroupFields lists the fields a trend can be grouped by.
func GroupFields() []string {
	var out []string
	for _, f := range groupFields() {
		out = append(out, f.name)
	}
	return out
}

// MixFields lists what a trend keeps apart unless asked to mix it.
func MixFields() []string { return []string{"gpu", "variant", "market", "stat", "term"} }

// groupBy understands what to group by: the fields asked for and then those
// that are never mixed unless asked. The form of an accelerator is its slug;
// where only its model, maker or software is asked for, its variant.
func groupBy(fields, mix []string) ([]groupField, error) {
	for _, m := range mix {
		if !slices.Contains(MixFields(), m) {
			return nil, unknown("mix", m, MixFields())
		}
	}
	if len(fields) == 0 {
		fields = []string{"gpu"}
	}
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, f := range fields {
		f = strings.ReplaceAll(strings.TrimSpace(f), "-", "_")
		if f == "type" {
			f = string(gputide.FieldInstanceType)
		}
		add(f)
	}
	for _, n := range []string{formField(names), "market", "term", "stat"} {
		if !slices.Contains(mix, n) {
			add(n)
		}
	}
	return pickFields(names)
}

// formField returns the field that keeps the forms of an accelerator apart in a
// group of the named fields.
func formField(names []string) string {
	coarse := slices.ContainsFunc(names, func(n string) bool { return n == "model" || n == "vendor" || n == "software" })
	if coarse && !slices.Contains(names, "gpu") {
		return "variant"
	}
	return "gpu"
}

func pickFields(names []string) ([]groupField, error) {
	all := groupFields()
	out := make([]groupField, 0, len(names))
	for _, n := range names {
		i := slices.IndexFunc(all, func(f groupField) bool { return f.name == n })
		if i < 0 {
			return nil, unknown("group field", n, GroupFields())
		}
		out = append(out, all[i])
	}
	return out, nil
}
