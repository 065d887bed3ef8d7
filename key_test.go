package gputide

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenKeys are the keys whose ids testdata/offer_ids.golden pins: an id that
// moves orphans every stored series and every exported row.
func goldenKeys() []Key {
	return []Key{
		{},
		{
			Provider: "aws", Partition: "aws", Region: "us-east-1", InstanceType: "p5.48xlarge", Market: OnDemand,
			OS: "linux", Tenancy: "shared", Stat: StatList, Tax: TaxExcluded, Currency: "USD",
		},
		{
			Provider: "aws", Partition: "aws", Region: "ap-northeast-1", InstanceType: "c6i.large", Market: Commitment,
			Plan: "ri_standard", Term: "3y", Payment: PaymentPartial, OS: "windows", License: "sql_web",
			Tenancy: "dedicated", Stat: StatList, Tax: TaxExcluded, Currency: "USD",
		},
		{
			Provider: "runpod", InstanceType: "NVIDIA H100 80GB HBM3×8", Market: Spot, Tier: "community",
			Stat: StatList, Currency: "USD",
		},
		{Provider: "tencent", Region: "ap-guangzhou", Zone: "ap-guangzhou-6", InstanceType: "GN7.2XLARGE32", Volume: "h<=96", Currency: "CNY"},
		{Provider: "primeintellect", Seller: "datacrunch", InstanceType: `a=b\c` + "\nd", Market: OnDemand},
	}
}

func TestOfferIDsNeverMove(t *testing.T) {
	const golden = "testdata/offer_ids.golden"
	var lines []string
	for _, k := range goldenKeys() {
		lines = append(lines, fmt.Sprintf("%s %q", k.ID(), k.Canonical()))
	}
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(golden)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want []string
	for s := bufio.NewScanner(f); s.Scan(); {
		want = append(want, s.Text())
	}
	if !slices.Equal(lines, want) {
		t.Errorf("offer ids moved:\ngot  %s\nwant %s", strings.Join(lines, "\n     "), strings.Join(want, "\n     "))
	}
}

// TestKeyFieldsAreComplete fails when Key gains a field that the canonical key
// does not know: two different offers would then share an id.
func TestKeyFieldsAreComplete(t *testing.T) {
	typ := reflect.TypeFor[Key]()
	if got, want := len(KeyFields()), typ.NumField(); got != want {
		t.Fatalf("KeyFields lists %d fields, Key has %d", got, want)
	}
	if !slices.IsSorted(KeyFields()) {
		t.Errorf("KeyFields is not sorted: %v", KeyFields())
	}
	seen := map[OfferID]Field{}
	for _, f := range KeyFields() {
		var k Key
		if err := k.Set(f, "x"); err != nil {
			t.Fatal(err)
		}
		if k.Get(f) != "x" || k == (Key{}) {
			t.Errorf("field %s does not survive Set and Get: %+v", f, k)
		}
		if other, ok := seen[k.ID()]; ok {
			t.Errorf("fields %s and %s give one id", f, other)
		}
		seen[k.ID()] = f
	}
	var k Key
	if err := k.Set("colour", "x"); !errors.Is(err, ErrInvalid) {
		t.Errorf("Set of an unknown field: %v, want ErrInvalid", err)
	}
}

func FuzzCanonicalKeyIsInjective(f *testing.F) {
	f.Add("p5", "us-east-1", "p5\nregion=us-east-1", "")
	f.Add(`a\`, "b", `a`, `\b`)
	f.Add("a=b", "", "a", "=b")
	f.Fuzz(func(t *testing.T, type1, region1, type2, region2 string) {
		a, b := Key{InstanceType: type1, Region: region1}, Key{InstanceType: type2, Region: region2}
		if (a == b) != (a.Canonical() == b.Canonical()) {
			t.Errorf("keys %+v and %+v: equal %t, canonical %q and %q", a, b, a == b, a.Canonical(), b.Canonical())
		}
	})
}

func TestParseOfferID(t *testing.T) {
	id := Key{Provider: "aws"}.ID()
	got, err := ParseOfferID(id.String())
	if err != nil || got != id {
		t.Errorf("ParseOfferID(%s) = %s, %v", id, got, err)
	}
	for _, s := range []string{"", "zz", strings.Repeat("g", 32), strings.Repeat("a", 34)} {
		if _, err := ParseOfferID(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseOfferID(%q): %v, want ErrInvalid", s, err)
		}
	}
}

func TestScopeCovers(t *testing.T) {
	k := &Key{Partition: "aws", Region: "us-east-1", Market: OnDemand}
	tests := []struct {
		name  string
		scope Scope
		part  string
		want  bool
	}{
		{"everything", Scope{}, "", true},
		{"its region", Scope{Region: "us-east-1"}, "", true},
		{"another region", Scope{Region: "eu-west-1"}, "", false},
		{"its market", Scope{Region: "us-east-1", Market: OnDemand}, "", true},
		{"another market", Scope{Market: Spot}, "", false},
		{"another partition", Scope{Partition: "aws-cn"}, "", false},
		{"its part", Scope{Part: "H100"}, "H100", true},
		{"another part", Scope{Part: "H100"}, "B200", false},
		{"a signal scope", Scope{Signal: SignalAvailability}, "", false},
	}
	for _, tt := range tests {
		if got := tt.scope.Covers(k, tt.part); got != tt.want {
			t.Errorf("%s: %s covers = %t, want %t", tt.name, tt.scope, got, tt.want)
		}
	}
	if narrow, wide := (Scope{Region: "us-east-1", Market: OnDemand}), (Scope{Market: OnDemand}); narrow.Width() >= wide.Width() {
		t.Errorf("width of %s is %d, of %s %d: the narrower scope must have the smaller width", narrow, narrow.Width(), wide, wide.Width())
	}
	signal := Scope{Signal: SignalInterruption, Region: "us-east-1"}
	if !signal.CoversSignal(SignalInterruption, k, "") || signal.CoversSignal(SignalSavings, k, "") {
		t.Error("a signal scope covers its own signal and no other")
	}
}
