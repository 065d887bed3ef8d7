package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Wire facts of AWS that the wrapping uses: the offer index, the region index
// and the addresses they lead to. formats/aws.md of the shared notes, section 1.
const (
	awsHost    = "https://pricing.us-east-1.amazonaws.com"
	awsCNHost  = "https://pricing.cn-north-1.amazonaws.com.cn"
	awsRoot    = "/offers/v1.0/aws/"
	awsCNRoot  = "/offers/v1.0/cn/"
	advisorURL = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"
	pageURL    = "https://b0.p.awsstatic.com/pricing/2.0/meteredUnitMaps/ec2/USD/current/ec2-ondemand-without-sec-sel/US%20East%20(N.%20Virginia)/Linux/index.json"
)

// asJSON marshals v for a fixture.
func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a literal of this file
	}
	return b
}

func awsOfferIndex(root string) []byte {
	return asJSON(map[string]any{"offers": map[string]any{"AmazonEC2": map[string]any{
		"offerCode":             "AmazonEC2",
		"versionIndexUrl":       root + "AmazonEC2/index.json",
		"currentVersionUrl":     root + "AmazonEC2/current/index.json",
		"currentRegionIndexUrl": root + "AmazonEC2/current/region_index.json",
	}}})
}

// awsList wraps one price list of a region in a composed offer and region index.
func awsList(region, version, form string) func([]byte) fixture {
	host, root, suffix := awsHost, awsRoot, ""
	if strings.HasPrefix(region, "cn-") {
		host, root, suffix = awsCNHost, awsCNRoot, "-cn"
	}
	path := root + "AmazonEC2/" + version + "/" + region + "/index."
	return func(body []byte) fixture {
		return fixture{
			exchanges: []exchange{
				{Source: "offer-index" + suffix, URL: host + root + "index.json", File: "offers.json"},
				{Source: "region-index" + suffix, URL: host + root + "AmazonEC2/current/region_index.json", File: "regions.json"},
				{Source: "bulk-" + form + suffix, URL: host + path + form, File: "list." + form},
			},
			files: map[string][]byte{
				"offers.json": awsOfferIndex(root),
				"regions.json": asJSON(map[string]any{"regions": map[string]any{region: map[string]any{
					"regionCode": region, "currentVersionUrl": path + "json",
				}}}),
				"list." + form: body,
			},
		}
	}
}

const wrappedList = "composed offer index and region index"

// awsOffers asks for every offer of one kind, hidden ones too.
func awsOffers(more ...string) []string {
	return append([]string{"query", "offers", "--provider", "aws", "--all"}, more...)
}

func awsRecordings() []recording {
	var out []recording
	out = append(out, awsBulkRecordings()...)
	out = append(out, awsOlderRecordings()...)
	out = append(out, awsIndexRecordings()...)
	return append(out, awsFeedRecordings()...)
}

// linuxShared are the arguments for "one Linux on-demand rate".
func linuxShared() []string {
	return awsOffers("--market", "on_demand", "--os", "linux", "--tenancy", "shared", "--license", "-")
}

