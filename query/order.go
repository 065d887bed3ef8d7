package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// order is one field to sort by. Offers without a value come last either way.
type order struct {
	field   string
	reverse bool
}

// compare orders two values: what is not known comes last, reversed or not.
func (o order) compare(x, y rank) int {
	switch {
	case x.known && !y.known:
		return -1
	case !x.known && y.known:
		return 1
	case o.reverse:
		return -x.compare(y)
	}
	return x.compare(y)
}

// rank is the value of an offer under one order. A price that cannot be
// converted is not known, and ranks among its like by currency and amount.
type rank struct {
	known  bool
	number float64
	money  int64
	text   string
}

func (a rank) compare(b rank) int {
	return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.money, b.money), cmp.Compare(a.number, b.number))
}

const defaultSort = "price_per_accelerator"

// SortFields lists the fields offers can be sorted by.
func SortFields() []string {
	return []string{
		defaultSort, "price", "count", "memory_gb", "total_memory_gb", "vcpu", "memory_gib",
		"provider", "region", "instance_type", "market", "gpu", "since", "observed_at",
	}
}

// parseSort reads the fields to sort by. The default, and offers alike in all
// fields given, go by price per accelerator and then by price.
func parseSort(fields []string) ([]order, error) {
	var out []order
	for _, f := range fields {
		name, reverse := strings.CutPrefix(strings.TrimSpace(f), "-")
		name = strings.ReplaceAll(name, "-", "_")
		if !slices.Contains(SortFields(), name) {
			return nil, unknown("sort field", name, SortFields())
		}
		out = append(out, order{field: name, reverse: reverse})
	}
	return append(out, order{field: defaultSort}, order{field: "price"}), nil
}

// sortOffers sorts by the orders and then by offer id.
func sortOffers(offers []*candidate, by []order) {
	type ranked struct {
		c     *candidate
		ranks []rank
	}
	all := make([]ranked, len(offers))
	for i, c := range offers {
		all[i].c = c
		for _, o := range by {
			all[i].ranks = append(all[i].ranks, c.rank(o.field))
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		for i, o := range by {
			if n := o.compare(a.ranks[i], b.ranks[i]); n != 0 {
				return n
			}
		}
		return slices.Compare(a.c.quote.ID[:], b.c.quote.ID[:])
	})
	for i := range all {
		offers[i] = all[i].c
	}
}

// rank returns the value of an offer under a field of [SortFields].
func (c *candidate) rank(field string) rank {
	k := &c.quote.Key
	switch field {
	case defaultSort:
		return rankPrice(c.in.share(c.quote.Price, c.view.count), same(k.Currency).share(c.quote.Price, c.view.count), k.Currency)
	case "price":
		return rankPrice(c.in.apply(c.quote.Price), same(k.Currency).apply(c.quote.Price), k.Currency)
	case "provider":
		return rankText(k.Provider)
	case "region":
		return rankText(k.Region)
	case "instance_type":
		return rankText(k.InstanceType)
	case "market":
		return rankText(string(k.Market))
	case "gpu":
		return rankText(c.view.attr(gputide.FieldGPU))
	case "since":
		return rank{known: true, money: c.quote.Since.Unix()}
	case "observed_at":
		return rank{known: true, money: c.quote.ObservedAt.Unix()}
	}
	return c.view.rank(field)
}

func (v *specView) rank(field string) rank {
	if v.row != nil {
		switch field {
		case "count":
			return rankNumber(v.row.CountValue)
		case "memory_gb":
			return rankNumber(v.row.MemoryGB)
		case "total_memory_gb":
			return rankNumber(v.row.TotalMemoryGB)
		}
	}
	if v.spec != nil {
		switch field {
		case "vcpu":
			return rankNumber(v.spec.VCPU)
		case "memory_gib":
			return rankNumber(v.spec.MemoryGiB)
		}
	}
	return rank{}
}

func rankPrice(converted, published *Money, c gputide.Currency) rank {
	switch {
	case converted != nil:
		return rank{known: true, money: int64(*converted)}
	case published != nil:
		return rank{text: string(c), money: int64(*published)}
	}
	return rank{}
}

func rankNumber(f *float64) rank {
	if f == nil {
		return rank{}
	}
	return rank{known: true, number: *f}
}

func rankText(s string) rank { return rank{known: s != "", text: s} }
