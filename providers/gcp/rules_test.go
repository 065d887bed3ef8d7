package gcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func testTable(t testing.TB) *table {
	t.Helper()
	table, err := loadTable()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTables(t *testing.T) {
	table := testTable(t)
	if len(table.machines) != 31 || len(table.byName) != len(table.machines) {
		t.Errorf("%d machine types, %d names", len(table.machines), len(table.byName))
	}
	for _, m := range table.machines {
		if m.vcpu == "" || m.memoryGiB == "" || m.device == "" || m.units == "" {
			t.Errorf("%s lacks something", m.name)
		}
		if m.series != "" && m.rate != m.device {
			t.Errorf("%s: a sum of parts has the rate of its card, not %q", m.name, m.rate)
		}
		if m.series != "" && m.units != m.count.String() {
			t.Errorf("%s: %s units of %s cards", m.name, m.units, m.count)
		}
	}
}

func TestDescriptions(t *testing.T) {
	table := testTable(t)
	for text, want := range map[string]string{
		"Nvidia Tesla A100 GPU running in Americas":                                                   "accelerator nvidia-tesla-a100 0",
		"Nvidia Tesla A100 80GB GPU running in Americas":                                              "accelerator nvidia-a100-80gb 0",
		"Nvidia H100 80GB GPU running in Americas":                                                    "accelerator nvidia-h100-80gb 0",
		"Nvidia H100 80GB Mega GPU running in Columbus":                                               "accelerator nvidia-h100-mega-80gb 0",
		"Nvidia H100 Mega 80GB GPU running in Columbus":                                               "accelerator nvidia-h100-mega-80gb 0",
		"Nvidia H100 80GB Plus GPU running in Americas":                                               "accelerator nvidia-h100-mega-80gb 0",
		"H200 141GB GPU running in Americas":                                                          "accelerator nvidia-h200-141gb 0",
		"RTX 6000 96GB running in Iowa":                                                               "accelerator nvidia-rtx-pro-6000 0",
		"A4 Nvidia B200 (1 gpu slice) running in Americas":                                            "accelerator a4-gpu-slice 0",
		"1/8 vGPU no lssd running in Iowa":                                                            "accelerator g4-eighth 0",
		"A2 Instance Core running in Americas":                                                        "core A2 0",
		"A3Plus Instance Ram running in Americas":                                                     "ram A3Plus 0",
		"A3Ultra Instance Core running in Sao Paulo":                                                  "core A3Ultra 0",
		"SSD backed Local Storage":                                                                    "local_ssd  0",
		"SSD backed Local Storage in Paris":                                                           "local_ssd  0",
		"SSD backed Local Storage running in Paris":                                                   "local_ssd  0",
		"Spot Preemptible A3 Instance Core running in Americas":                                       "core A3 1",
		"Spot Preemptible A4 Nvidia B200 (1 gpu slice) running in Americas":                           "accelerator a4-gpu-slice 1",
		"Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in Americas":                    "accelerator nvidia-tesla-t4 1",
		"SSD backed Local Storage attached to Spot Preemptible VMs":                                   "local_ssd  1",
		"SSD backed Local Storage attached to Spot Preemptible VMs in Paris":                          "local_ssd  1",
		"TpuV5e attached to Spot Preemptible VMs running in Singapore":                                "accelerator TpuV5e 1",
		"Commitment v1: A2 Cpu in APAC for 1 Year":                                                    "core A2 2",
		"Commitment v1: A3 Ram in Americas for 3 Years":                                               "ram A3 3",
		"Commitment v1: A2 Cpu in Americas for 3 Year":                                                "core A2 3",
		"Commitment v1: Nvidia H100 80GB GPU running in Americas for 1 Year":                          "accelerator nvidia-h100-80gb 2",
		"Commitment v1: A4 Nvidia B200 (1 gpu slice) in Americas for 3 Years":                         "accelerator a4-gpu-slice 3",
		"Commitment v1: Local SSD in Iowa for 1 Year":                                                 "local_ssd  2",
		"Commitment v1: TpuV5p running in Netherlands for 3 Years":                                    "accelerator TpuV5p 3",
		"Nvidia H100 Mega 80GB GPU attached to DWS Defined Duration VMs running in Americas":          "accelerator nvidia-h100-mega-80gb 4",
		"DWS Defined Duration A3 Core running in Americas":                                            "core A3 4",
		"DWS Defined Duration SSD backed Local Storage running in Americas":                           "local_ssd  4",
		"DWS Defined Duration V6e running in Columbus":                                                "accelerator TpuV6e 4",
		"Reserved Nvidia H100 80GB Mega GPU in Americas in Calendar Mode":                             "accelerator nvidia-h100-mega-80gb 5",
		"Reserved V6e TPU in Columbus in Calendar Mode":                                               "accelerator TpuV6e 5",
		"Reserved TpuV5p in Delhi in Calendar Mode":                                                   "accelerator TpuV5p 5",
		"DWS Calendar Mode A4 Nvidia B200 (1 gpu slice) in Americas":                                  "accelerator a4-gpu-slice 5",
		"  Nvidia  L4 GPU running in Frankfurt ":                                                      "accelerator nvidia-l4 0",
		"Reserved Nvidia Tesla A100 GPU in Americas":                                                  omitReserved,
		"Reserved A2 Ram in Netherlands":                                                              omitReserved,
		"Capacity Optimized TpuV6e running in Columbus":                                               omitCapacity,
		"Commitment - dollar based v1: A2 in Americas for 1 Year":                                     omitSpendBased,
		"Commitment v1: N4A Core in Johannesburg for 5 Years":                                         omitTerm,
		"Commitment v1: A2 Cpu in Americas for 5 Years":                                               omitTerm,
		"A2 Sole Tenancy Instance Core running in Americas":                                           omitOther,
		"A2 Custom Instance Core running in Americas":                                                 omitOther,
		"Custom Instance Core running in Americas":                                                    omitOther,
		"E2 Instance Core running in Americas":                                                        omitOther,
		"M4NUltramem224Instance Ram running in Iowa":                                                  omitOther,
		"C4D Instance Local SSD running in Americas":                                                  omitOther,
		"Spot Preemptible C4D Instance Local SSD running in Americas":                                 omitOther,
		"Nvidia Tesla T4 Virtual Workstation GPU running in Americas":                                 omitOther,
		"C3 Instance Local SSD attached to Calendar mode reservations running in Iowa":                omitOther,
		"Memory Optimized Upgrade Premium for Memory-optimized Instance Core running in Johannesburg": omitOther,
		"": omitOther,
	} {
		p := parseDescription(text)
		id, ok := table.identify(p)
		got := omitOther
		switch {
		case p.omit != "":
			got = p.omit
		case ok:
			got = fmt.Sprintf("%s %s %d", id.part, id.of, id.mode)
		}
		if got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

// TestUsageTypes proves that a usage type never sells what the description does
// not, and that one that contradicts it is seen.
func TestUsageTypes(t *testing.T) {
	for usage, want := range map[string][]mode{
		"":              modes(),
		"OnDemand":      {onDemand, spot, flex, calendar},
		"Preemptible":   {spot},
		"Commit1Yr":     {commit1y},
		"Commit3Yr":     {commit3y},
		"Commit":        nil,
		"CmtCudPremium": nil,
	} {
		var got []mode
		for _, m := range modes() {
			if m.allows(usage) {
				got = append(got, m)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", usage, d)
		}
	}
}

func tierOf(units, nanos string) tier {
	var t tier
	if units != "" {
		t.Price.Units = &units
	}
	t.Price.Nanos = json.RawMessage(nanos)
	t.Price.Currency = "USD"
	return t
}

func TestMoney(t *testing.T) {
	for _, tt := range []struct{ units, nanos, want, path string }{
		{"2", "933908000", "2.933908", ""},
		{"0", "4237000", "0.004237", ""},
		{"12", "0", "12", ""},
		{"0", "1", "0.000000001", ""},
		{"0", "999999999", "0.999999999", ""},
		{"9999999999", "0", "9999999999", ""},
		{"007", "500000000", "7.5", ""},
		{"0", "0", "0", ""},
		{"", "1", "", "units"},
		{"2", "", "", "nanos"},
		{"2", "null", "", "nanos"},
		{"-1", "0", "", "units"},
		{"1", "-5", "", "nanos"},
		{"1", "1.5", "", "nanos"},
		{"1", "1e3", "", "nanos"},
		{"1", "1000000000", "", "nanos"},
		{"1", `"0"`, "1", ""}, // a string of digits is a number of protobuf's JSON, too
		{"1", `"x"`, "", "nanos"},
		{"10000000000", "0", "", "units"},
		{"1.5", "0", "", "units"},
	} {
		tier := tierOf(tt.units, tt.nanos)
		got, path := tier.amount()
		if got != tt.want || (path != "") != (tt.path != "") || !strings.HasSuffix(path, tt.path) {
			t.Errorf("%s units, %s nanos: %q %q, want %q %q", tt.units, tt.nanos, got, path, tt.want, tt.path)
		}
	}
}

func TestTiers(t *testing.T) {
	at := func(start string, t tier) tier {
		t.Start = json.RawMessage(start)
		return t
	}
	free, one, two := tierOf("0", "0"), tierOf("1", "0"), tierOf("2", "0")
	for name, tt := range map[string]struct {
		tiers []tier
		want  string // amount or fault
	}{
		"none":                    {nil, skipNoPrice},
		"one":                     {[]tier{one}, "1"},
		"free":                    {[]tier{free}, "0"},
		"a free one first":        {[]tier{at("0", free), at("100", one)}, "1"},
		"in another order":        {[]tier{at("100", one), at("0", free)}, "1"},
		"two prices":              {[]tier{at("0", one), at("1024", two)}, skipTiers},
		"two prices after a gift": {[]tier{at("0", free), at("10", one), at("1024", two)}, skipTiers},
		"an unreadable one first": {[]tier{at("0", tierOf("", "1")), at("10", one)}, skipTiers},
		"too many":                {make([]tier, maxTiers+1), skipNoPrice},
	} {
		t.Run(name, func(t *testing.T) {
			got, fault := onlyTier(tt.tiers)
			if fault == "" {
				fault, _ = got.amount()
			}
			if fault != tt.want {
				t.Errorf("%q, want %q", fault, tt.want)
			}
		})
	}
}

// TestRatesInAnyOrder proves that a SKU of one region stands before one of
// several and that a conflict is one, whatever the order of the list.
func TestRatesInAnyOrder(t *testing.T) {
	id := rateID{partAccelerator, "nvidia-l4", onDemand}
	wide := rate{amount: "2", unit: gputide.PerHour, sku: "W", wide: true}
	wideTwin := rate{amount: "2", unit: gputide.PerHour, sku: "V", wide: true}
	other := rate{amount: "3", unit: gputide.PerHour, sku: "X", wide: true}
	narrow := rate{amount: "1", unit: gputide.PerHour, sku: "N"}
	free := rate{fault: skipNoPrice, detail: `"0"`, sku: "Z", wide: true}
	for name, tt := range map[string]struct {
		in   []rate
		want string
	}{
		"one":                       {[]rate{wide}, "2 W"},
		"twins":                     {[]rate{wide, wideTwin}, "2 V"},
		"narrow before wide":        {[]rate{wide, narrow}, "1 N"},
		"narrow before a conflict":  {[]rate{wide, other, narrow}, "1 N"},
		"two that differ":           {[]rate{wide, other}, "conflicting_rates W 2/h, X 3/h"},
		"three of which two differ": {[]rate{wide, wideTwin, other}, "conflicting_rates"},
		"a price and none":          {[]rate{wide, free}, `conflicting_rates W 2/h, Z no_price "0"`},
	} {
		t.Run(name, func(t *testing.T) {
			permute(tt.in, func(order []rate) {
				rs := rates{}
				for _, r := range order {
					rs.put(id, "us-central1", r)
				}
				r := rs[id]["us-central1"]
				got := r.amount + " " + r.sku
				if r.fault != "" {
					got = r.fault + " " + r.detail
				}
				if !strings.HasPrefix(got, tt.want) {
					t.Errorf("%v: %s, want %s", order, got, tt.want)
				}
			})
		})
	}
}

func permute[T any](in []T, f func([]T)) {
	var rec func(k int)
	list := slices.Clone(in)
	rec = func(k int) {
		if k == len(list) {
			f(slices.Clone(list))
			return
		}
		for i := k; i < len(list); i++ {
			list[k], list[i] = list[i], list[k]
			rec(k + 1)
			list[k], list[i] = list[i], list[k]
		}
	}
	rec(0)
}

func TestQuantity(t *testing.T) {
	for _, tt := range []struct {
		n     string
		perGB bool
		want  string
	}{{"85", false, "85"}, {"1", true, "1.073741824"}, {"170", true, "182.53611008"}, {"1000", true, "1073.741824"}} {
		r := rate{perGB: tt.perGB}
		if got := r.quantity(tt.n); got != tt.want {
			t.Errorf("%s GiB, by the GB %v: %s, want %s", tt.n, tt.perGB, got, tt.want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		part, unit string
		ok         bool
		want       gputide.Unit
	}{
		{partCore, "h", true, gputide.PerHour},
		{partAccelerator, "h", true, gputide.PerHour},
		{partRAM, "GiBy.h", true, gputide.PerHour},
		{partRAM, "GBy.h", true, gputide.PerHour},
		{partSSD, "GiBy.mo", true, gputide.PerMonth},
		{partSSD, "GiBy.h", true, gputide.PerHour},
		{partRAM, "h", false, ""},
		{partRAM, "GiBy.mo", false, ""},
		{partCore, "GiBy.h", false, ""},
		{partAccelerator, "mo", false, ""},
		{partSSD, "GBy.h", false, ""},
		{partAccelerator, "", false, ""},
	} {
		var r rate
		if ok := r.setUnit(tt.part, tt.unit); ok != tt.ok || ok && r.unit != tt.want {
			t.Errorf("%s by %q: %v %s", tt.part, tt.unit, ok, r.unit)
		}
	}
}

func TestHourly(t *testing.T) {
	for text, want := range map[string]string{
		"$84.806908493 / 1 hour": "84.806908493",
		"$42.4000/ 1 hour":       "42.4000",
		"$2 .0000/ 1 hour":       "2.0000",
		"$ 1,234.50 / 1 hour":    "1234.50",
		"$0.0000 / 1 hour":       "",
		"N/A":                    "",
		"":                       "",
		"$5 / 1 month":           "",
		"€5 / 1 hour":            "",
		"$5 / 1 hour or less":    "",
		"$1.2.3 / 1 hour":        "",
		"$ / 1 hour":             "",
	} {
		got, ok := hourly(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", text, got, ok, want)
		}
	}
}

func FuzzDescription(f *testing.F) {
	table := testTable(f)
	for _, s := range []string{
		"Commitment v1: A2 Cpu in APAC for 1 Year", "Reserved V6e TPU in Columbus in Calendar Mode", " in ", "Spot Preemptible ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := parseDescription(text)
		if id, ok := table.identify(p); ok && p.omit == "" && !strings.Contains(strings.Join(strings.Fields(text), " "), p.subject) {
			t.Errorf("%q: %v of %q", text, id, p.subject)
		}
	})
}

func FuzzHourly(f *testing.F) {
	f.Add("$2 .0000/ 1 hour")
	f.Fuzz(func(t *testing.T, text string) {
		if amount, ok := hourly(text); ok {
			if v, err := gputide.ParseAmount(amount); err != nil || v.Sign() <= 0 {
				t.Errorf("%q is %q", text, amount)
			}
		}
	})
}

func FuzzEmbedded(f *testing.F) {
	f.Add(`AF_initDataCallback({data:[[[null,null,null,[null,[null,"Machine type"]]]],[],"Iowa (us-central1)"]});`)
	f.Add(`AF_initDataCallback({data:[[[[[[]]]]],1,"x"]})AF_initDataCallback({data:[`)
	f.Fuzz(func(t *testing.T, script string) {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader("<script>" + script + "</script>"))
		if err != nil {
			t.Skip()
		}
		grids, err := embeddedTables(doc)
		for _, g := range grids {
			if err == nil && (g.region == "" || len(g.rows) == 0) {
				t.Errorf("table %+v", g)
			}
		}
	})
}