func awsBulkRecordings() []recording {
	const fields = "region instance_type price"
	everything := []string{"--collect", "all"}
	return []recording{
		{
			name: "bulk_offer_excerpt.us-east-1.2026-09-10.json", provider: "aws", at: "2026-09-10T19:55:14Z", crawl: everything,
			wrap: awsList("us-east-1", "20260910195514", "json"), wrapped: wrappedList,
			facts: []claim{
				{"9 Linux on-demand rates", linuxShared(), has(
					fields,
					"us-east-1 t3.micro 0.0104", "us-east-1 m5.xlarge 0.192", "us-east-1 g4dn.xlarge 0.526", "us-east-1 g5.2xlarge 1.212",
					"us-east-1 g6.xlarge 0.8048", "us-east-1 inf2.xlarge 0.7582", "us-east-1 p4d.24xlarge 21.957642",
					"us-east-1 p5.48xlarge 55.04", "us-east-1 trn1.32xlarge 21.5",
				)},
				{
					"two Windows rates of m5.xlarge, licensed and BYOL", awsOffers("--type", "m5.xlarge", "--os", "windows"),
					has("license tenancy price", "<null> shared 0.376", "byol shared 0.192"),
				},
				{"SQL Std is a license", awsOffers("--type", "m5.xlarge", "--license", "sql_std"), has("os price", "linux 0.672")},
				{"dedicated is a tenancy", awsOffers("--type", "m5.xlarge", "--tenancy", "dedicated"), has("os price", "linux 0.204")},
				{"no other offer of m5.xlarge", awsOffers("--type", "m5.xlarge"), count(5)},
				{"the capacity block at 0 is no offer", awsOffers("--type", "p5.48xlarge"), has("market price", "on_demand 55.04")},
				{"rows left out are counted by reason", []string{"runs", "show"}, sourceCounts("bulk-json", map[string]float64{
					"omitted.capacity_block_twin": 1, "omitted.infrastructure_twin": 1, "omitted.unused_capacity": 1,
					"omitted.no_instance_type": 1, "read": 17, "kept": 13,
				})},
				{"p5.48xlarge is eight H100 SXM", awsOffers("--type", "p5.48xlarge"), has("accelerator.slug accelerator.count vcpu memory_gib", "h100-sxm-80gb 8 192 2048")},
			},
			edits: []mutation{
				{"one digit of a rate", "55.0400000000", "55.0500000000"},
				{"the last digit of a rate", "21.9576420000", "21.9576430000"},
				{"a rate renamed", "pricePerUnit", "priceUnit"},
				{"a required attribute renamed", `"operatingSystem"`, `"os"`},
				{"a required attribute removed", `"capacitystatus": "UnusedCapacityReservation",`, ``},
				{"two columns swapped", `"instanceType": "p4d.24xlarge"`, `"instanceType": "p5.48xlarge"`},
				{"tenancy and license swapped", `"tenancy": "Dedicated"`, `"tenancy": "Shared"`},
				{"another currency", `"USD"`, `"EUR"`},
			},
		},
		{
			name: "bulk_offer_excerpt.us-west-2.2026-09-10.json", provider: "aws", at: "2026-09-10T19:55:14Z", crawl: everything,
			wrap: awsList("us-west-2", "20260910195514", "json"), wrapped: wrappedList,
			facts: []claim{{"9 Linux on-demand rates, p4d different in the sixth decimal", linuxShared(), has(
				fields,
				"us-west-2 t3.micro 0.0104", "us-west-2 m5.xlarge 0.192", "us-west-2 g4dn.xlarge 0.526", "us-west-2 g5.2xlarge 1.212",
				"us-west-2 g6.xlarge 0.8048", "us-west-2 inf2.xlarge 0.7582", "us-west-2 p4d.24xlarge 21.95764",
				"us-west-2 p5.48xlarge 55.04", "us-west-2 trn1.32xlarge 21.5",
			)}},
			edits: []mutation{
				{"the sixth decimal", "21.9576400000", "21.9576420000"},
				{"a required field renamed", `"sku"`, `"sku_"`},
				{"two columns swapped", `"regionCode": "us-west-2"`, `"regionCode": "us-east-1"`},
			},
		},
		{
			name: "bulk_offer_excerpt.eu-west-1.2026-09-10.json", provider: "aws", at: "2026-09-10T19:55:14Z", crawl: everything,
			wrap: awsList("eu-west-1", "20260910195514", "json"), wrapped: wrappedList,
			facts: []claim{
				{"6 Linux on-demand rates", linuxShared(), has(
					fields,
					"eu-west-1 t3.micro 0.0114", "eu-west-1 m5.xlarge 0.214", "eu-west-1 g4dn.xlarge 0.587", "eu-west-1 g5.2xlarge 1.35296",
					"eu-west-1 inf2.xlarge 0.94775", "eu-west-1 p4d.24xlarge 23.71569",
				)},
				{"no g6, p5 or trn1 at all", awsOffers(), withoutTypes("g6.xlarge", "p5.48xlarge", "trn1.32xlarge")},
			},
			edits: []mutation{
				{"one digit", "1.3529600000", "1.3529500000"},
				{"a required field renamed", `"OnDemand": {`, `"OnDemands": {`},
				{"two columns swapped", `"operatingSystem": "Linux"`, `"operatingSystem": "Shared"`},
			},
		},
		{
			name: "bulk_offer_excerpt.us-east-1.p4d_capacityblock.2024-05.json", provider: "aws", at: "2024-05-28T20:35:22Z", crawl: everything,
			wrap: awsList("us-east-1", "20240528203522", "json"), wrapped: wrappedList,
			facts: []claim{
				{"p4d.24xlarge on demand and no block at 0", awsOffers(), has("instance_type market price", "p4d.24xlarge on_demand 32.7726")},
				{"the block is counted", []string{"runs", "show"}, sourceCounts("bulk-json", map[string]float64{"omitted.capacity_block_twin": 1, "kept": 1})},
			},
			edits: []mutation{
				{"one digit", "32.7726000000", "32.7727000000"},
				{"a required field renamed", `"marketoption"`, `"market"`},
				{"two columns swapped", `"CapacityBlock"`, `"OnDemand"`},
			},
		},
	}
}

