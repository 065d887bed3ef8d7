package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize/importcsv"
	"github.com/gputide/gputide/store"
)

// importOut is what became of an import: its JSON. Rows is the sum of accepted,
// duplicate, rejected and left out.
type importOut struct {
	Profile            string           `json:"profile"`
	File               string           `json:"file"`
	Files              int              `json:"files"`
	Form               string           `json:"form"`
	Kind               *string          `json:"kind"` // of prices
	WithoutWithdrawals bool             `json:"without_withdrawals"`
	First              *string          `json:"first"`
	Last               *string          `json:"last"`
	Rows               int64            `json:"rows"`
	Accepted           int64            `json:"accepted"`
	Duplicate          int64            `json:"duplicate"`
	Rejected           int64            `json:"rejected"`
	LeftOut            int64            `json:"left_out"`
	Reasons            map[string]int64 `json:"reasons"`
	LeftOutReasons     map[string]int64 `json:"left_out_reasons"`
	Examples           []rejectedRow    `json:"examples"`
	Series             int              `json:"series"`
	FirstSeen          int              `json:"first_seen"`
	Changed            int              `json:"changed"`
	Confirmed          int              `json:"confirmed"`
	Withdrawn          int              `json:"withdrawn"`
	Returned           int              `json:"returned"`
	Specs              int              `json:"specs"`
	Signals            int              `json:"signals"`
	Rates              int              `json:"rates"`
	Benchmarks         int              `json:"benchmarks"`

	first, last time.Time
}

// rejectedRow is a rejected row, to be looked at.
type rejectedRow struct {
	Line   int64  `json:"line"`
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

// span widens the time the file covers.
func (o *importOut) span(at time.Time) {
	if o.first.IsZero() || at.Before(o.first) {
		o.first = at
	}
	if at.After(o.last) {
		o.last = at
	}
}

// maxShown bounds the rejected rows that are shown.
const maxShown = 5

// tally adds the counts of a reader.
func (o *importOut) tally(t *importcsv.Tally) {
	o.Rows += t.Rows
	for reason, n := range t.Rejected {
		o.reject(reason, n)
	}
	for reason, n := range t.Left {
		o.LeftOut += n
		o.LeftOutReasons[string(reason)] += n
	}
	for _, e := range t.Examples {
		if len(o.Examples) < maxShown {
			o.Examples = append(o.Examples, rejectedRow{Line: e.Line, Reason: string(e.Reason), Text: e.Text})
		}
	}
}

func (o *importOut) reject(reason importcsv.Reason, n int64) {
	if n > 0 {
		o.Reasons[string(reason)] += n
		o.Rejected += n
	}
}

// settle counts what was neither stored nor refused: it was known.
func (o *importOut) settle() { o.Duplicate = o.Rows - o.Rejected - o.LeftOut - o.Accepted }

// stored takes what the database made of the prices.
func (o *importOut) stored(res *store.ImportResult) {
	o.Accepted += int64(res.Rows - res.Known - res.Conflicts)
	o.Duplicate += int64(res.Known)
	o.reject(importcsv.ReasonConflict, int64(res.Conflicts))
	o.Series = max(o.Series, res.Series)
	o.FirstSeen += res.FirstSeen
	o.Changed += res.Changed
	o.Confirmed += res.Confirmed
	o.Withdrawn += res.Withdrawn
	o.Returned += res.Returned
	o.Specs += res.Specs
}

// importReport writes the report. A file of which no row can be used is an error.
func (m *Main) importReport(form format, o *importOut) error {
	if !o.first.IsZero() {
		o.First, o.Last = opt(stamp(o.first)), opt(stamp(o.last))
	}
	if o.Rows == 0 {
		return fmt.Errorf("import %s: %w", o.File, gputide.ErrEmpty)
	}
	if form == formatJSON {
		if err := writeObject(m.Stdout, o); err != nil {
			return err
		}
	} else {
		m.printImport(o)
	}
	if o.Rejected > 0 && o.Rejected+o.LeftOut == o.Rows {
		return &gputide.HintError{
			Err:  fmt.Errorf("import %s: %w: no row was accepted", o.File, gputide.ErrInvalid),
			Hint: "compare a rejected row with docs/imports.md; the profile may be another one's",
		}
	}
	return nil
}

func (m *Main) printImport(o *importOut) {
	w := m.Stdout
	fmt.Fprintf(w, "profile           %s\n", o.Profile)
	fmt.Fprintf(w, "file              %s\n", clean(o.File))
	if o.Files > 1 {
		fmt.Fprintf(w, "files             %d\n", o.Files)
	}
	if o.First != nil {
		fmt.Fprintf(w, "covers            %s to %s\n", *o.First, *o.Last)
	}
	for _, c := range []struct {
		name   string
		n      int64
		always bool
	}{
		{"rows", o.Rows, true},
		{"accepted", o.Accepted, true},
		{"duplicate", o.Duplicate, true},
		{"rejected", o.Rejected, true},
		{"left out", o.LeftOut, false},
		{"series", int64(o.Series), false},
		{"first seen", int64(o.FirstSeen), false},
		{"price changes", int64(o.Changed), false},
		{"confirmed", int64(o.Confirmed), false},
		{"withdrawn", int64(o.Withdrawn), false},
		{"returned", int64(o.Returned), false},
		{"specs", int64(o.Specs), false},
		{"signal changes", int64(o.Signals), false},
		{"rates", int64(o.Rates), false},
		{"benchmarks", int64(o.Benchmarks), false},
	} {
		if c.always || c.n > 0 {
			fmt.Fprintf(w, "%-17s %d\n", c.name, c.n)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(o.Reasons)) {
		fmt.Fprintf(w, "rejected %-8s %d\n", clean(reason), o.Reasons[reason])
	}
	for _, reason := range slices.Sorted(maps.Keys(o.LeftOutReasons)) {
		fmt.Fprintf(w, "left out %-8s %d\n", clean(reason), o.LeftOutReasons[reason])
	}
	for _, e := range o.Examples {
		fmt.Fprintf(m.Stderr, "line %d: %s: %s\n", e.Line, e.Reason, clean(e.Text))
	}
	if o.WithoutWithdrawals {
		fmt.Fprintln(m.Stderr, "nothing was withdrawn: what is missing may be a rejected row")
	}
}
