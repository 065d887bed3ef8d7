package storetest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// act is one thing that was stated: the outcome of a scope, or one row of an
// event feed or import.
type act struct {
	at         int64
	rank       int // order within one second: import rows, import snapshots, feeds, runs
	scope      gputide.Scope
	source     string
	status     gputide.ScopeStatus
	complete   bool // lists everything of its scope
	noWithdraw bool
	cadence    int64
	listed     map[gputide.Key]gputide.Offer
	held       map[gputide.Key]bool
}

// model is the naive store: every act, replayed for every question.
type model struct{ acts []act }

func (m *model) add(a act) { m.acts = append(m.acts, a) }

func (m *model) sorted() []act {
	out := slices.Clone(m.acts)
	slices.SortStableFunc(out, func(a, b act) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank))
	})
	return out
}

func (m *model) run(r *gputide.Run) {
	if r.Replace {
		m.takeOut(r)
	}
	known := m.fold(r.At.Unix())
	for _, s := range r.Scopes {
		if m.keeps(r, s) {
			continue
		}
		a := act{
			at: r.At.Unix(), rank: 3, scope: s.Scope, source: s.Source, status: s.Status, complete: !s.EventFeed,
			noWithdraw: s.NoWithdraw, cadence: int64(r.Cadence / time.Second),
			listed: map[gputide.Key]gputide.Offer{}, held: map[gputide.Key]bool{},
		}
		if s.EventFeed {
			a.rank = 2
		}
		if s.Status == gputide.ScopeDone {
			for _, o := range r.Offers {
				if !s.Scope.Covers(&o.Key, o.Part) || s.EventFeed == o.At.IsZero() {
					continue
				}
				if s.EventFeed {
					m.add(act{
						at: o.At.Unix(), rank: 2, scope: s.Scope, source: s.Source, status: "event",
						listed: map[gputide.Key]gputide.Offer{o.Key: o},
					})
					continue
				}
				a.listed[o.Key] = o
			}
			for _, h := range r.HeldKeys {
				// What was held before it ever had a price leaves no trace.
				if s.Scope.Covers(&h.Key, h.Part) && !s.EventFeed && known[h.Key] != nil {
					a.held[h.Key] = true
				}
			}
		}
		m.add(a)
	}
}

// takeOut removes what the run that r replaces stated: each scope that both
// report, and of a feed every row of the window.
func (m *model) takeOut(r *gputide.Run) {
	for _, s := range r.Scopes {
		if m.keeps(r, s) {
			continue
		}
		before := len(m.acts)
		m.acts = slices.DeleteFunc(m.acts, func(a act) bool {
			return a.scope == s.Scope && a.status != "event" && !strings.HasPrefix(a.source, "import:") &&
				a.at == r.At.Unix() && a.complete == !s.EventFeed
		})
		if len(m.acts) == before || !s.EventFeed || s.Status != gputide.ScopeDone {
			continue
		}
		m.acts = slices.DeleteFunc(m.acts, func(a act) bool {
			return a.scope == s.Scope && a.status == "event" && a.source == s.Source && a.at >= s.From.Unix() && a.at <= s.To.Unix()
		})
	}
}

// keeps reports whether the scope fails in a replay of what was read.
func (m *model) keeps(r *gputide.Run, s gputide.ScopeRun) bool {
	return r.Cause == gputide.CauseReplay && s.Status == gputide.ScopeFailed && slices.ContainsFunc(m.acts, func(a act) bool {
		return a.scope == s.Scope && a.status != "event" && a.status != gputide.ScopeFailed &&
			!strings.HasPrefix(a.source, "import:") && a.at == r.At.Unix() && a.complete == !s.EventFeed
	})
}

