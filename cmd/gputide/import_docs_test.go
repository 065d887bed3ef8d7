package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize/importcsv"
)

// TestImportDocs holds docs/imports.md equal to the profiles.
func TestImportDocs(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "imports.md")
	var b bytes.Buffer
	b.WriteString("# Importing price history\n\n`gputide import FILE --profile NAME` reads a file of one of these forms, plain or gzipped:\n\n" +
		"- prices: `" + priceHeader + "`\n" +
		"- rates: `date,base,quote,rate,source`\n" +
		"- signals: `time,provider,region,instance_type,gpu,gpu_count,os,savings_pct,interruption_index,interruption_label`\n\n" +
		"A price holds for one instance and hour, all its cards together. A file of snapshots lists everything on\n" +
		"offer at each of its moments, so what is missing at one is withdrawn there; a file of events states single\n" +
		"prices, and absence means nothing.\n\n## Profiles\n")
	for _, name := range importcsv.Names() {
		p, err := importcsv.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		form := string(p.Form)
		switch p.Kind {
		case gputide.ImportSnapshot:
			form += ", snapshots"
		case gputide.ImportEvents:
			form += ", events"
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n- form: %s\n- a time stamp: %s\n- source: %s\n- licence: %s\n", p.Name, p.Title, form, p.Covers, p.Source, p.Licence)
	}
	b.WriteString("\n## Why a row is rejected\n\n| reason | meaning |\n| --- | --- |\n")
	for _, r := range importcsv.Reasons() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Code, r.Meaning)
	}
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(b.String(), string(mustRead(t, path))); d != "" {
		t.Errorf("docs/imports.md is not what the profiles say; run go test ./cmd/gputide -run Docs -update (-want +got):\n%s", d)
	}
}
