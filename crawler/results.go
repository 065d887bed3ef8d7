package crawler

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/gputide/gputide"
)

// compareRows orders rows by id and moment and then by everything rows of the
// same key may differ in, price first.
func compareRows(a, b *keptRow) int {
	return cmp.Or(
		bytes.Compare(a.id[:], b.id[:]),
		a.offer.At.Compare(b.offer.At),
		cmp.Compare(a.offer.Price, b.offer.Price),
		cmp.Compare(a.offer.Part, b.offer.Part),
		cmp.Compare(a.cell.key.source, b.cell.key.source),
		cmp.Compare(a.offer.SKU, b.offer.SKU),
		comparePublished(&a.offer.Published, &b.offer.Published),
		slices.Compare(a.offer.Flags, b.offer.Flags),
		cmp.Compare(a.spec.textOf(), b.spec.textOf()),
	)
}

func comparePublished(a, b *gputide.Published) int {
	return cmp.Or(
		cmp.Compare(a.Amount, b.Amount),
		cmp.Compare(a.Unit, b.Unit),
		cmp.Compare(a.Basis, b.Basis),
		cmp.Compare(a.Upfront, b.Upfront),
		slices.CompareFunc(a.Components, b.Components, func(x, y gputide.Component) int {
			return cmp.Or(
				cmp.Compare(x.Kind, y.Kind),
				cmp.Compare(x.Amount, y.Amount),
				cmp.Compare(x.Unit, y.Unit),
				cmp.Compare(x.Quantity, y.Quantity),
				cmp.Compare(x.SKU, y.SKU),
			)
		}),
	)
}

// describe names an offer for people.
func describe(k *gputide.Key) string {
	s := k.InstanceType
	for _, v := range []string{k.Region, k.Zone, string(k.Market), string(k.Term), k.OS, k.Tier} {
		if v != "" {
			s += " " + v
		}
	}
	return s
}

// takeOffers puts the rows of the scopes that stand into the run and returns
// them.
func (a *assembly) takeOffers(rows []*keptRow) []*keptRow {
	out := rows[:0]
	for _, r := range rows {
		if !r.cell.scope.done() {
			r.cell.tally.skip(reasonScopeHeld, 1)
			continue
		}
		r.cell.tally.kept++
		out = append(out, r)
	}
	a.run.Offers = make([]gputide.Offer, len(out))
	for i, r := range out {
		a.run.Offers[i] = r.offer
	}
	for _, h := range a.held {
		if h.state.done() {
			a.run.HeldKeys = append(a.run.HeldKeys, h.key)
		}
	}
	slices.SortFunc(a.run.HeldKeys, func(x, y gputide.HeldKey) int {
		return cmp.Compare(x.Key.Canonical(), y.Key.Canonical())
	})
	return out
}

// takeReview puts the refused rows into the run, each with the body it came from
// when there is only one it can have come from.
func (a *assembly) takeReview() {
	slices.SortFunc(a.review, func(x, y review) int {
		return cmp.Or(
			bytes.Compare(x.id[:], y.id[:]),
			cmp.Compare(x.row.Reason, y.row.Reason),
			cmp.Compare(x.row.Part, y.row.Part),
			cmp.Compare(x.row.Source, y.row.Source),
			comparePrices(x.row.Price, y.row.Price),
			cmp.Compare(x.row.Detail, y.row.Detail),
			comparePublished(&x.row.Published, &y.row.Published),
		)
	})
	if extra := len(a.review) - maxQuarantined; extra > 0 {
		a.review = a.review[:maxQuarantined]
		a.note("%d refused rows are counted and not kept", extra)
	}
	hashes := make(map[*scopeState]string)
	for _, r := range a.review {
		hash, ok := hashes[r.state]
		if !ok {
			hash = a.bodyOf(r.state)
			hashes[r.state] = hash
		}
		r.row.BodyHash = hash
		a.run.Quarantined = append(a.run.Quarantined, r.row)
	}
}

func comparePrices(a, b *gputide.Nano) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(*a, *b)
}

// bodyOf returns the hash of the one body the scope was read from, "" when there
// are several.
func (a *assembly) bodyOf(st *scopeState) string {
	hash := ""
	for i := range a.bodies {
		b := &a.bodies[i]
		if b.Source != st.run.Source || b.Hash == "" || b.Hash == hash {
			continue
		}
		if len(st.run.URLs) > 0 && !slices.Contains(st.run.URLs, b.URL) {
			continue
		}
		if hash != "" {
			return ""
		}
		hash = b.Hash
	}
	return hash
}

