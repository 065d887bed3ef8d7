package query

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// hourly is a world of pairs whose spot price moves every hour of 30 days.
func hourly(b *testing.B, pairs int) *world {
	w := newWorld(b)
	w.shape("aws", "", "p5", "h100-sxm-80gb", 8, 1)
	start := noon.Add(-30 * 24 * time.Hour)
	for i := range pairs {
		k := gputide.Key{Provider: "aws", InstanceType: "p5", Region: fmt.Sprintf("r%03d", i)}
		w.series(k, leg{start.Format(time.RFC3339), "98.32"})
		k.Market = gputide.Spot
		var legs []leg
		for h := range 30 * 24 {
			legs = append(legs, leg{start.Add(time.Duration(h) * time.Hour).Format(time.RFC3339), fmt.Sprintf("%d.%02d", 20+h%40, (h*i)%100)})
		}
		w.series(k, legs...)
	}
	return w
}

func BenchmarkTrendByDay(b *testing.B) {
	w := hourly(b, 50)
	for b.Loop() {
		if len(w.trend(TrendRequest{Bucket: BucketDay, Per: PerGPU}).Rows) == 0 {
			b.Fatal("no rows")
		}
	}
}

func BenchmarkDiscount(b *testing.B) {
	w := hourly(b, 50)
	for b.Loop() {
		if len(w.discount(DiscountRequest{}).Rows) != 50 {
			b.Fatal("rows are missing")
		}
	}
}

// A group means the same after it was written and read, whatever its text.
func FuzzGroup(f *testing.F) {
	f.Add("gpu", "h100-sxm-80gb", "region", "")
	f.Add("a\"b", "<é>\\u0000", "", "\x00")
	f.Fuzz(func(t *testing.T, a, x, b, y string) {
		g := Group{{a, Text(x)}, {b, Text(y)}}
		text, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		var back, again Group
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		second, err := json.Marshal(back)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(second, &again); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(back, again); d != "" || len(back) != 2 {
			t.Errorf("%s: %s", text, d)
		}
	})
}

func FuzzFraction(f *testing.F) {
	f.Add("0.25")
	f.Add("-1e3")
	f.Fuzz(func(t *testing.T, s string) {
		var v, back Fraction
		if v.UnmarshalJSON([]byte(s)) != nil {
			return
		}
		if err := json.Unmarshal([]byte(v.String()), &back); err != nil || back != v {
			t.Errorf("%q is %s, read back %s, %v", s, v, back, err)
		}
	})
}
