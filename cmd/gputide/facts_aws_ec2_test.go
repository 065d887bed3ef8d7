package main

import (
	"fmt"
	"strings"

	"github.com/gputide/gputide/providers/aws/awstest"
)

// ec2Ask is an exchange with EC2 of a region for requests that contain a text.
func ec2Ask(source, region, contains, file string) exchange {
	return exchange{
		Source: source, Method: "POST", URL: "https://ec2." + region + ".amazonaws.com/", BodyContains: contains, File: file,
		Headers: map[string]string{"Content-Type": "text/xml;charset=UTF-8"},
	}
}

// ec2Of is a fixture of one region of an account that only says so.
func ec2Of(region string, exchanges ...exchange) fixture {
	return fixture{
		exchanges: append(exchanges, ec2Ask("ec2-regions", "us-east-1", "Action=DescribeRegions", "regions.xml")),
		files: map[string][]byte{"regions.xml": []byte(
			`<DescribeRegionsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><regionInfo><item><regionName>` + region +
				`</regionName><optInStatus>opted-in</optInStatus></item></regionInfo></DescribeRegionsResponse>`,
		)},
	}
}

// fromCLI turns what the CLI printed into the wire form; what cannot be turned
// stays as it is, for the crawl to refuse.
func fromCLI(action string, body []byte) []byte {
	wire, err := awstest.FromCLI(action, body)
	if err != nil {
		return body
	}
	return wire
}

const (
	spotHistory = "Action=DescribeSpotPriceHistory"
	wrappedEC2  = "composed answer to DescribeRegions"
)

// p3Page is a composed page feed with the one price that p3.2xlarge had on
// demand in us-east-1 from 2017 to 2026, as the recorded on-demand history says.
const p3Page = `{"regions": {"US East (N. Virginia)": {"p3 2xlarge US East N. Virginia Linux": {
 "rateCode": "COMPOSEDP32XLARG.JRTCKXETXF.6YS6EN2CT7", "price": "3.0600000000", "Location": "US East (N. Virginia)", "Instance Family": "GPU instance",
 "vCPU": "8", "Instance Type": "p3.2xlarge", "Memory": "61 GiB", "Storage": "EBS Only", "Network Performance": "Up to 10 Gigabit",
 "Operating System": "Linux", "Pre Installed S/W": "NA", "License Model": "No License required"}}}}`

func awsEC2Recordings(beside func(string) []byte) []recording {
	var out []recording
	out = append(out, awsSpotRecordings(beside)...)
	out = append(out, awsOfferingRecordings()...)
	return append(out, awsBlockRecordings()...)
}

// awsSpotFixture is a history of spot prices in one region, the same for the
// window and for the present, in the form it has on the wire.
func awsSpotFixture(region string, body []byte) fixture {
	f := ec2Of(region, ec2Ask("spot-history", region, spotHistory, "spot.xml"))
	f.files["spot.xml"] = body
	return f
}

