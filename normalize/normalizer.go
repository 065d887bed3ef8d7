package normalize

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// Normalizer turns raw offers into offers. It is safe for concurrent use.
type Normalizer struct {
	Catalogue *Catalogue
	Regions   *Regions
}

// Offer gives a raw row its meaning: its key checked, its hourly price derived,
// its flags set and sorted. spec is what is known of the instance type beyond
// the row, and replaces the row's own; nil means the row's own is all. An
// unknown accelerator, region or spec is flagged and keeps its price.
//
// The error is a [*Refusal]. The offer then has everything but the price.
func (n *Normalizer) Offer(raw *gputide.RawOffer, spec *gputide.Spec) (gputide.Offer, error) {
	if spec == nil {
		spec = raw.Spec
	}
	o := gputide.Offer{
		Key: raw.Key, Part: raw.Part, Published: raw.Price, Source: raw.Source, SKU: raw.SKU,
		At: raw.At.UTC().Truncate(time.Second),
	}
	if err := cleanOffer(&o); err != nil {
		return o, err
	}
	if err := checkKey(&o.Key); err != nil {
		return o, err
	}
	var count gputide.Count
	var vcpu *float64
	if spec != nil {
		count, vcpu = spec.Device.Count, spec.VCPU
	}
	price, published, err := Hourly(o.Published, o.Key.Term, count, vcpu)
	o.Published = published
	o.Flags = n.flags(raw.Flags, &o.Key, spec)
	if err != nil {
		return o, refusePrice(err)
	}
	o.Price = price
	return o, nil
}

// refusePrice names the reason of an error of Hourly.
func refusePrice(err error) *Refusal {
	r := &Refusal{Reason: ReasonNoPrice, Detail: clip(err.Error()), Err: err}
	for _, c := range [...]struct {
		err    error
		reason Reason
	}{
		{gputide.ErrIncomplete, ReasonIncomplete},
		{gputide.ErrOverflow, ReasonOverflow},
		{errShape, ReasonAmbiguous},
		{errUnit, ReasonUnknownUnit},
		{errBasis, ReasonUnknownBasis},
		{errCount, ReasonCountUnknown},
		{errTerm, ReasonBadKey},
	} {
		if errors.Is(err, c.err) {
			r.Reason = c.reason
			break
		}
	}
	return r
}

// flags returns the stored flags of an offer, sorted. Flags that queries derive
// are never stored, whoever sets them.
func (n *Normalizer) flags(raw []gputide.Flag, k *gputide.Key, spec *gputide.Spec) []gputide.Flag {
	flags := slices.DeleteFunc(slices.Clone(raw), func(f gputide.Flag) bool {
		switch f {
		case gputide.FlagSpotEqualsOnDemand, gputide.FlagSpotAboveOnDemand, gputide.FlagNoFX, gputide.FlagFXOld:
			return true
		}
		return false
	})
	switch {
	case spec == nil:
		flags = append(flags, gputide.FlagSpecUnknown)
	case spec.Device.Known():
		r := n.Catalogue.read(k.Provider, &spec.Device)
		if r.card == nil {
			flags = append(flags, gputide.FlagUnknownAccelerator)
		}
		if r.masked {
			flags = append(flags, gputide.FlagMaskedAccelerator)
		}
		if r.mismatch {
			flags = append(flags, gputide.FlagMemoryMismatch)
		}
	}
	if k.Region != "" {
		if _, ok := n.Regions.Lookup(k.Provider, k.Partition, k.Region); !ok {
			flags = append(flags, gputide.FlagUnknownRegion)
		}
	}
	if len(flags) == 0 {
		return nil
	}
	slices.Sort(flags)
	return slices.Compact(flags)
}

// Accelerated reports whether instance types of spec s belong in GPU offers: a
// card of class gpu or ai-asic, or one the catalogue does not know that the
// source does not group with FPGAs or video cards.
func (n *Normalizer) Accelerated(s *gputide.Spec) bool {
	if s == nil || !s.Device.Known() {
		return false
	}
	a, _ := n.Catalogue.Resolve(s.Provider, &s.Device)
	return a.Class != gputide.DeviceFPGA && a.Class != gputide.DeviceVideo
}

// Derive returns the attributes of a series that are read from the tables: its
// accelerator, the place of its region and its count. An attribute that is not
// known is absent. s may be nil.
func (n *Normalizer) Derive(k *gputide.Key, s *gputide.Spec) []gputide.Attr {
	var attrs []gputide.Attr
	add := func(f gputide.Field, v string) {
		if v != "" {
			attrs = append(attrs, gputide.Attr{Field: f, Value: v})
		}
	}
	if s != nil && s.Device.Known() {
		a, _ := n.Catalogue.Resolve(k.Provider, &s.Device)
		add(gputide.FieldGPU, a.Slug)
		add(gputide.FieldVendor, strings.ToLower(a.Vendor))
		add(gputide.FieldModel, a.Model)
		add(gputide.FieldStack, a.Stack)
		add(gputide.FieldCount, s.Device.Count.String())
	}
	if k.Region != "" {
		if p, ok := n.Regions.Lookup(k.Provider, k.Partition, k.Region); ok {
			add(gputide.FieldCountry, p.Country)
			add(gputide.FieldContinent, p.Continent)
		}
	}
	return attrs
}

// Version names the tables and rules behind [Normalizer.Derive].
func (n *Normalizer) Version() string { return n.Catalogue.Version() + "+" + n.Regions.Version() }
