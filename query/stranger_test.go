package query

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// TestCurrencyOfTheAnswer tells a currency that cannot be from one whose rate is
// missing.
func TestCurrencyOfTheAnswer(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	e := newEngine(w.memory)
	if _, err := e.Offers(t.Context(), OffersRequest{In: "RMB"}); err != nil {
		t.Errorf("without a rate any currency may be: %v", err)
	}
	w.rate("USD", "1.1", "2026-09-29")
	w.rate("CNY", "7.8", "2026-09-29")
	for in, want := range map[string]string{"RMB": "did you mean CNY?", "XYZ": "USD, EUR or CNY", "CNY": "", "eur": "", "usd": ""} {
		_, err := e.Offers(t.Context(), OffersRequest{In: in})
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", in, err)
			}
			continue
		}
		if !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	if _, err := e.Offers(t.Context(), OffersRequest{In: "CNY", At: noon.AddDate(-5, 0, 0)}); err != nil {
		t.Errorf("a moment before the first rate is no mistake in the currency: %v", err)
	}
}

// TestBeforeTheFirstCrawl asks about a moment before anything was seen.
func TestBeforeTheFirstCrawl(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	id := w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	long := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	ans := w.offers(OffersRequest{At: long})
	if want := "at=1999-01-01T00:00:00Z emptied the answer: 1 offers without it"; ans.Empty == nil || ans.Empty.Text != want {
		t.Errorf("got %+v, want %q", ans.Empty, want)
	}
	for name, reader := range map[string]Reader{"unknown": w.memory, "absent": early{w.memory}} {
		e := newEngine(w.memory)
		e.Reader = reader
		x, err := e.Explain(t.Context(), id, long)
		if err != nil || x.State != gputide.StateUnknown || x.FirstSeen.IsZero() || x.Price != nil {
			t.Errorf("%s: state %s, first seen %v, price %v, error %v", name, x.State, x.FirstSeen, x.Price, err)
		}
	}
}

// early is a Reader that has nothing of an offer before it was first seen, as
// the store.
type early struct{ *memory }

func (m early) Quotes(ctx context.Context, sel gputide.Selection, at time.Time) ([]gputide.Quote, error) {
	quotes, err := m.memory.Quotes(ctx, sel, at)
	return slices.DeleteFunc(quotes, func(q gputide.Quote) bool { return q.State == gputide.StateUnknown }), err
}
