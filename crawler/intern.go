package crawler

import (
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// interner keeps one copy of each text. Kept rows share most of theirs, and a
// text cut out of a large buffer would keep all of it alive.
type interner map[string]string

func (in interner) of(s string) string {
	if s == "" {
		return ""
	}
	if t, ok := in[s]; ok {
		return t
	}
	t := strings.Clone(s)
	in[t] = t
	return t
}

func (in interner) offer(o *gputide.Offer) {
	in.key(&o.Key)
	in.published(&o.Published)
	o.Part = in.of(o.Part)
	o.Source = in.of(o.Source)
	o.SKU = strings.Clone(o.SKU)
}

func (in interner) quarantined(q *gputide.Quarantined) {
	in.key(&q.Key)
	in.published(&q.Published)
	q.Part = in.of(q.Part)
	q.Source = in.of(q.Source)
	q.Reason = in.of(q.Reason)
	q.Detail = strings.Clone(q.Detail)
}

func (in interner) key(k *gputide.Key) {
	for _, p := range [...]*string{
		&k.Provider, &k.Partition, &k.Seller, &k.Region, &k.Zone, &k.InstanceType, &k.Plan,
		&k.OS, &k.License, &k.Tenancy, &k.Tier, &k.Volume,
	} {
		*p = in.of(*p)
	}
	k.Market = gputide.Market(in.of(string(k.Market)))
	k.Term = gputide.Term(in.of(string(k.Term)))
	k.Payment = gputide.Payment(in.of(string(k.Payment)))
	k.Stat = gputide.Stat(in.of(string(k.Stat)))
	k.Tax = gputide.Tax(in.of(string(k.Tax)))
	k.Currency = gputide.Currency(in.of(string(k.Currency)))
}

func (in interner) published(p *gputide.Published) {
	p.Amount = in.of(p.Amount)
	p.Unit = gputide.Unit(in.of(string(p.Unit)))
	p.Basis = gputide.Basis(in.of(string(p.Basis)))
	p.Upfront = in.of(p.Upfront)
	p.Components = slices.Clone(p.Components)
	for i := range p.Components {
		c := &p.Components[i]
		c.Kind = in.of(c.Kind)
		c.Amount = in.of(c.Amount)
		c.Unit = gputide.Unit(in.of(string(c.Unit)))
		c.Quantity = in.of(c.Quantity)
		c.SKU = in.of(c.SKU)
	}
}