func (m *model) imported(profile string, kind gputide.ImportKind, rows []gputide.ImportRow) {
	type moment struct {
		scope gputide.Scope
		at    int64
	}
	snapshots := map[moment]int{}
	for _, r := range rows {
		k := r.Offer.Key
		s := gputide.Scope{Partition: k.Partition, Seller: k.Seller, Region: k.Region, Market: k.Market, Part: r.Offer.Part}
		if kind == gputide.ImportEvents {
			m.add(act{
				at: r.At.Unix(), scope: s, source: "import:" + profile, status: "event",
				listed: map[gputide.Key]gputide.Offer{k: r.Offer},
			})
			continue
		}
		i, ok := snapshots[moment{s, r.At.Unix()}]
		if !ok {
			i = len(m.acts)
			snapshots[moment{s, r.At.Unix()}] = i
			m.add(act{
				at: r.At.Unix(), rank: 1, scope: s, source: "import:" + profile, status: gputide.ScopeDone, complete: true,
				listed: map[gputide.Key]gputide.Offer{},
			})
		}
		m.acts[i].listed[k] = r.Offer
	}
}

// seen is what the acts up to a moment come to for one offer.
type seen struct {
	key       gputide.Key
	status    gputide.State // priced, held or withdrawn
	scope     gputide.Scope
	source    string
	offer     gputide.Offer
	first     int64
	since     int64
	moved     bool // the price came with another source
	obs       []gputide.Observation
	obsSource []string
	changes   []gputide.Change
}

func (s *seen) observe(at int64) {
	if n := len(s.obs); n > 0 && s.obs[n-1].At.Unix() == at {
		s.obs, s.obsSource = s.obs[:n-1], s.obsSource[:n-1]
	}
	s.obs = append(s.obs, gputide.Observation{At: time.Unix(at, 0).UTC(), Price: s.offer.Price})
	s.obsSource = append(s.obsSource, s.source)
}

func (s *seen) change(kind gputide.ChangeKind, at int64, before, after *gputide.Nano, moved bool) {
	c := gputide.Change{
		ID: s.key.ID(), Key: s.key, Kind: kind, Before: before, After: after, SeenAt: time.Unix(at, 0).UTC(),
	}
	for _, o := range s.obs {
		if o.At.Unix() < at {
			c.NotBefore = o.At
		}
	}
	if moved {
		c.Flags = []gputide.Flag{gputide.FlagSourceChanged}
	}
	s.changes = append(s.changes, c)
}

// fold replays the acts up to a moment.
func (m *model) fold(until int64) map[gputide.Key]*seen {
	out := map[gputide.Key]*seen{}
	done := map[string]int64{} // feed → last complete done run
	for _, a := range m.sorted() {
		if a.at > until {
			break
		}
		for k, o := range a.listed {
			m.list(out, &a, k, o, done)
		}
		for k := range a.held {
			if _, ok := a.listed[k]; ok {
				continue
			}
			if s := out[k]; s != nil {
				s.scope, s.source = a.scope, a.source
				if s.status != gputide.StateHeld {
					s.status = gputide.StateHeld
					s.change(gputide.ChangeHeld, a.at, new(s.offer.Price), nil, false)
				}
			}
		}
		if a.status == gputide.ScopeDone && a.complete {
			m.absent(out, &a)
			done[a.scope.String()+"|"+a.source] = a.at
		}
	}
	return out
}

func (m *model) list(out map[gputide.Key]*seen, a *act, k gputide.Key, o gputide.Offer, done map[string]int64) {
	s := out[k]
	if s == nil {
		s = &seen{key: k, status: gputide.StatePriced, scope: a.scope, source: a.source, offer: o, first: a.at, since: a.at}
		s.change(gputide.ChangeFirstSeen, a.at, nil, new(o.Price), false)
		if t := done[a.scope.String()+"|"+a.source]; t != 0 && t < a.at {
			s.changes[0].NotBefore = time.Unix(t, 0).UTC()
		}
		out[k] = s
		s.observe(a.at)
		return
	}
	moved := s.scope != a.scope || s.source != a.source
	s.scope, s.source = a.scope, a.source
	switch s.status {
	case gputide.StateWithdrawn:
		s.change(gputide.ChangeReturned, a.at, nil, new(o.Price), false)
	case gputide.StateHeld:
		s.change(gputide.ChangeReleased, a.at, nil, new(o.Price), false)
	}
	s.status = gputide.StatePriced
	if s.offer.Price != o.Price {
		s.change(gputide.ChangePrice, a.at, new(s.offer.Price), new(o.Price), moved)
		s.since, s.moved = a.at, moved
	}
	s.offer = o
	s.observe(a.at)
}

