package normalize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gputide/gputide"
)

// TestMasked goes through every masked name of the notes: how it is read, how
// sure that is, and that the raw name stays.
func TestMasked(t *testing.T) {
	c := testCatalogue(t)
	slice := func(d *gputide.Device, num, den uint32) *gputide.Device {
		d.Count = gputide.NewCount(num, den)
		return d
	}
	for _, tc := range []struct {
		name     string
		provider string
		device   *gputide.Device
		slug     string
		conf     gputide.Confidence
		masked   bool
		mismatch bool
	}{
		{"GPU H", "alibaba", device("GPU H", 96, 0), "h20-96gb", medium, true, false},
		{"GPU H in MiB", "alibaba", device("GPU H", 0, 98304), "h20-96gb", medium, true, false},
		{"GPU H without memory", "alibaba", device("GPU H", 0, 0), "h20-96gb", medium, true, false},
		{"GPU H of another size", "alibaba", device("GPU H", 80, 0), "", low, true, true},
		{"GPU H elsewhere", "vastai", device("GPU H", 96, 0), "", none, false, false},
		{"GPU H-e", "alibaba", device("GPU H-e", 0, 144384), "h20-141gb", low, true, false},
		{"G39", "alibaba", device("G39", 24, 0), "", low, true, false},
		{"G49", "alibaba", device("G49", 24, 0), "", low, true, false},
		{"G49E", "alibaba", device("G49E", 48, 0), "", low, true, false},
		{"G59", "alibaba", device("G59", 32, 0), "", low, true, false},
		{"L20N 48", "alibaba", device("L20N", 48, 0), "rtx-pro-5000-48gb", low, true, false},
		{"L20N 72", "alibaba", device("L20N", 72, 0), "rtx-pro-5000-72gb", low, true, false},
		{"L20N without memory", "alibaba", device("L20N", 0, 0), "", low, true, false},
		{"vGPU8, a slice", "alibaba", device("vGPU8", 8, 0), "l20-48gb", medium, true, false},
		{"vGPU8, whole", "alibaba", device("vGPU8", 48, 0), "l20-48gb", medium, true, false},
		{"vGPU8, a fraction", "alibaba", slice(device("vGPU8", 0, 8192), 1, 6), "l20-48gb", medium, true, false},
		{"vGPU8, too large", "alibaba", device("vGPU8", 80, 0), "", low, true, true},
		{"Lovelace", "alibaba", device("Lovelace", 24, 0), "", medium, true, false},
		{"PPU 810", "alibaba", device("PPU 810", 96, 0), "ppu-810e-96gb", high, false, false},
		{"A910X", "alibaba", device("A910X", 48, 0), "", low, true, false},
		{"A910Z", "alibaba", device("A910Z", 96, 0), "", low, true, false},
		{"A910E", "alibaba", device("A910E", 96, 0), "", low, true, false},
		{"ALINPU 800", "alibaba", device("ALINPU 800", 0, 0), "hanguang-800", high, false, false},
		{"GPU A", "alibaba", device("GPU A", 0, 0), "", low, true, false},
		{"GA107", "alibaba", device("GA107", 16, 0), "a16-16gb", low, true, false},
		{"5880", "alibaba", device("5880", 48, 0), "rtx-5880-ada-48gb", high, false, false},
		{"RTX 5880", "alibaba", device("RTX 5880", 0, 49152), "rtx-5880-ada-48gb", high, false, false},
		{"RTX 5880, a slice", "alibaba", slice(device("RTX 5880", 0, 12288), 1, 4), "rtx-5880-ada-48gb", high, false, false},
		{"RTX 6000 of hfgn6g", "alibaba", device("RTX 6000", 24, 0), "quadro-rtx-6000-24gb", high, false, false},
		{"MI-308X", "alibaba", device("MI-308X", 192, 0), "mi308x-192gb", high, false, false},
		{"PNV5b", "tencent", device("PNV5b", 48, 0), "", low, true, false},
		{"PNV6", "tencent", device("PNV6", 96, 0), "h20-96gb", low, true, false},
		{"PNV6s", "tencent", device("PNV6s", 141, 0), "h20-141gb", low, true, false},
		{"snt9", "huawei", device("snt9", 32, 0), "ascend-910a-32gb", high, false, false},
		{"Ascend snt9", "huawei", device("Ascend snt9", 0, 0), "ascend-910a-32gb", high, false, false},
		{"snt9b", "huawei", device("snt9b", 64, 0), "", low, true, false},
		{"snt9b2", "huawei", device("snt9b2", 64, 0), "ascend-910b2-64gb", low, true, false},
		{"ascend-snt9b3", "huawei", device("ascend-snt9b3", 64, 0), "ascend-910b3-64gb", low, true, false},
		{"snt3", "huawei", device("snt3", 0, 0), "", low, true, false},
		{"snt9 elsewhere", "vastai", device("snt9", 32, 0), "", none, false, false},
		{"T4S", "ucloud", device("T4S", 16, 0), "t4-16gb", low, true, false},
		{"T4A", "ucloud", device("T4A", 0, 0), "t4-16gb", low, true, false},
		{"4090Pro", "ucloud", device("4090Pro", 0, 0), "rtx-4090-24gb", low, true, false},
		{"2080TiPro", "ucloud", device("2080TiPro", 0, 0), "rtx-2080-ti-11gb", low, true, false},
		{"2080TiS", "ucloud", device("2080TiS", 0, 0), "rtx-2080-super-8gb", low, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := c.read(tc.provider, tc.device)
			a, ok := c.Resolve(tc.provider, tc.device)
			if a.Slug != tc.slug || ok != (tc.slug != "") || a.Confidence != tc.conf || r.masked != tc.masked || r.mismatch != tc.mismatch {
				t.Errorf("got %q, confidence %q, masked %v, mismatch %v; want %q, %q, %v, %v",
					a.Slug, a.Confidence, r.masked, r.mismatch, tc.slug, tc.conf, tc.masked, tc.mismatch)
			}
			if a.Raw != tc.device.Name {
				t.Errorf("raw %q, want %q", a.Raw, tc.device.Name)
			}
		})
	}
}

