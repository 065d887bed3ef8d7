package query

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func aws(typ, region string) gputide.Key {
	return gputide.Key{Provider: "aws", Partition: "aws", Region: region, InstanceType: typ, OS: "linux", Tenancy: "shared"}
}

func TestOffersCheapestPerAcceleratorFirst(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "aws", "p5.4xlarge", "h100-sxm-80gb", 1, 1)
	w.shape("aws", "aws", "g6f.large", "l4-24gb", 1, 8)
	w.shape("aws", "aws-cn", "p3.2xlarge", "v100-sxm2-16gb", 1, 1)
	w.shape("aws", "aws", "m5.large", "", 0, 0)
	w.offer(aws("m5.large", "us-east-1"), "0.096")
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	w.offer(aws("p5.4xlarge", "us-east-1"), "6.88")
	w.offer(aws("g6f.large", "us-east-1"), "0.2")
	cn := aws("p3.2xlarge", "cn-north-1")
	cn.Partition, cn.Currency = "aws-cn", "CNY"
	w.offer(cn, "36.078")
	w.rate("USD", "1.0894", "2026-09-29")
	w.rate("CNY", "7.3452", "2026-09-29")

	want := []string{"g6f.large 0.2", "p3.2xlarge 36.078", "p5.4xlarge 6.88", "p5.48xlarge 55.04", "m5.large 0.096"}
	// p5.4xlarge and p5.48xlarge both cost 6.88 per accelerator: the cheaper machine comes first.
	ans := w.offers(OffersRequest{})
	if diff := cmp.Diff(want, prices(ans)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	var each []string
	for _, r := range ans.Rows {
		if r.PricePerAccelerator != nil {
			each = append(each, r.PricePerAccelerator.String())
		}
	}
	if diff := cmp.Diff([]string{"1.6", "36.078", "6.88", "6.88"}, each); diff != "" {
		t.Errorf("per accelerator (-want +got):\n%s", diff)
	}
	if got := ans.Rows[1].PriceUSD.String(); got != "5.350892174" {
		t.Errorf("36.078 CNY = %s USD, want 5.350892174", got)
	}
}

