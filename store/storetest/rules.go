package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// night is the run of one night, one scope fed by one source.
type night struct {
	source     string // "api" when empty
	status     gputide.ScopeStatus
	noWithdraw bool
	rows       map[string]gputide.Nano // instance type → price; 0 is a held row
	scope      *gputide.Scope
	replace    bool
}

var wholeMarket = gputide.Scope{Market: gputide.OnDemand}

func (n night) run(day int) *gputide.Run {
	s := gputide.ScopeRun{Scope: wholeMarket, Status: n.status, Source: n.source, NoWithdraw: n.noWithdraw}
	if n.scope != nil {
		s.Scope = *n.scope
	}
	if s.Status == "" {
		s.Status = gputide.ScopeDone
	}
	if s.Source == "" {
		s.Source = "api"
	}
	r := &gputide.Run{
		Provider: "acme", At: at(time.Duration(day) * 24 * time.Hour), Cause: gputide.CauseCrawl, Cadence: day24, Replace: n.replace,
		CodeVersion: "v1",
	}
	if s.Status == gputide.ScopeDone {
		for typ, price := range n.rows {
			s.Count++
			if price == 0 {
				r.HeldKeys = append(r.HeldKeys, gputide.HeldKey{Key: offer("east", typ, 1).Key, Source: s.Source, Reason: "no_price"})
				continue
			}
			r.Offers = append(r.Offers, fromSource(s.Source, offer("east", typ, price))...)
		}
	}
	r.Scopes = []gputide.ScopeRun{s}
	return r
}

const day24 = 24 * time.Hour

type prices1 = map[string]gputide.Nano

