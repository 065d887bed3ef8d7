package importcsv

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gputide/gputide/normalize"
)

// Options is what a [Reader] needs beside its file and profile.
type Options struct {
	Normalizer *normalize.Normalizer // required for prices
	Now        time.Time             // a later moment cannot have been observed
	Progress   func(rows int64)      // called now and then; nil is not called
}

// Reader reads the rows of one file.
type Reader struct {
	p     *Profile
	opt   Options
	l     *lines
	tally Tally
}

// The first lines of the forms.
const (
	pricesHeader  = "time,provider,region,zone,instance_type,gpu,gpu_count,market,os,price,currency"
	ratesHeader   = "date,base,quote,rate,source"
	signalsHeader = "time,provider,region,instance_type,gpu,gpu_count,os,savings_pct,interruption_index,interruption_label"
)

// New returns a reader of r, which is plain or gzipped, and reads the first
// line. It returns [gputide.ErrInvalid] when that is not the profile's,
// [gputide.ErrEmpty] when there is none.
func New(r io.Reader, p *Profile, opt Options) (*Reader, error) {
	l, err := newLines(r)
	if err != nil {
		return nil, err
	}
	header := pricesHeader
	switch p.Form {
	case FormRates:
		header = ratesHeader
	case FormSignals:
		header = signalsHeader
	}
	if err := l.header(header); err != nil {
		return nil, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	return &Reader{p: p, opt: opt, l: l}, nil
}

// Tally returns the counts so far.
func (r *Reader) Tally() *Tally { return &r.tally }

// breath is how many rows pass between looks at the context.
const breath = 4096

// each calls fn with the cells of every row until it returns false. fn returns
// the reason of a row it rejects, or "".
func (r *Reader) each(ctx context.Context, columns int, fn func(cells []string) (Reason, bool)) error {
	cells := make([]string, columns)
	for {
		ok, err := r.l.next()
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		if len(r.l.text) == 0 {
			continue
		}
		if r.tally.Rows++; r.tally.Rows%breath == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r.opt.Progress != nil {
				r.opt.Progress(r.tally.Rows)
			}
		}
		reason, more := ReasonColumns, true
		if split(r.l.text, cells) {
			reason, more = fn(cells)
		}
		if reason != "" {
			r.tally.reject(r.l.n, reason, r.l.text)
		}
		if !more {
			return nil
		}
	}
}

// firstYear is the earliest year of a time stamp: nobody rented accelerators by
// the hour before.
const firstYear = 1990

// moment reads a time stamp.
func (r *Reader) moment(s string) (time.Time, bool) {
	if len(s) != len("2006-01-02T15:04:05Z") || s[len(s)-1] != 'Z' {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Year() < firstYear || t.After(r.opt.Now) {
		return time.Time{}, false
	}
	return t, true
}
