package pricelist

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/gputide/gputide"
)

// planCSV reads the CSV form.
type planCSV struct {
	*planList
	scan    *scanner
	columns int
	index   [numPlanAttrs]int
}

// ReadPlansCSV reads a savings plan list in CSV form from r, joins its rates
// with opt.Products and hands every offer, and every rate that should be one, to
// emit; a row is valid until emit returns. The SKU of a row is its rate code.
// The error is a *gputide.DriftError when the body is not such a list,
// gputide.ErrTooLarge for an endless record, or the error of r.
func ReadPlansCSV(r io.Reader, opt PlanOptions, emit func(*Row)) (*Report, error) {
	c := &planCSV{planList: newPlanList(opt, emit), scan: newScanner(r)}
	if err := c.preamble(); err != nil {
		return &c.report, err
	}
	for {
		switch err := c.scan.next(); {
		case errors.Is(err, io.EOF):
			return &c.report, c.finish()
		case err != nil:
			return &c.report, c.notCSV(err)
		case c.scan.len() != c.columns:
			return &c.report, c.drift(fmt.Sprintf("row %d", c.report.Rows+1), fmt.Sprintf("%d columns", c.columns), fmt.Sprint(c.scan.len()))
		}
		for a := range numPlanAttrs {
			c.values[a] = c.scan.field(c.index[a])
		}
		c.take()
	}
}

// notCSV makes an error of the CSV form a drift; other errors are those of the
// stream.
func (c *planCSV) notCSV(err error) error {
	if _, ok := errors.AsType[*csv.ParseError](err); !ok {
		return err
	}
	return &gputide.DriftError{
		Source: c.opt.Source, Path: fmt.Sprintf("row %d", c.report.Rows+1), Want: "a CSV record", Got: "something else", Err: err,
	}
}

// preamble reads the lines before the first rate: names with their values, and
// the header, which begins with SKU.
func (c *planCSV) preamble() error {
	for range maxPreamble {
		switch err := c.scan.next(); {
		case errors.Is(err, io.EOF):
			return c.drift("header", "a line of column names", "the end of the body")
		case err != nil:
			return c.notCSV(err)
		}
		first := string(c.scan.field(0))
		if first == planColumns[planSKU] {
			return c.header()
		}
		if c.scan.len() < 2 {
			return c.drift("preamble", "FormatVersion", first)
		}
		if err := c.fact(first, string(c.scan.field(1))); err != nil {
			return err
		}
	}
	return c.drift("header", "a line of column names", fmt.Sprintf("none in %d lines", maxPreamble))
}

// header finds the columns by name.
func (c *planCSV) header() error {
	c.columns = c.scan.len()
	byName := make(map[string]int, c.columns)
	for i := range c.columns {
		name := string(c.scan.field(i))
		if _, twice := byName[name]; twice {
			return c.drift(name, "one column of that name", "two")
		}
		byName[name] = i
	}
	for a, name := range planColumns {
		i, ok := byName[name]
		if !ok {
			return c.drift(name, "the column "+name, "none of that name")
		}
		c.index[a] = i
	}
	if c.report.Version == "" {
		return c.drift("Version", "a version", "nothing")
	}
	return nil
}
