package query

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// hear adds an availability signal with a value from each moment on, the last
// until now; a value below zero is none. It is observed until the next.
func (w *world) hear(k gputide.Key, from []string, values ...int64) *gputide.SignalHistory {
	w.Helper()
	h := gputide.SignalHistory{Key: k, Name: gputide.SignalAvailability}
	for i, v := range values {
		end := noon.Add(time.Second)
		if i+1 < len(from) {
			end = moment(w, from[i+1])
		}
		if v >= 0 {
			h.Intervals = append(h.Intervals, gputide.SignalInterval{
				From: moment(w, from[i]), To: end, Value: v, LastObserved: end.Add(-time.Second),
			})
		}
	}
	w.heard = append(w.heard, h)
	return &w.heard[len(w.heard)-1]
}

func TestSoldOutTimeIsOutsideStatistics(t *testing.T) {
	east := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5"}
	west := gputide.Key{Provider: "aws", Region: "eu-west-1", InstanceType: "p5"}
	days := []string{"2026-09-26T12:00", "2026-09-28T12:00"}
	const none, some = gputide.AvailabilityNone, gputide.AvailabilityNone + 1
	regionless := gputide.Key{Provider: "aws", InstanceType: "p5"}
	for name, tt := range map[string]struct {
		offer         gputide.Key
		filter        Filter
		hear          func(w *world)
		covered, mean string
	}{
		"no signals":         {east, Filter{}, func(*world) {}, "1", "60"},
		"none for half":      {east, Filter{}, func(w *world) { w.hear(east, days, some, none) }, "0.5", "40"},
		"none before half":   {east, Filter{}, func(w *world) { w.hear(east, days, none, some) }, "0.5", "80"},
		"vanishes":           {east, Filter{}, func(w *world) { w.hear(east, days, none, -1) }, "0.5", "80"},
		"of another region":  {east, Filter{}, func(w *world) { w.hear(west, days, some, none) }, "1", "60"},
		"of another type":    {east, Filter{}, func(w *world) { w.hear(gputide.Key{Provider: "aws", InstanceType: "pcie"}, days, some, none) }, "1", "60"},
		"of every region":    {east, Filter{}, func(w *world) { w.hear(regionless, days, some, none) }, "0.5", "40"},
		"one region of all":  {regionless, Filter{}, func(w *world) { w.hear(east, days, some, none); w.hear(west, days, none, some) }, "1", "60"},
		"all regions of all": {regionless, Filter{}, func(w *world) { w.hear(east, days, some, none); w.hear(west, days, none, none) }, "0.5", "40"},
		"of all, in a place": {regionless, Filter{Region: []string{"us-east-1"}}, func(w *world) { w.hear(east, days, some, none); w.hear(west, days, some, some) }, "0.5", "40"},
		"too old for the offer": {east, Filter{}, func(w *world) {
			w.hear(east, days, some, none).Intervals[1].LastObserved = noon.Add(-48*time.Hour - time.Second)
		}, "0.75", "53.333333333"},
	} {
		t.Run(name, func(t *testing.T) {
			w := cardWorld(t)
			tt.offer.Market = gputide.Spot
			id := w.series(tt.offer, leg{days[0], "40"}, leg{days[1], "80"})
			w.pasts[id][1].LastObserved = noon
			tt.hear(w)
			for _, h := range w.heard { // a place needs stock now
				w.signal(gputide.SignalAvailability, h.Key, some)
			}
			tt.filter.Market = []string{"spot"}
			row := w.trend(TrendRequest{Filter: tt.filter, Bucket: BucketAll, From: moment(t, days[0]), To: noon}).Rows[0]
			if row.CoveredShare.String() != tt.covered || row.Mean.String() != tt.mean {
				t.Errorf("trend covers %s, mean %s, want %s, %s", row.CoveredShare, row.Mean, tt.covered, tt.mean)
			}
			r := one(t, w.discount(DiscountRequest{Filter: tt.filter, From: moment(t, days[0]), To: noon}))
			if r.PriceCoveredShare.String() != tt.covered || r.PriceMean.String() != tt.mean || r.Changes != 1 {
				t.Errorf("discount covers %s, mean %s, %d changes, want %s, %s", r.PriceCoveredShare, r.PriceMean, r.Changes, tt.covered, tt.mean)
			}
		})
	}
}

