package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// line writes a row as "group… start n+entered-left min p50 max".
func line(r *TrendRow) string {
	var group []string
	for _, f := range r.Group {
		if f.Value != "" {
			group = append(group, string(f.Value))
		}
	}
	text := func(m *Money) string {
		if m == nil {
			return "-"
		}
		return m.String()
	}
	return fmt.Sprintf("%s %s %d+%d-%d %s %s %s", strings.Join(group, "/"), r.BucketStart.Format("01-02"), r.N, r.Entered, r.Left,
		text(r.Min), text(r.P50), text(r.Max))
}

func lines(ans TrendAnswer) []string {
	out := []string{}
	for i := range ans.Rows {
		out = append(out, line(&ans.Rows[i]))
	}
	return out
}

// cardWorld holds H100 machines of two forms and one masked card.
func cardWorld(t *testing.T) *world {
	w := newWorld(t)
	w.shape("aws", "", "p5", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "", "pcie", "h100-pcie-80gb", 1, 1)
	w.shape("aws", "", "mig", "h100-sxm-80gb", 1, 8)
	w.shape("aws", "", "odd", "GPU H", 8, 1)
	return w
}

func TestTrendBuckets(t *testing.T) {
	w := cardWorld(t)
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "us-east-1"}, leg{"2026-09-26T12:00", "80"}, leg{"2026-09-28", "88"}, leg{"2026-09-29", "-"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "eu-west-1"}, leg{"2026-09-28T12:00", "96"}, leg{"2026-09-29", ""}, leg{"2026-09-30", "96"})
	t.Run("over time", func(t *testing.T) {
		got := w.trend(TrendRequest{Bucket: "day"})
		want := []string{
			"h100-sxm-80gb/on_demand/list 09-26 1+1-0 80 80 80",
			"h100-sxm-80gb/on_demand/list 09-27 1+0-0 80 80 80",
			"h100-sxm-80gb/on_demand/list 09-28 2+1-0 88 88 96",
			"h100-sxm-80gb/on_demand/list 09-29 0+0-2 - - -",
			"h100-sxm-80gb/on_demand/list 09-30 1+1-0 96 96 96",
		}
		if d := cmp.Diff(want, lines(got)); d != "" {
			t.Error(d)
		}
		r := &got.Rows[2]
		if r.Changes != 1 || r.CoveredShare.String() != "0.75" || r.Mean.String() != "90.666666667" || r.First.String() != "88" {
			t.Errorf("28th: %+v", r)
		}
		if got.Rows[0].CoveredShare.String() != "1" {
			t.Errorf("a first bucket cut by the window is measured whole: %s", got.Rows[0].CoveredShare)
		}
	})
	t.Run("over rows", func(t *testing.T) {
		got := w.trend(TrendRequest{Bucket: "month", Over: "rows"})
		if d := cmp.Diff([]string{"h100-sxm-80gb/on_demand/list 09-01 4+2-0 80 92 96"}, lines(got)); d != "" {
			t.Error(d)
		}
		if s := got.Rows[0].Series; s != 2 {
			t.Errorf("%d series", s)
		}
	})
	t.Run("carried in", func(t *testing.T) {
		got := w.trend(TrendRequest{Bucket: "all", From: moment(t, "2026-09-27"), To: moment(t, "2026-09-28")})
		if d := cmp.Diff([]string{"h100-sxm-80gb/on_demand/list 09-27 1+0-0 80 80 80"}, lines(got)); d != "" {
			t.Error(d)
		}
	})
	t.Run("a change counts where it is dated", func(t *testing.T) {
		got := w.trend(TrendRequest{Bucket: "all", From: moment(t, "2026-09-28"), To: moment(t, "2026-09-28T00:00:01Z")})
		if r := got.Rows[0]; r.Changes != 1 || r.First.String() != "88" {
			t.Errorf("%+v", r)
		}
	})
}

