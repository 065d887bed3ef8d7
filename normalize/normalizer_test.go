package normalize

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gputide/gputide"
)

func testNormalizer(t testing.TB) *Normalizer {
	return &Normalizer{Catalogue: testCatalogue(t), Regions: testRegions(t)}
}

func rawOffer() gputide.RawOffer {
	return gputide.RawOffer{
		Source: "bulk",
		Key: gputide.Key{
			Provider: "aws", Partition: "aws", Region: "us-east-1", InstanceType: "p5.48xlarge", Market: gputide.OnDemand,
			OS: "linux", Tenancy: "shared", Stat: gputide.StatList, Currency: "USD",
		},
		Price: perInstance("55.0400000000"),
		SKU:   "ABC",
	}
}

func p5Spec() *gputide.Spec {
	d := device("H100", 0, 81920)
	d.Count = gputide.NewCount(8, 1)
	return &gputide.Spec{Source: "types", Provider: "aws", Partition: "aws", InstanceType: "p5.48xlarge", Device: *d, VCPU: new(192.0)}
}

func TestOffer(t *testing.T) {
	n := testNormalizer(t)
	raw := rawOffer()
	got, err := n.Offer(&raw, p5Spec())
	want := gputide.Offer{Key: raw.Key, Price: 55_040_000_000, Published: raw.Price, Source: "bulk", SKU: "ABC"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestOfferDerives(t *testing.T) {
	n := testNormalizer(t)
	for _, tc := range []struct {
		name  string
		edit  func(*gputide.RawOffer, *gputide.Spec)
		price string
		mult  string
		flags []gputide.Flag
	}{
		{"per accelerator", func(r *gputide.RawOffer, _ *gputide.Spec) { r.Price.Basis = gputide.BasisAccelerator }, "440.32", "8", nil},
		{"per vCPU", func(r *gputide.RawOffer, _ *gputide.Spec) { r.Price.Basis, r.Price.Amount = gputide.BasisVCPU, "0.01" }, "1.92", "192", nil},
		{"commitment", func(r *gputide.RawOffer, _ *gputide.Spec) {
			r.Key.Market, r.Key.Plan, r.Key.Term, r.Key.Payment = gputide.Commitment, "ri_standard", "3y", gputide.PaymentPartial
			r.Price.Upfront = "26280"
		}, "56.04", "", nil},
		{"plain statistic", func(r *gputide.RawOffer, _ *gputide.Spec) { r.Key.Stat = "" }, "55.04", "", nil},
		{"space around text", func(r *gputide.RawOffer, _ *gputide.Spec) { r.Key.InstanceType = "p5.48xlarge  " }, "55.04", "", nil},
		{"everywhere", func(r *gputide.RawOffer, _ *gputide.Spec) { r.Key.Region = "" }, "55.04", "", nil},
		{"unknown region", func(r *gputide.RawOffer, _ *gputide.Spec) { r.Key.Region = "us-moon-1" }, "55.04", "", []gputide.Flag{gputide.FlagUnknownRegion}},
		{"unknown accelerator", func(_ *gputide.RawOffer, s *gputide.Spec) { s.Device.Name = "H900" }, "55.04", "", []gputide.Flag{gputide.FlagUnknownAccelerator}},
		{"accelerator without a name", func(_ *gputide.RawOffer, s *gputide.Spec) { s.Device.Name = "" }, "55.04", "", []gputide.Flag{gputide.FlagUnknownAccelerator}},
		{"no accelerator", func(_ *gputide.RawOffer, s *gputide.Spec) { s.Device = gputide.Device{} }, "55.04", "", nil},
		{"masked", func(r *gputide.RawOffer, s *gputide.Spec) {
			r.Key.Provider, r.Key.Region = "alibaba", "cn-beijing"
			s.Device.Name, s.Device.MemoryMiB = "GPU H", new(int64(98304))
		}, "55.04", "", []gputide.Flag{gputide.FlagMaskedAccelerator}},
		{"masked beyond reading", func(r *gputide.RawOffer, s *gputide.Spec) {
			r.Key.Provider, r.Key.Region = "alibaba", "cn-beijing"
			s.Device.Name, s.Device.MemoryMiB = "A910X", new(int64(49152))
		}, "55.04", "", []gputide.Flag{gputide.FlagMaskedAccelerator, gputide.FlagUnknownAccelerator}},
		{"another memory than its name's", func(_ *gputide.RawOffer, s *gputide.Spec) { s.Device.Name = "RTX 4090" }, "55.04", "", []gputide.Flag{gputide.FlagMemoryMismatch}},
		{"flags of the source", func(r *gputide.RawOffer, _ *gputide.Spec) {
			r.Key.Region = "x"
			r.Flags = []gputide.Flag{gputide.FlagUnknownRegion, gputide.FlagAccountZone, gputide.FlagSpotEqualsOnDemand, gputide.FlagNoFX}
		}, "55.04", "", []gputide.Flag{gputide.FlagAccountZone, gputide.FlagUnknownRegion}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			raw, spec := rawOffer(), p5Spec()
			tc.edit(&raw, spec)
			flags := append([]gputide.Flag(nil), raw.Flags...)
			o, err := n.Offer(&raw, spec)
			if err != nil || o.Price.String() != tc.price || o.Published.Multiplier.String() != tc.mult {
				t.Fatalf("%s × %s, %v; want %s × %s", o.Price, o.Published.Multiplier, err, tc.price, tc.mult)
			}
			if diff := cmp.Diff(tc.flags, o.Flags); diff != "" {
				t.Errorf("flags (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(flags, raw.Flags); diff != "" {
				t.Errorf("the row's own flags changed:\n%s", diff)
			}
			if o.Key.Stat != gputide.StatList || o.Key.InstanceType != "p5.48xlarge" {
				t.Errorf("key %+v", o.Key)
			}
		})
	}
}

func TestOfferUsesItsOwnSpec(t *testing.T) {
	n := testNormalizer(t)
	raw := rawOffer()
	raw.Price.Basis = gputide.BasisAccelerator
	raw.Spec = p5Spec()
	if o, err := n.Offer(&raw, nil); err != nil || o.Price.String() != "440.32" || o.Flags != nil {
		t.Errorf("%s, %v, %v", o.Price, o.Flags, err)
	}
	raw = rawOffer()
	o, err := n.Offer(&raw, nil)
	if diff := cmp.Diff([]gputide.Flag{gputide.FlagSpecUnknown}, o.Flags); err != nil || diff != "" {
		t.Errorf("no spec: %v\n%s", err, diff)
	}
}

func TestOfferRefuses(t *testing.T) {
	n := testNormalizer(t)
	for _, tc := range []struct {
		name string
		edit func(*gputide.RawOffer)
		want Reason
		err  error
	}{
		{"no price", func(r *gputide.RawOffer) { r.Price.Amount = "0" }, ReasonNoPrice, gputide.ErrNoPrice},
		{"unreadable price", func(r *gputide.RawOffer) { r.Price.Amount = "N/A" }, ReasonNoPrice, gputide.ErrNoPrice},
		{"overflow", func(r *gputide.RawOffer) { r.Price.Amount = "1e400" }, ReasonOverflow, gputide.ErrOverflow},
		{"incomplete", func(r *gputide.RawOffer) {
			r.Price = gputide.Published{Basis: gputide.BasisInstance, Components: []gputide.Component{{Kind: "core", Unit: gputide.PerHour, Quantity: "1"}}}
		}, ReasonIncomplete, gputide.ErrIncomplete},
		{"two prices in one", func(r *gputide.RawOffer) {
			r.Price.Components = []gputide.Component{{Kind: "core", Amount: "1", Unit: gputide.PerHour, Quantity: "1"}}
		}, ReasonAmbiguous, gputide.ErrInvalid},
		{"no unit", func(r *gputide.RawOffer) { r.Price.Unit = "" }, ReasonUnknownUnit, gputide.ErrInvalid},
		{"no basis", func(r *gputide.RawOffer) { r.Price.Basis = "" }, ReasonUnknownBasis, gputide.ErrInvalid},
		{"count not known", func(r *gputide.RawOffer) { r.Price.Basis = gputide.BasisAccelerator }, ReasonCountUnknown, gputide.ErrInvalid},
		{"upfront without term", func(r *gputide.RawOffer) { r.Price.Upfront = "100" }, ReasonBadKey, gputide.ErrInvalid},
		{"no provider", func(r *gputide.RawOffer) { r.Key.Provider = "" }, ReasonBadKey, gputide.ErrInvalid},
		{"no instance type", func(r *gputide.RawOffer) { r.Key.InstanceType = " " }, ReasonBadKey, gputide.ErrInvalid},
		{"no market", func(r *gputide.RawOffer) { r.Key.Market = "" }, ReasonBadKey, gputide.ErrInvalid},
		{"strange market", func(r *gputide.RawOffer) { r.Key.Market = "auction" }, ReasonBadKey, gputide.ErrInvalid},
		{"no currency", func(r *gputide.RawOffer) { r.Key.Currency = "" }, ReasonBadKey, gputide.ErrInvalid},
		{"strange currency", func(r *gputide.RawOffer) { r.Key.Currency = "usd" }, ReasonBadKey, gputide.ErrInvalid},
		{"strange term", func(r *gputide.RawOffer) { r.Key.Term = "1yr" }, ReasonBadKey, gputide.ErrInvalid},
		{"term in another spelling", func(r *gputide.RawOffer) { r.Key.Term = "01y" }, ReasonBadKey, gputide.ErrInvalid},
		{"strange payment", func(r *gputide.RawOffer) { r.Key.Payment = "half" }, ReasonBadKey, gputide.ErrInvalid},
		{"strange statistic", func(r *gputide.RawOffer) { r.Key.Stat = "average" }, ReasonBadKey, gputide.ErrInvalid},
		{"strange tax", func(r *gputide.RawOffer) { r.Key.Tax = "some" }, ReasonBadKey, gputide.ErrInvalid},
		{"line end in the key", func(r *gputide.RawOffer) { r.Key.InstanceType = "p5\n48xlarge" }, ReasonBadText, gputide.ErrInvalid},
		{"long text in the key", func(r *gputide.RawOffer) { r.Key.Volume = strings.Repeat("x", 257) }, ReasonBadText, gputide.ErrInvalid},
		{"invalid UTF-8 in the key", func(r *gputide.RawOffer) { r.Key.Region = "us\xff" }, ReasonBadText, gputide.ErrInvalid},
		{"UTF-8 lost in decoding", func(r *gputide.RawOffer) { r.Key.InstanceType = "p5\ufffd48xlarge" }, ReasonBadText, gputide.ErrInvalid},
		{"escape in the SKU", func(r *gputide.RawOffer) { r.SKU = "a\x1b[31m" }, ReasonBadText, gputide.ErrInvalid},
		{"long part", func(r *gputide.RawOffer) { r.Part = strings.Repeat("x", 257) }, ReasonBadText, gputide.ErrInvalid},
		{"control character in a component", func(r *gputide.RawOffer) { r.Price.Components = []gputide.Component{{Kind: "co\x00re"}} }, ReasonBadText, gputide.ErrInvalid},
		{"components without end", func(r *gputide.RawOffer) { r.Price.Components = make([]gputide.Component, 65) }, ReasonBadText, gputide.ErrInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			raw := rawOffer()
			tc.edit(&raw)
			o, err := n.Offer(&raw, nil)
			refusal, ok := errors.AsType[*Refusal](err)
			if !ok || refusal.Reason != tc.want || !errors.Is(err, tc.err) || o.Price != 0 {
				t.Fatalf("%s, %v; want %s", o.Price, err, tc.want)
			}
			if !refusal.Reason.Known() || refusal.Detail == "" || len(refusal.Detail) > maxText+len("…") {
				t.Errorf("%+v", refusal)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	seen := map[Reason]bool{}
	for _, r := range Reasons() {
		if seen[r.Code] || !r.Code.Known() || !strings.HasSuffix(r.Meaning, ".") {
			t.Errorf("%+v", r)
		}
		seen[r.Code] = true
	}
	if Reason("whim").Known() {
		t.Error("any reason is known")
	}
}

func TestAccelerated(t *testing.T) {
	n := testNormalizer(t)
	for _, tc := range []struct {
		name   string
		device gputide.Device
		want   bool
	}{
		{"a GPU", gputide.Device{Name: "T4"}, true},
		{"an ASIC", gputide.Device{Name: "Trainium2"}, true},
		{"an FPGA", gputide.Device{Name: "VU9P"}, false},
		{"a video card", gputide.Device{Name: "U30"}, false},
		{"never heard of", gputide.Device{Name: "X1"}, true},
		{"never heard of, an FPGA", gputide.Device{Name: "X1", Kind: gputide.DeviceFPGA}, false},
		{"never heard of, video", gputide.Device{Name: "X1", Kind: gputide.DeviceVideo}, false},
		{"counted and not named", gputide.Device{Count: gputide.NewCount(1, 1)}, true},
		{"masked", gputide.Device{Name: "A910X"}, true},
		{"none", gputide.Device{}, false},
	} {
		if got := n.Accelerated(&gputide.Spec{Provider: "alibaba", Device: tc.device}); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	if n.Accelerated(nil) {
		t.Error("no spec is an accelerator")
	}
}

func TestDerive(t *testing.T) {
	n := testNormalizer(t)
	raw := rawOffer()
	want := []gputide.Attr{
		{Field: gputide.FieldGPU, Value: "h100-sxm-80gb"},
		{Field: gputide.FieldVendor, Value: "nvidia"},
		{Field: gputide.FieldModel, Value: "h100"},
		{Field: gputide.FieldStack, Value: "cuda"},
		{Field: gputide.FieldCount, Value: "8"},
		{Field: gputide.FieldCountry, Value: "us"},
		{Field: gputide.FieldContinent, Value: "north-america"},
	}
	if diff := cmp.Diff(want, n.Derive(&raw.Key, p5Spec())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want[5:], n.Derive(&raw.Key, nil)); diff != "" {
		t.Errorf("without spec (-want +got)\n%s", diff)
	}
	spec := &gputide.Spec{Device: gputide.Device{Name: "X1", Count: gputide.NewCount(1, 8)}}
	if diff := cmp.Diff([]gputide.Attr{{Field: gputide.FieldCount, Value: "1/8"}}, n.Derive(&gputide.Key{Provider: "x"}, spec)); diff != "" {
		t.Errorf("unknown (-want +got)\n%s", diff)
	}
	if v := n.Version(); !strings.Contains(v, n.Catalogue.Version()) || !strings.Contains(v, n.Regions.Version()) {
		t.Errorf("version %q", v)
	}
}

func FuzzOffer(f *testing.F) {
	f.Add("us-east-1", "p5.48xlarge", "55.04", "h", "instance", "", "", "sku")
	f.Add("", "x", "1", "mo", "accelerator", "5", "3y", "\x00")
	n := testNormalizer(f)
	f.Fuzz(func(t *testing.T, region, instanceType, amount, unit, basis, upfront, term, sku string) {
		raw := rawOffer()
		raw.Key.Region, raw.Key.InstanceType, raw.Key.Term, raw.SKU = region, instanceType, gputide.Term(term), sku
		raw.Price = gputide.Published{Amount: amount, Unit: gputide.Unit(unit), Basis: gputide.Basis(basis), Upfront: upfront}
		o, err := n.Offer(&raw, p5Spec())
		if err != nil {
			refusal, ok := errors.AsType[*Refusal](err)
			if !ok || !refusal.Reason.Known() || o.Price != 0 {
				t.Fatalf("%s, %v", o.Price, err)
			}
			return
		}
		if o.Price <= 0 || o.Price > gputide.MaxNano || len(o.Key.InstanceType) > maxText || o.Key.InstanceType == "" {
			t.Fatalf("%+v", o)
		}
	})
}

func BenchmarkOffer(b *testing.B) {
	n := testNormalizer(b)
	raw, spec := rawOffer(), p5Spec()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := n.Offer(&raw, spec); err != nil {
			b.Fatal(err)
		}
	}
}
