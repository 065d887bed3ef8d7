package importcsv

import (
	"context"
	"errors"
	"iter"
	"math/big"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

// The columns of the common CSV.
const (
	colTime = iota
	colProvider
	colRegion
	colZone
	colType
	colGPU
	colCount
	colMarket
	colOS
	colPrice
	colCurrency
	priceColumns
)

// series is what all rows of one series share. It is worked out once.
type series struct {
	offer  gputide.Offer
	scope  *gputide.Scope
	spec   *gputide.Spec
	reason Reason // why no row of it can be an offer; empty when they can
}

// words are the cells that tell one series from another.
type words [priceColumns - 2]string

func wordsOf(cells []string) words {
	var w words
	copy(w[:], cells[colProvider:colPrice])
	w[len(w)-1] = cells[colCurrency]
	return w
}

func (w *words) at(col int) string { return w[col-colProvider] }

func (w *words) currency() string { return w[len(w)-1] }

// Prices yields the rows of a file of form [FormPrices]. A row that is rejected
// is counted and not yielded. An error ends the rows.
func (r *Reader) Prices(ctx context.Context) iter.Seq2[gputide.ImportRow, error] {
	return func(yield func(gputide.ImportRow, error) bool) {
		known := make(map[words]*series)
		stopped := false
		err := r.each(ctx, priceColumns, func(cells []string) (Reason, bool) {
			at, ok := r.moment(cells[colTime])
			if !ok {
				return ReasonTime, true
			}
			w := wordsOf(cells)
			s := known[w]
			if s == nil {
				s = r.series(&w)
				known[w] = s
			}
			if s.reason != "" {
				return s.reason, true
			}
			row := gputide.ImportRow{At: at, Offer: s.offer, Scope: s.scope, Spec: s.spec}
			o := &row.Offer
			o.Published.Amount = cells[colPrice]
			var err error
			if o.Price, o.Published, err = normalize.Hourly(o.Published, "", gputide.Count{}, nil); err != nil {
				return ReasonPrice, true
			}
			stopped = !yield(row, nil)
			return "", !stopped
		})
		if err != nil && !stopped {
			yield(gputide.ImportRow{}, err)
		}
	}
}

// series reads the words of a series through the profile.
func (r *Reader) series(w *words) *series {
	rules, ok := r.p.Providers[w.at(colProvider)]
	if !ok {
		return &series{reason: ReasonProvider}
	}
	var k gputide.Key
	tables := r.p.tables(&rules)
	if reason := translate(&k, w, &rules, &tables); reason != "" {
		return &series{reason: reason}
	}
	device, ok := readDevice(w, tables.Labels)
	if !ok {
		return &series{reason: ReasonCount}
	}
	if k.InstanceType = instanceType(w.at(colType), &device, rules.Attached); k.InstanceType == "" {
		return &series{reason: ReasonType}
	}
	source := "import:" + r.p.Name
	s := &series{}
	if device.Name != "" {
		s.spec = &gputide.Spec{
			Source: source, Provider: k.Provider, Partition: k.Partition, InstanceType: k.InstanceType, Device: device,
		}
	}
	raw := gputide.RawOffer{
		Source: source, Key: k, Spec: s.spec,
		// Any price serves: the rows put their own.
		Price: gputide.Published{Amount: "1", Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	}
	for _, f := range rules.Flags {
		if f != gputide.FlagAccountZone || k.Zone != "" {
			raw.Flags = append(raw.Flags, f)
		}
	}
	var err error
	if s.offer, err = r.opt.Normalizer.Offer(&raw, nil); err != nil {
		s.reason = Reason(normalize.ReasonBadKey)
		if refused, ok := errors.AsType[*normalize.Refusal](err); ok {
			s.reason = Reason(refused.Reason)
		}
		return s
	}
	if s.scope, err = r.p.scope(&s.offer.Key); err != nil {
		s.reason = Reason(normalize.ReasonBadKey)
	}
	if s.spec != nil { // the key may have been trimmed
		s.spec.InstanceType = s.offer.Key.InstanceType
	}
	return s
}

// translate fills the key but for the instance type.
func translate(k *gputide.Key, w *words, rules *Rules, t *Tables) Reason {
	k.Region, k.Zone = w.at(colRegion), w.at(colZone)
	k.Currency = gputide.Currency(w.currency())
	if !k.Currency.Valid() {
		return ReasonCurrency
	}
	k.Partition = rules.partition(k.Region)
	rules.Set.apply(k)
	if rules.Regions != nil {
		f, ok := rules.Regions[k.Region]
		if !ok {
			return ReasonRegion
		}
		k.Region = ""
		f.apply(k)
	}
	market, ok := t.Markets[w.at(colMarket)]
	if !ok {
		return ReasonMarket
	}
	market.apply(k)
	os, ok := t.OS[w.at(colOS)]
	if !ok && w.at(colOS) != "" {
		return ReasonOS
	}
	os.apply(k)
	return ""
}

// readDevice reads label and count. It reports false for a count that is none.
func readDevice(w *words, labels map[string]string) (gputide.Device, bool) {
	d := gputide.Device{Name: w.at(colGPU)}
	if one, ok := labels[d.Name]; ok {
		d.Name = one
	}
	text := w.at(colCount)
	if text == "" {
		return d, true
	}
	var ok bool
	d.Count, ok = readCount(text)
	return d, ok
}

// maxCount bounds the accelerators of one instance, maxParts the slices of one.
const (
	maxCount = 4096
	maxParts = 64
)

// readCount reads "8" or a binary fraction such as "0.125". A third or a sixth
// has no exact decimal: it is refused and not rounded.
func readCount(s string) (gputide.Count, bool) {
	v, err := gputide.ParseAmount(s)
	if err != nil || v.Sign() <= 0 || v.Cmp(big.NewRat(maxCount, 1)) > 0 || v.Denom().Cmp(big.NewInt(maxParts)) > 0 {
		return gputide.Count{}, false
	}
	den := v.Denom().Uint64()
	if den&(den-1) != 0 {
		return gputide.Count{}, false
	}
	return gputide.NewCount(uint32(v.Num().Uint64()), uint32(den)), true
}

// instanceType returns the name of the type in the key: the file's, the card
// and its count where it has none, both where cards are attached to a shape. It
// is empty when the row does not say enough.
func instanceType(name string, d *gputide.Device, attached []string) string {
	card := ""
	if d.Name != "" && d.Count.Known() {
		card = d.Name + "×" + d.Count.String()
	}
	if name == "" {
		return card
	}
	for _, prefix := range attached {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if card == "" {
			return ""
		}
		return name + "+" + card
	}
	return name
}
