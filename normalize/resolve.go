package normalize

import (
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// maxSpellings bounds how many spellings of one device are looked at.
const maxSpellings = 8

// Resolve reads a device as the named provider calls it: the name first, the
// memory second, never the memory alone. It reports false for a name it does
// not know, and for one whose cards the row does not tell apart; the result
// then has Raw, and of a name whose seller masks it what is known beside. Class
// tells FPGAs and video cards, which are no GPU offers; of an unknown name it is
// set where the source groups it with those.
func (c *Catalogue) Resolve(provider string, d *gputide.Device) (gputide.Accelerator, bool) {
	r := c.read(provider, d)
	return r.accelerator(), r.card != nil
}

// reading is what became of a device name.
type reading struct {
	raw        string
	card       *card // nil: no card
	confidence gputide.Confidence
	masked     bool               // the seller does not say what it is and the reading is not sure
	mismatch   bool               // the stated memory is not that of the name
	vendor     string             // of a masked name without card
	class      gputide.DeviceKind // of an unknown name
}

func (r *reading) accelerator() gputide.Accelerator {
	if r.card == nil {
		return gputide.Accelerator{Raw: r.raw, Vendor: r.vendor, Confidence: r.confidence, Class: r.class}
	}
	a := r.card.accelerator()
	a.Confidence, a.Raw = r.confidence, r.raw
	return a
}

func (c *Catalogue) read(provider string, d *gputide.Device) reading {
	r := reading{raw: d.Name}
	if r.raw == "" && len(d.Other) > 0 {
		r.raw = d.Other[0]
	}
	if d.Kind == gputide.DeviceFPGA || d.Kind == gputide.DeviceVideo {
		r.class = d.Kind
	}
	spellings := make([]spelling, 0, maxSpellings)
	for i := -1; i < len(d.Other) && len(spellings) < maxSpellings; i++ {
		if i < 0 {
			spellings = append(spellings, spell(d.Name))
		} else {
			spellings = append(spellings, spell(d.Other[i]))
		}
	}
	ev := memoryEvidence(d, spellings)
	if c.readMasked(&r, provider, spellings, &ev) {
		return r
	}
	f := c.family(provider, d.Vendor, spellings)
	if len(f.cards) > 0 {
		c.choose(&r, provider, &f, spellings, &ev)
	}
	return r
}

// readMasked reads a name its seller does not explain; false when it is none.
func (c *Catalogue) readMasked(r *reading, provider string, spellings []spelling, ev *evidence) bool {
	names := c.maskedNames(provider, spellings)
	if len(names) == 0 {
		return false
	}
	names = slices.DeleteFunc(names, func(m maskedName) bool { return m.memory != 0 && !ev.fits(m.memory, m.sliced) })
	r.masked, r.confidence = true, gputide.ConfidenceLow
	r.mismatch = len(names) == 0
	if len(names) != 1 {
		return true
	}
	m := &names[0]
	r.card, r.vendor, r.confidence = m.card, m.vendor, m.confidence
	r.masked = r.card == nil || r.confidence != gputide.ConfidenceHigh
	return true
}

func (c *Catalogue) maskedNames(provider string, spellings []spelling) []maskedName {
	for _, sp := range spellings {
		for _, key := range [...]string{sp.exact, sp.core} {
			var names []maskedName
			for _, m := range c.masked[key] {
				if len(m.providers) == 0 || slices.Contains(m.providers, provider) {
					names = append(names, m)
				}
			}
			if len(names) > 0 {
				return names
			}
		}
	}
	return nil
}

// family is the cards that a name may mean.
type family struct {
	core  string
	cards []*card
}

// family returns the cards all spellings agree on. Spellings that name no card
// are passed over; spellings that contradict each other leave none.
func (c *Catalogue) family(provider, vendor string, spellings []spelling) family {
	var f family
	vendors := vendorOf(vendor)
	for _, sp := range spellings {
		cards := c.named(provider, vendors, sp.core)
		switch {
		case len(cards) == 0:
		case f.cards == nil:
			f = family{sp.core, cards}
		default:
			f.cards = keep(f.cards, func(k *card) bool { return slices.Contains(cards, k) })
			if len(f.cards) == 0 {
				return family{}
			}
		}
	}
	return f
}

// named returns the cards of one core in the context of a provider and a stated
// vendor.
func (c *Catalogue) named(provider string, vendors []string, core string) []*card {
	if slug := vendorName(vendors, core); slug != "" {
		return []*card{c.bySlug[slug]}
	}
	short := isShortName(core) && !isChinese(provider)
	return keep(c.cores[core], func(k *card) bool {
		if vendors != nil {
			return slices.Contains(vendors, k.vendor)
		}
		return !k.domestic || !short
	})
}

func keep(cards []*card, ok func(*card) bool) []*card {
	var out []*card
	for _, k := range cards {
		if ok(k) {
			out = append(out, k)
		}
	}
	return out
}

// choose settles on one card of a family, or on none.
func (c *Catalogue) choose(r *reading, provider string, f *family, spellings []spelling, ev *evidence) {
	cards := byForm(f.cards, spellings)
	cards = byMemoryType(cards, spellings)
	cards, fit := c.byMemory(f.cards, cards, spellings, ev)
	if !fit {
		r.mismatch = true
		if len(f.cards) == 1 { // a modified card, or a source that is wrong about it: the name is plain
			r.card, r.confidence = f.cards[0], gputide.ConfidenceHigh
		}
		return
	}
	cards = byVariant(cards, spellings)
	r.confidence = gputide.ConfidenceHigh
	if gb := nativeSize(provider, f.core); gb != 0 && ev.none() {
		cards = keep(cards, func(k *card) bool { return k.memory == gb })
	}
	if len(cards) > 1 {
		cards = c.byDefault(r, provider, f.core, cards)
	}
	if len(cards) != 1 {
		r.confidence = ""
		return
	}
	r.card = cards[0]
}

// byForm keeps the cards of the forms the spellings state. Forms mean nothing
// for a model that has one.
func byForm(cards []*card, spellings []spelling) []*card {
	if len(cards) == 1 {
		return cards
	}
	out := keep(cards, func(k *card) bool {
		for _, sp := range spellings {
			for _, form := range sp.forms {
				if !slices.Contains(k.forms, form) {
					return false
				}
			}
		}
		return true
	})
	if len(out) == 0 && !slices.ContainsFunc(cards, func(k *card) bool { return k.variant != "" }) {
		return cards
	}
	return out
}

// byMemoryType keeps the cards whose memory type a spelling prints ("H100 80GB
// HBM3" is the SXM card), where any has it.
func byMemoryType(cards []*card, spellings []spelling) []*card {
	for _, sp := range spellings {
		if sp.memType == "" {
			continue
		}
		if out := keep(cards, func(k *card) bool { return fold(k.memoryType) == sp.memType }); len(out) > 0 {
			cards = out
		}
	}
	return cards
}

// byMemory keeps the cards the sizes fit best; false when a size fits none. A
// size inside a name that no card of the family has means something else where
// the name is a whole alias: GH200 480GB is the memory of its CPU.
func (c *Catalogue) byMemory(family []*card, cards []*card, spellings []spelling, ev *evidence) ([]*card, bool) {
	for _, cl := range ev.stated {
		if cards = ev.nearest(cards, cl); len(cards) == 0 {
			return nil, false
		}
	}
	for _, cl := range ev.printed {
		out := ev.nearest(cards, cl)
		switch {
		case len(out) > 0:
			cards = out
		case len(ev.nearest(family, cl)) > 0 || !c.isAlias(spellings):
			return nil, false
		case len(ev.stated) == 0:
			cards = keep(cards, func(k *card) bool { return c.bears(k, spellings) })
		}
	}
	return cards, true
}

func (c *Catalogue) isAlias(spellings []spelling) bool {
	return slices.ContainsFunc(spellings, func(sp spelling) bool { return sp.memory > 0 && len(c.exact[sp.exact]) > 0 })
}

// bears reports whether a spelling is a whole alias of a card.
func (c *Catalogue) bears(k *card, spellings []spelling) bool {
	return slices.ContainsFunc(spellings, func(sp spelling) bool { return slices.Contains(c.exact[sp.exact], k) })
}

// byVariant prefers the cards whose own variant is stated over those that may
// be called so: "Workstation" is not Max-Q.
func byVariant(cards []*card, spellings []spelling) []*card {
	out := keep(cards, func(k *card) bool {
		return slices.ContainsFunc(spellings, func(sp spelling) bool {
			return slices.ContainsFunc(sp.forms, func(form string) bool {
				return k.variant != "" && strings.HasPrefix(form, k.variant)
			})
		})
	})
	if len(out) > 0 {
		return out
	}
	return cards
}

// byDefault takes the form and then the size that a bare name means where the
// row says neither.
func (c *Catalogue) byDefault(r *reading, provider, core string, cards []*card) []*card {
	size := commonSize(cards)
	if plain := keep(cards, func(k *card) bool { return k.variant == "" }); size != 0 && len(plain) == 1 {
		return plain // its variants are named when they are meant
	}
	if form := defaultForm(core, size); form != "" {
		if out := keep(cards, func(k *card) bool { return k.variant == form }); len(out) > 0 && len(out) < len(cards) {
			cards = out
			if !sellsForm(provider, core, size) {
				r.confidence = gputide.ConfidenceMedium
			}
		}
	}
	if len(cards) > 1 && !needsMemory(core) {
		r.confidence = gputide.ConfidenceMedium
		return keep(cards, func(k *card) bool { return slices.Contains(c.exact[core], k) })
	}
	return cards
}

// commonSize returns the label all cards share, 0 when they differ.
func commonSize(cards []*card) float64 {
	gb := 0.0
	for _, k := range cards {
		if k.memory == 0 || (gb != 0 && gb != k.memory) {
			return 0
		}
		gb = k.memory
	}
	return gb
}
