package gcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// Reasons why a rate is listed and of no use. A rule that a SKU breaks says
// where in the body, too.
const (
	skipNoPrice     = "no_price"
	skipCurrency    = "wrong_currency"
	skipUnit        = "unknown_unit"
	skipTiers       = "tiered_rate"
	skipUsage       = "contradictory_usage_type"
	skipConflict    = "conflicting_rates" // two SKUs of one rate and width with different amounts
	skipIncomplete  = "incomplete_components"
	skipBadRow      = "bad_row"
	skipMovedPage   = "moved_page"
	maxTiers        = 64
	nanosPerUnit    = 1_000_000_000
	nanoDigits      = 9
	maxUnitDigits   = 10
	gbPerGiB        = "1.073741824" // decimal gigabytes
	pathDescription = "skus[].description"
	pathRegions     = "skus[].serviceRegions"
	pathTiers       = "skus[].pricingInfo[].pricingExpression.tieredRates"
	pathMoney       = pathTiers + "[].unitPrice"
)

// rate is what one unit costs in one region.
type rate struct {
	amount string // decimal text in currency
	unit   gputide.Unit
	perGB  bool // of memory: per decimal GB and not per GiB
	sku    string
	wide   bool // of a SKU that covers several regions

	// fault is why the rate cannot be used, detail what it says; path where in
	// the body, for drift.
	fault, detail, path string

	others []string // what disagrees with it, of a conflict
}

// equal reports whether two rates say the same.
func (r *rate) equal(o *rate) bool {
	return r.amount == o.amount && r.unit == o.unit && r.perGB == o.perGB && r.fault == o.fault
}

func (r *rate) String() string {
	if r.fault != "" && r.fault != skipConflict {
		return fmt.Sprintf("%s %s %s", r.sku, r.fault, r.detail)
	}
	return fmt.Sprintf("%s %s/%s", r.sku, r.amount, r.unit)
}

// rateOf reads the rate of a SKU that is of id. Whatever is wrong with it is
// said in the rate.
func (s *sku) rateOf(id rateID) rate {
	r := rate{sku: s.ID, wide: len(s.Regions) > 1}
	switch {
	case !id.mode.allows(s.Category.Usage):
		return r.faulty(skipUsage, s.Category.Usage, "skus[].category.usageType")
	case len(s.Pricing) == 0:
		return r.faulty(skipNoPrice, "no pricing", "skus[].pricingInfo")
	}
	e := &s.Pricing[0].Expression
	if !r.setUnit(id.part, e.Unit) {
		return r.faulty(skipUnit, e.Unit, "skus[].pricingInfo[].pricingExpression.usageUnit")
	}
	t, fault := onlyTier(e.Tiers)
	if fault != "" {
		return r.faulty(fault, fmt.Sprintf("%d tiers", len(e.Tiers)), pathTiers)
	}
	if t.Price.Currency != string(currency) {
		return r.faulty(skipCurrency, t.Price.Currency, pathMoney+".currencyCode")
	}
	amount, path := t.amount()
	if path != "" {
		return r.faulty(skipNoPrice, "unreadable", path)
	}
	if amount == "0" {
		return r.faulty(skipNoPrice, "0", "")
	}
	r.amount = amount
	return r
}

func (r rate) faulty(fault, detail, path string) rate {
	r.fault, r.detail, r.path = fault, fmt.Sprintf("%.40q", detail), path
	return r
}

// setUnit reads the unit of a part; false for one it is not sold by.
func (r *rate) setUnit(part, unit string) bool {
	r.unit = gputide.PerHour
	switch {
	case unit == "h":
		return part == partCore || part == partAccelerator
	case unit == "GiBy.h":
		return part == partRAM || part == partSSD
	case unit == "GBy.h":
		r.perGB = true
		return part == partRAM
	case unit == "GiBy.mo":
		r.unit = gputide.PerMonth
		return part == partSSD
	}
	return false
}

// onlyTier returns the one tier that costs something. Usage before it may be
// free; several prices by the amount of usage are no rate of a machine.
func onlyTier(tiers []tier) (tier, string) {
	if len(tiers) == 0 || len(tiers) > maxTiers {
		return tier{}, skipNoPrice
	}
	tiers = slices.Clone(tiers)
	slices.SortStableFunc(tiers, func(a, b tier) int { return cmp.Compare(a.start(), b.start()) })
	for len(tiers) > 1 {
		if amount, path := tiers[0].amount(); amount != "0" || path != "" {
			return tier{}, skipTiers
		}
		tiers = tiers[1:]
	}
	return tiers[0], ""
}

func (t *tier) start() float64 {
	v, _ := strconv.ParseFloat(string(t.Start), 64) // missing is 0
	return v
}

// amount returns the price of a tier as decimal text, "0" for nothing, or the
// path of what cannot be read.
func (t *tier) amount() (text, path string) {
	if t.Price.Units == nil || !isDigits(*t.Price.Units) || len(*t.Price.Units) > maxUnitDigits {
		return "", pathMoney + ".units"
	}
	var nanos json.Number
	if err := json.Unmarshal(t.Price.Nanos, &nanos); err != nil || !isDigits(string(nanos)) {
		return "", pathMoney + ".nanos"
	}
	n, err := strconv.ParseUint(string(nanos), 10, 64)
	if err != nil || n >= nanosPerUnit {
		return "", pathMoney + ".nanos"
	}
	text = strings.TrimLeft(*t.Price.Units, "0")
	if text == "" {
		text = "0"
	}
	if n > 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%0*d", nanoDigits, n), "0")
	}
	return text, ""
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// rates are the rates of every region.
type rates map[rateID]map[string]*rate

// put adds the rate of one region. A SKU of that region alone stands before one
// of several; two of one width that differ are a conflict, in whichever order
// they come.
func (rs rates) put(id rateID, region string, r rate) {
	byRegion := rs[id]
	if byRegion == nil {
		byRegion = make(map[string]*rate)
		rs[id] = byRegion
	}
	old := byRegion[region]
	switch {
	case old == nil, old.wide && !r.wide:
		byRegion[region] = &r
	case !old.wide && r.wide:
	case old.fault != skipConflict && old.equal(&r):
		old.sku = min(old.sku, r.sku)
	default:
		if old.fault != skipConflict {
			old.others = []string{old.String()}
			old.fault = skipConflict
		}
		old.others = append(old.others, r.String())
		slices.Sort(old.others)
		old.others = slices.Compact(old.others)
		old.detail = strings.Join(old.others, ", ")
	}
}

// quantity returns how many of the unit of r stand for n GiB, or n itself.
func (r *rate) quantity(n string) string {
	if !r.perGB {
		return n
	}
	gib, okN := new(big.Rat).SetString(n)
	factor, okF := new(big.Rat).SetString(gbPerGiB)
	if !okN || !okF {
		return ""
	}
	return strings.TrimRight(strings.TrimRight(gib.Mul(gib, factor).FloatString(12), "0"), ".")
}