func awsOlderRecordings() []recording {
	everything := []string{"--collect", "all"}
	return []recording{
		{
			name: "bulk_offer_excerpt.us-east-2.2023-03.json", provider: "aws", at: "2023-03-22T14:56:51Z", crawl: everything,
			wrap: awsList("us-east-2", "20230322145651", "json"), wrapped: wrappedList,
			facts: []claim{
				{"no Linux on-demand offer", linuxShared(), count(0)},
				{"p3.8xlarge Windows BYOL", awsOffers("--market", "on_demand"), has(
					"instance_type os license price accelerator.count", "p3.8xlarge windows byol 12.24 4",
				)},
				{"the volume is left out, the misfiled term skipped", []string{"runs", "show"}, sourceCounts("bulk-json", map[string]float64{
					"read": 3, "kept": 1, "omitted.other_product_family": 1, "skipped.bad_term": 1,
				})},
			},
			edits: []mutation{
				{"one digit", "12.2400000000", "12.2500000000"},
				{"a required field renamed", `"licenseModel"`, `"license"`},
				{"two columns swapped", `"operatingSystem" : "Windows"`, `"operatingSystem" : "Linux"`},
			},
		},
		{
			name: "bulk_offer_excerpt.cn-northwest-1.2023-03.json", provider: "aws", at: "2023-03-14T15:47:40Z", crawl: everything,
			wrap: awsList("cn-northwest-1", "20230314154740", "json"), wrapped: wrappedList,
			facts: []claim{
				{"no compute offer", awsOffers(), count(0)},
				{"the volume in CNY is read and left out", []string{"runs", "show"}, sourceCounts("bulk-json-cn", map[string]float64{
					"read": 1, "omitted.other_product_family": 1, "kept": 0,
				})},
			},
			edits: []mutation{
				{"the family, one letter", `"Storage"`, `"Compute Instance"`},
				{"a required field renamed", `"productFamily"`, `"family"`},
				{"two columns swapped", `"terms"`, `"products"`},
			},
		},
		{
			name: "bulk_offer.excerpt.2025-09-12.csv", provider: "aws", at: "2025-09-12T22:53:08Z", crawl: everything,
			wrap: awsList("ap-northeast-1", "20250912225308", "csv"), wrapped: wrappedList,
			facts: []claim{
				{"two rows are one reserved term", awsOffers(), has(
					"instance_type market plan term payment os license tenancy price published.amount upfront",
					"c6i.large commitment ri_standard 3y partial windows sql_web dedicated 0.209272314 0.1046300000 2750",
				)},
				{"no Linux, shared or on-demand offer", awsOffers("--market", "on_demand"), count(0)},
			},
			edits: []mutation{
				{"one digit of the rate", `"0.1046300000"`, `"0.1046400000"`},
				{"one digit of the fee", `"2750"`, `"2751"`},
				{"a required column renamed", `"PricePerUnit"`, `"Price"`},
				{"two columns swapped", `"Tenancy","EBS Optimized"`, `"EBS Optimized","Tenancy"`},
				{"term columns swapped", `"LeaseContractLength","PurchaseOption"`, `"PurchaseOption","LeaseContractLength"`},
			},
		},
		{
			name: "bulk_offer.excerpt.2017-03-02.csv", provider: "aws", at: "2017-03-02T18:32:21Z", crawl: everything,
			wrap: awsList("us-east-2", "20170302183221", "csv"), wrapped: wrappedList,
			facts: []claim{
				{"one reserved row without the columns of later years", awsOffers(), has(
					"region instance_type market plan term payment os tenancy price",
					"us-east-2 m4.xlarge commitment ri_standard 1y none rhel dedicated 0.223",
				)},
				{"no Linux shared on-demand offer", linuxShared(), count(0)},
			},
			edits: []mutation{
				{"one digit", `"0.2230000000"`, `"0.2240000000"`},
				{"a required column renamed", `"Operating System"`, `"OS"`},
				{"two columns swapped", `"PurchaseOption","OfferingClass"`, `"OfferingClass","PurchaseOption"`},
			},
		},
	}
}

