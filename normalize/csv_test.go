package normalize

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func sharedFile(t testing.TB, name string) string {
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	return filepath.Join(dir, name)
}

func csvCards(t testing.TB) []cardRow {
	f, err := os.Open(sharedFile(t, "accelerators.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recs, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []cardRow
	for _, rec := range recs[1:] {
		col := make(map[string]string, len(rec))
		for i, h := range recs[0] {
			col[h] = strings.TrimSpace(rec[i])
		}
		num := func(name string) *float64 {
			if col[name] == "" {
				return nil
			}
			v, err := strconv.ParseFloat(col[name], 64)
			if err != nil {
				t.Fatalf("%s: %s: %v", col["slug"], name, err)
			}
			return &v
		}
		r := cardRow{
			Slug: col["slug"], Vendor: col["vendor"], Name: col["model"], Form: col["variant"],
			Class: col["class"], Stack: col["stack"], Architecture: col["architecture"],
			ISA: col["compute_capability_or_isa"], Release: col["release"],
			MemoryGB: num("memory_gib"), MemoryType: col["memory_type"], BandwidthGBs: num("memory_bandwidth_gbs"),
			FP64: num("fp64_tflops"), FP64Tensor: num("fp64_tensor_tflops"), FP32: num("fp32_tflops"),
			TF32: num("tf32_tflops_dense"), BF16: num("bf16_tflops_dense"), FP16: num("fp16_tflops_dense"),
			FP8: num("fp8_tflops_dense"), FP4: num("fp4_tflops_dense"), INT8: num("int8_tops_dense"), INT4: num("int4_tops_dense"),
			Interconnect: col["interconnect"], InterconnectGBs: num("interconnect_gbs"), PCIeGen: col["pcie_gen"],
			TDPW: num("tdp_w"), Source: col["source"], SourceDate: col["source_date"], Evidence: col["confidence"],
		}
		switch col["rt_cores"] {
		case "":
		case "yes", "no":
			r.RTCores = new(col["rt_cores"] == "yes")
		default:
			t.Fatalf("%s: rt_cores %q", r.Slug, col["rt_cores"])
		}
		if v := num("mig_max"); v != nil {
			r.MIGMax = new(int(*v))
		}
		for _, s := range splitList(col["usable_mib"]) {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			r.UsableMiB = append(r.UsableMiB, n)
		}
		r.Aliases = splitList(col["aliases"])
		r.Model, r.Variant = slugParts(r.Slug, r.MemoryGB)
		rows = append(rows, r)
	}
	return rows
}

func splitList(s string) []string {
	var out []string
	for _, v := range strings.Split(s, ";") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
