package store

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func importKey(typ, region string) gputide.Key {
	return gputide.Key{
		Provider: "acme", Region: region, InstanceType: typ, Market: gputide.OnDemand, Stat: gputide.StatList, Currency: "USD",
	}
}

func importDay(day int) time.Time { return time.Date(2024, 1, day, 0, 0, 0, 0, time.UTC) }

func importRowOf(day int, k gputide.Key, card string) gputide.ImportRow {
	row := gputide.ImportRow{At: importDay(day), Offer: gputide.Offer{
		Key: k, Price: 5, Published: gputide.Published{Amount: "0.000000005", Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	}}
	if card != "" {
		row.Spec = &gputide.Spec{Source: "import:book", Provider: k.Provider, InstanceType: k.InstanceType, Device: gputide.Device{Name: card}}
	}
	return row
}

func seqOf(rows ...gputide.ImportRow) iter.Seq2[gputide.ImportRow, error] {
	return func(yield func(gputide.ImportRow, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// cardDeriver derives the name of the card, as it stands in the spec.
type cardDeriver struct{}

func (cardDeriver) Version() string { return "cards" }

func (cardDeriver) Derive(_ *gputide.Key, s *gputide.Spec) []gputide.Attr {
	if s == nil || s.Device.Name == "" {
		return nil
	}
	return []gputide.Attr{{Field: gputide.FieldGPU, Value: s.Device.Name}}
}

func openImports(t *testing.T) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "import.db"), Options{Deriver: cardDeriver{}, Now: func() time.Time { return importDay(31) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Check(context.Background()); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// cards returns what quotes say of the card of each type at a moment.
func cards(t *testing.T, db *DB, sel gputide.Selection, day int) map[string]string {
	t.Helper()
	quotes, err := db.Quotes(t.Context(), sel, importDay(day))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range quotes {
		got[quotes[i].Key.InstanceType] = ""
		if s := quotes[i].Spec; s != nil {
			got[quotes[i].Key.InstanceType] = s.Device.Name
		}
	}
	return got
}

func TestImportStoresSpecsWhereNoneIsKnown(t *testing.T) {
	db := openImports(t)
	live := &gputide.Run{
		Provider: "acme", At: importDay(10), Cause: gputide.CauseCrawl,
		Specs: []gputide.Spec{{Source: "types", Provider: "acme", InstanceType: "b", Device: gputide.Device{Name: "live"}}},
	}
	if _, err := db.CommitRun(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	a, b := importKey("a", "east"), importKey("b", "east")
	rows := []gputide.ImportRow{
		importRowOf(6, a, "late"), importRowOf(4, a, "early"), importRowOf(2, a, ""), importRowOf(4, importKey("a", "west"), "zz"),
		importRowOf(12, b, "book"), importRowOf(8, b, ""), importRowOf(3, importKey("c", "east"), ""),
	}
	for round, specs := range []int{1, 0} {
		res, err := db.Import(t.Context(), "book", gputide.ImportEvents, seqOf(rows...))
		if err != nil || res.Specs != specs {
			t.Fatalf("import %d: %+v, %v", round, res, err)
		}
	}
	for day, want := range map[int]map[string]string{
		3:  {"a": "", "c": ""},
		5:  {"a": "early", "c": ""},
		9:  {"a": "early", "b": "", "c": ""},
		20: {"a": "early", "b": "live", "c": ""},
	} {
		if d := cmp.Diff(want, cards(t, db, gputide.Selection{}, day)); d != "" {
			t.Errorf("day %d: %s", day, d)
		}
	}
	early := gputide.Selection{Matches: []gputide.Match{{Field: gputide.FieldGPU, Values: []string{"early"}}}}
	if d := cmp.Diff(map[string]string{"a": "early"}, cards(t, db, early, 20)); d != "" {
		t.Errorf("selected by card: %s", d)
	}
	// An older import says what the type was before, and nothing of later.
	res, err := db.Import(t.Context(), "older", gputide.ImportEvents, seqOf(importRowOf(1, b, "old"), importRowOf(1, a, "old")))
	if err != nil || res.Specs != 2 {
		t.Fatalf("older: %+v, %v", res, err)
	}
	if d := cmp.Diff(map[string]string{"a": "early", "b": "live", "c": ""}, cards(t, db, gputide.Selection{}, 20)); d != "" {
		t.Errorf("after the older import: %s", d)
	}
	if d := cmp.Diff(map[string]string{"a": "old", "b": "old"}, cards(t, db, gputide.Selection{}, 2)); d != "" {
		t.Errorf("of the older import: %s", d)
	}
	wrong := importRowOf(1, a, "x")
	wrong.Spec.InstanceType = "other"
	if _, err := db.Import(t.Context(), "book", gputide.ImportEvents, seqOf(wrong)); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("spec of another type: %v", err)
	}
}

// TestImportScope withdraws a region that a snapshot of all regions leaves out.
func TestImportScope(t *testing.T) {
	all := &gputide.Scope{Market: gputide.OnDemand}
	for _, tt := range []struct {
		scope *gputide.Scope
		want  gputide.State
	}{{nil, gputide.StateImportedEnd}, {all, gputide.StateWithdrawn}} {
		db := openImports(t)
		var rows []gputide.ImportRow
		for _, r := range []gputide.ImportRow{
			importRowOf(1, importKey("a", "east"), ""), importRowOf(1, importKey("b", "west"), ""), importRowOf(2, importKey("a", "east"), ""),
		} {
			r.Scope = tt.scope
			rows = append(rows, r)
		}
		if _, err := db.Import(t.Context(), "book", gputide.ImportSnapshot, seqOf(rows...)); err != nil {
			t.Fatal(err)
		}
		quotes, err := db.Quotes(t.Context(), gputide.Selection{}, importDay(3))
		if err != nil {
			t.Fatal(err)
		}
		for i := range quotes {
			if q := &quotes[i]; q.Key.Region == "west" && q.State != tt.want {
				t.Errorf("scope %v: west is %s, want %s", tt.scope, q.State, tt.want)
			}
		}
		mixed := importRowOf(3, importKey("a", "east"), "")
		mixed.Scope = &gputide.Scope{Region: "west"}
		if _, err := db.Import(t.Context(), "book", gputide.ImportSnapshot, seqOf(mixed)); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("scope that does not cover the row: %v", err)
		}
		one, two := importRowOf(4, importKey("a", "east"), ""), importRowOf(5, importKey("a", "east"), "")
		two.Scope = &gputide.Scope{Region: "east"}
		if _, err := db.Import(t.Context(), "book", gputide.ImportSnapshot, seqOf(one, two)); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("two scopes of one key: %v", err)
		}
	}
}