func TestResolveSlices(t *testing.T) {
	c := testCatalogue(t)
	for _, tc := range []struct {
		name     string
		device   *gputide.Device
		num, den uint32
		share    gputide.ShareKind
		slug     string
		mismatch bool
	}{
		{"an eighth of an L4", device("L4", 0, 2861), 1, 8, "", "l4-24gb", false},
		{"a quarter of an L4", device("L4", 0, 5722), 1, 4, "", "l4-24gb", false},
		{"half an L4", device("L4", 0, 11444), 1, 2, "", "l4-24gb", false},
		{"a quarter of a T4", device("T4", 4, 0), 1, 4, "", "t4-16gb", false},
		{"a quarter of a T4, the card's size", device("T4", 16, 0), 1, 4, "", "t4-16gb", false},
		{"a twelfth of an A10", device("A10", 0, 2048), 1, 12, "", "a10-24gb", false},
		{"half a V100 tells 16 from 32 by the slice", device("V100", 0, 8192), 1, 2, "", "v100-sxm2-16gb", false},
		{"half an A100 by the card", device("A100", 80, 0), 1, 2, "", "a100-sxm-80gb", false},
		{"half an A100 by the slice", device("A100", 0, 20480), 1, 2, "", "a100-sxm-40gb", false},
		{"a slice of no known fraction", device("T4", 4, 0), 1, 1, gputide.ShareVGPU, "t4-16gb", false},
		{"a slice larger than its card", device("T4", 24, 0), 1, 1, gputide.ShareVGPU, "t4-16gb", true},
		{"a fraction that is none of its", device("L4", 0, 2861), 1, 2, "", "l4-24gb", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.device.Count = gputide.NewCount(tc.num, tc.den)
			tc.device.Share = tc.share
			r := c.read("x", tc.device)
			if r.card == nil || r.card.slug != tc.slug || r.mismatch != tc.mismatch {
				t.Errorf("got %+v, want %s, mismatch %v", r, tc.slug, tc.mismatch)
			}
		})
	}
}

