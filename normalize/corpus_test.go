package normalize

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

// TestRunPodTable resolves every GPU type RunPod documents, by id and display
// name.
func TestRunPodTable(t *testing.T) {
	b, err := os.ReadFile(sharedFile(t, "payloads/runpod/gpu_types_table_doc_2026-02-12.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.SplitSeq(runPodSlugs, "\n") {
		if id, slug, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			want[id] = slug
		}
	}
	c := testCatalogue(t)
	seen := 0
	for line := range strings.SplitSeq(string(b), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.Contains(line, "---") || strings.Contains(line, "Memory (GB)") || strings.Contains(line, "`") {
			continue
		}
		id, display := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		gb, err := strconv.ParseFloat(strings.TrimSpace(cells[3]), 64)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		d := device(id, gb, 0, display)
		r := c.read("runpod", d)
		if r.card == nil || r.card.slug != want[id] || r.mismatch || r.masked || r.confidence != high {
			t.Errorf("%s (%s, %v GB): %+v, want %s", id, display, gb, r.accelerator(), want[id])
		}
		d.Vendor = "Nvidia"
		if strings.HasPrefix(id, "AMD") {
			d.Vendor = "AMD"
		}
		if a, ok := c.Resolve("runpod", d); !ok || a.Slug != want[id] {
			t.Errorf("%s with its vendor: %+v", id, a)
		}
	}
	if seen != 45 || len(want) != 45 {
		t.Errorf("%d rows, %d expectations, want 45", seen, len(want))
	}
}

const runPodSlugs = `
AMD Instinct MI300X OAM = mi300x-192gb
NVIDIA A100 80GB PCIe = a100-pcie-80gb
NVIDIA A100-SXM4-80GB = a100-sxm-80gb
NVIDIA A30 = a30-24gb
NVIDIA A40 = a40-48gb
NVIDIA B200 = b200-sxm-180gb
NVIDIA B300 SXM6 AC = b300-sxm-288gb
NVIDIA GeForce RTX 3070 = rtx-3070-8gb
NVIDIA GeForce RTX 3080 = rtx-3080-10gb
NVIDIA GeForce RTX 3080 Ti = rtx-3080-ti-12gb
NVIDIA GeForce RTX 3090 = rtx-3090-24gb
NVIDIA GeForce RTX 3090 Ti = rtx-3090-ti-24gb
NVIDIA GeForce RTX 4070 Ti = rtx-4070-ti-12gb
NVIDIA GeForce RTX 4080 = rtx-4080-16gb
NVIDIA GeForce RTX 4080 SUPER = rtx-4080-super-16gb
NVIDIA GeForce RTX 4090 = rtx-4090-24gb
NVIDIA GeForce RTX 5080 = rtx-5080-16gb
NVIDIA GeForce RTX 5090 = rtx-5090-32gb
NVIDIA H100 80GB HBM3 = h100-sxm-80gb
NVIDIA H100 NVL = h100-nvl-94gb
NVIDIA H100 PCIe = h100-pcie-80gb
NVIDIA H200 = h200-sxm-141gb
NVIDIA H200 NVL = h200-nvl-141gb
NVIDIA L4 = l4-24gb
NVIDIA L40 = l40-48gb
NVIDIA L40S = l40s-48gb
NVIDIA RTX 2000 Ada Generation = rtx-2000-ada-16gb
NVIDIA RTX 4000 Ada Generation = rtx-4000-ada-20gb
NVIDIA RTX 4000 SFF Ada Generation = rtx-4000-sff-ada-20gb
NVIDIA RTX 5000 Ada Generation = rtx-5000-ada-32gb
NVIDIA RTX 6000 Ada Generation = rtx-6000-ada-48gb
NVIDIA RTX A2000 = rtx-a2000-6gb
NVIDIA RTX A4000 = rtx-a4000-16gb
NVIDIA RTX A4500 = rtx-a4500-20gb
NVIDIA RTX A5000 = rtx-a5000-24gb
NVIDIA RTX A6000 = rtx-a6000-48gb
NVIDIA RTX PRO 4500 Blackwell = rtx-pro-4500-32gb
NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition = rtx-pro-6000-maxq-96gb
NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb = rtx-pro-6000-server-96gb
NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 2g.48gb = rtx-pro-6000-server-96gb
NVIDIA RTX PRO 6000 Blackwell Server Edition = rtx-pro-6000-server-96gb
NVIDIA RTX PRO 6000 Blackwell Workstation Edition = rtx-pro-6000-workstation-96gb
Tesla V100-PCIE-16GB = v100-pcie-16gb
Tesla V100-SXM2-16GB = v100-sxm2-16gb
Tesla V100-SXM2-32GB = v100-sxm2-32gb
`

