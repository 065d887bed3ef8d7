package ec2api

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/gputide/gputide"
)

const mibPerGiB = 1024

// specOf returns what EC2 says of an instance type.
func specOf(t *types.InstanceTypeInfo) gputide.Spec {
	s := gputide.Spec{
		InstanceType: string(t.InstanceType),
		Device:       deviceOf(t),
		BareMetal:    t.BareMetal,
		NetworkGbps:  networkOf(t.NetworkInfo),
		Use:          useOf(t.GpuInfo),
	}
	if v := t.VCpuInfo; v != nil && v.DefaultVCpus != nil {
		n := float64(*v.DefaultVCpus)
		s.VCPU = &n
	}
	if m := t.MemoryInfo; m != nil && aws.ToInt64(m.SizeInMiB) > 0 {
		n := float64(*m.SizeInMiB) / mibPerGiB
		s.MemoryGiB = &n
	}
	if p := t.ProcessorInfo; p != nil && len(p.SupportedArchitectures) == 1 {
		s.CPUArch = string(p.SupportedArchitectures[0])
	}
	if n := t.NetworkInfo; n != nil && aws.ToBool(n.EfaSupported) {
		s.RDMAKind = "efa"
	}
	if len(t.SupportedUsageClasses) > 0 {
		yes := sells(t, types.UsageClassTypeOnDemand)
		s.OnDemand = &yes
	}
	diskOf(t.InstanceStorageInfo, &s)
	return s
}

// sells reports whether a type is sold in a class of usage.
func sells(t *types.InstanceTypeInfo, class types.UsageClassType) bool {
	return slices.Contains(t.SupportedUsageClasses, class)
}

// part is one entry of a block of devices.
type part struct {
	name, vendor string
	count        gputide.Count
	mib          *int64
}

// deviceOf returns the accelerator of a type. Inferentia stands in the Neuron
// and in the inference block of the same answer and is taken once.
func deviceOf(t *types.InstanceTypeInfo) gputide.Device {
	for _, block := range []struct {
		kind  gputide.DeviceKind
		parts []part
	}{
		{gputide.DeviceGPU, gpuParts(t.GpuInfo)},
		{gputide.DeviceASIC, neuronParts(t.NeuronInfo)},
		{gputide.DeviceASIC, inferenceParts(t.InferenceAcceleratorInfo)},
		{gputide.DeviceFPGA, fpgaParts(t.FpgaInfo)},
		{gputide.DeviceVideo, mediaParts(t.MediaAcceleratorInfo)},
	} {
		if len(block.parts) > 0 {
			return merge(block.kind, block.parts)
		}
	}
	return gputide.Device{}
}

// merge makes one device of the entries of a block. Entries of different
// devices have no common count.
func merge(kind gputide.DeviceKind, parts []part) gputide.Device {
	first := parts[0]
	d := gputide.Device{Name: first.name, Vendor: first.vendor, Kind: kind, MemoryMiB: first.mib}
	if !slices.Contains([]string{"NVIDIA", "AMD"}, first.vendor) && kind == gputide.DeviceGPU {
		d.Kind = gputide.DeviceAny // Gaudi stands among the GPUs
	}
	sum := new(big.Rat)
	for _, p := range parts {
		if p.name != first.name || !p.count.Known() {
			d.Other = append(d.Other, p.name)
			return d
		}
		sum.Add(sum, big.NewRat(int64(p.count.Num), int64(p.count.Den)))
	}
	d.Count = countOf(sum)
	if d.Count.Den == 1 {
		d.Share = gputide.ShareWhole
	}
	return d
}

func gpuParts(i *types.GpuInfo) []part {
	if i == nil {
		return nil
	}
	var out []part
	for _, g := range i.Gpus {
		p := part{name: aws.ToString(g.Name), vendor: aws.ToString(g.Manufacturer), count: whole(g.Count)}
		if !p.count.Known() {
			p.count = fraction(g.LogicalGpuCount, g.GpuPartitionSize)
		}
		if g.MemoryInfo != nil {
			p.mib = mib(g.MemoryInfo.SizeInMiB)
		}
		out = append(out, p)
	}
	return out
}

func neuronParts(i *types.NeuronInfo) []part {
	if i == nil {
		return nil
	}
	var out []part
	for _, n := range i.NeuronDevices {
		p := part{name: aws.ToString(n.Name), vendor: "AWS", count: whole(n.Count)}
		if n.MemoryInfo != nil {
			p.mib = mib(n.MemoryInfo.SizeInMiB)
		}
		out = append(out, p)
	}
	return out
}

