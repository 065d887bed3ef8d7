package tencent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const gatewayURL = "https://workbench.cloud.tencent.com/cgi/"

// regions returns the regions of a site, sorted, from the first source that
// knows them.
func (r *run) regions(ctx context.Context, s *site) ([]string, error) {
	regions, err := r.apiRegions(ctx, s)
	if err == nil || ctx.Err() != nil {
		return regions, err
	}
	r.source(s.api.source, err)
	if !s.gateway {
		return nil, err
	}
	z := r.gatewayZones(ctx)
	if z.err != nil {
		r.source(sourceGateway, z.err)
		if isAbsent(err) {
			err = nil
		}
		return nil, errors.Join(err, z.err)
	}
	return z.regions, nil
}

// source reports a source that could not be used.
func (r *run) source(id string, err error) {
	status := gputide.SourceFailed
	if isAbsent(err) {
		status = gputide.SourceSkipped
	}
	r.b.Source(id, status, err)
}

func (r *run) apiRegions(ctx context.Context, s *site) ([]string, error) {
	var list regionList
	if _, err := r.call(ctx, &s.api, "DescribeRegions", "", struct{}{}, &list); err != nil {
		return nil, err
	}
	var out []string
	named := false
	for _, row := range list.RegionSet {
		named = named || row.Region != ""
		switch {
		case row.Region == "":
			for _, scope := range s.scopes("") {
				r.b.SkipUnknown(s.api.source, scope, "bad_row", "a region without name")
			}
		case row.RegionState == "UNAVAILABLE":
			r.b.Omit(s.api.source, "unavailable_region", 1)
		default:
			out = append(out, row.Region)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), list.check(s.api.source, named)
}

// check returns what is wrong with a list as a whole.
func (l *regionList) check(source string, named bool) error {
	switch {
	case l.RegionSet == nil:
		return drift(source, "Response.RegionSet", "a list", "none")
	case len(l.RegionSet) == 0:
		return fmt.Errorf("%s: %w: RegionSet", source, gputide.ErrEmpty)
	case !named:
		return drift(source, "Response.RegionSet[].Region", "it in some row", fmt.Sprintf("none of %d", len(l.RegionSet)))
	}
	return nil
}

// zoneList is what the gateway knows of regions.
type zoneList struct {
	regions []string // sorted
	zones   map[string][]string
	err     error
}

// gatewayZones asks the gateway for regions and zones, once.
func (r *run) gatewayZones(ctx context.Context) *zoneList {
	if r.zones != nil {
		return r.zones
	}
	z := &zoneList{zones: make(map[string][]string)}
	r.zones = z
	var list regionList
	_, z.err = r.read(ctx, fetch.Request{
		Source: sourceGateway, URL: gatewayURL + "area/queryCvmRegion", Header: map[string][]string{"Content-Type": {jsonType}},
		Body: []byte("{}"),
	}, &list)
	if z.err != nil {
		return z
	}
	named := false
	for _, row := range list.RegionSet {
		named = named || row.Region != ""
		if row.Region == "" || len(row.Zones) == 0 {
			r.b.Omit(sourceGateway, "no_zones", 1)
			continue
		}
		for _, zone := range row.Zones {
			if zone.Zone != "" && !slices.Contains(z.zones[row.Region], zone.Zone) {
				z.zones[row.Region] = append(z.zones[row.Region], zone.Zone)
			}
		}
		z.regions = append(z.regions, row.Region)
	}
	slices.Sort(z.regions)
	z.regions = slices.Compact(z.regions)
	if z.err = list.check(sourceGateway, named); z.err == nil && len(z.zones) == 0 {
		z.err = drift(sourceGateway, "data.Response.RegionSet[].zones[].zone", "it in some row", "none")
	}
	return z
}

// charges are the ways of paying that are asked for.
func charges() filter {
	return filter{"instance-charge-type", []string{chargePrepaid, chargeHourly, chargeSpot}}
}

// quotas reads the rows of a region from API 3.0, which gives them in one answer.
func (r *run) quotas(ctx context.Context, rows *reader) ([]string, error) {
	var list quotaList
	params := struct{ Filters []filter }{[]filter{charges()}}
	address, err := r.call(ctx, &rows.site.api, "DescribeZoneInstanceConfigInfos", rows.region, params, &list)
	if err == nil {
		err = rows.page(&list)
	}
	return []string{address}, err
}

// gatewayQuotas reads the rows of a region from the gateway, zone by zone.
func (r *run) gatewayQuotas(ctx context.Context, rows *reader) ([]string, error) {
	z := r.gatewayZones(ctx)
	if z.err != nil {
		return nil, z.err
	}
	if len(z.zones[rows.region]) == 0 {
		return nil, fmt.Errorf("%s: %w: zones of %s", sourceGateway, gputide.ErrEmpty, rows.region)
	}
	var urls []string
	for _, zone := range z.zones[rows.region] {
		address, err := r.gatewayZone(ctx, rows, zone)
		if err != nil {
			return urls, err
		}
		if !slices.Contains(urls, address) {
			urls = append(urls, address)
		}
	}
	return urls, nil
}

func (r *run) gatewayZone(ctx context.Context, rows *reader, zone string) (string, error) {
	type data struct {
		Filters           []filter
		Platform, Version string
	}
	body, err := json.Marshal(struct {
		Service string `json:"serviceType"`
		Action  string `json:"action"`
		Region  string `json:"region"`
		Data    data   `json:"data"`
		CGI     string `json:"cgiName"`
	}{
		"cvm", "DescribeZoneInstanceConfigInfos", rows.region,
		data{[]filter{charges(), {"zone", []string{zone}}}, "LINUX", versionCVM},
		"api",
	})
	if err != nil {
		return "", fmt.Errorf("%s: body: %w", sourceGateway, err)
	}
	var list quotaList
	address, err := r.read(ctx, fetch.Request{
		Source: sourceGateway,
		URL:    gatewayURL + "api?i=cvm/DescribeZoneInstanceConfigInfos&uin=&region=" + url.QueryEscape(rows.region),
		Header: map[string][]string{"Content-Type": {jsonType}}, Body: body,
	}, &list)
	if err == nil {
		err = rows.page(&list)
	}
	return address, err
}

// page takes in the rows of one answer. A zone may sell nothing.
func (r *reader) page(list *quotaList) error {
	if list.InstanceTypeQuotaSet == nil {
		return drift(r.source, "Response.InstanceTypeQuotaSet", "a list", "none")
	}
	r.raw = append(r.raw, list.InstanceTypeQuotaSet...)
	return nil
}
