package query

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

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
			for _, f := range []Filter{{Market: []string{"spot"}}, {Zone: []string{"use1-az4"}}, {}} {
				rows := w.offers(OffersRequest{Filter: f, All: true}).Rows
				i := slices.IndexFunc(rows, func(r OfferRow) bool { return r.Market == "spot" })
				if i < 0 {
					t.Fatalf("%+v: no spot offer among %d rows", f, len(rows))
				}
				if diff := cmp.Diff(tt.want, rows[i].Flags); diff != "" {
					t.Errorf("%+v: flags (-want +got):\n%s", f, diff)
				}
			}
		})
	}
}

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
