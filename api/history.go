package api

import (
	"iter"

	"github.com/gputide/gputide/query"
)

// Trend asks how prices moved.
func Trend() Question[query.TrendRequest, query.TrendAnswer] {
	return Question[query.TrendRequest, query.TrendAnswer]{
		Path:   "/v1/trend",
		Answer: engine((*query.Engine).Trend),
		Rows:   func(a *query.TrendAnswer) iter.Seq[any] { return each(a.Rows) },
	}
}

// Discount asks what offers cost beside buying on demand; its spot form is the
// same question of market spot.
func Discount() Question[query.DiscountRequest, query.DiscountAnswer] {
	return Question[query.DiscountRequest, query.DiscountAnswer]{
		Path:   "/v1/discount",
		Answer: engine((*query.Engine).Discount),
		Rows:   func(a *query.DiscountAnswer) iter.Seq[any] { return each(a.Rows) },
	}
}

// Compare asks what an hour of each accelerator costs at each provider.
func Compare() Question[query.CompareRequest, query.CompareAnswer] {
	return Question[query.CompareRequest, query.CompareAnswer]{
		Path:   "/v1/compare",
		Answer: engine((*query.Engine).Compare),
		Rows:   func(a *query.CompareAnswer) iter.Seq[any] { return each(a.Rows) },
	}
}

// Rates asks for exchange rates.
func Rates() Question[query.RatesRequest, query.RatesAnswer] {
	return Question[query.RatesRequest, query.RatesAnswer]{
		Path:   "/v1/fx",
		Answer: engine((*query.Engine).Rates),
		Rows:   func(a *query.RatesAnswer) iter.Seq[any] { return each(a.Rows) },
	}
}
