package aws

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws/pricelist"
)

// specOf returns what a price list says of an instance type, with the model of
// its accelerator from the table: lists never name it.
func specOf(t *pricelist.Type, table families) *gputide.Spec {
	s := &gputide.Spec{
		InstanceType: t.Name,
		VCPU:         number(t.VCPU),
		MemoryGiB:    quantity(t.Memory, "GiB"),
		NetworkGbps:  networkGbps(t.Network),
		BareMetal:    &t.Metal,
		Device:       deviceOf(t, table),
	}
	if t.Processor != "" && t.Processor != "NA" {
		s.CPUModel = t.Processor
	}
	return s
}

// acceleratedFamilies are the family labels of accelerated types, with the kind
// of device each says.
func acceleratedFamilies() map[string]gputide.DeviceKind {
	return map[string]gputide.DeviceKind{
		"GPU instance":                    gputide.DeviceGPU,
		"Machine Learning ASIC Instances": gputide.DeviceASIC,
		"FPGA Instances":                  gputide.DeviceFPGA,
		"Media Accelerator Instances":     gputide.DeviceVideo,
	}
}

// deviceOf returns the accelerator of a type. The table names it; the count is
// the row's own, but for slices of a card, which the lists cannot express; a
// family the table does not know keeps its label as the raw name.
func deviceOf(t *pricelist.Type, table families) gputide.Device {
	d, known := table.find(t.Name)
	count := countOf(t.GPU)
	kind, labelled := acceleratedFamilies()[t.Family]
	switch {
	case !known && !labelled && !count.Known():
		return gputide.Device{}
	case !known:
		d = gputide.Device{Name: strings.TrimSpace(t.Family + " " + familyOf(t.Name)), Kind: kind}
	}
	slice := d.Count.Known() && d.Count.Den > 1
	if slice {
		return d
	}
	if count.Known() {
		d.Count = count
	}
	d.Share = shareOf(d.Count)
	if total := totalGB(t.GPUMemory); total != nil && d.Count.Known() {
		each, _ := new(big.Rat).Quo(total, new(big.Rat).SetFrac64(int64(d.Count.Num), int64(d.Count.Den))).Float64()
		d.MemoryGB = &each
	}
	return d
}

func familyOf(instanceType string) string {
	family, _, _ := strings.Cut(instanceType, ".")
	return family
}

// countOf reads the GPU attribute: a whole number or a decimal fraction.
func countOf(s string) gputide.Count {
	r, err := gputide.ParseAmount(s)
	if err != nil || r.Sign() <= 0 {
		return gputide.Count{}
	}
	return countOfRat(r)
}

func countOfRat(r *big.Rat) gputide.Count {
	const most = 1 << 20
	if !r.Num().IsInt64() || !r.Denom().IsInt64() || r.Num().Int64() > most || r.Denom().Int64() > most {
		return gputide.Count{}
	}
	return gputide.NewCount(uint32(r.Num().Int64()), uint32(r.Denom().Int64()))
}

// totalGB reads the memory of all devices of an instance: "640 GB HBM3".
func totalGB(s string) *big.Rat {
	amount, rest, ok := strings.Cut(s, " ")
	if !ok || rest != "GB" && !strings.HasPrefix(rest, "GB ") {
		return nil
	}
	r, err := gputide.ParseAmount(amount)
	if err != nil || r.Sign() <= 0 {
		return nil
	}
	return r
}

// number reads a positive number; nil when s is none.
func number(s string) *float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0 && v < 1e9) {
		return nil
	}
	return &v
}

// quantity reads "2,048 GiB" with the given unit; nil for anything else.
func quantity(s, unit string) *float64 {
	v, ok := strings.CutSuffix(s, " "+unit)
	if !ok {
		return nil
	}
	return number(strings.ReplaceAll(v, ",", ""))
}

// networkGbps reads the network of a type where the text is a plain figure:
// "3200 Gigabit", "4x 100 Gigabit". "Up to 25 Gigabit" promises nothing.
func networkGbps(s string) *float64 {
	cards := 1.0
	if n, rest, ok := strings.Cut(s, "x "); ok {
		v := number(n)
		if v == nil {
			return nil
		}
		cards, s = *v, rest
	}
	v := quantity(s, "Gigabit")
	if v == nil {
		return nil
	}
	total := cards * *v
	return &total
}
