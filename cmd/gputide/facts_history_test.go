package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The facts of the shared price history are proven on one database that holds
// all of it, through `import`, `query` and `export`, as a user would ask. What
// was asked and answered is docs/facts.md.

// pastFact is one fact of history/facts.md, by its number there.
type pastFact struct {
	n    int
	says string
	asks []asking
}

// asking is a command line and what its answer must be.
type asking struct {
	line  string                   // after `gputide`; of an import, the report of that profile
	show  string                   // fields shown in the docs
	says  func([]answerRow) string // shown instead: what the rows come to
	check func([]answerRow) error
}

// historyNow is after every row of the shared history.
var historyNow = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// historyFiles are the files of the shared history and their profiles.
func historyFiles() [][2]string {
	return [][2]string{
		{"aws_ec2_2013_2017.csv", "aws_ec2_2013_2017"},
		{"aws_ondemand_2022_2026.csv.gz", "aws_ondemand_2022_2026"},
		{"aws_spot_2020.csv.gz", "aws_spot_2020"},
		{"aws_spot_advisor.csv", "aws_spot_advisor"},
		{"azure_ondemand_2023_2026.csv", "azure_ondemand_2023_2026"},
		{"fsdl_cloud_gpus_2022_2025.csv", "fsdl_cloud_gpus"},
		{"fx_ecb_2013_2026.csv", "fx_ecb_2013_2026"},
		{"gcp_gpu_2022_2026.csv.gz", "gcp_gpu_2022_2026"},
		{"hf_endpoints_2022_2026.csv", "hf_endpoints"},
		{"marketplace_daily_2026.csv.gz", "marketplace_daily_2026"},
		{"mlperf_inference_v4.1_datacenter_closed.csv", "mlperf_inference"},
		{"primeintellect_2025.csv.gz", "primeintellect_2025"},
	}
}

// pastDB is a database with the whole shared history, and the report of each of
// its imports by profile.
type pastDB struct {
	*cli
	reports map[string]answerRow
}

// historyProgram returns the program after the last row of the history.
func historyProgram(t *testing.T) *cli {
	c := testMain(t)
	c.Now = func() time.Time { return historyNow }
	return c
}

// importHistory imports the shared history; edit, when it is not nil, may change
// the bytes of a file.
func importHistory(t *testing.T, c *cli, edit func(name string, text []byte) []byte) *pastDB {
	t.Helper()
	dir := filepath.Join(shared(t), "history")
	p := &pastDB{cli: c, reports: make(map[string]answerRow)}
	for _, f := range historyFiles() {
		file := filepath.Join(dir, f[0])
		if edit != nil {
			text := edit(f[0], mustRead(t, file))
			file = filepath.Join(t.TempDir(), f[0])
			writeText(t, file, string(text))
		}
		var report answerRow
		if err := json.Unmarshal([]byte(c.must(t, "import", file, "--profile", f[1], "-o", "json")), &report); err != nil {
			t.Fatal(err)
		}
		if report.text("rejected") != "0" {
			t.Errorf("%s: rejected %s", f[0], report.text("reasons"))
		}
		p.reports[f[1]] = report
	}
	return p
}

