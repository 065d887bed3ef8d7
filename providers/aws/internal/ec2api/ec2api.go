// Package ec2api asks EC2 for its instance types, zones, spot prices and
// capacity blocks. It is the only package that imports the EC2 client of the AWS
// SDK, which takes a minute to compile.
//
// The client gets everything from its caller: transport, key and logger. It
// reads no shared configuration and asks no metadata service.
package ec2api

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/gputide/gputide"
)

// Options say how EC2 is asked.
type Options struct {
	Source    string // source ID, for errors
	Partition string
	HTTP      *http.Client // retries by itself
	Logger    *slog.Logger // takes what the SDK has to say; nil discards it

	AccessKeyID, SecretAccessKey, SessionToken string
}

// URL returns the address at which EC2 of a region is asked.
func URL(region string) string { return "https://" + Host(region) + "/" }

// Host returns the host of EC2 in a region of the commercial partition.
func Host(region string) string { return "ec2." + region + ".amazonaws.com" }

// Type is an instance type as EC2 describes it.
type Type struct {
	Spec   gputide.Spec
	Blocks bool // sold in capacity blocks
}

// InstanceTypes hands every instance type of a region to each. A page that
// cannot be read ends it with an error; the types before it were read well.
//
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
func InstanceTypes(ctx context.Context, opt Options, region string, each func(Type)) error {
	c := newCall(ctx, opt, region, "DescribeInstanceTypes")
	in := &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(100)} // the most it gives
	return pages(ctx, c, true, func(token *string) ([]types.InstanceTypeInfo, *string, error) {
		in.NextToken = token
		out, err := c.ec2.DescribeInstanceTypes(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		return out.InstanceTypes, out.NextToken, nil
	}, func(t *types.InstanceTypeInfo) error {
		if t.InstanceType == "" {
			return c.drift("instanceTypeSet.item.instanceType", "a name")
		}
		s := specOf(t)
		s.Source, s.Partition = opt.Source, opt.Partition
		each(Type{Spec: s, Blocks: sells(t, types.UsageClassTypeCapacityBlock)})
		return nil
	})
}
