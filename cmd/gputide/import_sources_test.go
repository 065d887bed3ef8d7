package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// importReport imports and returns the report.
func importReport(t *testing.T, c *cli, args ...string) importOut {
	t.Helper()
	text := c.must(t, append(append([]string{"import"}, args...), "-o", "json")...)
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

// rowsOf asks and returns fields of the rows, each joined by blanks.
func rowsOf(t *testing.T, c *cli, fields string, args ...string) []string {
	t.Helper()
	var rows []answerRow
	if err := json.Unmarshal([]byte(c.must(t, append(args, "-o", "json")...)), &rows); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		var cells []string
		for f := range strings.FieldsSeq(fields) {
			cells = append(cells, r.text(f))
		}
		out = append(out, strings.Join(cells, " "))
	}
	return out
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// skyRunPod is a RunPod catalogue in the published form with one card.
func skyRunPod(price string) string {
	return "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo\n" +
		"1x_H100-SXM_SECURE,H100-SXM,1.0,20.0,125.0,CA,," + price + ",CA-MTL-1,\"{'Gpus': [{'Name': 'H100 SXM'}]}\"\n" +
		"1x_H100-SXM_SECURE,H100-SXM,1.0,20.0,125.0,US,," + price + ",US-CA-1,\"{'Gpus': [{'Name': 'H100 SXM'}]}\"\n"
}

const skyLambda = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n" +
	"gpu_1x_a6000,A6000,1.0,14.0,100.0,1.09,us-east-1,\"{'Gpus': [{'Name': 'A6000'}]}\",\n"

// TestImportClone reads the history of a repository: one observation a commit,
// of each provider from the highest version folder.
func TestImportClone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git := func(date string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	commit := func(date string) {
		t.Helper()
		git(date, "add", "-A")
		git(date, "commit", "-q", "-m", "catalogs")
	}
	file := func(name string) string { return filepath.Join(dir, "catalogs", filepath.FromSlash(name), "vms.csv") }
	git("2026-05-01T00:00:00Z", "init", "-q", "-b", "main")
	writeText(t, file("v9/runpod"), skyRunPod("2.99"))
	writeText(t, file("v9/lambda"), skyLambda)
	commit("2026-05-01T00:00:00Z")
	writeText(t, file("v10/runpod"), skyRunPod("3.29"))
	commit("2026-05-02T01:00:00+01:00")
	writeText(t, file("v9/runpod"), skyRunPod("9.99")) // an old folder, no longer read
	writeText(t, filepath.Join(dir, "README.md"), "x")
	commit("2026-05-03T00:00:00Z")
	writeText(t, file("v9/lambda"), strings.ReplaceAll(skyLambda, "gpu_1x_a6000", "gpu_2x_a6000")) // the other is gone
	if err := os.Remove(file("v10/runpod")); err != nil {
		t.Fatal(err)
	}
	commit("2026-05-04T00:00:00Z")

	c := testMain(t)
	out := importReport(t, c, dir, "--profile", "skypilot")
	if out.Files != 4 || out.Rejected != 0 || out.Rows != 6 || out.Duplicate != 2 || out.Changed != 1 || out.FirstSeen != 3 || out.Withdrawn != 1 {
		t.Errorf("%+v", out)
	}
	want := []string{
		"NVIDIA H100 80GB HBM3×1 first_seen <null> 2.99 2026-05-01T00:00:00Z",
		"gpu_1x_a6000 first_seen <null> 1.09 2026-05-01T00:00:00Z",
		"NVIDIA H100 80GB HBM3×1 price 2.99 3.29 2026-05-02T00:00:00Z",
		"gpu_1x_a6000 withdrawn 1.09 <null> 2026-05-04T00:00:00Z",
		"gpu_2x_a6000 first_seen <null> 1.09 2026-05-04T00:00:00Z",
	}
	got := rowsOf(t, c, "instance_type kind before after seen_at", "query", "changes")
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if again := importReport(t, c, dir, "--profile", "skypilot"); again.Accepted != 0 || again.Changed+again.FirstSeen+again.Withdrawn+again.Specs != 0 {
		t.Errorf("again: %+v", again)
	}
	c.must(t, "db", "check")

	folder := testMain(t)
	out = importReport(t, folder, dir, "--profile", "skypilot", "--at", "2026-05-05")
	if out.Files != 2 || out.First == nil || *out.First != "2026-05-05T00:00:00Z" || out.Accepted != 2 {
		t.Errorf("as a folder: %+v", out)
	}
	if code := folder.run(t, "import", filepath.Join(dir, "catalogs"), "--profile", "skypilot"); code != exitError || !strings.Contains(folder.err.String(), "--at") {
		t.Errorf("a folder without a moment: %d, %s", code, folder.err.String())
	}
	if code := folder.run(t, "import", dir, "--profile", "aws_spot_2020"); code != exitError || !strings.Contains(folder.err.String(), "folder") {
		t.Errorf("a folder for one file: %d, %s", code, folder.err.String())
	}
}

// writeZip writes an archive and returns its path.
func writeZip(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "catalog.zip")
	writeText(t, file, b.String())
	return file
}