func awsSpotRecordings(beside func(string) []byte) []recording {
	const page2 = "ec2_wire.DescribeSpotPriceHistory.p3_2xlarge.us-east-1.2020-03.page2.xml"
	rows := func(from, to string) []string {
		return []string{"query", "spot", "--provider", "aws", "--over", "rows", "--from", from, "--to", to}
	}
	return []recording{
		{
			name: "ec2_wire.DescribeSpotPriceHistory.p3_2xlarge.us-east-1.2020-03.page1.xml", provider: "aws", at: "2020-03-23T17:00:00Z",
			wrapped: wrappedEC2 + "; the recorded second page; a composed page feed with the on-demand price",
			wrap: func(body []byte) fixture {
				f := awsList("us-east-1", "20200323000000", "json")(nil)
				f.exchanges[2] = exchange{Source: "page-feed", URL: pageURL, File: "page.json"}
				account := ec2Of(
					"us-east-1",
					ec2Ask("spot-history", "us-east-1", "NextToken=EXAMPLE-next-page-token-2", "two.xml"),
					ec2Ask("spot-history", "us-east-1", spotHistory, "one.xml"),
				)
				f.exchanges = append(f.exchanges, account.exchanges...)
				f.files["regions.xml"] = account.files["regions.xml"]
				f.files["one.xml"], f.files["two.xml"], f.files["page.json"] = body, beside(page2), []byte(p3Page)
				return f
			},
			facts: []claim{
				{"the newest of each zone", awsOffers("--market", "spot"), has(
					"zone os price since flags",
					`us-east-1b linux 1.0274 2020-03-23T11:50:20Z ["account_zone"]`, `us-east-1c linux 1.0201 2020-03-23T16:09:42Z ["account_zone"]`,
					`us-east-1d linux 1.1059 2020-03-23T14:12:29Z ["account_zone"]`, `us-east-1f linux 1.0318 2020-03-23T14:29:05Z ["account_zone"]`,
				)},
				{"166 rows in 4 zones, least 0.9907, most 1.1059", rows("2020-03-01", "2020-03-23T16:30:00Z"), has(
					"zone price_samples price_min price_max changes",
					"us-east-1b 42 1.0012 1.0495 40", "us-east-1c 41 0.9907 1.0224 39", "us-east-1d 42 1.0029 1.1059 40", "us-east-1f 41 0.9947 1.0318 39",
				)},
				{"158 price changes", []string{"query", "changes", "--market", "spot", "--kind", "price", "--limit", "0"}, count(158)},
				{"each series finds its on-demand partner", []string{"query", "spot", "--provider", "aws", "--from", "2020-03-13", "--to", "2020-03-23T17:00:01Z"}, has(
					"zone on_demand now_pct best_zone_now",
					"us-east-1b 3.06 66.4248 us-east-1c", "us-east-1c 3.06 66.6634 us-east-1c", "us-east-1d 3.06 63.8595 us-east-1c", "us-east-1f 3.06 66.281 us-east-1c",
				)},
			},
			edits: []mutation{
				{"one digit", "1.020100", "1.020200"},
				{"a second of a moment", "2020-03-23T14:12:29.000Z", "2020-03-23T14:12:28.000Z"},
				{"a required field renamed", "spotPrice>", "price>"},
				{"the token of the next page", "EXAMPLE-next-page-token-2", ""},
				{"two columns swapped", "<availabilityZone>us-east-1c</availabilityZone>", "<availabilityZone>us-east-1b</availabilityZone>"},
				{"another product", "<productDescription>Linux/UNIX", "<productDescription>Windows"},
			},
		},
		{
			name: "ec2_wire.DescribeSpotPriceHistory.empty.xml", provider: "aws", at: "2020-02-27T12:00:00Z", wrapped: wrappedEC2,
			wrap: func(body []byte) fixture { return awsSpotFixture("eu-central-1", body) },
			facts: []claim{
				{"no offer", awsOffers(), count(0)},
				{"the answer was read", []string{"runs", "show"}, sourceCounts("spot-history", map[string]float64{"kept": 0, "omitted.region_without_offers": 1})},
			},
			edits: []mutation{
				{"another answer", "DescribeSpotPriceHistoryResponse", "DescribeRegionsResponse"},
				{"a page more", "<nextToken/>", "<nextToken>two</nextToken>"},
				{"a row", "<spotPriceHistorySet/>", "<spotPriceHistorySet><item><availabilityZone>eu-central-1a</availabilityZone><instanceType>p2.16xlarge</instanceType><productDescription>Linux/UNIX</productDescription><spotPrice>1</spotPrice><timestamp>2020-02-27T00:00:00Z</timestamp></item></spotPriceHistorySet>"},
			},
		},
		{
			name: "selector_describespotpricehistory.m5_large.json", provider: "aws", at: "2021-02-09T02:00:00Z", crawl: []string{"--collect", "all"},
			wrapped: wrappedEC2 + "; the CLI's JSON written as XML",
			wrap: func(body []byte) fixture {
				return awsSpotFixture("us-east-1", fromCLI("DescribeSpotPriceHistory", body))
			},
			facts: []claim{
				{"the newest of 5 zones", awsOffers(), has(
					"instance_type zone os price",
					"m5.large us-east-1a linux 0.0423", "m5.large us-east-1b linux 0.0389", "m5.large us-east-1c linux 0.0381",
					"m5.large us-east-1d linux 0.0431", "m5.large us-east-1f linux 0.0437",
				)},
				{"the newest is of 01:40:10", awsOffers("--zone", "us-east-1f"), has("since", "2021-02-09T01:40:10Z")},
				{"250 rows, least 0.0367, most 0.0437", rows("2021-01-01", "2021-02-09T01:50:00Z"), func(rows []answerRow) error {
					return spotSums(rows, 250, "0.0367", "0.0437")
				}},
			},
			edits: []mutation{
				{"one digit", "0.043700", "0.043800"},
				{"a required field renamed", `"InstanceType"`, `"Type"`},
				{"two columns swapped", `"us-east-1f"`, `"us-east-1e"`},
				{"a row less", `"Timestamp": "2021-02-08T23:58:38+00:00"`, `"Timestamp": "2021-02-09T23:58:38+00:00"`},
			},
		},
		{
			name: "selector_describeavailabilityzones.us-east-2.json", provider: "aws", at: "2020-03-23T17:00:00Z", crawl: []string{"--collect", "all"},
			wrapped: wrappedEC2 + "; the CLI's JSON written as XML; the recorded m5.large history, its zones renamed to those of us-east-2",
			wrap: func(body []byte) fixture {
				history := strings.ReplaceAll(string(beside("ec2_wire.DescribeSpotPriceHistory.p3_2xlarge.us-east-1.2020-03.page1.xml")), "us-east-1", "us-east-2")
				f := awsSpotFixture("us-east-2", []byte(strings.Replace(history, "<nextToken>EXAMPLE-next-page-token-2</nextToken>", "", 1)))
				f.exchanges = append(f.exchanges, ec2Ask("ec2-zones", "us-east-2", "Action=DescribeAvailabilityZones", "zones.xml"))
				f.files["zones.xml"] = fromCLI("DescribeAvailabilityZones", body)
				return f
			},
			facts: []claim{{"names have the ids of the account, those it lacks stay", awsOffers(), has(
				"zone price flags", `use2-az2 1.0274 []`, `use2-az3 1.0201 []`, `us-east-2d 1.1059 ["account_zone"]`, `us-east-2f 1.0318 ["account_zone"]`,
			)}},
			edits: []mutation{
				{"one digit of an id", "use2-az2", "use2-az1"},
				{"a required field renamed", `"ZoneId"`, `"Id"`},
				{"two columns swapped", `"ZoneName": "us-east-2b"`, `"ZoneName": "us-east-2d"`},
			},
		},
	}
}

