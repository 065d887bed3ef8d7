package ec2api

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Block is a capacity block on offer. Empty and zero fields are missing from the
// answer.
type Block struct {
	ID           string
	InstanceType string
	Zone         string // name, of the account
	Instances    int32
	Start, End   time.Time
	Hours        int32
	Minutes      int32  // beyond Hours
	Fee          string // of the whole block, decimal text
	Currency     string
	Tenancy      string
}

// Blocks hands the capacity blocks of one instance of a type in a region to
// each: those that last about the given hours and start by latest. An error of each ends it.
//
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityBlockOfferings.html
func Blocks(ctx context.Context, opt Options, region, instanceType string, hours int32, from, latest time.Time, each func(Block) error) error {
	c := newCall(ctx, opt, region, "DescribeCapacityBlockOfferings")
	end := latest.Add(time.Duration(hours) * time.Hour)
	in := &ec2.DescribeCapacityBlockOfferingsInput{
		InstanceType: &instanceType, InstanceCount: aws.Int32(1), CapacityDurationHours: &hours,
		StartDateRange: &from, EndDateRange: &end,
	}
	return pages(ctx, c, false, func(token *string) ([]types.CapacityBlockOffering, *string, error) {
		in.NextToken = token
		out, err := c.ec2.DescribeCapacityBlockOfferings(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		return out.CapacityBlockOfferings, out.NextToken, nil
	}, func(b *types.CapacityBlockOffering) error {
		return each(Block{
			ID: aws.ToString(b.CapacityBlockOfferingId), InstanceType: aws.ToString(b.InstanceType),
			Zone: aws.ToString(b.AvailabilityZone), Instances: aws.ToInt32(b.InstanceCount),
			Start: aws.ToTime(b.StartDate), End: aws.ToTime(b.EndDate),
			Hours: aws.ToInt32(b.CapacityBlockDurationHours), Minutes: aws.ToInt32(b.CapacityBlockDurationMinutes),
			Fee: aws.ToString(b.UpfrontFee), Currency: aws.ToString(b.CurrencyCode), Tenancy: string(b.Tenancy),
		})
	})
}
