package azure

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gputide/gputide"
)

// item is one row of the Retail Prices API. A nil field is not there.
// isPrimaryMeterRegion is not read: live rows of older series have it false.
type item struct {
	Currency *string         `json:"currencyCode"`
	Tier     json.RawMessage `json:"tierMinimumUnits"`
	Price    json.RawMessage `json:"retailPrice"`
	Region   *string         `json:"armRegionName"`
	Start    *string         `json:"effectiveStartDate"`
	End      *string         `json:"effectiveEndDate"`
	Meter    *string         `json:"meterName"`
	MeterID  string          `json:"meterId"`
	Product  *string         `json:"productName"`
	SKU      string          `json:"skuName"`
	Service  *string         `json:"serviceName"`
	Unit     *string         `json:"unitOfMeasure"`
	Type     *string         `json:"type"`
	Size     *string         `json:"armSkuName"`
	Term     *string         `json:"reservationTerm"`
	Savings  []savings       `json:"savingsPlan"`
}

// savings is the rate of a savings plan, per hour, inside an on-demand row.
type savings struct {
	Term  string          `json:"term"`
	Price json.RawMessage `json:"retailPrice"`
}

// offerKey tells the offers of one region apart.
type offerKey struct {
	size   string
	market gputide.Market
	plan   string
	term   gputide.Term
	os     string
}

// entry is what a row says of an offer from a moment on. reason is set when the
// row has no usable price.
type entry struct {
	start  int64 // Unix seconds
	amount string
	meter  string
	reason string
	detail string
}

// list is what was read of one region's list.
type list struct {
	region string
	at     time.Time

	offers map[offerKey][]entry // those of the latest start; several contradict each other
	omits  map[string]int64
	blind  map[string][]string // reason → details of rows that do not say what they are
	moved  bool                // a row was read twice: the list moved while it was read

	rows             int
	seen             [8]bool // fields that some row has
	reserved, termed bool    // some row is a reservation; one of them has a term
}

func newList(region string, at time.Time) *list {
	return &list{
		region: region, at: at, offers: map[offerKey][]entry{}, omits: map[string]int64{},
		blind: map[string][]string{},
	}
}

// row takes one row. An error means that the list is not the one asked for.
func (l *list) row(raw json.RawMessage) error {
	l.rows++
	var it item
	if err := json.Unmarshal(raw, &it); err != nil {
		l.unknown("bad_row", string(raw))
		return nil
	}
	l.note(&it)
	switch {
	case it.Region != nil && *it.Region != l.region:
		return drift(sourcePrices, "Items[].armRegionName", l.region, *it.Region)
	case it.Currency != nil && *it.Currency != string(currency):
		return drift(sourcePrices, "Items[].currencyCode", string(currency)+" as asked", *it.Currency)
	}
	if reason := it.omitted(); reason != "" {
		l.omits[reason]++
		return nil
	}
	k, problem := it.key()
	if problem != "" {
		l.unknown(problem, string(raw))
		return nil
	}
	l.offer(&it, k)
	return nil
}

// unknown counts a row that does not say what it is.
func (l *list) unknown(reason, detail string) {
	l.blind[reason] = append(l.blind[reason], detail[:min(len(detail), 160)])
}

// fields names what no list lacks in all of its rows, in the order of item.has.
func fields() [8]string {
	return [...]string{
		"armRegionName", "armSkuName", "retailPrice", "unitOfMeasure", "meterName", "productName", "type", "effectiveStartDate",
	}
}

// has tells which of the fields a row has.
func (it *item) has() [8]bool {
	return [...]bool{
		it.Region != nil, it.Size != nil, it.Price != nil, it.Unit != nil, it.Meter != nil, it.Product != nil, it.Type != nil, it.Start != nil,
	}
}