// spotSums checks the statistics of all series of an answer together.
func spotSums(rows []answerRow, samples float64, least, most string) error {
	total, low, high := 0.0, "9", "0"
	for _, r := range rows {
		n, _ := r.path("price_samples").(float64)
		total += n
		low, high = min(low, r.text("price_min")), max(high, r.text("price_max"))
	}
	if total != samples || low != least || high != most {
		return fmt.Errorf("%g rows from %s to %s, want %g from %s to %s", total, low, high, samples, least, most)
	}
	return nil
}

func awsOfferingRecordings() []recording {
	zones := func(types ...string) []string {
		q := []string{"query", "signals", "--provider", "aws", "--name", "availability"}
		for _, t := range types {
			q = append(q, "--type", t)
		}
		return q
	}
	offered := func(region string) func([]byte) fixture {
		return func(body []byte) fixture {
			f := ec2Of(region, ec2Ask("type-offerings", region, "Action=DescribeInstanceTypeOfferings", "offerings.xml"))
			f.files["offerings.xml"] = body
			return f
		}
	}
	fromJSON := func(region string) func([]byte) fixture {
		return func(body []byte) fixture { return offered(region)(fromCLI("DescribeInstanceTypeOfferings", body)) }
	}
	return []recording{
		{
			name: "ec2_wire.DescribeInstanceTypeOfferings.us-east-1.xml", provider: "aws", at: "2026-08-02T00:00:00Z", wrapped: wrappedEC2,
			wrap: offered("us-east-1"),
			facts: []claim{{"the zones of each type", zones(), has(
				"instance_type zone value label",
				"p5.48xlarge use1-az1 4 available", "p5.48xlarge use1-az2 4 available", "p5.48xlarge use1-az3 4 available", "p5.48xlarge use1-az4 4 available",
				"p5.48xlarge use1-az5 4 available", "p5.48xlarge use1-az6 4 available", "p5en.48xlarge use1-az2 4 available",
				"p5en.48xlarge use1-az6 4 available", "p6-b200.48xlarge use1-az6 4 available",
			)}},
			edits: []mutation{
				{"one digit of a zone", "use1-az6", "use1-az7"},
				{"a required field renamed", "location>", "place>"},
				{"two columns swapped", "<instanceType>p5en.48xlarge", "<instanceType>p5.48xlarge"},
			},
		},
		{
			name: "describe_instance_type_offerings.availability-zone-id.us-east-1.accelerated.json", provider: "aws", at: "2026-08-02T00:00:00Z",
			wrapped: wrappedEC2 + "; the CLI's JSON written as XML", wrap: fromJSON("us-east-1"),
			facts: []claim{
				{"86 types in 329 rows", zones(), both(count(329), distinct("instance_type", 86))},
				{"p6-b200 and p6-b300 in one zone, p5en in two, p5 in six", zones("p6-b200.48xlarge", "p6-b300.48xlarge", "p5en.48xlarge", "p5.48xlarge"), has(
					"instance_type zone", "p6-b200.48xlarge use1-az6", "p6-b300.48xlarge use1-az6", "p5en.48xlarge use1-az2", "p5en.48xlarge use1-az6",
					"p5.48xlarge use1-az1", "p5.48xlarge use1-az2", "p5.48xlarge use1-az3", "p5.48xlarge use1-az4", "p5.48xlarge use1-az5", "p5.48xlarge use1-az6",
				)},
				{"no p5e, p6e-gb200, trn2 or trn2u", zones(), withoutTypes("p5e.48xlarge", "p6e-gb200.36xlarge", "trn2.48xlarge", "trn2u.48xlarge")},
			},
			edits: []mutation{
				{"one digit of a type", "p6-b200.48xlarge", "p6-b300.48xlarge"},
				{"a required field renamed", `"Location"`, `"Place"`},
				{"two columns swapped", `"InstanceType": "p5en.48xlarge"`, `"InstanceType": "use1-az2"`},
			},
		},
		{
			name: "describe_instance_type_offerings.availability-zone.us-west-2.accelerated.json", provider: "aws", at: "2026-08-02T00:00:00Z",
			wrapped: wrappedEC2 + "; the CLI's JSON written as XML; it answers the question for zone names, where we ask for ids", wrap: fromJSON("us-west-2"),
			facts: []claim{
				{"88 types in 290 rows", zones(), both(count(290), distinct("instance_type", 88))},
				{"p6-b200 in three zones, p6-b300 in one, p5en in three, p5e in us-west-2c", zones("p6-b200.48xlarge", "p6-b300.48xlarge", "p5en.48xlarge", "p5e.48xlarge"), has(
					"instance_type zone", "p6-b200.48xlarge us-west-2a", "p6-b200.48xlarge us-west-2b", "p6-b200.48xlarge us-west-2d", "p6-b300.48xlarge us-west-2a",
					"p5en.48xlarge us-west-2a", "p5en.48xlarge us-west-2c", "p5en.48xlarge us-west-2d", "p5e.48xlarge us-west-2c",
				)},
			},
			edits: []mutation{
				{"one letter of a zone", "us-west-2c", "us-west-2d"},
				{"a required field renamed", `"InstanceType"`, `"Type"`},
				{"two columns swapped", `"InstanceType": "p5e.48xlarge"`, `"InstanceType": "p5en.48xlarge"`},
			},
		},
	}
}

