package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crawlRecording crawls a shared recording into the database of a program.
func crawlRecording(t *testing.T, c *cli, recordings []recording, name string) {
	t.Helper()
	i := slices.IndexFunc(recordings, func(r recording) bool { return r.name == name })
	if i < 0 {
		t.Fatalf("no recording %s", name)
	}
	r := &recordings[i]
	dir := t.TempDir()
	body := mustRead(t, filepath.Join(shared(t), "payloads", r.provider, r.name))
	writeFixture(t, filepath.Join(dir, r.provider), r.provider, r.at, r.wrap(body))
	c.must(t, append([]string{"crawl", "--fixtures", dir, "--provider", r.provider, "--archive", "off"}, r.crawl...)...)
}

// historyFile imports one file of the shared history.
func historyFile(t *testing.T, c *cli, profile string) {
	t.Helper()
	for _, f := range historyFiles() {
		if f[1] == profile {
			c.must(t, "import", filepath.Join(shared(t), "history", f[0]), "--profile", profile)
			return
		}
	}
	t.Fatalf("no file of profile %s", profile)
}

// TestImportedAndCrawledAreOneSeries imports years of prices, crawls a recording
// of the same provider and expects one series.
func TestImportedAndCrawledAreOneSeries(t *testing.T) {
	t.Parallel()
	shared(t)
	t.Run("aws", func(t *testing.T) {
		c := historyProgram(t)
		historyFile(t, c, "aws_ondemand_2022_2026")
		crawlRecording(t, c, awsRecordings(), "bulk_offer_excerpt.us-east-1.2026-09-10.json")
		p := pastDB{cli: c}
		const of = " --provider aws --region us-east-1 --type p5.48xlarge --market on_demand --os linux --tenancy shared"
		for _, a := range []asking{
			list("query changes"+of, "kind before after seen_at cause", "first_seen <null> 98.32 2023-07-31T13:09:33Z import", "price 98.32 55.04 2025-06-23T13:18:30Z import"),
			one("query offers --all --at 2026-09-11"+of, "price", "55.04", "state", "priced", "source", "bulk-json", "observed_at", "2026-09-10T19:55:14Z", "since", "2025-06-23T13:18:30Z", "published.amount", "55.0400000000"),
			one("query trend --bucket all --over rows"+of, "n", "61", "changes", "1"),
		} {
			if err := a.check(p.ask(t, a.line)); err != nil {
				t.Errorf("gputide %s: %v", a.line, err)
			}
		}
	})
	t.Run("marketplaces", func(t *testing.T) {
		c := historyProgram(t)
		historyFile(t, c, "marketplace_daily_2026")
		crawlRecording(t, c, runpodRecordings(), "graphql_gputypes_datacenters_2026-08.json")
		crawlRecording(t, c, lambdaRecordings(), "pricing_page_instances_section_2026-08.html")
		p := pastDB{cli: c}
		const card = " --provider runpod --tier secure --market on_demand --type 'NVIDIA H100 80GB HBM3×1'"
		for _, a := range []asking{
			shows("query changes"+card, "", inOrder("kind before after seen_at cause",
				"first_seen <null> 2.99 2026-05-08T00:00:00Z import", "price 2.99 3.29 2026-05-19T00:00:00Z import",
				"price 3.29 2.99 2026-07-07T00:00:00Z import", "price 2.99 3.29 2026-08-22T00:00:00Z crawl")),
			shows("query changes"+card+" --from 2026-08-01", "", hasFields("flags", `["source_changed"]`)),
			shows("query changes"+card+" --to 2026-08-01", "", only("flags", "[]", count(3))),
			one("query offers --all --at 2026-08-22T00:00:00Z"+card, "price", "3.29", "source", "gpu-types", "flags", `["source_changed"]`),
			list("query offers --all --at 2026-08-28T00:00:00Z --provider lambda --gpu h100-sxm --count 1", "price stat source",
				"3.99 min import:marketplace_daily_2026", "4.29 list page"),
		} {
			if err := a.check(p.ask(t, a.line)); err != nil {
				t.Errorf("gputide %s: %v", a.line, err)
			}
		}
	})
}

// TestHistoryInAnyOrder imports the shared history again, and with the rows of
// every file shuffled, and expects the same export.
func TestHistoryInAnyOrder(t *testing.T) {
	t.Parallel()
	p := importHistory(t, historyProgram(t), nil)
	want := p.must(t, "export")
	again := importHistory(t, p.cli, nil)
	for profile, r := range again.reports {
		for _, field := range []string{"accepted", "first_seen", "changed", "confirmed", "withdrawn", "returned", "specs", "signals", "rates", "benchmarks"} {
			if r.text(field) != "0" {
				t.Errorf("%s again: %s is %s", profile, field, r.text(field))
			}
		}
	}
	if got := p.must(t, "export"); got != want {
		t.Errorf("imported again, the export differs")
	}
	p.must(t, "db", "check")

	rng := rand.New(rand.NewPCG(2026, 12))
	shuffled := importHistory(t, historyProgram(t), func(name string, text []byte) []byte {
		head, rows, _ := strings.Cut(string(unzipped(t, text)), "\n")
		lines := strings.Split(strings.TrimSuffix(rows, "\n"), "\n")
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		return []byte(head + "\n" + strings.Join(lines, "\n") + "\n")
	})
	got := shuffled.must(t, "export")
	if got != want {
		a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("shuffled, the export differs at line %d:\n%s", i+1, cmp.Diff(a[i], b[i]))
			}
		}
		t.Fatalf("shuffled, the export has %d lines, want %d", len(b), len(a))
	}
	for profile, r := range p.reports {
		for _, field := range []string{"rows", "accepted", "series", "changed", "withdrawn", "returned"} {
			if got := shuffled.reports[profile].text(field); got != r.text(field) {
				t.Errorf("%s shuffled: %s is %s, was %s", profile, field, got, r.text(field))
			}
		}
	}
	file := filepath.Join(t.TempDir(), "export.csv")
	writeText(t, file, want)
	back := historyProgram(t)
	if out := importReport(t, back, file, "--profile", "export"); out.Rejected != 0 {
		t.Errorf("%+v", out)
	}
	if !bytes.Equal([]byte(back.must(t, "export")), []byte(want)) {
		t.Error("exported, imported and exported once more, the history differs")
	}
}

// unzipped returns the plain bytes of a plain or gzipped file.
func unzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	if len(text) < 2 || text[0] != 0x1f || text[1] != 0x8b {
		return text
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
