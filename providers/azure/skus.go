package azure

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// location is a row of the list of locations.
type location struct {
	Name     string `json:"name"`
	Metadata *struct {
		Type      string `json:"regionType"` // Physical, Logical
		Geography string `json:"geography"`
	} `json:"metadata"`
	Zones []struct {
		Logical  string `json:"logicalZone"`
		Physical string `json:"physicalZone"`
	} `json:"availabilityZoneMappings"`
}

// CrawlSpecs adds the sizes that Azure Resource Manager describes, and the zones
// that offer them. Without a service principal the table of accelerators, which
// goes with the prices, has to do.
func (p *Provider) CrawlSpecs(ctx context.Context, b *gputide.Batch) error {
	a, err := p.signIn(ctx)
	if errors.Is(err, gputide.ErrNeedsKey) {
		b.Source(sourceLocations, gputide.SourceSkipped, err)
		b.Source(sourceSKUs, gputide.SourceSkipped, err)
		return nil
	}
	if err != nil {
		b.Source(sourceToken, gputide.SourceFailed, err)
		return err
	}
	if !p.http.Replaying() {
		b.Source(sourceToken, gputide.SourceOK, nil)
	}
	regions, err := a.locations(ctx, b)
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		b.Source(sourceLocations, gputide.SourceSkipped, err)
		return nil
	case err != nil:
		b.Source(sourceLocations, gputide.SourceFailed, err)
		return err
	}
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	s := &skus{arm: a, b: b, table: table, seen: map[string]bool{}}
	var failed []error
	for _, region := range regions {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		err := s.region(ctx, region)
		switch {
		case errors.Is(err, gputide.ErrNotInFixture):
			b.Source(sourceSKUs, gputide.SourceSkipped, err)
			return nil
		case err != nil:
			b.Fail(sourceSKUs, stockScope(region.Name), err)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// locations returns the regions whose sizes are read, sorted. Logical locations
// are groups and stages of regions; canary regions are not for sale.
func (a *arm) locations(ctx context.Context, b *gputide.Batch) ([]location, error) {
	var out []location
	known := false
	omits := map[string]int64{}
	_, err := a.values(ctx, sourceLocations, "/locations", url.Values{"api-version": {"2022-12-01"}}, func(raw json.RawMessage) error {
		var l location
		if err := json.Unmarshal(raw, &l); err != nil || l.Name == "" || l.Metadata == nil || l.Metadata.Type == "" {
			b.SkipUnknown(sourceLocations, gputide.Scope{Signal: gputide.SignalAvailability}, "bad_row", string(raw))
			return nil
		}
		known = true
		switch {
		case l.Metadata.Type != "Physical":
			omits["logical_location"]++
		case strings.HasPrefix(l.Metadata.Geography, "Canary"):
			omits["canary_region"]++
		case a.wants(l.Name):
			out = append(out, l)
		}
		return nil
	})
	if err == nil && !known {
		err = drift(sourceLocations, "value[].metadata.regionType", "it in some row", "none")
	}
	for reason, n := range omits {
		b.Omit(sourceLocations, reason, n)
	}
	slices.SortFunc(out, func(x, y location) int { return strings.Compare(x.Name, y.Name) })
	return out, err
}

// sku is a row of Resource SKUs.
type sku struct {
	Resource     *string `json:"resourceType"`
	Name         *string `json:"name"`
	Family       string  `json:"family"`
	LocationInfo []struct {
		Location string   `json:"location"`
		Zones    []string `json:"zones"`
	} `json:"locationInfo"`
	Capabilities *[]capability `json:"capabilities"`
	Restrictions []restriction `json:"restrictions"`
}

type capability struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// restriction says where the subscription may not use a size.
type restriction struct {
	Type   string   `json:"type"` // Location, Zone
	Values []string `json:"values"`
	Info   struct {
		Zones []string `json:"zones"`
	} `json:"restrictionInfo"`
}

// skus reads Resource SKUs.
type skus struct {
	*arm
	b     *gputide.Batch
	table *families
	seen  map[string]bool // sizes described already: they are the same in every region
}

func stockScope(region string) gputide.Scope {
	return gputide.Scope{Partition: partitionCommercial, Region: region, Signal: gputide.SignalAvailability}
}

// region reads the sizes of one region.
func (s *skus) region(ctx context.Context, at location) error {
	known := map[string]bool{}
	omits := map[string]int64{}
	address, err := s.values(ctx, sourceSKUs, "/providers/Microsoft.Compute/skus", url.Values{
		"api-version": {"2021-07-01"}, "$filter": {"location eq '" + at.Name + "'"},
	}, func(raw json.RawMessage) error {
		var row sku
		err := json.Unmarshal(raw, &row)
		known["resourceType"] = known["resourceType"] || row.Resource != nil
		known["name"] = known["name"] || row.Name != nil
		known["capabilities"] = known["capabilities"] || row.Capabilities != nil
		switch {
		case err != nil || row.Resource == nil || row.Name == nil || row.Capabilities == nil:
			s.b.SkipUnknown(sourceSKUs, stockScope(at.Name), "bad_row", string(raw))
		case *row.Resource != "virtualMachines":
			omits["other_resource"]++
		default:
			s.size(&row, &at, omits)
		}
		return nil
	})
	for _, name := range []string{"resourceType", "name", "capabilities"} {
		if err == nil && !known[name] {
			err = drift(sourceSKUs, "value[]."+name, "it in some row", "none")
		}
	}
	if err != nil {
		return err
	}
	for reason, n := range omits {
		s.b.Omit(sourceSKUs, reason, n)
	}
	s.b.Done(sourceSKUs, stockScope(at.Name), address)
	return nil
}

// size adds the spec of one size and where it is offered.
func (s *skus) size(row *sku, at *location, omits map[string]int64) {
	name := strings.TrimSpace(*row.Name)
	spec := specOf(row, s.table)
	if !s.seen[name] {
		s.seen[name] = true
		s.b.Spec(spec)
	}
	if !spec.Device.Known() {
		return
	}
	zones, offered := row.zones(at.Name)
	if !offered {
		omits["restricted"]++
		return
	}
	key := gputide.Key{Partition: partitionCommercial, Region: at.Name, InstanceType: name}
	if len(zones) == 0 {
		zones = []string{""}
	}
	for _, z := range zones {
		key.Zone = at.physical(z)
		s.b.Signal(gputide.Signal{Source: sourceSKUs, Key: key, Name: gputide.SignalAvailability, Value: gputide.AvailabilityYes})
	}
}

// physical returns the zone as every subscription knows it, or the number that
// this one gives it.
func (l *location) physical(zone string) string {
	for _, z := range l.Zones {
		if z.Logical == zone && z.Physical != "" {
			return z.Physical
		}
	}
	return zone
}

// zones returns the zones of a region in which the subscription may use a size,
// none where the size knows no zones. offered is false where it may not be used
// at all: that is a limit of the subscription and says nothing of the region.
func (row *sku) zones(region string) (zones []string, offered bool) {
	zoned := false
	for _, info := range row.LocationInfo {
		if sameName(info.Location, region) {
			zones, zoned = slices.Clone(info.Zones), len(info.Zones) > 0
		}
	}
	for _, r := range row.Restrictions {
		switch {
		case r.Type == "Location" && slices.ContainsFunc(r.Values, func(v string) bool { return sameName(v, region) }):
			return nil, false
		case r.Type == "Zone":
			zones = slices.DeleteFunc(zones, func(z string) bool { return slices.Contains(r.Info.Zones, z) })
		}
	}
	return zones, !zoned || len(zones) > 0
}