func TestImportArchives(t *testing.T) {
	const head = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size\n"
	c := testMain(t)
	archive := map[string]string{
		"aws.csv":    head + "p5.48xlarge,us-east-1,55.04,192,2048.0,8,H100,80.0,False,\n",
		"runpod.csv": head + "NVIDIA H100 80GB HBM3,US-CA-1,3.29,20,125.0,1,H100,80.0,False,\n",
		"version":    "20260708-123\n",
	}
	out := importReport(t, c, writeZip(t, archive), "--profile", "gpuhunt")
	if out.Files != 2 || out.Accepted != 1 || out.LeftOutReasons["tier_not_said"] != 1 || *out.First != "2026-07-08T00:00:00Z" {
		t.Errorf("%+v", out)
	}
	if got := rowsOf(t, c, "instance_type price accelerator.slug vcpu", "query", "offers", "--all"); len(got) != 1 || got[0] != "p5.48xlarge 55.04 h100-sxm-80gb 192" {
		t.Errorf("%q", got)
	}
	delete(archive, "version")
	if code := c.run(t, "import", writeZip(t, archive), "--profile", "gpuhunt"); code != exitError || !strings.Contains(c.err.String(), "--at") {
		t.Errorf("without a version: %d, %s", code, c.err.String())
	}
	archive["version"] = "yesterday"
	if code := c.run(t, "import", writeZip(t, archive), "--profile", "gpuhunt"); code != exitError || !strings.Contains(c.err.String(), "version") {
		t.Errorf("a version that is none: %d, %s", code, c.err.String())
	}

	ecb := "Date,USD,CNY,\n2023-02-01,1.0894,7.3452,\n"
	out = importReport(t, c, writeZip(t, map[string]string{"eurofxref-hist.csv": ecb}), "--profile", "ecb_history")
	if out.Rates != 2 || out.Accepted != 2 {
		t.Errorf("rates: %+v", out)
	}
	if again := importReport(t, c, writeZip(t, map[string]string{"eurofxref-hist.csv": ecb}), "--profile", "ecb_history"); again.Duplicate != 2 || again.Accepted != 0 {
		t.Errorf("rates again: %+v", again)
	}
	for _, files := range []map[string]string{{"a.csv": ecb, "b.csv": ecb}, {}} {
		if code := c.run(t, "import", writeZip(t, files), "--profile", "ecb_history"); code != exitError {
			t.Errorf("%d files: exit code %d", len(files), code)
		}
	}
}

func TestImportPipe(t *testing.T) {
	c := testMain(t)
	c.Stdin = strings.NewReader(`{"SpotPriceHistory": [{"AvailabilityZone": "us-east-1b", "InstanceType": "p3.2xlarge",
		"ProductDescription": "Linux/UNIX", "SpotPrice": "1.003300", "Timestamp": "2020-01-31T21:49:57+00:00"}]}`)
	out := importReport(t, c, "-", "--profile", "aws_spot_history")
	if out.Accepted != 1 || out.File != "-" || *out.Kind != "events" {
		t.Errorf("%+v", out)
	}
	want := []string{`us-east-1b 1.0033 1.003300 ["account_zone","spec_unknown"]`}
	got := rowsOf(t, c, "zone price published.amount flags", "query", "offers", "--all", "--at", "2020-02-01")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	c.Stdin = nil
	if code := c.run(t, "import", "-", "--profile", "aws_spot_history"); code != exitError {
		t.Errorf("no standard input: exit code %d", code)
	}
}

