package tencent

import (
	"context"
	"errors"
	"fmt"

	"github.com/gputide/gputide"
)

const (
	sourceHAI = "hai"
	tierHAI   = "hai"
	haiURL    = "https://hai.tencentcloudapi.com/"
)

// haiBundles are the bundles whose names are known: HAI has no action that lists
// them (https://cloud.tencent.com/document/api/1721/101612).
func haiBundles() []string { return []string{"24GB_A", "3XL", "S", "XL", "XL_2X"} }

// hai reads what HAI asks for each bundle in every region of its own list.
func (r *run) hai(ctx context.Context) []error {
	s := r.sites()[0]
	e := endpoint{sourceHAI, "hai", "2023-08-12", haiURL, s.api.key, envID, envKey}
	var list regionList
	_, err := r.call(ctx, &e, "DescribeRegions", "", struct{}{}, &list)
	if err == nil {
		err = list.check(sourceHAI, true)
	}
	if err != nil {
		r.note(sourceHAI, []gputide.Scope{{Partition: s.partition, Market: gputide.OnDemand, Part: sourceHAI}}, err)
		return []error{err}
	}
	var errs []error
	for _, region := range list.RegionSet {
		if ctx.Err() != nil {
			break
		}
		if region.Region == "" || region.RegionState == "UNAVAILABLE" || !r.wants(region.Region) {
			continue
		}
		scope := gputide.Scope{Partition: s.partition, Region: region.Region, Market: gputide.OnDemand, Part: sourceHAI}
		err := r.haiRegion(ctx, &e, &s, scope)
		if err != nil {
			r.note(sourceHAI, []gputide.Scope{scope}, err)
		}
		errs = append(errs, err)
	}
	return errs
}

// inquiry asks for the price of a bundle.
type inquiry struct {
	ApplicationID string `json:"ApplicationId"`
	BundleType    string
	SystemDisk    disk
}

type disk struct {
	DiskType string
	DiskSize int
}

// haiRegion asks for the price of each bundle. What one costs does not depend on
// the application, but the request must name one.
func (r *run) haiRegion(ctx context.Context, e *endpoint, s *site, scope gputide.Scope) error {
	var apps applications
	if _, err := r.call(ctx, e, "DescribeApplications", scope.Region, struct{}{}, &apps); err != nil {
		return err
	}
	ask := inquiry{}
	for _, a := range apps.ApplicationSet {
		if a.ApplicationState == "ONLINE" && a.ApplicationID != "" && a.MinSystemDiskSize > 0 {
			ask = inquiry{a.ApplicationID, "", disk{"CLOUD_PREMIUM", a.MinSystemDiskSize}}
			break
		}
	}
	if ask.ApplicationID == "" {
		return fmt.Errorf("%s: %w: ApplicationSet of %s", e.source, gputide.ErrEmpty, scope.Region)
	}
	var refused error
	address := ""
	for _, bundle := range haiBundles() {
		ask.BundleType = bundle
		p, from, err := r.haiBundle(ctx, e, scope.Region, ask)
		if _, ok := errors.AsType[*refusal](err); ok && !errors.Is(err, gputide.ErrAuth) && !errors.Is(err, gputide.ErrRateLimited) {
			refused, p = err, pair{} // of this bundle
		} else if err != nil {
			return err
		} else {
			address = from
		}
		o := &priced{b: r.b, source: e.source, part: scope.Part, spec: &gputide.Spec{
			Source: e.source, Partition: s.partition, InstanceType: bundle, Device: gputide.Device{Name: "HAI " + bundle, Kind: gputide.DeviceGPU},
		}}
		o.add(gputide.Key{
			Partition: s.partition, Region: scope.Region, InstanceType: bundle, Market: gputide.OnDemand, Tier: tierHAI, Currency: s.currency,
		}, gputide.PerHour, p)
	}
	if address == "" {
		return refused
	}
	r.b.Done(e.source, scope, address)
	return nil
}

func (r *run) haiBundle(ctx context.Context, e *endpoint, region string, ask inquiry) (pair, string, error) {
	var answer haiPrice
	address, err := r.call(ctx, e, "InquirePriceRunInstances", region, ask, &answer)
	if err != nil {
		return pair{}, address, err
	}
	if answer.Price == nil || answer.Price.InstancePrice == nil || answer.Price.InstancePrice.ChargeUnit != "HOUR" {
		return pair{}, address, drift(e.source, "Response.Price.InstancePrice.ChargeUnit", "HOUR", "another")
	}
	return pair{answer.Price.InstancePrice.UnitPrice, answer.Price.InstancePrice.DiscountUnitPrice}, address, nil
}
