package importcsv

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// translate fills the key from the words of a row. It returns why the row is
// rejected or left out.
func (r *Reader) translate(k *gputide.Key, w *words, rules *Rules, t *Tables) Reason {
	if reason, ok := rules.OmitRegions[w.at(colRegion)]; ok {
		return reason
	}
	if reason, ok := rules.OmitMarkets[w.at(colMarket)]; ok {
		return reason
	}
	if reason, ok := rules.OmitLabels[w.at(colGPU)]; ok {
		return reason
	}
	if r.p.Open {
		k.Provider = w.at(colProvider)
	}
	k.Region, k.Zone, k.Currency = w.at(colRegion), w.at(colZone), gputide.Currency(w.currency())
	k.Partition = rules.partition(k.Region)
	if w.more != "" {
		rest := w.rest()
		for i, f := range moreFields() {
			if v := rest[fixedCells-commonCells+i]; v != "" {
				_ = k.Set(f, v) // a field of the key
			}
		}
	}
	r.p.Set.apply(k)
	rules.Set.apply(k)
	rules.suffix(k, w.at(colType))
	if !k.Currency.Valid() {
		return ReasonCurrency
	}
	if rules.Regions != nil {
		f, ok := rules.Regions[k.Region]
		if !ok {
			return ReasonRegion
		}
		k.Region = ""
		f.apply(k)
	}
	rules.ZoneNames[k.Zone].apply(k)
	if reason := r.market(k, w.at(colMarket), t); reason != "" {
		return reason
	}
	return r.system(k, w.at(colOS), t)
}

func (r *Reader) market(k *gputide.Key, word string, t *Tables) Reason {
	f, ok := t.Markets[word]
	switch {
	case ok:
		f.apply(k)
	case r.p.Open && (word == "" || gputide.Market(word).Valid()):
		if word != "" {
			k.Market = gputide.Market(word)
		}
		if k.Market == "" {
			k.Market = gputide.MarketUnknown
		}
	default:
		return ReasonMarket
	}
	return ""
}

func (r *Reader) system(k *gputide.Key, word string, t *Tables) Reason {
	f, ok := t.OS[word]
	switch {
	case ok:
		f.apply(k)
	case word == "":
	case r.p.Open:
		k.OS = word
	default:
		return ReasonOS
	}
	return ""
}

// spec returns what a row says of the instance type; nil when it names no card
// and nothing else. It reports false for a figure that is none.
func (r *Reader) spec(k *gputide.Key, w *words, d *gputide.Device) (*gputide.Spec, bool) {
	s := gputide.Spec{Source: r.source(), Provider: k.Provider, Partition: k.Partition, InstanceType: k.InstanceType}
	if d.Name != "" {
		s.Device = *d
	}
	if w.more != "" {
		rest := w.rest()
		var ok bool
		if s.VCPU, ok = readFigure(rest[colVCPU-commonCells]); !ok {
			return nil, false
		}
		if s.MemoryGiB, ok = readFigure(rest[colMemory-commonCells]); !ok {
			return nil, false
		}
	}
	if d.Name == "" && s.VCPU == nil && s.MemoryGiB == nil {
		return nil, true
	}
	return &s, true
}

// readFigure reads a positive number of a machine; nil when it is not said.
func readFigure(s string) (*float64, bool) {
	if s == "" {
		return nil, true
	}
	if _, err := gputide.ParseAmount(s); err != nil {
		return nil, false
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v <= 0 || v > 1<<24 {
		return nil, false
	}
	return &v, true
}

// readDevice reads label and count. It reports false for a count that is none.
func readDevice(w *words, rules *Rules, labels map[string]string) (gputide.Device, bool) {
	d := gputide.Device{Name: w.at(colGPU)}
	if one, ok := labels[d.Name]; ok {
		d.Name = one
	}
	text := w.at(colCount)
	if n, ok := rules.Counts[w.at(colType)]; ok && text == "" {
		d.Count, _ = gputide.ParseCount(n) // checked when the profile was loaded
		return d, true
	}
	if text == "" || d.Name == "" && isZero(text) {
		return d, true
	}
	var ok bool
	d.Count, ok = readCount(text)
	return d, ok
}

// isZero reports whether a count says that there is no accelerator.
func isZero(s string) bool {
	v, err := gputide.ParseAmount(s)
	return err == nil && v.Sign() == 0
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
// and its count where it has none or cards are sold, both where cards are
// attached to a shape. It is empty when the row does not say enough.
func instanceType(name string, d *gputide.Device, rules *Rules) string {
	cardName := d.Name
	if rules.Cards == cardsByType {
		cardName = name
	}
	card := ""
	if cardName != "" && d.Count.Known() {
		card = cardName + "×" + d.Count.String()
	}
	if name == "" || rules.Cards != "" {
		return card
	}
	for _, prefix := range rules.Attached {
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