func (m *model) absent(out map[gputide.Key]*seen, a *act) {
	for k, s := range out {
		if _, ok := a.listed[k]; ok || a.held[k] || s.scope != a.scope || s.source != a.source {
			continue
		}
		switch {
		case a.noWithdraw && s.status == gputide.StatePriced:
			s.status = gputide.StateHeld
			s.change(gputide.ChangeHeld, a.at, new(s.offer.Price), nil, false)
		case !a.noWithdraw && (s.status == gputide.StatePriced || s.status == gputide.StateHeld):
			s.status = gputide.StateWithdrawn
			s.change(gputide.ChangeWithdrawn, a.at, new(s.offer.Price), nil, false)
		}
	}
}

// state answers what state an offer is in at a moment.
func (m *model) state(s *seen, at int64) gputide.State {
	if s.status != gputide.StatePriced {
		return s.status
	}
	last := s.obs[len(s.obs)-1].At.Unix()
	if strings.HasPrefix(s.source, "import:") {
		for _, a := range m.acts {
			if a.at < at || a.source != s.source || a.scope != s.scope {
				continue
			}
			if _, ok := a.listed[s.key]; ok || a.complete {
				return gputide.StatePriced
			}
		}
		return gputide.StateImportedEnd
	}
	var newest *act
	for _, a := range m.sorted() {
		if a.at <= at && a.scope == s.scope && a.status != "event" && !strings.HasPrefix(a.source, "import:") {
			newest = new(a)
		}
	}
	switch {
	case newest == nil:
		return gputide.StatePriced
	case newest.status != gputide.ScopeDone:
		return gputide.StateGap
	case newest.cadence > 0 && at-last > 2*newest.cadence:
		return gputide.StateStale
	}
	return gputide.StatePriced
}

// quotes answers what every offer is at a moment.
func (m *model) quotes(at int64) []gputide.Quote {
	var out []gputide.Quote
	for k, s := range m.fold(at) {
		n := len(s.obs) - 1
		q := gputide.Quote{
			ID: k.ID(), Key: k, State: m.state(s, at), Price: s.offer.Price, Published: s.offer.Published, Source: s.source,
			SKU: s.offer.SKU, Flags: s.offer.Flags, FirstSeen: time.Unix(s.first, 0).UTC(), Since: time.Unix(s.since, 0).UTC(),
			ObservedAt: s.obs[n].At, Imported: strings.HasPrefix(s.obsSource[n], "import:"),
		}
		if s.moved {
			q.Flags = append(slices.Clone(q.Flags), gputide.FlagSourceChanged)
		}
		for _, o := range s.obs {
			if o.At.Unix() < s.since {
				q.NotBefore = o.At
			}
		}
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b gputide.Quote) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	return out
}

// changes answers every change, in an order of its own.
func (m *model) changes() []gputide.Change {
	var out []gputide.Change
	for _, s := range m.fold(1 << 40) {
		out = append(out, s.changes...)
	}
	sortChanges(out)
	return out
}

func sortChanges(c []gputide.Change) {
	slices.SortStableFunc(c, func(a, b gputide.Change) int {
		return cmp.Or(a.SeenAt.Compare(b.SeenAt), strings.Compare(a.ID.String(), b.ID.String()), cmp.Compare(a.Kind, b.Kind))
	})
}
