package alibaba

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// A key of pricingInfo: RegionId::InstanceType::NetworkType::OSType::IoOptimized.
// Of the networks and the kinds of I/O only the current ones are read.
const (
	keySeparator = "::"
	keyParts     = 5
	network      = "vpc"
	optimized    = "optimized"
)

// testTypes begins the names of types that leak from tests.
const testTypes = "ecs.poc-test."

// maxPeriod bounds the months or years of a subscription: a larger number is a
// misread field.
const maxPeriod = 60

// point is one price of an entry: both are decimal strings. The price is for the
// whole period.
type point struct {
	Price  json.RawMessage `json:"price"`
	Period json.RawMessage `json:"period"`
}

// entry adds the offers of one entry.
func (r *reader) entry(name string, raw json.RawMessage) {
	parts := strings.Split(name, keySeparator)
	var lists map[string]json.RawMessage
	if len(parts) != keyParts || parts[0] == "" || parts[1] == "" || json.Unmarshal(raw, &lists) != nil || lists == nil {
		for _, m := range markets() {
			r.b.SkipUnknown(r.site.list, r.site.scope(m), "bad_row", name)
		}
		return
	}
	r.read++
	os := parts[3]
	switch {
	case parts[2] != network || parts[4] != optimized:
		r.omitted["other_network"]++
		return
	case os != "linux" && os != "windows":
		r.omitted["other_os"]++
		return
	}
	r.kept++
	if strings.HasPrefix(parts[1], testTypes) {
		r.omitted["test_type"]++
		return
	}
	key := gputide.Key{
		Partition: r.site.partition, Region: parts[0], InstanceType: parts[1], OS: os,
		Stat: gputide.StatList, Currency: r.site.currency,
	}
	named := 0
	for i, list := range listNames() {
		if _, ok := lists[list]; ok {
			r.lists[i].named++
			named++
		}
	}
	strange := len(lists) > named
	if strange {
		r.strange++
	}
	for i, list := range listNames() {
		r.list(i, key, lists[list], strange)
	}
}

// list adds the offers of one list of an entry. Any list may be missing or
// empty: the type is not sold that way. In a strange entry, which has a member
// of another name, a missing list may be that one.
func (r *reader) list(kind int, key gputide.Key, raw json.RawMessage, strange bool) {
	key.Market = gputide.Subscription
	if kind == hours {
		key.Market = gputide.OnDemand
	}
	var points []point
	if raw == nil && strange || raw != nil && json.Unmarshal(raw, &points) != nil {
		r.skip(kind, key, "bad_row", string(raw))
		return
	}
	if len(points) == 0 {
		r.omitted["not_offered"]++
		return
	}
	for i := range points {
		r.point(kind, key, &points[i])
	}
}

// skip counts a row without its period: by the hour that is known to be one.
func (r *reader) skip(kind int, key gputide.Key, reason, detail string) {
	if kind == hours {
		r.b.Skip(r.site.list, key, reason, detail)
		return
	}
	r.b.SkipUnknown(r.site.list, r.site.scope(key.Market), reason, key.Region+" "+key.InstanceType+" "+detail)
}

func (r *reader) point(kind int, key gputide.Key, p *point) {
	c := &r.lists[kind]
	c.amounts++
	period := plain(p.Period)
	if period != "" {
		c.timed++
	}
	n, err := strconv.Atoi(period)
	switch {
	case err != nil, n < 1, n > maxPeriod, kind == hours && n != 1:
		r.skip(kind, key, "bad_period", period)
		return
	case kind == months:
		key.Term = gputide.NewTerm(n, "mo")
	case kind == years:
		key.Term = gputide.NewTerm(n, "y")
	}
	amount := plain(p.Price)
	if p.Price != nil {
		c.priced++
	}
	switch {
	case isNotOffered(p.Price, amount):
		r.omitted["not_offered"]++
		return
	case !isPrice(amount):
		r.b.Skip(r.site.list, key, "no_price", amount)
		return
	}
	unit := gputide.PerTerm
	if kind == hours {
		unit = gputide.PerHour
	}
	r.b.Add(gputide.RawOffer{
		Source: r.site.list, Key: key, Spec: r.spec(key.InstanceType),
		Price: gputide.Published{Amount: amount, Unit: unit, Basis: gputide.BasisInstance},
	})
}

// spec returns what is known of a type, one value for all its offers; nil for a
// type without an accelerator, as far as the table knows.
func (r *reader) spec(instanceType string) *gputide.Spec {
	s, ok := r.specs[instanceType]
	if !ok {
		s = r.table.spec(r.site.partition, instanceType)
		r.specs[instanceType] = s
	}
	return s
}

// plain returns the text of a JSON string or number; "" for anything else.
func plain(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] == 'n' {
		return ""
	}
	if raw[0] != '"' {
		return string(raw)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// isNotOffered reports whether the list says that there is no price.
func isNotOffered(raw json.RawMessage, amount string) bool {
	switch amount {
	case "N/A", "-", "--", "—":
		return true
	}
	return string(raw) == "null"
}

// isPrice reports whether amount is a positive decimal.
func isPrice(amount string) bool {
	v, err := gputide.ParseAmount(amount)
	return err == nil && v.Sign() > 0
}