func TestTrendKeepsApart(t *testing.T) {
	w := cardWorld(t)
	day := "2026-09-30"
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5"}, leg{day, "80"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "pcie"}, leg{day, "2"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Market: gputide.Spot}, leg{day, "30"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Stat: gputide.StatMin}, leg{day, "70"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Currency: "CNY"}, leg{day, "500"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Tier: "unverified"}, leg{day, "1"})
	groups := func(req TrendRequest) string {
		req.Bucket = "all"
		var out []string
		for _, l := range lines(w.trend(req)) {
			out = append(out, strings.Fields(l)[0])
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct {
		req  TrendRequest
		want string
	}{
		{TrendRequest{}, "h100-pcie-80gb/on_demand/list h100-sxm-80gb/on_demand/list h100-sxm-80gb/on_demand/list h100-sxm-80gb/on_demand/min h100-sxm-80gb/spot/list"},
		{TrendRequest{GroupBy: []string{"provider"}, Filter: Filter{Market: []string{"on_demand"}, Stat: []string{"list"}, Currency: []string{"USD"}}}, "aws/h100-pcie-80gb/on_demand/list aws/h100-sxm-80gb/on_demand/list"},
		{TrendRequest{GroupBy: []string{"model"}, Filter: Filter{Market: []string{"on_demand"}, Stat: []string{"list"}, Currency: []string{"USD"}}}, "h100/pcie/on_demand/list h100/sxm/on_demand/list"},
		{TrendRequest{GroupBy: []string{"model"}, Mix: []string{"variant", "market", "stat"}, Filter: Filter{Currency: []string{"USD"}}}, "h100"},
		{TrendRequest{GroupBy: []string{"vendor"}, Mix: []string{"market", "stat"}, Filter: Filter{Currency: []string{"USD"}}}, "nvidia/pcie nvidia/sxm"},
	} {
		if got := groups(tt.req); got != tt.want {
			t.Errorf("by %v mixing %v: %s, want %s", tt.req.GroupBy, tt.req.Mix, got, tt.want)
		}
	}
	ans := w.trend(TrendRequest{Bucket: "all"})
	if d := cmp.Diff([]Hidden{{"unverified", 1, "tier=unverified"}}, ans.Hidden); d != "" {
		t.Error(d)
	}
	if mixed := w.trend(TrendRequest{Mix: []string{"market"}, Bucket: "all"}).Mixed; !cmp.Equal(mixed, []string{"market"}) {
		t.Errorf("mixed %v", mixed)
	}
}

func TestTrendPer(t *testing.T) {
	w := cardWorld(t)
	day := "2026-09-30"
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5"}, leg{day, "80"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "mig"}, leg{day, "2"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "odd"}, leg{day, "8"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "bare"}, leg{day, "1"})
	masked := gputide.Key{Provider: "ali", InstanceType: "masked"}
	w.shape("ali", "", "masked", "h100-sxm-80gb", 1, 1)
	w.series(masked, leg{day, "3"})
	w.quotes[len(w.quotes)-1].Flags = []gputide.Flag{gputide.FlagMaskedAccelerator}
	for _, tt := range []struct{ per, want string }{
		{"", "h100-sxm-80gb 2 3 80"},
		{"gpu", "h100-sxm-80gb 3 10 16"},
		{"gb", "h100-sxm-80gb 0.0375 0.125 0.2"},
		{"tflops:fp8", "h100-sxm-80gb 0.005053057 0.005053057 0.008084891"}, // not the masked one
		{"tflops:fp64", ""},
		{"gbps", ""},
	} {
		got := ""
		for _, r := range w.trend(TrendRequest{Per: tt.per, Bucket: "all"}).Rows {
			if r.Group.Get("gpu") == "h100-sxm-80gb" {
				got = fmt.Sprintf("%s %s %s %s", r.Group.Get("gpu"), r.Min, r.P50, r.Max)
			}
		}
		if got != tt.want {
			t.Errorf("per %q: %q, want %q", tt.per, got, tt.want)
		}
	}
	if s := w.trend(TrendRequest{Per: "tflops:fp8"}).Skipped; !slices.Contains(s, Hidden{Reason: skipMasked, Count: 1}) {
		t.Errorf("left out: %v", s)
	}
	ans := w.trend(TrendRequest{Per: "gpu", Bucket: "all"})
	if d := cmp.Diff([]Hidden{{Reason: skipNoCount, Count: 1}}, ans.Skipped); d != "" {
		t.Error(d)
	}
	empty := w.trend(TrendRequest{Per: "gbps", Bucket: "all"})
	if empty.Empty == nil || !strings.Contains(empty.Empty.Text, "memory bandwidth not known") {
		t.Errorf("%+v", empty.Empty)
	}
}

func TestTrendInAnotherCurrency(t *testing.T) {
	w := cardWorld(t)
	w.rate("USD", "1.2", "2026-09-27")
	w.rate("USD", "1.5", "2026-09-29")
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5"}, leg{"2026-09-27", "60"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Currency: "EUR"}, leg{"2026-09-27", "45"})
	got := lines(w.trend(TrendRequest{In: "EUR", Bucket: "all", From: moment(t, "2026-09-27"), To: moment(t, "2026-09-30")}))
	if d := cmp.Diff([]string{"h100-sxm-80gb/on_demand/list 09-27 2+2-0 40 45 50"}, got); d != "" {
		t.Errorf("the rate of each day: %s", d)
	}
	ans := w.trend(TrendRequest{In: "EUR", FXNow: true, Bucket: "all"})
	if d := cmp.Diff([]string{"h100-sxm-80gb/on_demand/list 09-27 2+2-0 40 40 45"}, lines(ans)); d != "" {
		t.Errorf("one rate: %s", d)
	}
	if ans.Rows[0].Changes != 0 {
		t.Error("a move of the rate is told as one of the price")
	}
	early := w.trend(TrendRequest{In: "EUR", Bucket: "all", Filter: Filter{Currency: []string{"USD"}}, From: moment(t, "2026-09-26"), To: moment(t, "2026-09-28")})
	if got := early.Rows[0].CoveredShare.String(); got != "0.5" {
		t.Errorf("%s of the time is covered, want the half in which there was a price", got)
	}
	w.rates = w.rates[1:]
	lost := w.trend(TrendRequest{In: "EUR", Bucket: "all", Filter: Filter{Currency: []string{"USD"}}, From: moment(t, "2026-09-27"), To: moment(t, "2026-09-30")})
	if got := lost.Rows[0].CoveredShare.String(); got != "0.333333" {
		t.Errorf("%s of the time is covered, want the third in which there was a rate", got)
	}
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Currency: "CNY"}, leg{"2026-09-27", "9"})
	if d := cmp.Diff([]Hidden{{Reason: skipNoFX, Count: 1}}, w.trend(TrendRequest{In: "EUR", Bucket: "all"}).Skipped); d != "" {
		t.Error(d)
	}
}

