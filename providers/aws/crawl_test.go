package aws_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws"
	"github.com/gputide/gputide/providers/providertest"
)

// fixtureBody reads a body of the provider's fixture.
func fixtureBody(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "aws", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// status returns the outcome of each price scope; of one reported twice the
// report that is done counts.
func status(c *providertest.Collector) map[string]string {
	out := map[string]string{}
	for _, s := range c.Scopes {
		if name := s.Scope.String(); s.Scope.Signal == "" && !strings.HasPrefix(out[name], "done") {
			out[name] = string(s.Status)
			if s.Status == gputide.ScopeDone {
				out[name] += " " + s.Source
			}
		}
	}
	return out
}

func TestOneRegionFails(t *testing.T) {
	csv := fixtureBody(t, "us-east-1.csv")
	west := get("bulk-csv", regionList("us-west-1", "csv"), csv[:len(csv)/2])
	got, err := crawl(t, aws.Config{}, append(indexes("us-east-1", "us-west-1"), get("bulk-csv", regionList("us-east-1", "csv"), csv), west)...)
	partial, ok := errors.AsType[*gputide.PartialError](err)
	if !ok || partial.Done != 1 || !errors.Is(err, gputide.ErrSchemaDrift) {
		t.Errorf("error %v", err)
	}
	same(t, "scopes", map[string]string{
		"partition=aws region=us-east-1 market=on_demand":  "done bulk-csv",
		"partition=aws region=us-east-1 market=commitment": "done bulk-csv",
		"partition=aws region=us-west-1 market=on_demand":  "failed",
		"partition=aws region=us-west-1 market=commitment": "failed",
	}, status(got))
}

// TestNextSourceFeeds shows that the forms of a list stand in for each other,
// and the page feed for the on-demand scope of both.
func TestNextSourceFeeds(t *testing.T) {
	dead := func(source, form string) exchange {
		e := get(source, regionList("us-east-1", form), "gone")
		e.Status = 404
		return e
	}
	fromJSON, err := crawl(t, aws.Config{}, append(indexes("us-east-1"), dead("bulk-csv", "csv"),
		get("bulk-json", regionList("us-east-1", "json"), fixtureBody(t, "us-east-1.json")))...)
	if err != nil {
		t.Fatal(err)
	}
	fromCSV, err := crawl(t, aws.Config{}, append(indexes("us-east-1"), get("bulk-csv", regionList("us-east-1", "csv"), fixtureBody(t, "us-east-1.csv")))...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "offers of the two forms", prices(fromCSV), prices(fromJSON))
	same(t, "scopes", map[string]string{
		"partition=aws region=us-east-1 market=on_demand":  "done bulk-json",
		"partition=aws region=us-east-1 market=commitment": "done bulk-json",
	}, status(fromJSON))

	fromPage, err := crawl(t, aws.Config{}, append(indexes("us-east-1"), dead("bulk-csv", "csv"), dead("bulk-json", "json"),
		get("page-feed", pageEast, fixtureBody(t, "page-us-east-1.json")))...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "scopes", map[string]string{
		"partition=aws region=us-east-1 market=on_demand":  "done page-feed",
		"partition=aws region=us-east-1 market=commitment": "failed",
	}, status(fromPage))
	const p5 = "aws us-east-1 p5.48xlarge on_demand linux shared USD"
	if a, b := prices(fromCSV)[p5], prices(fromPage)[p5]; a != b || a == "" {
		t.Errorf("p5.48xlarge %q in the list and %q on the page", a, b)
	}
}

// TestListWithoutPrice does not take a list in which no row can be used, for
// example one in another currency, for an answer.
func TestListWithoutPrice(t *testing.T) {
	csv, json := fixtureBody(t, "us-east-1.csv"), fixtureBody(t, "us-east-1.json")
	for name, r := range map[string]*strings.Replacer{
		"other currency": strings.NewReplacer(`"USD"`, `"EUR"`),
		"other region":   strings.NewReplacer(`"us-east-1"`, `"us-west-2"`, `"US East (N. Virginia)"`, `"US West (Oregon)"`),
	} {
		inCSV := get("bulk-csv", regionList("us-east-1", "csv"), r.Replace(csv))
		got, err := crawl(t, aws.Config{}, append(indexes("us-east-1"), inCSV, get("bulk-json", regionList("us-east-1", "json"), json))...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name+" in one form", map[string]string{
			"partition=aws region=us-east-1 market=on_demand":  "done bulk-json",
			"partition=aws region=us-east-1 market=commitment": "done bulk-json",
		}, status(got))
		got, err = crawl(t, aws.Config{}, append(indexes("us-east-1"), inCSV, get("bulk-json", regionList("us-east-1", "json"), r.Replace(json)))...)
		if !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name+" in both forms", map[string]string{
			"partition=aws region=us-east-1 market=on_demand":  "failed",
			"partition=aws region=us-east-1 market=commitment": "failed",
		}, status(got))
	}
}

