package pricelist

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// jsonProduct is one entry of "products".
type jsonProduct struct {
	SKU        string            `json:"sku"`
	Family     string            `json:"productFamily"`
	Attributes map[string]string `json:"attributes"`
}

// jsonTerm is one entry of "terms".
type jsonTerm struct {
	OfferTermCode string                   `json:"offerTermCode"`
	SKU           string                   `json:"sku"`
	Dimensions    map[string]jsonDimension `json:"priceDimensions"`
	Attributes    jsonTermAttributes       `json:"termAttributes"`
}

type jsonTermAttributes struct {
	Lease  string `json:"LeaseContractLength"`
	Class  string `json:"OfferingClass"`
	Option string `json:"PurchaseOption"`
}

type jsonDimension struct {
	RateCode     string            `json:"rateCode"`
	Unit         string            `json:"unit"`
	Begin        string            `json:"beginRange"`
	End          string            `json:"endRange"`
	PricePerUnit map[string]string `json:"pricePerUnit"`
}

// jsonList reads the JSON form.
type jsonList struct {
	*list
	dec      *fetch.Decoder
	products map[string]*product
	left     map[string]*product // by reason
	values   values
	given    [numAttrs]bool // some price row of an instance has it
	families bool           // some product says its family
}

// ReadJSON reads a list in JSON form from r, as ReadCSV does the CSV form.
// Products come before terms in every list; it keeps the instance products
// only.
func ReadJSON(r io.Reader, opt Options, emit func(*Row)) (*Report, error) {
	l, err := newList(opt, emit)
	if err != nil {
		return nil, err
	}
	j := &jsonList{
		list: l, dec: fetch.NewDecoder(opt.Source, r),
		products: map[string]*product{}, left: map[string]*product{},
	}
	if err := j.document(); err != nil {
		return &l.report, err
	}
	for _, p := range j.products {
		if !p.seen && p.omit == "" {
			l.report.Omitted[OmitNoTerm]++
		}
	}
	if err := l.finish(); err != nil {
		return &l.report, err
	}
	return &l.report, j.missing()
}

// missing returns the drift of a field of price rows that no row has.
func (j *jsonList) missing() error {
	for _, a := range []attr{rateCode, unit, amount} {
		if j.usable > 0 && !j.given[a] {
			return j.drift("terms.*.*.*.priceDimensions.*."+attrNames[a].json, "a value", "none in any row")
		}
	}
	return nil
}

// document reads the whole document.
func (j *jsonList) document() error {
	var hasProducts, hasTerms bool
	err := j.dec.Object(func(key string) error {
		switch key {
		case "formatVersion":
			return j.text(key, formatVersion, nil)
		case "offerCode":
			return j.text(key, offerCode, nil)
		case "version":
			return j.text(key, "", &j.report.Version)
		case "publicationDate":
			return j.text(key, "", &j.report.Published)
		case "products":
			hasProducts = true
			j.expectAttributes()
			return j.readProducts()
		case "terms":
			if !hasProducts {
				return j.drift("terms", "products before it", "terms")
			}
			hasTerms = true
			return j.dec.Object(j.terms)
		}
		return j.dec.Skip()
	})
	switch {
	case err != nil:
		return err
	case j.report.Version == "":
		return j.drift("version", "a version", "nothing")
	case !hasProducts:
		return j.drift("products", "an object", "nothing")
	case !hasTerms:
		return j.drift("terms", "an object", "nothing")
	}
	return j.dec.End()
}

// expectAttributes settles which attributes instance products of this list have.
func (j *jsonList) expectAttributes() {
	for a := range numAttrs {
		n := attrNames[a].need
		j.present[a] = n == always || n == modern && j.report.Version >= modernVersion
	}
}

func (j *jsonList) drift(path, want, got string) error {
	return &gputide.DriftError{Source: j.opt.Source, Path: path, Want: want, Got: got}
}

