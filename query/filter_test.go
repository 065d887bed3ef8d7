package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func TestSpecFilters(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "aws", "pcie", "h100-pcie-80gb", 1, 1)
	w.shape("aws", "aws", "g6f.large", "l4-24gb", 1, 8)
	w.shape("aws", "aws", "mi", "mi300x-192gb", 1, 1)
	w.shape("aws", "aws", "odd", "GPU H-e", 1, 1)
	w.shape("aws", "aws", "v100", "v100-sxm2-16gb", 4, 1)
	w.specs[0].BareMetal = new(true)
	w.specs[1].BareMetal = new(false)
	for _, typ := range []string{"p5.48xlarge", "pcie", "g6f.large", "mi", "odd", "v100", "no-spec"} {
		w.offer(aws(typ, "us-east-1"), "8")
	}
	for name, tt := range map[string]struct {
		filter Filter
		want   []string
	}{
		"model":                {Filter{GPU: []string{"h100"}}, []string{"p5.48xlarge", "pcie"}},
		"variant":              {Filter{GPU: []string{"h100-sxm"}}, []string{"p5.48xlarge"}},
		"two models":           {Filter{GPU: []string{"h100-pcie", "mi300x"}}, []string{"mi", "pcie"}},
		"vendor":               {Filter{Vendor: []string{"AMD"}}, []string{"mi"}},
		"software":             {Filter{Software: []string{"rocm"}}, []string{"mi"}},
		"count":                {Filter{Count: []string{"8", "2/16"}}, []string{"g6f.large", "p5.48xlarge"}},
		"memory of each":       {Filter{MinGPUMemory: "80GB"}, []string{"mi", "p5.48xlarge", "pcie"}},
		"memory of a slice":    {Filter{MinGPUMemory: "4GB"}, []string{"mi", "p5.48xlarge", "pcie", "v100"}},
		"memory together":      {Filter{Fits: "100GB"}, []string{"mi", "p5.48xlarge"}},
		"machine memory":       {Filter{MinRAM: "512GiB"}, []string{"p5.48xlarge"}},
		"link, not the bridge": {Filter{Interconnect: []string{"NVLink"}}, []string{"p5.48xlarge", "v100"}},
		"precision":            {Filter{Precision: []string{"fp8"}, Vendor: []string{"nvidia"}}, []string{"g6f.large", "p5.48xlarge", "pcie"}},
		"bare metal":           {Filter{BareMetal: new(true)}, []string{"p5.48xlarge"}},
		"not bare metal":       {Filter{BareMetal: new(false)}, []string{"pcie"}},
		"budget of an hour":    {Filter{MaxPrice: "8"}, []string{"g6f.large", "mi", "no-spec", "odd", "p5.48xlarge", "pcie", "v100"}},
		"budget of a card":     {Filter{MaxPrice: "2/gpu"}, []string{"p5.48xlarge", "v100"}},
		"no budget":            {Filter{MaxPrice: "7.99"}, nil},
		"pattern":              {Filter{Type: []string{"P5.*", "v1*0"}}, []string{"p5.48xlarge", "v100"}},
		"unknown card":         {Filter{Flag: []string{"unknown_accelerator"}}, []string{"odd"}},
		"unknown spec":         {Filter{Flag: []string{"spec_unknown"}}, []string{"no-spec"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range w.offers(OffersRequest{Filter: tt.filter}).Rows {
				got = append(got, string(r.InstanceType))
			}
			if diff := cmp.Diff(tt.want, sorted(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			types, err := newEngine(w.memory).Types(t.Context(), TypesRequest{Filter: tt.filter})
			if tt.filter.MaxPrice != "" || tt.filter.Flag != nil {
				if !errors.Is(err, gputide.ErrInvalid) {
					t.Errorf("types take no such filter, got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got = nil
			for _, r := range types.Rows {
				got = append(got, string(r.InstanceType))
			}
			if diff := cmp.Diff(tt.want, sorted(got)); diff != "" {
				t.Errorf("types (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEmptyNamesTheFilter(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.shape("aws", "aws", "g6.xlarge", "l4-24gb", 1, 1)
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	w.offer(aws("g6.xlarge", "eu-west-1"), "0.9")
	w.offer(with(aws("g6.xlarge", "eu-west-1"), gputide.FieldOS, "rhel"), "1.2")
	for name, tt := range map[string]struct {
		filter Filter
		want   []Without
	}{
		"one":     {Filter{MaxPrice: "0.5"}, []Without{{"max-price=0.5", 3}}},
		"a pair":  {Filter{GPU: []string{"h100"}, Region: []string{"eu-west-1"}}, []Without{{"region=eu-west-1", 1}, {"gpu=h100", 2}}},
		"of many": {Filter{Provider: []string{"aws"}, GPU: []string{"h100"}, OS: []string{"rhel"}}, []Without{{"os=rhel", 1}, {"gpu=h100", 1}}},
		"three together": {
			Filter{GPU: []string{"h100"}, OS: []string{"rhel"}, MaxPrice: "0.5"},
			[]Without{{"os=rhel", 0}, {"gpu=h100", 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ans := w.offers(OffersRequest{Filter: tt.filter})
			if ans.Empty == nil {
				t.Fatalf("%d rows, want none", len(ans.Rows))
			}
			if diff := cmp.Diff(tt.want, ans.Empty.Without); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, want := range tt.want {
				if !strings.Contains(ans.Empty.Text, want.Filter) {
					t.Errorf("text %q does not name %s", ans.Empty.Text, want.Filter)
				}
			}
		})
	}
	t.Run("nothing stored", func(t *testing.T) {
		ans := newWorld(t).offers(OffersRequest{Filter: Filter{Provider: []string{"aws"}}})
		if ans.Empty == nil || ans.Empty.Without != nil || !strings.Contains(ans.Empty.Text, "gputide crawl") {
			t.Errorf("%+v, want the hint to crawl", ans.Empty)
		}
	})
}

func TestUnknownValuesSuggest(t *testing.T) {
	w := newWorld(t)
	w.shape("aws", "aws", "p5.48xlarge", "h100-sxm-80gb", 8, 1)
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	w.offer(gputide.Key{Provider: "runpod", InstanceType: "x", Tier: "secure"}, "1")
	e := newEngine(w.memory)
	e.Providers = []string{"lambda"}
	for name, tt := range map[string]struct {
		req  OffersRequest
		want string
	}{
		"provider":  {OffersRequest{Filter: Filter{Provider: []string{"runpd"}}}, "did you mean runpod?"},
		"region":    {OffersRequest{Filter: Filter{Region: []string{"us-east-9"}}}, "us-east-1"},
		"gpu":       {OffersRequest{Filter: Filter{GPU: []string{"h10"}}}, "h100"},
		"market":    {OffersRequest{Filter: Filter{Market: []string{"spott"}}}, "spot"},
		"state":     {OffersRequest{Filter: Filter{State: []string{"pricd"}}}, "priced"},
		"tier":      {OffersRequest{Filter: Filter{Tier: []string{"sekure"}}}, "secure"},
		"vendor":    {OffersRequest{Filter: Filter{Vendor: []string{"nvida"}}}, "nvidia"},
		"precision": {OffersRequest{Filter: Filter{Precision: []string{"fp9"}}}, "fp8"},
		"country":   {OffersRequest{Filter: Filter{Country: []string{"usa"}}}, "us"},
		"count":     {OffersRequest{Filter: Filter{Count: []string{"0"}}}, "8 or 1/8"},
		"term":      {OffersRequest{Filter: Filter{Term: []string{"1yr"}}}, "1y"},
		"size":      {OffersRequest{Filter: Filter{Fits: "lots"}}, "80GB"},
		"budget":    {OffersRequest{Filter: Filter{MaxPrice: "2/hour"}}, "2.5/gpu"},
		"currency":  {OffersRequest{In: "dollars"}, "USD"},
		"no code":   {OffersRequest{In: "rmb"}, "did you mean CNY?"},
		"sort":      {OffersRequest{Sort: []string{"prize"}}, "price"},
		"blank":     {OffersRequest{Filter: Filter{Provider: []string{" "}}}, "provider"},
		"too long":  {OffersRequest{Filter: Filter{Provider: []string{strings.Repeat("a", 201)}}}, "provider"},
		"too many":  {OffersRequest{Filter: Filter{Provider: make([]string, 1001)}}, "1001"},
		"limit":     {OffersRequest{Limit: -1}, "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Offers(t.Context(), tt.req)
			if !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want invalid with %q", err, tt.want)
			}
		})
	}
	for name, f := range map[string]Filter{
		"a provider not yet crawled": {Provider: []string{"lambda"}},
		"another case":               {Provider: []string{"AWS"}},
		"a card nobody sells":        {GPU: []string{"mi300x"}},
	} {
		if _, err := e.Offers(t.Context(), OffersRequest{Filter: f}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReaderErrorsSurface(t *testing.T) {
	w := newWorld(t)
	w.offer(aws("p5.48xlarge", "us-east-1"), "55.04")
	w.fail = errors.New("disk on fire")
	e := newEngine(w.memory)
	_, offers := e.Offers(t.Context(), OffersRequest{})
	_, changes := e.Changes(t.Context(), ChangesRequest{})
	_, types := e.Types(t.Context(), TypesRequest{})
	_, signals := e.Signals(t.Context(), SignalsRequest{})
	_, explain := e.Explain(t.Context(), w.quotes[0].ID, time.Time{})
	for _, err := range []error{offers, changes, types, signals, explain} {
		if !errors.Is(err, w.fail) {
			t.Errorf("error %v, want the store's", err)
		}
	}
}

// What the catalogue and the specs say today decides, not what was stored.
func TestFlagsAreBroughtUpToDate(t *testing.T) {
	w := newWorld(t)
	stored := func(q *gputide.Quote) {
		q.Flags = []gputide.Flag{gputide.FlagMemoryMismatch, gputide.FlagSpecUnknown, gputide.FlagUnknownAccelerator}
	}
	w.shape("aws", "aws", "known", "l4-24gb", 1, 1)
	w.shape("aws", "aws", "unknown", "GPU X", 1, 1)
	w.shape("aws", "aws", "fpga", "VU47P", 1, 1)
	w.specs[2].Device.Kind = gputide.DeviceFPGA
	for typ, want := range map[string][]gputide.Flag{
		"known":   {gputide.FlagMemoryMismatch},
		"unknown": {gputide.FlagMemoryMismatch, gputide.FlagUnknownAccelerator},
		"fpga":    {gputide.FlagMemoryMismatch},
		"no spec": {gputide.FlagMemoryMismatch, gputide.FlagSpecUnknown},
	} {
		w.offer(aws(typ, "us-east-1"), "1", stored)
		r := w.offers(OffersRequest{Filter: Filter{Type: []string{typ}}}).Rows[0]
		if diff := cmp.Diff(want, r.Flags); diff != "" {
			t.Errorf("%s (-want +got):\n%s", typ, diff)
		}
		if typ == "fpga" && r.Accelerator != nil {
			t.Errorf("an FPGA is shown as the accelerator %+v", r.Accelerator)
		}
	}
	if len(w.quotes[0].Flags) != 3 {
		t.Error("the store's own flags were written to")
	}
}