func TestVersionMismatchIsDrift(t *testing.T) {
	index := strings.ReplaceAll(regionIndex("us-east-1"), "/current/us-east-1/", "/20250912225308/us-east-1/")
	_, err := crawl(t, aws.Config{},
		get("offer-index", bulk+"/offers/v1.0/aws/index.json", offerIndex),
		get("region-index", bulk+"/offers/v1.0/aws/AmazonEC2/current/region_index.json", index),
		get("bulk-csv", bulk+"/offers/v1.0/aws/AmazonEC2/20250912225308/us-east-1/index.csv", fixtureBody(t, "us-east-1.csv")),
	)
	if d, ok := errors.AsType[*gputide.DriftError](err); !ok || d.Path != "version" || d.Got != "20260910195514" {
		t.Errorf("error %v", err)
	}
}

func TestIndexFaults(t *testing.T) {
	versions := func(text string) []exchange {
		return []exchange{
			get("offer-index", bulk+"/offers/v1.0/aws/index.json", offerIndex),
			get("version-index", bulk+"/offers/v1.0/aws/AmazonEC2/index.json", text),
		}
	}
	const v = `"20250828212014":{"versionEffectiveBeginDate":"2025-08-01T00:00:00Z","versionEffectiveEndDate":"","offerVersionUrl":"/offers/v1.0/aws/AmazonEC2/20250828212014/index.json"}`
	for name, answers := range map[string][]exchange{
		"no EC2":            {get("offer-index", bulk+"/offers/v1.0/aws/index.json", `{"offers":{}}`)},
		"other host":        {get("offer-index", bulk+"/offers/v1.0/aws/index.json", strings.ReplaceAll(offerIndex, `"/offers`, `"//evil.example/offers`)), get("region-index", bulk+"/x", "{}")},
		"code differs":      {indexes()[0], get("region-index", bulk+"/offers/v1.0/aws/AmazonEC2/current/region_index.json", strings.Replace(regionIndex("us-east-1"), `"regionCode":"us-east-1"`, `"regionCode":"us-east-2"`, 1))},
		"no list":           {indexes()[0], get("region-index", bulk+"/offers/v1.0/aws/AmazonEC2/current/region_index.json", `{"regions":{"us-east-1":{"regionCode":"us-east-1"}}}`)},
		"two in force":      versions(`{"versions":{` + v + `,` + strings.ReplaceAll(v, "20250828212014", "20250912225308") + `}}`),
		"none in force":     versions(`{"versions":{}}`),
		"end renamed":       versions(`{"versions":{` + strings.Replace(v, "versionEffectiveEndDate", "end", 1) + `}}`),
		"other version":     versions(`{"versions":{` + strings.Replace(v, "/20250828212014/", "/20250912225308/", 1) + `}}`),
		"version no number": versions(`{"versions":{` + strings.Replace(v, `"20250828212014"`, `"current"`, 1) + `}}`),
	} {
		got, err := crawl(t, aws.Config{}, answers...)
		if !errors.Is(err, gputide.ErrSchemaDrift) || len(got.Offers) != 0 {
			t.Errorf("%s: %v", name, err)
		}
		for scope, s := range status(got) {
			if !strings.HasPrefix(s, "failed") {
				t.Errorf("%s: %s is %s", name, scope, s)
			}
		}
		if len(got.Scopes) != 4 { // two markets of two partitions
			t.Errorf("%s: %d scopes", name, len(got.Scopes))
		}
	}
}

func TestRegionsOfTheConfig(t *testing.T) {
	csv := fixtureBody(t, "us-east-1.csv")
	got, err := crawl(t, aws.Config{Regions: []string{"us-east-1"}}, append(indexes("us-east-1", "us-west-1"),
		get("bulk-csv", regionList("us-east-1", "csv"), csv))...)
	if err != nil || len(status(got)) != 2 {
		t.Errorf("%v, %v", err, status(got))
	}
}

