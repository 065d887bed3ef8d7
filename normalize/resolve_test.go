package normalize

import (
	"testing"

	"github.com/gputide/gputide"
)

func testCatalogue(t testing.TB) *Catalogue {
	t.Helper()
	c, err := LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// device builds a device: gb and mib are 0 when not stated.
func device(name string, gb float64, mib int64, other ...string) *gputide.Device {
	d := &gputide.Device{Name: name, Other: other, Count: gputide.NewCount(1, 1)}
	if gb != 0 {
		d.MemoryGB = &gb
	}
	if mib != 0 {
		d.MemoryMiB = &mib
	}
	return d
}

const (
	high   = gputide.ConfidenceHigh
	medium = gputide.ConfidenceMedium
	low    = gputide.ConfidenceLow
	none   = gputide.Confidence("")
)

// readCase is one device and what becomes of it.
type readCase struct {
	name     string
	provider string
	device   *gputide.Device
	slug     string // "" is unknown
	conf     gputide.Confidence
	mismatch bool
}

func testReads(t *testing.T, cases []readCase) {
	t.Helper()
	c := testCatalogue(t)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := c.read(tc.provider, tc.device)
			got, ok := c.Resolve(tc.provider, tc.device)
			if got.Slug != tc.slug || ok != (tc.slug != "") || got.Confidence != tc.conf || r.mismatch != tc.mismatch {
				t.Errorf("got %q, %v, confidence %q, mismatch %v; want %q, confidence %q, mismatch %v",
					got.Slug, ok, got.Confidence, r.mismatch, tc.slug, tc.conf, tc.mismatch)
			}
			if got.Raw != tc.device.Name {
				t.Errorf("raw %q, want %q", got.Raw, tc.device.Name)
			}
		})
	}
}

// A10 and A10G, whole tokens.
func TestResolveA10(t *testing.T) {
	testReads(t, []readCase{
		{"A10", "oci", device("A10", 24, 0), "a10-24gb", high, false},
		{"A10 by driver", "lambda", device("NVIDIA A10", 0, 23028), "a10-24gb", high, false},
		{"A10G", "aws", device("A10G", 0, 22888), "a10g-24gb", high, false},
		{"A10G with the memory of A10", "x", device("NVIDIA A10G", 0, 23028), "a10g-24gb", high, false},
		{"A1000 is no A10", "x", device("A1000", 8, 0), "", none, false},
		{"A100X is no A100", "x", device("A100X", 80, 0), "a100x-80gb", high, false},
	})
}

