package ec2api

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Region is a region as the account sees it.
type Region struct {
	Code    string
	Enabled bool // else it must be opted into before anything can be asked there
}

// Regions returns every region of the partition, asked in region.
//
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeRegions.html
func Regions(ctx context.Context, opt Options, region string) ([]Region, error) {
	c := newCall(ctx, opt, region, "DescribeRegions")
	var out []Region
	err := pages(ctx, c, true, func(*string) ([]types.Region, *string, error) {
		answer, err := c.ec2.DescribeRegions(ctx, &ec2.DescribeRegionsInput{AllRegions: aws.Bool(true)})
		if err != nil {
			return nil, nil, err
		}
		return answer.Regions, nil, nil
	}, func(r *types.Region) error {
		if aws.ToString(r.RegionName) == "" {
			return c.drift("regionInfo.item.regionName", "a region code")
		}
		out = append(out, Region{Code: *r.RegionName, Enabled: aws.ToString(r.OptInStatus) != "not-opted-in"})
		return nil
	})
	return out, err
}

// Zones maps the zone names of the account in a region to zone ids.
//
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeAvailabilityZones.html
func Zones(ctx context.Context, opt Options, region string) (map[string]string, error) {
	c := newCall(ctx, opt, region, "DescribeAvailabilityZones")
	out := map[string]string{}
	err := pages(ctx, c, true, func(*string) ([]types.AvailabilityZone, *string, error) {
		answer, err := c.ec2.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{AllAvailabilityZones: aws.Bool(true)})
		if err != nil {
			return nil, nil, err
		}
		return answer.AvailabilityZones, nil, nil
	}, func(z *types.AvailabilityZone) error {
		if aws.ToString(z.ZoneName) == "" || aws.ToString(z.ZoneId) == "" {
			return c.drift("availabilityZoneInfo.item", "a zone name and its id")
		}
		out[*z.ZoneName] = *z.ZoneId
		return nil
	})
	return out, err
}

// Offering is an instance type that can be had at a location.
type Offering struct {
	InstanceType string
	Location     string // zone id
}

// Offerings hands every offering of the named types in the zones of a region to
// each. A name may end in an asterisk.
//
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html
func Offerings(ctx context.Context, opt Options, region string, names []string, each func(Offering)) error {
	c := newCall(ctx, opt, region, "DescribeInstanceTypeOfferings")
	in := &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: types.LocationTypeAvailabilityZoneId, MaxResults: aws.Int32(1000), Filters: byType(names),
	}
	return pages(ctx, c, false, func(token *string) ([]types.InstanceTypeOffering, *string, error) {
		in.NextToken = token
		out, err := c.ec2.DescribeInstanceTypeOfferings(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		return out.InstanceTypeOfferings, out.NextToken, nil
	}, func(o *types.InstanceTypeOffering) error {
		if o.InstanceType == "" || aws.ToString(o.Location) == "" {
			return c.drift("instanceTypeOfferingSet.item", "an instance type and a location")
		}
		if t := o.LocationType; t != "" && t != types.LocationTypeAvailabilityZoneId {
			return c.drift("instanceTypeOfferingSet.item.locationType", string(types.LocationTypeAvailabilityZoneId))
		}
		each(Offering{InstanceType: string(o.InstanceType), Location: *o.Location})
		return nil
	})
}

// byType filters an answer to instance types.
func byType(names []string) []types.Filter {
	if len(names) == 0 {
		return nil
	}
	return []types.Filter{{Name: aws.String("instance-type"), Values: names}}
}
