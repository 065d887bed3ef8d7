package importcsv

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// pricePage is the head of Tencent's download and some rows, with its byte order
// mark and line ends.
const pricePage = "\ufeff地域,可用区,系统,机型,规格,CPU(核),内存(G),按量T1(元/小时),按量T2(元/小时),按量T3(元/小时),标准月价(元),包月(元),包年(元),3年(元),5年(元)\r\n" +
	"广州,广州四区,LINUX,GPU计算型GN7,GN7.LARGE20,4,20,3.39,1.69,1.15,975,975,9711,17550,29250\r\n" +
	"广州,广州九区,WINDOWS,GPU渲染型GI1,GI1.10XLARGE160,40,160,26.5,26.5,26.5,1,,,,\r\n" +
	"火星,火星一区,LINUX,GPU计算型GN7,GN7.LARGE20,4,20,3.39,,,,,,,\r\n" +
	"广州,广州六区,LINUX,标准型S5,S5.SMALL4,1,4,0.22,0.22,0.22,124.2,108.05,1028.38,1833.19,2012.04\r\n" +
	"广州,广州三区,LINUX,FPGA加速型FX4,FX4.2XLARGE88,10,88,18.14,9.07,6.17,5225,5225,52041,94050,156750\r\n"

// TestPricePage reads Tencent's download: a price for every column, zones by
// name, cards by class and type.
func TestPricePage(t *testing.T) {
	at := time.Date(2022, 5, 20, 0, 0, 0, 0, time.UTC)
	r, err := New(strings.NewReader(pricePage), load(t, "tencent_price_page"), Options{Normalizer: normalizer(t), Now: now, At: at})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for row, err := range r.Prices(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		k, p, d := &row.Offer.Key, &row.Offer.Published, &row.Spec.Device
		if k.Provider != "tencent" || k.Partition != "cn" || k.Region != "ap-guangzhou" || k.Currency != "CNY" || !row.At.Equal(at) {
			t.Errorf("%s at %s", k.Canonical(), row.At)
		}
		name := strings.Join([]string{k.Zone, k.InstanceType, k.OS, string(k.Market) + k.Volume + string(k.Term), string(k.Stat)}, " ")
		got[name] = p.Amount + "/" + string(p.Unit) + " " + row.Offer.Price.String() + " " + d.Name + "×" + d.Count.String()
	}
	want := map[string]string{
		"ap-guangzhou-4 GN7.LARGE20 linux on_demandh<=96 list":     "3.39/h 3.39 T4×1/4",
		"ap-guangzhou-4 GN7.LARGE20 linux on_demandh<=360 list":    "1.69/h 1.69 T4×1/4",
		"ap-guangzhou-4 GN7.LARGE20 linux on_demandh>360 list":     "1.15/h 1.15 T4×1/4",
		"ap-guangzhou-4 GN7.LARGE20 linux subscription1mo list":    "975/term 1.335616438 T4×1/4",
		"ap-guangzhou-4 GN7.LARGE20 linux subscription1mo payable": "975/term 1.335616438 T4×1/4",
		"ap-guangzhou-4 GN7.LARGE20 linux subscription1y payable":  "9711/term 1.108561644 T4×1/4",
		"ap-guangzhou-4 GN7.LARGE20 linux subscription3y payable":  "17550/term 0.667808219 T4×1/4",
		"ap-guangzhou-4 GN7.LARGE20 linux subscription5y payable":  "29250/term 0.667808219 T4×1/4",
		"广州九区 GI1.10XLARGE160 windows on_demandh<=96 list":         "26.5/h 26.5 GI1×",
		"广州九区 GI1.10XLARGE160 windows on_demandh<=360 list":        "26.5/h 26.5 GI1×",
		"广州九区 GI1.10XLARGE160 windows on_demandh>360 list":         "26.5/h 26.5 GI1×",
		"广州九区 GI1.10XLARGE160 windows subscription1mo list":        "1/term 0.001369863 GI1×",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	tally := r.Tally()
	if d := cmp.Diff(map[Reason]int64{ReasonRegion: 1}, tally.Rejected); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Reason]int64{LeftNoGPU: 16}, tally.Left); d != "" {
		t.Error(d)
	}
}

// TestRulesAreChecked refuses tables that would be read as something else.
func TestRulesAreChecked(t *testing.T) {
	const head = "title: t\nform: prices\nkind: events\ncovers: c\nsource: s\nlicence: l\nmarkets: {m: {market: on_demand}}\n"
	for name, text := range map[string]string{
		"unit":  head + "units: {m: fortnight}\nproviders: {a: {set: {provider: a}}}\n",
		"count": head + "providers: {a: {set: {provider: a}, counts: {x: many}}}\n",
		"zone":  head + "providers: {a: {set: {provider: a}, zone_names: {x: {colour: red}}}}\n",
		"label": head + "providers: {a: {set: {provider: a}, omit_labels: {x: whim}}}\n",
	} {
		if _, err := parseProfile(name, []byte(text)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := parseProfile("good", []byte(head+"units: {m: "+string(gputide.PerTerm)+"}\nproviders: {a: {set: {provider: a}}}\n")); err != nil {
		t.Error(err)
	}
}
