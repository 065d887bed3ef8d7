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

func (r *run) tionePrices(ctx context.Context, e *endpoint, s *site, scope gputide.Scope) error {
	var list billingSpecs
	_, err := r.call(ctx, e, "DescribeBillingSpecs", scope.Region, struct{ ChargeType, ResourceType string }{chargeHourly, "GPU"}, &list)
	switch {
	case err != nil:
		return err
	case list.Specs == nil:
		return drift(e.source, "Response.Specs", "a list", "none")
	case len(list.Specs) == 0:
		return fmt.Errorf("%s: %w: Specs of %s", e.source, gputide.ErrEmpty, scope.Region)
	}
	type unit struct {
		SpecName  string
		SpecCount int
	}
	key := gputide.Key{
		Partition: s.partition, Region: scope.Region, Market: gputide.OnDemand, Tier: tierTIONE, Currency: s.currency,
	}
	var units []unit
	specs := make(map[string]*gputide.Spec)
	for i := range list.Specs {
		spec := &list.Specs[i]
		switch {
		case spec.SpecName == "":
			r.b.SkipUnknown(e.source, scope, "bad_row", spec.SpecAlias)
		case specs[spec.SpecName] == nil && (spec.Available == nil || *spec.Available):
			specs[spec.SpecName] = spec.spec(s.partition)
			units = append(units, unit{spec.SpecName, 1})
		default:
			r.b.Omit(e.source, "not_offered", 1)
		}
	}
	if len(units) == 0 {
		return drift(e.source, "Response.Specs[].SpecName", "it in some row", "none")
	}
	var prices billingPrices
	address, err := r.call(ctx, e, "DescribeBillingSpecsPrice", scope.Region, struct{ SpecsParam []unit }{units}, &prices)
	switch {
	case err != nil:
		return err
	case len(prices.SpecsPrice) == 0:
		return drift(e.source, "Response.SpecsPrice", "a row for each spec", "none")
	}
	for _, p := range prices.SpecsPrice {
		if specs[p.SpecName] == nil || (p.SpecCount != "" && p.SpecCount != "1") {
			r.b.SkipUnknown(e.source, scope, "bad_row", p.SpecName)
			continue
		}
		o := &priced{b: r.b, source: e.source, part: scope.Part, spec: specs[p.SpecName]}
		key.InstanceType = p.SpecName
		o.add(key, gputide.PerHour, pair{yuan(p.TotalCost), yuan(p.RealTotalCost)})
		specs[p.SpecName] = nil
	}
	for name, spec := range specs { // asked for, and not answered
		if spec != nil {
			o := &priced{b: r.b, source: e.source, part: scope.Part, spec: spec}
			key.InstanceType = name
			o.add(key, gputide.PerHour, pair{})
		}
	}
	r.b.Done(e.source, scope, address)
	return nil
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