// note remembers which fields are there.
func (l *list) note(it *item) {
	for i, there := range it.has() {
		l.seen[i] = l.seen[i] || there
	}
	if it.Type != nil && *it.Type == typeReservation {
		l.reserved = true
		l.termed = l.termed || it.Term != nil
	}
}

// check returns drift when a field is gone from every row.
func (l *list) check() error {
	lost := func(name string) error {
		return drift(sourcePrices, "Items[]."+name, "it in some row", fmt.Sprintf("none of %d rows", l.rows))
	}
	for i, name := range fields() {
		if !l.seen[i] {
			return lost(name)
		}
	}
	if l.reserved && !l.termed {
		return lost("reservationTerm")
	}
	return nil
}

// offer takes what a row says of the offer k and of its savings plans.
func (l *list) offer(it *item, k offerKey) {
	e, why := l.entry(it)
	if why != "" {
		l.omits[why]++
		return
	}
	for _, s := range it.Savings {
		if k.market != gputide.OnDemand {
			l.omits["savings_plan_of_other_rate"]++
			continue
		}
		term, ok := termOf(s.Term)
		if !ok {
			l.unknown("unknown_term", k.size+": savings plan of "+s.Term)
			continue
		}
		sk, se := k, e
		sk.market, sk.plan, sk.term = gputide.Commitment, planSavings, term
		if se.reason == "" || se.reason == reasonNoPrice {
			se.amount, se.reason, se.detail = amountOf(s.Price)
		}
		l.add(sk, se)
	}
	l.add(k, e)
}

const reasonNoPrice = "no_price"

// entry reads when a row holds and its price. A row that is not in force at the
// moment of the crawl is told by the reason why.
func (l *list) entry(it *item) (e entry, notInForce string) {
	e.meter = it.MeterID
	e.amount, e.reason, e.detail = amountOf(it.Price)
	if *it.Unit != hourly {
		e.reason, e.detail = "unknown_unit", *it.Unit
	}
	if it.Start == nil {
		e.reason, e.detail = "bad_date", "no start"
		return e, ""
	}
	start, err := time.Parse(time.RFC3339, *it.Start)
	if err != nil {
		e.reason, e.detail = "bad_date", *it.Start
		return e, ""
	}
	e.start = start.Unix()
	if start.After(l.at) {
		return e, "not_yet_in_force"
	}
	if it.End == nil || *it.End == "" {
		return e, ""
	}
	end, err := time.Parse(time.RFC3339, *it.End)
	switch {
	case err != nil:
		e.reason, e.detail = "bad_date", *it.End
	case !lastMoment(end).After(l.at):
		return e, "no_longer_in_force"
	}
	return e, ""
}

// lastMoment returns when a row that names end ceases to hold. Spot rows name the
// last day of a month, some without a time of day: that day counts.
func lastMoment(end time.Time) time.Time {
	if end.Equal(end.Truncate(24 * time.Hour)) {
		return end.Add(24 * time.Hour)
	}
	return end
}

// amountOf returns a price as published, or why there is none.
func amountOf(raw json.RawMessage) (amount, reason, detail string) {
	v, err := gputide.ParseAmount(string(raw))
	if err != nil || v.Sign() <= 0 {
		return "", reasonNoPrice, string(raw)
	}
	return string(raw), "", ""
}

// add enters what a row says of an offer: the latest start holds. Rows that
// contradict each other stay beside each other; the crawler refuses them.
func (l *list) add(k offerKey, e entry) {
	have := l.offers[k]
	switch {
	case len(have) == 0 || e.start > have[0].start:
		l.omit("superseded", len(have))
		l.offers[k] = []entry{e}
		return
	case e.start < have[0].start:
		l.omit("superseded", 1)
		return
	}
	for _, h := range have {
		if h == e {
			l.moved = true
			l.omit("repeated_row", 1)
			return
		}
	}
	l.offers[k] = append(have, e)
}

func (l *list) omit(reason string, rows int) {
	if rows > 0 {
		l.omits[reason] += int64(rows)
	}
}
