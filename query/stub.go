package query

import (
	"context"
	"time"

	"github.com/gputide/gputide"
)

// Offers returns what is on offer, cheapest per accelerator first.
func (e *Engine) Offers(ctx context.Context, req OffersRequest) (OffersAnswer, error) {
	return OffersAnswer{}, gputide.ErrInvalid
}

// Changes returns what changed.
func (e *Engine) Changes(ctx context.Context, req ChangesRequest) (ChangesAnswer, error) {
	return ChangesAnswer{}, gputide.ErrInvalid
}

// Types returns instance types, priced or not.
func (e *Engine) Types(ctx context.Context, req TypesRequest) (TypesAnswer, error) {
	return TypesAnswer{}, gputide.ErrInvalid
}

// Signals returns signals or their counts.
func (e *Engine) Signals(ctx context.Context, req SignalsRequest) (SignalsAnswer, error) {
	return SignalsAnswer{}, gputide.ErrInvalid
}

// Explain returns where the price of one offer comes from.
func (e *Engine) Explain(ctx context.Context, id gputide.OfferID, at time.Time) (Explanation, error) {
	return Explanation{}, gputide.ErrInvalid
}
