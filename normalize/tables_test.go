package normalize

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

var (
	update  = flag.Bool("update", false, "rewrite the generated tables and golden files")
	fromCSV = flag.Bool("from-csv", false, "rewrite accelerators.yaml from $GPUTIDE_SHARED/accelerators.csv, losing edits made by hand")
)

// The tables are written by hand in YAML and compiled to JSON, because decoding
// YAML costs twenty times as much and every command pays for it at its start.
// Change the YAML, then run: go test ./normalize -run Tables -update.
func TestTablesAreCompiled(t *testing.T) {
	for _, tc := range []struct {
		file   string
		encode func() any
	}{
		{"accelerators.json", func() any {
			return catalogueTable{Cards: decodeYAML[[]cardRow](t, "accelerators.yaml"), Masked: decodeYAML[[]maskedRow](t, "masked.yaml")}
		}},
		{"regions.json", func() any { return decodeYAML[regionTable](t, "regions.yaml") }},
	} {
		t.Run(tc.file, func(t *testing.T) {
			want, err := json.Marshal(tc.encode())
			if err != nil {
				t.Fatal(err)
			}
			want = append(bytes.ReplaceAll(want, []byte(`},{`), []byte("},\n{")), '\n')
			if *update {
				if err := os.WriteFile(tc.file, want, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(tc.file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%s is not what its YAML says; run go test ./normalize -run Tables -update", tc.file)
			}
		})
	}
}

func decodeYAML[T any](t testing.TB, file string) T {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := yaml.UnmarshalWithOptions(b, &v, yaml.Strict()); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// TestCatalogueHoldsTheSheet compares the catalogue with the sheet it was made
// from, every column of every row.
func TestCatalogueHoldsTheSheet(t *testing.T) {
	want := csvCards(t)
	if *fromCSV {
		writeCatalogueYAML(t, want)
	}
	got := decodeYAML[[]cardRow](t, "accelerators.yaml")
	bySlug := make(map[string]cardRow, len(got))
	for _, r := range got {
		bySlug[r.Slug] = r
	}
	if len(want) != 263 {
		t.Errorf("the sheet has %d rows, want 263", len(want))
	}
	for _, w := range want {
		g, ok := bySlug[w.Slug]
		if !ok {
			t.Errorf("%s is missing", w.Slug)
			continue
		}
		g.AlsoGB = nil // the catalogue's own column
		if diff := cmp.Diff(w, g); diff != "" {
			t.Errorf("%s (-sheet +catalogue):\n%s", w.Slug, diff)
		}
	}
}

const catalogueHeader = `# The accelerator catalogue: one card or module a row, as clouds count them.
#
# slug is model[-variant][-<gb>gb]; model and variant are its parts. memory_gb is
# the number the vendor prints, whatever the unit; also_gb are other labels in
# use for the same card; usable_mib is what drivers and APIs report. Rates are
# dense peaks, TFLOPS and for int8 and int4 TOPS. A field that is not there was
# not found: nothing is zero for "unsupported". evidence is datasheet (traced to
# a vendor document), secondary (data set only) or press.
#
# After a change run: go test ./normalize -run Tables -update
`

// writeCatalogueYAML was how accelerators.yaml began; it stays so that a new
// sheet can be taken over.
func writeCatalogueYAML(t *testing.T, rows []cardRow) {
	t.Helper()
	also := map[string][]float64{
		"b200-sxm-180gb": {192}, // the label at launch
		"gb200-186gb":    {192},
	}
	for i := range rows {
		rows[i].AlsoGB = also[rows[i].Slug]
	}
	var b bytes.Buffer
	b.WriteString(catalogueHeader)
	for _, r := range rows {
		out, err := yaml.MarshalWithOptions([]cardRow{r}, yaml.IndentSequence(false))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		b.Write(out)
	}
	if err := os.WriteFile("accelerators.yaml", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		rows[i].AlsoGB = nil
	}
}

// variants are the last parts of a slug that name a form of a model and not
// another model.
var variants = []string{"pcie", "sxm", "sxm2", "sxm3", "nvl", "oam", "server", "workstation", "maxq"}

// slugParts splits the slug of a sheet row, which has no columns for the parts.
func slugParts(slug string, gb *float64) (model, variant string) {
	base := slug
	if gb != nil {
		base = strings.TrimSuffix(slug, fmt.Sprintf("-%ggb", *gb))
	}
	switch {
	case slug == "gaudi3-pcie-128gb": // its memory is not in the sheet
		return "gaudi3", "pcie"
	case strings.HasPrefix(slug, "qaic100-"):
		return "qaic100", strings.TrimPrefix(base, "qaic100-")
	case base == "rtx-pro-4000-sff":
		return "rtx-pro-4000", "sff"
	}
	i := strings.LastIndexByte(base, '-')
	if i > 0 && slices.Contains(variants, base[i+1:]) {
		return base[:i], base[i+1:]
	}
	return base, ""
}
