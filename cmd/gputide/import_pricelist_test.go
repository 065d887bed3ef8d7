package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pricelists is a folder of fixtures with archived price lists of us-east-1.
type pricelists struct {
	dir       string
	exchanges []exchange
	files     map[string][]byte
}

// archivedVersions are composed of published figures: p5.48xlarge stood at 98.32
// in the list 20250529210942 and at 55.04 in the list 20250703204906, p4d.24xlarge
// at 32.7726 and 21.957642.
func archivedVersions(t *testing.T) *pricelists {
	t.Helper()
	list := string(mustRead(t, filepath.Join("..", "..", "fixtures", "aws", "us-east-1.csv")))
	dated := func(version string, replace ...string) []byte {
		return []byte(strings.NewReplacer(append([]string{`"Version","20260910195514"`, `"Version","` + version + `"`}, replace...)...).Replace(list))
	}
	without := func(body []byte, typ string) []byte {
		var out []string
		for line := range strings.Lines(string(body)) {
			if !strings.Contains(line, `"`+typ+`"`) {
				out = append(out, line)
			}
		}
		return []byte(strings.Join(out, ""))
	}
	may := dated("20250529210942", `"55.0400000000"`, `"98.3200000000"`, `"21.9576420000"`, `"32.7726000000"`)
	p := &pricelists{dir: t.TempDir(), files: map[string][]byte{
		"offers.json": awsOfferIndex(awsRoot),
		"versions.json": asJSON(map[string]any{"versions": map[string]any{
			"20170302183221": archivedVersion("20170302183221", "2017-03-01T00:00:00Z", "2017-04-01T00:00:00Z"),
			"20250529210942": archivedVersion("20250529210942", "2025-05-01T00:00:00Z", "2025-06-01T00:00:00Z"),
			"20250703204906": archivedVersion("20250703204906", "2025-07-01T00:00:00Z", "2025-08-01T00:00:00Z"),
			"20250828212014": archivedVersion("20250828212014", "2025-08-01T00:00:00Z", ""),
		}}),
		"may.csv":  without(may, "trn1.32xlarge"),
		"july.csv": dated("20250703204906"), "august.csv": without(dated("20250828212014"), "g6.xlarge"),
		"old.csv": []byte(oldPricelist),
	}}
	p.add("offer-index", "GET", awsHost+awsRoot+"index.json", "offers.json")
	p.add("version-index", "GET", awsHost+awsRoot+"AmazonEC2/index.json", "versions.json")
	for version, file := range map[string]string{"20250529210942": "may.csv", "20250703204906": "july.csv", "20250828212014": "august.csv"} {
		p.add("bulk-csv", "HEAD", versionURL(version, "us-east-1/"), file)
		p.add("bulk-csv", "GET", versionURL(version, "us-east-1/"), file)
	}
	p.exchanges = append(p.exchanges, exchange{Source: "bulk-csv", Method: "HEAD", URL: versionURL("20170302183221", "us-east-1/"), Status: 404, File: "old.csv"})
	p.exchanges = append(p.exchanges, exchange{Source: "bulk-csv", Method: "HEAD", URL: versionURL("20170302183221", ""), File: "old.csv"})
	p.add("bulk-csv", "GET", versionURL("20170302183221", ""), "old.csv")
	p.write(t)
	return p
}

// oldPricelist is a list of all regions with columns as of 2017.
const oldPricelist = `"FormatVersion","v1.0"
"Disclaimer","None"
"Publication Date","2017-03-02T18:32:21Z"
"Version","20170302183221"
"OfferCode","AmazonEC2"
"SKU","OfferTermCode","RateCode","TermType","StartingRange","EndingRange","Unit","PricePerUnit","Currency","LeaseContractLength","PurchaseOption","OfferingClass","Product Family","Location","Instance Type","Instance Family","vCPU","Memory","Tenancy","Operating System","License Model","usageType","operation","GPU","Pre Installed S/W"
"G22X","JRTCKXETXF","G22X.JRTCKXETXF.6YS6EN2CT7","OnDemand","0","Inf","Hrs","0.6500000000","USD",,,,"Compute Instance","US East (N. Virginia)","g2.2xlarge","GPU instance","8","15 GiB","Shared","Linux","No License required","BoxUsage:g2.2xlarge","RunInstances","1","NA"
"G22W","JRTCKXETXF","G22W.JRTCKXETXF.6YS6EN2CT7","OnDemand","0","Inf","Hrs","0.6500000000","USD",,,,"Compute Instance","US West (Oregon)","g2.2xlarge","GPU instance","8","15 GiB","Shared","Linux","No License required","USW2-BoxUsage:g2.2xlarge","RunInstances","1","NA"
`

func versionURL(version, region string) string {
	return awsHost + awsRoot + "AmazonEC2/" + version + "/" + region + "index.csv"
}

func archivedVersion(version, begin, end string) map[string]any {
	return map[string]any{
		"versionEffectiveBeginDate": begin, "versionEffectiveEndDate": end,
		"offerVersionUrl": awsRoot + "AmazonEC2/" + version + "/index.json",
	}
}

