package query

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/gputide/gputide"
)

// Currencies with a part of their own: rates are published against the euro,
// and prices are compared in dollars unless another currency is asked for.
const (
	eur gputide.Currency = "EUR"
	usd gputide.Currency = "USD"
)

// fxOldAfter is the age at which a rate is flagged.
const fxOldAfter = 7 * 24 * time.Hour

// cross is the rate from one currency to another through the euro. A nil cross
// is none.
type cross struct {
	from, to gputide.Currency
	rate     *big.Rat       // what one unit of from buys
	date     time.Time      // the older of the days used; zero where nothing was converted
	old      bool           // date lies more than a week before the moment
	legs     []gputide.Rate // the published rates used
}

// same is no conversion.
func same(c gputide.Currency) *cross { return &cross{from: c, to: c} }

// apply converts an amount, rounded half-even to nano-units. It returns nil for
// a nil cross and for what does not fit.
func (c *cross) apply(n gputide.Nano) *Money {
	if c == nil {
		return nil
	}
	if c.from == c.to {
		return new(Money(n))
	}
	return c.round(n.Rat())
}

// share converts an amount divided by a count.
func (c *cross) share(n gputide.Nano, by gputide.Count) *Money {
	if c == nil || !by.Known() {
		return nil
	}
	if by.Num == 1 && by.Den == 1 {
		return c.apply(n)
	}
	return c.round(new(big.Rat).Mul(n.Rat(), big.NewRat(int64(by.Den), int64(by.Num))))
}

func (c *cross) round(r *big.Rat) *Money {
	if c.from != c.to {
		r.Mul(r, c.rate)
	}
	n, err := gputide.RoundNano(r)
	if err != nil {
		return nil
	}
	return new(Money(n))
}

// text returns the rate rounded half-even to nine decimals, empty where nothing
// was converted.
func (c *cross) text() Text {
	if c == nil || c.from == c.to {
		return ""
	}
	n, err := gputide.RoundNano(c.rate)
	if err != nil {
		return ""
	}
	return Text(n.String())
}

// exchange converts to one currency at one moment.
type exchange struct {
	reader Reader
	to     gputide.Currency
	at     time.Time
	seen   map[gputide.Currency]*cross
}

func newExchange(r Reader, to gputide.Currency, at time.Time) *exchange {
	return &exchange{reader: r, to: to, at: at, seen: map[gputide.Currency]*cross{}}
}

// from returns the rate from a currency, nil when there is none.
func (x *exchange) from(ctx context.Context, c gputide.Currency) (*cross, error) {
	if got, ok := x.seen[c]; ok {
		return got, nil
	}
	got, err := x.cross(ctx, c)
	if err != nil {
		return nil, err
	}
	x.seen[c] = got
	return got, nil
}

func (x *exchange) cross(ctx context.Context, c gputide.Currency) (*cross, error) {
	out := &cross{from: c, to: x.to, rate: big.NewRat(1, 1)}
	if c == x.to {
		return out, nil
	}
	for _, leg := range []gputide.Currency{c, x.to} {
		if leg == eur {
			continue
		}
		rate, ok, err := x.reader.Rate(ctx, leg, x.at)
		if err != nil {
			return nil, fmt.Errorf("rate of %s: %w", leg, err)
		}
		if !ok {
			return nil, nil
		}
		amount, err := gputide.ParseAmount(rate.Amount)
		if err != nil || amount.Sign() <= 0 {
			return nil, fmt.Errorf("%w: rate of %s on %s is %q", gputide.ErrInvalid, leg, rate.Date.Format(time.DateOnly), clip(rate.Amount))
		}
		if leg == c {
			amount.Inv(amount)
		}
		out.rate.Mul(out.rate, amount)
		out.legs = append(out.legs, rate)
		if out.date.IsZero() || rate.Date.Before(out.date) {
			out.date = rate.Date
		}
	}
	out.old = x.at.UTC().Truncate(24*time.Hour).Sub(out.date) > fxOldAfter
	return out, nil
}
