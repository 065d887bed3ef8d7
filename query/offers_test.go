package query

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
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
	if diff := cmp.Diff([]string{"a100 2", "gap 1", "gap2 1", "held 1", "l4×1 0.3", "stale 1"}, sorted(prices(ans))); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	want := []Hidden{
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

func with(k gputide.Key, f gputide.Field, v string) gputide.Key {
	if err := k.Set(f, v); err != nil {
		panic(err)
	}
	return k
}

// A marketplace whose spot prices equal its on-demand prices: its twins are no

// cheap spot unless asked for by name.

// The rate is that of the latest day not after the moment; a week old it is

// still fresh.

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
