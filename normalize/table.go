package normalize

import (
	_ "embed" // the compiled tables
	"fmt"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// The tables are written by hand in YAML and compiled to lines of
// tab-separated text, because every command loads them at its start: decoding
// the YAML takes fifty times as long, JSON five times. A test holds both equal.
// The first line of a table is its version.

//go:embed accelerators.tsv
var acceleratorsTSV string

//go:embed regions.tsv
var regionsTSV string

// Kinds of lines.
const (
	lineCard    = "card"
	lineMasked  = "masked"
	lineCountry = "country"
	lineCity    = "city"
	lineRegion  = "region"
	lineNation  = "nation" // a provider whose codes are built from country codes
)

// tableLines calls fn with the fields of each line behind the version and
// returns the version.
func tableLines(data string, fn func(kind string, f *fields) error) (version string, err error) {
	version, rest, ok := strings.Cut(data, "\n")
	if !ok || version == "" || len(version) > 16 {
		return "", fmt.Errorf("%w: no version", gputide.ErrInvalid)
	}
	for line := range strings.Lines(rest) {
		f := fields{rest: strings.TrimSuffix(line, "\n"), more: true}
		kind := f.text()
		if err := fn(kind, &f); err != nil {
			return "", fmt.Errorf("%s %.40q: %w", kind, line, err)
		}
		if f.err != nil || f.more {
			return "", fmt.Errorf("%w: %s %.40q: malformed line", gputide.ErrInvalid, kind, line)
		}
	}
	return version, nil
}

// fields reads the fields of one line in order; the first mistake stays.
type fields struct {
	rest string
	more bool
	err  error
}

func (f *fields) text() string {
	if !f.more {
		f.err = gputide.ErrInvalid
		return ""
	}
	var s string
	s, f.rest, f.more = strings.Cut(f.rest, "\t")
	return s
}

// list reads texts separated by semicolons.
func (f *fields) list() []string {
	s := f.text()
	if s == "" {
		return nil
	}
	return strings.Split(s, ";")
}

// number reads a positive number; 0 is an empty field.
func (f *fields) number() float64 {
	s := f.text()
	if s == "" {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v <= 0 {
		f.err = gputide.ErrInvalid
	}
	return v
}

func (f *fields) numbers() []float64 {
	var out []float64
	for _, s := range f.list() {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || v <= 0 {
			f.err = gputide.ErrInvalid
		}
		out = append(out, v)
	}
	return out
}

// optional is v, or nil for the number no field has.
func optional(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}
