package awstest_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gputide/gputide/providers/aws/awstest"
)

type answer string

func (a answer) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// TestRoundTrip shows that the SDK reads back every field that was written.
func TestRoundTrip(t *testing.T) {
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	cli, err := os.ReadFile(filepath.Join(dir, "payloads", "aws", "describe_instance_types.accelerated.json"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := awstest.InstanceTypes(cli)
	if err != nil || len(want) != 75 {
		t.Fatalf("%d types, %v", len(want), err)
	}
	text, err := awstest.InstanceTypesXML(want, "")
	if err != nil {
		t.Fatal(err)
	}
	client := ec2.New(ec2.Options{Region: "us-east-1", HTTPClient: answer(text), Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	got, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got.InstanceTypes, exported(), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

func exported() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && unicode.IsLower([]rune(f.Name())[0])
	}, cmp.Ignore())
}

// TestRoundTripOfTheCLI shows the same of the other actions.
func TestRoundTripOfTheCLI(t *testing.T) {
	at, id := time.Date(2021, 2, 9, 1, 40, 10, 0, time.UTC), "cb-0bfad2f7fb1b4478a"
	cli := `{
	"SpotPriceHistory": [{"AvailabilityZone": "us-east-1f", "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.043700", "Timestamp": "2021-02-09T01:40:10+00:00"}],
	"InstanceTypeOfferings": [{"LocationType": "availability-zone", "InstanceType": "m5.12xlarge", "Location": "us-east-2z"}],
	"AvailabilityZones": [{"State": "available", "OptInStatus": "opt-in-not-required", "Messages": [], "RegionName": "us-east-2", "ZoneName": "us-east-2a", "ZoneId": "use2-az1"}],
	"CapacityBlockOfferings": [{"CapacityBlockOfferingId": "` + id + `", "AvailabilityZone": "us-east-2a", "StartDate": "2021-02-09T01:40:10+00:00", "CapacityBlockDurationHours": 24, "UpfrontFee": "283"}]}`
	client := func(action string) *ec2.Client {
		text, err := awstest.FromCLI(action, []byte(cli))
		if err != nil {
			t.Fatal(err)
		}
		return ec2.New(ec2.Options{Region: "us-east-1", HTTPClient: answer(text), Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	}
	spot, err1 := client("DescribeSpotPriceHistory").DescribeSpotPriceHistory(t.Context(), &ec2.DescribeSpotPriceHistoryInput{})
	offerings, err2 := client("DescribeInstanceTypeOfferings").DescribeInstanceTypeOfferings(t.Context(), &ec2.DescribeInstanceTypeOfferingsInput{})
	zones, err3 := client("DescribeAvailabilityZones").DescribeAvailabilityZones(t.Context(), &ec2.DescribeAvailabilityZonesInput{})
	blocks, err4 := client("DescribeCapacityBlockOfferings").DescribeCapacityBlockOfferings(t.Context(), &ec2.DescribeCapacityBlockOfferingsInput{CapacityDurationHours: new(int32(24))})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	want := []any{
		[]types.SpotPrice{{AvailabilityZone: new("us-east-1f"), InstanceType: "m5.large", ProductDescription: "Linux/UNIX", SpotPrice: new("0.043700"), Timestamp: &at}},
		[]types.InstanceTypeOffering{{LocationType: "availability-zone", InstanceType: "m5.12xlarge", Location: new("us-east-2z")}},
		[]types.AvailabilityZone{{State: "available", OptInStatus: "opt-in-not-required", RegionName: new("us-east-2"), ZoneName: new("us-east-2a"), ZoneId: new("use2-az1")}},
		[]types.CapacityBlockOffering{{CapacityBlockOfferingId: &id, AvailabilityZone: new("us-east-2a"), StartDate: &at, CapacityBlockDurationHours: new(int32(24)), UpfrontFee: new("283")}},
	}
	got := []any{spot.SpotPriceHistory, offerings.InstanceTypeOfferings, zones.AvailabilityZones, blocks.CapacityBlockOfferings}
	if d := cmp.Diff(want, got, exported(), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if _, err := awstest.FromCLI("DescribeImages", []byte(cli)); err == nil {
		t.Error("an action without a form has one")
	}
}
