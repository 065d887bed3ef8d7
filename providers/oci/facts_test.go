package oci

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shared decodes a shared recording; the test is skipped without it.
func shared(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	body, err := os.ReadFile(filepath.Join(dir, "payloads", "oci", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatal(err)
	}
}

// TestTableFacts proves the table of shapes on the lists it was made from: the
// preemptible shapes of Oracle's autoscaler, the part numbers of a public client,
// and the shapes of the cost estimator.
func TestTableFacts(t *testing.T) {
	table, err := loadTable()
	if err != nil {
		t.Fatal(err)
	}
	var meta struct {
		Prices            []struct{ ShapeName string }
		PreemptibleShapes []string
	}
	shared(t, "oci-shape-meta.json", &meta)
	var preemptible, known []string
	for _, name := range meta.PreemptibleShapes {
		if strings.Contains(name, "GPU") {
			preemptible = append(preemptible, name)
		}
	}
	for _, p := range meta.Prices {
		name, _, _ := strings.Cut(p.ShapeName, " (")
		if strings.Contains(name, "GPU") && table.byName[name] == nil {
			t.Errorf("%s is not in the table", name)
		}
	}
	for name, k := range table.byName {
		if k.preemptible {
			known = append(known, name)
		}
	}
	slices.Sort(preemptible)
	slices.Sort(known)
	if d := cmp.Diff(preemptible, known); d != "" {
		t.Errorf("preemptible (-known +table):\n%s", d)
	}
	var parts map[string]struct{ GPU string }
	shared(t, "shape_part_numbers.opencost.json", &parts)
	for name, p := range parts {
		if k := table.byName[name]; p.GPU != "" && (k == nil || k.part != p.GPU) {
			t.Errorf("%s is billed by %s: %+v", name, p.GPU, k)
		}
	}
	var list struct{ Items []json.RawMessage }
	shared(t, "cloudestimator2_shapes.excerpt.2026-09-18.json", &list)
	for _, row := range list.Items {
		s := readShape(row)
		k := table.byName[s.name]
		if !s.isGPU() {
			continue
		}
		if k == nil || k.part != s.Products[0].PartNumber || float64(k.gpus) != *s.GPUQty || k.preemptible != *s.AllowPreemptible {
			t.Errorf("%s: %+v", s.name, k)
			continue
		}
		if d := cmp.Diff([]*float64{k.ocpus, k.memoryGiB}, []*float64{s.ocpus(), s.BundleMemoryQty}); d != "" {
			t.Errorf("%s (-table +list):\n%s", s.name, d)
		}
	}
}

// ocpus returns the quantity of the only part of a GPU shape.
func (s *shapeRow) ocpus() *float64 {
	if v, err := s.Products[0].Qty.Float64(); err == nil {
		return &v
	}
	return nil
}