func awsBlockRecordings() []recording {
	// The one type that EC2 sells in blocks there, as the recorded answer of
	// DescribeInstanceTypes has it; the longer blocks are none.
	const p4d = `{"InstanceTypes":[{"InstanceType":"p4d.24xlarge","SupportedUsageClasses":["on-demand","spot","capacity-block"]}]}`
	blocks := func(body []byte) fixture {
		f := ec2Of(
			"us-east-2",
			ec2Ask("block-offerings", "us-east-2", "CapacityDurationHours=24&", "blocks.xml"),
			ec2Ask("block-offerings", "us-east-2", "Action=DescribeCapacityBlockOfferings", "none.xml"),
		)
		types, err := awstest.InstanceTypes([]byte(p4d))
		if err == nil {
			f.files["types.xml"], err = awstest.InstanceTypesXML(types, "")
		}
		if err != nil {
			panic(err) // a literal of this file
		}
		for _, region := range []string{"us-east-1", "us-east-2", "us-west-2"} {
			f.exchanges = append(f.exchanges, ec2Ask("instance-types", region, "Action=DescribeInstanceTypes", "types.xml"))
		}
		f.files["blocks.xml"] = body
		f.files["none.xml"] = []byte(`<DescribeCapacityBlockOfferingsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><capacityBlockOfferingSet/></DescribeCapacityBlockOfferingsResponse>`)
		return f
	}
	const wrapped = wrappedEC2 + "; a composed answer to DescribeInstanceTypes, and none for longer blocks"
	return []recording{
		{
			name: "ec2_wire.DescribeCapacityBlockOfferings.p4d.us-east-2.2025-02.xml", provider: "aws", at: "2025-02-14T16:00:00Z", wrapped: wrapped, wrap: blocks,
			facts: []claim{
				{"fee by hours, a first part of a day too", awsOffers("--market", "capacity_block"), has(
					"instance_type zone term payment stat currency upfront price price_per_accelerator",
					"p4d.24xlarge us-east-2a 24h all min USD 283 11.791666667 1.473958333",
					"p4d.24xlarge us-east-2a 19h all min USD 228 12 1.5",
					"p4d.24xlarge us-east-2a 43h all min USD 511 11.88372093 1.485465116",
				)},
			},
			edits: []mutation{
				{"one digit of a fee", "<upfrontFee>283", "<upfrontFee>284"},
				{"one digit of the hours", "DurationHours>19", "DurationHours>18"},
				{"two instances", "<instanceCount>1", "<instanceCount>2"},
				{"another currency", "<currencyCode>USD", "<currencyCode>EUR"},
				{"a required field renamed", "upfrontFee>", "fee>"},
				{"a start in a month", "2025-02-15T11:30", "2025-03-15T11:30"},
			},
		},
		{
			name: "capacity_block_offerings.p4d.us-east-2.2025-02.cli_projection.json", provider: "aws", at: "2025-02-14T16:00:00Z",
			wrapped: wrapped + "; the CLI's JSON, without the list around it, written as XML",
			wrap: func(body []byte) fixture {
				return blocks(fromCLI("DescribeCapacityBlockOfferings", []byte(`{"CapacityBlockOfferings":`+string(body)+`}`)))
			},
			facts: []claim{
				{"a row that does not name its type is no offer", awsOffers(), count(0)},
				{"it is refused and counted", []string{"runs", "show"}, sourceCounts("block-offerings", map[string]float64{"kept": 0, "skipped.bad_row": 3})},
			},
			edits: []mutation{
				{"a row that names it", `"UpfrontFee": "283"`, `"UpfrontFee": "283", "InstanceType": "p4d.24xlarge", "InstanceCount": 1, "CurrencyCode": "USD"`},
				{"no JSON", `[`, `{`},
				{"a number for a text", `"UpfrontFee": "283"`, `"UpfrontFee": 283`},
			},
		},
	}
}
