package query

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

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
