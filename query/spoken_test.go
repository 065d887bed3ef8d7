package query

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// TestChineseFilters asks as a buyer in China writes.
func TestChineseFilters(t *testing.T) {
	w := newWorld(t)
	w.shape("alibaba", "", "gn7e", "h100-sxm-80gb", 1, 1)
	w.shape("aws", "", "p5", "h100-sxm-80gb", 8, 1)
	beijing := gputide.Key{Provider: "aws", InstanceType: "p5", Region: "cn-north-1", Market: gputide.OnDemand}
	hangzhou := gputide.Key{Provider: "alibaba", InstanceType: "gn7e", Region: "cn-hangzhou", Market: gputide.OnDemand}
	// The code of Tokyo at one provider is that of Singapore at another.
	tokyo := gputide.Key{Provider: "aws", InstanceType: "p5", Region: "ap-1", Market: gputide.OnDemand}
	singapore := gputide.Key{Provider: "alibaba", InstanceType: "gn7e", Region: "ap-1", Market: gputide.OnDemand}
	month := hangzhou
	month.Market, month.Term = gputide.Subscription, "1mo"
	w.offer(beijing, "10")
	w.offer(hangzhou, "11")
	w.offer(tokyo, "12")
	w.offer(singapore, "13")
	w.offer(month, "14")
	e := newEngine(w.memory)
	e.Called = map[string]string{"阿里云": "alibaba"}
	for name, tt := range map[string]struct {
		filter Filter
		want   []string
	}{
		"a city":                     {Filter{Region: []string{"杭州"}}, []string{"gn7e 11", "gn7e 14"}},
		"with its country":           {Filter{Region: []string{"中国北京"}}, []string{"p5 10"}},
		"in English":                 {Filter{Region: []string{"beijing"}}, []string{"p5 10"}},
		"a shared code, here":        {Filter{Region: []string{"东京"}}, []string{"p5 12"}},
		"a shared code, there":       {Filter{Region: []string{"新加坡"}}, []string{"gn7e 13"}},
		"a shared code by itself":    {Filter{Region: []string{"ap-1"}}, []string{"gn7e 13", "p5 12"}},
		"a name and a code":          {Filter{Region: []string{"东京", "CN-HANGZHOU"}, Market: []string{"按量付费"}}, []string{"gn7e 11", "p5 12"}},
		"a country":                  {Filter{Country: []string{"中国"}, Market: []string{"on_demand"}}, []string{"gn7e 11", "p5 10"}},
		"a provider":                 {Filter{Provider: []string{"阿里云"}, Market: []string{"包年包月"}}, []string{"gn7e 14"}},
		"a term":                     {Filter{Term: []string{"1个月"}}, []string{"gn7e 14"}},
		"a count":                    {Filter{Count: []string{"８卡"}, Region: []string{"北京"}}, []string{"p5 10"}},
		"memory":                     {Filter{Fits: "显存≥６４０Ｇ", Region: []string{"北京", "杭州"}}, []string{"p5 10"}},
		"full-width letters":         {Filter{Region: []string{"ＣＮ－ｎｏｒｔｈ－１"}}, []string{"p5 10"}},
		"a pattern, half full-width": {Filter{Region: []string{"cn－＊"}, Market: []string{"按需"}}, []string{"gn7e 11", "p5 10"}},
	} {
		t.Run(name, func(t *testing.T) {
			ans, err := e.Offers(t.Context(), OffersRequest{Filter: tt.filter})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, sorted(prices(ans))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for name, tt := range map[string]struct {
		filter Filter
		hint   string
	}{
		"a wrong character": {Filter{Region: []string{"杭洲"}}, "did you mean 杭州?"},
		"one character":     {Filter{Region: []string{"州"}}, "did you mean 杭州, 中国杭州?"},
		"no country":        {Filter{Country: []string{"火星"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Offers(t.Context(), OffersRequest{Filter: tt.filter})
			if !errors.Is(err, gputide.ErrInvalid) {
				t.Fatal(err)
			}
			hint := ""
			if he, ok := errors.AsType[*gputide.HintError](err); ok {
				hint = he.Hint
			}
			if hint != tt.hint {
				t.Errorf("hint %q, want %q", hint, tt.hint)
			}
		})
	}
}
