package tencent

import (
	"context"
	"fmt"
	"strings"

	"github.com/gputide/gputide"
)

const (
	sourceTIONE = "ti-one"
	tierTIONE   = "ti-one"
	tioneURL    = "https://tione.tencentcloudapi.com/"
)

// tioneRegions are regions of TI-ONE: it has no action that lists them
// (https://cloud.tencent.com/document/api/851/75049).
func tioneRegions() []string { return []string{"ap-beijing", "ap-guangzhou", "ap-shanghai"} }

// tione reads the machines that TI-ONE rents by the hour in a region.
func (r *run) tione(ctx context.Context, region string) error {
	s := r.sites()[0]
	e := endpoint{sourceTIONE, "tione", "2021-11-11", tioneURL, s.api.key, envID, envKey}
	scope := gputide.Scope{Partition: s.partition, Region: region, Market: gputide.OnDemand, Part: sourceTIONE}
	err := r.tionePrices(ctx, &e, &s, scope)
	if err != nil {
		r.note(sourceTIONE, []gputide.Scope{scope}, err)
	}
	return err
}

// specUnit asks for the price of a machine.
type specUnit struct {
	SpecName  string
	SpecCount int
}

func (r *run) tionePrices(ctx context.Context, e *endpoint, s *site, scope gputide.Scope) error {
	specs, units, err := r.tioneSpecs(ctx, e, s, scope)
	if err != nil {
		return err
	}
	var prices billingPrices
	address, err := r.call(ctx, e, "DescribeBillingSpecsPrice", scope.Region, struct{ SpecsParam []specUnit }{units}, &prices)
	switch {
	case err != nil:
		return err
	case len(prices.SpecsPrice) == 0:
		return drift(e.source, "Response.SpecsPrice", "a row for each spec", "none")
	}
	add := func(name string, p pair) {
		o := &priced{b: r.b, source: e.source, part: scope.Part, spec: specs[name]}
		o.add(gputide.Key{
			Partition: s.partition, Region: scope.Region, InstanceType: name, Market: gputide.OnDemand, Tier: tierTIONE, Currency: s.currency,
		}, gputide.PerHour, p)
	}
	answered := make(map[string]bool)
	for _, p := range prices.SpecsPrice {
		if specs[p.SpecName] == nil || answered[p.SpecName] || (p.SpecCount != "" && p.SpecCount != "1") {
			r.b.SkipUnknown(e.source, scope, "bad_row", p.SpecName)
			continue
		}
		answered[p.SpecName] = true
		add(p.SpecName, pair{yuan(p.TotalCost), yuan(p.RealTotalCost)})
	}
	for _, u := range units {
		if !answered[u.SpecName] {
			add(u.SpecName, pair{}) // a row without a price
		}
	}
	r.b.Done(e.source, scope, address)
	return nil
}

// tioneSpecs returns the machines that can be had, and what to ask for.
func (r *run) tioneSpecs(ctx context.Context, e *endpoint, s *site, scope gputide.Scope) (map[string]*gputide.Spec, []specUnit, error) {
	var list billingSpecs
	_, err := r.call(ctx, e, "DescribeBillingSpecs", scope.Region, struct{ ChargeType, ResourceType string }{chargeHourly, "GPU"}, &list)
	switch {
	case err != nil:
		return nil, nil, err
	case list.Specs == nil:
		return nil, nil, drift(e.source, "Response.Specs", "a list", "none")
	}
	var units []specUnit
	specs := make(map[string]*gputide.Spec)
	named := len(list.Specs) == 0
	for i := range list.Specs {
		spec := &list.Specs[i]
		named = named || spec.SpecName != ""
		switch {
		case spec.SpecName == "":
			r.b.SkipUnknown(e.source, scope, "bad_row", spec.SpecAlias)
		case specs[spec.SpecName] == nil && (spec.Available == nil || *spec.Available):
			specs[spec.SpecName] = spec.spec(s.partition)
			units = append(units, specUnit{spec.SpecName, 1})
		default:
			r.b.Omit(e.source, "not_offered", 1)
		}
	}
	switch {
	case !named:
		return nil, nil, drift(e.source, "Response.Specs[].SpecName", "it in some row", "none")
	case len(units) == 0:
		return nil, nil, fmt.Errorf("%s: %w: Specs of %s", e.source, gputide.ErrEmpty, scope.Region)
	}
	return specs, units, nil
}

// yuan turns a whole number of hundredths into the text of the amount; another
// number is none.
func yuan(fen number) number {
	if strings.ContainsFunc(string(fen), func(c rune) bool { return c < '0' || c > '9' }) || fen == "" {
		return ""
	}
	text := string(fen)
	for len(text) < 3 {
		text = "0" + text
	}
	return number(text[:len(text)-2] + "." + text[len(text)-2:])
}

// spec returns what TI-ONE says of a machine: "8C32GB GPU(T4)*1".
func (b *billingSpec) spec(partition string) *gputide.Spec {
	s := &gputide.Spec{Source: sourceTIONE, Partition: partition, InstanceType: b.SpecName}
	if b.GPUType != "" {
		s.Device.Name, s.Device.Kind = b.GPUType, gputide.DeviceGPU
	}
	size, cards, ok := strings.Cut(b.SpecAlias, " GPU(")
	if !ok {
		return s
	}
	if _, n, found := strings.Cut(cards, ")*"); found {
		if count, err := gputide.ParseCount(n); err == nil {
			s.Device.Count, s.Device.Share = count, gputide.ShareWhole
		}
	}
	var vcpu, memory float64
	if n, err := fmt.Sscanf(size, "%gC%gGB", &vcpu, &memory); n == 2 && err == nil && vcpu > 0 && memory > 0 {
		s.VCPU, s.MemoryGiB = &vcpu, &memory
	}
	return s
}