func (p *pricelists) add(source, method, url, file string) {
	p.exchanges = append(p.exchanges, exchange{
		Source: source, Method: method, URL: url, File: file,
		Headers: map[string]string{"Content-Length": fmt.Sprint(len(p.files[file]))},
	})
}

func (p *pricelists) write(t *testing.T) {
	t.Helper()
	writeFixture(t, filepath.Join(p.dir, "aws"), "aws", "2025-09-01T00:00:00Z", fixture{exchanges: p.exchanges, files: p.files})
}

// pricelist runs the import and returns its report.
func (p *pricelists) run(t *testing.T, c *cli, code int, args ...string) pricelistOut {
	t.Helper()
	args = append([]string{"import", "aws-pricelist", "--region", "us-east-1", "--fixtures", p.dir, "-o", "json"}, args...)
	if got := c.run(t, args...); got != code {
		t.Fatalf("gputide %s: exit code %d, want %d: %s", strings.Join(args, " "), got, code, c.err.String())
	}
	validate(t, "import_aws_pricelist", c.out.String())
	var out pricelistOut
	if err := json.Unmarshal(c.out.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func states(out pricelistOut) string {
	var list []string
	for _, v := range out.Versions {
		list = append(list, v.Version+" "+v.State)
	}
	return strings.Join(list, ", ")
}

var months = []string{"--from", "2025-05-15", "--to", "2025-08-15", "--step", "1mo"}

func TestImportPricelists(t *testing.T) {
	c, p := testMain(t), archivedVersions(t)

	// The plan fetches nothing. In June no version of the index was in force.
	plan := p.run(t, c, exitUsage, months...)
	if want := "20250529210942 to_fetch, 20250703204906 to_fetch, 20250828212014 to_fetch"; states(plan) != want {
		t.Errorf("plan: %s, want %s", states(plan), want)
	}
	if want := int64(len(p.files["may.csv"]) + len(p.files["july.csv"]) + len(p.files["august.csv"])); plan.Bytes != want || plan.BytesUnknown != 0 {
		t.Errorf("%d bytes, want %d; %d unknown", plan.Bytes, want, plan.BytesUnknown)
	}
	if !strings.Contains(c.err.String(), "add --yes to fetch 3 versions") {
		t.Errorf("stderr %q", c.err.String())
	}
	path, err := c.dbPath()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the plan made a database")
	}

	out := p.run(t, c, exitOK, append(months, "--yes")...)
	may, july, august := out.Versions[0], out.Versions[1], out.Versions[2]
	if may.State != "imported" || may.FirstSeen != 8 || may.WithoutWithdrawals || july.Changed != 2 || july.FirstSeen != 1 || august.Withdrawn != 1 || august.Changed != 0 {
		t.Errorf("%+v\n%+v\n%+v", may, july, august)
	}

	// A later crawl of the same offers goes on with the same series.
	c.must(t, "crawl", "--fixtures", filepath.Join("..", "..", "fixtures"), "--provider", "aws", "--region", "us-east-1")
	changes := c.must(t, "query", "changes", "--provider", "aws", "--type", "p5.48xlarge", "--market", "on_demand", "-o", "ndjson")
	var kinds []string
	for line := range strings.Lines(changes) {
		var row answerRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, row.text("kind")+" "+row.text("before")+" "+row.text("after")+" "+row.text("seen_at")+" "+row.text("not_before"))
	}
	if want := "first_seen <null> 98.32 2025-05-29T21:09:42Z <null>, price 98.32 55.04 2025-07-03T20:49:06Z 2025-05-29T21:09:42Z"; strings.Join(kinds, ", ") != want {
		t.Errorf("changes of p5.48xlarge: %s, want %s", strings.Join(kinds, ", "), want)
	}

	// Again: nothing is fetched, with --yes or without.
	var kept []exchange
	for _, x := range p.exchanges {
		if x.Source != "bulk-csv" || x.Method == "HEAD" {
			kept = append(kept, x)
		}
	}
	p.exchanges = kept
	p.write(t)
	for _, more := range [][]string{nil, {"--yes"}} {
		if again := p.run(t, c, exitOK, append(months, more...)...); states(again) != "20250529210942 stored, 20250703204906 stored, 20250828212014 stored" || again.Bytes != 0 {
			t.Errorf("again: %s, %d bytes", states(again), again.Bytes)
		}
	}
}

