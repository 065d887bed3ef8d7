package ec2api

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/gputide/gputide"
)

func gpu(name, vendor string, count, logical int32, size float64) types.GpuDeviceInfo {
	return types.GpuDeviceInfo{
		Name: &name, Manufacturer: &vendor, Count: &count, LogicalGpuCount: &logical, GpuPartitionSize: &size,
		MemoryInfo: &types.GpuDeviceMemoryInfo{SizeInMiB: new(int32(2861))},
	}
}

func TestDeviceOf(t *testing.T) {
	neuron := &types.NeuronInfo{NeuronDevices: []types.NeuronDeviceInfo{{Name: new("Inferentia"), Count: new(int32(16))}}}
	inference := &types.InferenceAcceleratorInfo{Accelerators: []types.InferenceDeviceInfo{{Name: new("Inferentia"), Count: new(int32(16))}}}
	for name, c := range map[string]struct {
		in    types.InstanceTypeInfo
		name  string
		count string
		kind  gputide.DeviceKind
		share gputide.ShareKind
	}{
		"nothing":       {in: types.InstanceTypeInfo{}},
		"empty block":   {in: types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{}}},
		"whole":         {types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("L4", "NVIDIA", 4, 4, 1)}}}, "L4", "4", gputide.DeviceGPU, gputide.ShareWhole},
		"eighth":        {types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("L4", "NVIDIA", 0, 1, 0.125)}}}, "L4", "1/8", gputide.DeviceGPU, ""},
		"two eighths":   {types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("L4", "NVIDIA", 0, 2, 0.125)}}}, "L4", "1/4", gputide.DeviceGPU, ""},
		"no size":       {types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("L4", "NVIDIA", 0, 1, 0)}}}, "L4", "", gputide.DeviceGPU, ""},
		"two entries":   {types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("L4", "NVIDIA", 2, 2, 1), gpu("L4", "NVIDIA", 2, 2, 1)}}}, "L4", "4", gputide.DeviceGPU, gputide.ShareWhole},
		"two kinds":     {types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("L4", "NVIDIA", 2, 2, 1), gpu("T4", "NVIDIA", 2, 2, 1)}}}, "L4", "", gputide.DeviceGPU, ""},
		"Gaudi":         {types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{gpu("Gaudi HL-205", "Habana", 8, 8, 1)}}}, "Gaudi HL-205", "8", gputide.DeviceAny, gputide.ShareWhole},
		"in two blocks": {types.InstanceTypeInfo{NeuronInfo: neuron, InferenceAcceleratorInfo: inference}, "Inferentia", "16", gputide.DeviceASIC, gputide.ShareWhole},
	} {
		d := deviceOf(&c.in)
		if d.Name != c.name || d.Count.String() != c.count || d.Kind != c.kind || d.Share != c.share {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestNetworkOf(t *testing.T) {
	for text, want := range map[string]float64{
		"3200 Gigabit": 3200, "4x 100 Gigabit": 400, "12.5 Gigabit": 12.5, "Up to 25 Gigabit": 5, "High": 0, "": 0, "x 100 Gigabit": 0, "-1 Gigabit": 0,
	} {
		got := networkOf(&types.NetworkInfo{NetworkPerformance: &text, NetworkCards: []types.NetworkCardInfo{{BaselineBandwidthInGbps: new(5.0)}}})
		if (got == nil) != (want == 0) || got != nil && *got != want {
			t.Errorf("%q: %v, want %g", text, got, want)
		}
	}
}
