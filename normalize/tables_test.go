package normalize

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

var (
	update  = flag.Bool("update", false, "rewrite the generated tables and golden files")
	fromCSV = flag.Bool("from-csv", false, "rewrite accelerators.yaml from $GPUTIDE_SHARED/accelerators.csv, losing edits made by hand")
)

// TestTablesAreCompiled holds the compiled tables to their YAML. After a change
// of the YAML run: go test ./normalize -run Tables -update.
func TestTablesAreCompiled(t *testing.T) {
	for _, tc := range []struct {
		file    string
		compile func(*testing.T) []string
	}{
		{"accelerators.tsv", compileCatalogue},
		{"regions.tsv", compileRegions},
	} {
		t.Run(tc.file, func(t *testing.T) {
			body := strings.Join(tc.compile(t), "\n") + "\n"
			sum := sha256.Sum256([]byte(body))
			want := hex.EncodeToString(sum[:4]) + "\n" + body
			if *update {
				if err := os.WriteFile(tc.file, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(tc.file)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Fatalf("%s is not what its YAML says; run go test ./normalize -run Tables -update", tc.file)
			}
		})
	}
}

// line joins the fields of a table line.
func line(t *testing.T, cells ...any) string {
	t.Helper()
	var texts []string
	for _, cell := range cells {
		var s string
		switch v := cell.(type) {
		case string:
			s = v
		case []string:
			s = strings.Join(v, ";")
			if strings.Count(s, ";") > max(0, len(v)-1) {
				t.Fatalf("semicolon inside %q", v)
			}
		case *float64:
			if v != nil {
				s = strconv.FormatFloat(*v, 'f', -1, 64)
			}
		case []float64:
			for i := range v {
				s += ";" + strconv.FormatFloat(v[i], 'f', -1, 64)
			}
			s = strings.TrimPrefix(s, ";")
		case []int64:
			for i := range v {
				s += ";" + strconv.FormatInt(v[i], 10)
			}
			s = strings.TrimPrefix(s, ";")
		case *bool:
			if v != nil {
				s = map[bool]string{true: "yes", false: "no"}[*v]
			}
		case *int:
			if v != nil {
				s = strconv.Itoa(*v)
			}
		default:
			t.Fatalf("a cell of %T", cell)
		}
		if strings.ContainsAny(s, "\t\n\r") {
			t.Fatalf("tab or line end inside %q", s)
		}
		texts = append(texts, s)
	}
	return strings.Join(texts, "\t")
}

func compileCatalogue(t *testing.T) []string {
	var lines []string
	for _, r := range decodeYAML[[]cardRow](t, "accelerators.yaml") {
		cores := []string{spell(r.Slug).core, spell(r.Name).core}
		var exact []string
		for _, a := range r.Aliases {
			if !isRemark(a) {
				cores, exact = append(cores, spell(a).core), append(exact, spell(a).exact)
			}
		}
		lines = append(lines, line(t, lineCard,
			r.Slug, r.Model, r.Variant, r.Vendor, r.Class, stackSlug(r.Stack), r.MemoryGB, r.AlsoGB, r.UsableMiB, r.MemoryType,
			r.Interconnect, cardForms(r.Form, r.Name, r.Variant), set(cores), set(exact),
			r.Name, r.Form, r.Architecture, r.ISA, r.Release, r.BandwidthGBs,
			r.FP64, r.FP64Tensor, r.FP32, r.TF32, r.BF16, r.FP16, r.FP8, r.FP4, r.INT8, r.INT4,
			r.InterconnectGBs, r.PCIeGen, r.TDPW, r.RTCores, r.MIGMax, r.Aliases, r.Source, r.SourceDate, r.Evidence))
	}
	seen := make(map[string]bool)
	for _, r := range decodeYAML[[]maskedRow](t, "masked.yaml") {
		if key := line(t, fold(r.Name), r.Providers, r.MemoryGB); seen[key] {
			t.Errorf("masked name %s is there twice", r.Name)
		} else {
			seen[key] = true
		}
		sliced := ""
		if r.Sliced {
			sliced = "sliced"
		}
		if r.Reading == "" {
			t.Errorf("masked name %s says nothing", r.Name)
		}
		lines = append(lines, line(t, lineMasked, fold(r.Name), r.Providers, r.MemoryGB, sliced, r.Slug, r.Vendor, r.Confidence))
	}
	return lines
}

// set returns the distinct non-empty texts in order.
func set(texts []string) []string {
	slices.Sort(texts)
	return slices.DeleteFunc(slices.Compact(texts), func(s string) bool { return s == "" })
}

func compileRegions(t *testing.T) []string {
	table := decodeYAML[regionTable](t, "regions.yaml")
	var lines []string
	for _, code := range slices.Sorted(maps.Keys(table.Countries)) {
		c := table.Countries[code]
		lines = append(lines, line(t, lineCountry, code, c.Continent, c.EN, c.ZH))
	}
	for _, key := range slices.Sorted(maps.Keys(table.Cities)) {
		c := table.Cities[key]
		lines = append(lines, line(t, lineCity, key, c.Country, c.EN, c.ZH))
	}
	for _, provider := range slices.Sorted(maps.Keys(table.Providers)) {
		p := table.Providers[provider]
		if p.ByCountry {
			lines = append(lines, line(t, lineNation, provider))
		}
		for _, code := range slices.Sorted(maps.Keys(p.Regions)) {
			lines = append(lines, line(t, lineRegion, provider, code, p.Regions[code]))
		}
	}
	return lines
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

// TestEntriesHoldTheTable compares what the program loads with the YAML, every
// column of every row.
func TestEntriesHoldTheTable(t *testing.T) {
	rows := decodeYAML[[]cardRow](t, "accelerators.yaml")
	entries := testCatalogue(t).Entries()
	if len(entries) != len(rows) {
		t.Fatalf("%d entries of %d rows", len(entries), len(rows))
	}
	for i, e := range entries {
		got := cardRow{
			Slug: e.Slug, Model: e.Model, Variant: e.Variant, Vendor: e.Vendor, Name: e.Title, Form: e.Form, Class: string(e.Class),
			Stack: e.Stack, Architecture: e.Architecture, ISA: e.ISA, Release: e.Release, MemoryGB: e.MemoryGB, UsableMiB: e.UsableMiB,
			MemoryType: e.MemoryType, BandwidthGBs: e.BandwidthGBs, Interconnect: e.Interconnect, InterconnectGBs: e.InterconnectGBs,
			PCIeGen: e.PCIeGen, TDPW: e.TDPW, RTCores: e.RTCores, MIGMax: e.MIGMax, Aliases: e.Aliases,
			Source: e.Source, SourceDate: e.SourceDate, Evidence: e.Evidence,
		}
		for name, rate := range map[string]**float64{
			"fp64": &got.FP64, "fp64_tensor": &got.FP64Tensor, "fp32": &got.FP32, "tf32": &got.TF32, "bf16": &got.BF16,
			"fp16": &got.FP16, "fp8": &got.FP8, "fp4": &got.FP4, "int8": &got.INT8, "int4": &got.INT4,
		} {
			if v, ok := e.Dense[name]; ok {
				*rate = &v
			}
		}
		want := rows[i]
		want.Stack, want.AlsoGB = stackSlug(want.Stack), nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-table +entry):\n%s", want.Slug, diff)
		}
	}
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
