package query

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write golden files")

const schemaDir = "../docs/schema"

func compile(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.DefaultDraft(jsonschema.Draft2020)
	s, err := c.Compile(filepath.Join(schemaDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// golden compares the JSON of v with a file, after validating it against a
// schema.
func golden(t *testing.T, schema, file string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := compile(t, schema).Validate(doc); err != nil {
		t.Errorf("%s: %v", file, err)
	}
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Every schema compiles, and those of this package's rows name exactly the
// fields of the Go type, in its order.
func TestSchemasNameTheFields(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(schemaDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	for _, f := range files {
		compile(t, filepath.Base(f))
	}
	for _, tt := range []struct {
		file string
		def  string // "" is the root
		row  any
	}{
		{"offers.json", "row", OfferRow{}},
		{"offers.json", "accelerator", AcceleratorRow{}},
		{"offers.json", "published", PublishedRow{}},
		{"offers.json", "component", ComponentRow{}},
		{"offers.json", "rdma", RDMARow{}},
		{"offers.json", "band", BandRow{}},
		{"changes.json", "row", ChangeRow{}},
		{"changes.json", "count", ChangeCountRow{}},
		{"changes.json", "outlier", OutlierRow{}},
		{"trend.json", "row", TrendRow{}},
		{"discount.json", "row", DiscountRow{}},
		{"discount.json", "band", BandRow{}},
		{"compare.json", "row", CompareRow{}},
		{"compare.json", "benchmark", BenchmarkRow{}},
		{"fx.json", "row", RateRow{}},
		{"fx.json", "leg", FXLeg{}},
		{"types.json", "row", TypeRow{}},
		{"signals.json", "row", SignalRow{}},
		{"signals.json", "count", SignalCountRow{}},
		{"signals.json", "span", SignalSpanRow{}},
		{"explain.json", "", Explanation{}},
		{"explain.json", "key", KeyRow{}},
		{"explain.json", "fx", FXRow{}},
		{"explain.json", "leg", FXLeg{}},
		{"explain.json", "catalogue", CatalogueRow{}},
		{"explain.json", "evidence", EvidenceRow{}},
		{"explain.json", "body", BodyRow{}},
	} {
		t.Run(tt.file+" "+tt.def, func(t *testing.T) {
			var doc struct {
				Required []string                   `json:"required"`
				Defs     map[string]json.RawMessage `json:"$defs"`
			}
			b, err := os.ReadFile(filepath.Join(schemaDir, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b, &doc); err != nil {
				t.Fatal(err)
			}
			if tt.def != "" {
				if err := json.Unmarshal(doc.Defs[tt.def], &doc); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(fieldNames(reflect.TypeOf(tt.row)), doc.Required); diff != "" {
				t.Errorf("fields (-Go +schema):\n%s", diff)
			}
		})
	}
}

func fieldNames(typ reflect.Type) []string {
	var out []string
	for f := range typ.Fields() {
		if f.Anonymous {
			out = append(out, fieldNames(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// A schema that accepts anything proves nothing.
func TestSchemaRefuses(t *testing.T) {
	row := func(edit func(map[string]any)) any {
		b, err := os.ReadFile("testdata/offers.golden.json")
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		edit(doc.([]any)[0].(map[string]any))
		return doc
	}
	s := compile(t, "offers.json")
	for name, edit := range map[string]func(map[string]any){
		"a number for a price": func(m map[string]any) { m["price"] = 1.5 },
		"an exponent":          func(m map[string]any) { m["price"] = "1e3" },
		"trailing zeros":       func(m map[string]any) { m["price"] = "1.50" },
		"blank for absent":     func(m map[string]any) { m["zone"] = "" },
		"a missing field":      func(m map[string]any) { delete(m, "state") },
		"a field unknown":      func(m map[string]any) { m["cheap"] = true },
		"a state unknown":      func(m map[string]any) { m["state"] = "fine" },
		"a fraction as text":   func(m map[string]any) { m["accelerator"].(map[string]any)["count"] = "0.125" },
		"a local time":         func(m map[string]any) { m["since"] = "2026-09-30T12:00:00+02:00" },
	} {
		if s.Validate(row(edit)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := s.Validate(row(func(map[string]any) {})); err != nil {
		t.Error(err)
	}
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
