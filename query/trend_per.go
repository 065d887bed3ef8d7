package query

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// What a price of a trend is for one hour of. PerTFLOPS is followed by a colon
// and a precision.
const (
	PerInstance = "instance"
	PerGPU      = "gpu"
	PerGB       = "gb"   // of accelerator memory
	PerGBps     = "gbps" // of memory bandwidth, GB/s
	PerTFLOPS   = "tflops"
)

// Units lists what prices of a trend can be normalised to.
func Units() []string {
	out := []string{PerInstance, PerGPU, PerGB, PerGBps}
	for _, p := range precisions() {
		out = append(out, PerTFLOPS+":"+p)
	}
	return out
}

// Why a series is not in a trend.
const (
	skipNoCount     = "accelerator count not known"
	skipNoMemory    = "accelerator memory not known"
	skipNoBandwidth = "memory bandwidth not known"
	skipNoPeak      = "no sourced dense figure for the precision"
	skipMasked      = "accelerator masked by its seller"
	skipNoFX        = "no exchange rate"
	skipNoData      = "no price in the window"
	skipBasket      = "not in every bucket"
)

// per is what prices are normalised to.
type per struct {
	text      string
	precision string // of tflops
}

func parsePer(s string) (per, error) {
	if s == "" {
		s = PerInstance
	}
	s = strings.ToLower(strings.TrimSpace(s))
	if !slices.Contains(Units(), s) {
		if strings.HasPrefix(s, PerMLPerf) {
			return per{}, &gputide.HintError{
				Err:  fmt.Errorf("%w: per %q is of no trend", gputide.ErrInvalid, clip(s)),
				Hint: "`gputide query compare` knows it",
			}
		}
		if s == PerTFLOPS {
			return per{}, &gputide.HintError{
				Err:  fmt.Errorf("%w: per tflops needs a precision", gputide.ErrInvalid),
				Hint: "write it as tflops:bf16; precisions are " + strings.Join(precisions(), ", "),
			}
		}
		return per{}, unknown("per", s, Units())
	}
	_, precision, _ := strings.Cut(s, ":")
	return per{text: s, precision: precision}, nil
}

// factor returns what to multiply the price of an instance by; nil and why when
// the figures are not known. A seller's mask says nothing of the figures behind
// it, so a masked accelerator is not ranked by them.
func (p per) factor(c *candidate, cat Catalogue) (*big.Rat, string) {
	if p.text == PerInstance {
		return big.NewRat(1, 1), ""
	}
	v := c.view
	if !v.count.Known() {
		return nil, skipNoCount
	}
	units := big.NewRat(int64(v.count.Num), int64(v.count.Den))
	each, why := p.each(c, cat)
	if why != "" {
		return nil, why
	}
	return units.Inv(units.Mul(units, each)), ""
}

// each returns how many units one accelerator is.
func (p per) each(c *candidate, cat Catalogue) (*big.Rat, string) {
	v := c.view
	var figure *float64
	var why string
	switch p.text {
	case PerGPU:
		return big.NewRat(1, 1), ""
	case PerGB:
		if v.row != nil {
			figure = v.row.MemoryGB
		}
		why = skipNoMemory
	default:
		if slices.Contains(c.flags, gputide.FlagMaskedAccelerator) {
			return nil, skipMasked
		}
		figure, why = p.rated(v, cat)
	}
	if figure != nil {
		if r := decimalOf(*figure); r != nil {
			return r, ""
		}
	}
	return nil, why
}

// rated returns a figure of the catalogue.
func (p per) rated(v *specView, cat Catalogue) (*float64, string) {
	entry, ok := cat.Entry(v.device.Slug)
	if p.text == PerGBps {
		if !ok {
			return nil, skipNoBandwidth
		}
		return entry.BandwidthGBs, skipNoBandwidth
	}
	if peak, has := entry.Dense[p.precision]; ok && has {
		return &peak, ""
	}
	return nil, skipNoPeak
}

// converter turns the prices of one series into those of a trend.
type converter struct {
	factor *big.Rat
	from   gputide.Currency
	days   *fxDays // nil leaves the currency

	price gputide.Nano // converted last, where the moment does not matter
	value int64
	fits  bool
}

// dated reports whether a conversion depends on its moment.
func (v *converter) dated() bool { return v.days != nil && v.days.fixed == nil && v.from != v.days.to }

// at returns a price at a moment in the unit of the trend, rounded half-even
// once; false when there is no rate or it does not fit.
func (v *converter) at(ctx context.Context, price gputide.Nano, at int64) (int64, bool, error) {
	if v.dated() {
		return v.convert(ctx, price, at)
	}
	if n, d := v.factor.Num(), v.factor.Denom(); (v.days == nil || v.from == v.days.to) && n.IsUint64() && d.IsUint64() {
		value, fits := scaled(price, n.Uint64(), d.Uint64())
		return value, fits, nil
	}
	if price != v.price {
		value, fits, err := v.convert(ctx, price, at)
		if err != nil {
			return 0, false, err
		}
		v.price, v.value, v.fits = price, value, fits
	}
	return v.value, v.fits, nil
}

// scaled returns price·num/den rounded half-even, false when it does not fit:
// what convert does without a rate, in 128 bits.
func scaled(price gputide.Nano, num, den uint64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(price), num)
	if hi >= den {
		return 0, false
	}
	q, rest := bits.Div64(hi, lo, den)
	if up := den - rest; rest > up || (rest == up && q&1 != 0) {
		q++
	}
	return int64(q), q <= uint64(gputide.MaxNano)
}

func (v *converter) convert(ctx context.Context, price gputide.Nano, at int64) (int64, bool, error) {
	r := price.Rat()
	r.Mul(r, v.factor)
	if v.days != nil {
		c, err := v.days.cross(ctx, v.from, at)
		if err != nil || c == nil {
			return 0, false, err
		}
		r.Mul(r, c.rate)
	}
	n, err := gputide.RoundNano(r)
	return int64(n), err == nil, nil
}

// fxDays are the rates of days.
type fxDays struct {
	reader Reader
	to     gputide.Currency
	fixed  *exchange // the one rate of FXNow; nil is the rate of each day
	days   map[int64]*exchange
}

// dailyRates returns the rates to convert to a currency with, nil where nothing
// is converted.
func (e *Engine) dailyRates(to string, fxNow bool) (*fxDays, error) {
	if to == "" {
		return nil, nil
	}
	in, err := parseCurrency("in", to)
	if err != nil {
		return nil, err
	}
	days := &fxDays{reader: e.Reader, to: in, days: map[int64]*exchange{}}
	if fxNow {
		days.fixed = newExchange(e.Reader, in, e.moment(time.Time{}))
	}
	return days, nil
}

const daySeconds = 24 * 60 * 60

func (d *fxDays) cross(ctx context.Context, from gputide.Currency, at int64) (*cross, error) {
	if d.fixed != nil {
		return d.fixed.from(ctx, from)
	}
	day := at / daySeconds
	x := d.days[day]
	if x == nil {
		x = newExchange(d.reader, d.to, timeOf(day*daySeconds))
		d.days[day] = x
	}
	return x.from(ctx, from)
}

// until returns where the piece of a stretch that starts at from ends: where the
// rate may change, at a UTC day, or with the stretch.
func (v *converter) until(from, to int64) int64 {
	if !v.dated() {
		return to
	}
	return min(to, (from/daySeconds+1)*daySeconds)
}