func TestResolveVendor(t *testing.T) {
	c := testCatalogue(t)
	for _, tc := range []struct{ vendor, name, slug string }{
		{"NVIDIA", "P100", "p100-pcie-16gb"},
		{"Tenstorrent", "P100", "tt-p100a-28gb"},
		{"AMD", "A100", ""},
		{"None", "T4", "t4-16gb"},
		{"", "T4", "t4-16gb"},
		{"Kunlunxin", "P800", "kunlun-p800-96gb"}, // its vendor makes a short name plain
		{"Xilinx", "U30", "alveo-u30"},
		{"Habana", "Gaudi2", "gaudi2-96gb"},
		{"Amazon", "Trainium2", "trainium2-96gb"},
	} {
		d := device(tc.name, 0, 0)
		d.Vendor = tc.vendor
		if a, _ := c.Resolve("x", d); a.Slug != tc.slug {
			t.Errorf("%s %s: %q, want %q", tc.vendor, tc.name, a.Slug, tc.slug)
		}
	}
}

func TestResolveClass(t *testing.T) {
	c := testCatalogue(t)
	for _, tc := range []struct {
		name  string
		kind  gputide.DeviceKind
		class gputide.DeviceKind
		ok    bool
	}{
		{"NVIDIA A10", gputide.DeviceAny, gputide.DeviceGPU, true},
		{"Trainium2", gputide.DeviceAny, gputide.DeviceASIC, true},
		{"Virtex UltraScale+ (VU47P)", gputide.DeviceAny, gputide.DeviceFPGA, true},
		{"Xilinx VU9p", gputide.DeviceAny, gputide.DeviceFPGA, true},
		{"INTEL ARRIA 10 GX 1150", gputide.DeviceAny, gputide.DeviceFPGA, true},
		{"U30", gputide.DeviceAny, gputide.DeviceVideo, true},
		{"NETINT T408", gputide.DeviceAny, gputide.DeviceVideo, true},
		{"intel SG1", gputide.DeviceAny, gputide.DeviceVideo, true},
		{"Versal Nobody Saw", gputide.DeviceFPGA, gputide.DeviceFPGA, false},
		{"Coder 9000", gputide.DeviceVideo, gputide.DeviceVideo, false},
		{"Accelerator 9000", gputide.DeviceGPU, gputide.DeviceAny, false},
	} {
		d := device(tc.name, 0, 0)
		d.Kind = tc.kind
		if a, ok := c.Resolve("x", d); a.Class != tc.class || ok != tc.ok || a.Raw != tc.name {
			t.Errorf("%s: %+v, %v; want class %q, %v", tc.name, a, ok, tc.class, tc.ok)
		}
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("aws", "RTX PRO Server 6000", "g7e.12xlarge", "NVIDIA", 96.0, int64(98304), uint32(1), uint32(1))
	f.Add("runpod", "NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb", "PRO 6000 MIG 24GB", "", 24.0, int64(0), uint32(1), uint32(4))
	f.Add("alibaba", "GPU H", "昆仑芯P800", "None", 0.0, int64(98304), uint32(8), uint32(1))
	f.Add("x", "8x max q . 1g. gb .5gb 80 gb", "hbm gddr nvidia", "", -1.0, int64(-5), uint32(0), uint32(0))
	c := testCatalogue(f)
	f.Fuzz(func(t *testing.T, provider, name, other, vendor string, gb float64, mib int64, num, den uint32) {
		d := &gputide.Device{
			Name: name, Other: []string{other}, Vendor: vendor, MemoryGB: &gb, MemoryMiB: &mib, Count: gputide.NewCount(num, den),
		}
		a, ok := c.Resolve(provider, d)
		if ok != (a.Slug != "") {
			t.Fatalf("%+v, %v", a, ok)
		}
		if a.Raw != name && name != "" {
			t.Fatalf("raw %q of %q", a.Raw, name)
		}
		if ok {
			if _, known := c.Entry(a.Slug); !known || a.Confidence == "" {
				t.Fatalf("%+v", a)
			}
		}
		again, _ := c.Resolve(provider, d)
		if diff := cmp.Diff(a, again); diff != "" {
			t.Fatalf("read twice:\n%s", diff)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	c := testCatalogue(b)
	d := device("NVIDIA H100 80GB HBM3", 80, 0, "H100 SXM")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := c.Resolve("runpod", d); !ok {
			b.Fatal("not resolved")
		}
	}
}
