package normalize

import (
	"github.com/gputide/gputide"
)

// Normalizer turns raw offers into offers. It is safe for concurrent use.
type Normalizer struct {
	Catalogue *Catalogue
	Regions   *Regions
}

// Offer derives the offer of one raw row.
func (n *Normalizer) Offer(raw *gputide.RawOffer, spec *gputide.Spec) (gputide.Offer, error) {
	return gputide.Offer{}, &Refusal{Reason: ReasonNoPrice}
}

// Accelerated reports whether s belongs in GPU offers.
func (n *Normalizer) Accelerated(s *gputide.Spec) bool { return false }

// Derive returns the derived attributes of a series.
func (n *Normalizer) Derive(k *gputide.Key, s *gputide.Spec) []gputide.Attr { return nil }

// Version names the tables behind [Normalizer.Derive].
func (n *Normalizer) Version() string { return n.Catalogue.Version() + "+" + n.Regions.Version() }