// TestGovCloud shows that GovCloud regions are their own partition.
func TestGovCloud(t *testing.T) {
	csv := strings.NewReplacer(`"us-east-1"`, `"us-gov-west-1"`, `"US East (N. Virginia)"`, `"AWS GovCloud (US-West)"`).Replace(fixtureBody(t, "us-east-1.csv"))
	got, err := crawl(t, aws.Config{}, append(indexes("us-gov-west-1"), get("bulk-csv", regionList("us-gov-west-1", "csv"), csv))...)
	if err != nil {
		t.Fatal(err)
	}
	if prices(got)["aws-us-gov us-gov-west-1 p5.48xlarge on_demand linux shared USD"] == "" {
		t.Errorf("offers %v", prices(got))
	}
}

// TestWithoutKey shows that the table stands in for EC2 and says why.
func TestWithoutKey(t *testing.T) {
	got, err := crawl(t, aws.Config{}, indexes()...)
	if !errors.Is(err, gputide.ErrEmpty) { // the region index is empty
		t.Errorf("error %v", err)
	}
	table := specs(got, "families")
	for typ, want := range map[string]string{
		"p5e.48xlarge": "8 × H200 gpu 144384", "g6f.large": "1/8 × L4 gpu 2861", "inf2.48xlarge": "12 × Inferentia2 ai-asic 0",
		"dl1.24xlarge": "8 × Gaudi HL-205 ai-asic 32768", "p3.2xlarge": "1 × V100 gpu 16384",
	} {
		if g := device(table[typ]); g != want {
			t.Errorf("%s: %s, want %s", typ, g, want)
		}
	}
}

func TestPageFeedFaults(t *testing.T) {
	page := fixtureBody(t, "page-us-east-1.json")
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"cut":           {page[:len(page)/2], gputide.ErrSchemaDrift},
		"HTML":          {"<html></html>", gputide.ErrSchemaDrift},
		"empty":         {`{"regions":{"US East (N. Virginia)":{}}}`, gputide.ErrEmpty},
		"other region":  {`{"regions":{"US East (Ohio)":{}}}`, gputide.ErrSchemaDrift},
		"renamed":       {strings.ReplaceAll(page, `"Instance Type"`, `"Type"`), gputide.ErrSchemaDrift},
		"other system":  {strings.ReplaceAll(page, `"Operating System": "Linux"`, `"Operating System": "Windows"`), gputide.ErrSchemaDrift},
		"not a rate":    {strings.ReplaceAll(page, `.JRTCKXETXF.`, `-`), gputide.ErrSchemaDrift},
		"price swapped": {strings.NewReplacer(`"price"`, `"vCPU"`, `"vCPU"`, `"Storage"`).Replace(page), gputide.ErrSchemaDrift},
	} {
		got, err := crawl(t, aws.Config{}, append(indexes("us-east-1"), get("page-feed", pageEast, c.text))...)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if len(got.Live()) != 0 {
			t.Errorf("%s: %d live offers", name, len(got.Live()))
		}
	}
	one := strings.Replace(page, `"price": "55.0400000000"`, `"price": "0.0000000000"`, 1)
	got, err := crawl(t, aws.Config{}, append(indexes("us-east-1"), get("page-feed", pageEast, one))...)
	if err != nil || len(got.Skips) != 1 || got.Skips[0].Reason != "no_price" || got.Skips[0].Key.InstanceType != "p5.48xlarge" {
		t.Errorf("%v, skips %+v", err, got.Skips)
	}
}

func TestSpotAdvisorFaults(t *testing.T) {
	text := fixtureBody(t, "spot-advisor.json")
	for name, bad := range map[string]string{
		"unknown band": strings.Replace(text, `"5-10%"`, `"5-12%"`, 1), "no ranges": strings.Replace(text, `"ranges"`, `"bands"`, 1),
		"no regions": strings.Replace(text, `"spot_advisor"`, `"advisor"`, 1), "cut": text[:len(text)/2],
		"text for a number": strings.Replace(text, `"s": 67`, `"s": "67"`, 1),
	} {
		got, err := crawl(t, aws.Config{}, get("spot-advisor", advisor, bad))
		if !errors.Is(err, gputide.ErrSchemaDrift) || len(got.Signals) != 0 {
			t.Errorf("%s: %v, %d signals", name, err, len(got.Signals))
		}
	}
	got, err := crawl(t, aws.Config{}, get("spot-advisor", advisor, strings.Replace(text, `"s": 67`, `"saving": 67`, 1)))
	if err != nil || len(got.Skips) != 1 || len(got.Signals) != 13 {
		t.Errorf("one row without savings: %v, %d skips, %d signals", err, len(got.Skips), len(got.Signals))
	}
}
