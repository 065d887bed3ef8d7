package normalize

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gputide/gputide"
)

const (
	// maxText bounds a text field of an offer, in bytes.
	maxText = 256

	// maxComponents bounds the parts of one price.
	maxComponents = 64
)

// cleanOffer trims the text fields of o and refuses what no source would print.
func cleanOffer(o *gputide.Offer) error {
	for _, f := range gputide.KeyFields() {
		v, err := cleanText(string(f), o.Key.Get(f))
		if err != nil {
			return err
		}
		if err := o.Key.Set(f, v); err != nil {
			return &Refusal{Reason: ReasonBadKey, Detail: string(f), Err: err}
		}
	}
	for _, f := range [...]struct {
		name string
		text *string
	}{{"part", &o.Part}, {"source", &o.Source}, {"sku", &o.SKU}} {
		v, err := cleanText(f.name, *f.text)
		if err != nil {
			return err
		}
		*f.text = v
	}
	return cleanComponents(&o.Published)
}

func cleanComponents(p *gputide.Published) error {
	if len(p.Components) > maxComponents {
		return badText("components", fmt.Sprintf("%d of them", len(p.Components)))
	}
	for i := range p.Components {
		c := &p.Components[i]
		for _, text := range [...]string{c.Kind, c.SKU} {
			if v, err := cleanText("component", text); err != nil || v != text {
				return badText("component", text)
			}
		}
	}
	return nil
}

// cleanText trims space around a text and refuses control characters, invalid
// UTF-8, what a decoder put in its place, and text beyond maxText.
func cleanText(name, s string) (string, error) {
	s = strings.TrimSpace(s)
	// Ranging over invalid UTF-8 yields the replacement character, too.
	if len(s) > maxText || strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }) {
		return s, badText(name, s)
	}
	return s, nil
}

func badText(name, text string) *Refusal {
	return &Refusal{Reason: ReasonBadText, Detail: clip(fmt.Sprintf("%s %q", name, clip(text))), Err: gputide.ErrInvalid}
}

// checkKey refuses a key whose fields are outside their defined values, and
// fills the statistic of a key that names none: a plain price is a list price.
func checkKey(k *gputide.Key) error {
	if k.Stat == "" {
		k.Stat = gputide.StatList
	}
	switch {
	case k.Provider == "":
		return badKey(gputide.FieldProvider, "is missing")
	case k.InstanceType == "":
		return badKey(gputide.FieldInstanceType, "is missing")
	case !k.Market.Valid():
		return badKey(gputide.FieldMarket, fmt.Sprintf("%q", k.Market))
	case !k.Currency.Valid():
		return badKey(gputide.FieldCurrency, fmt.Sprintf("%q", k.Currency))
	case !validTerm(k.Term):
		return badKey(gputide.FieldTerm, fmt.Sprintf("%q", k.Term))
	case !slices.Contains([]gputide.Payment{"", gputide.PaymentNone, gputide.PaymentPartial, gputide.PaymentAll}, k.Payment):
		return badKey(gputide.FieldPayment, fmt.Sprintf("%q", k.Payment))
	case !slices.Contains([]gputide.Tax{"", gputide.TaxExcluded, gputide.TaxIncluded}, k.Tax):
		return badKey(gputide.FieldTax, fmt.Sprintf("%q", k.Tax))
	case !slices.Contains([]gputide.Stat{
		gputide.StatList, gputide.StatPromo, gputide.StatPayable, gputide.StatBidFloor, gputide.StatMin, gputide.StatP50,
	}, k.Stat):
		return badKey(gputide.FieldStat, fmt.Sprintf("%q", k.Stat))
	}
	return nil
}

// validTerm reports whether t is empty or a term in the one spelling that
// identifies it: "1y", not "01y".
func validTerm(t gputide.Term) bool {
	if t == "" {
		return true
	}
	_, err := t.Hours()
	return err == nil && t[0] != '0'
}

func badKey(f gputide.Field, what string) *Refusal {
	return &Refusal{Reason: ReasonBadKey, Detail: clip(string(f) + " " + what), Err: gputide.ErrInvalid}
}

// clip shortens text for people.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