// TestImportPricelistsResumes shows that a version that fails touches no other
// and that the next import fetches only it.
func TestImportPricelistsResumes(t *testing.T) {
	c, p := testMain(t), archivedVersions(t)
	whole := p.files["july.csv"]
	p.files["july.csv"] = whole[:len(whole)/2]
	p.write(t)
	out := p.run(t, c, exitError, append(months, "--yes")...)
	if want := "20250529210942 imported, 20250703204906 failed, 20250828212014 imported"; states(out) != want {
		t.Errorf("%s, want %s", states(out), want)
	}
	if !strings.Contains(c.err.String(), "version 20250703204906") {
		t.Errorf("stderr %q", c.err.String())
	}
	p.files["july.csv"] = whole
	p.write(t)
	out = p.run(t, c, exitOK, append(months, "--yes")...)
	if want := "20250529210942 stored, 20250703204906 imported, 20250828212014 stored"; states(out) != want {
		t.Errorf("%s, want %s", states(out), want)
	}
	prices := c.must(t, "query", "changes", "--type", "p4d.24xlarge", "--kind", "price", "-o", "csv")
	if !strings.Contains(prices, "2025-07-03T20:49:06Z") || strings.Count(prices, "\n") != 2 {
		t.Errorf("price changes of p4d.24xlarge:\n%s", prices)
	}
}

// TestImportPricelistsOfOldColumns shows that a version without a list of the
// region is taken from the list of all regions, whose length may not be known.
func TestImportPricelistsOfOldColumns(t *testing.T) {
	c, p := testMain(t), archivedVersions(t)
	args := []string{"--from", "2017-03-15", "--to", "2017-03-15"}
	if plan := p.run(t, c, exitUsage, args...); !plan.Versions[0].AllRegions || plan.Versions[0].Bytes != nil || plan.BytesUnknown != 1 {
		t.Errorf("%+v", plan)
	}
	if text := c.out.String(); c.run(t, "import", "aws-pricelist", "--region", "us-east-1", "--fixtures", p.dir, "--from", "2017-03-15", "--to", "2017-03-15") != exitUsage ||
		!strings.Contains(c.out.String(), "? bytes, of all regions") || !strings.Contains(c.out.String(), "1 of unknown length") {
		t.Errorf("plan for people: %s\n%s", c.out.String(), text)
	}
	out := p.run(t, c, exitOK, append(args, "--yes")...)
	if v := out.Versions[0]; v.Offers != 1 || v.FirstSeen != 1 || v.LeftOut != 1 || v.WithoutWithdrawals {
		t.Errorf("%+v", v)
	}
	if text := c.must(t, "query", "offers", "--at", "2017-03-10", "--all", "-o", "csv"); !strings.Contains(text, "g2.2xlarge") || !strings.Contains(text, ",0.65,") {
		t.Errorf("offers:\n%s", text)
	}
}

// TestImportPricelistWithBadRow shows that nothing is withdrawn by a list with a
// row that may be the one that is missing.
func TestImportPricelistWithBadRow(t *testing.T) {
	c, p := testMain(t), archivedVersions(t)
	p.files["august.csv"] = []byte(strings.Replace(string(p.files["august.csv"]), `"Shared"`, `"Sharde"`, 1)) // of the same length
	p.write(t)
	out := p.run(t, c, exitOK, append(months, "--yes")...)
	if v := out.Versions[2]; v.Withdrawn != 0 || !v.WithoutWithdrawals || v.Rejected["bad_row"] != 1 {
		t.Errorf("%+v", v)
	}
}

func TestImportPricelistUsage(t *testing.T) {
	c, p := testMain(t), archivedVersions(t)
	for args, want := range map[string]string{
		"--from 2025-01-01":  "needs --region",
		"--region us-east-1": "needs --from",
		"--region us-east-1 --from 2025-02-01 --to 2025-01-01":           "lies before",
		"--region us-east-1 --from 2025-01-01 --step 1h":                 "days, weeks, months or years",
		"--region us-east-1 --from 2025-01-01 --step 0d":                 "days, weeks, months or years",
		"--region us-east-1 --from 1900-01-01 --to 2026-01-01 --step 1d": "take a longer one",
	} {
		if code := c.run(t, append([]string{"import", "aws-pricelist", "--fixtures", p.dir}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: exit code %d, %q; want %q", args, code, c.err.String(), want)
		}
	}
	for args, want := range map[string]string{
		"--region aws-cn-other --from 2025-01-01":              "not found",
		"--region us-east-1 --from 2015-01-01 --to 2015-06-01": "no version was in force",
	} {
		if code := c.run(t, append([]string{"import", "aws-pricelist", "--fixtures", p.dir}, strings.Fields(args)...)...); code != exitError || !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: exit code %d, %q; want %q", args, code, c.err.String(), want)
		}
	}
}

func TestAddSteps(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		from string
		n    int
		unit string
		want string
	}{
		{"2025-01-31", 1, "mo", "2025-02-28"},
		{"2025-01-31", 2, "mo", "2025-03-31"},
		{"2024-01-31", 1, "mo", "2024-02-29"},
		{"2024-02-29", 1, "y", "2025-02-28"},
		{"2025-01-01", 14, "d", "2025-01-15"},
		{"2025-01-01", 2, "w", "2025-01-15"},
		{"2025-11-15", 3, "mo", "2026-02-15"},
	} {
		if got := addSteps(day(c.from), c.n, c.unit); !got.Equal(day(c.want)) {
			t.Errorf("%s + %d%s = %s, want %s", c.from, c.n, c.unit, got.Format(time.DateOnly), c.want)
		}
	}
}