func TestTrendBasketAndIndex(t *testing.T) {
	w := cardWorld(t)
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "a"}, leg{"2026-09-27", "10"}, leg{"2026-09-28", "20"}, leg{"2026-09-29", "30"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "b"}, leg{"2026-09-28", "1"}, leg{"2026-09-29", "2"})
	req := TrendRequest{Bucket: "day", Index: true, To: moment(t, "2026-09-30")}
	index := func(ans TrendAnswer) []string {
		out := []string{}
		for _, r := range ans.Rows {
			if r.Index == nil {
				out = append(out, "-")
				continue
			}
			out = append(out, r.Index.String())
		}
		return out
	}
	// only a is matched from 27 to 28 (doubled); then 1.5 and 2, whose geometric
	// mean is 1.732051
	if d := cmp.Diff([]string{"100", "200", "346.410162"}, index(w.trend(req))); d != "" {
		t.Error(d)
	}
	req.Basket = BasketFixed
	ans := w.trend(req)
	if d := cmp.Diff([]string{"100", "200", "300"}, index(ans)); d != "" {
		t.Error(d)
	}
	if ans.Series != 1 || ans.Skipped[0].Reason != skipBasket {
		t.Errorf("%d series, left out %v", ans.Series, ans.Skipped)
	}
	broken := cardWorld(t)
	broken.series(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "a"}, leg{"2026-09-27", "10"}, leg{"2026-09-28", "-"})
	broken.series(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "b"}, leg{"2026-09-28", "1"})
	if d := cmp.Diff([]string{"100", "-", "-"}, index(broken.trend(TrendRequest{Bucket: "day", Index: true}))[:3]); d != "" {
		t.Errorf("no series matches: %s", d)
	}
}

func TestTrendBudget(t *testing.T) {
	w := cardWorld(t)
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5"}, leg{"2026-09-26", "16"}, leg{"2026-09-27", "24"})
	ans := w.trend(TrendRequest{Bucket: "all", Per: "gpu", Budget: "2", To: moment(t, "2026-09-30")})
	if got := ans.Rows[0].ShareOfTimeLE.String(); got != "0.25" {
		t.Errorf("%s of the time at most 2", got)
	}
}