// TestHistoryFacts proves every fact and holds docs/facts.md equal to the
// answers.
func TestHistoryFacts(t *testing.T) {
	t.Parallel()
	p := importHistory(t, historyProgram(t), nil)
	facts := slices.Concat(awsSpotFacts(), awsListFacts(), azureFacts(), gcpFacts(), marketFacts(), tableFacts(), advisorFacts())
	slices.SortStableFunc(facts, func(a, b pastFact) int { return a.n - b.n })
	for i, f := range facts {
		if f.n != i+1 {
			t.Fatalf("fact %d is missing or there twice", i+1)
		}
	}
	if len(facts) != 50 {
		t.Errorf("%d facts, want 50", len(facts))
	}
	doc := strings.Builder{}
	doc.WriteString(factsHead)
	for _, f := range facts {
		fmt.Fprintf(&doc, "\n## %d. %s\n", f.n, f.says)
		for _, a := range f.asks {
			t.Run(fmt.Sprintf("fact/%d/%s", f.n, a.line), func(t *testing.T) {
				tally.all.Add(1)
				rows := p.ask(t, a.line)
				doc.WriteString(shown(a, rows))
				if err := a.check(rows); err != nil {
					t.Errorf("gputide %s: %v", a.line, err)
					return
				}
				tally.proven.Add(1)
			})
		}
	}
	path := filepath.Join("..", "..", "docs", "facts.md")
	if *update {
		if err := os.WriteFile(path, []byte(doc.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(doc.String(), string(mustRead(t, path))); d != "" {
		t.Errorf("docs/facts.md is not what is answered; run go test ./cmd/gputide -run HistoryFacts -update (-want +got):\n%s", d)
	}
}

const factsHead = `# Fifty facts of price history, asked

The database holds the twelve files that docs/imports.md names the profiles of, imported one after another in any order, with
nothing taken out. Below each fact stand commands that answer it and the fields of the answer that say so, a line for each row
(at most eight). Percentages and means have the decimals of the answer; nothing is rounded for the page. A test asks all of
this anew and fails when an answer differs.
`

// ask runs a command line and returns the rows of its answer.
func (p *pastDB) ask(t *testing.T, line string) []answerRow {
	t.Helper()
	args := shellWords(line)
	if args[0] == "import" {
		report, ok := p.reports[args[len(args)-1]]
		if !ok {
			t.Fatalf("no report of %s", line)
		}
		return []answerRow{report}
	}
	text := p.must(t, append(args, "-o", "ndjson")...)
	var rows []answerRow
	for dec := json.NewDecoder(strings.NewReader(text)); dec.More(); {
		var row answerRow
		if err := dec.Decode(&row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// shellWords splits a command line at blanks outside of single quotes.
func shellWords(line string) []string {
	var out []string
	var word strings.Builder
	quoted := false
	for _, r := range line + " " {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == ' ' && !quoted:
			if word.Len() > 0 {
				out = append(out, word.String())
				word.Reset()
			}
		default:
			word.WriteRune(r)
		}
	}
	return out
}

// mostShown bounds the rows of an answer that the docs show.
const mostShown = 8

// shown words an answer for the docs.
func shown(a asking, rows []answerRow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n```console\n$ gputide %s\n", a.line)
	if a.says != nil {
		fmt.Fprintf(&b, "(%d rows: %s)\n```\n", len(rows), a.says(rows))
		return b.String()
	}
	for i, r := range rows {
		if i == mostShown {
			break
		}
		var cells []string
		for f := range strings.FieldsSeq(a.show) {
			cells = append(cells, f+"="+r.text(f))
		}
		if len(cells) > 0 {
			b.WriteString(strings.Join(cells, "  ") + "\n")
		}
	}
	switch n := len(rows); {
	case a.show == "":
		fmt.Fprintf(&b, "(%d rows)\n", n)
	case n > mostShown:
		fmt.Fprintf(&b, "(%d rows in all)\n", n)
	case n == 0:
		b.WriteString("(no rows)\n")
	}
	b.WriteString("```\n")
	return b.String()
}

// one is an asking with one row and its fields, given as name, value, …: what is
// shown is what is checked.
func one(line string, want ...string) asking {
	var names []string
	for i := 0; i+1 < len(want); i += 2 {
		names = append(names, want[i])
	}
	return asking{line: line, show: strings.Join(names, " "), check: hasFields(want...)}
}

// list is an asking that must give exactly these rows, in any order.
func list(line, fields string, want ...string) asking {
	return asking{line: line, show: fields, check: has(fields, want...)}
}

// counted is an asking that must give so many rows.
func counted(n int, line string) asking { return asking{line: line, check: count(n)} }

// shows is an asking whose rows pass a check.
func shows(line, fields string, check func([]answerRow) error) asking {
	return asking{line: line, show: fields, check: check}
}

// comesTo is an asking whose rows come to something that is worded.
func comesTo(line, want string, says func([]answerRow) string) asking {
	return asking{line: line, says: says, check: func(rows []answerRow) error {
		if got := says(rows); got != want {
			return fmt.Errorf("it comes to %q, want %q", got, want)
		}
		return nil
	}}
}

// also is a further check of an asking.
func (a asking) also(show string, check func([]answerRow) error) asking {
	first := a.check
	a.show = strings.TrimSpace(a.show + " " + show)
	a.check = func(rows []answerRow) error { return errors.Join(first(rows), check(rows)) }
	return a
}
