package normalize

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/gputide/gputide"
)

// Explain returns the arithmetic of [Hourly] for a price whose Multiplier is
// filled, one step a line, each ending in an amount of currency. Amounts are
// shown rounded to nine decimals, marked ≈ where that changes them; the price
// itself is rounded once, at the end. It returns the errors of [Hourly].
func Explain(p gputide.Published, term gputide.Term, currency gputide.Currency) ([]string, error) {
	if _, _, err := Hourly(p, term, gputide.Count{}, nil); err != nil {
		return nil, err
	}
	e := explainer{p: &p, term: term, currency: string(currency), per: string(p.Basis)}
	hourly := new(big.Rat)
	if len(p.Components) > 0 {
		hourly = e.components()
	} else if p.Amount != "" {
		hourly = e.recurring()
	}
	if p.Upfront != "" {
		hourly = e.upfront(hourly)
	}
	if p.Multiplier.Known() && p.Basis != gputide.BasisInstance {
		e.multiply(hourly)
	}
	return e.lines, nil
}

// explainer writes the steps of a price that is known to derive: what it parses
// again cannot fail.
type explainer struct {
	p        *gputide.Published
	term     gputide.Term
	currency string
	per      string
	lines    []string
}

func (e *explainer) line(format string, args ...any) {
	e.lines = append(e.lines, fmt.Sprintf(format, args...))
}

// money writes "= 21.52 USD" or "≈ 3.424657534 CNY".
func (e *explainer) money(r *big.Rat) string {
	text, sign := e.plain(r)
	return fmt.Sprintf("%s %s %s", sign, text, e.currency)
}

func (e *explainer) plain(r *big.Rat) (text, sign string) {
	n, err := gputide.RoundNano(r)
	if err != nil {
		return r.FloatString(0), "≈"
	}
	if n.Rat().Cmp(r) != 0 {
		return n.String(), "≈"
	}
	return n.String(), "="
}

func (e *explainer) recurring() *big.Rat {
	v, _ := recurringPerHour(e.p, e.term, true)
	if e.p.Unit == gputide.PerHour {
		if e.p.Upfront == "" && !e.multiplied() {
			e.line("%s %s per %s-hour, as published", e.p.Amount, e.currency, e.per)
		}
		return v
	}
	e.line("%s %s per %s-%s %s %s per %s-hour", e.p.Amount, e.currency, e.per, unitWord(e.p.Unit, e.term),
		conversion(e.p.Unit, e.term), e.money(v), e.per)
	return v
}

func (e *explainer) multiplied() bool {
	return e.p.Multiplier.Known() && e.p.Basis != gputide.BasisInstance
}

func (e *explainer) components() *big.Rat {
	sum := new(big.Rat)
	var shown []string
	for i := range e.p.Components {
		c := &e.p.Components[i]
		v, _ := componentPerHour(c, e.term)
		sum.Add(sum, v)
		conv := conversion(c.Unit, e.term)
		if conv != "" {
			conv += " "
		}
		e.line("%s: %s %s per %s × %s %s%s per hour", c.Kind, c.Amount, e.currency, unitWord(c.Unit, e.term), c.Quantity, conv, e.money(v))
		text, _ := e.plain(v)
		shown = append(shown, text)
	}
	e.line("%s %s per %s-hour", strings.Join(shown, " + "), e.money(sum), e.per)
	return sum
}

func (e *explainer) upfront(hourly *big.Rat) *big.Rat {
	h, _ := unitHours(gputide.PerTerm, e.term)
	up, _ := upfrontPerHour(e.p.Upfront, e.term)
	total := new(big.Rat).Add(hourly, up)
	hours := h.FloatString(0)
	if hourly.Sign() == 0 {
		e.line("%s %s upfront ÷ %s h (%s) %s per %s-hour", e.p.Upfront, e.currency, hours, e.term, e.money(total), e.per)
		return total
	}
	text, _ := e.plain(hourly)
	e.line("(%s %s upfront + %s %s per hour × %s h) ÷ %s h (%s) %s per %s-hour",
		e.p.Upfront, e.currency, text, e.currency, hours, hours, e.term, e.money(total), e.per)
	return total
}

func (e *explainer) multiply(hourly *big.Rat) {
	text, _ := e.plain(hourly)
	if e.p.Unit == gputide.PerHour && e.p.Upfront == "" && e.p.Amount != "" {
		text = e.p.Amount
	}
	total := new(big.Rat).Mul(hourly, countRat(e.p.Multiplier))
	e.line("%s %s per %s-hour × %s %s per instance-hour", text, e.currency, e.per, e.p.Multiplier, e.money(total))
}

func unitWord(u gputide.Unit, term gputide.Term) string {
	switch u {
	case gputide.PerSecond:
		return "second"
	case gputide.PerMinute:
		return "minute"
	case gputide.PerHour:
		return "hour"
	case gputide.PerDay:
		return "day"
	case gputide.PerWeek:
		return "week"
	case gputide.PerMonth:
		return "month"
	case gputide.PerYear:
		return "year"
	case gputide.PerTerm:
		return "term of " + string(term)
	}
	return string(u)
}

// conversion writes how an amount of u becomes one of an hour; empty for hours.
func conversion(u gputide.Unit, term gputide.Term) string {
	h, err := unitHours(u, term)
	switch {
	case err != nil || u == gputide.PerHour:
		return ""
	case h.IsInt():
		return "÷ " + h.Num().String() + " h"
	}
	return "× " + h.Denom().String()
}
