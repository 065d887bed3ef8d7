package aws_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/aws"
	"github.com/gputide/gputide/providers/aws/awstest"
	"github.com/gputide/gputide/providers/providertest"
)

const (
	bulk     = "https://pricing.us-east-1.amazonaws.com"
	bulkCN   = "https://pricing.cn-north-1.amazonaws.com.cn"
	advisor  = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"
	pageEast = "https://b0.p.awsstatic.com/pricing/2.0/meteredUnitMaps/ec2/USD/current/ec2-ondemand-without-sec-sel/US%20East%20(N.%20Virginia)/Linux/index.json"
)

// exchange is one answer of a fixture made by a test.
type exchange struct {
	Source       string            `json:"source"`
	Method       string            `json:"method,omitempty"`
	URL          string            `json:"url"`
	BodyContains string            `json:"body_contains,omitempty"`
	Status       int               `json:"status,omitempty"`
	Headers      map[string]string `json:"headers,omitempty"`
	File         string            `json:"file"`
	Times        int               `json:"times,omitempty"`
	body         string
}

func get(source, url, body string) exchange { return exchange{Source: source, URL: url, body: body} }

// ec2 answers DescribeInstanceTypes of a region; token is the one it must be
// asked with.
func ec2(region, token, body string) exchange {
	contains := "Action=DescribeInstanceTypes"
	if token != "" {
		contains = "NextToken=" + token
	}
	return exchange{Source: "instance-types", Method: "POST", URL: "https://ec2." + region + ".amazonaws.com/", BodyContains: contains, body: body}
}

// crawl reads a fixture of the given answers.
func crawl(t *testing.T, cfg aws.Config, answers ...exchange) (*providertest.Collector, error) {
	t.Helper()
	return providertest.Collect(t.Context(), onAnswers(t, cfg, answers...))
}