// runRules states what becomes of an offer, one rule a case: nights 0, 1, 2, …
// and the state and price of type "a" at noon after the last one.
func runRules(t *testing.T, open func(t *testing.T) Store) {
	failed := night{status: gputide.ScopeFailed}
	held := night{status: gputide.ScopeHeld}
	for name, c := range map[string]struct {
		nights []night
		after  time.Duration // after the last night; 12 h when zero
		state  gputide.State // "" is: there is no such offer
		price  gputide.Nano
		seen   int // night that confirmed it last
		kinds  []gputide.ChangeKind
	}{
		"listed once":                     {nights: []night{{rows: prices1{"a": 5}}}, state: gputide.StatePriced, price: 5},
		"listed again costs no change":    {nights: []night{{rows: prices1{"a": 5}}, {rows: prices1{"a": 5}}}, state: gputide.StatePriced, price: 5, seen: 1},
		"price moves":                     {nights: []night{{rows: prices1{"a": 5}}, {rows: prices1{"a": 6}}}, state: gputide.StatePriced, price: 6, seen: 1, kinds: []gputide.ChangeKind{"price"}},
		"absent from a done scope":        {nights: []night{{rows: prices1{"a": 5, "b": 1}}, {rows: prices1{"b": 1}}}, state: gputide.StateWithdrawn, price: 5, kinds: []gputide.ChangeKind{"withdrawn"}},
		"done scope without offers":       {nights: []night{{rows: prices1{"a": 5}}, {}}, state: gputide.StateWithdrawn, price: 5, kinds: []gputide.ChangeKind{"withdrawn"}},
		"absent twice is one withdrawal":  {nights: []night{{rows: prices1{"a": 5}}, {}, {}}, state: gputide.StateWithdrawn, price: 5, kinds: []gputide.ChangeKind{"withdrawn"}},
		"returns at its price":            {nights: []night{{rows: prices1{"a": 5}}, {}, {rows: prices1{"a": 5}}}, state: gputide.StatePriced, price: 5, seen: 2, kinds: []gputide.ChangeKind{"withdrawn", "returned"}},
		"returns at another price":        {nights: []night{{rows: prices1{"a": 5}}, {}, {rows: prices1{"a": 7}}}, state: gputide.StatePriced, price: 7, seen: 2, kinds: []gputide.ChangeKind{"withdrawn", "price", "returned"}},
		"failed scope is a gap":           {nights: []night{{rows: prices1{"a": 5}}, failed}, state: gputide.StateGap, price: 5},
		"held scope is a gap":             {nights: []night{{rows: prices1{"a": 5}}, held}, state: gputide.StateGap, price: 5},
		"a gap ends with a done run":      {nights: []night{{rows: prices1{"a": 5}}, failed, {rows: prices1{"a": 5}}}, state: gputide.StatePriced, price: 5, seen: 2},
		"held row keeps its price":        {nights: []night{{rows: prices1{"a": 5}}, {rows: prices1{"a": 0}}}, state: gputide.StateHeld, price: 5, kinds: []gputide.ChangeKind{"held"}},
		"held before gap":                 {nights: []night{{rows: prices1{"a": 5}}, {rows: prices1{"a": 0}}, failed}, state: gputide.StateHeld, price: 5, kinds: []gputide.ChangeKind{"held"}},
		"held twice is one":               {nights: []night{{rows: prices1{"a": 5}}, {rows: prices1{"a": 0}}, {rows: prices1{"a": 0}}}, state: gputide.StateHeld, price: 5, kinds: []gputide.ChangeKind{"held"}},
		"released at its price":           {nights: []night{{rows: prices1{"a": 5}}, {rows: prices1{"a": 0}}, {rows: prices1{"a": 5}}}, state: gputide.StatePriced, price: 5, seen: 2, kinds: []gputide.ChangeKind{"held", "released"}},
		"released at another price":       {nights: []night{{rows: prices1{"a": 5}}, {rows: prices1{"a": 0}}, {rows: prices1{"a": 6}}}, state: gputide.StatePriced, price: 6, seen: 2, kinds: []gputide.ChangeKind{"held", "price", "released"}},
		"held, then absent":               {nights: []night{{rows: prices1{"a": 5}}, {rows: prices1{"a": 0}}, {}}, state: gputide.StateWithdrawn, price: 5, kinds: []gputide.ChangeKind{"held", "withdrawn"}},
		"withdrawn, then a held row":      {nights: []night{{rows: prices1{"a": 5}}, {}, {rows: prices1{"a": 0}}}, state: gputide.StateHeld, price: 5, kinds: []gputide.ChangeKind{"withdrawn", "held"}},
		"first seen by a held row":        {nights: []night{{rows: prices1{"a": 0}}}},
		"row of unknown key: no end":      {nights: []night{{rows: prices1{"a": 5, "b": 1}}, {rows: prices1{"b": 1}, noWithdraw: true}}, state: gputide.StateHeld, price: 5, kinds: []gputide.ChangeKind{"held"}},
		"and the next run decides":        {nights: []night{{rows: prices1{"a": 5}}, {noWithdraw: true}, {}}, state: gputide.StateWithdrawn, price: 5, kinds: []gputide.ChangeKind{"held", "withdrawn"}},
		"absent from another source":      {nights: []night{{rows: prices1{"a": 5, "b": 1}}, {source: "page", rows: prices1{"b": 1}}}, state: gputide.StatePriced, price: 5},
		"which is stale in the end":       {nights: []night{{rows: prices1{"a": 5}}, {source: "page"}, {source: "page"}, {source: "page"}}, state: gputide.StateStale, price: 5},
		"listed by another source":        {nights: []night{{rows: prices1{"a": 5}}, {source: "page", rows: prices1{"a": 5}}}, state: gputide.StatePriced, price: 5, seen: 1},
		"whose absence withdraws":         {nights: []night{{rows: prices1{"a": 5}}, {source: "page", rows: prices1{"a": 5}}, {source: "page"}}, state: gputide.StateWithdrawn, price: 5, seen: 1, kinds: []gputide.ChangeKind{"withdrawn"}},
		"and the first one's no longer":   {nights: []night{{rows: prices1{"a": 5}}, {source: "page", rows: prices1{"a": 5}}, {}}, state: gputide.StatePriced, price: 5, seen: 1},
		"exactly twice the cadence":       {nights: []night{{rows: prices1{"a": 5}}}, after: 2 * day24, state: gputide.StatePriced, price: 5},
		"a second more than twice":        {nights: []night{{rows: prices1{"a": 5}}}, after: 2*day24 + time.Second, state: gputide.StateStale, price: 5},
		"gap before stale":                {nights: []night{{rows: prices1{"a": 5}}, failed, failed, failed}, state: gputide.StateGap, price: 5},
		"a wider scope takes it over":     {nights: []night{{rows: prices1{"a": 5}, scope: &gputide.Scope{Region: "east", Market: gputide.OnDemand}}, {rows: prices1{"a": 5}}, {}}, state: gputide.StateWithdrawn, price: 5, seen: 1, kinds: []gputide.ChangeKind{"withdrawn"}},
		"a wider scope that lacks it":     {nights: []night{{rows: prices1{"a": 5}, scope: &gputide.Scope{Region: "east", Market: gputide.OnDemand}}, {}}, state: gputide.StateWithdrawn, price: 5, kinds: []gputide.ChangeKind{"withdrawn"}},
		"another scope's run is no word":  {nights: []night{{rows: prices1{"a": 5}}, {scope: &gputide.Scope{Market: gputide.Spot}}}, state: gputide.StatePriced, price: 5},
		"replaced: another price":         {nights: []night{{rows: prices1{"a": 5}}, {rows: prices1{"a": 5}}, {rows: prices1{"a": 9}}}, state: gputide.StatePriced, price: 9, seen: 2, kinds: []gputide.ChangeKind{"price"}},
		"a price of the largest size":     {nights: []night{{rows: prices1{"a": gputide.MaxNano}}, {rows: prices1{"a": 1}}, {rows: prices1{"a": gputide.MaxNano}}}, state: gputide.StatePriced, price: gputide.MaxNano, seen: 2, kinds: []gputide.ChangeKind{"price", "price"}},
		"finer steps than the first ones": {nights: []night{{rows: prices1{"a": 5_000_000_000}}, {rows: prices1{"a": 5_000_000_001}}}, state: gputide.StatePriced, price: 5_000_000_001, seen: 1, kinds: []gputide.ChangeKind{"price"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			for i, n := range c.nights {
				if _, err := s.CommitRun(t.Context(), n.run(i)); err != nil {
					t.Fatal(err)
				}
			}
			after := c.after
			if after == 0 {
				after = 12 * time.Hour
			}
			q := quoteOf(t, s, offer("east", "a", 1).Key, at(time.Duration(len(c.nights)-1)*day24+after))
			if c.state == "" {
				if q != nil {
					t.Fatalf("there is an offer: %+v", q)
				}
				return
			}
			if q == nil {
				t.Fatal("the offer is missing")
			}
			if q.State != c.state || q.Price != c.price || !q.ObservedAt.Equal(at(time.Duration(c.seen)*day24)) {
				t.Errorf("got %s %s observed %s, want %s %s observed in night %d", q.State, q.Price, q.ObservedAt, c.state, c.price, c.seen)
			}
			want := append([]gputide.ChangeKind{gputide.ChangeFirstSeen}, c.kinds...)
			if d := cmp.Diff(want, kindsOf(t, s, q.Key)); d != "" {
				t.Errorf("changes (-want +got):\n%s", d)
			}
		})
	}
}

