package pricelist

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gputide/gputide"
)

// product is a product of the list with the verdict on it.
type product struct {
	sku     string
	omit    string // reason of an omission
	skip    string // reason of a skip; key is not known then
	detail  string
	skipped attr // the attribute that failed it
	key     gputide.Key
	typ     *Type
	seen    bool // has a term
	kept    bool // referred to by a row still to come: must not be reused
}

// productOf decides what a product is from its attributes. It fills old instead
// of a new value where nothing refers to it any more.
func (l *list) productOf(v *values, old *product) *product {
	p := old
	if p == nil || p.kept {
		p = new(product)
	}
	*p = product{sku: string(v[sku])}
	metal := string(v[family]) == "Compute Instance (bare metal)"
	switch {
	case !metal && string(v[family]) != "Compute Instance":
		p.omit = OmitFamily
	case len(v[instanceType]) == 0 && len(v[region]) == 0 && string(v[location]) == "Any":
		p.omit = OmitNoType
	default:
		l.judge(p, v)
	}
	if p.omit == "" && p.skip == "" {
		p.typ = l.typeOf(v, metal)
	}
	return p
}

// judge decides whether an instance product is an offer, and fills its key.
func (l *list) judge(p *product, v *values) {
	bad, text := l.twinsOf(v)
	if text == "" {
		if p.omit = l.omitted(v); p.omit != "" {
			return
		}
		bad, text = shapeOf(v)
	}
	if text == "" {
		bad, text = l.keyOf(v, &p.key)
	}
	if text != "" {
		p.skip, p.skipped, p.detail = SkipBadRow, bad, text
		return
	}
	switch {
	case l.opt.Region != "" && p.key.Region != l.opt.Region:
		p.skip, p.skipped, p.detail = SkipOtherRegion, region, p.key.Region
	case l.opt.Only == OnDemandLinux && (p.key.OS != "linux" || p.key.License != "" || p.key.Tenancy != "shared"):
		p.omit = OmitNotWanted
	}
}

// omitted returns the reason a product of an instance family is no offer, or "".
// The operation and the usage type say the same as the columns that older lists
// do not have.
func (l *list) omitted(v *values) string {
	switch {
	case string(v[market]) == "CapacityBlock" || !l.has(market) && isBlock(v):
		return OmitCapacityBlock
	case isUnused(v[capacity]) || !l.has(capacity) && hasUsage(v[usage], "Unused"):
		return OmitUnused
	case string(v[license]) == "License Included - Infrastructure":
		return OmitInfrastructure
	}
	return ""
}

// isBlock reports whether the operation of a row is that of a capacity block.
func isBlock(v *values) bool { return bytes.HasSuffix(v[operation], []byte(":CB")) }

// twinsOf returns what is wrong with the columns that tell a row from its twins:
// empty, or in contradiction to the operation or the usage type.
func (l *list) twinsOf(v *values) (attr, string) {
	switch {
	case l.has(capacity) && len(v[capacity]) == 0:
		return capacity, "empty"
	case l.has(market) && len(v[market]) == 0:
		return market, "empty"
	case string(v[market]) == "OnDemand" && isBlock(v):
		return market, odd(v[market]) + " in a row of a capacity block"
	case string(v[capacity]) == "Used" && hasUsage(v[usage], "Unused"):
		return capacity, odd(v[capacity]) + " in a row of unused capacity"
	}
	return 0, ""
}

// isUnused reports whether a capacity status is one of the twins of a used row.
func isUnused(status []byte) bool {
	switch string(status) {
	case "UnusedCapacityReservation", "AllocatedCapacityReservation", "UnusedDedicatedRes", "UnusedDed", "AllocatedHost":
		return true
	}
	return false
}

// hasUsage reports whether a usage type is of a kind, with or without the
// prefix of its region: UnusedBox:m5.large, USW2-UnusedBox:m5.large.
func hasUsage(usageType []byte, kind string) bool {
	if i := bytes.IndexByte(usageType, ':'); i >= 0 {
		usageType = usageType[:i]
	}
	if i := bytes.LastIndexByte(usageType, '-'); i >= 0 {
		usageType = usageType[i+1:]
	}
	return strings.HasPrefix(string(usageType), kind)
}

// shapeOf returns what is wrong with the attributes that describe the instance
// or mark a row as one of use.
func shapeOf(v *values) (attr, string) {
	switch {
	case len(v[capacity]) > 0 && string(v[capacity]) != "Used":
		return capacity, odd(v[capacity])
	case len(v[market]) > 0 && string(v[market]) != "OnDemand":
		return market, odd(v[market])
	case len(v[memory]) == 0 || v[memory][0] < '0' || v[memory][0] > '9':
		return memory, odd(v[memory])
	case !isCount(v[vcpu]):
		return vcpu, odd(v[vcpu])
	case len(v[gpu]) > 0 && string(v[gpu]) != "NA" && !isCount(v[gpu]):
		return gpu, odd(v[gpu])
	}
	return 0, ""
}