// text reads a string; want, when not empty, is the only value allowed.
func (j *jsonList) text(path, want string, into *string) error {
	var s string
	if err := j.dec.Decode(&s); err != nil {
		return err
	}
	if into != nil {
		*into = s
	}
	if want == "" {
		return nil
	}
	return j.expect(path, want, s)
}

// readProducts reads "products". A list in which no product says its family
// would lose every instance in silence.
func (j *jsonList) readProducts() error {
	if err := j.dec.Object(j.product); err != nil {
		return err
	}
	if len(j.products) > 0 && !j.families {
		return j.drift("products.*.productFamily", "a family", fmt.Sprintf("none in any of %d products", len(j.products)))
	}
	return nil
}

// product takes one entry of "products".
func (j *jsonList) product(key string) error {
	var p jsonProduct
	if err := j.dec.Decode(&p); err != nil {
		return err
	}
	if p.SKU != key {
		return j.drift("products."+key+".sku", key, fmt.Sprintf("%.40q", p.SKU))
	}
	j.families = j.families || p.Family != ""
	v := &j.values
	for a := range numAttrs {
		if name := attrNames[a].json; a >= productFrom && a != family {
			v[a] = append(v[a][:0], p.Attributes[name]...)
		}
	}
	v[sku] = append(v[sku][:0], key...)
	v[family] = append(v[family][:0], p.Family...)
	q := j.productOf(v, nil)
	if q.omit != "" {
		q = j.omitted(q.omit)
	}
	j.products[key] = q
	return nil
}

// omitted returns the one product that stands for all left out for a reason.
func (j *jsonList) omitted(reason string) *product {
	p := j.left[reason]
	if p == nil {
		p = &product{omit: reason}
		j.left[reason] = p
	}
	return p
}

// terms takes the terms of one kind: OnDemand, Reserved.
func (j *jsonList) terms(kind string) error {
	if kind != "OnDemand" && kind != "Reserved" {
		j.report.Omitted[OmitTermKind]++
		return j.dec.Skip()
	}
	return j.dec.Object(func(productSKU string) error {
		return j.dec.Object(func(code string) error {
			var t jsonTerm
			if err := j.dec.Decode(&t); err != nil {
				return err
			}
			path := "terms." + kind + "." + productSKU
			if t.SKU != productSKU || code != t.SKU+"."+t.OfferTermCode {
				return j.drift(path+"."+code, "a term of its product", fmt.Sprintf("%.40q %.40q", t.SKU, t.OfferTermCode))
			}
			return j.term(kind, path, &t)
		})
	})
}

// term takes the price dimensions of one term.
func (j *jsonList) term(kind, path string, t *jsonTerm) error {
	p := j.products[t.SKU]
	if p == nil {
		return j.drift(path, "a product", "a term without one")
	}
	v := &j.values
	set := func(a attr, s string) { v[a] = append(v[a][:0], s...) }
	set(sku, t.SKU)
	set(termCode, t.OfferTermCode)
	set(termType, kind)
	set(lease, t.Attributes.Lease)
	set(class, t.Attributes.Class)
	set(option, t.Attributes.Option)
	for _, code := range slices.Sorted(maps.Keys(t.Dimensions)) {
		d := t.Dimensions[code]
		set(rateCode, d.RateCode)
		set(unit, d.Unit)
		set(begin, d.Begin)
		set(end, d.End)
		money, text := price(d.PricePerUnit, j.opt.Currency)
		set(currency, money)
		set(amount, text)
		for _, a := range []attr{rateCode, unit, amount} {
			j.given[a] = j.given[a] || p.omit == "" && len(v[a]) > 0
		}
		j.rowOf(p, v)
	}
	return nil
}

// price returns the amount in the currency asked for, or else the first the
// row has.
func price(m map[string]string, want gputide.Currency) (currency, amount string) {
	if s, ok := m[string(want)]; ok {
		return string(want), s
	}
	for _, c := range slices.Sorted(maps.Keys(m)) {
		return c, m[c]
	}
	return "", ""
}
