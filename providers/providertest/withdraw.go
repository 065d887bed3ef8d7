package providertest

import (
	"fmt"

	"github.com/gputide/gputide"
)

// feeding returns the narrowest scope of c that covers key; ok is false when
// none does. Of one scope reported twice the report that is done counts.
func (c *Collector) feeding(key *gputide.Key, part string) (scope gputide.ScopeRun, ok bool) {
	for _, s := range c.Scopes {
		if !s.Scope.Covers(key, part) {
			continue
		}
		narrower := s.Scope.Width() < scope.Scope.Width()
		fed := s.Scope.Width() == scope.Scope.Width() && s.Status == gputide.ScopeDone && scope.Status != s.Status
		if !ok || narrower || fed {
			scope, ok = s, true
		}
	}
	return scope, ok
}

// Live returns the offers that count: those of the source that fed their scope.
func (c *Collector) Live() []gputide.RawOffer {
	var live []gputide.RawOffer
	for _, o := range c.Offers {
		if s, _ := c.feeding(&o.Key, o.Part); s.Status == gputide.ScopeDone && s.Source == o.Source {
			live = append(live, o)
		}
	}
	return live
}

// Withdrawn returns the offers of c that a later crawl concludes to be
// withdrawn: the same source fed their scope to its end and lists them neither
// as an offer nor as a skipped row.
func (c *Collector) Withdrawn(later *Collector) []gputide.Key {
	listed := make(map[string]bool)
	for _, o := range later.Live() {
		listed[series(&o.Key, o.Part)] = true
	}
	for _, s := range later.Skips {
		if s.Key != nil {
			listed[series(s.Key, s.Part)] = true
		}
	}
	var gone []gputide.Key
	for _, o := range c.Live() {
		s, _ := later.feeding(&o.Key, o.Part)
		concluded := s.Status == gputide.ScopeDone && s.Source == o.Source && !s.EventFeed && !s.NoWithdraw
		if concluded && !listed[series(&o.Key, o.Part)] && !later.doubtful(&o) {
			gone = append(gone, o.Key)
		}
	}
	return gone
}

// doubtful reports whether a row of unknown key may be o.
func (c *Collector) doubtful(o *gputide.RawOffer) bool {
	for _, s := range c.Skips {
		if s.Key == nil && s.Source == o.Source && s.Scope.Covers(&o.Key, o.Part) {
			return true
		}
	}
	return false
}

func series(k *gputide.Key, part string) string { return k.Canonical() + "\x00" + part }

// sameKeys returns a complaint for each key that one source lists twice.
func (c *Collector) sameKeys() []error {
	var errs []error
	seen := make(map[string]bool)
	for _, o := range c.Offers {
		id := o.Source + "\x00" + series(&o.Key, o.Part) + "\x00" + o.At.String()
		if seen[id] {
			errs = append(errs, fmt.Errorf("%s lists twice: %q", o.Source, o.Key.Canonical()))
		}
		seen[id] = true
	}
	return errs
}
