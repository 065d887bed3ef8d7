package huawei

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

var (
	cpuText  = regexp.MustCompile(`^([0-9]{1,4}) ?(?:BSSUNIT\.pluralUnit\.23|vCPUs?)$`)
	memText  = regexp.MustCompile(`^([0-9]{1,6}(?:\.[0-9]+)?) ?(?:BSSUNIT\.pluralUnit\.102|GB|GiB)$`)
	diskText = regexp.MustCompile(`^([0-9]{1,3})\s*\*\s*([0-9]{1,6}(?:\.[0-9]+)?) ?(T|G)B?\s+(NVMe SSD|SSD|SAS|HDD)$`)

	// cardText is "2 * NVIDIA T4 / 2 * 16G": cards and model, cards and memory of one.
	cardText = regexp.MustCompile(`^([0-9]{1,2})\s*\*\s*([^*/]+?)\s*/\s*([0-9]{1,2})\s*\*\s*([0-9]{1,4})\s*GB?$`)
)

// number reads the number of a text of one form. A text that is not there, or
// says 0, is nothing; ok is false for one of another form.
func number(form *regexp.Regexp, s *string) (v *float64, ok bool) {
	if s == nil || *s == "" {
		return nil, true
	}
	m := form.FindStringSubmatch(strings.TrimSpace(*s))
	if m == nil {
		return nil, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n <= 0 {
		return nil, err == nil
	}
	return &n, true
}

// spec returns what a row says of its flavor. A text of unknown form is drift.
func (v *vm) spec(flavor string, site *site) (*gputide.Spec, error) {
	s := &gputide.Spec{Source: site.source, Partition: site.partition, InstanceType: flavor}
	var ok bool
	if s.VCPU, ok = number(cpuText, v.CPU); !ok {
		return nil, drift(site.source, "$.product.ec2_vm[].cpu", "a number of vCPUs", *v.CPU)
	}
	if s.MemoryGiB, ok = number(memText, v.Mem); !ok {
		return nil, drift(site.source, "$.product.ec2_vm[].mem", "a number of GB", *v.Mem)
	}
	if s.Device, ok = cards(text(v.Cards)); !ok {
		return nil, drift(site.source, "$.product.ec2_vm[].acceleratorCard", "count * model / count * memory", *v.Cards)
	}
	switch v.Arch {
	case "x86":
		s.CPUArch = "x86_64"
	case "arm", "arm64":
		s.CPUArch = "arm64"
	}
	if m := diskText.FindStringSubmatch(v.LocalDisk); m != nil {
		n, errCount := strconv.ParseFloat(m[1], 64)
		size, errSize := strconv.ParseFloat(m[2], 64)
		if m[3] == "T" {
			size *= 1000
		}
		if total := n * size; errCount == nil && errSize == nil && total > 0 {
			s.LocalDiskGB = &total
			s.LocalDiskKind = map[string]string{"NVMe SSD": "nvme", "SSD": "ssd"}[m[4]]
			if s.LocalDiskKind == "" {
				s.LocalDiskKind = "hdd"
			}
		}
	}
	return s, nil
}

// cards reads the accelerators of a row; none is the zero device.
func cards(said string) (gputide.Device, bool) {
	said = strings.TrimSpace(said)
	if said == "" || said == "0" {
		return gputide.Device{}, true
	}
	m := cardText.FindStringSubmatch(said)
	if m == nil || m[1] != m[3] {
		return gputide.Device{}, false
	}
	n, errCount := strconv.ParseUint(m[1], 10, 32)
	gb, errSize := strconv.ParseFloat(m[4], 64)
	if errCount != nil || errSize != nil || n == 0 || n > maxCards || gb <= 0 {
		return gputide.Device{}, false
	}
	return gputide.Device{
		Name: m[2], Vendor: vendorOf(m[2]), Count: gputide.NewCount(uint32(n), 1), MemoryGB: &gb, Share: gputide.ShareWhole,
	}, true
}

// vendorOf returns the maker of a card that its name begins with, Huawei of an
// Ascend; empty where the name does not say.
func vendorOf(name string) string {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(lower, "ascend"), strings.HasPrefix(lower, "snt"), strings.HasPrefix(name, "昇腾"):
		return "Huawei"
	case strings.HasPrefix(lower, "nvidia"):
		return "NVIDIA"
	}
	return ""
}