// keyOf fills the product's part of the key. It returns the attribute that does
// not allow it and what is wrong with it.
func (l *list) keyOf(v *values, k *gputide.Key) (attr, string) {
	if !isTypeName(v[instanceType]) {
		return instanceType, odd(v[instanceType])
	}
	k.Partition, k.Currency, k.Stat = l.opt.Partition, l.opt.Currency, gputide.StatList
	k.InstanceType = l.intern(v[instanceType])
	if k.Region = l.regionOf(v); k.Region == "" {
		return region, odd(v[region])
	}
	if k.Tenancy = tenancyOf(v[tenancy]); k.Tenancy == "" {
		return tenancy, odd(v[tenancy])
	}
	os, ha := l.systemOf(v[system])
	if os == "" {
		return system, odd(v[system])
	}
	k.OS = os
	return licenseOf(v, ha, k)
}

// odd quotes a value for a report.
func odd(b []byte) string {
	if len(b) == 0 {
		return "empty"
	}
	return fmt.Sprintf("%.60q", b)
}

// isTypeName reports whether b looks like family.size.
func isTypeName(b []byte) bool {
	i := bytes.IndexByte(b, '.')
	return i > 0 && i < len(b)-1 && bytes.IndexByte(b, ' ') < 0
}

// isCount reports whether b is a decimal number.
func isCount(b []byte) bool {
	dots := 0
	for i, c := range b {
		switch {
		case c == '.' && i > 0 && i < len(b)-1:
			dots++
		case c < '0' || c > '9':
			return false
		}
	}
	return len(b) > 0 && dots <= 1
}

func tenancyOf(b []byte) string {
	switch string(b) {
	case "Shared":
		return "shared"
	case "Dedicated":
		return "dedicated"
	case "Host":
		return "host"
	}
	return ""
}

// systemOf returns the os of a row, and whether it has the high-availability
// add-on. An operating system not seen before is its own series, under its own
// name in lower case.
func (l *list) systemOf(b []byte) (os string, ha bool) {
	switch string(b) {
	case "", "NA":
		return "", false
	case "Red Hat Enterprise Linux with HA":
		return "rhel", true
	}
	os, ok := l.systems[string(b)]
	if !ok {
		os = slug(b)
		if len(l.systems) < maxInterned {
			l.systems[string(b)] = os
		}
	}
	return os, false
}

// slug returns a name in lower case with underscores; "" for one that is not
// made of words.
func slug(b []byte) string {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		switch {
		case c == ' ' || c == '-' || c == '/':
			out = append(out, '_')
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			out = append(out, c|0x20)
		default:
			return ""
		}
	}
	return string(out)
}

// licenseOf fills the license: what the price includes beside the operating
// system, in one fixed order joined by a plus sign.
func licenseOf(v *values, ha bool, k *gputide.Key) (attr, string) {
	var parts []string
	switch string(v[license]) {
	case "No License required", "NA":
	case "Bring your own license":
		parts = append(parts, "byol")
	default:
		return license, odd(v[license])
	}
	if ha {
		parts = append(parts, "ha")
	}
	switch string(v[software]) {
	case "NA":
	case "SQL Web":
		parts = append(parts, "sql_web")
	case "SQL Std":
		parts = append(parts, "sql_std")
	case "SQL Ent":
		parts = append(parts, "sql_ent")
	default:
		return software, odd(v[software])
	}
	if len(parts) == 1 {
		k.License = parts[0]
		return 0, ""
	}
	k.License = strings.Join(parts, "+")
	return 0, ""
}

// regionOf returns the region code of a row; lists without the column have the
// long name of the location only. It returns "" for what is neither.
func (l *list) regionOf(v *values) string {
	if l.has(region) {
		if !isRegion(v[region]) {
			return ""
		}
		return l.intern(v[region])
	}
	return l.locations[string(v[location])]
}

// isRegion reports whether b looks like a region code: lower-case words joined
// by hyphens, the last with a digit.
func isRegion(b []byte) bool {
	hyphens := 0
	for _, c := range b {
		switch {
		case c == '-':
			hyphens++
		case (c < 'a' || c > 'z') && (c < '0' || c > '9'):
			return false
		}
	}
	return hyphens >= 2 && b[len(b)-1] >= '0' && b[len(b)-1] <= '9'
}

// typeOf returns what the list says of an instance type, one value per type.
func (l *list) typeOf(v *values, metal bool) *Type {
	t, ok := l.types[string(v[instanceType])]
	if !ok {
		t = &Type{
			Name: l.intern(v[instanceType]), Family: l.intern(v[instanceFamily]), Metal: metal,
			VCPU: l.intern(v[vcpu]), Memory: l.intern(v[memory]), GPU: l.intern(v[gpu]), GPUMemory: l.intern(v[gpuMemory]),
			Network: l.intern(v[network]), Processor: l.intern(v[processor]),
		}
		l.types[t.Name] = t
		return t
	}
	return t
}
