package azure

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

func table(t testing.TB) *families {
	t.Helper()
	f, err := loadFamilies()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func catalogue(t testing.TB) *normalize.Catalogue {
	t.Helper()
	c, err := normalize.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCards shows what the table and the catalogue make of sizes.
func TestCards(t *testing.T) {
	f, c := table(t), catalogue(t)
	for size, want := range map[string]string{
		"ND96isr_H100_v5": "h100-sxm-80gb 8", "ND96isrf_H100_v5": "h100-sxm-80gb 8", "NC40ads_H100_v5": "h100-nvl-94gb 1",
		"NC80adis_H100_v5": "h100-nvl-94gb 2", "NCC40ads_H100_v5": "h100-nvl-94gb 1", "ND96isr_H200_v5": "h200-sxm-141gb 8",
		"ND96asr_v4": "a100-sxm-40gb 8", "ND96asr_A100_v4": "a100-sxm-40gb 8", "ND96amsr_A100_v4": "a100-sxm-80gb 8",
		"NC24ads_A100_v4": "a100-pcie-80gb 1", "NC96ads_A100_v4": "a100-pcie-80gb 4", "NC36ads_A100_v4": "a100-pcie-80gb ",
		"ND96isr_MI300X_v5": "mi300x-192gb 8", "ND128isr_NDR_GB200_v6": "gb200-186gb 4", "ND128isr_GB300_v6": "gb300-288gb 4",
		"NC4as_T4_v3": "t4-16gb 1", "NC64as_T4_v3": "t4-16gb 4", "NC6s_v3": "v100-pcie-16gb 1", "ND40rs_v2": "v100-sxm2-32gb 8",
		"NV6ads_A10_v5": "a10-24gb 1/6", "NV12ads_A10_v5": "a10-24gb 1/3", "NV18ads_A10_v5": "a10-24gb 1/2", "NV72ads_A10_v5": "a10-24gb 2",
		"NC128ds_xl_RTXPRO6000BSE_v6": "rtx-pro-6000-server-96gb 1", "NC256lds_xl_RTXPRO6000BSE_v6": "rtx-pro-6000-server-96gb 2",
		"NC36lds_xl_RTXPRO6000BSE_v6": "rtx-pro-6000-server-96gb 1/4", "NC132lds_xl_RTXPRO6000BSE_v6": "rtx-pro-6000-server-96gb ", "NV4as_v4": "mi25-16gb 1/8", "NV4ads_V710_v5": "radeon-pro-v710-28gb 1/6",
		"NG8ads_V620_v1": "radeon-pro-v620-32gb 1/4", "NC24r_Promo": "k80-12gb 4", "NV48s_v3": "m60-8gb 4", "NC6s_v2": "p100-pcie-16gb 1",
		"ND24rs": "p40-24gb 4", "NP10s": "alveo-u250 1",
		// Sizes that no page lists: what the name says.
		"ND96isr_MI355X_v7": "mi355x-288gb ", "ND96isr_B200_v6": "b200-sxm-180gb ", "ND128isr_XR200_v8": "? XR200", "NX9s_v9": "? NX9s_v9", "NX9s": "? NX9s",
		// Sizes without an accelerator.
		"D2s_v5": "-", "HB120rs_v3": "-", "N": "-", "": "-",
	} {
		got := "-"
		if d, ok := f.find("Standard_" + size); ok {
			a, known := c.Resolve("azure", &d)
			got = a.Slug + " " + d.Count.String()
			if !known {
				got = "? " + a.Raw
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", size, got, want)
		}
	}
}

// TestTable shows that every row of the table is a card of the catalogue, or a
// device that is no GPU, and that its source is named.
func TestTable(t *testing.T) {
	f, c := table(t), catalogue(t)
	rows := 0
	for _, group := range []map[string]gputide.Device{f.sizes, f.families} {
		for size, d := range group {
			rows++
			a, known := c.Resolve("azure", &d)
			switch {
			case !strings.HasPrefix(size, "Standard_N"):
				t.Errorf("%s is no size of the N series", size)
			case d.Kind == gputide.DeviceGPU && (!known || a.Confidence != gputide.ConfidenceHigh || a.Vendor != d.Vendor):
				t.Errorf("%s: %q is %q of %s, confidence %q", size, d.Name, a.Slug, a.Vendor, a.Confidence)
			case d.MemoryGB != nil && a.MemoryGB != nil && *d.MemoryGB != *a.MemoryGB && a.Model != "gb200":
				t.Errorf("%s: %v GB, the card has %v", size, *d.MemoryGB, *a.MemoryGB)
			}
		}
	}
	if rows != strings.Count(familiesCSV, "\nStandard_") {
		t.Errorf("%d sizes in %d rows: one stands twice", rows, strings.Count(familiesCSV, "\nStandard_"))
	}
}

// TestPricedSizes shows that no size of the N series priced on 2026-06-18 is
// missed, and which have no published count.
func TestPricedSizes(t *testing.T) {
	shared := os.Getenv("GPUTIDE_SHARED")
	if shared == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	text, err := os.ReadFile(filepath.Join(shared, "payloads", "azure", "derived_anchor.ondemand_linux_n_series.2026-06-18.json"))
	if err != nil {
		t.Fatal(err)
	}
	var anchors map[string]map[string]json.Number
	if err := json.Unmarshal(text, &anchors); err != nil {
		t.Fatal(err)
	}
	f, c := table(t), catalogue(t)
	uncounted, unknown := map[string]int{}, map[string]bool{}
	sizes := map[string]bool{}
	for _, prices := range anchors {
		for size := range prices {
			size = strings.TrimSpace(size)
			if sizes[size] {
				continue
			}
			sizes[size] = true
			d, ok := f.find(size)
			if _, known := c.Resolve("azure", &d); !ok || !known {
				unknown[fmt.Sprint(size, " ", d.Name)] = true
			}
			if !d.Count.Known() {
				uncounted[familyOf(size)]++
			}
		}
	}
	if d := cmp.Diff(map[string]bool{"Standard_NM16ads_MA35D Alveo MA35D": true}, unknown); d != "" {
		t.Errorf("sizes whose accelerator is not known (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]int{
		"Standard_NC#ds_xl_RTXPRO6000BSE_v6": 5, "Standard_NC#lds_xl_RTXPRO6000BSE_v6": 7, "Standard_NM#ads_MA35D": 1,
	}, uncounted); d != "" {
		t.Errorf("sizes of a family without a count (-want +got):\n%s", d)
	}
}
