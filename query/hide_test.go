package query

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// TestUnsoldIsHidden proves that a list price without a sale and cards without a
// machine are shown, and enter statistics, only when a filter asks for them, and
// that spot still finds its on-demand partner among them.
func TestUnsoldIsHidden(t *testing.T) {
	flagged := func(f gputide.Flag) func(*gputide.Quote) {
		return func(q *gputide.Quote) { q.Flags = []gputide.Flag{f} }
	}
	w := newWorld(t)
	w.offer(aws("machine", "us-east-1"), "4")
	w.offer(aws("h200", "us-east-1"), "3", flagged(gputide.FlagListedNotSold))
	w.offer(aws("t4×1", "us-east-1"), "1", flagged(gputide.FlagAcceleratorOnly))
	spot := aws("h200", "us-east-1")
	spot.Market = gputide.Spot
	w.offer(spot, "2")
	want := []Hidden{{"accelerator_only", 1, "flag=accelerator_only"}, {"listed_not_sold", 1, "flag=listed_not_sold"}}

	ans := w.offers(OffersRequest{})
	if d := cmp.Diff([]string{"h200 2", "machine 4"}, sorted(prices(ans))); d != "" {
		t.Errorf("shown (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, ans.Hidden); d != "" {
		t.Errorf("hidden (-want +got):\n%s", d)
	}
	asked := w.offers(OffersRequest{Filter: Filter{Flag: []string{"accelerator_only"}}})
	if d := cmp.Diff([]string{"t4×1 1"}, prices(asked)); d != "" {
		t.Errorf("asked for (-want +got):\n%s", d)
	}

	trend := w.trend(TrendRequest{Filter: Filter{Market: []string{"on_demand"}}, Bucket: "all"})
	if d := cmp.Diff(want, trend.Hidden); d != "" {
		t.Errorf("hidden in a trend (-want +got):\n%s", d)
	}
	h := newWorld(t)
	h.series(aws("h200", "us-east-1"), leg{"2026-09-29", "3"})
	h.quotes[0].Flags = []gputide.Flag{gputide.FlagListedNotSold}
	h.series(spot, leg{"2026-09-29", "2"})
	if r := one(t, h.discount(DiscountRequest{})); r.NowPct == nil || r.NowPct.String() != "33.3333" {
		t.Errorf("discount against a price without a sale: %+v", r)
	}
}
