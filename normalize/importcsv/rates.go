package importcsv

import (
	"context"
	"fmt"
	"time"

	"github.com/gputide/gputide"
)

// The columns of a file of exchange rates.
const (
	rateDate = iota
	rateBase
	rateQuote
	rateAmount
)

// maxRates bounds the rates of one file, which are held in memory: fifty
// currencies for a century of business days.
const maxRates = 1_500_000

// The ECB's own file: a day a row, a currency a column.
//
// Source: https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist.zip
const (
	ecbDate      = "Date"
	ecbBase      = gputide.Currency("EUR")
	ecbNotQuoted = "N/A" // that day
)

// checkECB checks the names of the columns of the ECB's file: the date, then
// currencies, then a column without a name, for every line ends in a comma.
func checkECB(names []string) error {
	for i, name := range names {
		ok := gputide.Currency(name).Valid() || name == "" && i == len(names)-1
		if i == 0 {
			ok = name == ecbDate
		}
		if !ok {
			return fmt.Errorf("%w: column %d of the header is %.80q, want %s and then currencies", gputide.ErrInvalid, i+1, name, ecbDate)
		}
	}
	if len(names) < 2 {
		return fmt.Errorf("%w: the header names no currency", gputide.ErrInvalid)
	}
	return nil
}

// Rates returns the rates of a file of form [FormRates] or [FormECB], in the
// order of the file. Equal twins are one; of two that contradict each other the
// second is rejected. It returns [gputide.ErrTooLarge] for more than 1.5 million.
func (r *Reader) Rates(ctx context.Context) ([]gputide.Rate, error) {
	g := rateTaker{r: r, seen: make(map[rateDay]int)}
	err := r.each(ctx, func(c []string) (Reason, bool) {
		if r.p.Form == FormECB {
			return g.day(c)
		}
		reason := g.take(c[rateDate], gputide.Currency(c[rateBase]), gputide.Currency(c[rateQuote]), c[rateAmount])
		return reason, len(g.out) <= maxRates
	})
	if err == nil && len(g.out) > maxRates {
		err = gputide.ErrTooLarge
	}
	return g.out, err
}

type rateDay struct {
	date        time.Time
	base, quote gputide.Currency
}

// rateTaker gathers rates.
type rateTaker struct {
	r    *Reader
	out  []gputide.Rate
	seen map[rateDay]int
}

// day takes the rates of a line of the ECB's file: each one is a row of its own.
func (g *rateTaker) day(c []string) (Reason, bool) {
	tally := &g.r.tally
	tally.Rows--
	for i, quote := range g.r.layout.cells {
		if i == 0 || quote == "" || c[i] == "" || c[i] == ecbNotQuoted {
			continue
		}
		tally.Rows++
		if reason := g.take(c[0], ecbBase, gputide.Currency(quote), c[i]); reason != "" {
			tally.note(g.r.l.n, reason, g.r.l.text)
		}
	}
	return "", len(g.out) <= maxRates
}

func (g *rateTaker) take(day string, base, quote gputide.Currency, amount string) Reason {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil || !g.r.possible(date) {
		return ReasonTime
	}
	rate := gputide.Rate{Date: date, Base: base, Quote: quote, Amount: amount, Source: g.r.p.Feed}
	if !rate.Base.Valid() || !rate.Quote.Valid() || rate.Base == rate.Quote {
		return ReasonCurrency
	}
	if v, err := gputide.ParseAmount(rate.Amount); err != nil || v.Sign() <= 0 {
		return ReasonValue
	}
	k := rateDay{date, rate.Base, rate.Quote}
	if i, ok := g.seen[k]; ok {
		if g.out[i] != rate {
			return ReasonTwice
		}
		return ""
	}
	g.seen[k] = len(g.out)
	g.out = append(g.out, rate)
	return ""
}
