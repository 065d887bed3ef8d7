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

const importDocsHead = `# Importing price history

` + "`gputide import FILE --profile NAME`" + ` reads what others recorded. FILE is a file, plain or gzipped, ` + "`-`" + ` or a pipe, or a zip;
where the profile reads a source of many files, a folder or a clone. These are the CSV forms, by their first line:

`

const importDocsForms = `
A price holds for one instance and hour, all its cards together. A file of snapshots lists everything on
offer at each of its moments, so what is missing at one is withdrawn there; a file of events states single
prices, and absence means nothing. Rows may come in any order, and importing them again adds nothing.

Other forms are read as their source writes them: ` + "`spot_history`" + ` is the JSON of ` + "`aws ec2 describe-spot-price-history`" + `,
` + "`advisor`" + ` the JSON of AWS's spot advisor, ` + "`ecb`" + ` the CSV of the European Central Bank.

## Other CSV files

` + "`--map COLUMN=FIELD`" + ` says what a column holds, ` + "`--set FIELD=VALUE`" + ` what is the same in every row:

    gputide import prices.csv --map day=time --map usd=price --map type=instance_type --set provider=acme --set currency=USD

A field is a column of the common CSV, ` + "`vcpu`, `memory_gib`" + ` or another key field (partition, seller, plan, term, payment,
license, tenancy, tier, volume, stat, tax). Columns that are not named are not read. Words are those of the schema; with
` + "`--profile`" + ` they are those of that profile, and ` + "`--map`" + ` only renames columns. What neither a row nor the profile nor ` + "`--set`" + `
says stays empty. A moment may be written as a day, with an offset or with fractions of a second, which are cut.

## Folders, archives and clones

A catalogue of many files names its provider by the path. Its moment is that of the commit when a clone is read (every
commit of the main line is one observation, each provider from the highest version folder there is), that of the file
` + "`version`" + ` in an archive, or told with ` + "`--at`" + `. Reading a clone needs git.

## The export

` + "`gputide export`" + ` writes everything the database says of offers: a row for each observation (with ` + "`--changes`" + ` only where
something changed), in order of offer id and time. ` + "`state`" + ` is ` + "`priced`" + `, or ` + "`withdrawn`" + ` or ` + "`held`" + ` where that begins; only priced
rows have the fields after the key. ` + "`price`" + ` is the hourly price of the instance and follows from the published amounts:
` + "`amount` `unit` `basis` `upfront` `multiplier`" + ` and ` + "`components`" + ` (JSON). ` + "`spec`" + ` (JSON) is the newest spec of the instance type and stands
in the first row of an offer. As NDJSON the same names are the fields of an object, and what is absent is missing.
Importing an export (profile ` + "`export`" + `) into an empty database and exporting that gives the same bytes. A row whose offer id
is not that of its key, or whose price is not that of its published amounts, is rejected. Signals, rates, runs and
benchmark results are not exported; ` + "`gputide db backup`" + ` keeps all.

## Profiles
`

// TestImportDocs holds docs/imports.md equal to the profiles.
func TestImportDocs(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "imports.md")
	var b bytes.Buffer
	b.WriteString(importDocsHead)
	for _, f := range []importcsv.Form{importcsv.FormPrices, importcsv.FormRates, importcsv.FormSignals, importcsv.FormBenchmarks, importcsv.FormExport} {
		fmt.Fprintf(&b, "- %s: `%s`\n", f, importcsv.HeaderOf(f))
	}
	b.WriteString(importDocsForms)
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
		if p.Evidence != "" {
			fmt.Fprintf(&b, "- evidence: %s\n", p.Evidence)
		}
	}
	b.WriteString("\n## Why a row is rejected\n\n| reason | meaning |\n| --- | --- |\n")
	for _, r := range importcsv.Reasons() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Code, r.Meaning)
	}
	b.WriteString("\n## Why a row is left out\n\nSuch a row is well formed; its profile has no place for it.\n\n| reason | meaning |\n| --- | --- |\n")
	for _, r := range importcsv.LeftOut() {
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
