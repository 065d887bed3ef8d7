package query

import (
	"context"
	"time"

	"github.com/gputide/gputide"
)

// row returns the output form of an offer.
func (r *scene) row(ctx context.Context, c *candidate, regions Regions) (OfferRow, error) {
	q := c.quote
	dollars, err := r.usd.from(ctx, q.Key.Currency)
	if err != nil {
		return OfferRow{}, err
	}
	row := OfferRow{
		OfferID:   Text(q.ID.String()),
		KeyRow:    NewKeyRow(&q.Key),
		Published: publishedRow(q), Upfront: Text(q.Published.Upfront), Components: componentRows(q.Published.Components),
		Accelerator: c.view.row,
		Regions:     c.stock.regions, Available: c.stock.available(), Listings: c.stock.listings,
		State: c.state, Since: Stamp{q.Since}, ObservedAt: Stamp{q.ObservedAt}, AgeS: age(r.at, q.ObservedAt),
		Flags: orNone(c.flags), Source: Text(q.Source),
	}
	if at, ok := regions.Lookup(q.Key.Provider, q.Key.Partition, q.Key.Region); ok {
		row.Country = Text(at.Country)
	}
	if l := c.stock.level; l != nil {
		row.Availability = Text(gputide.SignalLabel(gputide.SignalAvailability, *l))
	}
	if b := c.stock.band; b != nil {
		row.Interruption = bandRow(*b)
	}
	row.addSpec(c.view.spec)
	if c.state != gputide.StateUnknown {
		row.addPrice(c, r.shown(c), dollars)
	}
	return row, nil
}

// shown returns the conversion of the price as shown: to the currency asked for,
// else none.
func (r *scene) shown(c *candidate) *cross {
	if r.converts {
		return c.in
	}
	return same(c.quote.Key.Currency)
}

func (row *OfferRow) addPrice(c *candidate, shown, dollars *cross) {
	q := c.quote
	row.Price = shown.apply(q.Price)
	row.PricePerAccelerator = shown.share(q.Price, c.view.count)
	row.PriceUSD = dollars.apply(q.Price)
	used := dollars
	if shown == nil || shown.from != shown.to {
		used = shown
	}
	row.FXRate = used.text()
	if used != nil {
		row.FXDate = Day{used.date}
	}
	if c.in != nil && shown == c.in {
		row.Currency = Text(c.in.to)
	}
}

func (row *OfferRow) addSpec(s *gputide.Spec) {
	if s == nil {
		return
	}
	row.VCPU, row.CPUArch, row.MemoryGiB = s.VCPU, Text(s.CPUArch), s.MemoryGiB
	row.LocalDiskGB, row.NetworkGbps, row.BareMetal = s.LocalDiskGB, s.NetworkGbps, s.BareMetal
	row.RDMA = rdmaRow(s)
}

func rdmaRow(s *gputide.Spec) *RDMARow {
	if s.RDMAKind == "" && s.RDMAGbps == nil {
		return nil
	}
	return &RDMARow{Kind: Text(s.RDMAKind), Gbps: s.RDMAGbps}
}

func publishedRow(q *gputide.Quote) PublishedRow {
	p := &q.Published
	row := PublishedRow{Amount: Text(p.Amount), Basis: Text(p.Basis), Currency: Text(q.Key.Currency)}
	if p.Amount != "" {
		row.Unit = Text(p.Unit)
	}
	return row
}

func componentRows(in []gputide.Component) []ComponentRow {
	if len(in) == 0 {
		return nil
	}
	out := make([]ComponentRow, len(in))
	for i, c := range in {
		out[i] = ComponentRow{
			Kind: Text(c.Kind), Amount: Text(c.Amount), Unit: Text(c.Unit), Quantity: Text(c.Quantity), SKU: Text(c.SKU),
		}
	}
	return out
}

// orNone returns the flags as a list that is empty rather than absent.
func bandRow(band int64) *BandRow {
	return &BandRow{Band: band, Text: Text(gputide.SignalLabel(gputide.SignalInterruption, band))}
}

func orNone(f []gputide.Flag) []gputide.Flag {
	if f == nil {
		return []gputide.Flag{}
	}
	return f
}

// age returns the seconds from seen to at, never negative.
func age(at, seen time.Time) int64 {
	return max(0, int64(at.Sub(seen)/time.Second))
}
