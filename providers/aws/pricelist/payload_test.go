package pricelist

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (r result) ok(t *testing.T) result {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r
}

func TestJSONLists2026(t *testing.T) {
	linux := func(region string, prices ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(prices); i += 2 {
			out[region+" "+prices[i]+" on_demand linux shared"] = prices[i+1] + "/"
		}
		return out
	}
	common := []string{
		"t3.micro", "0.0104000000", "m5.xlarge", "0.1920000000", "g4dn.xlarge", "0.5260000000", "g5.2xlarge", "1.2120000000",
		"g6.xlarge", "0.8048000000", "inf2.xlarge", "0.7582000000", "p5.48xlarge", "55.0400000000", "trn1.32xlarge", "21.5000000000",
	}
	east := readJSON(payload(t, "bulk_offer_excerpt.us-east-1.2026-09-10.json"), commercial("us-east-1")).ok(t)
	want := linux("us-east-1", append(common, "p4d.24xlarge", "21.9576420000")...)
	want["us-east-1 m5.xlarge on_demand windows shared"] = "0.3760000000/"
	want["us-east-1 m5.xlarge on_demand windows byol shared"] = "0.1920000000/"
	want["us-east-1 m5.xlarge on_demand linux sql_std shared"] = "0.6720000000/"
	want["us-east-1 m5.xlarge on_demand linux dedicated"] = "0.2040000000/"
	diff(t, "us-east-1", want, east.offers)
	diff(t, "us-east-1 skips", map[string]string{}, east.skips)
	diff(t, "us-east-1 omitted", map[string]int64{
		OmitCapacityBlock: 1, OmitInfrastructure: 1, OmitUnused: 1, OmitNoType: 1,
	}, east.report.Omitted)

	west := readJSON(payload(t, "bulk_offer_excerpt.us-west-2.2026-09-10.json"), commercial("us-west-2")).ok(t)
	diff(t, "us-west-2", linux("us-west-2", append(common, "p4d.24xlarge", "21.9576400000")...), west.offers)

	ireland := readJSON(payload(t, "bulk_offer_excerpt.eu-west-1.2026-09-10.json"), commercial("eu-west-1")).ok(t)
	diff(t, "eu-west-1", linux("eu-west-1", "t3.micro", "0.0114000000", "m5.xlarge", "0.2140000000", "p4d.24xlarge", "23.7156900000",
		"g4dn.xlarge", "0.5870000000", "g5.2xlarge", "1.3529600000", "inf2.xlarge", "0.9477500000"), ireland.offers)
}

func TestJSONListsBefore2026(t *testing.T) {
	p4d := readJSON(payload(t, "bulk_offer_excerpt.us-east-1.p4d_capacityblock.2024-05.json"), commercial("us-east-1")).ok(t)
	diff(t, "p4d", map[string]string{"us-east-1 p4d.24xlarge on_demand linux shared": "32.7726000000/"}, p4d.offers)
	diff(t, "p4d twin", map[string]int64{OmitCapacityBlock: 1}, p4d.report.Omitted)

	ohio := readJSON(payload(t, "bulk_offer_excerpt.us-east-2.2023-03.json"), commercial("us-east-2")).ok(t)
	diff(t, "us-east-2", map[string]string{"us-east-2 p3.8xlarge on_demand windows byol shared": "12.2400000000/"}, ohio.offers)
	diff(t, "misfiled term", map[string]string{"8D49XP354UEYTHGM": SkipContradictory}, ohio.skips)
	diff(t, "EBS", map[string]int64{OmitFamily: 1}, ohio.report.Omitted)
	if gpu := ohio.rows[len(ohio.rows)-1].Type; ohio.rows[0].Type.GPU != "4" && gpu.GPU != "4" {
		t.Error("p3.8xlarge has not 4 GPUs")
	}

	china := readJSON(payload(t, "bulk_offer_excerpt.cn-northwest-1.2023-03.json"),
		Options{Source: "bulk", Partition: "aws-cn", Currency: "CNY", Region: "cn-northwest-1"}).ok(t)
	diff(t, "China", map[string]string{}, china.offers)
	diff(t, "China EBS", map[string]int64{OmitFamily: 1}, china.report.Omitted)
}

func TestCSVLists(t *testing.T) {
	tokyo := readCSV(payload(t, "bulk_offer.excerpt.2025-09-12.csv"), commercial("ap-northeast-1")).ok(t)
	diff(t, "2025", map[string]string{
		"ap-northeast-1 c6i.large commitment ri_standard 3y partial windows sql_web dedicated": "0.1046300000/2750",
	}, tokyo.offers)
	if tokyo.report.Rows != 2 || tokyo.report.Version != "20250912225308" || tokyo.report.Published != "2025-09-12T22:53:08Z" {
		t.Errorf("report %+v", tokyo.report)
	}
	old := readCSV(payload(t, "bulk_offer.excerpt.2017-03-02.csv"), commercial("us-east-2")).ok(t)
	diff(t, "2017", map[string]string{
		"us-east-2 m4.xlarge commitment ri_standard 1y none rhel dedicated": "0.2230000000/",
	}, old.offers)
}

// TestReservedJSON wraps the one element of the Query API's answer that has
// reserved terms into the form of a list: the terms move below their SKU, the
// list's own fields are added, and the attributes that lists of 2023 have are
// not there because its version is of 2021.
func TestReservedJSON(t *testing.T) {
	var in struct {
		Product struct {
			SKU string `json:"sku"`
		}
		Terms map[string]map[string]json.RawMessage
	}
	text := payload(t, "selector_getproducts.m5_large.json")
	var raw struct {
		Product json.RawMessage `json:"product"`
	}
	for _, into := range []any{&in, &raw} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	terms := map[string]map[string]map[string]json.RawMessage{}
	for kind, byCode := range in.Terms {
		terms[kind] = map[string]map[string]json.RawMessage{in.Product.SKU: byCode}
	}
	wrapped, err := json.Marshal(terms)
	if err != nil {
		t.Fatal(err)
	}
	list := `{"formatVersion":"v1.0","offerCode":"AmazonEC2","version":"20210209000000","products":{"` + in.Product.SKU + `":` +
		string(raw.Product) + `},"terms":` + string(wrapped) + `}`
	got := readJSON(list, commercial("us-east-1")).ok(t)
	if len(got.offers) != 13 || len(got.skips) != 0 {
		t.Fatalf("%d offers, skips %v", len(got.offers), got.skips)
	}
	for key, want := range map[string]string{
		"on_demand linux shared":                         "0.0960000000/",
		"commitment ri_standard 1y none linux shared":    "0.0600000000/",
		"commitment ri_standard 3y partial linux shared": "0.0190000000/505",
	} {
		if g := got.offers["us-east-1 m5.large "+key]; g != want {
			t.Errorf("%s: %s, want %s", key, g, want)
		}
	}
	for key, price := range got.offers {
		if strings.Contains(key, " all ") && !strings.HasPrefix(price, "/") {
			t.Errorf("%s: %s has an hourly part", key, price)
		}
	}
}
