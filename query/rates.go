package query

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// RatesRequest asks for the exchange rates in use.
type RatesRequest struct {
	From, To time.Time // days [From, To); zero From is At alone
	At       time.Time // zero is now
	Base     string    // what one unit of is priced; empty is EUR
	Quote    []string  // in which currencies; empty is USD, EUR and those of the offers stored
	Amount   string    // in Base, to be converted; empty converts nothing
}

// RatesAnswer is one row per day and currency.
type RatesAnswer struct {
	Rows  []RateRow `json:"rows"`
	Empty *Empty    `json:"empty"`
}

// RateRow is the rate of one day: what one unit of the base buys. Rates are of
// the latest publication not after the day, crossed through the euro.
type RateRow struct {
	Day       Day            `json:"day"`
	Base      Text           `json:"base"`
	Quote     Text           `json:"quote"`
	Rate      Text           `json:"rate"` // rounded half-even to nine decimals; null without one
	FXDate    Day            `json:"fx_date"`
	Legs      []FXLeg        `json:"legs"`
	Amount    Text           `json:"amount"`
	Converted *Money         `json:"converted"`
	Flags     []gputide.Flag `json:"flags"`
}

// mostDays bounds the days of one answer: forty years.
const mostDays = 40 * 366

// Rates returns the exchange rates in force. It returns [gputide.ErrInvalid]
// for a request it does not understand.
func (e *Engine) Rates(ctx context.Context, req RatesRequest) (RatesAnswer, error) {
	base, quotes, err := e.currencies(ctx, &req)
	if err != nil {
		return RatesAnswer{}, err
	}
	var amount *big.Rat
	if req.Amount != "" {
		if amount, err = gputide.ParseAmount(req.Amount); err != nil {
			return RatesAnswer{}, fmt.Errorf("amount: %w", err)
		}
	}
	days, err := e.rateDays(&req)
	if err != nil {
		return RatesAnswer{}, err
	}
	var ans RatesAnswer
	known := false
	for _, day := range days {
		for _, q := range quotes {
			c, err := newExchange(e.Reader, q, day).from(ctx, base)
			if err != nil {
				return RatesAnswer{}, err
			}
			known = known || c != nil
			ans.Rows = append(ans.Rows, rateRow(day, base, q, c, req.Amount, amount))
		}
	}
	if !known {
		ans.Rows = nil
		ans.Empty = &Empty{Text: fmt.Sprintf("no rate of %s in %s is stored for the time asked; `gputide crawl --provider ecb` fetches rates", base, joined(texts(quotes)))}
	}
	return ans, nil
}

func rateRow(day time.Time, base, quote gputide.Currency, c *cross, text string, amount *big.Rat) RateRow {
	row := RateRow{Day: Day{day}, Base: Text(base), Quote: Text(quote), Legs: []FXLeg{}, Amount: Text(text), Flags: orNone(nil)}
	if c == nil {
		row.Flags = addFlag(row.Flags, gputide.FlagNoFX)
		return row
	}
	row.Rate, row.FXDate = c.text(), Day{c.date}
	if fx := fxRow(c); fx != nil {
		row.Legs = fx.Legs
	}
	if amount != nil {
		row.Converted = c.round(new(big.Rat).Set(amount))
	}
	if c.old {
		row.Flags = addFlag(row.Flags, gputide.FlagFXOld)
	}
	return row
}

// currencies understands what to convert.
func (e *Engine) currencies(ctx context.Context, req *RatesRequest) (gputide.Currency, []gputide.Currency, error) {
	base := eur
	var err error
	if req.Base != "" {
		if base, err = parseCurrency("base", req.Base); err != nil {
			return "", nil, err
		}
	}
	names := req.Quote
	if len(names) == 0 {
		if names, err = e.Reader.Values(ctx, gputide.FieldCurrency); err != nil {
			return "", nil, fmt.Errorf("currencies: %w", err)
		}
		names = append(slices.Clone(names), string(usd), string(eur))
	}
	var quotes []gputide.Currency
	for _, n := range names {
		c, err := parseCurrency("quote", n)
		if err != nil {
			return "", nil, err
		}
		if c != base && !slices.Contains(quotes, c) {
			quotes = append(quotes, c)
		}
	}
	if len(quotes) == 0 && len(req.Quote) > 0 {
		return "", nil, &gputide.HintError{
			Err:  fmt.Errorf("%w: a rate of %s in %s", gputide.ErrInvalid, base, strings.ToUpper(joined(req.Quote))),
			Hint: "give two different currencies",
		}
	}
	slices.Sort(quotes)
	return base, quotes, nil
}

// rateDays lists the UTC days asked for.
func (e *Engine) rateDays(req *RatesRequest) ([]time.Time, error) {
	if req.From.IsZero() {
		return []time.Time{bucketStart(BucketDay, e.moment(req.At))}, nil
	}
	to := req.To
	if to.IsZero() {
		to = e.moment(req.At)
	}
	if !req.From.Before(to) {
		return nil, fmt.Errorf("%w: from is not before to", gputide.ErrInvalid)
	}
	var days []time.Time
	for day := bucketStart(BucketDay, req.From); day.Before(to); day = bucketNext(BucketDay, day) {
		if len(days) == mostDays {
			return nil, fmt.Errorf("%w: more than %d days", gputide.ErrInvalid, mostDays)
		}
		days = append(days, day)
	}
	return days, nil
}