func awsIndexRecordings() []recording {
	// beside reads another recording of the same folder, to stand behind an index.
	beside := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(os.Getenv("GPUTIDE_SHARED"), "payloads", "aws", name))
		if err != nil {
			panic(err) // TestFacts checked the folder
		}
		return b
	}
	const list = "bulk_offer.excerpt.2025-09-12.csv"
	return []recording{
		{
			name: "offers_index.excerpt.json", provider: "aws", at: "2025-09-12T22:53:08Z", crawl: []string{"--collect", "all"},
			wrapped: "composed region index; the recorded list of 2025-09-12 behind it",
			wrap: func(body []byte) fixture {
				f := awsList("ap-northeast-1", "20250912225308", "csv")(beside(list))
				f.files["offers.json"] = body
				return f
			},
			facts: []claim{
				{"the index leads to the region index and the list", awsOffers(), count(1)},
				{"the EC2 list was taken, not that of Lambda", []string{"runs", "show"}, bodyURLs(
					awsHost+awsRoot+"index.json", awsHost+awsRoot+"AmazonEC2/current/region_index.json",
					awsHost+awsRoot+"AmazonEC2/20250912225308/ap-northeast-1/index.csv",
				)},
			},
			edits: []mutation{
				{"one digit of the address", "v1.0/aws/AmazonEC2/current/region_index.json", "v1.1/aws/AmazonEC2/current/region_index.json"},
				{"a required field renamed", "currentRegionIndexUrl", "regionIndexUrl"},
				{"two offers swapped", `"AmazonEC2": {`, `"AWSLambda2": {`},
			},
		},
		{
			name: "ec2_version_index.excerpt.json", provider: "aws", at: "2025-09-12T22:53:08Z", crawl: []string{"--collect", "all"},
			wrapped: "composed offer index without a region index; the recorded list of 2025-09-12 behind it",
			wrap: func(body []byte) fixture {
				return fixture{
					exchanges: []exchange{
						{Source: "offer-index", URL: awsHost + awsRoot + "index.json", File: "offers.json"},
						{Source: "version-index", URL: awsHost + awsRoot + "AmazonEC2/index.json", File: "versions.json"},
						{Source: "bulk-csv", URL: awsHost + awsRoot + "AmazonEC2/20250912225308/index.csv", File: "list.csv"},
					},
					files: map[string][]byte{"offers.json": awsOfferIndex(awsRoot), "versions.json": body, "list.csv": beside(list)},
				}
			},
			facts: []claim{
				{"the current version is the one without an end", []string{"runs", "show"}, bodyURLs(
					awsHost+awsRoot+"index.json", awsHost+awsRoot+"AmazonEC2/index.json", awsHost+awsRoot+"AmazonEC2/20250912225308/index.csv",
				)},
				{"its list is read", awsOffers(), has("region instance_type", "ap-northeast-1 c6i.large")},
			},
			edits: []mutation{
				{"one digit of the current version", "20250912225308", "20250912225309"},
				{"a required field renamed", "versionEffectiveEndDate", "versionEndDate"},
				{"two columns swapped", `"versionEffectiveEndDate": ""`, `"versionEffectiveEndDate": "2025-10-01T00:00:00Z"`},
			},
		},
	}
}

