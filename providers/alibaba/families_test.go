package alibaba

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

func table(t testing.TB) families {
	t.Helper()
	f, err := loadFamilies()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSpec(t *testing.T) {
	f := table(t)
	for name, want := range map[string]string{
		"ecs.gn6i-c24g1.12xlarge":        "T4 gpu 2 16384 whole",
		"ecs.gn7e-c16g1.32xlarge":        "A100 gpu 8 81920 whole",
		"ecs.gn7i-4x.8xlarge":            "A10 gpu 4 24576 whole",
		"ecs.gn8v-tdx-8x.48xlarge":       "GPU H gpu 8 98304 whole",
		"ecs.gn8v.4xlarge":               "GPU H gpu 1 98304 whole",
		"ecs.ebmgn7ix-ant.32xlarge":      "A10 gpu 8 24576 whole metal",
		"ecs.sgn7i-vws-m2.xlarge":        "A10 gpu 1/12 2048 vgpu",
		"ecs.vgn6i-m4.xlarge":            "T4 gpu 1/4 4096 vgpu",
		"ecs.vgn6i-m16-vws.5xlarge":      "T4 gpu 1 16384 vgpu",
		"ecs.sgn8ga-wy-256g-x2.16xlarge": "RTX 5880 gpu 2 49152 whole",
		"ecs.sgn8ga-wy-12g-m2.3large":    "RTX 5880 gpu 1/24 2048 vgpu",
		"ecs.ga1.xlarge":                 "S7150 gpu 1/4 - vgpu",
		"ecs.ga1.8xlarge":                "S7150 gpu 2 - whole",
		"ecs.f3-c16f1.16xlarge":          "Xilinx VU9p fpga 4 65536 whole",
		"ecs.video-trans.26xhevc":        "NETINT T408 video 12 - whole",
		"ecs.gp7-8x.48xlarge":            "PPU 810 ai-asic 8 98304 whole",
		// Sizes that were not seen: the card is that of the family, how many is not known.
		"ecs.gn6i-c64g1.16xlarge": "T4 gpu  16384 ",
		"ecs.gn7e.99xlarge":       "A100 gpu  81920 ",
		"ecs.vgn6i-m2.large":      "T4 gpu  - vgpu",
		// Types without an accelerator, and what is no type.
		"ecs.g6.xlarge": "", "ecs.gn6.xlarge": "", "ecs.gn6iz-c4g1.xlarge": "", "ecs.gn6i": "", "gn6i-c4g1": "", "": "", "ecs.-.": "", "ecs..": "",
	} {
		got := ""
		if s := f.spec("cn", name); s != nil {
			mib := "-"
			if s.Device.MemoryMiB != nil {
				mib = fmt.Sprint(*s.Device.MemoryMiB)
			}
			got = fmt.Sprintf("%s %s %s %s %s", s.Device.Name, s.Device.Kind, s.Device.Count, mib, s.Device.Share)
			if s.BareMetal != nil {
				got += " metal"
			}
			if s.Partition != "cn" || s.InstanceType != name {
				t.Errorf("%s is a spec of %s %s", name, s.Partition, s.InstanceType)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestSlices proves that a fraction of a card is its share of the card's memory.
func TestSlices(t *testing.T) {
	card := map[string]int64{"P4": 8, "T4": 16, "A10": 24, "RTX 5880": 48, "vGPU8": 48}
	slices := 0
	for name, f := range table(t) {
		if f.device.Share != gputide.ShareVGPU || f.device.MemoryMiB == nil {
			continue
		}
		for size, n := range f.cards {
			slices++
			if want := gputide.NewCount(uint32(*f.device.MemoryMiB/1024), uint32(card[f.device.Name])); n != want {
				t.Errorf("ecs.%s.%s is %s of %s, want %s", name, size, n, f.device.Name, want)
			}
		}
	}
	if slices != 41 {
		t.Errorf("%d slices", slices)
	}
}

// TestTable compares the table with the spec table it was made from: each type
// of it with card, memory and number, but for leaked test types; sixteen are no
// GPUs.
func TestTable(t *testing.T) {
	shared := os.Getenv("GPUTIDE_SHARED")
	if shared == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	text, err := os.ReadFile(filepath.Join(shared, "payloads/alibaba/derived_gpu_specs_sparecores_2026-01.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ID    string  `json:"id"`
		Model string  `json:"gpu_model"`
		MiB   *int64  `json:"gpu_memory_min_mib"`
		Count float64 `json:"gpu_count"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	catalogue, err := normalize.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	norm := &normalize.Normalizer{Catalogue: catalogue}
	f := table(t)
	accelerated, others := 0, 0
	for _, row := range rows {
		if strings.HasPrefix(row.ID, testTypes) {
			continue
		}
		s := f.spec("intl", row.ID)
		if s == nil {
			t.Errorf("%s is in no family", row.ID)
			continue
		}
		s.Provider = "alibaba"
		if norm.Accelerated(s) {
			accelerated++
		} else {
			others++
		}
		d := &s.Device
		if d.Name != row.Model || (row.MiB != nil && (d.MemoryMiB == nil || *d.MemoryMiB != *row.MiB)) {
			t.Errorf("%s: %s with %v, want %s with %v", row.ID, d.Name, d.MemoryMiB, row.Model, row.MiB)
		}
		// The spec table counts a slice as one.
		if whole := d.Count.Den == 1; whole && d.Count.Value() != row.Count || !whole && row.Count != 1 || !d.Count.Known() {
			t.Errorf("%s has %s cards, want %v", row.ID, d.Count, row.Count)
		}
	}
	if accelerated != 232 || others != 16 {
		t.Errorf("%d accelerated types and %d others, want 232 and 16", accelerated, others)
	}
}
