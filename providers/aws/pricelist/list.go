package pricelist

import (
	"fmt"

	"github.com/gputide/gputide"
)

// maxInterned bounds the texts kept for reuse within one list.
const maxInterned = 1 << 16

// list is the state of one reading: the verdicts, the halves of reserved terms
// still waiting for each other, and the counts.
type list struct {
	opt       Options
	emit      func(*Row)
	report    Report
	present   [numAttrs]bool
	texts     map[string]string
	systems   map[string]string // os by published name
	types     map[string]*Type
	locations map[string]string
	pending   map[termKey]*reserved
	spare     []*reserved // halves to use again
	row       Row

	instances int64    // rows of instance products that are neither omitted nor unwanted
	usable    int64    // of these, rows whose product could be read
	firstBad  *product // the first that could not
}

func newList(opt Options, emit func(*Row)) (*list, error) {
	locations, err := locationCodes()
	if err != nil {
		return nil, err
	}
	return &list{
		opt: opt, emit: emit,
		report:    Report{Omitted: map[string]int64{}},
		texts:     map[string]string{},
		systems:   map[string]string{},
		types:     map[string]*Type{},
		locations: locations,
		pending:   map[termKey]*reserved{},
	}, nil
}

// has reports whether the list has an attribute at all.
func (l *list) has(a attr) bool { return l.present[a] }

// intern returns b as a string, the same one for the same text.
func (l *list) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := l.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(l.texts) < maxInterned {
		l.texts[s] = s
	}
	return s
}

// must returns an error naming the attribute that a list of this version has to
// have and has not.
func (l *list) must(a attr, name string) error {
	if l.present[a] {
		return nil
	}
	n := attrNames[a].need
	if n == optional || n == modern && l.report.Version < modernVersion {
		return nil
	}
	return &gputide.DriftError{Source: l.opt.Source, Path: name, Want: "the column " + name, Got: "none of that name"}
}

// offer hands the current row on as an offer.
func (l *list) offer() {
	l.row.Known = true
	l.report.Offers++
	l.emit(&l.row)
}

// refuse hands the current row on as one that has no price.
func (l *list) refuse(reason, detail string) {
	l.row.Skip, l.row.Detail, l.row.Known = reason, detail, true
	l.report.Skipped++
	l.emit(&l.row)
}

// refuseProduct hands on a row whose product could not be read; of its key only
// the market is known.
func (l *list) refuseProduct(p *product) {
	market := l.row.Key.Market
	l.row = Row{SKU: p.sku, Skip: p.skip, Detail: attrNames[p.skipped].csv + " is " + p.detail}
	l.row.Key.Market = market
	l.report.Skipped++
	l.emit(&l.row)
}

// finish reports the halves that stayed alone, and drift when no instance row
// at all could be read.
func (l *list) finish() error {
	l.flush()
	if l.firstBad != nil && l.usable == 0 && l.firstBad.skip == SkipBadRow {
		name := attrNames[l.firstBad.skipped].csv
		return &gputide.DriftError{
			Source: l.opt.Source, Path: name, Want: "a value of the known form",
			Got: fmt.Sprintf("%s in the first of %d instance rows, none of which can be read", l.firstBad.detail, l.instances),
		}
	}
	return nil
}
