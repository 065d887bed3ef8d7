package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

const priceHeader = "time,provider,region,zone,instance_type,gpu,gpu_count,market,os,price,currency"

// writeCSV writes a file of the common form and returns its path.
func writeCSV(t *testing.T, rows ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	text := priceHeader + "\n" + strings.Join(rows, "\n") + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// importRows imports rows and returns the report.
func importRows(t *testing.T, c *cli, profile string, rows ...string) importOut {
	t.Helper()
	text := c.must(t, "import", writeCSV(t, rows...), "--profile", profile, "-o", "json")
	validate(t, "import", text)
	var out importOut
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	if out.Accepted+out.Duplicate+out.Rejected+out.LeftOut != out.Rows {
		t.Errorf("%d accepted, %d duplicate, %d rejected and %d left out are not %d rows", out.Accepted, out.Duplicate, out.Rejected, out.LeftOut, out.Rows)
	}
	return out
}

// TestImportAndCrawlAreOneSeries imports a price of an offer the fixtures list
// and expects it under the id the crawl gave.
func TestImportAndCrawlAreOneSeries(t *testing.T) {
	c := testMain(t)
	dir := fixtureDir(t, "aws", "runpod")
	c.must(t, "crawl", "--fixtures", dir, "--at", day1, "--archive", "off")
	live := func(args ...string) answerRow {
		t.Helper()
		var rows []answerRow
		text := c.must(t, append([]string{"query", "offers", "--all", "-o", "json"}, args...)...)
		if err := json.Unmarshal([]byte(text), &rows); err != nil {
			t.Fatal(err)
		}
		if len(rows) != 1 {
			t.Fatalf("%v: %d offers", args, len(rows))
		}
		return rows[0]
	}
	tests := []struct {
		profile, row string
		offer        []string
	}{
		{
			"aws_ondemand_2022_2026", "2024-01-01T00:00:00Z,aws,us-east-1,,p5.48xlarge,NVIDIA H100,8,on_demand,Linux,98.32,USD",
			[]string{"--provider", "aws", "--region", "us-east-1", "--type", "p5.48xlarge", "--market", "on_demand", "--os", "linux"},
		},
		{
			"aws_ondemand_2022_2026", "2024-01-01T00:00:00Z,aws,cn-north-1,,p3.2xlarge,NVIDIA V100,1,on_demand,Linux,36.078,CNY",
			[]string{"--provider", "aws", "--region", "cn-north-1", "--type", "p3.2xlarge", "--market", "on_demand", "--os", "linux"},
		},
		{
			"aws_ec2_2013_2017", "2017-11-12T16:13:08Z,aws,us-west-1,,g3.4xlarge,NVIDIA M60,1,reserved_1y,linux,1.07,USD",
			[]string{"--provider", "aws", "--region", "us-west-1", "--type", "g3.4xlarge", "--market", "commitment", "--term", "1y", "--payment", "none"},
		},
		{
			"aws_ec2_2013_2017", "2017-11-12T16:13:08Z,aws,us-west-1,,g3.4xlarge,NVIDIA M60,1,on_demand,mswin,2.27,USD",
			[]string{"--provider", "aws", "--region", "us-west-1", "--type", "g3.4xlarge", "--market", "on_demand", "--os", "windows"},
		},
		{
			"aws_ec2_2013_2017", "2017-11-12T16:13:08Z,aws,us-west-1,,g3.4xlarge,NVIDIA M60,1,on_demand,sles,1.634,USD",
			[]string{"--provider", "aws", "--region", "us-west-1", "--type", "g3.4xlarge", "--market", "on_demand", "--os", "suse"},
		},
		{
			"marketplace_daily_2026", "2026-05-08T00:00:00Z,runpod,secure,,,H100_SXM,1,on_demand,,2.99,USD",
			[]string{"--provider", "runpod", "--tier", "secure", "--type", "NVIDIA H100 80GB HBM3×1", "--market", "on_demand"},
		},
		{
			"marketplace_daily_2026", "2026-05-08T00:00:00Z,runpod,community,,,H100_SXM,1,spot,,2.69,USD",
			[]string{"--provider", "runpod", "--tier", "community", "--type", "NVIDIA H100 80GB HBM3×1", "--market", "spot"},
		},
	}
	for _, tt := range tests {
		before := live(tt.offer...)
		if out := importRows(t, c, tt.profile, tt.row); out.Accepted != 1 {
			t.Errorf("%s: %+v", tt.row, out)
		}
		after := live(tt.offer...)
		for _, f := range []string{"offer_id", "price", "state", "observed_at", "source", "accelerator.raw"} {
			if before.text(f) != after.text(f) {
				t.Errorf("%s: %s is %s after the import, was %s", tt.row, f, after.text(f), before.text(f))
			}
		}
		var changes []answerRow
		if err := json.Unmarshal([]byte(c.must(t, append([]string{"query", "changes", "-o", "json"}, tt.offer...)...)), &changes); err != nil {
			t.Fatal(err)
		}
		at, want := tt.row[:20], before.text("offer_id")
		if !slices.ContainsFunc(changes, func(r answerRow) bool { return r.text("seen_at") == at && r.text("offer_id") == want }) {
			t.Errorf("%s: no change of offer %s at %s in %v", tt.row, want, at, changes)
		}
	}
	c.must(t, "db", "check")
}

// history of three offers over a week: one is missing for a day, one ends.
func snapshotRows() []string {
	var rows []string
	for day := 1; day <= 7; day++ {
		at := fmt.Sprintf("2025-03-%02dT06:00:00Z,aws,us-east-1,,", day)
		rows = append(rows, fmt.Sprintf("%sp5.48xlarge,NVIDIA H100,8,on_demand,Linux,%d,USD", at, 98-day/3))
		if day != 4 {
			rows = append(rows, at+"p4d.24xlarge,NVIDIA A100 40GB,8,on_demand,Linux,32.7726,USD")
		}
		if day < 6 {
			rows = append(rows, fmt.Sprintf("%sg5.xlarge,NVIDIA A10G,1,on_demand,Linux,1.00%d,USD", at, day%2))
		}
	}
	return rows
}

// history returns what a database tells of its series: every change and the
// offers at three moments.
func told(t *testing.T, c *cli) string {
	t.Helper()
	var rows []answerRow
	if err := json.Unmarshal([]byte(c.must(t, "query", "changes", "-o", "json")), &rows); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range rows {
		var cells []string
		for _, f := range []string{"offer_id", "instance_type", "seen_at", "kind", "before", "after", "not_before"} {
			cells = append(cells, r.text(f))
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	slices.Sort(lines)
	for _, at := range []string{"2025-03-03T07:00:00Z", "2025-03-04T07:00:00Z", "2025-03-09"} {
		lines = append(lines, c.must(t, "query", "offers", "--all", "--at", at, "-o", "ndjson"))
	}
	return strings.Join(lines, "\n")
}

func TestImportDoesNotDependOnOrder(t *testing.T) {
	want := ""
	for seed := range uint64(4) {
		rows := snapshotRows()
		if seed > 0 {
			rand.New(rand.NewPCG(seed, 1)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		c := testMain(t)
		out := importRows(t, c, "aws_ondemand_2022_2026", rows...)
		if out.Accepted != int64(len(rows)) || out.FirstSeen != 3 || out.Withdrawn != 2 || out.Returned != 1 {
			t.Errorf("order %d: %+v", seed, out)
		}
		got := told(t, c)
		if want == "" {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("order %d differs:\n%s", seed, d)
		}
		again := importRows(t, c, "aws_ondemand_2022_2026", rows...)
		if again.Accepted != 0 || again.Duplicate != int64(len(rows)) || again.FirstSeen+again.Changed+again.Withdrawn+again.Returned+again.Specs != 0 {
			t.Errorf("order %d again: %+v", seed, again)
		}
		if d := cmp.Diff(want, told(t, c)); d != "" {
			t.Errorf("order %d: the second import changed what is told:\n%s", seed, d)
		}
		c.must(t, "db", "check")
	}
}

// TestImportInParts imports the days of a file one by one, the newest first.
func TestImportInParts(t *testing.T) {
	whole, parts := testMain(t), testMain(t)
	rows := snapshotRows()
	importRows(t, whole, "aws_ondemand_2022_2026", rows...)
	byDay := map[string][]string{}
	for _, r := range rows {
		byDay[r[:10]] = append(byDay[r[:10]], r)
	}
	for day := 7; day >= 1; day-- {
		importRows(t, parts, "aws_ondemand_2022_2026", byDay[fmt.Sprintf("2025-03-%02d", day)]...)
	}
	if d := cmp.Diff(told(t, whole), told(t, parts)); d != "" {
		t.Errorf("in parts it is another history:\n%s", d)
	}
}

// TestRejectedRowWithdrawsNothing imports a snapshot with a broken row and then
// the mended file.
func TestRejectedRowWithdrawsNothing(t *testing.T) {
	mended := snapshotRows()
	broken := slices.Clone(mended)
	i := slices.IndexFunc(broken, func(r string) bool { return strings.HasPrefix(r, "2025-03-05") && strings.Contains(r, "p5.48xlarge") })
	broken[i] = strings.Replace(broken[i], ",97,USD", ",n/a,USD", 1)
	c := testMain(t)
	out := importRows(t, c, "aws_ondemand_2022_2026", broken...)
	if out.Rejected != 1 || out.Reasons["bad_price"] != 1 || !out.WithoutWithdrawals || out.Withdrawn != 0 {
		t.Errorf("broken: %+v", out)
	}
	if len(out.Examples) != 1 || out.Examples[0].Line != int64(i)+2 || out.Examples[0].Text != broken[i] {
		t.Errorf("examples: %+v, want line %d", out.Examples, i+2)
	}
	if text := c.must(t, "query", "changes", "--kind", "withdrawn", "-o", "ndjson"); text != "" {
		t.Errorf("withdrawn beside a rejected row: %s", text)
	}
	if out := importRows(t, c, "aws_ondemand_2022_2026", mended...); out.Rejected != 0 || out.Accepted != 1 || out.Withdrawn != 2 {
		t.Errorf("mended: %+v", out)
	}
	fresh := testMain(t)
	importRows(t, fresh, "aws_ondemand_2022_2026", mended...)
	if d := cmp.Diff(told(t, fresh), told(t, c)); d != "" {
		t.Errorf("the mended file tells another history than alone:\n%s", d)
	}
	c.must(t, "db", "check")
}

func TestImportConflicts(t *testing.T) {
	c := testMain(t)
	row := "2020-01-05T10:00:00Z,aws,us-east-1,us-east-1a,p3.2xlarge,NVIDIA V100,1,spot,Linux/UNIX,%s,USD"
	importRows(t, c, "aws_spot_2020", fmt.Sprintf(row, "1"))
	code := c.run(t, "import", writeCSV(t, fmt.Sprintf(row, "2")), "--profile", "aws_spot_2020")
	if code != exitError || !strings.Contains(c.out.String(), "conflicting_price 1") {
		t.Errorf("exit code %d: %s%s", code, c.out.String(), c.err.String())
	}
	if text := c.must(t, "query", "offers", "--all", "--at", "2020-01-06", "-o", "csv"); !strings.Contains(text, ",1,1,") {
		t.Errorf("the stored price gave way: %s", text)
	}
}

func TestImportOfTheFuture(t *testing.T) {
	c := testMain(t)
	at := testNow.AddDate(0, 0, 1).UTC().Format("2006-01-02T15:04:05Z")
	row := at + ",aws,us-east-1,us-east-1a,p3.2xlarge,NVIDIA V100,1,spot,Linux/UNIX,1,USD"
	if code := c.run(t, "import", writeCSV(t, row), "--profile", "aws_spot_2020"); code != exitError || !strings.Contains(c.out.String(), "bad_time") {
		t.Errorf("exit code %d: %s%s", code, c.out.String(), c.err.String())
	}
	if _, err := os.Stat(c.env["GPUTIDE_DB"]); !os.IsNotExist(err) {
		t.Errorf("a database was made: %v", err)
	}
}

// TestImportCarriesSpecs finds imported offers by what they have.
func TestImportCarriesSpecs(t *testing.T) {
	c := testMain(t)
	importRows(t, c, "fsdl_cloud_gpus",
		"2024-01-01T00:00:00Z,gcp,,,n1-highmem-8,V100 (16 GB),1,on_demand,,2.95,USD",
		"2024-01-01T00:00:00Z,gcp,,,n1-highmem-8,T4 (16 GB),1,on_demand,,0.82,USD",
		"2024-01-01T00:00:00Z,latitude.sh,,,g3.large.x86,H100 (80GB),4,on_demand,,10,USD",
		"2024-02-01T00:00:00Z,latitude.sh,,,g3.large.x86,H100 (80 GB),4,on_demand,,9,USD",
	)
	for gpu, want := range map[string]string{
		"v100": "n1-highmem-8+V100 (16 GB)×1", "t4": "n1-highmem-8+T4 (16 GB)×1", "h100": "g3.large.x86+H100 (80 GB)×4",
	} {
		text := c.must(t, "query", "offers", "--all", "--gpu", gpu, "-o", "json")
		var rows []answerRow
		if err := json.Unmarshal([]byte(text), &rows); err != nil {
			t.Fatal(err)
		}
		if err := has("instance_type state", want+" "+string(gputide.StateImportedEnd))(rows); err != nil {
			t.Errorf("--gpu %s: %v", gpu, err)
		}
	}
}