// kindsOf returns the kinds of change of an offer, oldest first, by name within
// a moment.
func kindsOf(t *testing.T, s Store, k gputide.Key) []gputide.ChangeKind {
	t.Helper()
	var all []gputide.Change
	f := gputide.ChangeFilter{Selection: gputide.Selection{IDs: []gputide.OfferID{k.ID()}}}
	for c, err := range s.Changes(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	sortChanges(all)
	var out []gputide.ChangeKind
	for _, c := range all {
		out = append(out, c.Kind)
	}
	return out
}

func quoteOf(t *testing.T, s Store, k gputide.Key, at time.Time) *gputide.Quote {
	t.Helper()
	qs, err := s.Quotes(t.Context(), gputide.Selection{IDs: []gputide.OfferID{k.ID()}}, at)
	if err != nil {
		t.Fatal(err)
	}
	if len(qs) == 0 {
		return nil
	}
	return &qs[0]
}

func commit(t *testing.T, s Store, r *gputide.Run) gputide.CommitResult {
	t.Helper()
	res, err := s.CommitRun(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// runRuns covers what a run is beside its prices: identity, replacement, the
// record, quarantine, specs, signals, rates, the baseline.
func runRuns(t *testing.T, open func(t *testing.T) Store) {
	t.Run("again is a no-op, otherwise a conflict", func(t *testing.T) {
		s := open(t)
		first := commit(t, s, night{rows: prices1{"a": 5}}.run(0))
		again := commit(t, s, night{rows: prices1{"a": 5}}.run(0))
		if !again.NoOp || again.RunID != first.RunID {
			t.Errorf("again: %+v, want a no-op of run %d", again, first.RunID)
		}
		_, err := s.CommitRun(t.Context(), night{rows: prices1{"a": 6}}.run(0))
		hint, ok := errors.AsType[*gputide.HintError](err)
		if !errors.Is(err, gputide.ErrConflict) || !ok || !contains(hint.Hint, "--replace") {
			t.Fatalf("another content: %v, want ErrConflict with a hint at --replace", err)
		}
		if q := quoteOf(t, s, offer("east", "a", 1).Key, at(1)); q.Price != 5 {
			t.Errorf("a refused run left price %s", q.Price)
		}
		res := commit(t, s, night{rows: prices1{"a": 6}, replace: true}.run(0))
		if q := quoteOf(t, s, offer("east", "a", 1).Key, at(1)); q.Price != 6 || res.NoOp {
			t.Errorf("replaced: price %s, result %+v", q.Price, res)
		}
		if runs, err := s.Runs(t.Context(), "acme", 0); err != nil || len(runs) != 1 || runs[0].ID != res.RunID {
			t.Errorf("runs after a replacement: %+v, %v", runs, err)
		}
		replay := night{rows: prices1{"a": 7}}.run(0)
		replay.Cause = gputide.CauseReplay
		commit(t, s, replay)
		if q := quoteOf(t, s, offer("east", "a", 1).Key, at(1)); q.Price != 7 {
			t.Errorf("replayed: price %s", q.Price)
		}
	})
	t.Run("a replay that fails leaves what was read", func(t *testing.T) {
		s := open(t)
		spot := offer("east", "a", 3)
		spot.Key.Market = gputide.Spot
		both := func(price gputide.Nano) *gputide.Run {
			r := night{rows: prices1{"a": 5}}.run(0)
			spot.Price = price
			r.Scopes = append(r.Scopes, gputide.ScopeRun{
				Scope: gputide.Scope{Market: gputide.Spot}, Status: gputide.ScopeDone, Source: "api", Count: 1,
			})
			r.Offers = append(r.Offers, fromSource("api", spot)...)
			return r
		}
		first := commit(t, s, both(3))
		replay := both(4) // of one scope the archive lost the body
		replay.Cause, replay.Replace, replay.Err = gputide.CauseReplay, true, "body not found"
		replay.Scopes[0].Status, replay.Scopes[0].Count, replay.Offers = gputide.ScopeFailed, 0, replay.Offers[1:]
		for range 2 {
			commit(t, s, replay)
			if q := quoteOf(t, s, offer("east", "a", 1).Key, at(1)); q == nil || q.State != gputide.StatePriced || q.Price != 5 {
				t.Fatalf("of the scope that failed: %+v, want it priced at 5 as before", q)
			}
			if q := quoteOf(t, s, spot.Key, at(1)); q == nil || q.Price != 4 {
				t.Errorf("of the scope that was read again: %+v, want 4", q)
			}
		}
		if rec, err := s.Run(t.Context(), first.RunID); err != nil || len(rec.Scopes) == 0 {
			t.Errorf("the run that was read: %+v, %v, want it to stand", rec, err)
		}
	})
	t.Run("the cursor tells what was taken back", func(t *testing.T) {
		s := open(t)
		commit(t, s, night{rows: prices1{"a": 5}}.run(0))
		commit(t, s, night{rows: prices1{"a": 6}}.run(1))
		var last uint64
		for c := range s.Changes(t.Context(), gputide.ChangeFilter{}) {
			last = c.Seq
		}
		commit(t, s, night{rows: prices1{"a": 5}, replace: true}.run(1))
		var back []gputide.Change
		for c, err := range s.Changes(t.Context(), gputide.ChangeFilter{AfterSeq: last}) {
			if err != nil {
				t.Fatal(err)
			}
			back = append(back, c)
		}
		if len(back) != 1 || back[0].Kind != gputide.ChangePrice || *back[0].Before != 6 || *back[0].After != 5 {
			t.Errorf("after the cursor: %+v, want the price back from 6 to 5", back)
		}
		if d := cmp.Diff([]gputide.ChangeKind{gputide.ChangeFirstSeen}, kindsOf(t, s, offer("east", "a", 1).Key)); d != "" {
			t.Errorf("history (-want +got):\n%s", d)
		}
	})
	t.Run("a backfill leaves now alone", func(t *testing.T) {
		s := open(t)
		commit(t, s, night{rows: prices1{"a": 5}}.run(0))
		commit(t, s, night{rows: prices1{"a": 5}}.run(4))
		commit(t, s, night{rows: prices1{"a": 8, "b": 1}}.run(2))
		for day, want := range map[int]gputide.Nano{1: 5, 2: 8, 3: 8, 4: 5} {
			if q := quoteOf(t, s, offer("east", "a", 1).Key, at(time.Duration(day)*day24)); q.Price != want {
				t.Errorf("night %d: %s, want %s", day, q.Price, want)
			}
		}
		if q := quoteOf(t, s, offer("east", "b", 1).Key, at(5*day24)); q == nil || q.State != gputide.StateWithdrawn {
			t.Errorf("b is %+v, want withdrawn by the run after it", q)
		}
	})
	t.Run("record", func(t *testing.T) { record(t, open(t)) })
	t.Run("quarantine", func(t *testing.T) { quarantine(t, open(t)) })
	t.Run("specs", func(t *testing.T) { specs(t, open(t)) })
	t.Run("signals", func(t *testing.T) { signals(t, open(t)) })
	t.Run("feeds", func(t *testing.T) { feeds(t, open(t)) })
	t.Run("rates", func(t *testing.T) { rates(t, open(t)) })
	t.Run("baseline", func(t *testing.T) { baseline(t, open(t)) })
	t.Run("refused", func(t *testing.T) { refused(t, open(t)) })
}
