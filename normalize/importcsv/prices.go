package importcsv

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

// series is what all rows of one series share. It is worked out once.
type series struct {
	offer  gputide.Offer
	scope  *gputide.Scope
	spec   *gputide.Spec
	reason Reason // why no row of it is an offer; empty when they are
}

// words are the cells that tell one series from another.
type words struct {
	common [commonCells - 2]string // provider to os, currency
	more   string                  // the others, each followed by a zero byte
}

func wordsOf(cells []string) words {
	var w words
	copy(w.common[:], cells[colProvider:colPrice])
	w.common[len(w.common)-1] = cells[colCurrency]
	if len(cells) > commonCells {
		w.more = strings.Join(cells[commonCells:], "\x00") + "\x00"
	}
	return w
}

func (w *words) at(col int) string { return w.common[col-colProvider] }

func (w *words) currency() string { return w.common[len(w.common)-1] }

// rest returns the cells behind the common ones.
func (w *words) rest() []string {
	if w.more == "" {
		return make([]string, fixedCells-commonCells)
	}
	return strings.Split(w.more, "\x00")
}

// Prices yields the rows of a file of prices: of form [FormPrices],
// [FormSpotHistory] or [FormExport]. A row that is rejected or left out is
// counted and not yielded. An error ends the rows.
func (r *Reader) Prices(ctx context.Context) iter.Seq2[gputide.ImportRow, error] {
	return func(yield func(gputide.ImportRow, error) bool) {
		stopped := false
		pass := func(row *gputide.ImportRow) bool {
			stopped = !yield(*row, nil)
			return !stopped
		}
		var err error
		switch r.p.Form {
		case FormSpotHistory:
			err = r.spotHistory(ctx, pass)
		case FormExport:
			err = r.exported(ctx, pass)
		default:
			err = r.priceRows(ctx, pass)
		}
		if err != nil && !stopped {
			yield(gputide.ImportRow{}, err)
		}
	}
}

// priceRows passes on the rows of a CSV of prices.
func (r *Reader) priceRows(ctx context.Context, pass func(*gputide.ImportRow) bool) error {
	t := r.teller(pass)
	return r.each(ctx, func(cells []string) (Reason, bool) {
		if r.layout.prices == nil {
			return t.tell(cells)
		}
		return t.tellEach(cells)
	})
}

// teller turns the cells of prices into rows.
type teller struct {
	r     *Reader
	known map[words]*series
	pass  func(*gputide.ImportRow) bool
}

func (r *Reader) teller(pass func(*gputide.ImportRow) bool) *teller {
	return &teller{r: r, known: make(map[words]*series), pass: pass}
}

// tell passes on one price. It returns why it is rejected or left out, and
// whether to go on.
func (t *teller) tell(cells []string) (Reason, bool) {
	at, ok := t.r.moment(cells[colTime])
	if !ok {
		return ReasonTime, true
	}
	w := wordsOf(cells)
	s := t.known[w]
	if s == nil {
		s = t.r.series(&w)
		t.known[w] = s
	}
	if s.reason != "" {
		return s.reason, true
	}
	row := gputide.ImportRow{At: at, Offer: s.offer, Scope: s.scope, Spec: s.spec}
	o := &row.Offer
	o.Published.Amount = cells[colPrice]
	var err error
	if o.Price, o.Published, err = normalize.Hourly(o.Published, o.Key.Term, gputide.Count{}, nil); err != nil {
		return ReasonPrice, true
	}
	return "", t.pass(&row)
}

// tellEach passes on the prices of a line that states several: each one is a row
// of its own, and a line without any is none.
func (t *teller) tellEach(line []string) (Reason, bool) {
	tally := &t.r.tally
	tally.Rows--
	cells := t.r.layout.cells
	for _, p := range t.r.layout.prices {
		if cells[colPrice] = t.r.line[p.column]; cells[colPrice] == "" {
			continue
		}
		cells[colMarket] = p.market
		tally.Rows++
		reason, more := t.tell(line)
		if reason != "" {
			tally.note(t.r.l.n, reason, t.r.l.text)
		}
		if !more {
			return "", false
		}
	}
	return "", true
}

// series reads the words of a series through the profile.
func (r *Reader) series(w *words) *series {
	rules, ok := r.p.Providers[w.at(colProvider)]
	switch {
	case !ok && !r.p.Open:
		return &series{reason: ReasonProvider}
	case rules.Omit != "":
		return &series{reason: rules.Omit}
	}
	var k gputide.Key
	tables := r.p.tables(&rules)
	if reason := r.translate(&k, w, &rules, &tables); reason != "" {
		return &series{reason: reason}
	}
	device, ok := readDevice(w, &rules, tables.Labels)
	if !ok {
		return &series{reason: ReasonCount}
	}
	if k.InstanceType = instanceType(w.at(colType), &device, &rules); k.InstanceType == "" {
		return &series{reason: ReasonType}
	}
	s := &series{}
	if s.spec, ok = r.spec(&k, w, &device); !ok {
		return &series{reason: ReasonSpec}
	}
	raw := gputide.RawOffer{
		Source: r.source(), Key: k, Spec: s.spec,
		// Any price serves: the rows put their own.
		Price: gputide.Published{Amount: "1", Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	}
	if unit, ok := tables.Units[w.at(colMarket)]; ok {
		raw.Price.Unit = unit
	}
	if rules.Zones == ZoneLetters && k.Zone != "" {
		raw.Flags = []gputide.Flag{gputide.FlagAccountZone}
	}
	var err error
	if s.offer, err = r.opt.Normalizer.Offer(&raw, nil); err != nil {
		s.reason = Reason(normalize.ReasonBadKey)
		if refused, ok := errors.AsType[*normalize.Refusal](err); ok {
			s.reason = Reason(refused.Reason)
		}
		return s
	}
	if s.spec != nil { // the normalizer trims
		s.spec.Provider, s.spec.Partition, s.spec.InstanceType = s.offer.Key.Provider, s.offer.Key.Partition, s.offer.Key.InstanceType
	}
	if s.scope, err = r.p.scope(&s.offer.Key); err != nil {
		s.reason = Reason(normalize.ReasonBadKey) // not reached: the profile was checked
	}
	return s
}

func (r *Reader) source() string { return "import:" + r.p.Name }
