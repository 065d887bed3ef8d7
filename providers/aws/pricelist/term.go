package pricelist

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/gputide/gputide"
)

// termKey identifies the rows of one reserved term: an hourly rate and a fee.
type termKey struct{ sku, code string }

// reserved is one half of a reserved term.
type reserved struct {
	product *product
	plan    string
	term    gputide.Term
	payment gputide.Payment
	hourly  string
	upfront string
	hasHour bool
	hasFee  bool
}

// key returns the key of the term.
func (h *reserved) key() gputide.Key {
	k := h.product.key
	k.Market, k.Plan, k.Term, k.Payment = gputide.Commitment, h.plan, h.term, h.payment
	return k
}

// rowOf takes one price row of p.
func (l *list) rowOf(p *product, v *values) {
	l.report.Rows++
	if l.opt.Products != nil && (!p.seen || p.sku == "") { // without one it stands for many
		l.opt.Products.add(string(v[sku]), p)
	}
	p.seen = true
	switch {
	case p.omit != "":
		l.report.Omitted[p.omit]++
		return
	case l.opt.Only == OnDemandLinux && string(v[termType]) != "OnDemand":
		l.report.Omitted[OmitNotWanted]++
		return
	}
	l.instances++
	l.row = Row{}
	switch string(v[termType]) {
	case "OnDemand":
		l.row.Key.Market = gputide.OnDemand
	case "Reserved":
		l.row.Key.Market = gputide.Commitment
	}
	if p.skip != "" {
		if l.firstBad == nil {
			l.firstBad = p
		}
		l.refuseProduct(p)
		return
	}
	l.usable++
	l.row = Row{Key: p.key, SKU: p.sku, Type: p.typ}
	switch string(v[termType]) {
	case "OnDemand":
		l.onDemand(v)
	case "Reserved":
		l.reserved(p, v)
	default:
		l.usable--
		bad := &product{sku: p.sku, skip: SkipBadRow, skipped: termType, detail: odd(v[termType])}
		if l.firstBad == nil {
			l.firstBad = bad
		}
		l.refuseProduct(bad)
	}
}

// onDemand takes a row of an on-demand term.
func (l *list) onDemand(v *values) {
	l.row.Key.Market = gputide.OnDemand
	switch {
	case len(v[lease]) > 0 || len(v[option]) > 0 || len(v[class]) > 0:
		l.refuse(SkipContradictory, "an on-demand term with a lease of "+odd(v[lease]))
	case string(v[unit]) != "Hrs":
		l.refuse(SkipUnit, odd(v[unit]))
	case !l.common(v):
	case !isPrice(v[amount]):
		l.refusePrice(v[amount])
	default:
		l.row.Price = gputide.Published{Amount: string(v[amount]), Unit: gputide.PerHour, Basis: gputide.BasisInstance}
		l.offer()
	}
}

// common checks what every price row must fulfil and refuses the row if it does
// not.
func (l *list) common(v *values) bool {
	from, to := "0", "Inf"
	if string(v[unit]) == "Quantity" {
		from, to = "", "" // a fee has no range
	}
	switch {
	case string(v[currency]) != string(l.opt.Currency):
		l.refuse(SkipCurrency, odd(v[currency]))
	case !isRateCode(v):
		l.refuse(SkipRateCode, odd(v[rateCode]))
	case string(v[begin]) != from || string(v[end]) != to:
		l.refuse(SkipTiered, odd(v[begin])+" to "+odd(v[end]))
	default:
		return true
	}
	return false
}

// isRateCode reports whether the rate code of a row is made of its SKU and its
// term code.
func isRateCode(v *values) bool {
	rest, ok := bytes.CutPrefix(v[rateCode], v[sku])
	if !ok || len(rest) == 0 || rest[0] != '.' {
		return false
	}
	rest, ok = bytes.CutPrefix(rest[1:], v[termCode])
	return ok && len(rest) > 1 && rest[0] == '.'
}

// isPrice reports whether b is an amount above zero.
func isPrice(b []byte) bool {
	if !isCount(b) || len(b) > 24 {
		r, err := gputide.ParseAmount(string(b))
		return err == nil && r.Sign() > 0
	}
	for _, c := range b {
		if c > '0' {
			return true
		}
	}
	return false
}

// isZero reports whether b is an amount of exactly nothing.
func isZero[T []byte | string](b T) bool {
	if len(b) == 0 {
		return false
	}
	for i := range len(b) {
		if b[i] != '0' && (b[i] != '.' || i == 0 || i == len(b)-1) {
			return false
		}
	}
	return true
}

func (l *list) refusePrice(b []byte) {
	l.refuse(priceFault(b), odd(b))
}

// priceFault returns the reason an amount that is no price is refused for.
func priceFault(b []byte) string {
	if _, err := gputide.ParseAmount(string(b)); errors.Is(err, gputide.ErrOverflow) {
		return SkipOverflow
	}
	return SkipNoPrice
}

