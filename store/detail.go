package store

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// detail is what stands behind a price: the published form, deduplicated as a
// text of the dictionary, and the billing id. The zero value is the trivial
// one: the price itself, an hour, the instance, no parts and no id.
type detail struct {
	content uint32
	sku     string
}

// The forms an amount is stored in. Most are the price itself, written with or
// without trailing zeros, and then the text moves with the price.
const (
	amountNone    byte = 0
	amountPrice   byte = 1  // the decimal text of the price
	amountLiteral byte = 2  // text follows
	amountFixed   byte = 16 // + n: the price with n decimals

	maxDecimals = 18
	nanoDigits  = 9
)

// encodeContent encodes the published form of a price. The trivial one is "".
func encodeContent(price gputide.Nano, p *gputide.Published, flags []gputide.Flag) string {
	form := amountForm(price, p.Amount)
	if form == amountPrice && trivial(p) && len(flags) == 0 {
		return ""
	}
	b := make([]byte, 0, 64)
	b = append(b, form)
	if form == amountLiteral {
		b = appendText(b, p.Amount)
	}
	b = appendText(appendText(appendText(b, string(p.Unit)), string(p.Basis)), p.Upfront)
	b = binary.AppendUvarint(b, uint64(p.Multiplier.Num))
	b = binary.AppendUvarint(b, uint64(p.Multiplier.Den))
	b = binary.AppendUvarint(b, uint64(len(p.Components)))
	for i := range p.Components {
		c := &p.Components[i]
		b = appendText(appendText(appendText(b, c.Kind), c.Amount), string(c.Unit))
		b = appendText(appendText(b, c.Quantity), c.SKU)
	}
	b = binary.AppendUvarint(b, uint64(len(flags)))
	for _, f := range flags {
		b = appendText(b, string(f))
	}
	return string(b)
}

func trivial(p *gputide.Published) bool {
	return p.Unit == gputide.PerHour && p.Basis == gputide.BasisInstance && p.Upfront == "" &&
		p.Multiplier == gputide.Count{} && len(p.Components) == 0
}

// decodeContent is the inverse of encodeContent, for the price in force.
func decodeContent(price gputide.Nano, s string) (gputide.Published, []gputide.Flag, error) {
	if s == "" {
		return gputide.Published{Amount: price.String(), Unit: gputide.PerHour, Basis: gputide.BasisInstance}, nil, nil
	}
	r := reader{b: []byte(s)}
	var p gputide.Published
	switch form := r.byte(); {
	case form == amountNone:
	case form == amountPrice:
		p.Amount = price.String()
	case form == amountLiteral:
		p.Amount = r.text()
	case form >= amountFixed && form <= amountFixed+maxDecimals:
		p.Amount = fixedText(price, int(form-amountFixed))
	default:
		r.bad = true
	}
	p.Unit, p.Basis, p.Upfront = gputide.Unit(r.text()), gputide.Basis(r.text()), r.text()
	p.Multiplier = gputide.Count{Num: r.u32(), Den: r.u32()}
	for range r.count() {
		p.Components = append(p.Components, gputide.Component{
			Kind: r.text(), Amount: r.text(), Unit: gputide.Unit(r.text()), Quantity: r.text(), SKU: r.text(),
		})
	}
	var flags []gputide.Flag
	for range r.count() {
		flags = append(flags, gputide.Flag(r.text()))
	}
	if r.bad || len(r.b) > 0 {
		return p, nil, corrupt("detail", "content of %d bytes", len(s))
	}
	return p, flags, nil
}

// count takes the length of a list; each element takes a byte at least.
func (r *reader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	return int(n)
}

func amountForm(price gputide.Nano, text string) byte {
	if text == "" {
		return amountNone
	}
	if text == price.String() {
		return amountPrice
	}
	if _, frac, ok := strings.Cut(text, "."); ok && len(frac) <= maxDecimals && text == fixedText(price, len(frac)) {
		return amountFixed + byte(len(frac))
	}
	return amountLiteral
}

// fixedText returns the price with n decimals, and "" when it has more.
func fixedText(price gputide.Nano, n int) string {
	if price < 0 {
		return ""
	}
	digits := strconv.FormatUint(uint64(price), 10)
	if len(digits) <= nanoDigits {
		digits = strings.Repeat("0", nanoDigits+1-len(digits)) + digits
	}
	whole, frac := digits[:len(digits)-nanoDigits], digits[len(digits)-nanoDigits:]
	if n >= nanoDigits {
		return whole + "." + frac + strings.Repeat("0", n-nanoDigits)
	}
	if strings.Trim(frac[n:], "0") != "" {
		return ""
	}
	return whole + "." + frac[:n]
}

// encodeDetail encodes a record of the detail bucket.
func encodeDetail(d detail) []byte {
	return append(binary.AppendUvarint(nil, uint64(d.content)), d.sku...)
}

func decodeDetail(b []byte) (detail, error) {
	r := reader{b: b}
	d := detail{content: r.u32(), sku: string(r.b)}
	if r.bad {
		return detail{}, corrupt("detail", "record of %d bytes", len(b))
	}
	return d, nil
}
