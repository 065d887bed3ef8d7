package azure

import (
	"maps"
	"slices"

	"github.com/gputide/gputide"
)

// take hands what was read of a region's list to the batch and reports the
// scopes that it has rows of: a market without any becomes stale and is not
// concluded to be withdrawn. A list without any offer is reported for all, so
// that the crawler can hold it back.
func (r *run) take(l *list, address string) {
	partition := partitionOf(l.region)
	fed := map[gputide.Scope]bool{}
	for k, entries := range l.offers {
		fed[scopeOf(partition, l.region, k)] = true
		for i := range entries {
			r.offer(l, k, &entries[i])
		}
	}
	for reason, details := range l.blind {
		for _, d := range details {
			r.b.SkipUnknown(sourcePrices, gputide.Scope{Partition: partition, Region: l.region}, reason, d)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(l.omits)) {
		r.b.Omit(sourcePrices, reason, l.omits[reason])
	}
	for _, s := range scopes(partition, l.region) {
		if fed[s] || len(fed) == 0 && s.Part == "" {
			r.b.Report(gputide.ScopeRun{
				Scope: s, Status: gputide.ScopeDone, Source: sourcePrices, URLs: []string{address}, NoWithdraw: l.moved,
			})
		}
	}
}

func scopeOf(partition, region string, k offerKey) gputide.Scope {
	return gputide.Scope{Partition: partition, Region: region, Market: k.market, Part: partOf(k)}
}

func partOf(k offerKey) string {
	if k.plan == planSavings {
		return partSavings
	}
	return ""
}

// offer adds one offer, or says that its row has no usable price.
func (r *run) offer(l *list, k offerKey, e *entry) {
	key := keyOf(l.region, k)
	spec := r.spec(key.Partition, k.size)
	if e.reason != "" {
		r.b.SkipPart(sourcePrices, key, partOf(k), e.reason, e.meter+": "+e.detail)
		return
	}
	unit := gputide.PerHour
	if k.plan == planReservation { // the total of the term, though the row says "1 Hour"
		unit = gputide.PerTerm
	}
	r.b.Add(gputide.RawOffer{
		Source: sourcePrices, Key: key, Part: partOf(k), SKU: e.meter, Spec: spec,
		Price: gputide.Published{Amount: e.amount, Unit: unit, Basis: gputide.BasisInstance},
	})
}

// keyOf returns the key of an offer. A rate is the same however it is paid, and
// the API does not say whether tax is in it.
func keyOf(region string, k offerKey) gputide.Key {
	return gputide.Key{
		Partition: partitionOf(region), Region: region, InstanceType: k.size, Market: k.market, Plan: k.plan, Term: k.term,
		OS: k.os, Stat: gputide.StatList, Currency: currency,
	}
}
