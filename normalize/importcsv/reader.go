package importcsv

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gputide/gputide/normalize"
)

// Options is what a [Reader] needs beside its file and profile.
type Options struct {
	Normalizer *normalize.Normalizer // required for prices
	Now        time.Time             // a later moment cannot have been observed
	Progress   func(rows int64)      // called now and then; nil is not called

	// At is the moment observed of a file that does not say it itself; zero when
	// it does.
	At time.Time

	// Provider is the word for the provider of a file whose rows do not name it.
	Provider string
}

// Reader reads the rows of one file.
type Reader struct {
	p      *Profile
	opt    Options
	l      *lines  // of a CSV or of NDJSON
	layout *layout // of a CSV
	line   []string
	json   io.Reader // of a JSON document
	tally  Tally
}

// The first lines of the forms.
const (
	ratesHeader      = "date,base,quote,rate,source"
	signalsHeader    = "time,provider,region,instance_type,gpu,gpu_count,os,savings_pct,interruption_index,interruption_label"
	benchmarksHeader = "round,id,submitter,system,accelerator,accelerators_per_node,nodes,model,scenario,result,units"
)

// HeaderOf returns the first line of a file of a form; it is empty for a form
// that is no CSV of a fixed header.
func HeaderOf(f Form) string {
	switch f {
	case FormPrices:
		return strings.Join(commonColumns(), ",")
	case FormRates:
		return ratesHeader
	case FormSignals:
		return signalsHeader
	case FormBenchmarks:
		return benchmarksHeader
	case FormExport:
		return strings.Join(ExportColumns(), ",")
	}
	return ""
}

// New returns a reader of r, which is plain or gzipped, and reads the first line
// of a CSV. It returns [gputide.ErrInvalid] when that is not the profile's,
// [gputide.ErrEmpty] when there is none.
func New(r io.Reader, p *Profile, opt Options) (*Reader, error) {
	out := &Reader{p: p, opt: opt}
	if p.Form == FormSpotHistory || p.Form == FormAdvisor {
		plain, err := unpack(r)
		out.json = io.LimitReader(plain, maxJSON+1)
		return out, err
	}
	var err error
	if out.l, err = newLines(r); err != nil {
		return nil, err
	}
	if err := out.header(); err != nil {
		return nil, fmt.Errorf("profile %s: %w", p.Name, err)
	}
	return out, nil
}

// header reads the first line and finds the columns in it.
func (r *Reader) header() error {
	if r.p.Form == FormExport {
		if object, err := r.l.object(); err != nil || object {
			return err
		}
	}
	if len(r.p.Columns) == 0 && r.p.Form != FormECB {
		names, err := r.l.header(HeaderOf(r.p.Form))
		if err != nil {
			return err
		}
		r.layout = &layout{columns: len(names)}
		r.line = make([]string, len(names))
		return nil
	}
	names, err := r.l.names()
	if err != nil {
		return err
	}
	r.line = make([]string, len(names))
	if r.p.Form == FormECB {
		r.layout = &layout{columns: len(names), cells: names}
		return checkECB(names)
	}
	r.layout, err = r.p.newLayout(names)
	return err
}

// Tally returns the counts so far.
func (r *Reader) Tally() *Tally { return &r.tally }

// breath is how many rows pass between looks at the context.
const breath = 4096

// each calls fn with the cells of every row until it returns false. fn returns
// why a row is rejected or left out, or "".
func (r *Reader) each(ctx context.Context, fn func(cells []string) (Reason, bool)) error {
	for {
		ok, err := r.l.next()
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		if len(bytes.TrimSpace(r.l.text)) == 0 {
			continue
		}
		if err := r.count(ctx); err != nil {
			return err
		}
		reason, more := ReasonColumns, true
		if r.l.split(r.line) {
			reason, more = fn(r.pick())
		}
		if reason != "" {
			r.tally.note(r.l.n, reason, r.l.text)
		}
		if !more {
			return nil
		}
	}
}

func (r *Reader) pick() []string {
	if r.layout == nil {
		return r.line
	}
	cells := r.layout.pick(r.line)
	if r.opt.Provider != "" && r.layout.at != nil && r.layout.at[colProvider] < 0 {
		cells[colProvider] = r.opt.Provider
	}
	return cells
}

// count counts a row and now and then looks whether to go on.
func (r *Reader) count(ctx context.Context) error {
	if r.tally.Rows++; r.tally.Rows%breath != 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.opt.Progress != nil {
		r.opt.Progress(r.tally.Rows)
	}
	return nil
}

// firstYear is the earliest year of a time stamp: nobody rented accelerators by
// the hour before.
const firstYear = 1990

// moment reads a time stamp. A file whose columns are mapped may write it with
// an offset or fractions of a second, which are cut, or give the day alone; one
// that has none is read at the moment it was told.
func (r *Reader) moment(s string) (time.Time, bool) {
	if len(s) == len("2006-01-02T15:04:05Z") && s[len(s)-1] == 'Z' {
		t, err := time.Parse(time.RFC3339, s)
		return t, err == nil && r.possible(t)
	}
	if r.layout != nil && r.layout.at == nil {
		return time.Time{}, false
	}
	if s == "" && !r.opt.At.IsZero() {
		return r.opt.At, r.possible(r.opt.At)
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = time.Parse(time.DateOnly, s)
	}
	t = t.UTC().Truncate(time.Second)
	return t, err == nil && r.possible(t)
}

// possible reports whether a price can have been observed at a moment.
func (r *Reader) possible(t time.Time) bool { return t.Year() >= firstYear && !t.After(r.opt.Now) }
