package normalize

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/gputide/gputide"
)

// errUnit and errBasis mark a published price whose unit or basis the schema
// does not have; errCount one whose multiplier is not known. They tell refusals
// apart and are seen outside as [gputide.ErrInvalid].
var (
	errUnit  = fmt.Errorf("%w: unit of the published price", gputide.ErrInvalid)
	errBasis = fmt.Errorf("%w: basis of the published price", gputide.ErrInvalid)
	errCount = fmt.Errorf("%w: number of the basis per instance is not known", gputide.ErrInvalid)
	errShape = fmt.Errorf("%w: published price is stated twice", gputide.ErrInvalid)
	errTerm  = fmt.Errorf("%w: term of the published price", gputide.ErrInvalid)
)

// Hourly derives the hourly price of one instance, in the currency of p, by
// exact rational arithmetic from the published texts, rounded half-even to
// nano-units once, at the end. term is the commitment the price holds for,
// count and vcpu what one instance has; both matter only for a basis of
// accelerator or vcpu, and a multiplier already in p is used where they are
// not known. The second result is p with Multiplier filled for such a basis.
//
// It returns [gputide.ErrNoPrice] for an amount that is blank, zero, negative
// or unreadable, [gputide.ErrIncomplete] for a sum with a missing part,
// [gputide.ErrOverflow] for a result beyond [gputide.MaxNano], and
// [gputide.ErrInvalid] for a unit, basis, term or count that cannot be used.
func Hourly(p gputide.Published, term gputide.Term, count gputide.Count, vcpu *float64) (gputide.Nano, gputide.Published, error) {
	if p.Unit == gputide.PerHour && p.Basis == gputide.BasisInstance && p.Upfront == "" && len(p.Components) == 0 {
		if n, ok := parsePlain(p.Amount); ok {
			p.Multiplier = gputide.Count{}
			return n, p, nil
		}
	}
	return hourlyExact(p, term, count, vcpu)
}

// hourlyExact is Hourly without the short way for plain hourly prices.
func hourlyExact(p gputide.Published, term gputide.Term, count gputide.Count, vcpu *float64) (gputide.Nano, gputide.Published, error) {
	mult, err := multiplier(&p, count, vcpu)
	if err != nil {
		return 0, p, err
	}
	p.Multiplier = mult
	sum, err := perBasisHour(&p, term)
	if err != nil {
		return 0, p, err
	}
	if mult.Known() {
		sum.Mul(sum, countRat(mult))
	}
	n, err := gputide.RoundNano(sum)
	if err != nil {
		return 0, p, err
	}
	if n <= 0 {
		return 0, p, fmt.Errorf("%w: %s rounds to zero", gputide.ErrNoPrice, sum.FloatString(priceDigits+3))
	}
	return n, p, nil
}

// perBasisHour returns the exact hourly amount for one of the basis: the
// recurring amount or the sum of the components, with the upfront fee spread
// over the term.
func perBasisHour(p *gputide.Published, term gputide.Term) (*big.Rat, error) {
	upfront, err := upfrontPerHour(p.Upfront, term)
	if err != nil {
		return nil, err
	}
	recurring, err := recurringPerHour(p, term, upfront.Sign() > 0)
	if err != nil {
		return nil, err
	}
	if recurring.Add(recurring, upfront).Sign() <= 0 {
		return nil, fmt.Errorf("%w: amount %q, upfront %q", gputide.ErrNoPrice, p.Amount, p.Upfront)
	}
	return recurring, nil
}

func recurringPerHour(p *gputide.Published, term gputide.Term, hasUpfront bool) (*big.Rat, error) {
	if len(p.Components) > 0 {
		if p.Amount != "" {
			return nil, fmt.Errorf("%w: amount %q beside %d components", errShape, p.Amount, len(p.Components))
		}
		return sumComponents(p.Components, term)
	}
	if p.Amount == "" && hasUpfront {
		return new(big.Rat), nil
	}
	amount, err := parsePrice(p.Amount)
	if err != nil {
		return nil, err
	}
	hours, err := unitHours(p.Unit, term)
	if err != nil {
		return nil, err
	}
	return amount.Quo(amount, hours), nil
}

// upfrontPerHour spreads a fee over the hours of the term. No fee is zero.
func upfrontPerHour(fee string, term gputide.Term) (*big.Rat, error) {
	if fee == "" {
		return new(big.Rat), nil
	}
	amount, err := parsePrice(fee)
	if err != nil {
		return nil, fmt.Errorf("upfront: %w", err)
	}
	hours, err := unitHours(gputide.PerTerm, term)
	if err != nil {
		return nil, fmt.Errorf("upfront: %w", err)
	}
	return amount.Quo(amount, hours), nil
}

