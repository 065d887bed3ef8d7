package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

// offerOf is one of the offers a, b, c, … at a price.
func offerOf(name string, price gputide.Nano) gputide.Offer {
	return gputide.Offer{
		Key:   gputide.Key{Provider: "acme", InstanceType: name, Market: gputide.OnDemand, Currency: "USD"},
		Price: price, Source: "api", Published: gputide.Published{Amount: price.String(), Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	}
}

// refusing is a run that lists offers and refuses others.
func refusing(night int, listed, refused []gputide.Offer) *gputide.Run {
	r := &gputide.Run{
		Provider: "acme", At: killNight(night), Cause: gputide.CauseCrawl, Cadence: 24 * time.Hour, Offers: listed,
		Scopes: []gputide.ScopeRun{{Status: gputide.ScopeDone, Source: "api", Count: len(listed) + len(refused)}},
	}
	for _, o := range refused {
		q := gputide.Quarantined{Key: o.Key, Source: "api", Reason: "price_step", Published: o.Published}
		if o.Price > 0 {
			q.Price = new(o.Price)
		}
		r.Quarantined = append(r.Quarantined, q)
		r.HeldKeys = append(r.HeldKeys, gputide.HeldKey{Key: o.Key, Source: "api", Reason: q.Reason})
	}
	return r
}

type offers = []gputide.Offer

func refusedNames(t *testing.T, db *store.DB) []string {
	t.Helper()
	list, err := db.Quarantine(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, q := range list {
		text := fmt.Sprintf("%s/%d", q.Key.InstanceType, q.Row)
		if q.Rejected {
			text += " rejected"
		}
		out = append(out, text)
	}
	return out
}

// told returns what is known of an offer at a moment.
func told(t *testing.T, db *store.DB, o gputide.Offer, at time.Time) string {
	t.Helper()
	qs, err := db.Quotes(t.Context(), gputide.Selection{IDs: []gputide.OfferID{o.Key.ID()}}, at)
	if err != nil {
		t.Fatal(err)
	}
	if len(qs) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s %s since %d", qs[0].State, qs[0].Price, nightOf(qs[0].Since))
}

func nightOf(at time.Time) int { return int(at.Sub(killNight(0)) / (24 * time.Hour)) }

func changeTexts(t *testing.T, db *store.DB) []string {
	t.Helper()
	var out []string
	for c, err := range db.Changes(t.Context(), gputide.ChangeFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%s %s night %d by %s", c.Key.InstanceType, c.Kind, nightOf(c.SeenAt), c.Cause)
		if c.Before != nil {
			text += fmt.Sprintf(" from %s", *c.Before)
		}
		if c.After != nil {
			text += fmt.Sprintf(" to %s", *c.After)
		}
		out = append(out, text)
	}
	return out
}

func named(o gputide.Offer, row int) []store.RefusedRow {
	return []store.RefusedRow{{ID: o.Key.ID(), Row: row}}
}

func TestAccept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gputide.db")
	db := openAt(t, path, store.Options{Now: func() time.Time { return killNight(3).Add(time.Hour) }})
	a, b, c := offerOf("a", 100), offerOf("b", 200), offerOf("c", 300)
	mustCommit(t, db, refusing(0, offers{a, b}, nil))
	mustCommit(t, db, refusing(1, offers{a}, offers{offerOf("b", 20000)}))
	last := refusing(2, offers{a}, offers{offerOf("b", 20000), c, offerOf("c", 400), offerOf("d", 0)})
	mustCommit(t, db, last)
	if d := cmp.Diff([]string{"b/1", "c/1", "c/2", "d/1"}, slices.Sorted(slices.Values(refusedNames(t, db)))); d != "" {
		t.Fatalf("refused (-want +got):\n%s", d)
	}
	if got := told(t, db, b, killNight(2)); got != "held 0.0000002 since 0" {
		t.Errorf("before: %s", got)
	}

	res, err := db.Accept(t.Context(), named(b, 0))
	if err != nil || len(res.Rows) != 1 || res.Result.Changed != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := told(t, db, b, killNight(2)); got != "priced 0.00002 since 2" {
		t.Errorf("accepted: %s", got)
	}
	if got := told(t, db, b, killNight(1)); got != "held 0.0000002 since 0" {
		t.Errorf("before its moment: %s", got)
	}
	// An offer never priced comes to be; which of its two rows must be said.
	if _, err := db.Accept(t.Context(), named(c, 0)); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("one of two rows: %v", err)
	}
	if _, err := db.Accept(t.Context(), named(c, 2)); err != nil {
		t.Fatal(err)
	}
	if got := told(t, db, c, killNight(2)); got != "priced 0.0000004 since 2" {
		t.Errorf("new: %s", got)
	}
	if _, err := db.Accept(t.Context(), named(offerOf("d", 0), 0)); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("a row without a price: %v", err)
	}
	if _, err := db.Accept(t.Context(), named(a, 0)); !errors.Is(err, gputide.ErrNotFound) {
		t.Errorf("an offer without refused rows: %v", err)
	}
	// Again is no change.
	if res, err := db.Accept(t.Context(), append(named(b, 0), named(c, 2)...)); err != nil || res.Already != 2 || len(res.Rows) != 0 {
		t.Errorf("again: %+v, %v", res, err)
	}
	if d := cmp.Diff([]string{"d/1"}, refusedNames(t, db)); d != "" {
		t.Errorf("refused (-want +got):\n%s", d)
	}
	// The run itself again is the same run, and the next one confirms the prices.
	if res := mustCommit(t, db, last); !res.NoOp {
		t.Errorf("the same run again: %+v", res)
	}
	next := mustCommit(t, db, refusing(3, offers{a, offerOf("b", 20000), offerOf("c", 400)}, nil))
	if next.Changed+next.FirstSeen+next.Released+next.Held != 0 || next.Confirmed != 3 {
		t.Errorf("the next run: %+v", next)
	}
	want := []string{
		"a first_seen night 0 by crawl to 0.0000001",
		"b first_seen night 0 by crawl to 0.0000002",
		"b held night 1 by crawl from 0.0000002",
		"b released night 2 by accept to 0.00002",
		"b price night 2 by accept from 0.0000002 to 0.00002",
		"c first_seen night 2 by accept to 0.0000004",
	}
	if d := cmp.Diff(want, changeTexts(t, db)); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	runs, err := db.Runs(t.Context(), "acme", 0)
	if err != nil || len(runs) != 6 || runs[1].Cause != gputide.CauseAccept || len(runs[1].Report.Notes) != 1 {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

// A row of the only run that refused it leaves no trace of having been held, and
// one accepted late is worked in below what came after.
func TestAcceptLate(t *testing.T) {
	db := open(t, store.Options{})
	a, b := offerOf("a", 100), offerOf("b", 200)
	mustCommit(t, db, refusing(0, offers{a, b}, nil))
	mustCommit(t, db, refusing(1, offers{a}, offers{offerOf("b", 20000)}))
	failed := refusing(2, nil, nil)
	failed.Scopes[0].Status = gputide.ScopeFailed
	mustCommit(t, db, failed)
	if _, err := db.Accept(t.Context(), named(b, 1)); err != nil {
		t.Fatal(err)
	}
	for night, want := range []string{"priced 0.0000002 since 0", "priced 0.00002 since 1", "gap 0.00002 since 1"} {
		if got := told(t, db, b, killNight(night)); got != want {
			t.Errorf("night %d: %s, want %s", night, got, want)
		}
	}
}

// A scope that was held as a whole confirms nothing; what is accepted of it is
// an observation of its own.
func TestAcceptInHeldScope(t *testing.T) {
	db := open(t, store.Options{})
	b := offerOf("b", 200)
	mustCommit(t, db, refusing(0, offers{b}, nil))
	held := refusing(1, nil, offers{offerOf("b", 20000)})
	held.Scopes[0].Status, held.HeldKeys = gputide.ScopeHeld, nil
	mustCommit(t, db, held)
	if _, err := db.Accept(t.Context(), named(b, 0)); err != nil {
		t.Fatal(err)
	}
	if got := told(t, db, b, killNight(1)); got != "gap 0.00002 since 1" {
		t.Errorf("accepted: %s", got)
	}
	mustCommit(t, db, refusing(2, offers{offerOf("b", 20000)}, nil))
	if got := told(t, db, b, killNight(2)); got != "priced 0.00002 since 1" {
		t.Errorf("confirmed: %s", got)
	}
}

func TestReject(t *testing.T) {
	db := open(t, store.Options{})
	a, b := offerOf("a", 100), offerOf("b", 200)
	step := offers{offerOf("b", 20000)}
	mustCommit(t, db, refusing(0, offers{a, b}, nil))
	mustCommit(t, db, refusing(1, offers{a}, step))
	heldPrice := func() *gputide.Nano {
		t.Helper()
		base, err := db.Baseline(t.Context(), "acme", killNight(1000))
		if err != nil {
			t.Fatal(err)
		}
		return base.Series[b.Key.ID()].HeldPrice
	}
	if heldPrice() == nil {
		t.Fatal("a second run could not agree")
	}
	if res, err := db.Reject(t.Context(), named(b, 0)); err != nil || len(res.Rows) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if res, err := db.Reject(t.Context(), named(b, 1)); err != nil || res.Already != 1 || len(res.Rows) != 0 {
		t.Errorf("again: %+v, %v", res, err)
	}
	mustCommit(t, db, refusing(2, offers{a}, step))
	if p := heldPrice(); p != nil {
		t.Errorf("the next run would accept %s", *p)
	}
	if d := cmp.Diff([]string{"b/1 rejected"}, refusedNames(t, db)); d != "" {
		t.Errorf("after the price came again (-want +got):\n%s", d)
	}
	if got := told(t, db, b, killNight(2)); got != "held 0.0000002 since 0" {
		t.Errorf("rejected: %s", got)
	}
	if _, err := db.Accept(t.Context(), named(b, 0)); err != nil { // a change of mind
		t.Error(err)
	}
	mustCommit(t, db, refusing(3, offers{a}, offers{offerOf("b", 999)})) // another price is another question
	if d := cmp.Diff([]string{"b/1"}, refusedNames(t, db)); d != "" {
		t.Errorf("another price (-want +got):\n%s", d)
	}
	if _, err := db.Reject(t.Context(), named(a, 0)); !errors.Is(err, gputide.ErrNotFound) {
		t.Errorf("an offer without refused rows: %v", err)
	}
}