func inferenceParts(i *types.InferenceAcceleratorInfo) []part {
	if i == nil {
		return nil
	}
	var out []part
	for _, a := range i.Accelerators {
		p := part{name: aws.ToString(a.Name), vendor: aws.ToString(a.Manufacturer), count: whole(a.Count)}
		if a.MemoryInfo != nil {
			p.mib = mib(a.MemoryInfo.SizeInMiB)
		}
		out = append(out, p)
	}
	return out
}

func fpgaParts(i *types.FpgaInfo) []part {
	if i == nil {
		return nil
	}
	var out []part
	for _, f := range i.Fpgas {
		p := part{name: aws.ToString(f.Name), vendor: aws.ToString(f.Manufacturer), count: whole(f.Count)}
		if f.MemoryInfo != nil {
			p.mib = mib(f.MemoryInfo.SizeInMiB)
		}
		out = append(out, p)
	}
	return out
}

func mediaParts(i *types.MediaAcceleratorInfo) []part {
	if i == nil {
		return nil
	}
	var out []part
	for _, a := range i.Accelerators {
		p := part{name: aws.ToString(a.Name), vendor: aws.ToString(a.Manufacturer), count: whole(a.Count)}
		if a.MemoryInfo != nil {
			p.mib = mib(a.MemoryInfo.SizeInMiB)
		}
		out = append(out, p)
	}
	return out
}

func whole(n *int32) gputide.Count {
	if n == nil || *n <= 0 {
		return gputide.Count{}
	}
	return gputide.NewCount(uint32(*n), 1)
}

// fraction returns the part of a card that fractional types have: their count
// is 0, and each logical GPU is a share of a card.
func fraction(logical *int32, size *float64) gputide.Count {
	if logical == nil || size == nil || *logical <= 0 {
		return gputide.Count{}
	}
	share, err := gputide.ParseAmount(strconv.FormatFloat(*size, 'f', -1, 64))
	if err != nil || share.Sign() <= 0 {
		return gputide.Count{}
	}
	return countOf(share.Mul(share, big.NewRat(int64(*logical), 1)))
}

func countOf(r *big.Rat) gputide.Count {
	const most = 1 << 20
	if !r.Num().IsInt64() || !r.Denom().IsInt64() || r.Num().Int64() > most || r.Denom().Int64() > most {
		return gputide.Count{}
	}
	return gputide.NewCount(uint32(r.Num().Int64()), uint32(r.Denom().Int64()))
}

func mib(n *int32) *int64 {
	if n == nil || *n <= 0 {
		return nil
	}
	v := int64(*n)
	return &v
}

// useOf returns the workloads EC2 names for the GPUs, verbatim.
func useOf(i *types.GpuInfo) []string {
	if i == nil {
		return nil
	}
	var out []string
	for _, g := range i.Gpus {
		for _, w := range g.Workloads {
			out = append(out, string(w))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func diskOf(i *types.InstanceStorageInfo, s *gputide.Spec) {
	if i == nil || aws.ToInt64(i.TotalSizeInGB) <= 0 {
		return
	}
	gb := float64(*i.TotalSizeInGB)
	s.LocalDiskGB = &gb
	for _, d := range i.Disks {
		kind := string(d.Type)
		if d.Type == types.DiskTypeSsd && i.NvmeSupport == types.EphemeralNvmeSupportRequired {
			kind = "nvme"
		}
		if s.LocalDiskKind != "" && s.LocalDiskKind != kind {
			s.LocalDiskKind = ""
			return
		}
		s.LocalDiskKind = kind
	}
}

// networkOf returns the bandwidth a type has at all times: a plain figure
// ("3200 Gigabit", "4x 100 Gigabit"), or for "Up to 25 Gigabit" the baseline of
// its one network card. Sums over cards contradict the text of several types.
func networkOf(n *types.NetworkInfo) *float64 {
	if n == nil {
		return nil
	}
	text := aws.ToString(n.NetworkPerformance)
	if strings.HasPrefix(text, "Up to ") {
		if len(n.NetworkCards) == 1 {
			return n.NetworkCards[0].BaselineBandwidthInGbps
		}
		return nil
	}
	figure, ok := strings.CutSuffix(text, " Gigabit")
	if !ok {
		return nil
	}
	cards := 1.0
	if c, rest, ok := strings.Cut(figure, "x "); ok {
		v, err := strconv.ParseFloat(c, 64)
		if err != nil {
			return nil
		}
		cards, figure = v, rest
	}
	v, err := strconv.ParseFloat(figure, 64)
	if err != nil || !(v > 0 && cards > 0) {
		return nil
	}
	total := cards * v
	return &total
}
