package normalize

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/gputide/gputide"
)

func testRegions(t testing.TB) *Regions {
	t.Helper()
	r, err := LoadRegions()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLookup(t *testing.T) {
	r := testRegions(t)
	for _, tc := range []struct {
		provider, partition, region string
		want                        gputide.Place
	}{
		{"aws", "aws", "us-east-1", gputide.Place{Country: "us", Continent: "north-america", NameEN: "United States", NameZH: "美国", CountryEN: "United States", CountryZH: "美国"}},
		{"aws", "aws", "eu-central-1", gputide.Place{Country: "de", City: "Frankfurt", Continent: "europe", NameEN: "Frankfurt, Germany", NameZH: "德国法兰克福", CountryEN: "Germany", CountryZH: "德国"}},
		{"aws", "aws-cn", "cn-north-1", gputide.Place{Country: "cn", City: "Beijing", Continent: "asia", MainlandCN: true, NameEN: "Beijing, China", NameZH: "中国北京", CountryEN: "China", CountryZH: "中国"}},
		{"aws", "", "us-east-1-bue-1", gputide.Place{Country: "ar", City: "Buenos Aires", Continent: "south-america", NameEN: "Buenos Aires, Argentina", NameZH: "阿根廷布宜诺斯艾利斯", CountryEN: "Argentina", CountryZH: "阿根廷"}},
		{"alibaba", "intl", "cn-hongkong", gputide.Place{Country: "hk", City: "Hong Kong", Continent: "asia", NameEN: "Hong Kong", NameZH: "中国香港", CountryEN: "Hong Kong", CountryZH: "中国香港"}},
		{"alibaba", "cn", "ap-southeast-1", gputide.Place{Country: "sg", City: "Singapore", Continent: "asia", NameEN: "Singapore", NameZH: "新加坡", CountryEN: "Singapore", CountryZH: "新加坡"}},
		{"huawei", "", "ap-southeast-1", gputide.Place{Country: "hk", City: "Hong Kong", Continent: "asia", NameEN: "Hong Kong", NameZH: "中国香港", CountryEN: "Hong Kong", CountryZH: "中国香港"}},
		{"azure", "", "norwayeast", gputide.Place{Country: "no", Continent: "europe", NameEN: "Norway", NameZH: "挪威", CountryEN: "Norway", CountryZH: "挪威"}},
		{"runpod", "", "EUR-IS-1", gputide.Place{Country: "is", Continent: "europe", NameEN: "Iceland", NameZH: "冰岛", CountryEN: "Iceland", CountryZH: "冰岛"}},
	} {
		got, ok := r.Lookup(tc.provider, tc.partition, tc.region)
		if diff := cmp.Diff(tc.want, got); !ok || diff != "" {
			t.Errorf("%s %s: %v (-want +got)\n%s", tc.provider, tc.region, ok, diff)
		}
	}
	for _, code := range []string{"", "us", "eu-central-9", "US-EAST-1", "us-east-1-xyz-1"} {
		if p, ok := r.Lookup("aws", "aws", code); ok {
			t.Errorf("aws %q is %+v, want unknown", code, p)
		}
	}
	if p, ok := r.Lookup("nobody", "", "us-east-1"); ok {
		t.Errorf("unknown provider: %+v", p)
	}
}

// TestPlacesHaveBothNames holds that a place can be shown and asked for in
// English and in Chinese.
func TestPlacesHaveBothNames(t *testing.T) {
	r := testRegions(t)
	han := func(s string) bool {
		return strings.ContainsFunc(s, func(c rune) bool { return unicode.Is(unicode.Han, c) })
	}
	for key, p := range r.places {
		if p.NameEN == "" || han(p.NameEN) || !han(p.NameZH) || p.CountryEN == "" || !han(p.CountryZH) || !strings.HasPrefix(p.NameZH, p.CountryZH) {
			t.Errorf("%s: %+v", key, p)
		}
	}
	for _, region := range [][2]string{
		{"alibaba", "cn-guangzhou"}, {"tencent", "ap-guangzhou"}, {"huawei", "cn-south-1"}, {"volcengine", "cn-guangzhou"},
	} {
		if p, ok := r.Lookup(region[0], "", region[1]); !ok || p.NameZH != "中国广州" || p.City != "Guangzhou" {
			t.Errorf("%s: %+v", region, p)
		}
	}
}

func TestLookupByCountry(t *testing.T) {
	r := testRegions(t)
	for code, want := range map[string]string{
		"US": "us", "us": "us", "DE": "de", "US-TX-3": "us", "US-IL-1": "us", "US-CA-2": "us", "CA-MTL-2": "ca",
		"EU-RO-1": "ro", "EU-NL-1": "nl", "AP-IN-1": "in", "OC-AU-1": "au", "SEA-SG-1": "sg", "SA-BR-1": "br",
		"EU": "", "XX-1": "", "-": "", "EU-": "",
	} {
		if p, ok := r.Lookup("runpod", "", code); p.Country != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", code, p.Country, want)
		}
	}
}

// TestRegionsSeen looks up every region that stored answers name.
func TestRegionsSeen(t *testing.T) {
	r := testRegions(t)
	b, err := os.ReadFile(sharedFile(t, "payloads/aws/spot-advisor-data.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Advisor map[string]any `json:"spot_advisor"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Advisor) != 33 {
		t.Errorf("%d regions, want 33", len(doc.Advisor))
	}
	for code := range doc.Advisor {
		if _, ok := r.Lookup("aws", "aws", code); !ok {
			t.Errorf("aws %s is unknown", code)
		}
	}
	b, err = os.ReadFile(sharedFile(t, "payloads/azure/list_locations.json"))
	if err != nil {
		t.Fatal(err)
	}
	var locations []struct {
		Name     string
		Metadata struct{ RegionType string }
	}
	if err := json.Unmarshal(b, &locations); err != nil {
		t.Fatal(err)
	}
	physical := 0
	for _, l := range locations {
		_, ok := r.Lookup("azure", "", l.Name)
		if l.Metadata.RegionType == "Physical" {
			physical++
			if !ok {
				t.Errorf("azure %s is unknown", l.Name)
			}
		} else if ok && !strings.HasSuffix(l.Name, "euap") {
			t.Errorf("azure %s is no place", l.Name)
		}
	}
	if physical < 50 {
		t.Errorf("%d physical locations", physical)
	}
}

func TestLoadRegionsRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"empty":              "",
		"unknown line":       "v\nplanet\tmars\n",
		"a field too few":    "v\ncountry\tde\teurope\tGermany\n",
		"a field too many":   "v\ncountry\tde\teurope\tGermany\t德国\t1\n",
		"city in no country": "v\ncity\tx\tzz\tX\tX\n",
		"city in a city":     "v\ncountry\tde\teurope\tGermany\t德国\ncity\tx\tde\tX\tX\ncity\ty\tx\tY\tY\n",
		"region in no place": "v\nregion\tp\tr\tnowhere\n",
	} {
		if _, err := loadRegions(data); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