func awsFeedRecordings() []recording {
	band := func(region, kind string, more ...string) []string {
		return append([]string{"query", "signals", "--provider", "aws", "--name", kind, "--region", region, "--os", "linux"}, more...)
	}
	return []recording{
		{
			name: "pricing_page_ondemand_linux.us-east-1.json", provider: "aws", at: "2026-09-30T00:00:00Z",
			wrapped: "composed offer index and region index; no list is declared, so the page feed is asked",
			wrap: func(body []byte) fixture {
				f := awsList("us-east-1", "20260925000000", "json")(nil)
				f.exchanges[2] = exchange{Source: "page-feed", URL: pageURL, File: "page.json"}
				f.files["page.json"] = body
				return f
			},
			facts: []claim{{"10 rates", linuxShared(), has(
				"instance_type price accelerator.slug accelerator.count",
				"p5.48xlarge 55.04 h100-sxm-80gb 8", "p4d.24xlarge 21.957642 a100-sxm-40gb 8", "p6-b300.48xlarge 142.416 b300-sxm-288gb 8",
				"p6-b200.48xlarge 113.9328 b200-sxm-180gb 8", "p5en.48xlarge 63.296 h200-sxm-141gb 8", "p5.4xlarge 6.88 h100-sxm-80gb 1",
				"p4de.24xlarge 27.44705 a100-sxm-80gb 8", "g6e.48xlarge 30.13118 l40s-48gb 8", "g6e.12xlarge 10.49264 l40s-48gb 4",
				"g6e.xlarge 1.861 l40s-48gb 1",
			)}},
			edits: []mutation{
				{"one digit", "113.9328000000", "113.9327000000"},
				{"a required field renamed", `"price"`, `"rate"`},
				{"two columns swapped", `"Instance Type": "p5.48xlarge"`, `"Instance Type": "p5.4xlarge"`},
				{"vCPU and Memory swapped", `"vCPU"`, `"Memory"`},
			},
		},
		{
			name: "spot-advisor-data.json", provider: "aws", at: "2025-06-28T00:00:00Z",
			wrap: func(body []byte) fixture {
				return fixture{
					exchanges: []exchange{{Source: "spot-advisor", URL: advisorURL, File: "advisor.json"}},
					files:     map[string][]byte{"advisor.json": body},
				}
			},
			facts: []claim{
				{
					"bands of us-east-1 Linux", band("us-east-1", "interruption", "--type", "p4d.24xlarge", "--type", "p5.48xlarge", "--type", "p5en.48xlarge"),
					has("instance_type value label", "p4d.24xlarge 2 10-15%", "p5.48xlarge 4 >20%", "p5en.48xlarge 0 <5%"),
				},
				{
					"savings of us-east-1 Linux", band("us-east-1", "savings", "--type", "p4d.24xlarge", "--type", "p5.48xlarge", "--type", "p5en.48xlarge"),
					has("instance_type value", "p4d.24xlarge 67", "p5.48xlarge 52", "p5en.48xlarge 64"),
				},
				{"33 regions", []string{"query", "signals", "--provider", "aws", "--name", "savings"}, distinct("region", 33)},
			},
			edits: []mutation{
				{"one digit of a band", `"p4d.24xlarge": {"s": 67, "r": 2}`, `"p4d.24xlarge": {"s": 67, "r": 3}`},
				{"a required field renamed", `"r"`, `"rate"`},
				{"two columns swapped", `"p5en.48xlarge": {"s": 64, "r": 0}`, `"p5en.48xlarge": {"s": 0, "r": 64}`},
			},
		},
	}
}

// sourceCounts checks the counts of one source in a run report: fields named as
// in `runs show -o json`, reasons behind a dot.
func sourceCounts(source string, want map[string]float64) func([]answerRow) error {
	return func(rows []answerRow) error {
		if len(rows) != 1 {
			return fmt.Errorf("%d runs, want 1", len(rows))
		}
		sources, _ := rows[0].path("sources").([]any)
		for _, s := range sources {
			m, ok := s.(map[string]any)
			if !ok || m["source"] != source {
				continue
			}
			row := answerRow(m)
			for name, n := range want {
				got, _ := row.path(name).(float64)
				if got != n {
					return fmt.Errorf("source %s: %s is %v, want %v; %v", source, name, row.path(name), n, m)
				}
			}
			return nil
		}
		return fmt.Errorf("no source %s in %v", source, sources)
	}
}

// bodyURLs checks which addresses a run read, in any order.
func bodyURLs(want ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		if len(rows) != 1 {
			return fmt.Errorf("%d runs, want 1", len(rows))
		}
		bodies, _ := rows[0].path("bodies").([]any)
		var got []answerRow
		for _, b := range bodies {
			m, _ := b.(map[string]any)
			got = append(got, m)
		}
		return has("url", want...)(got)
	}
}

// withoutTypes checks that instance types do not come out.
func withoutTypes(types ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		for _, r := range rows {
			for _, t := range types {
				if r.text("instance_type") == t {
					return fmt.Errorf("%s is in the answer", t)
				}
			}
		}
		return nil
	}
}

// distinct checks how many values a field takes.
func distinct(field string, want int) func([]answerRow) error {
	return func(rows []answerRow) error {
		seen := map[string]bool{}
		for _, r := range rows {
			seen[r.text(field)] = true
		}
		if len(seen) != want {
			return fmt.Errorf("%d values of %s, want %d", len(seen), field, want)
		}
		return nil
	}
}
