// Package aws reads what Amazon EC2 charges for instances: on demand, reserved
// and under savings plans, of every operating system, license and tenancy, in
// the commercial, GovCloud and China partitions; what EC2 says of instance
// types; and how often spot instances are interrupted.
//
// Source: the bulk price list, https://pricing.us-east-1.amazonaws.com and
// https://pricing.cn-north-1.amazonaws.com.cn (offer index, region index or
// version index, one file per region in CSV and JSON), documented at
// https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html;
// the bulk lists of compute savings plans beside it (region index, one file per
// region in CSV and JSON), whose rates name the on-demand product they discount
// by SKU only and are joined with the list of the same crawl;
// the feed of the price pages at https://b0.p.awsstatic.com (undocumented, on
// demand Linux only); the page of capacity block rates,
// https://aws.amazon.com/ec2/capacityblocks/pricing/; the Spot Instance Advisor data at
// https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json; and EC2 in
// each region of the commercial partition: DescribeInstanceTypes,
// DescribeSpotPriceHistory, DescribeInstanceTypeOfferings,
// DescribeCapacityBlockOfferings, and DescribeRegions and
// DescribeAvailabilityZones that lead to them.
//
// Auth: none, but for EC2, which needs any account's key. Without one a table of
// accelerators stands in for DescribeInstanceTypes, and the feed of the old spot
// price page, https://spot-price.s3.amazonaws.com/spot.js, for spot prices.
//
// Markets: on_demand and commitment (reserved instances and the compute and
// EC2-instance savings plans). Amounts are USD, in China CNY, per instance and
// hour, with the upfront fee beside it. A savings plan rate is what an hour
// costs whichever part of the commitment is paid upfront; lists state no fee.
// Lists are published several times a week; the spot advisor daily.
//
// Spot prices stand under the id of their zone. Each is read twice: its changes
// since the last crawl, of 90 days the first time, as events at their own
// moments, and then what is in force. Only accelerated types are asked for. A
// capacity block on offer has the hours it lasts as its term and its dates
// beside its id; of each length the cheapest start within two weeks is kept. The
// rates page states none of these: its rates are list prices without a term.
//
// Unverified: savings plan lists of China, read where the offer index of China
// names them; the form of the page of capacity block rates, of which only the
// text is recorded (its tables are found by their headings); the feed of the old spot price page, whose form is that of the
// on-demand page of its time; filtering by instance type with an asterisk.
//
// Known gaps: savings plans of SageMaker and databases, dedicated hosts, spot
// prices of GovCloud and China (their EC2 needs an account of its own), spot
// placement scores (EC2 scores mixes of three types and more, and gives any one
// type a low score), and what the lists do not say of accelerators: the model
// comes from EC2 or the table.
//
// Verified: 2026-09-10, against excerpts of lists of 2017 to 2026.
package aws

import (
	"log/slog"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// IDs of the sources. Those of a price list have the suffix of its book: none,
// or -cn for China.
const (
	sourceTypes    = "instance-types"
	sourceCSV      = "bulk-csv"
	sourceJSON     = "bulk-json"
	sourcePlanCSV  = "savings-plan-csv"
	sourcePlanJSON = "savings-plan-json"
	sourcePage     = "page-feed"
	sourceFamilies = "families"
	sourceOffers   = "offer-index"
	sourceRegions  = "region-index"
	sourceVersions = "version-index"
	sourcePlans    = "savings-plan-index"
	sourceAdvisor  = "spot-advisor"
)

// Environment variables of the EC2 key.
const (
	envKeyID  = "GPUTIDE_AWS_ACCESS_KEY_ID"
	envSecret = "GPUTIDE_AWS_SECRET_ACCESS_KEY"
	envToken  = "GPUTIDE_AWS_SESSION_TOKEN"
)

const (
	pageHost    = "b0.p.awsstatic.com"
	advisorHost = "spot-bid-advisor.s3.amazonaws.com"

	docBulk = "https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html"
)

// maxList caps one price list: us-east-1 has 480 MB in JSON (2026-09), the list
// of all regions several GB.
const maxList = 16 << 30

// Config says whose key is used and what is read. The zero value reads
// everything that needs no key.
type Config struct {
	AccessKeyID     string
	SecretAccessKey string
	SessionToken    string // of temporary keys; may be empty

	// Regions limits the crawl to these region codes; empty is every region.
	Regions []string

	// Logger takes what the AWS SDK has to say; nil discards it.
	Logger *slog.Logger
}

// Provider crawls AWS.
type Provider struct {
	http      *fetch.Client
	cfg       Config
	described described
}

var (
	_ gputide.Provider    = (*Provider)(nil)
	_ gputide.SpecCrawler = (*Provider)(nil)
)

// New returns the provider on f.
func New(f *fetch.Fetcher, cfg Config) *Provider {
	p := &Provider{http: f.Client(info()), cfg: cfg}
	for _, secret := range []string{cfg.SecretAccessKey, cfg.SessionToken} {
		if secret != "" {
			p.http.AddSecret(secret)
		}
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	return gputide.Info{
		Name:       "aws",
		Title:      "Amazon Web Services EC2",
		TitleZH:    "亚马逊云科技",
		Home:       "https://aws.amazon.com/ec2/pricing/on-demand/",
		Sources:    sources(),
		Markets:    []gputide.Market{gputide.OnDemand, gputide.Spot, gputide.Commitment, gputide.CapacityBlock},
		Currencies: []gputide.Currency{"USD", "CNY"},
		Partitions: []string{partitionCommercial, partitionChina, partitionGov},
		Cadence:    24 * time.Hour,
		Paces:      []gputide.Pace{{Market: gputide.Spot, Cadence: 10 * time.Minute}},
		Deadline:   3 * time.Hour,
		// Static files behind a CDN; the hosts state no limit.
		RequestsPerSecond: 4,
		Evidence:          gputide.EvidenceComposed,
		Note:              "No dedicated hosts; EC2 is asked in the commercial partition only.",
	}
}

// sources lists the sources in their order of authority: of instance types, of
// prices, and what leads to prices or stands beside them. CSV stands before JSON
// because it reads faster, from a smaller body (BenchmarkReadCSV,
// BenchmarkReadJSON).
func sources() []gputide.Source {
	out := []gputide.Source{ec2Source(
		sourceTypes, "DescribeInstanceTypes", "instance types with their accelerators, memory and network as EC2 reports them", false,
	)}
	for _, k := range books() {
		out = append(out, k.lists()...)
	}
	out = append(out, accountPrices()...)
	out = append(
		out,
		gputide.Source{
			ID: sourcePage, Title: "Feed of the on-demand price page, Linux only",
			URL: "https://" + pageHost + pagePath + "*/Linux/index.json", Doc: "https://aws.amazon.com/ec2/pricing/on-demand/",
			Hosts: []string{pageHost}, Auth: gputide.AuthNone, Prices: true, MaxBytes: 16 << 20,
		},
		blockPage(),
		gputide.Source{
			ID: sourceFamilies, Title: "Accelerators of instance types", Doc: "https://aws.amazon.com/ec2/instance-types/", Auth: gputide.AuthNone,
		},
	)
	for _, k := range books() {
		out = append(out, k.indexes()...)
	}
	out = append(out, accountFacts()...)
	return append(out, gputide.Source{
		ID: sourceAdvisor, Title: "Spot interruption bands and savings", URL: advisorURL,
		Doc: "https://aws.amazon.com/ec2/spot/instance-advisor/", Hosts: []string{advisorHost}, Auth: gputide.AuthNone, MaxBytes: 16 << 20,
	})
}