func TestOffersDefaultsHideAndCount(t *testing.T) {
	w := newWorld(t)
	vast := func(tier string, s gputide.Stat, m gputide.Market) gputide.Key {
		return gputide.Key{Provider: "vastai", InstanceType: "l4×1", Tier: tier, Stat: s, Market: m}
	}
	w.shape("vastai", "", "l4×1", "l4-24gb", 1, 1)
	w.offer(vast("verified", gputide.StatMin, gputide.OnDemand), "0.30")
	w.offer(vast("verified", gputide.StatBidFloor, gputide.Spot), "0.05")
	w.offer(vast("unverified", gputide.StatMin, gputide.OnDemand), "0.10")
	w.offer(vast("datacenter", gputide.StatPayable, gputide.OnDemand), "0.20")
	w.offer(aws("stale", "us-east-1"), "1", in(gputide.StateStale))
	w.offer(aws("held", "us-east-1"), "1", in(gputide.StateHeld))
	w.offer(aws("gap", "us-east-1"), "1", in(gputide.StateGap))
	w.offer(aws("gap2", "us-east-1"), "1", in(gputide.StateGap))
	w.offer(aws("gone", "us-east-1"), "1", in(gputide.StateWithdrawn))
	w.offer(aws("sold", "us-east-1"), "1")
	w.signal(gputide.SignalAvailability, gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "sold"}, gputide.AvailabilityNone)
	w.offer(aws("old", "us-east-1"), "1", in(gputide.StateImportedEnd))
	w.offer(gputide.Key{Provider: "hf", InstanceType: "a100"}, "2", in(gputide.StateImportedEnd), func(q *gputide.Quote) { q.Imported = true })
	w.offer(gputide.Key{Provider: "future", InstanceType: "x"}, "2", func(q *gputide.Quote) { q.FirstSeen = noon.Add(time.Hour) })

	ans := w.offers(OffersRequest{})
	if diff := cmp.Diff([]string{"a100 2", "held 1", "l4×1 0.3", "stale 1"}, sorted(prices(ans))); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	want := []Hidden{
		{"gap", 2, "state=gap"},
		{"bid_floor", 1, "stat=bid_floor"},
		{"imported_end", 1, "state=imported_end"},
		{"payable", 1, "stat=payable"},
		{"sold_out", 1, "state=sold_out"},
		{"unverified", 1, "tier=unverified"},
		{"withdrawn", 1, "state=withdrawn"},
	}
	if diff := cmp.Diff(want, ans.Hidden); diff != "" {
		t.Errorf("hidden (-want +got):\n%s", diff)
	}

	all := w.offers(OffersRequest{All: true})
	if len(all.Rows) != 12 || all.Hidden != nil {
		t.Errorf("all shows %d offers and hides %v, want 12 and none", len(all.Rows), all.Hidden)
	}
	for name, tt := range map[string]struct {
		filter Filter
		want   []string
	}{
		"bid floors":    {Filter{Stat: []string{"bid_floor"}}, []string{"l4×1 0.05"}},
		"unverified":    {Filter{Tier: []string{"unverified"}}, []string{"l4×1 0.1"}},
		"payable":       {Filter{Stat: []string{"payable"}}, []string{"l4×1 0.2"}},
		"gap":           {Filter{State: []string{"gap"}}, []string{"gap 1", "gap2 1"}},
		"withdrawn":     {Filter{State: []string{"withdrawn"}}, []string{"gone 1"}},
		"sold out":      {Filter{State: []string{"sold-out"}}, []string{"sold 1"}},
		"not in stock":  {Filter{Available: new(false)}, []string{"sold 1"}},
		"imported":      {Filter{State: []string{"imported_end"}}, []string{"a100 2", "old 1"}},
		"not yet known": {Filter{State: []string{"unknown"}}, []string{"x -"}},
	} {
		t.Run(name, func(t *testing.T) {
			req := OffersRequest{Filter: tt.filter}
			if name == "not yet known" {
				req.All = true
			}
			if diff := cmp.Diff(tt.want, sorted(prices(w.offers(req)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

// An imported offer of a provider that is crawled, though none of its crawled
// offers is selected, is past.
func TestOffersImportedBesideACrawl(t *testing.T) {
	w := newWorld(t)
	w.offer(aws("g2.2xlarge", "us-east-1"), "0.65", in(gputide.StateImportedEnd), func(q *gputide.Quote) { q.Imported = true })
	imported := gputide.RunRecord{ID: 1, Provider: "aws", At: noon.Add(-3 * time.Hour), Cause: gputide.CauseImport}
	w.runs = []gputide.RunRecord{imported}
	if got := w.offers(OffersRequest{}); len(got.Rows) != 1 {
		t.Errorf("an import alone: %d rows, want 1", len(got.Rows))
	}
	w.runs = append(w.runs, gputide.RunRecord{ID: 2, Provider: "aws", At: noon.Add(-2 * time.Hour), Cause: gputide.CauseCrawl})
	if got := w.offers(OffersRequest{}); len(got.Rows) != 0 || len(got.Hidden) != 1 {
		t.Errorf("beside a crawl: %d rows, hidden %v; want none and one", len(got.Rows), got.Hidden)
	}
	if got := w.offers(OffersRequest{At: noon.Add(-150 * time.Minute)}); len(got.Rows) != 1 {
		t.Errorf("before the crawl: %d rows, want 1", len(got.Rows))
	}
}

func TestSpotFlags(t *testing.T) {
	spot := func(k gputide.Key) gputide.Key { k.Market = gputide.Spot; return k }
	base := aws("p5.48xlarge", "us-east-1")
	zoned := spot(base)
	zoned.Zone = "use1-az4"
	for name, tt := range map[string]struct {
		onDemand []gputide.Key
		spot     gputide.Key
		price    string
		want     []gputide.Flag
		state    gputide.State
	}{
		"below":                   {[]gputide.Key{base}, zoned, "54", []gputide.Flag{}, ""},
		"equal":                   {[]gputide.Key{base}, zoned, "55", []gputide.Flag{gputide.FlagSpotEqualsOnDemand}, ""},
		"above":                   {[]gputide.Key{base}, zoned, "55.000000001", []gputide.Flag{gputide.FlagSpotAboveOnDemand}, ""},
		"partner of another os":   {[]gputide.Key{with(base, gputide.FieldOS, "windows")}, zoned, "55", []gputide.Flag{}, ""},
		"partner of another tier": {[]gputide.Key{with(base, gputide.FieldTier, "secure")}, zoned, "55", []gputide.Flag{}, ""},
		"partner of another zone": {[]gputide.Key{with(base, gputide.FieldZone, "use1-az1")}, zoned, "55", []gputide.Flag{}, ""},
		"two partners":            {[]gputide.Key{base, with(base, gputide.FieldZone, "use1-az4")}, zoned, "55", []gputide.Flag{}, ""},
		"first volume step":       {[]gputide.Key{with(base, gputide.FieldVolume, "h<=96")}, zoned, "55", []gputide.Flag{gputide.FlagSpotEqualsOnDemand}, ""},
		"later volume step":       {[]gputide.Key{with(base, gputide.FieldVolume, "h<=360")}, zoned, "55", []gputide.Flag{}, ""},
		"no partner":              {nil, zoned, "55", []gputide.Flag{}, ""},
		"withdrawn partner":       {[]gputide.Key{base}, zoned, "55", []gputide.Flag{}, gputide.StateWithdrawn},
		"bid floor against min": {
			[]gputide.Key{with(base, gputide.FieldStat, "min")},
			with(zoned, gputide.FieldStat, "bid_floor"), "55",
			[]gputide.Flag{gputide.FlagSpotEqualsOnDemand},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
			for _, k := range tt.onDemand {
				w.offer(k, "55", func(q *gputide.Quote) {
					if tt.state != "" {
						q.State = tt.state
					}
				})
			}
			w.offer(tt.spot, tt.price)
			ans := w.offers(OffersRequest{Filter: Filter{Market: []string{"spot"}, Zone: []string{"use1-az4"}}, All: true})
			if len(ans.Rows) != 1 {
				t.Fatalf("%d rows, want the spot offer", len(ans.Rows))
			}
			if diff := cmp.Diff(tt.want, ans.Rows[0].Flags); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		})
	}
}

func with(k gputide.Key, f gputide.Field, v string) gputide.Key {
	if err := k.Set(f, v); err != nil {
		panic(err)
	}
	return k
}

// A marketplace whose spot prices equal its on-demand prices: its twins are no
// cheap spot unless asked for by name.
func TestSpotTwins(t *testing.T) {
	w := newWorld(t)
	secure := []string{"2.39", "6.79", "7.89", "0.74", "3.29", "4.59", "0.99"}
	community := []string{"1.00", "5.98", "6.94", "0.13", "0.34", "2.69", "3.59", "0.79"}
	for tier, list := range map[string][]string{"secure": secure, "community": community} {
		for i, p := range list {
			typ := "card " + tier + string(rune('a'+i)) + "×1"
			w.shape("runpod", "", typ, "h100-sxm-80gb", 1, 1)
			for _, m := range []gputide.Market{gputide.OnDemand, gputide.Spot} {
				w.offer(gputide.Key{Provider: "runpod", InstanceType: typ, Tier: tier, Market: m}, p)
			}
		}
	}
	one := Filter{Provider: []string{"runpod"}, Count: []string{"1"}}
	ans := w.offers(OffersRequest{Filter: one})
	if len(ans.Rows) != 15 || len(ans.Hidden) != 1 || ans.Hidden[0] != (Hidden{"spot_equals_on_demand", 15, "flag=spot_equals_on_demand"}) {
		t.Errorf("%d offers, hidden %v; want 15 and the 15 twins", len(ans.Rows), ans.Hidden)
	}
	spot := one
	spot.Market = []string{"spot"}
	if ans := w.offers(OffersRequest{Filter: spot}); len(ans.Rows) != 0 || !strings.Contains(ans.Empty.Text, "flag=spot_equals_on_demand") {
		t.Errorf("cheap spot: %d rows, %+v; want none and the filter that shows them", len(ans.Rows), ans.Empty)
	}
	for name, req := range map[string]OffersRequest{
		"by flag": {Filter: Filter{Provider: one.Provider, Count: one.Count, Flag: []string{"spot_equals_on_demand"}}},
		"by all":  {Filter: spot, All: true},
	} {
		ans := w.offers(req)
		for _, r := range ans.Rows {
			if r.Market != "spot" || !slices.Contains(r.Flags, gputide.FlagSpotEqualsOnDemand) {
				t.Errorf("%s: %s %s bears %v", name, r.Market, r.InstanceType, r.Flags)
			}
		}
		if len(ans.Rows) != 15 {
			t.Errorf("%s: %d rows, want 15", name, len(ans.Rows))
		}
	}
}

func TestCurrency(t *testing.T) {
	w := newWorld(t)
	cny := gputide.Key{Provider: "alibaba", Partition: "cn", Region: "cn-hangzhou", InstanceType: "gn7i", Currency: "CNY"}
	w.shape("alibaba", "cn", "gn7i", "l4-24gb", 2, 1)
	w.offer(cny, "36.078")
	w.rate("USD", "1.0894", "2023-02-01")
	w.rate("CNY", "7.3452", "2023-02-01")
	at := time.Date(2026, 9, 30, 0, 0, 0, 0, time.UTC)

	type got struct{ Price, USD, Each, Rate, Currency, Published string }
	show := func(req OffersRequest) (got, OfferRow) {
		r := w.offers(req).Rows[0]
		text := func(m *Money) string {
			if m == nil {
				return "null"
			}
			return m.String()
		}
		return got{text(r.Price), text(r.PriceUSD), text(r.PricePerAccelerator), string(r.FXRate), string(r.Currency), string(r.Published.Currency)}, r
	}
	g, r := show(OffersRequest{At: at})
	if diff := cmp.Diff(got{"36.078", "5.350892174", "18.039", "0.148314546", "CNY", "CNY"}, g); diff != "" {
		t.Errorf("as published (-want +got):\n%s", diff)
	}
	if !slices.Contains(r.Flags, gputide.FlagFXOld) || r.FXDate.Format(time.DateOnly) != "2023-02-01" {
		t.Errorf("flags %v, date %v; want fx_old of 2023-02-01", r.Flags, r.FXDate)
	}
	g, _ = show(OffersRequest{At: at, In: "usd"})
	if diff := cmp.Diff(got{"5.350892174", "5.350892174", "2.675446087", "0.148314546", "USD", "CNY"}, g); diff != "" {
		t.Errorf("in USD (-want +got):\n%s", diff)
	}
	g, _ = show(OffersRequest{At: at, In: "EUR"})
	if diff := cmp.Diff(got{"4.911779121", "5.350892174", "2.455889561", "0.136143332", "EUR", "CNY"}, g); diff != "" {
		t.Errorf("in EUR (-want +got):\n%s", diff)
	}
	g, r = show(OffersRequest{At: at, In: "GBP"})
	if diff := cmp.Diff(got{"null", "5.350892174", "null", "", "CNY", "CNY"}, g); diff != "" {
		t.Errorf("no rate (-want +got):\n%s", diff)
	}
	if !slices.Contains(r.Flags, gputide.FlagNoFX) {
		t.Errorf("flags %v, want no_fx", r.Flags)
	}
}

// The rate is that of the latest day not after the moment; a week old it is
// still fresh.
func TestRateOfTheDay(t *testing.T) {
	w := newWorld(t)
	w.offer(gputide.Key{Provider: "x", InstanceType: "y", Currency: "EUR"}, "1", func(q *gputide.Quote) { q.FirstSeen = time.Time{} })
	w.rate("USD", "1.0894", "2023-02-01")
	w.rate("USD", "1.0937", "2023-02-03")
	w.rate("USD", "1.5", "2024-01-01")
	for _, tt := range []struct {
		at, want string
		old      bool
	}{
		{"2023-01-31", "null", false},
		{"2023-02-02T23:59:59Z", "1.0894", false},
		{"2023-02-04", "1.0937", false},
		{"2023-02-10T23:59:59Z", "1.0937", false},
		{"2023-02-11", "1.0937", true},
	} {
		at, err := ParseTime(tt.at)
		if err != nil {
			t.Fatal(err)
		}
		r := w.offers(OffersRequest{At: at}).Rows[0]
		got := "null"
		if r.PriceUSD != nil {
			got = r.PriceUSD.String()
		}
		if got != tt.want || slices.Contains(r.Flags, gputide.FlagFXOld) != tt.old {
			t.Errorf("at %s: %s, flags %v; want %s, old %t", tt.at, got, r.Flags, tt.want, tt.old)
		}
	}
	if r := w.offers(OffersRequest{At: noon.AddDate(-3, -7, 0), FXNow: true}).Rows[0]; r.PriceUSD.String() != "1.5" {
		t.Errorf("with today's rate %s, want 1.5", r.PriceUSD)
	}
}

func TestPlaceOfOneEverywherePrice(t *testing.T) {
	w := newWorld(t)
	w.shape("runpod", "", "h100×1", "h100-sxm-80gb", 1, 1)
	secure := gputide.Key{Provider: "runpod", InstanceType: "h100×1", Tier: "secure"}
	community := gputide.Key{Provider: "runpod", InstanceType: "h100×1", Tier: "community"}
	w.offer(secure, "3.29")
	w.offer(community, "2.69")
	w.offer(aws("p5.4xlarge", "us-east-1"), "6.88")
	w.signal(gputide.SignalAvailability, with(secure, gputide.FieldRegion, "EU-RO-1"), gputide.AvailabilityHigh)
	w.signal(gputide.SignalAvailability, with(secure, gputide.FieldRegion, "US-WA-2"), gputide.AvailabilityNone)

	r := w.offers(OffersRequest{Filter: Filter{Tier: []string{"secure"}}}).Rows[0]
	if diff := cmp.Diff([]string{"EU-RO-1"}, r.Regions); diff != "" || r.Availability != "high" || !*r.Available {
		t.Errorf("regions %v, availability %s", r.Regions, r.Availability)
	}
	r = w.offers(OffersRequest{Filter: Filter{Tier: []string{"community"}}}).Rows[0]
	if r.Regions != nil || r.Available != nil || r.Availability != "" {
		t.Errorf("no signal speaks of the community offer, got %v %v %q", r.Regions, r.Available, r.Availability)
	}
	for name, tt := range map[string]struct {
		filter Filter
		want   []string
		state  gputide.State
	}{
		"in stock there":   {Filter{Region: []string{"eu-ro-1"}}, []string{"h100×1 3.29"}, gputide.StatePriced},
		"by country":       {Filter{Country: []string{"RO"}}, []string{"h100×1 3.29"}, gputide.StatePriced},
		"by continent":     {Filter{Continent: []string{"europe"}}, []string{"h100×1 3.29"}, gputide.StatePriced},
		"sold out there":   {Filter{Region: []string{"US-WA-2"}, State: []string{"sold_out"}}, []string{"h100×1 3.29"}, gputide.StateSoldOut},
		"its own region":   {Filter{Country: []string{"us"}}, []string{"p5.4xlarge 6.88"}, gputide.StatePriced},
		"everywhere":       {Filter{Region: []string{"-"}}, []string{"h100×1 2.69", "h100×1 3.29"}, gputide.StatePriced},
		"nothing is there": {Filter{Country: []string{"jp"}}, []string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ans := w.offers(OffersRequest{Filter: tt.filter})
			if diff := cmp.Diff(tt.want, sorted(prices(ans))); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			if len(ans.Rows) > 0 && ans.Rows[0].State != tt.state {
				t.Errorf("state %s, want %s", ans.Rows[0].State, tt.state)
			}
		})
	}
}

func TestSpecFilters(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "aws", "pcie", "h100-pcie-80gb", 1, 1)
	w.shape("aws", "aws", "g6f.large", "l4-24gb", 1, 8)
	w.shape("aws", "aws", "mi", "mi300x-192gb", 1, 1)
	w.shape("aws", "aws", "odd", "GPU H-e", 1, 1)
	w.shape("aws", "aws", "v100", "v100-sxm2-16gb", 4, 1)
	w.specs[0].BareMetal = new(true)
	w.specs[1].BareMetal = new(false)
	for _, typ := range []string{"p5.48xlarge", "pcie", "g6f.large", "mi", "odd", "v100", "no-spec"} {
		w.offer(aws(typ, "us-east-1"), "8")
	}
	for name, tt := range map[string]struct {
		filter Filter
		want   []string
	}{
		"model":                {Filter{GPU: []string{"h100"}}, []string{"p5.48xlarge", "pcie"}},
		"variant":              {Filter{GPU: []string{"h100-sxm"}}, []string{"p5.48xlarge"}},
		"two models":           {Filter{GPU: []string{"h100-pcie", "mi300x"}}, []string{"mi", "pcie"}},
		"vendor":               {Filter{Vendor: []string{"AMD"}}, []string{"mi"}},
		"software":             {Filter{Software: []string{"rocm"}}, []string{"mi"}},
		"count":                {Filter{Count: []string{"8", "2/16"}}, []string{"g6f.large", "p5.48xlarge"}},
		"memory of each":       {Filter{MinGPUMemory: "80GB"}, []string{"mi", "p5.48xlarge", "pcie"}},
		"memory of a slice":    {Filter{MinGPUMemory: "4GB"}, []string{"mi", "p5.48xlarge", "pcie", "v100"}},
		"memory together":      {Filter{Fits: "100GB"}, []string{"mi", "p5.48xlarge"}},
		"machine memory":       {Filter{MinRAM: "512GiB"}, []string{"p5.48xlarge"}},
		"link, not the bridge": {Filter{Interconnect: []string{"NVLink"}}, []string{"p5.48xlarge", "v100"}},
		"precision":            {Filter{Precision: []string{"fp8"}, Vendor: []string{"nvidia"}}, []string{"g6f.large", "p5.48xlarge", "pcie"}},
		"bare metal":           {Filter{BareMetal: new(true)}, []string{"p5.48xlarge"}},
		"not bare metal":       {Filter{BareMetal: new(false)}, []string{"pcie"}},
		"budget of an hour":    {Filter{MaxPrice: "8"}, []string{"g6f.large", "mi", "no-spec", "odd", "p5.48xlarge", "pcie", "v100"}},
		"budget of a card":     {Filter{MaxPrice: "2/gpu"}, []string{"p5.48xlarge", "v100"}},
		"no budget":            {Filter{MaxPrice: "7.99"}, nil},
		"pattern":              {Filter{Type: []string{"P5.*", "v1*0"}}, []string{"p5.48xlarge", "v100"}},
		"unknown card":         {Filter{Flag: []string{"unknown_accelerator"}}, []string{"odd"}},
		"unknown spec":         {Filter{Flag: []string{"spec_unknown"}}, []string{"no-spec"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range w.offers(OffersRequest{Filter: tt.filter}).Rows {
				got = append(got, string(r.InstanceType))
			}
			if diff := cmp.Diff(tt.want, sorted(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			types, err := newEngine(w.memory).Types(t.Context(), TypesRequest{Filter: tt.filter})
			if tt.filter.MaxPrice != "" || tt.filter.Flag != nil {
				if !errors.Is(err, gputide.ErrInvalid) {
					t.Errorf("types take no such filter, got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got = nil
			for _, r := range types.Rows {
				got = append(got, string(r.InstanceType))
			}
			if diff := cmp.Diff(tt.want, sorted(got)); diff != "" {
				t.Errorf("types (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStockJoins(t *testing.T) {
	w := newWorld(t)
	spot := aws("p4d.24xlarge", "us-east-1")
	spot.Market = gputide.Spot
	w.offer(spot, "7")
	w.offer(aws("p4d.24xlarge", "us-east-1"), "21.957642")
	w.offer(gputide.Key{Provider: "vastai", InstanceType: "l4×1", Stat: gputide.StatMin, Region: "us"}, "0.3")
	w.signal(gputide.SignalInterruption, gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p4d.24xlarge"}, 4)
	w.signal(gputide.SignalInterruption, gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p4d.24xlarge", OS: "linux"}, 2)
	w.signal(gputide.SignalInterruption, gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p4d.24xlarge", OS: "windows"}, 3)
	w.signal(gputide.SignalListings, gputide.Key{Provider: "vastai", InstanceType: "l4×1", Region: "us"}, 17)
	w.signal(gputide.SignalAvailability, gputide.Key{Provider: "aws", Region: "us-east-1", Zone: "use1-az1", InstanceType: "p4d.24xlarge"}, gputide.AvailabilityNone)
	w.signal(gputide.SignalAvailability, gputide.Key{Provider: "aws", Region: "us-east-1", Zone: "use1-az2", InstanceType: "p4d.24xlarge"}, gputide.AvailabilityYes)
	for _, r := range w.offers(OffersRequest{}).Rows {
		switch {
		case r.Market == "spot":
			if diff := cmp.Diff(&BandRow{2, "10-15%"}, r.Interruption); diff != "" {
				t.Errorf("band (-want +got):\n%s", diff)
			}
		case r.Interruption != nil:
			t.Errorf("%s %s is interrupted", r.Market, r.InstanceType)
		}
		if r.Provider == "vastai" && (r.Listings == nil || *r.Listings != 17) {
			t.Errorf("listings %v, want 17", r.Listings)
		}
		if r.Provider == "aws" && (r.Available == nil || !*r.Available || r.Regions != nil) {
			t.Errorf("%s: available %v, regions %v; one zone has stock", r.Market, r.Available, r.Regions)
		}
	}
	// A stock report that stopped a day before the price says nothing.
	w.signals = nil
	w.signal(gputide.SignalAvailability, gputide.Key{Provider: "vastai", InstanceType: "l4×1"}, gputide.AvailabilityNone)
	w.signals[0].ObservedAt = noon.Add(-26 * time.Hour)
	if r := w.offers(OffersRequest{Filter: Filter{Provider: []string{"vastai"}}}).Rows; len(r) != 1 || r[0].Available != nil {
		t.Errorf("old stock speaks: %+v", r)
	}
}

func TestSortAndLimit(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "aws", "g6.xlarge", "l4-24gb", 1, 1)
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	w.offer(aws("p5.48xlarge", "eu-west-1"), "60")
	w.offer(aws("g6.xlarge", "us-east-1"), "0.8048")
	w.offer(aws("no-spec", "us-east-1"), "0.1")
	for by, want := range map[string][]string{
		"-price":  {"p5.48xlarge 60", "p5.48xlarge 55.04", "g6.xlarge 0.8048", "no-spec 0.1"},
		"price":   {"no-spec 0.1", "g6.xlarge 0.8048", "p5.48xlarge 55.04", "p5.48xlarge 60"},
		"-count":  {"p5.48xlarge 55.04", "p5.48xlarge 60", "g6.xlarge 0.8048", "no-spec 0.1"},
		"count":   {"g6.xlarge 0.8048", "p5.48xlarge 55.04", "p5.48xlarge 60", "no-spec 0.1"},
		"-vcpu":   {"p5.48xlarge 55.04", "p5.48xlarge 60", "g6.xlarge 0.8048", "no-spec 0.1"},
		"region":  {"p5.48xlarge 60", "g6.xlarge 0.8048", "p5.48xlarge 55.04", "no-spec 0.1"},
		"gpu":     {"p5.48xlarge 55.04", "p5.48xlarge 60", "g6.xlarge 0.8048", "no-spec 0.1"},
		"-region": {"g6.xlarge 0.8048", "p5.48xlarge 55.04", "no-spec 0.1", "p5.48xlarge 60"},
	} {
		if diff := cmp.Diff(want, prices(w.offers(OffersRequest{Sort: []string{by}}))); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", by, diff)
		}
	}
	ans := w.offers(OffersRequest{Limit: 2})
	if len(ans.Rows) != 2 || ans.Total != 4 {
		t.Errorf("limit 2: %d rows of %d, want 2 of 4", len(ans.Rows), ans.Total)
	}
}

func TestEmptyNamesTheFilter(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "aws", "g6.xlarge", "l4-24gb", 1, 1)
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	w.offer(aws("g6.xlarge", "eu-west-1"), "0.9")
	w.offer(with(aws("g6.xlarge", "eu-west-1"), gputide.FieldOS, "rhel"), "1.2")
	for name, tt := range map[string]struct {
		filter Filter
		want   []Without
	}{
		"one":     {Filter{MaxPrice: "0.5"}, []Without{{"max-price=0.5", 3}}},
		"a pair":  {Filter{GPU: []string{"h100"}, Region: []string{"eu-west-1"}}, []Without{{"region=eu-west-1", 1}, {"gpu=h100", 2}}},
		"of many": {Filter{Provider: []string{"aws"}, GPU: []string{"h100"}, OS: []string{"rhel"}}, []Without{{"os=rhel", 1}, {"gpu=h100", 1}}},
		"three together": {
			Filter{GPU: []string{"h100"}, OS: []string{"rhel"}, MaxPrice: "0.5"},
			[]Without{{"os=rhel", 0}, {"gpu=h100", 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ans := w.offers(OffersRequest{Filter: tt.filter})
			if ans.Empty == nil {
				t.Fatalf("%d rows, want none", len(ans.Rows))
			}
			if diff := cmp.Diff(tt.want, ans.Empty.Without); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, want := range tt.want {
				if !strings.Contains(ans.Empty.Text, want.Filter) {
					t.Errorf("text %q does not name %s", ans.Empty.Text, want.Filter)
				}
			}
		})
	}
	t.Run("nothing stored", func(t *testing.T) {
		ans := newWorld(t).offers(OffersRequest{Filter: Filter{Provider: []string{"aws"}}})
		if ans.Empty == nil || ans.Empty.Without != nil || !strings.Contains(ans.Empty.Text, "gputide crawl") {
			t.Errorf("%+v, want the hint to crawl", ans.Empty)
		}
	})
}

func TestUnknownValuesSuggest(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	w.offer(gputide.Key{Provider: "runpod", InstanceType: "x", Tier: "secure"}, "1")
	e := newEngine(w.memory)
	e.Providers = []string{"lambda"}
	for name, tt := range map[string]struct {
		req  OffersRequest
		want string
	}{
		"provider":  {OffersRequest{Filter: Filter{Provider: []string{"runpd"}}}, "did you mean runpod?"},
		"region":    {OffersRequest{Filter: Filter{Region: []string{"us-east-9"}}}, "us-east-1"},
		"gpu":       {OffersRequest{Filter: Filter{GPU: []string{"h10"}}}, "h100"},
		"market":    {OffersRequest{Filter: Filter{Market: []string{"spott"}}}, "spot"},
		"state":     {OffersRequest{Filter: Filter{State: []string{"pricd"}}}, "priced"},
		"tier":      {OffersRequest{Filter: Filter{Tier: []string{"sekure"}}}, "secure"},
		"vendor":    {OffersRequest{Filter: Filter{Vendor: []string{"nvida"}}}, "nvidia"},
		"precision": {OffersRequest{Filter: Filter{Precision: []string{"fp9"}}}, "fp8"},
		"country":   {OffersRequest{Filter: Filter{Country: []string{"usa"}}}, "us"},
		"count":     {OffersRequest{Filter: Filter{Count: []string{"0"}}}, "8 or 1/8"},
		"term":      {OffersRequest{Filter: Filter{Term: []string{"1yr"}}}, "1y"},
		"size":      {OffersRequest{Filter: Filter{Fits: "lots"}}, "80GB"},
		"budget":    {OffersRequest{Filter: Filter{MaxPrice: "2/hour"}}, "2.5/gpu"},
		"currency":  {OffersRequest{In: "dollars"}, "USD"},
		"sort":      {OffersRequest{Sort: []string{"prize"}}, "price"},
		"blank":     {OffersRequest{Filter: Filter{Provider: []string{" "}}}, "provider"},
		"too long":  {OffersRequest{Filter: Filter{Provider: []string{strings.Repeat("a", 201)}}}, "provider"},
		"too many":  {OffersRequest{Filter: Filter{Provider: make([]string, 1001)}}, "1001"},
		"limit":     {OffersRequest{Limit: -1}, "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Offers(t.Context(), tt.req)
			if !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want invalid with %q", err, tt.want)
			}
		})
	}
	for name, f := range map[string]Filter{
		"a provider not yet crawled": {Provider: []string{"lambda"}},
		"another case":               {Provider: []string{"AWS"}},
		"a card nobody sells":        {GPU: []string{"mi300x"}},
	} {
		if _, err := e.Offers(t.Context(), OffersRequest{Filter: f}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReaderErrorsSurface(t *testing.T) {
	w := newWorld(t)
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	w.fail = errors.New("disk on fire")
	e := newEngine(w.memory)
	_, offers := e.Offers(t.Context(), OffersRequest{})
	_, changes := e.Changes(t.Context(), ChangesRequest{})
	_, types := e.Types(t.Context(), TypesRequest{})
	_, signals := e.Signals(t.Context(), SignalsRequest{})
	_, explain := e.Explain(t.Context(), w.quotes[0].ID, time.Time{})
	for _, err := range []error{offers, changes, types, signals, explain} {
		if !errors.Is(err, w.fail) {
			t.Errorf("error %v, want the store's", err)
		}
	}
}

// The answer does not depend on the order in which the store keeps offers.
func TestOrderIsFixed(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	for _, region := range []string{"us-east-1", "us-west-2", "eu-west-1", "ap-south-1"} {
		for _, os := range []string{"linux", "windows", "rhel", "suse"} {
			w.offer(with(aws("p5.48xlarge", region), gputide.FieldOS, os), "55.04")
		}
	}
	var first []byte
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rng.Shuffle(len(w.quotes), func(i, j int) { w.quotes[i], w.quotes[j] = w.quotes[j], w.quotes[i] })
		got, err := json.Marshal(w.offers(OffersRequest{Limit: 10}).Rows)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if string(got) != string(first) {
			t.Fatal("two orders of the store give two answers")
		}
	}
}

// Only the selected offers, and the on-demand partners of spot ones, are read.
func TestReadsOnlyTheSelected(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "aws", "g6.xlarge", "l4-24gb", 1, 1)
	for _, os := range []string{"linux", "windows", "rhel", "suse", "ubuntu"} {
		w.offer(with(aws("g6.xlarge", "us-east-1"), gputide.FieldOS, os), "1")
	}
	w.offer(aws("p5.48xlarge", "us-east-1"), "55")
	w.offer(with(aws("p5.48xlarge", "us-east-1"), gputide.FieldMarket, "spot"), "20")
	w.offers(OffersRequest{Filter: Filter{GPU: []string{"h100"}, Market: []string{"spot"}}})
	if w.read != 2 {
		t.Errorf("%d offers read, want the spot offer and its partner", w.read)
	}
}

func BenchmarkOffers(b *testing.B) {
	w := newWorld(b)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	for i := range 2500 {
		k := aws("p5.48xlarge", "us-east-1")
		k.Zone = "z" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		if i%2 == 0 {
			k.Market = gputide.Spot
		}
		w.offer(k, "55.04")
	}
	spec := w.spec(&w.quotes[0].Key)
	for i := range w.quotes {
		w.quotes[i].Spec = spec
	}
	e := newEngine(w.memory)
	e.Reader = constant{w.memory}
	for b.Loop() {
		if _, err := e.Offers(context.Background(), OffersRequest{All: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// constant hands out every quote without selecting.
type constant struct{ *memory }

func (c constant) Quotes(context.Context, gputide.Selection, time.Time) ([]gputide.Quote, error) {
	return slices.Clone(c.quotes), nil
}
