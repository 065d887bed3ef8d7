package pricelist

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/gputide/gputide"
)

// maxPreamble bounds the lines before the header of a CSV list.
const maxPreamble = 16

// csvList reads the CSV form.
type csvList struct {
	*list
	scan    *scanner
	columns int
	index   [numAttrs]int16 // column of each attribute; -1 when the list has none
	values  values
	last    *product
}

// ReadCSV reads a list in CSV form from r and hands every offer, and every row
// that should be one, to emit; a row is valid until emit returns. The error is
// a *gputide.DriftError when the body is not such a list, gputide.ErrTooLarge
// for an endless record, or the error of r. Rows handed on before an error were
// read well.
func ReadCSV(r io.Reader, opt Options, emit func(*Row)) (*Report, error) {
	l, err := newList(opt, emit)
	if err != nil {
		return nil, err
	}
	c := &csvList{list: l, scan: newScanner(r)}
	if err := c.preamble(); err != nil {
		return &l.report, err
	}
	for {
		switch err := c.scan.next(); {
		case errors.Is(err, io.EOF):
			return &l.report, l.finish()
		case err != nil:
			return &l.report, c.drift(err)
		case c.scan.len() != c.columns:
			return &l.report, &gputide.DriftError{
				Source: opt.Source, Path: fmt.Sprintf("row %d", l.report.Rows+1),
				Want: fmt.Sprintf("%d columns", c.columns), Got: fmt.Sprintf("%d", c.scan.len()),
			}
		}
		c.take()
	}
}

// drift makes an error of the CSV form a drift; other errors are those of the
// stream.
func (c *csvList) drift(err error) error {
	if _, ok := errors.AsType[*csv.ParseError](err); !ok {
		return err
	}
	return &gputide.DriftError{
		Source: c.opt.Source, Path: fmt.Sprintf("row %d", c.report.Rows+1), Want: "a CSV record", Got: "something else", Err: err,
	}
}

// preamble reads the lines before the first price row: name and value pairs and
// the header.
func (c *csvList) preamble() error {
	for range maxPreamble {
		switch err := c.scan.next(); {
		case errors.Is(err, io.EOF):
			return &gputide.DriftError{Source: c.opt.Source, Path: "header", Want: "a line of column names", Got: "the end of the body"}
		case err != nil:
			return c.drift(err)
		}
		first := string(c.scan.field(0))
		switch {
		case c.scan.len() > 2:
			return c.header()
		case c.scan.len() < 2:
			return c.notAList(first)
		}
		if err := c.fact(first, string(c.scan.field(1))); err != nil {
			return err
		}
	}
	return c.notAList("more lines than a preamble has")
}

func (c *csvList) notAList(got string) error {
	return &gputide.DriftError{Source: c.opt.Source, Path: "preamble", Want: "FormatVersion", Got: fmt.Sprintf("%.60q", got)}
}

// fact takes one line of the preamble.
func (c *csvList) fact(name, value string) error {
	switch name {
	case "FormatVersion":
		return c.expect(name, formatVersion, value)
	case "OfferCode":
		return c.expect(name, offerCode, value)
	case "Version":
		c.report.Version = value
	case "Publication Date":
		c.report.Published = value
	case "Disclaimer":
	default:
		return c.notAList(name)
	}
	return nil
}

// What every list read here says of itself.
const (
	formatVersion = "v1.0"
	offerCode     = "AmazonEC2"
)

func (l *list) expect(name, want, got string) error {
	if want == got {
		return nil
	}
	return &gputide.DriftError{Source: l.opt.Source, Path: name, Want: want, Got: fmt.Sprintf("%.60q", got)}
}

// header finds the columns by name.
func (c *csvList) header() error {
	c.columns = c.scan.len()
	byName := make(map[string]int16, c.columns)
	for i := range c.columns {
		name := string(c.scan.field(i))
		if _, twice := byName[name]; twice && name != "" {
			return &gputide.DriftError{Source: c.opt.Source, Path: name, Want: "one column of that name", Got: "two"}
		}
		byName[name] = int16(i)
	}
	tail := int16(c.columns)
	for a := range numAttrs {
		i, ok := byName[attrNames[a].csv]
		if !ok {
			i = -1
		}
		c.index[a], c.present[a] = i, ok
		if err := c.must(a, attrNames[a].csv); err != nil {
			return err
		}
		if a >= productFrom && ok {
			tail = min(tail, i)
		}
	}
	for a := range productFrom {
		if c.index[a] >= tail {
			tail = 0 // terms and products are mixed: no common tail
		}
	}
	c.scan.shareTail(int(tail))
	return nil
}

// take takes the current record.
func (c *csvList) take() {
	v := &c.values
	for a := range productFrom {
		v[a] = c.scan.field(int(c.index[a]))
	}
	if c.opt.Only == OnDemandLinux && string(v[termType]) == "Reserved" {
		c.report.Rows++
		c.report.Omitted[OmitNotWanted]++
		return
	}
	if c.last == nil || !c.scan.sameTail || c.last.sku != string(v[sku]) {
		for a := productFrom; a < numAttrs; a++ {
			if i := c.index[a]; i >= 0 {
				v[a] = c.scan.field(int(i))
			}
		}
		c.last = c.productOf(v, c.last)
	}
	c.rowOf(c.last, v)
}