func TestBuckets(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"hour", "2026-09-30T10:30", "2026-09-30T12:00", "2026-09-30T10 2026-09-30T11"},
		{"day", "2026-02-28T23:00", "2026-03-01T01:00", "2026-02-28T00 2026-03-01T00"},
		{"week", "2026-09-30", "2026-10-06", "2026-09-28T00 2026-10-05T00"}, // a Wednesday to a Tuesday
		{"week", "2027-01-03", "2027-01-05", "2026-12-28T00 2027-01-04T00"},
		{"month", "2024-02-29", "2024-03-02", "2024-02-01T00 2024-03-01T00"},
		{"quarter", "2026-03-31", "2026-04-02", "2026-01-01T00 2026-04-01T00"},
		{"year", "2025-12-31", "2026-01-02", "2025-01-01T00 2026-01-01T00"},
		{"all", "2026-09-30T10:30", "2026-10-30", "2026-09-30T10"},
		{"", "2026-09-01", "2026-09-03", "2026-09-01T00"},
	} {
		b, err := newBuckets(tt.name, moment(t, tt.from), moment(t, tt.to))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range b.starts {
			got = append(got, b.start(i).Format("2006-01-02T15"))
			from, to := b.bounds(i)
			if b.at(from) != i || b.at(to-1) != i || from >= to {
				t.Errorf("%s: bucket %d is [%d, %d), its ends lie in %d and %d", tt.name, i, from, to, b.at(from), b.at(to-1))
			}
		}
		if text := strings.Join(got, " "); !strings.HasPrefix(text, tt.want) || (tt.name != "" && text != tt.want) {
			t.Errorf("%s of %s to %s: %s, want %s", tt.name, tt.from, tt.to, text, tt.want)
		}
	}
	if _, err := newBuckets("hour", moment(t, "1990-01-01"), moment(t, "2026-01-01")); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("hours of 36 years: %v", err)
	}
}

func TestTrendRefuses(t *testing.T) {
	w := cardWorld(t)
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5"}, leg{"2026-09-30", "80"})
	for want, req := range map[string]TrendRequest{
		"did you mean region?":                {GroupBy: []string{"regio"}},
		"did you mean month?":                 {Bucket: "mont"},
		"did you mean gpu":                    {Per: "gpus"},
		"needs a precision":                   {Per: "tflops"},
		"did you mean tflops:fp4, tflops:fp8": {Per: "tflops:fp9"},
		`over "row" is not known`:             {Over: "row"},
		`basket "loose" is not known`:         {Basket: "loose"},
		`mix "os" is not known`:               {Mix: []string{"os"}},
		"limit -1":                            {Limit: -1},
		"budget":                              {Budget: "cheap"},
		"from is not before to":               {From: noon, To: noon},
		"from lies in the future":             {From: noon.AddDate(0, 1, 0)},
		"did you mean p5":                     {Filter: Filter{Type: []string{"p6"}}},
		"write a three-letter code":           {In: "dollars"},
	} {
		_, err := newEngine(w.memory).Trend(t.Context(), req)
		if !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%+v: %v, want %q", req, err, want)
		}
	}
	if _, err := newEngine(&memory{fail: errors.New("disk")}).Trend(t.Context(), TrendRequest{}); err == nil {
		t.Error("a failing store gives an empty trend")
	}
}

func TestTrendEmptyNamesTheFilter(t *testing.T) {
	w := cardWorld(t)
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "us-east-1"}, leg{"2026-09-29", "80"})
	w.series(gputide.Key{Provider: "aws", InstanceType: "pcie", Region: "eu-west-1"}, leg{"2026-09-29", "2"})
	for want, req := range map[string]TrendRequest{
		"region=eu-west-1 emptied": {Filter: Filter{Region: []string{"eu-west-1"}, Type: []string{"p5"}}},
		"to=2026-09-01T00:00:00Z":  {To: moment(t, "2026-09-01"), Filter: Filter{Type: []string{"p5"}}},
	} {
		ans := w.trend(req)
		if ans.Empty == nil || !strings.Contains(ans.Empty.Text, want) {
			t.Errorf("%+v: %+v, want %q", req, ans.Empty, want)
		}
	}
}

func TestTrendGolden(t *testing.T) {
	w := cardWorld(t)
	w.series(gputide.Key{Provider: "aws", InstanceType: "p5", Region: "us-east-1"}, leg{"2026-09-26T12:00", "80"}, leg{"2026-09-28", "88"}, leg{"2026-09-29", ""})
	w.series(gputide.Key{Provider: "aws", InstanceType: "other", Currency: "CNY"}, leg{"2026-09-28", "9"})
	ans := w.trend(TrendRequest{Bucket: "day", GroupBy: []string{"gpu", "region"}, Budget: "85", Index: true})
	golden(t, "trend.json", "trend.golden.json", ans.Rows)
	var back []TrendRow
	if err := json.Unmarshal([]byte(jsonOf(t, ans.Rows)), &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(ans.Rows, back); d != "" {
		t.Errorf("read back (-wrote +read):\n%s", d)
	}
}
