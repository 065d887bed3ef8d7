package importcsv

import (
	"context"
	"time"

	"github.com/gputide/gputide"
)

// The columns of a file of exchange rates.
const (
	rateDate = iota
	rateBase
	rateQuote
	rateAmount
	rateSource
	rateColumns
)

// maxRates bounds the rates of one file, which are held in memory: fifty
// currencies for a century of business days.
const maxRates = 1_500_000

// Rates returns the rates of a file of form [FormRates], in the order of the
// file. Equal twins are one; of two that contradict each other the second is
// rejected. It returns [gputide.ErrTooLarge] for more than 1.5 million.
func (r *Reader) Rates(ctx context.Context) ([]gputide.Rate, error) {
	type day struct {
		date        time.Time
		base, quote gputide.Currency
	}
	var out []gputide.Rate
	seen := make(map[day]int)
	err := r.each(ctx, rateColumns, func(c []string) (Reason, bool) {
		date, err := time.Parse(time.DateOnly, c[rateDate])
		if err != nil || date.Year() < firstYear || date.After(r.opt.Now) {
			return ReasonTime, true
		}
		rate := gputide.Rate{
			Date: date, Base: gputide.Currency(c[rateBase]), Quote: gputide.Currency(c[rateQuote]), Amount: c[rateAmount], Source: r.p.Feed,
		}
		if !rate.Base.Valid() || !rate.Quote.Valid() || rate.Base == rate.Quote {
			return ReasonCurrency, true
		}
		if v, err := gputide.ParseAmount(rate.Amount); err != nil || v.Sign() <= 0 {
			return ReasonValue, true
		}
		k := day{date, rate.Base, rate.Quote}
		if i, ok := seen[k]; ok {
			if out[i] != rate {
				return ReasonTwice, true
			}
			return "", true
		}
		seen[k] = len(out)
		out = append(out, rate)
		return "", len(out) <= maxRates
	})
	if err == nil && len(out) > maxRates {
		err = gputide.ErrTooLarge
	}
	return out, err
}