// sumComponents adds the parts. A part without amount or quantity makes the sum
// incomplete; a part for nothing is no price, since a source that gives a part
// away says so by not listing it.
func sumComponents(parts []gputide.Component, term gputide.Term) (*big.Rat, error) {
	sum := new(big.Rat)
	for i := range parts {
		v, err := componentPerHour(&parts[i], term)
		if err != nil {
			return nil, fmt.Errorf("component %s: %w", parts[i].Kind, err)
		}
		sum.Add(sum, v)
	}
	return sum, nil
}

func componentPerHour(c *gputide.Component, term gputide.Term) (*big.Rat, error) {
	if c.Amount == "" || c.Quantity == "" {
		return nil, gputide.ErrIncomplete
	}
	amount, err := parsePrice(c.Amount)
	if err != nil {
		return nil, err
	}
	quantity, err := parsePrice(c.Quantity)
	if err != nil {
		return nil, fmt.Errorf("quantity: %w", err)
	}
	if amount.Sign() == 0 || quantity.Sign() == 0 {
		return nil, fmt.Errorf("%w: %q × %q", gputide.ErrNoPrice, c.Amount, c.Quantity)
	}
	hours, err := unitHours(c.Unit, term)
	if err != nil {
		return nil, err
	}
	return amount.Mul(amount, quantity).Quo(amount, hours), nil
}

// parsePrice reads an amount that may be zero and never negative.
func parsePrice(s string) (*big.Rat, error) {
	r, err := gputide.ParseAmount(s)
	switch {
	case errors.Is(err, gputide.ErrOverflow):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", gputide.ErrNoPrice, err)
	case r.Sign() < 0:
		return nil, fmt.Errorf("%w: negative amount %q", gputide.ErrNoPrice, s)
	}
	return r, nil
}

// unitHours returns the hours of one unit as an exact number.
func unitHours(u gputide.Unit, term gputide.Term) (*big.Rat, error) {
	switch u {
	case gputide.PerHour:
		return big.NewRat(1, 1), nil
	case gputide.PerSecond:
		return big.NewRat(1, 3600), nil
	case gputide.PerMinute:
		return big.NewRat(1, 60), nil
	case gputide.PerDay:
		return big.NewRat(24, 1), nil
	case gputide.PerWeek:
		return big.NewRat(168, 1), nil
	case gputide.PerMonth:
		return big.NewRat(gputide.HoursPerMonth, 1), nil
	case gputide.PerYear:
		return big.NewRat(gputide.HoursPerYear, 1), nil
	case gputide.PerTerm:
		h, err := term.Hours()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errTerm, err)
		}
		return big.NewRat(h, 1), nil
	}
	return nil, fmt.Errorf("%w: %q", errUnit, u)
}

// multiplier returns how many of the basis one instance has; the zero Count for
// a price per instance.
func multiplier(p *gputide.Published, count gputide.Count, vcpu *float64) (gputide.Count, error) {
	switch p.Basis {
	case gputide.BasisInstance:
		return gputide.Count{}, nil
	case gputide.BasisAccelerator:
		if count.Known() {
			return gputide.NewCount(count.Num, count.Den), nil
		}
	case gputide.BasisVCPU:
		if vcpu != nil {
			if c, ok := floatCount(*vcpu); ok {
				return c, nil
			}
		}
	default:
		return gputide.Count{}, fmt.Errorf("%w: %q", errBasis, p.Basis)
	}
	if !p.Multiplier.Known() {
		return gputide.Count{}, fmt.Errorf("%w: basis %s", errCount, p.Basis)
	}
	return gputide.NewCount(p.Multiplier.Num, p.Multiplier.Den), nil
}

// floatCount reads a positive number of vCPUs (0.25, 1.5, 96) as a fraction.
func floatCount(v float64) (gputide.Count, bool) {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
	if !ok || r.Sign() <= 0 || !fitsUint32(r.Num()) || !fitsUint32(r.Denom()) {
		return gputide.Count{}, false
	}
	return gputide.NewCount(uint32(r.Num().Uint64()), uint32(r.Denom().Uint64())), true
}

func fitsUint32(i *big.Int) bool { return i.IsUint64() && i.Uint64()>>32 == 0 }

func countRat(c gputide.Count) *big.Rat { return big.NewRat(int64(c.Num), int64(c.Den)) }