// reserved takes a row of a reserved term and joins it with its other half.
func (l *list) reserved(p *product, v *values) {
	if !reservedKey(v, &l.row.Key) {
		l.row.Known = false
		l.row.Skip, l.row.Detail = SkipContradictory, odd(v[lease])+" "+odd(v[class])+" "+odd(v[option])
		l.report.Skipped++
		l.emit(&l.row)
		return
	}
	isFee := string(v[unit]) == "Quantity"
	if !isFee && string(v[unit]) != "Hrs" {
		l.refuse(SkipUnit, odd(v[unit]))
		return
	}
	if !l.common(v) {
		return
	}
	payment := l.row.Key.Payment
	if noHourly := payment == gputide.PaymentAll && !isFee; !isPrice(v[amount]) && !(noHourly && isZero(v[amount])) {
		l.refusePrice(v[amount])
		return
	}
	if payment == gputide.PaymentNone {
		if isFee {
			l.refuse(SkipContradictory, "a fee in a term without one")
			return
		}
		l.row.Price = gputide.Published{Amount: string(v[amount]), Unit: gputide.PerHour, Basis: gputide.BasisInstance}
		l.offer()
		return
	}
	l.join(p, v, isFee)
}

// reservedKey fills plan, term and payment.
func reservedKey(v *values, k *gputide.Key) bool {
	k.Market = gputide.Commitment
	switch string(v[class]) {
	case "standard":
		k.Plan = "ri_standard"
	case "convertible":
		k.Plan = "ri_convertible"
	}
	switch string(v[lease]) {
	case "1yr":
		k.Term = "1y"
	case "3yr":
		k.Term = "3y"
	}
	k.Payment = paymentOf(v[option])
	return k.Plan != "" && k.Term != "" && k.Payment != ""
}

// paymentOf returns the payment of a purchase option, "" for one that is not
// known.
func paymentOf(b []byte) gputide.Payment {
	switch string(b) {
	case "No Upfront":
		return gputide.PaymentNone
	case "Partial Upfront":
		return gputide.PaymentPartial
	case "All Upfront":
		return gputide.PaymentAll
	}
	return ""
}

// join keeps one half of a term until the other comes.
func (l *list) join(p *product, v *values, isFee bool) {
	id := termKey{p.sku, l.intern(v[termCode])}
	half := l.pending[id]
	if half == nil {
		half = l.half()
		half.product, half.plan, half.term, half.payment = p, l.row.Key.Plan, l.row.Key.Term, l.row.Key.Payment
		p.kept = true
		l.pending[id] = half
	}
	switch {
	case half.plan != l.row.Key.Plan || half.term != l.row.Key.Term || half.payment != l.row.Key.Payment,
		half.product.key != p.key, isFee && half.hasFee, !isFee && half.hasHour:
		l.refuse(SkipContradictory, "the rows of one term disagree")
		return
	case isFee:
		half.upfront, half.hasFee = string(v[amount]), true
	default:
		half.hourly, half.hasHour = string(v[amount]), true
	}
	if !half.hasFee || !half.hasHour {
		return
	}
	delete(l.pending, id)
	l.report.Omitted[omitJoined]++
	l.offerTerm(half)
	l.spare = append(l.spare, half)
}

// half returns an empty half, one that is settled already where there is one.
func (l *list) half() *reserved {
	n := len(l.spare)
	if n == 0 {
		return new(reserved)
	}
	h := l.spare[n-1]
	l.spare = l.spare[:n-1]
	*h = reserved{}
	return h
}

// offerTerm hands on a term whose parts are known. A rate of zero beside the
// fee of a term paid all upfront is no part of the price.
func (l *list) offerTerm(h *reserved) {
	l.row = Row{Key: h.key(), SKU: h.product.sku, Type: h.product.typ}
	l.row.Price = gputide.Published{Upfront: h.upfront, Unit: gputide.PerHour, Basis: gputide.BasisInstance}
	if h.hasHour && !isZero(h.hourly) {
		l.row.Price.Amount = h.hourly
	}
	l.offer()
}

// flush settles the terms of which only one half came. A fee alone is the whole
// price of a term paid all upfront.
func (l *list) flush() {
	alone := make([]*reserved, 0, len(l.pending))
	for _, h := range l.pending {
		alone = append(alone, h)
	}
	slices.SortFunc(alone, func(a, b *reserved) int {
		return cmp.Or(
			cmp.Compare(a.product.sku, b.product.sku), cmp.Compare(a.plan, b.plan), cmp.Compare(a.term, b.term), cmp.Compare(a.payment, b.payment),
		)
	})
	for _, h := range alone {
		if h.hasFee && h.payment == gputide.PaymentAll {
			l.offerTerm(h)
			continue
		}
		l.row = Row{Key: h.key(), SKU: h.product.sku, Type: h.product.typ}
		missing := "the upfront fee"
		if !h.hasHour {
			missing = "the hourly rate"
		}
		l.refuse(SkipIncomplete, missing+" is missing")
	}
	clear(l.pending)
}