// TestEC2Devices resolves every device of a stored DescribeInstanceTypes answer
// with the memory EC2 states.
func TestEC2Devices(t *testing.T) {
	b, err := os.ReadFile(sharedFile(t, "payloads/aws/describe_instance_types.accelerated.json"))
	if err != nil {
		t.Fatal(err)
	}
	type dev struct {
		Name, Manufacturer string
		Count              uint32
		GpuPartitionSize   float64
		LogicalGpuCount    uint32
		MemoryInfo         struct{ SizeInMiB int64 }
	}
	var doc struct {
		InstanceTypes []struct {
			InstanceType             string
			GpuInfo                  struct{ Gpus []dev }
			NeuronInfo               struct{ NeuronDevices []dev }
			InferenceAcceleratorInfo struct{ Accelerators []dev }
			FpgaInfo                 struct{ Fpgas []dev }
			MediaAcceleratorInfo     struct{ Accelerators []dev }
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"T4": "t4-16gb", "T4g": "t4g-16gb", "A10G": "a10g-24gb", "L4": "l4-24gb", "L40S": "l40s-48gb",
		"RTX PRO Server 6000": "rtx-pro-6000-server-96gb", "V100": "v100-sxm2-32gb", "A100 40960": "a100-sxm-40gb",
		"A100 81920": "a100-sxm-80gb", "H100": "h100-sxm-80gb", "H200": "h200-sxm-141gb", "B200": "b200-sxm-180gb",
		"Inferentia": "inferentia-8gb", "Trainium": "trainium-32gb", "Trainium2": "trainium2-96gb",
		"Qualcomm AI100": "qaic100-std-16gb", "Virtex UltraScale+ (VU47P)": "virtex-vu47p", "U30": "alveo-u30",
	}
	c := testCatalogue(t)
	seen := map[string]bool{}
	for _, it := range doc.InstanceTypes {
		devs := append(append(append(append(it.GpuInfo.Gpus, it.NeuronInfo.NeuronDevices...), it.InferenceAcceleratorInfo.Accelerators...), it.FpgaInfo.Fpgas...), it.MediaAcceleratorInfo.Accelerators...)
		for _, g := range devs {
			d := device(g.Name, 0, g.MemoryInfo.SizeInMiB, it.InstanceType)
			d.Vendor = g.Manufacturer
			if g.GpuPartitionSize > 0 && g.GpuPartitionSize < 1 {
				d.Count = gputide.NewCount(g.LogicalGpuCount, uint32(1/g.GpuPartitionSize))
			}
			key := g.Name
			if want[key] == "" {
				key += " " + strconv.FormatInt(g.MemoryInfo.SizeInMiB, 10)
			}
			seen[key] = true
			r := c.read("aws", d)
			if r.card == nil || r.card.slug != want[key] || r.confidence != high || r.masked || r.mismatch != (g.Name == "Trainium2") {
				t.Errorf("%s %s %v × %d MiB: %+v, want %s", it.InstanceType, g.Name, d.Count, g.MemoryInfo.SizeInMiB, r, want[key])
				continue
			}
			class := r.card.class
			if fpga := len(it.FpgaInfo.Fpgas) > 0; fpga != (class == gputide.DeviceFPGA) {
				t.Errorf("%s: class %s", it.InstanceType, class)
			}
			if video := len(it.MediaAcceleratorInfo.Accelerators) > 0; video != (class == gputide.DeviceVideo) {
				t.Errorf("%s: class %s", it.InstanceType, class)
			}
		}
	}
	if len(seen) != len(want) {
		t.Errorf("saw %v, want %d kinds", seen, len(want))
	}
}

// TestAlibabaSpecs resolves every accelerated type of a stored spec table; what
// it names must be read, and what it masks must be flagged.
func TestAlibabaSpecs(t *testing.T) {
	b, err := os.ReadFile(sharedFile(t, "payloads/alibaba/derived_gpu_specs_sparecores_2026-01.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ID     string  `json:"id"`
		Model  string  `json:"gpu_model"`
		Vendor string  `json:"gpu_manufacturer"`
		MiB    *int64  `json:"gpu_memory_min_mib"`
		Count  float64 `json:"gpu_count"`
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	// model and MiB → slug; "-" is known to name no card; masked ones in masked.
	want := map[string]string{
		"A10": "a10-24gb", "A100 40960": "a100-sxm-40gb", "A100 81920": "a100-sxm-80gb", "A30": "a30-24gb",
		"A800 40960": "a800-40gb", "A800 81920": "a800-sxm-80gb", "AGF 027": "intel-agilex-agf027", "5880": "rtx-5880-ada-48gb",
		"RTX 5880": "rtx-5880-ada-48gb", "RTX 6000": "quadro-rtx-6000-24gb", "INTEL ARRIA 10 GX 1150": "intel-arria10-gx1150",
		"L20": "l20-48gb", "M40": "m40-12gb", "MI-308X": "mi308x-192gb", "NETINT T408": "netint-t408", "P100": "p100-pcie-16gb",
		"P4": "p4-8gb", "S7150": "firepro-s7150", "T4": "t4-16gb", "V100 16384": "v100-sxm2-16gb", "V100 32768": "v100-sxm2-32gb",
		"V100 0": "-", "VG1000": "alibaba-vg1000", "Xilinx VU9p": "virtex-vu9p", "intel SG1": "intel-sg1",
		"PPU 810": "ppu-810e-96gb", "ALINPU 800": "hanguang-800",
		"GPU H": "h20-96gb", "GPU H-e": "h20-141gb", "GA107": "a16-16gb", "L20N 49152": "rtx-pro-5000-48gb",
		"L20N 73728": "rtx-pro-5000-72gb", "vGPU8": "l20-48gb", "G39": "-", "G49": "-", "G49E": "-", "G59": "-",
		"GPU A": "-", "A910E": "-", "A910X": "-", "A910Z": "-", "Lovelace": "-",
	}
	masked := "GPU H;GPU H-e;GA107;L20N;vGPU8;G39;G49;G49E;G59;GPU A;A910E;A910X;A910Z;Lovelace"
	outside := map[gputide.DeviceKind]int{}
	c := testCatalogue(t)
	for _, row := range rows {
		if strings.HasPrefix(row.ID, "ecs.poc-test.") {
			continue
		}
		d := device(row.Model, 0, 0)
		d.Vendor = row.Vendor
		d.MemoryMiB = row.MiB
		key := row.Model
		if want[key] == "" {
			mib := int64(0)
			if row.MiB != nil {
				mib = *row.MiB
			}
			key += " " + strconv.FormatInt(mib, 10)
		}
		r := c.read("alibaba", d)
		slug := "-"
		if r.card != nil {
			slug = r.card.slug
			switch r.card.class {
			case gputide.DeviceFPGA, gputide.DeviceVideo:
				outside[r.card.class]++
			}
		}
		if slug != want[key] || r.masked != strings.Contains(";"+masked+";", ";"+row.Model+";") {
			t.Errorf("%s %s: %s, masked %v, want %s", row.ID, key, slug, r.masked, want[key])
		}
	}
	if got := outside[gputide.DeviceFPGA] + outside[gputide.DeviceVideo]; got != 16 {
		t.Errorf("%d FPGA and video types, want 16", got)
	}
}
