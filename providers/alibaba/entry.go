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

// point is one price of an entry. The price is for the whole period.
type point struct{ price, period value }

// value is the text of a JSON string or number.
type value struct {
	text  string
	given bool // there is a member of the name
	null  bool
}

// pointList is one list of an entry.
type pointList struct {
	points []point
	named  bool
	broken string // the text of a list of another form
}

// entryLists is an entry. Its memory is reused.
type entryLists struct {
	lists   [kinds]pointList
	strange bool // it has a member of another name
}

func (e *entryLists) reset() {
	for i := range e.lists {
		e.lists[i] = pointList{points: e.lists[i].points[:0]}
	}
	e.strange = false
}

// slow reads an entry of any form; false for one that is no object.
func slow(raw []byte, e *entryLists) bool {
	e.reset()
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return false
	}
	for name, text := range members {
		kind := kindOf([]byte(name))
		if kind < 0 {
			e.strange = true
			continue
		}
		l := &e.lists[kind]
		l.named = true
		var rows []map[string]json.RawMessage
		if json.Unmarshal(text, &rows) != nil {
			l.broken = string(text)
			continue
		}
		for _, row := range rows {
			l.points = append(l.points, point{newValue(row["price"]), newValue(row["period"])})
		}
	}
	return true
}

func newValue(raw json.RawMessage) value {
	v := value{given: raw != nil, null: string(raw) == "null"}
	switch {
	case raw == nil || v.null:
	case raw[0] == '"':
		_ = json.Unmarshal(raw, &v.text) // a string
	default:
		v.text = string(raw)
	}
	return v
}

// entry adds the offers of one entry.
func (r *reader) entry(name string, raw json.RawMessage) {
	parts := strings.Split(name, keySeparator)
	e := &r.lists
	if len(parts) != keyParts || parts[0] == "" || parts[1] == "" || !(scan(raw, e) || slow(raw, e)) {
		for _, m := range listMarkets() {
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
	if e.strange {
		r.strange++
	}
	for kind := range e.lists {
		r.list(kind, key, e)
	}
}

// list adds the offers of one list of an entry. Any list may be missing or
// empty: the type is not sold that way. In a strange entry a missing list may be
// the member of another name.
func (r *reader) list(kind int, key gputide.Key, e *entryLists) {
	l := &e.lists[kind]
	key.Market = gputide.Subscription
	if kind == hours {
		key.Market = gputide.OnDemand
	}
	if l.named {
		r.census[kind].named++
	}
	switch {
	case l.broken != "", !l.named && e.strange:
		r.skip(kind, key, "bad_row", l.broken)
	case len(l.points) == 0:
		r.omitted["not_offered"]++
	}
	for i := range l.points {
		r.point(kind, key, &l.points[i])
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
	c := &r.census[kind]
	c.amounts++
	if p.price.given {
		c.priced++
	}
	if p.period.given {
		c.timed++
	}
	n, err := strconv.Atoi(p.period.text)
	switch {
	case err != nil, n < 1, n > maxPeriod, kind == hours && n != 1:
		r.skip(kind, key, "bad_period", p.period.text)
		return
	case kind == months:
		key.Term = gputide.NewTerm(n, "mo")
	case kind == years:
		key.Term = gputide.NewTerm(n, "y")
	}
	amount := p.price.text
	switch {
	case p.price.null, isNotOffered(amount):
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
	r.priced(key.Region, key.InstanceType)
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

// isNotOffered reports whether the list says that there is no price.
func isNotOffered(amount string) bool {
	switch amount {
	case "N/A", "-", "--", "—":
		return true
	}
	return false
}

// isPrice reports whether amount is a positive decimal.
func isPrice(amount string) bool {
	if whole, frac, ok := strings.Cut(amount, "."); isDigits(whole) && (!ok || isDigits(frac)) {
		return strings.Trim(whole+frac, "0") != ""
	}
	v, err := gputide.ParseAmount(amount)
	return err == nil && v.Sign() > 0
}

// isDigits reports whether s is a short number of digits.
func isDigits(s string) bool {
	const most = 20
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) <= most
}
