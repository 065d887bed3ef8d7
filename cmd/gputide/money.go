package main

import (
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// fact is one named value of a page for people.
type fact struct{ name, value string }

// keyFacts lists the fields of a key in the order people read them.
func keyFacts(k *query.KeyRow) []fact {
	return []fact{
		{"provider", string(k.Provider)},
		{"partition", string(k.Partition)},
		{"seller", string(k.Seller)},
		{"region", string(k.Region)},
		{"zone", string(k.Zone)},
		{"instance type", string(k.InstanceType)},
		{"market", string(k.Market)},
		{"plan", string(k.Plan)},
		{"term", string(k.Term)},
		{"payment", string(k.Payment)},
		{"os", string(k.OS)},
		{"license", string(k.License)},
		{"tenancy", string(k.Tenancy)},
		{"tier", string(k.Tier)},
		{"volume", string(k.Volume)},
		{"stat", string(k.Stat)},
		{"tax", string(k.Tax)},
		{"currency", string(k.Currency)},
	}
}

// currencySign returns the sign people write before an amount; for a currency
// without a plain one it is the code and a blank.
func currencySign(c string) string {
	switch c {
	case "USD":
		return "$"
	case "EUR":
		return "€"
	case "CNY":
		return "¥"
	case "GBP":
		return "£"
	case "":
		return ""
	}
	return c + " "
}

// unitSign words the unit of a published amount, in the words of the market for
// yuan.
func unitSign(unit, currency string) string {
	if currency == "CNY" {
		switch gputide.Unit(unit) {
		case gputide.PerMonth:
			return "/月"
		case gputide.PerYear:
			return "/年"
		case gputide.PerDay:
			return "/日"
		case gputide.PerWeek:
			return "/周"
		}
	}
	if unit == "" {
		return ""
	}
	return "/" + unit
}

// basisSign words the basis of a published amount, empty for an instance.
func basisSign(basis string) string {
	switch gputide.Basis(basis) {
	case gputide.BasisInstance, "":
		return ""
	case gputide.BasisAccelerator:
		return "/gpu"
	}
	return "/" + basis
}

// publishedText is an amount exactly as its source prints it: "¥2500/月". term
// is that of the key: an amount for the whole term reads "$466.56/y".
func publishedText(p *query.PublishedRow, term query.Text) string {
	if p.Amount == "" {
		return ""
	}
	unit := string(p.Unit)
	if gputide.Unit(unit) == gputide.PerTerm && term != "" {
		unit = string(term)
		if one, ok := strings.CutPrefix(unit, "1"); ok && strings.Trim(one, "0123456789") == one {
			unit = one
		}
	}
	return currencySign(string(p.Currency)) + string(p.Amount) + basisSign(string(p.Basis)) + unitSign(unit, string(p.Currency))
}

// The decimals of a price in a table for people.
const (
	leastDecimals = 2
	mostDecimals  = 4
)

// shortMoney is a price for a table: rounded to four decimals, at least two.
func shortMoney(n query.Money) string {
	r := gputide.Nano(n).Rat()
	s := r.FloatString(mostDecimals)
	if strings.Trim(s, "-0.") == "" && n != 0 {
		return gputide.Nano(n).String() // too small for four decimals
	}
	whole, frac, _ := strings.Cut(s, ".")
	frac = strings.TrimRight(frac, "0")
	for len(frac) < leastDecimals {
		frac += "0"
	}
	return whole + "." + frac
}

// priceText is an hourly price for a table, marked when it is not the amount
// published.
func priceText(n *query.Money, currency string, derived bool) string {
	if n == nil {
		return ""
	}
	s := currencySign(currency) + shortMoney(*n)
	if derived {
		s = "≈ " + s
	}
	return s
}
