package providertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

// newNormalizer returns the normalizer of the program.
func newNormalizer() (*normalize.Normalizer, error) {
	catalogue, err := normalize.LoadCatalogue()
	if err != nil {
		return nil, err
	}
	regions, err := normalize.LoadRegions()
	if err != nil {
		return nil, err
	}
	return &normalize.Normalizer{Catalogue: catalogue, Regions: regions}, nil
}

// spec returns what o and the specs read apart say of its instance type, as the
// crawler puts it together; nil when nothing does.
func (s *suite) spec(c *Collector, o *gputide.RawOffer) *gputide.Spec {
	var said []*gputide.Spec
	if o.Spec != nil {
		said = append(said, o.Spec)
	}
	for i := range c.Specs {
		if sp := &c.Specs[i]; sp.Partition == o.Key.Partition && sp.InstanceType == o.Key.InstanceType {
			said = append(said, sp)
		}
	}
	if len(said) == 0 {
		return nil
	}
	rank := func(sp *gputide.Spec) int {
		return slices.IndexFunc(s.info.Sources, func(src gputide.Source) bool { return src.ID == sp.Source })
	}
	slices.SortStableFunc(said, func(a, b *gputide.Spec) int { return rank(a) - rank(b) })
	best := *said[0]
	for _, lower := range said[1:] {
		best.Fill(lower)
	}
	best.Provider = s.info.Name
	return &best
}

// checkNormalize proves that every accelerated offer of the fixture becomes an
// offer: price positive, accelerator known or flagged with its count, memory of
// the model, region known or none.
func (s *suite) checkNormalize(*testing.T) []error {
	var errs []error
	kept := 0
	for _, o := range s.base.Live() {
		spec := s.spec(s.base.Collector, &o)
		if spec == nil || !s.norm.Accelerated(spec) {
			continue
		}
		kept++
		n, err := s.norm.Offer(&o, spec)
		if err != nil {
			errs = append(errs, fmt.Errorf("%w: %q", err, o.Key.Canonical()))
			continue
		}
		if n.Price <= 0 {
			errs = append(errs, fmt.Errorf("price %s of %q", n.Price, o.Key.Canonical()))
		}
		if !spec.Device.Count.Known() && !slices.Contains(n.Flags, gputide.FlagSpecUnknown) {
			errs = append(errs, fmt.Errorf("no count of accelerators: %q", o.Key.Canonical()))
		}
		if _, known := s.norm.Catalogue.Resolve(s.info.Name, &spec.Device); !known &&
			!slices.Contains(n.Flags, gputide.FlagUnknownAccelerator) {
			errs = append(errs, fmt.Errorf("accelerator %q is neither known nor flagged: %q", spec.Device.Name, o.Key.Canonical()))
		}
		for _, f := range []gputide.Flag{gputide.FlagMemoryMismatch, gputide.FlagUnknownRegion} {
			if slices.Contains(n.Flags, f) {
				errs = append(errs, fmt.Errorf("flag %s: %q", f, o.Key.Canonical()))
			}
		}
	}
	if kept == 0 && len(s.info.Markets) > 0 {
		errs = append(errs, fmt.Errorf("none of %d offers is accelerated", len(s.base.Offers)))
	}
	return first(errs)
}
