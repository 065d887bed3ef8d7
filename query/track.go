package query

import (
	"math"
	"math/big"

	"github.com/gputide/gputide"
)

// Over is what a statistic is taken over.
type Over string

// The bases of statistics. Over time it is the price in force at each instant,
// the one carried in included; over rows it is the observations of the window.
const (
	OverTime Over = "time"
	OverRows Over = "rows"
)

// parseOver reads a basis; empty is [OverTime].
func parseOver(s string) (Over, error) {
	switch o := Over(s); o {
	case "":
		return OverTime, nil
	case OverTime, OverRows:
		return o, nil
	}
	return "", unknown("over", s, []string{string(OverTime), string(OverRows)})
}

// stretch is a time [from, to) in which a price was in force, in Unix seconds.
type stretch struct {
	from, to int64
	price    gputide.Nano
}

func (s *stretch) seconds() uint64 { return uint64(s.to - s.from) }

// step is a change of price, dated by the observation that first saw it.
type step struct {
	at            int64
	observed      int64 // the last observation of before
	before, after gputide.Nano
}

// track is the history of one series in a window. Time in which no price was
// in force (not yet seen, withdrawn, held, gap, stale, sold out, after the end of
// an import) is in no stretch.
type track struct {
	from, to  int64            // [from, to), in Unix seconds
	carried   bool             // a price was in force just before the window
	listed    bool             // it was on offer, priced or not, at some time of the window
	ends      bool             // something is known of the last second of the window
	end       gputide.Interval // what holds then
	stretches []stretch
	steps     []step
	rows      []gputide.Observation // read on the basis of rows only
}

func (t *track) take(iv, last *gputide.Interval) {
	from, to := max(iv.From.Unix(), t.from), min(iv.To.Unix(), t.to)
	if iv.From.Unix() < t.from {
		t.carried = iv.State == gputide.StatePriced
	} else if last != nil && last.Price != iv.Price {
		t.steps = append(t.steps, step{at: from, observed: last.LastObserved.Unix(), before: last.Price, after: iv.Price})
	}
	if from >= to {
		return
	}
	switch iv.State {
	case gputide.StateWithdrawn, gputide.StateImportedEnd:
	case gputide.StatePriced:
		t.listed = true
		t.cover(stretch{from: from, to: to, price: iv.Price})
	default:
		t.listed = true
	}
}

// cover adds a stretch, or lengthens the one before at the same price.
func (t *track) cover(s stretch) {
	if n := len(t.stretches); n > 0 && t.stretches[n-1].to == s.from && t.stretches[n-1].price == s.price {
		t.stretches[n-1].to = s.to
		return
	}
	t.stretches = append(t.stretches, s)
}

// now returns the price at the end of the window; false where it is not known
// to be one a buyer is charged.
func (t *track) now() (gputide.Nano, bool) {
	if !t.ends {
		return 0, false
	}
	switch t.end.State {
	case gputide.StatePriced, gputide.StateHeld, gputide.StateGap, gputide.StateStale, gputide.StateSoldOut:
		return t.end.Price, true
	}
	return 0, false
}

// covered returns the seconds in which a price was in force.
func (t *track) covered() uint64 {
	var sum uint64
	for i := range t.stretches {
		sum += t.stretches[i].seconds()
	}
	return sum
}

// each passes the prices of the window in order of time, with their weight on a
// basis.
func (t *track) each(over Over, fn func(at int64, price gputide.Nano, weight uint64)) {
	if over == OverRows {
		for i := range t.rows {
			fn(t.rows[i].At.Unix(), t.rows[i].Price, 1)
		}
		return
	}
	for i := range t.stretches {
		fn(t.stretches[i].from, t.stretches[i].price, t.stretches[i].seconds())
	}
}

// volatility returns the sample standard deviation of the logarithms of the
// steps, nil of fewer than two.
func volatility(steps []step) *Fraction {
	n := float64(len(steps))
	if n < 2 {
		return nil
	}
	var sum float64
	logs := make([]float64, len(steps))
	for i, s := range steps {
		logs[i] = math.Log(float64(s.after) / float64(s.before))
		sum += logs[i]
	}
	var squares float64
	for _, l := range logs {
		squares += (l - sum/n) * (l - sum/n)
	}
	return fractionOf(math.Sqrt(squares / (n - 1)))
}

// drawdown finds the deepest fall from a price to a later one.
type drawdown struct {
	peak  gputide.Nano
	worst ratio // trough over peak
}

func (d *drawdown) see(price gputide.Nano) {
	if price >= d.peak {
		d.peak = price
	}
	if r := ratioOf(price, d.peak); d.worst.den == 0 || byDiscount(r, d.worst) > 0 {
		d.worst = r
	}
}

// percent returns the fall as a share of the peak, nil when nothing was seen.
func (d *drawdown) percent() *Percent {
	if d.worst.den == 0 {
		return nil
	}
	return NewPercent(d.worst.discount())
}

// perDay returns changes a day of covered time, nil without any.
func perDay(changes int, covered uint64) *Fraction {
	if covered == 0 {
		return nil
	}
	const day = 24 * 60 * 60
	return NewFraction(new(big.Rat).SetFrac(big.NewInt(int64(changes)*day), new(big.Int).SetUint64(covered)))
}
