package huawei

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// measureHour is the unit of usage of an on-demand plan.
const measureHour = 4

// list collects the rows of one region: plans of one flavor stand in several.
type list struct {
	site   *site
	region string

	listed   bool
	rows     int
	hidden   int64
	twins    int64
	derived  int64
	specs    map[string]*gputide.Spec
	priced   map[gputide.Key]priced
	unpriced map[gputide.Key][2]string // reason and detail
	unread   [][2]string               // of reserved instances whose key is not known
}

// priced is the lowest price of a key.
type priced struct {
	price gputide.Published
	sku   string
	total *big.Rat // of the whole term, or of an hour
}

func newList(s *site, region string) *list {
	return &list{
		site: s, region: region, specs: make(map[string]*gputide.Spec),
		priced: make(map[gputide.Key]priced), unpriced: make(map[gputide.Key][2]string),
	}
}

// add hands over what was read, in a fixed order.
func (l *list) add(b *gputide.Batch) {
	byKey := func(x, y gputide.Key) int { return strings.Compare(x.Canonical(), y.Canonical()) }
	for _, key := range slices.SortedFunc(maps.Keys(l.priced), byKey) {
		p := l.priced[key]
		b.Add(gputide.RawOffer{
			Source: l.site.source, Key: key, Part: partECS, Price: p.price, Spec: l.specs[key.InstanceType], SKU: p.sku,
		})
	}
	for _, key := range slices.SortedFunc(maps.Keys(l.unpriced), byKey) {
		if _, ok := l.priced[key]; !ok {
			b.SkipPart(l.site.source, key, partECS, l.unpriced[key][0], l.unpriced[key][1])
		}
	}
	for _, u := range l.unread {
		b.SkipUnknown(l.site.source, l.site.scope(l.region, partECS, gputide.Commitment), u[0], u[1])
	}
	b.Omit(l.site.source, "hidden", l.hidden)
	b.Omit(l.site.source, "twin", l.twins)
	b.Omit(l.site.source, "derived_price", l.derived)
}

// plans reads the plans of one row.
func (l *list) plans(key gputide.Key, plans []plan) error {
	var reserved []plan
	for i := range plans {
		p := &plans[i]
		if p.UsageFactor != "" && p.UsageFactor != "Duration" {
			return drift(l.site.source, "$.product.ec2_vm[].planList[].usageFactor", "Duration", p.UsageFactor)
		}
		switch p.Mode {
		case "ONDEMAND":
			if p.Measure != nil && *p.Measure != measureHour {
				return drift(l.site.source, "$.product.ec2_vm[].planList[].usageMeasureId", "4, hours", strconv.Itoa(*p.Measure))
			}
			if p.Periods != nil && *p.Periods != 1 {
				return drift(l.site.source, "$.product.ec2_vm[].planList[].periodNum", "none on demand", strconv.Itoa(*p.Periods))
			}
			key.Market, key.Term = gputide.OnDemand, ""
			l.one(key, p, gputide.PerHour)
		case "MONTHLY":
			l.period(key, p, "mo")
		case "YEARLY":
			l.period(key, p, "y")
		case "RI":
			reserved = append(reserved, *p)
		default:
			return drift(l.site.source, "$.product.ec2_vm[].planList[].billingMode", "ONDEMAND, MONTHLY, YEARLY or RI", p.Mode)
		}
	}
	return l.reserved(key, reserved)
}

// period reads the plan of a month or a year bought in advance. What an amount
// for several of them pays for is not said.
func (l *list) period(key gputide.Key, p *plan, unit string) {
	n := 1
	if p.Periods != nil {
		n = *p.Periods
	}
	key.Market, key.Term = gputide.Subscription, gputide.NewTerm(n, unit)
	if n != 1 {
		l.skip(key, "several_periods", string(p.Amount))
		return
	}
	l.one(key, p, gputide.PerTerm)
}

// one reads the amount of a plan.
func (l *list) one(key gputide.Key, p *plan, unit gputide.Unit) {
	v, err := gputide.ParseAmount(string(p.Amount))
	if err != nil || v.Sign() <= 0 {
		l.skip(key, "no_price", string(p.Amount))
		return
	}
	l.put(key, priced{
		gputide.Published{Amount: string(p.Amount), Unit: unit, Basis: gputide.BasisInstance}, p.ProductID, v,
	})
}

// put keeps the lower of two prices.
func (l *list) put(key gputide.Key, p priced) {
	before, twice := l.priced[key]
	if twice {
		l.twins++
	}
	if !twice || p.total.Cmp(before.total) < 0 {
		l.priced[key] = p
	}
}

