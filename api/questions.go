package api

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// Offers asks what is on offer.
func Offers() Question[query.OffersRequest, query.OffersAnswer] {
	return Question[query.OffersRequest, query.OffersAnswer]{
		Path:   "/v1/offers",
		Answer: engine((*query.Engine).Offers),
		Rows:   func(a *query.OffersAnswer) iter.Seq[any] { return each(a.Rows) },
	}
}

// changesPage is how many changes are read from one moment.
const changesPage = 5000

// Changes asks what changed.
func Changes() Question[query.ChangesRequest, query.ChangesAnswer] {
	return Question[query.ChangesRequest, query.ChangesAnswer]{
		Path: "/v1/changes",
		Answer: func(ctx context.Context, v *View, req query.ChangesRequest) (query.ChangesAnswer, error) {
			if !req.Counting() && (req.Limit == 0 || (req.Limit > changesPage && !req.Newest)) {
				req.Limit = changesPage
			}
			return v.Engine.Changes(ctx, req)
		},
		Rows: func(a *query.ChangesAnswer) iter.Seq[any] {
			switch {
			case a.Counts != nil:
				return each(a.Counts)
			case a.Outliers != nil:
				return each(a.Outliers)
			}
			return each(a.Rows)
		},
		// The feed is only ever appended to, so parts read at different moments
		// join to what the last of them shows.
		Next: func(req query.ChangesRequest, a *query.ChangesAnswer) (query.ChangesRequest, bool) {
			if !a.More || len(a.Rows) == 0 || req.Newest || req.Counting() {
				return req, false
			}
			req.AfterSeq = a.Last
			if req.Limit > 0 {
				req.Limit -= len(a.Rows)
				return req, req.Limit > 0
			}
			return req, true
		},
	}
}

// Types asks for instance types.
func Types() Question[query.TypesRequest, query.TypesAnswer] {
	return Question[query.TypesRequest, query.TypesAnswer]{
		Path:   "/v1/types",
		Answer: engine((*query.Engine).Types),
		Rows:   func(a *query.TypesAnswer) iter.Seq[any] { return each(a.Rows) },
	}
}

// Signals asks for signals.
func Signals() Question[query.SignalsRequest, query.SignalsAnswer] {
	return Question[query.SignalsRequest, query.SignalsAnswer]{
		Path:   "/v1/signals",
		Answer: engine((*query.Engine).Signals),
		Rows: func(a *query.SignalsAnswer) iter.Seq[any] {
			switch {
			case a.Counts != nil:
				return each(a.Counts)
			case a.Spans != nil:
				return each(a.Spans)
			}
			return each(a.Rows)
		},
	}
}

// ExplainRequest asks where the price of one offer comes from.
type ExplainRequest struct {
	ID string    // an offer id, or first digits that no other offer has
	At time.Time // zero is now
}

// Explain asks where the price of one offer comes from.
func Explain() Question[ExplainRequest, query.Explanation] {
	return Question[ExplainRequest, query.Explanation]{
		Path: "/v1/explain/{id}",
		Answer: func(ctx context.Context, v *View, req ExplainRequest) (query.Explanation, error) {
			id, err := findOffer(ctx, v, req.ID)
			if err != nil {
				return query.Explanation{}, err
			}
			return v.Engine.Explain(ctx, id, req.At)
		},
	}
}

// leastPrefix is the least part of an offer id that may stand for it.
const leastPrefix = 6

// CheckOfferID returns [gputide.ErrInvalid] for what is neither an offer id nor
// enough of its first digits.
func CheckOfferID(text string) error {
	if len(text) < leastPrefix || len(text) > 2*len(gputide.OfferID{}) || strings.Trim(text, "0123456789abcdef") != "" {
		return fmt.Errorf("%w: %q is no offer id: give 32 hex digits, or at least the first %d; query offers shows them",
			gputide.ErrInvalid, clip(text), leastPrefix)
	}
	return nil
}

// findOffer reads an offer id, or the first digits of one.
func findOffer(ctx context.Context, v *View, text string) (gputide.OfferID, error) {
	text = strings.ToLower(text)
	if err := CheckOfferID(text); err != nil {
		return gputide.OfferID{}, err
	}
	if id, err := gputide.ParseOfferID(text); err == nil {
		return id, nil
	}
	quotes, err := v.Store.Quotes(ctx, gputide.Selection{}, v.Engine.Now())
	if err != nil {
		return gputide.OfferID{}, err
	}
	var found []gputide.OfferID
	for i := range quotes {
		if strings.HasPrefix(quotes[i].ID.String(), text) {
			found = append(found, quotes[i].ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return gputide.OfferID{}, &gputide.HintError{
			Err:  fmt.Errorf("offer %s: %w", text, gputide.ErrNotFound),
			Hint: "gputide query offers -o csv shows whole ids; --all shows those it hides",
		}
	}
	return gputide.OfferID{}, fmt.Errorf("%w: %d offers begin with %s: give more digits", gputide.ErrInvalid, len(found), text)
}

// Questions returns the routes of the query engine.
func Questions() []Route {
	return []Route{Offers(), Trend(), Discount(), Compare(), Changes(), Types(), Signals(), Rates(), Explain()}
}

// engine makes the answer of a question from a method of the engine.
func engine[Req, Ans any](method func(*query.Engine, context.Context, Req) (Ans, error)) func(context.Context, *View, Req) (Ans, error) {
	return func(ctx context.Context, v *View, req Req) (Ans, error) { return method(v.Engine, ctx, req) }
}

// each is a list as rows of an answer.
func each[T any](list []T) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}