// takeSpecs puts one spec for each instance type into the run: of what came
// apart from rows, and of the rows that were stored.
func (a *assembly) takeSpecs(rows []*keptRow) {
	used := make(map[*instanceType]map[string]statement)
	for _, r := range rows {
		t, st := r.typ, r.spec
		if used[t] == nil {
			used[t] = make(map[string]statement)
		}
		if st != nil {
			used[t][st.text] = *st
		}
	}
	for _, t := range a.types {
		statements := slices.Clone(t.base)
		for text, st := range used[t] {
			if !slices.ContainsFunc(t.base, func(b statement) bool { return b.text == text }) {
				statements = append(statements, st)
			}
		}
		merged := mergeSpecs(a.rank, statements)
		if merged == nil || (used[t] == nil && !a.all && !t.baseOK) {
			continue
		}
		a.run.Specs = append(a.run.Specs, *merged)
	}
	slices.SortFunc(a.run.Specs, func(x, y gputide.Spec) int {
		return cmp.Or(cmp.Compare(x.Partition, y.Partition), cmp.Compare(x.InstanceType, y.InstanceType))
	})
}

// takeRates puts the exchange rates into the run. Of two that disagree on one
// day and pair neither is taken.
func (a *assembly) takeRates() {
	slices.SortFunc(a.rates, func(x, y gputide.Rate) int {
		return cmp.Or(compareRateDays(&x, &y), a.rank.compare(x.Source, y.Source), cmp.Compare(x.Amount, y.Amount))
	})
	for rates := a.rates; len(rates) > 0; {
		n := 1
		for n < len(rates) && compareRateDays(&rates[n], &rates[0]) == 0 {
			n++
		}
		a.takeRate(rates[:n])
		rates = rates[n:]
	}
}

// takeRate takes one of the rates of one day and pair.
func (a *assembly) takeRate(rates []gputide.Rate) {
	first := rates[0]
	agree := true
	for _, r := range rates[1:] {
		agree = agree && (r.Source != first.Source || r.Amount == first.Amount)
	}
	for i, r := range rates {
		t := a.tally(r.Source)
		switch {
		case !validRate(&r):
			t.skip(reasonBadRate, 1)
		case r.Source != first.Source:
			t.omit(reasonSuperseded, 1)
		case !agree:
			t.skip(reasonTwoRates, 1)
		case i > 0:
			t.omit(reasonTwin, 1)
		default:
			t.kept++
			a.run.Rates = append(a.run.Rates, r)
		}
	}
}

func compareRateDays(a, b *gputide.Rate) int {
	return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.Base, b.Base), cmp.Compare(a.Quote, b.Quote))
}

func validRate(r *gputide.Rate) bool {
	amount, err := gputide.ParseAmount(r.Amount)
	return err == nil && amount.Sign() > 0 && r.Base.Valid() && r.Quote.Valid() && r.Date.Unix() > 0
}

// finish fills the rest of the run: scopes, bodies and the report.
func (a *assembly) finish(rows []*keptRow) {
	for _, st := range a.states {
		a.run.Scopes = append(a.run.Scopes, st.run)
	}
	slices.SortFunc(a.bodies, func(x, y gputide.Body) int {
		return cmp.Or(
			cmp.Compare(x.Source, y.Source),
			cmp.Compare(x.URL, y.URL),
			x.FetchedAt.Compare(y.FetchedAt),
			cmp.Compare(x.Status, y.Status),
			cmp.Compare(x.Hash, y.Hash),
		)
	})
	a.run.Bodies = a.bodies
	r := &a.run.Report
	for _, row := range rows {
		o := &row.offer
		if slices.Contains(o.Flags, gputide.FlagUnknownAccelerator) {
			addReason(&r.UnknownAccelerators, row.name, 1)
		}
		if slices.Contains(o.Flags, gputide.FlagUnknownRegion) {
			addReason(&r.UnknownRegions, o.Key.Region, 1)
		}
	}
	for _, source := range a.info.Sources {
		a.tally(source.ID)
	}
	for _, t := range a.tallies {
		t.omit(reasonNotAccelerated, t.notAccelerated)
		if t.badSpecs > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%d specs of %s are unreadable and left out", t.badSpecs, t.source))
		}
		r.Sources = append(r.Sources, t.report())
	}
	slices.SortFunc(r.Sources, func(x, y gputide.SourceReport) int { return a.rank.compare(x.Source, y.Source) })
	slices.Sort(r.Notes)
	if a.unsaid > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d more notes are not listed", a.unsaid))
	}
}