// RTX 6000, A6000, 6000 Ada, PRO 6000.
func TestResolveRTX6000(t *testing.T) {
	testReads(t, []readCase{
		{"RTX 6000 24", "alibaba", device("RTX 6000", 0, 24576), "quadro-rtx-6000-24gb", high, false},
		{"rtx 6000 24gb", "seeweb", device("rtx 6000 24gb", 0, 0), "quadro-rtx-6000-24gb", high, false},
		{"RTX 6000 96", "gcp", device("RTX 6000 96GB", 0, 0), "rtx-pro-6000-server-96gb", high, false},
		{"RTX 6000 48 says neither", "x", device("RTX 6000", 48, 0), "", none, false},
		{"RTX 6000 bare", "x", device("RTX 6000", 0, 0), "", none, false},
		{"RTX 6000 80 is nothing", "x", device("RTX 6000", 80, 0), "", none, true},
		{"Quadro RTX 6000", "linode", device("Quadro RTX 6000", 0, 0), "quadro-rtx-6000-24gb", high, false},
		{"RTX A6000", "x", device("NVIDIA RTX A6000", 0, 49140), "rtx-a6000-48gb", high, false},
		{"A6000", "x", device("A6000", 0, 0), "rtx-a6000-48gb", high, false},
		{"RTX 6000 Ada", "x", device("NVIDIA RTX 6000 Ada Generation", 0, 49140), "rtx-6000-ada-48gb", high, false},
		{"RTX 6000Ada", "vastai", device("RTX 6000Ada", 0, 49140), "rtx-6000-ada-48gb", high, false},
		{"6000 Ada beside its short name", "x", device("RTX 6000", 48, 0, "RTX 6000 Ada"), "rtx-6000-ada-48gb", high, false},
		{"PRO 6000 at EC2", "aws", device("RTX PRO Server 6000", 0, 98304), "rtx-pro-6000-server-96gb", high, false},
		{"PRO 6000 at GCP", "gcp", device("nvidia-rtx-pro-6000", 96, 0), "rtx-pro-6000-server-96gb", high, false},
		{"PRO 6000 elsewhere", "jarvislabs", device("RTX PRO 6000", 96, 0), "rtx-pro-6000-server-96gb", medium, false},
		{"PRO 6000 glued", "shadeform", device("RTXPro6000", 96, 0), "rtx-pro-6000-server-96gb", medium, false},
		{"PRO 6000 WK", "runpod", device("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 96, 0, "RTX PRO 6000 WK"), "rtx-pro-6000-workstation-96gb", high, false},
		{"PRO 6000 WS", "vastai", device("RTX PRO 6000 WS", 0, 97887), "rtx-pro-6000-workstation-96gb", high, false},
		{"PRO 6000 Max-Q", "x", device("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 96, 0), "rtx-pro-6000-maxq-96gb", high, false},
		{"PRO 6000 MaxQ", "x", device("RTX PRO 6000 MaxQ", 96, 0), "rtx-pro-6000-maxq-96gb", high, false},
		{"PRO 6000 MIG", "runpod", device("NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb", 24, 0, "PRO 6000 MIG 24GB"), "rtx-pro-6000-server-96gb", high, false},
		{"PRO 6000D", "x", device("RTX PRO 6000D", 84, 0), "rtx-6000d-84gb", high, false},
	})
}

// The other short RTX names: by memory.
func TestResolveShortRTX(t *testing.T) {
	testReads(t, []readCase{
		{"RTX 5000 16", "ovh", device("RTX 5000", 16, 0), "quadro-rtx-5000-16gb", high, false},
		{"RTX 5000 32", "x", device("RTX 5000", 0, 32760), "rtx-5000-ada-32gb", high, false},
		{"RTX 5000 72", "x", device("RTX 5000", 72, 0), "rtx-pro-5000-72gb", high, false},
		{"RTX 5000 bare", "x", device("RTX 5000", 0, 0), "", none, false},
		{"RTX 4000 20", "x", device("RTX 4000", 20, 0), "rtx-4000-ada-20gb", high, false},
		{"RTX 4000 8", "x", device("RTX 4000", 8, 0), "quadro-rtx-4000-8gb", high, false},
		{"RTX 4000 SFF Ada", "x", device("NVIDIA RTX 4000 SFF Ada Generation", 20, 0, "RTX 4000 Ada SFF"), "rtx-4000-sff-ada-20gb", high, false},
		{"RTX 4500 32", "x", device("RTX 4500", 32, 0), "rtx-pro-4500-32gb", high, false},
		{"RTX 4060 Ti 16", "x", device("RTX 4060 Ti", 16, 0), "rtx-4060-ti-16gb", high, false},
		{"RTX4060Ti 8", "x", device("RTX4060Ti", 0, 8188), "rtx-4060-ti-8gb", high, false},
		{"RTX 4060 Ti bare", "x", device("RTX 4060 Ti", 0, 0), "", none, false},
		{"RTX 4060 is no Ti", "x", device("RTX 4060", 0, 8188), "rtx-4060-8gb", high, false},
		{"RTX 4090 D", "x", device("RTX 4090D", 24, 0), "rtx-4090-d-24gb", high, false},
	})
}

// Forms of one model.
func TestResolveForms(t *testing.T) {
	testReads(t, []readCase{
		{"H100 SXM driver name", "runpod", device("NVIDIA H100 80GB HBM3", 80, 0, "H100 SXM"), "h100-sxm-80gb", high, false},
		{"H100 SXM driver name alone", "x", device("NVIDIA H100 80GB HBM3", 0, 81559), "h100-sxm-80gb", high, false},
		{"H100 PCIe", "x", device("NVIDIA H100 PCIe", 0, 81559), "h100-pcie-80gb", high, false},
		{"H100 NVL", "x", device("NVIDIA H100 NVL", 0, 95830), "h100-nvl-94gb", high, false},
		{"H100 PCIe with 94 is NVL", "x", device("H100-PCIE-94GB", 0, 0), "h100-nvl-94gb", high, false},
		{"H100 at EC2", "aws", device("H100", 0, 81920), "h100-sxm-80gb", high, false},
		{"H100 elsewhere", "jarvislabs", device("H100", 80, 0), "h100-sxm-80gb", medium, false},
		{"H100 94 without form", "azure", device("H100", 94, 0), "h100-nvl-94gb", high, false},
		{"H100 94 without form elsewhere", "x", device("H100", 0, 95830), "h100-nvl-94gb", medium, false},
		{"H100 form in the other name", "hyperbolic", device("h100", 80, 0, "sxm5"), "h100-sxm-80gb", high, false},
		{"H100 form factor pcie", "hyperbolic", device("h100", 80, 0, "pcie"), "h100-pcie-80gb", high, false},
		{"H100 mega", "gcp", device("nvidia-h100-mega-80gb", 0, 0), "h100-sxm-80gb", high, false},
		{"H100 plus", "gcp", device("nvidia-h100-80gb-plus", 0, 0), "h100-sxm-80gb", high, false},
		{"GH200 is no H100", "lambda", device("1x GH200 (96 GB)", 0, 0), "gh200-96gb", high, false},
		{"GH200 480GB names its CPU", "x", device("NVIDIA GH200 480GB", 0, 97871), "gh200-96gb", high, false},
		{"GH200 480GB without memory", "x", device("NVIDIA GH200 480GB", 0, 0), "gh200-96gb", high, false},
		{"GH200 144", "x", device("NVIDIA GH200 480GB", 144, 0), "gh200-144gb", high, false},
		{"H200 SXM", "runpod", device("NVIDIA H200", 141, 0, "H200 SXM"), "h200-sxm-141gb", high, false},
		{"H200 NVL 143", "runpod", device("NVIDIA H200 NVL", 143, 0), "h200-nvl-141gb", high, false},
		{"H200 at EC2", "aws", device("H200", 0, 144384), "h200-sxm-141gb", high, false},
		{"H200 by driver", "x", device("H200", 0, 143771), "h200-sxm-141gb", medium, false},
	})
}

// V100 16 and 32.
func TestResolveV100(t *testing.T) {
	testReads(t, []readCase{
		{"V100 at EC2 16", "aws", device("V100", 0, 16384), "v100-sxm2-16gb", high, false},
		{"V100 at EC2 32", "aws", device("V100", 0, 32768), "v100-sxm2-32gb", high, false},
		{"NVIDIA V100 16", "alibaba", device("NVIDIA V100", 16, 0), "v100-sxm2-16gb", medium, false},
		{"V100 PCIE", "runpod", device("Tesla V100-PCIE-16GB", 16, 0, "Tesla V100"), "v100-pcie-16gb", high, false},
		{"V100 SXM2 32", "runpod", device("Tesla V100-SXM2-32GB", 32, 0, "V100 SXM2 32GB"), "v100-sxm2-32gb", high, false},
		{"V100 bare says no size", "x", device("V100", 0, 0), "", none, false},
		{"V100 at GCP", "gcp", device("nvidia-tesla-v100", 0, 0), "v100-sxm2-16gb", high, false},
		{"V100S", "ovh", device("V100S", 32, 0), "v100s-pcie-32gb", high, false},
		{"V1000 is no V100", "x", device("V1000", 16, 0), "", none, false},
	})
}

// A100 40 and 80.
func TestResolveA100(t *testing.T) {
	testReads(t, []readCase{
		{"A100 at EC2 40", "aws", device("A100", 0, 40960), "a100-sxm-40gb", high, false},
		{"A100 at EC2 80", "aws", device("A100", 0, 81920), "a100-sxm-80gb", high, false},
		{"A100 at GCP", "gcp", device("nvidia-tesla-a100", 0, 0), "a100-sxm-40gb", high, false},
		{"A100 80 at GCP", "gcp", device("nvidia-a100-80gb", 0, 0), "a100-sxm-80gb", high, false},
		{"A100 PCIe", "runpod", device("NVIDIA A100 80GB PCIe", 80, 0, "A100 PCIe"), "a100-pcie-80gb", high, false},
		{"A100 PCIe 40", "x", device("NVIDIA A100-PCIE-40GB", 0, 40536), "a100-pcie-40gb", high, false},
		{"A100 PCIe by memory", "lambda", device("1x A100 (40 GB PCIe)", 0, 0), "a100-pcie-40gb", high, false},
		{"A100 bare says no size", "x", device("A100", 0, 0), "", none, false},
		{"A100_80G", "shadeform", device("A100_80G", 0, 0), "a100-sxm-80gb", medium, false},
		{"A100 with a size it never had", "x", device("A100", 24, 0), "", none, true},
		{"A100 40GB against 80", "x", device("A100 40GB", 80, 0), "", none, true},
		{"A100 with NVLink bridge", "hyperstack", device("A100-80G-PCIe-NVLink", 0, 0), "a100-pcie-80gb", high, false},
		{"A800 40", "alibaba", device("A800", 0, 40960), "a800-40gb", high, false},
		{"A800 80", "alibaba", device("A800", 0, 81920), "a800-sxm-80gb", medium, false},
	})
}

// Whole tokens.
func TestResolveWholeTokens(t *testing.T) {
	testReads(t, []readCase{
		{"L4", "aws", device("L4", 0, 22888), "l4-24gb", high, false},
		{"L40", "x", device("NVIDIA L40", 0, 46068), "l40-48gb", high, false},
		{"L40S", "aws", device("L40S", 0, 45776), "l40s-48gb", high, false},
		{"L40G", "x", device("L40G", 24, 0), "l40g-24gb", high, false},
		{"L20 is no L20N", "alibaba", device("L20", 0, 49152), "l20-48gb", high, false},
		{"P4", "alibaba", device("P4", 0, 8192), "p4-8gb", high, false},
		{"P40", "tencent", device("P40", 24, 0), "p40-24gb", high, false},
		{"P400", "x", device("P400", 0, 0), "", none, false},
		{"P4000", "x", device("P4000", 8, 0), "quadro-p4000-8gb", high, false},
		{"T4", "aws", device("T4", 0, 16384), "t4-16gb", high, false},
		{"T4g", "aws", device("T4g", 0, 16384), "t4g-16gb", high, false},
		{"T4 glued to its vendor", "huawei", device("NVIDIAT4", 16, 0), "t4-16gb", high, false},
		{"T40", "x", device("T40", 0, 0), "", none, false},
		{"T400", "x", device("T400", 4, 0), "", none, false},
		{"MI50", "x", device("MI50", 32, 0), "mi50-32gb", high, false},
		{"MI250", "x", device("AMD Instinct MI250", 128, 0), "mi250-128gb", high, false},
		{"MI250X", "x", device("AMD Instinct MI250X", 128, 0), "mi250x-128gb", high, false},
		{"MI300X", "runpod", device("AMD Instinct MI300X OAM", 192, 0, "MI300X"), "mi300x-192gb", high, false},
		{"MI308X", "alibaba", device("MI-308X", 0, 196608), "mi308x-192gb", high, false},
		{"MI355X", "vultr", device("MI355X_288GB", 0, 0), "mi355x-288gb", high, false},
	})
}

// One slug whatever the label.
func TestResolveLabels(t *testing.T) {
	testReads(t, []readCase{
		{"B200", "aws", device("B200", 0, 183359), "b200-sxm-180gb", high, false},
		{"B200 by its label at launch", "x", device("B200 192GB", 192, 0), "b200-sxm-180gb", high, false},
		{"B300 288", "runpod", device("NVIDIA B300 SXM6 AC", 288, 0, "B300"), "b300-sxm-288gb", high, false},
		{"B300 270", "x", device("B300", 270, 0), "b300-sxm-288gb", high, false},
		{"B300 by driver", "vastai", device("B300", 0, 275040), "b300-sxm-288gb", high, false},
		{"GB200 192", "x", device("GB200", 192, 0), "gb200-186gb", high, false},
		{"GB300", "x", device("GB300 NVL72", 0, 284208), "gb300-288gb", high, false},
		{"H20 96", "x", device("NVIDIA H20", 0, 97871), "h20-96gb", high, false},
		{"H20 141", "x", device("H20", 141, 0), "h20-141gb", high, false},
		{"310P3 allocatable", "huawei", device("310P3", 0, 21527), "ascend-310p-24gb", high, false},
		{"910C die", "huawei", device("Ascend910C", 0, 65536), "ascend-910c-128gb", high, false},
		{"910B4-1", "huawei", device("Ascend910B4-1", 0, 65536), "ascend-910b4-1-64gb", high, false},
		{"910B4", "huawei", device("Ascend910B4", 0, 32768), "ascend-910b4-32gb", high, false},
	})
}

// Modified cards keep their row and say so.
func TestResolveModifiedCards(t *testing.T) {
	testReads(t, []readCase{
		{"4090 48GB", "x", device("RTX 4090", 48, 0), "rtx-4090-24gb", high, true},
		{"4090 48GB in the name", "x", device("RTX 4090 48GB", 0, 0), "rtx-4090-24gb", high, true},
		{"4080 SUPER 32GB", "x", device("RTX 4080 SUPER", 0, 32760), "rtx-4080-super-16gb", high, true},
		{"2080 Ti 22GB", "x", device("RTX 2080 Ti", 22, 0), "rtx-2080-ti-11gb", high, true},
		{"Trainium2 as EC2 states it", "aws", device("Trainium2", 0, 524288), "trainium2-96gb", high, true},
	})
}

// Context.
func TestResolveContext(t *testing.T) {
	testReads(t, []readCase{
		{"K100 at home", "ctyun", device("K100", 64, 0), "hygon-k100-64gb", high, false},
		{"K100 abroad", "vastai", device("K100", 64, 0), "", none, false},
		{"P800 at home", "baidu", device("P800", 96, 0), "kunlun-p800-96gb", high, false},
		{"P800 abroad", "x", device("P800", 96, 0), "", none, false},
		{"Kunlun P800 abroad", "x", device("Kunlun P800", 96, 0), "kunlun-p800-96gb", high, false},
		{"R200 is never Rubin", "x", device("R200", 288, 0), "", none, false},
		{"S60 abroad", "x", device("S60", 0, 0), "", none, false},
		{"Tesla P100", "x", device("Tesla P100", 16, 0), "p100-pcie-16gb", medium, false},
		{"p100a", "koyeb", device("p100a", 28, 0), "tt-p100a-28gb", high, false},
	})
}

// Contradictions and strangers.
func TestResolveStrangers(t *testing.T) {
	testReads(t, []readCase{
		{"two names of two cards", "x", device("NVIDIA A100-SXM4-80GB", 80, 0, "H100 SXM"), "", none, false},
		{"never seen", "vastai", device("Imaginary RTX 9999", 48, 0), "", none, false},
		{"only filling words", "x", device("NVIDIA GPU", 80, 0), "", none, false},
		{"memory alone", "x", device("", 80, 81559), "", none, false},
		{"empty", "x", &gputide.Device{}, "", none, false},
	})
}

// Names that stored answers of other clouds print, with what they state beside.
func TestResolveSeen(t *testing.T) {
	testReads(t, []readCase{
		{"novita", "novita", device("H100 SXM 80GB", 0, 0), "h100-sxm-80gb", high, false},
		{"novita L40S", "novita", device("NVIDIA L40S 48GB", 0, 0), "l40s-48gb", high, false},
		{"novita 4090", "novita", device("RTX 4090 24GB", 0, 0), "rtx-4090-24gb", high, false},
		{"seeweb", "seeweb", device("L40s 48GB", 0, 0), "l40s-48gb", high, false},
		{"hyperstack A100", "hyperstack", device("A100-80G-SXM4", 0, 0), "a100-sxm-80gb", high, false},
		{"hyperstack H100", "hyperstack", device("H100-80G-PCIe-NVLink", 0, 0), "h100-pcie-80gb", high, false},
		{"hyperstack H200", "hyperstack", device("H200-141G-SXM5", 0, 0), "h200-sxm-141gb", high, false},
		{"hyperstack B300", "hyperstack", device("B300-SXM", 0, 0), "b300-sxm-288gb", high, false},
		{"hyperstack A6000", "hyperstack", device("RTX-A6000", 0, 0), "rtx-a6000-48gb", high, false},
		{"digitalocean", "digitalocean", device("amd_mi300x", 192, 0), "mi300x-192gb", high, false},
		{"digitalocean H100", "digitalocean", device("nvidia_h100", 80, 0), "h100-sxm-80gb", medium, false},
		{"cudo", "cudo", device("RTX A5000", 24, 0, "nvidia-rtx-a5000"), "rtx-a5000-24gb", high, false},
		{"oci", "oci", device("NVIDIA® A100", 40, 0), "a100-sxm-40gb", medium, false},
		{"azure", "azure", device("NVIDIA RTX PRO 6000 BSE", 0, 0), "rtx-pro-6000-server-96gb", high, false},
		{"primeintellect", "primeintellect", device("H100_80GB", 80, 0, "SXM5"), "h100-sxm-80gb", high, false},
		{"shadeform", "shadeform", device("B200", 180, 0), "b200-sxm-180gb", high, false},
		{"tensordock", "tensordock", device("NVIDIA GeForce RTX 4090 PCIe 24GB", 0, 0, "geforcertx4090-pcie-24gb"), "rtx-4090-24gb", high, false},
		{"voltagepark", "voltagepark", device("h100-sxm5-80gb", 0, 0), "h100-sxm-80gb", high, false},
		{"verda", "verda", device("Tesla V100", 16, 0, "Tesla V100 16GB"), "v100-sxm2-16gb", medium, false},
		{"scaleway", "scaleway", device("P100", 16, 0), "p100-pcie-16gb", medium, false},
		{"scaleway B300", "scaleway", device("B300-SXM", 288, 0), "b300-sxm-288gb", high, false},
		{"ovh", "ovh", device("V100S", 32, 0), "v100s-pcie-32gb", high, false},
		{"ovh 1080 Ti", "ovh", device("GeForce GTX 1080 Ti", 11, 0), "gtx-1080-ti-11gb", high, false},
		{"upcloud", "upcloud", device("NVIDIA L40S", 0, 0), "l40s-48gb", high, false},
		{"alibaba 2017", "alibaba", device("NVidia K2", 0, 0), "grid-k2", high, false},
		{"alibaba S7150", "alibaba", device("AMD S7150/4", 0, 0), "firepro-s7150", high, false},
		{"huawei", "huawei", device("nvidia-t4", 16, 0), "t4-16gb", high, false},
		{"mlperf", "mlperf", device("NVIDIA GH200 Grace Hopper Superchip 144GB", 0, 0), "gh200-144gb", high, false},
	})
}