func TestImportMapped(t *testing.T) {
	c := testMain(t)
	file := filepath.Join(t.TempDir(), "prices.csv")
	writeText(t, file, "day,type,usd,note\n2026-05-01,g1,1.5,a\n2026-05-02,g1,1.25,b\n")
	args := []string{file, "--map", "day=time", "--map", "usd=price", "--map", "type=instance_type", "--set", "provider=acme", "--set", "currency=USD", "--set", "market=on_demand"}
	if out := importReport(t, c, args...); out.Profile != "csv" || out.Accepted != 2 || out.Changed != 1 {
		t.Errorf("%+v", out)
	}
	if got := rowsOf(t, c, "provider market before after seen_at", "query", "changes", "--kind", "price"); len(got) != 1 || got[0] != "acme on_demand 1.5 1.25 2026-05-02T00:00:00Z" {
		t.Errorf("%q", got)
	}
	for _, bad := range [][]string{{"--map", "day"}, {"--map", "=time"}, {"--map", "day=when"}, {"--set", "colour=red", "--map", "usd=price"}, {"--map", "usd=price", "--map", "usd=time"}, {"--profile", "aws_spot_advisor", "--map", "a=time"}, {"--at", "noon", "--profile", "csv"}} {
		if code := c.run(t, append([]string{"import", file}, bad...)...); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", bad, code, c.err.String())
		}
	}
}

// TestCataloguesAreOneSeriesWithTheCrawl imports offers that the fixtures list
// from the files of others and expects the offers the crawl made.
func TestCataloguesAreOneSeriesWithTheCrawl(t *testing.T) {
	c := testMain(t)
	c.must(t, "crawl", "--fixtures", fixtureDir(t, "aws", "lambda", "runpod"), "--at", day1, "--archive", "off")
	before := rowsOf(t, c, "offer_id", "query", "offers", "--all")
	dir := filepath.Join(t.TempDir(), "catalogs", "v8")
	writeText(t, filepath.Join(dir, "runpod", "vms.csv"), skyRunPod("3.19"))
	writeText(t, filepath.Join(dir, "lambda", "vms.csv"), strings.ReplaceAll(skyLambda, "gpu_1x_a6000", "gpu_1x_a10"))
	writeText(t, filepath.Join(dir, "aws", "vms.csv"), "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch\n"+
		"p5.48xlarge,H100,8.0,192.0,2048.0,,98.32,,us-east-1,use1-az4,x86_64\n")
	if out := importReport(t, c, dir, "--profile", "skypilot", "--at", "2026-01-01"); out.Accepted != 3 || out.Duplicate != 1 || out.Rejected != 0 {
		t.Errorf("skypilot: %+v", out)
	}
	archive := map[string]string{
		"aws.csv": "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot\np5.48xlarge,us-east-1,98.32,192,2048.0,8,H100,80.0,False\n",
		"version": "20260102",
	}
	if out := importReport(t, c, writeZip(t, archive), "--profile", "gpuhunt"); out.Accepted != 1 {
		t.Errorf("gpuhunt: %+v", out)
	}
	if d := cmp.Diff(before, rowsOf(t, c, "offer_id", "query", "offers", "--all")); d != "" {
		t.Errorf("the imports made offers of their own (-crawled +imported):\n%s", d)
	}
	for _, typ := range []string{"p5.48xlarge", "gpu_1x_a10", "NVIDIA H100 80GB HBM3×1"} {
		changes := rowsOf(t, c, "seen_at", "query", "changes", "--kind", "first_seen", "--type", typ, "--market", "on_demand", "--to", "2026-01-02")
		if len(changes) != 1 || changes[0] != "2026-01-01T00:00:00Z" {
			t.Errorf("%s is first seen at %v, want the moment of the import", typ, changes)
		}
	}
	c.must(t, "db", "check")
}
