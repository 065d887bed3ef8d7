package ec2api

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// SpotPrice is one row of the spot price history. Empty and zero fields are
// missing from the answer.
type SpotPrice struct {
	InstanceType string
	Product      string // Linux/UNIX, Windows, …
	Price        string // USD an hour, decimal text
	Zone         string // name, of the account
	ZoneID       string
	At           time.Time // since when the price holds
}

// SpotPrices hands the spot prices of the named types and products in a region
// to each: those in force at from and every one after it, until to. A zero to is
// the present, so that from = now gives what is in force. A type may end in an
// asterisk. An error of each ends it.
//
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html
func SpotPrices(
	ctx context.Context, opt Options, region string, from, to time.Time, names, products []string, each func(SpotPrice) error,
) error {
	c := newCall(ctx, opt, region, "DescribeSpotPriceHistory")
	in := &ec2.DescribeSpotPriceHistoryInput{
		StartTime: &from, MaxResults: aws.Int32(1000), Filters: byType(names), ProductDescriptions: products,
	}
	if !to.IsZero() {
		in.EndTime = &to
	}
	return pages(ctx, c, false, func(token *string) ([]types.SpotPrice, *string, error) {
		in.NextToken = token
		out, err := c.ec2.DescribeSpotPriceHistory(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		return out.SpotPriceHistory, out.NextToken, nil
	}, func(p *types.SpotPrice) error {
		return each(SpotPrice{
			InstanceType: string(p.InstanceType), Product: string(p.ProductDescription), Price: aws.ToString(p.SpotPrice),
			Zone: aws.ToString(p.AvailabilityZone), ZoneID: aws.ToString(p.AvailabilityZoneId), At: aws.ToTime(p.Timestamp),
		})
	})
}