func (l *list) skip(key gputide.Key, reason, detail string) {
	l.unpriced[key] = [2]string{reason, detail}
}

// reservation is the plans of one reserved instance.
type reservation struct {
	years                       int
	upfront, monthly, effective string // amounts, empty when not there
	payment                     string
	sku                         string
}

// reserved puts the plans of reserved instances together: those of one planId,
// else of one period. An upfront amount that names neither is that of all.
func (l *list) reserved(key gputide.Key, plans []plan) error {
	var order []string
	groups := make(map[string]*reservation)
	for i := range plans {
		p := &plans[i]
		id := ""
		switch {
		case len(p.PlanID) > 0 && !bytes.Equal(p.PlanID, []byte("null")):
			id = string(p.PlanID)
		case p.Periods != nil:
			id = "years " + strconv.Itoa(*p.Periods)
		}
		g := groups[id]
		if g == nil {
			g = new(reservation)
			groups[id], order = g, append(order, id)
		}
		if err := g.take(l.site.source, p); err != nil {
			return err
		}
	}
	shared := groups[""]
	if shared != nil && shared.monthly == "" && shared.effective == "" && len(groups) > 1 {
		order = slices.DeleteFunc(order, func(id string) bool { return id == "" })
		for _, id := range order {
			if groups[id].upfront == "" {
				groups[id].upfront = shared.upfront
			}
		}
	}
	for _, id := range order {
		l.reservation(key, groups[id])
	}
	return nil
}

// take reads one plan of a reserved instance.
func (g *reservation) take(source string, p *plan) error {
	if p.Periods != nil {
		g.years = *p.Periods
	}
	if p.Payment != "" {
		g.payment = p.Payment
	}
	if p.ProductID != "" {
		g.sku = p.ProductID
	}
	switch p.Origin {
	case "price":
		g.upfront = string(p.Amount)
	case "perPrice":
		g.monthly = string(p.Amount)
	case "perEffectivePrice":
		g.effective = string(p.Amount)
	case "": // an amount of which nothing says what it pays for
	default:
		return drift(source, "$.product.ec2_vm[].planList[].originType", "price, perPrice or perEffectivePrice", p.Origin)
	}
	return nil
}

// reservation reads a reserved instance: an amount at once and one each month.
func (l *list) reservation(key gputide.Key, g *reservation) {
	upfront, errUpfront := gputide.ParseAmount(g.upfront)
	monthly, errMonthly := gputide.ParseAmount(g.monthly)
	detail := fmt.Sprintf("%s, %d years, %q at once, %q each month", key.InstanceType, g.years, g.upfront, g.monthly)
	switch {
	case g.years < 1:
		l.unread = append(l.unread, [2]string{"no_period", detail})
		return
	case errUpfront != nil || errMonthly != nil || upfront.Sign() < 0 || monthly.Sign() < 0 || upfront.Sign()+monthly.Sign() == 0:
		l.unread = append(l.unread, [2]string{"reserved_amounts", detail}) // the payment is a part of the key
		return
	}
	key.Market, key.Plan, key.Term = gputide.Commitment, "ri", gputide.NewTerm(g.years, "y")
	switch {
	case upfront.Sign() == 0:
		key.Payment = gputide.PaymentNone
	case monthly.Sign() == 0:
		key.Payment = gputide.PaymentAll
	default:
		key.Payment = gputide.PaymentPartial
	}
	months := int64(12 * g.years)
	total := new(big.Rat).Add(upfront, new(big.Rat).Mul(monthly, big.NewRat(months, 1)))
	if g.effective != "" {
		l.derived++
	}
	switch {
	case g.payment == "NO_UPFRONT" && key.Payment != gputide.PaymentNone:
		l.skip(key, "payment", detail)
	case !g.agrees(total, months):
		l.skip(key, "effective_price", detail+", "+g.effective+" an hour")
	default:
		l.put(key, priced{gputide.Published{
			Amount: g.monthly, Unit: gputide.PerMonth, Basis: gputide.BasisInstance, Upfront: g.upfront,
		}, g.sku, total})
	}
}

// agrees reports whether the hourly amount of the page is the one the others
// make, within two in a hundred: it is rounded, and proves their units.
func (g *reservation) agrees(total *big.Rat, months int64) bool {
	if g.effective == "" {
		return true
	}
	said, err := gputide.ParseAmount(g.effective)
	if err != nil {
		return false
	}
	ours := new(big.Rat).Quo(total, big.NewRat(months*gputide.HoursPerMonth, 1))
	diff := new(big.Rat).Sub(said, ours)
	return diff.Abs(diff).Cmp(new(big.Rat).Mul(ours, big.NewRat(2, 100))) <= 0
}