// onAnswers returns the provider on nothing but the given answers.
func onAnswers(t *testing.T, cfg aws.Config, answers ...exchange) *aws.Provider {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "aws"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		answers[i].File = fmt.Sprint("body-", i)
		if err := os.WriteFile(filepath.Join(dir, "aws", answers[i].File), []byte(answers[i].body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	manifest, err := json.Marshal(map[string]any{
		"provider": "aws", "kind": "composed", "captured_at": "2026-09-10T00:00:00Z", "note": "test", "exchanges": answers,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "aws", "manifest.json"), manifest, 0o644); err != nil {
		t.Fatal(err)
	}
	fixtures, err := fetch.OpenFixtures(dir)
	if err != nil {
		t.Fatal(err)
	}
	return aws.New(fetch.New(fetch.Options{Fixtures: fixtures}), cfg)
}

// payload reads a recording, or skips the test when there are none.
func payload(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	data, err := os.ReadFile(filepath.Join(dir, "payloads", "aws", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const offerIndex = `{"offers":{"AmazonEC2":{"offerCode":"AmazonEC2","versionIndexUrl":"/offers/v1.0/aws/AmazonEC2/index.json",` +
	`"currentRegionIndexUrl":"/offers/v1.0/aws/AmazonEC2/current/region_index.json"}}}`

// regionIndex lists regions at addresses without a version.
func regionIndex(regions ...string) string {
	var parts []string
	for _, r := range regions {
		parts = append(parts, fmt.Sprintf(`%q:{"regionCode":%q,"currentVersionUrl":"/offers/v1.0/aws/AmazonEC2/current/%s/index.json"}`, r, r, r))
	}
	return `{"regions":{` + strings.Join(parts, ",") + `}}`
}

func regionList(region, form string) string {
	return bulk + "/offers/v1.0/aws/AmazonEC2/current/" + region + "/index." + form
}

// indexes answers for the offer and region index.
func indexes(regions ...string) []exchange {
	return []exchange{
		get("offer-index", bulk+"/offers/v1.0/aws/index.json", offerIndex),
		get("region-index", bulk+"/offers/v1.0/aws/AmazonEC2/current/region_index.json", regionIndex(regions...)),
	}
}

// prices maps a short key of each live offer to its published amounts.
func prices(c *providertest.Collector) map[string]string {
	out := map[string]string{}
	for _, o := range c.Live() {
		k := o.Key
		var parts []string
		for _, p := range []string{k.Partition, k.Region, k.InstanceType, string(k.Market), k.Plan, string(k.Term), string(k.Payment), k.OS, k.License, k.Tenancy, string(k.Currency)} {
			if p != "" {
				parts = append(parts, p)
			}
		}
		out[strings.Join(parts, " ")] = strings.Trim(o.Price.Amount+" "+o.Price.Upfront, " ")
	}
	return out
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// TestVersionIndex reads the list of all regions of the version in force, found
// by the recorded indexes: the region index is not in the fixture. Savings plans
// are not read beside it, and the run says so.
func TestVersionIndex(t *testing.T) {
	got, err := crawl(t, aws.Config{},
		get("offer-index", bulk+"/offers/v1.0/aws/index.json", payload(t, "offers_index.excerpt.json")),
		get("version-index", bulk+"/offers/v1.0/aws/AmazonEC2/index.json", payload(t, "ec2_version_index.excerpt.json")),
		get("bulk-csv", bulk+"/offers/v1.0/aws/AmazonEC2/20250912225308/index.csv", payload(t, "bulk_offer.excerpt.2025-09-12.csv")),
	)
	if !errors.Is(err, gputide.ErrUnavailable) {
		t.Fatalf("%v, want that savings plans were not read", err)
	}
	same(t, "offers", map[string]string{
		"aws ap-northeast-1 c6i.large commitment ri_standard 3y partial windows sql_web dedicated USD": "0.1046300000 2750",
	}, prices(got))
	for _, s := range got.Scopes {
		if s.Scope.Part == "savings_plan" {
			continue
		}
		if s.Status != gputide.ScopeDone || s.Scope.Region != "ap-northeast-1" {
			t.Errorf("scope %s is %s", s.Scope, s.Status)
		}
	}
}

// TestOldList reads the list of 2017 by region.
func TestOldList(t *testing.T) {
	got, err := crawl(t, aws.Config{}, append(indexes("us-east-2"),
		get("bulk-csv", regionList("us-east-2", "csv"), payload(t, "bulk_offer.excerpt.2017-03-02.csv")))...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "offers", map[string]string{
		"aws us-east-2 m4.xlarge commitment ri_standard 1y none rhel dedicated USD": "0.2230000000",
	}, prices(got))
}

// TestJSONIsNext reads lists in JSON where the fixture has no CSV.
func TestJSONIsNext(t *testing.T) {
	got, err := crawl(t, aws.Config{}, append(indexes("us-east-1", "us-east-2"),
		get("bulk-json", regionList("us-east-1", "json"), payload(t, "bulk_offer_excerpt.us-east-1.p4d_capacityblock.2024-05.json")),
		get("bulk-json", regionList("us-east-2", "json"), payload(t, "bulk_offer_excerpt.us-east-2.2023-03.json")),
		get("offer-index-cn", bulkCN+"/offers/v1.0/cn/index.json", strings.ReplaceAll(offerIndex, "/aws/", "/cn/")),
		get("region-index-cn", bulkCN+"/offers/v1.0/cn/AmazonEC2/current/region_index.json", strings.ReplaceAll(regionIndex("cn-northwest-1"), "/aws/", "/cn/")),
		get("bulk-json-cn", bulkCN+"/offers/v1.0/cn/AmazonEC2/current/cn-northwest-1/index.json", payload(t, "bulk_offer_excerpt.cn-northwest-1.2023-03.json")))...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "offers", map[string]string{
		"aws us-east-1 p4d.24xlarge on_demand linux shared USD":      "32.7726000000",
		"aws us-east-2 p3.8xlarge on_demand windows byol shared USD": "12.2400000000",
	}, prices(got))
	for _, s := range got.Skips {
		if s.Key == nil || s.Key.InstanceType != "m5.large" || s.Reason != "bad_term" {
			t.Errorf("skip %+v", s)
		}
	}
	done := map[string]bool{}
	for _, s := range got.Scopes {
		done[s.Scope.Region] = s.Status == gputide.ScopeDone
	}
	same(t, "scopes", map[string]bool{"us-east-1": true, "us-east-2": true, "cn-northwest-1": true}, done)
}

func TestPageFeed(t *testing.T) {
	got, err := crawl(t, aws.Config{}, append(indexes("us-east-1"), get("page-feed", pageEast, payload(t, "pricing_page_ondemand_linux.us-east-1.json")))...)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for typ, price := range map[string]string{
		"p5.48xlarge": "55.0400000000", "p4d.24xlarge": "21.9576420000", "p6-b300.48xlarge": "142.4160000000",
		"p6-b200.48xlarge": "113.9328000000", "p5en.48xlarge": "63.2960000000", "p5.4xlarge": "6.8800000000",
		"p4de.24xlarge": "27.4470500000", "g6e.48xlarge": "30.1311800000", "g6e.12xlarge": "10.4926400000", "g6e.xlarge": "1.8610000000",
	} {
		want["aws us-east-1 "+typ+" on_demand linux shared USD"] = price
	}
	same(t, "offers", want, prices(got))
	for _, o := range got.Live() {
		if !o.Spec.Device.Count.Known() || o.Spec.VCPU == nil || len(o.SKU) != 16 {
			t.Errorf("%s: %+v, SKU %s", o.Key.InstanceType, o.Spec.Device, o.SKU)
		}
	}
}

func TestSpotAdvisor(t *testing.T) {
	got, err := crawl(t, aws.Config{}, get("spot-advisor", advisor, payload(t, "spot-advisor-data.json")))
	if err != nil {
		t.Fatal(err)
	}
	regions := map[string]bool{}
	values := map[string]int64{}
	for _, s := range got.Signals {
		regions[s.Key.Region] = true
		if s.Key.Region == "us-east-1" && s.Key.OS == "linux" {
			values[s.Key.InstanceType+" "+s.Name] = s.Value
		}
	}
	if len(regions) != 33 || len(got.Scopes) != 66 || len(got.Skips) != 0 {
		t.Errorf("%d regions, %d scopes, %d skips", len(regions), len(got.Scopes), len(got.Skips))
	}
	for key, want := range map[string]int64{
		"p4d.24xlarge savings": 67, "p4d.24xlarge interruption": 2, "p5.48xlarge savings": 52, "p5.48xlarge interruption": 4,
		"p5en.48xlarge savings": 64, "p5en.48xlarge interruption": 0,
	} {
		if v, ok := values[key]; !ok || v != want {
			t.Errorf("%s: %d, want %d", key, v, want)
		}
	}
}

// specs returns the specs of a source by type.
func specs(c *providertest.Collector, source string) map[string]gputide.Spec {
	out := map[string]gputide.Spec{}
	for _, s := range c.Specs {
		if s.Source == source {
			out[s.InstanceType] = s
		}
	}
	return out
}

// device is a short form of a device.
func device(s gputide.Spec) string {
	if !s.Device.Known() {
		return "none"
	}
	mib := int64(0)
	if s.Device.MemoryMiB != nil {
		mib = *s.Device.MemoryMiB
	}
	return fmt.Sprintf("%s × %s %s %d", s.Device.Count, s.Device.Name, s.Device.Kind, mib)
}

func TestInstanceTypesOfTheCLI(t *testing.T) {
	all, err := awstest.InstanceTypes([]byte(payload(t, "describe_instance_types.accelerated.json")))
	if err != nil {
		t.Fatal(err)
	}
	first, err := awstest.InstanceTypesXML(all[:40], "next")
	if err != nil {
		t.Fatal(err)
	}
	second, err := awstest.InstanceTypesXML(all[40:], "")
	if err != nil {
		t.Fatal(err)
	}
	one, err := awstest.InstanceTypesXML(all[:1], "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := crawl(t, aws.Config{},
		ec2("us-east-1", "next", string(second)), ec2("us-east-1", "", string(first)), ec2("us-east-2", "", string(one)), ec2("us-west-2", "", string(one)))
	if err != nil {
		t.Fatal(err)
	}
	got := specs(c, "instance-types")
	kinds := map[gputide.DeviceKind]int{}
	for _, s := range got {
		if s.Device.Known() {
			kinds[s.Device.Kind]++
		}
	}
	same(t, "kinds", map[gputide.DeviceKind]int{gputide.DeviceGPU: 57, gputide.DeviceASIC: 9, gputide.DeviceFPGA: 3, gputide.DeviceVideo: 3}, kinds)
	if len(got) != 75 || len(specs(c, "families")) != 0 {
		t.Errorf("%d types, %d of the table", len(got), len(specs(c, "families")))
	}
	want := map[string]string{
		"p5.48xlarge": "8 × H100 gpu 81920", "p6-b200.48xlarge": "8 × B200 gpu 183359", "p5en.48xlarge": "8 × H200 gpu 144384",
		"p4d.24xlarge": "8 × A100 gpu 40960", "p4de.24xlarge": "8 × A100 gpu 81920", "g6f.large": "1/8 × L4 gpu 2861",
		"g6f.2xlarge": "1/4 × L4 gpu 5722", "trn2.48xlarge": "16 × Trainium2 ai-asic 524288", "inf1.24xlarge": "16 × Inferentia ai-asic 8192",
		"dl2q.24xlarge": "8 × Qualcomm AI100 ai-asic 16000", "f2.48xlarge": "8 × Virtex UltraScale+ (VU47P) fpga 81920",
		"vt1.3xlarge": "1 × U30 video 24576", "m5.large": "none",
	}
	for typ, w := range want {
		if g := device(got[typ]); g != w {
			t.Errorf("%s: %s, want %s", typ, g, w)
		}
	}
	p5 := got["p5.48xlarge"]
	if *p5.VCPU != 192 || *p5.MemoryGiB != 2048 || *p5.NetworkGbps != 3200 || *p5.LocalDiskGB != 30400 || p5.LocalDiskKind != "nvme" ||
		p5.RDMAKind != "efa" || p5.CPUArch != "x86_64" || *p5.BareMetal || !*p5.OnDemand {
		t.Errorf("p5.48xlarge %+v", p5)
	}
}

func TestInstanceTypesOfTheWire(t *testing.T) {
	text := payload(t, "ec2_wire.DescribeInstanceTypes.xml")
	empty, err := awstest.InstanceTypesXML(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	end := strings.Replace(text, "<nextToken>AAAA-next-page-token</nextToken>", "<nextToken/>", 1)
	c, err := crawl(t, aws.Config{}, ec2("us-east-1", "AAAA-next-page-token", string(empty)), ec2("us-east-1", "", text), ec2("us-east-2", "", end), ec2("us-west-2", "", end))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for typ, s := range specs(c, "instance-types") {
		got[typ] = device(s)
	}
	same(t, "types", map[string]string{
		"p5.48xlarge": "8 × H100 gpu 81920", "p4de.24xlarge": "8 × A100 gpu 81920", "g5.2xlarge": "1 × A10G gpu 22888",
		"g6f.large": "1/8 × L4 gpu 2861", "p6-b200.48xlarge": "8 × B200 gpu 183359", "trn2.48xlarge": "16 × Trainium2 ai-asic 524288",
		"inf1.24xlarge": "16 × Inferentia ai-asic 8192", "dl2q.24xlarge": "8 × Qualcomm AI100 ai-asic 16000",
		"f2.48xlarge": "8 × Virtex UltraScale+ (VU47P) fpga 81920", "m5.large": "none",
	}, got)

	c, err = crawl(t, aws.Config{}, ec2("us-east-1", "", text), ec2("us-east-2", "", end), ec2("us-west-2", "", end))
	if !errors.Is(err, gputide.ErrSchemaDrift) || len(specs(c, "instance-types")) != 10 {
		t.Errorf("repeated page token: %v", err)
	}
}
