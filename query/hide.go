package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/gputide/gputide"
)

// tierUnverified is the tier of marketplace hosts nobody vouches for.
const tierUnverified = "unverified"

// hide leaves out what is shown only when asked for, and counts it.
func (e *Engine) hide(ctx context.Context, r *scene, offers []*candidate) ([]*candidate, []Hidden, error) {
	if r.all {
		return offers, nil, nil
	}
	live, err := e.liveProviders(ctx, r, offers)
	if err != nil {
		return nil, nil, err
	}
	counts := map[Hidden]int{}
	shown := slices.DeleteFunc(offers, func(c *candidate) bool {
		reason, ask := r.plan.hides(c, live[c.quote.Key.Provider])
		if reason == "" {
			return false
		}
		counts[Hidden{Reason: reason, Ask: ask}]++
		return true
	})
	return shown, sortHidden(counts), nil
}

// hides returns why an offer is left out and the filter that shows it, or "".
func (p *plan) hides(c *candidate, live bool) (reason, ask string) {
	if s := string(c.state); p.states == nil && !p.shows(c.state, live) {
		return s, "state=" + s
	}
	if reason, ask := p.unasked(&c.quote.Key); reason != "" {
		return reason, ask
	}
	for _, f := range []gputide.Flag{gputide.FlagSpotEqualsOnDemand, gputide.FlagSpotAboveOnDemand} {
		if slices.Contains(c.flags, f) && !slices.Contains(p.flags, f) {
			return string(f), "flag=" + string(f)
		}
	}
	return p.unsold(c.flags)
}

// unsold returns why offers that nobody can buy as they stand are left out, and
// the filter that asks for them, or "": a list price without a sale, and cards
// without a machine, beside which any machine looks dear.
func (p *plan) unsold(flags []gputide.Flag) (reason, ask string) {
	for _, f := range []gputide.Flag{gputide.FlagListedNotSold, gputide.FlagAcceleratorOnly} {
		if slices.Contains(flags, f) && !slices.Contains(p.flags, f) {
			return string(f), "flag=" + string(f)
		}
	}
	return "", ""
}

// unasked returns why offers of a key are left out for what they are, and the
// filter that asks for them, or "".
func (p *plan) unasked(k *gputide.Key) (reason, ask string) {
	switch k.Stat {
	case gputide.StatBidFloor, gputide.StatPayable:
		if s := string(k.Stat); !slices.Contains(p.stats, s) {
			return s, "stat=" + s
		}
	}
	if t := k.Tier; t == tierUnverified && !slices.Contains(p.tiers, t) {
		return t, "tier=" + t
	}
	return "", ""
}

// shows reports whether offers of a state are shown unasked. live says that a
// crawl covers the provider.
func (p *plan) shows(s gputide.State, live bool) bool {
	switch s {
	case gputide.StatePriced, gputide.StateHeld, gputide.StateStale, gputide.StateGap:
		return true // a gap is younger than a stale price: one failed night must not empty the answer
	case gputide.StateImportedEnd:
		return !live
	case gputide.StateSoldOut:
		return p.stock != nil && !*p.stock
	}
	return false
}

// liveProviders returns which providers of imported offers are also crawled.
func (e *Engine) liveProviders(ctx context.Context, r *scene, offers []*candidate) (map[string]bool, error) {
	live, imported := map[string]bool{}, map[string]bool{}
	for _, c := range offers {
		if !c.quote.Imported {
			live[c.quote.Key.Provider] = true
		}
		if c.state == gputide.StateImportedEnd {
			imported[c.quote.Key.Provider] = true
		}
	}
	for _, p := range sortedKeys(imported) {
		if live[p] {
			continue
		}
		runs, err := e.Reader.Runs(ctx, p, 0)
		if err != nil {
			return nil, fmt.Errorf("runs of %s: %w", p, err)
		}
		live[p] = slices.ContainsFunc(runs, func(run gputide.RunRecord) bool {
			return run.Cause != gputide.CauseImport && !run.At.After(r.at)
		})
	}
	return live, nil
}