// The reference of a discount is out of force while it is sold out; its price
// stays known.
func TestSoldOutReference(t *testing.T) {
	w := cardWorld(t)
	k := gputide.Key{Provider: "aws", Region: "us-east-1", InstanceType: "p5", Market: gputide.OnDemand}
	w.series(k, leg{"2026-09-26T12:00", "100"})
	w.hear(k, []string{"2026-09-26T12:00", "2026-09-29T12:00"}, gputide.AvailabilityNone+1, gputide.AvailabilityNone)
	k.Market = gputide.Spot
	w.series(k, leg{"2026-09-26T12:00", "40"}, leg{"2026-09-29T12:00", "20"})
	ans := w.discount(DiscountRequest{Lines: 1})
	r := one(t, ans)
	if got := off(r); got != "80 60 60 60" || r.CoveredShare.String() != "0.75" || r.PriceCoveredShare.String() != "1" {
		t.Errorf("%s, covered %s of %s", got, r.CoveredShare, r.PriceCoveredShare)
	}
	if l := ans.Lines[0]; len(l) != 2 || !l[1].At.Equal(moment(t, "2026-09-29T12:00")) {
		t.Errorf("line %+v", l)
	}
}

// At every moment an interval is sold out where offers of that moment are.
func TestSoldOutIsWhatOffersSay(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	start := moment(t, "2026-09-29")
	second := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }
	for round := range 200 {
		var signals []gputide.SignalHistory
		for range 1 + rng.IntN(3) {
			h := gputide.SignalHistory{Key: gputide.Key{Provider: "p", Region: []string{"a", "b", ""}[rng.IntN(3)], InstanceType: "m"}}
			for at := rng.IntN(30); at < 100; {
				end := at + 1 + rng.IntN(25)
				h.Intervals = append(h.Intervals, gputide.SignalInterval{
					From: second(at), To: second(end), Value: int64(rng.IntN(2)) * 3, LastObserved: second(end - 1),
				})
				at = end + rng.IntN(2)*rng.IntN(10)
			}
			signals = append(signals, h)
		}
		var list []gputide.Interval
		for at := 0; at < 100; {
			end := at + 1 + rng.IntN(40)
			state := []gputide.State{gputide.StatePriced, gputide.StatePriced, gputide.StateGap}[rng.IntN(3)]
			list = append(list, gputide.Interval{From: second(at), To: second(end), Price: gputide.Nano(end), State: state, LastObserved: second(at)})
			at = end
		}
		cut := cutSoldOut(list, signals)
		for n := range int(list[len(list)-1].To.Sub(start) / time.Second) {
			at := second(n)
			before, after := intervalAt(t, list, at), intervalAt(t, cut, at)
			want := before.State
			c := candidate{quote: &gputide.Quote{Key: gputide.Key{Provider: "p", InstanceType: "m"}, ObservedAt: before.LastObserved}}
			var said []gputide.SignalValue
			for i := range signals {
				for _, s := range signals[i].Intervals {
					if !at.Before(s.From) && at.Before(s.To) {
						said = append(said, gputide.SignalValue{Key: signals[i].Key, Value: s.Value, ObservedAt: s.LastObserved})
					}
				}
			}
			(*place)(nil).stock(table{}, &c, said)
			if in := c.stock.available(); want == gputide.StatePriced && in != nil && !*in {
				want = gputide.StateSoldOut
			}
			if after.State != want || after.Price != before.Price {
				t.Fatalf("round %d, second %d: %s at %s, want %s at %s", round, n, after.State, after.Price, want, before.Price)
			}
		}
	}
}

// intervalAt returns the one interval of a moment.
func intervalAt(t *testing.T, list []gputide.Interval, at time.Time) *gputide.Interval {
	t.Helper()
	var found *gputide.Interval
	for i := range list {
		if !at.Before(list[i].From) && at.Before(list[i].To) {
			if found != nil {
				t.Fatalf("two intervals at %s", at)
			}
			found = &list[i]
		}
	}
	if found == nil {
		t.Fatalf("no interval at %s", at)
	}
	return found
}
