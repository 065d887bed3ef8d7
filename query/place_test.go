package query

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

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
