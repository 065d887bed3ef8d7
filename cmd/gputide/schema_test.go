package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validate holds JSON text against docs/schema/NAME.json.
func validate(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "schema", name+".json")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(mustRead(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", name, err, text)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v\n%.2000s", name, err, text)
	}
}

// worked returns a program whose database has seen good, failed, held and
// skipping crawls.
func worked(t *testing.T) *cli {
	t.Helper()
	c, dir := testMain(t), fixtureDir(t, "runpod", "ecb")
	text := c.must(t, "crawl", "--fixtures", dir, "--at", day1, "-o", "json")
	validate(t, "crawl", text)
	edit(t, filepath.Join(dir, runpodBody), `"communityPrice": 1,`, `"communityPrice": 100,`)
	edit(t, filepath.Join(dir, runpodBody), `"securePrice": 2.39,`, `"securePrice": -1,`)
	c.crawlAt(t, dir, day2, exitOK)
	validate(t, "crawl", c.out.String())
	edit(t, filepath.Join(dir, "runpod/manifest.json"), `"status": 200`, `"status": 503`)
	c.crawlAt(t, dir, day3, exitProviders)
	validate(t, "crawl", c.out.String())
	return c
}

// TestSchemas validates the JSON of every verb, and that its lines and its array
// are the same rows.
func TestSchemas(t *testing.T) {
	c := worked(t)
	id := ""
	for k := range c.offers(t, day1) {
		id = k
	}
	tests := []struct {
		schema string
		object bool
		args   []string
	}{
		{"offers", false, []string{"query", "offers", "--all"}},
		{"offers", false, []string{"query", "offers", "--at", day1, "--in", "EUR"}},
		{"changes", false, []string{"query", "changes"}},
		{"changes", false, []string{"query", "changes", "--count-by", "series", "--kind", "first_seen"}},
		{"changes", false, []string{"query", "changes", "--count-by", "day", "--kind", "first_seen"}},
		{"trend", false, []string{"query", "trend", "--per", "gpu", "--bucket", "day"}},
		{"trend", false, []string{"query", "trend", "--group-by", "instance_type,tier", "--over", "rows", "--index", "--budget", "3", "--in", "EUR"}},
		{"discount", false, []string{"query", "discount", "--at-least", "10", "--budget", "1/gpu"}},
		{"discount", false, []string{"query", "spot", "--over", "rows"}},
		{"compare", false, []string{"query", "compare", "--stat", "list,min", "--at", day1}},
		{"compare", false, []string{"query", "compare", "--per", "tflops:fp16", "--in", "EUR", "--sort", "price", "--state", "priced,gap,stale"}},
		{"fx", false, []string{"query", "fx", "--base", "USD", "--quote", "CNY", "--amount", "2", "--at", day1}},
		{"types", false, []string{"query", "types"}},
		{"signals", false, []string{"query", "signals"}},
		{"signals", false, []string{"query", "signals", "--name", "availability", "--count-by", "value"}},
		{"signals", false, []string{"query", "signals", "--from", "2026-01-01", "--to", "2026-12-31"}},
		{"signals", false, []string{"query", "signals", "--from", "2026-01-01", "--count-by", "value"}},
		{"explain", true, []string{"explain", id}},
		{"gpus", false, []string{"gpus"}},
		{"providers", false, []string{"providers"}},
		{"runs", false, []string{"runs", "list"}},
		{"run", true, []string{"runs", "show"}},
		{"run", true, []string{"runs", "show", "2"}},
		{"quarantine", false, []string{"quarantine", "list"}},
		{"db_stats", true, []string{"db", "stats"}},
		{"db_check", true, []string{"db", "check"}},
		{"db_compact", true, []string{"db", "compact"}},
		{"db_backup", true, []string{"db", "backup", filepath.Join(t.TempDir(), "backup.db")}},
		{"version", true, []string{"version"}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			text := c.must(t, append(tt.args, "-o", "json")...)
			validate(t, tt.schema, text)
			if tt.object {
				return
			}
			var rows []json.RawMessage
			if err := json.Unmarshal([]byte(text), &rows); err != nil || len(rows) == 0 {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
			lines := strings.Split(strings.TrimSuffix(c.must(t, append(tt.args, "-o", "ndjson")...), "\n"), "\n")
			if len(lines) != len(rows) {
				t.Fatalf("%d lines, %d rows", len(lines), len(rows))
			}
			for i := range lines {
				if lines[i] != string(rows[i]) {
					t.Errorf("line %d\n%s\nis not row\n%s", i, lines[i], rows[i])
				}
			}
			records := strings.Count(c.must(t, append(tt.args, "-o", "csv")...), "\n")
			if records != len(rows)+1 {
				t.Errorf("%d lines of CSV, %d rows", records, len(rows))
			}
		})
	}
}

// TestCSVColumns holds that every CSV column is a field of the row's schema, and
// that no field is left out.
func TestCSVColumns(t *testing.T) {
	tests := map[string][]string{
		"offers": offerColumns(), "changes": changeColumns(), "types": typeColumns(), "runs": runColumns(),
		"trend": trendColumns([]string{"gpu"}), "discount": discountColumns(), "compare": compareColumns(), "changes outliers": outlierColumns(), "signals": signalColumns(),
		"signals spans": signalSpanColumns(), "signals counts": signalCountColumns(), "fx": rateColumns(),
		"quarantine": refusedColumns(), "providers": providerColumns(), "gpus": gpuColumns(), "crawl": crawlColumns(),
	}
	for name, columns := range tests {
		name, def, _ := strings.Cut(name, " ")
		def = cmp.Or(strings.TrimSuffix(def, "s"), "row")
		var doc struct {
			Defs map[string]schemaNode `json:"$defs"`
		}
		if err := json.Unmarshal(mustRead(t, filepath.Join("..", "..", "docs", "schema", name+".json")), &doc); err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{}
		for _, c := range columns {
			top, _, _ := strings.Cut(c, ".")
			named[top] = true
			if _, ok := doc.Defs[def].Properties[top]; !ok {
				t.Errorf("%s: column %s is no field of the schema", name, c)
			}
		}
		for field := range doc.Defs[def].Properties {
			if !named[field] {
				t.Errorf("%s: field %s has no column", name, field)
			}
		}
	}
}

// schemaNode is what TestCSVColumns reads of a schema.
type schemaNode struct {
	Properties map[string]json.RawMessage `json:"properties"`
}
