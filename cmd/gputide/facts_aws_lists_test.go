package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// Wire facts of AWS savings plans that the wrapping uses. formats/aws.md of the
// shared notes, section 2.
const (
	awsPlanRoot  = "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/"
	awsBlockPage = "https://aws.amazon.com/ec2/capacityblocks/pricing/"
)

// awsListRecordings are the recordings of savings plans and of what else AWS
// publishes in files and pages. read returns a recording of the same folder.
func awsListRecordings(read func(name string) []byte) []recording {
	return []recording{
		awsPlanRates(), awsPlanIndex(read("savings_plan.ap-east-2.excerpt.2025-09-11.csv")), awsPlanTerms(), awsBlockRates(), awsProduct(),
	}
}

// planProduct is an on-demand product of a composed list: what savings plans
// name by SKU. It has no price, for none is recorded.
type planProduct struct{ sku, typ, vcpu, memory, tenancy, system, software, usage, operation, capacity string }

// awsPlans wraps a savings plan list of a region, with the products it discounts.
func awsPlans(region, place, version, form string, products ...planProduct) func([]byte) fixture {
	return func(body []byte) fixture {
		f := awsList(region, version, "csv")(awsProducts(region, place, version, products))
		offers := map[string]any{}
		if err := json.Unmarshal(f.files["offers.json"], &offers); err != nil {
			panic(err) // asJSON made it
		}
		offers["offers"].(map[string]any)["AmazonEC2"].(map[string]any)["currentSavingsPlanIndexUrl"] = awsPlanRoot + "current/region_index.json"
		f.files["offers.json"] = asJSON(offers)
		f.files["plan-regions.json"] = asJSON(map[string]any{"regions": []any{map[string]any{
			"regionCode": region, "versionUrl": awsPlanRoot + version + "/" + region + "/index.json",
		}}})
		f.files["plans."+form] = body
		f.exchanges = append(
			f.exchanges,
			exchange{Source: "savings-plan-index", URL: awsHost + awsPlanRoot + "current/region_index.json", File: "plan-regions.json"},
			exchange{Source: "savings-plan-" + form, URL: awsHost + awsPlanRoot + version + "/" + region + "/index." + form, File: "plans." + form},
		)
		return f
	}
}

// awsProducts is a price list of the products.
func awsProducts(region, place, version string, products []planProduct) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\"FormatVersion\",\"v1.0\"\n\"Publication Date\",\"2025-09-11T18:44:47Z\"\n\"Version\",%q\n\"OfferCode\",\"AmazonEC2\"\n", version)
	b.WriteString(`"SKU","OfferTermCode","RateCode","TermType","StartingRange","EndingRange","Unit","PricePerUnit","Currency","LeaseContractLength",` +
		`"PurchaseOption","OfferingClass","Product Family","Location","Instance Type","Instance Family","vCPU","Memory","Tenancy","Operating System",` +
		`"License Model","usageType","operation","CapacityStatus","GPU","GPU Memory","MarketOption","Pre Installed S/W","Region Code"` + "\n")
	for _, p := range products {
		cells := []string{
			p.sku, "JRTCKXETXF", p.sku + ".JRTCKXETXF.6YS6EN2CT7", "OnDemand", "0", "Inf", "Hrs", "", "USD", "", "", "", "Compute Instance", place, p.typ,
			"Memory optimized", p.vcpu, p.memory, p.tenancy, p.system, "No License required", p.usage, p.operation, p.capacity, "", "NA", "OnDemand", p.software, region,
		}
		for i, c := range cells {
			if i > 0 {
				b.WriteByte(',')
			}
			if c != "" {
				fmt.Fprintf(&b, "%q", c)
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

const wrappedPlans = "composed indexes and a composed price list with the products discounted, unpriced; their systems are those of the recorded operation codes"

// awsTaipei are the products behind the recorded rates of ap-east-2: 0010 is Red
// Hat, 1010 Red Hat with HA, 0g00 Ubuntu Pro
// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/billing-info-fields.html).
func awsTaipei() []planProduct {
	return []planProduct{
		{"23PWZ6X8AQE4NKNR", "r7g.medium", "1", "8 GiB", "Dedicated", "RHEL", "NA", "APE2-DedicatedUsage:r7g.medium", "RunInstances:0010", "Used"},
		{"28DXD4M5FZD3DMKB", "r7g.xlarge", "4", "32 GiB", "Dedicated", "Red Hat Enterprise Linux with HA", "NA", "APE2-DedicatedUsage:r7g.xlarge", "RunInstances:1010", "Used"},
		{"2GKZZWX3JXB9PGVM", "r7g.16xlarge", "64", "512 GiB", "Dedicated", "Ubuntu Pro", "NA", "APE2-DedicatedUsage:r7g.16xlarge", "RunInstances:0g00", "Used"},
		{"2N9JCBAMRPFYYSVR", "r7g.large", "2", "16 GiB", "Dedicated", "Linux", "NA", "APE2-UnusedDed:r7g.large", "RunInstances", "UnusedDed"},
	}
}

const (
	planFields = "region instance_type market plan term payment os license tenancy price published.amount published.unit upfront"
	taipei     = "ap-east-2"
)

// awsTaipeiRates are the recorded rates: the price of an hour, whatever is paid
// upfront.
func awsTaipeiRates() func([]answerRow) error {
	const plan = " commitment sp_instance 3y partial "
	return has(
		planFields,
		taipei+" r7g.medium"+plan+"rhel <null> dedicated 0.0425 0.0425 h <null>",
		taipei+" r7g.xlarge"+plan+"rhel ha dedicated 0.2399 0.2399 h <null>",
		taipei+" r7g.16xlarge"+plan+"ubuntu_pro <null> dedicated 1.6358 1.6358 h <null>",
	)
}

func awsPlanRates() recording {
	return recording{
		name: "savings_plan.ap-east-2.excerpt.2025-09-11.csv", provider: "aws", at: "2025-09-11T18:44:47Z", crawl: []string{"--collect", "all"},
		wrap: awsPlans(taipei, "Asia Pacific (Taipei)", "20250911184447", "csv", awsTaipei()...), wrapped: wrappedPlans,
		facts: []claim{
			{"three rates, joined by SKU", awsOffers("--market", "commitment"), awsTaipeiRates()},
			{"the rate of unused capacity is left out and counted", []string{"runs", "show"}, sourceCounts("savings-plan-csv", map[string]float64{
				"read": 4, "kept": 3, "omitted.unused_capacity": 1,
			})},
		},
		edits: []mutation{
			{"one digit of a rate", ",0.2399,", ",0.2398,"},
			{"one digit of a SKU", ",28DXD4M5FZD3DMKB,AmazonEC2", ",28DXD4M5FZD3DMKC,AmazonEC2"},
			{"a required column renamed", "DiscountedSKU", "Sku"},
			{"a required column renamed, the type", "DiscountedInstanceType", "InstanceType"},
			{"two columns swapped", "DiscountedSKU,DiscountedServiceCode", "DiscountedServiceCode,DiscountedSKU"},
			{"term columns swapped", "PurchaseOption,LeaseContractLength", "LeaseContractLength,PurchaseOption"},
			{"another plan", "EC2InstanceSavingsPlans", "ComputeSavingsPlans"},
			{"another currency", ",USD,", ",EUR,"},
			{"another payment", "Partial Upfront,3", "No Upfront,3"},
		},
	}
}

func awsPlanIndex(list []byte) recording {
	return recording{
		name: "savings_plan_region_index.excerpt.json", provider: "aws", at: "2025-09-11T18:44:47Z", crawl: []string{"--collect", "all"},
		wrapped: wrappedPlans + "; the recorded list of ap-east-2 behind it",
		wrap: func(body []byte) fixture {
			f := awsPlans(taipei, "Asia Pacific (Taipei)", "20250911184447", "csv", awsTaipei()...)(list)
			f.files["plan-regions.json"] = body
			return f
		},
		facts: []claim{
			{"the index leads to the list of the region", awsOffers("--market", "commitment"), awsTaipeiRates()},
			{"the regions without a price list are counted", []string{"runs", "show"}, sourceCounts("savings-plan-index", map[string]float64{
				"omitted.other_partition_or_not_asked": 8,
			})},
		},
		edits: []mutation{
			{"one digit of an address", "20250911184447/ap-east-2", "20250911184448/ap-east-2"},
			{"a required field renamed", "versionUrl", "currentVersionUrl"},
			{"two regions swapped", `"regionCode": "ap-east-2"`, `"regionCode": "ap-east-3"`},
			{"a region lost", `"regionCode": "us-west-2-sea-1"`, `"regionCode": "us-west-2-den-1"`},
		},
	}
}

func awsPlanTerms() recording {
	return recording{
		name: "savings_plan_terms.excerpt.json", provider: "aws", at: "2026-06-23T21:58:42Z", crawl: []string{"--collect", "all"},
		wrapped: wrappedPlans + "; the version and the one entry of products that the excerpt lacks, from the words of its description",
		wrap: func(body []byte) fixture {
			product := asJSON([]any{map[string]any{
				"sku": "8GU23DFTKP2N43SD", "productFamily": "ComputeSavingsPlans",
				"attributes": map[string]any{"purchaseOption": "All Upfront", "purchaseTerm": "1yr"},
			}})
			whole := append([]byte(`{"version":"20260623215842","products":`), product...)
			whole = append(append(whole, ','), bytes.TrimPrefix(bytes.TrimSpace(body), []byte("{"))...)
			return awsPlans("us-west-2-den-1", "US West (Denver)", "20260623215842", "json", planProduct{
				"22CU75SME3BFPJU8", "c5d.2xlarge", "8", "16 GiB", "Shared", "Linux", "SQL Std", "DEN1-BoxUsage:c5d.2xlarge", "RunInstances:0004", "Used",
			})(whole)
		},
		facts: []claim{{"one rate, per hour though all is paid upfront", awsOffers("--market", "commitment"), has(
			planFields, "us-west-2-den-1 c5d.2xlarge commitment sp_compute 1y all linux sql_std shared 1.285 1.285 h <null>",
		)}},
		edits: []mutation{
			{"one digit", `"1.285"`, `"1.286"`},
			{"a required field renamed", `"discountedSku"`, `"sku2"`},
			{"a required field renamed, the rate", `"discountedRate"`, `"rate"`},
			{"two values swapped", `"discountedInstanceType": "c5d.2xlarge"`, `"discountedInstanceType": "us-west-2-den-1"`},
			{"another length", `"duration": 1`, `"duration": 3`},
			{"another currency", `"USD"`, `"CNY"`},
		},
	}
}

// blockLine is a row of the page's table as text. Two rows have lost their first
// cell and one its vCPU.
var blockLine = regexp.MustCompile(`(?:([a-z0-9-]+\.[a-z0-9]+) )?((?:US|Asia|Europe)[^$()]*\([^)]*\)) (\S+ \S+) (\S+ \S+) (\d+ x (?:AWS )?\w+) (?:(\d+) )?(\d+ GiB) (\d+ GB(?: HBM\d)?) (\d+ x \S+ NVMe SSD) (\d+ Gigabit)`)

func awsBlockRates() recording {
	return recording{
		name: "capacity_blocks_pricing_page.2024-12.text.txt", provider: "aws", at: "2024-12-15T00:00:00Z",
		wrapped: "a table of HTML around the text of each cell; a cell that the text lacks is empty",
		wrap: func(body []byte) fixture {
			head, text, _ := strings.Cut(strings.Join(strings.Fields(string(body)), " "), "Network Performance ")
			var b strings.Builder
			b.WriteString("<html><body><table><tr>")
			head = strings.NewReplacer(" (TB)", "(TB)").Replace(head + "Network Performance")
			for _, name := range []string{
				"Instance Type", "Region", "Effective Instance Hourly Rate", "Effective Accelerator Hourly Rate", "GPU", "vCPU", "Instance Memory",
				"Accelerator Memory", "Instance Storage(TB)", "Network Performance",
			} {
				if rest, ok := strings.CutPrefix(head, name); ok {
					head = strings.TrimPrefix(rest, " ")
					b.WriteString("<th>" + name + "</th>")
				}
			}
			b.WriteString("</tr>")
			for _, cells := range blockLine.FindAllStringSubmatch(text, -1) {
				b.WriteString("<tr>")
				for _, c := range cells[1:] {
					b.WriteString("<td>" + html.EscapeString(c) + "</td>")
				}
				b.WriteString("</tr>")
			}
			b.WriteString("</table></body></html>")
			return fixture{
				exchanges: []exchange{{Source: "block-page", URL: awsBlockPage, Headers: map[string]string{"Content-Type": "text/html"}, File: "page.html"}},
				files:     map[string][]byte{"page.html": []byte(b.String())},
			}
		},
		facts: []claim{
			{"four rates", awsOffers("--market", "capacity_block"), has(
				"region instance_type term stat os price price_per_accelerator accelerator.slug accelerator.count",
				"us-east-1 p5.48xlarge <null> list linux 39.33 4.91625 h100-sxm-80gb 8", "us-east-2 p5.48xlarge <null> list linux 39.33 4.91625 h100-sxm-80gb 8",
				"us-east-2 p4d.24xlarge <null> list linux 14.75 1.84375 a100-sxm-40gb 8", "ap-southeast-4 trn1.32xlarge <null> list linux 15.49 0.968125 trainium-32gb 16",
			)},
			{"rows without a type are refused, not guessed", []string{"runs", "show"}, sourceCounts("block-page", map[string]float64{
				"read": 6, "kept": 4, "skipped.bad_row": 2,
			})},
		},
		edits: []mutation{
			{"one digit", "$39.33", "$39.34"},
			{"one digit of the rate of a card", "$1.844", "$1.845"},
			{"a required heading renamed", "Effective Instance Hourly Rate", "Instance Rate"},
			{"another currency", "$15.49 USD", "$15.49 EUR"},
			{"another region", "US East (Ohio) $14.75", "US East (N. Virginia) $14.75"},
			{"another count", "16 x AWS Trainium", "8 x AWS Trainium"},
			{"two columns swapped", "$39.33 USD $4.916 USD", "$4.916 USD $39.33 USD"},
		},
	}
}

// awsProduct is one element of a GetProducts answer, decoded: a product of the
// list with terms that stand under their product's SKU in the bulk form.
func awsProduct() recording {
	const version = "20210209000000"
	return recording{
		name: "selector_getproducts.m5_large.json", provider: "aws", at: "2021-02-09T00:00:00Z", crawl: []string{"--collect", "all"},
		wrapped: wrappedList + "; the product and its terms as entries of a bulk list",
		wrap: func(body []byte) fixture {
			var element struct {
				Product json.RawMessage            `json:"product"`
				Terms   map[string]json.RawMessage `json:"terms"`
			}
			const product = "6C86BEPQVG73ZGGR"
			list := []byte(nil)
			if json.Unmarshal(body, &element) == nil {
				terms := map[string]any{}
				for kind, of := range element.Terms {
					terms[kind] = map[string]any{product: of}
				}
				list = asJSON(struct {
					Format   string         `json:"formatVersion"`
					Offer    string         `json:"offerCode"`
					Version  string         `json:"version"`
					Products map[string]any `json:"products"`
					Terms    map[string]any `json:"terms"`
				}{"v1.0", "AmazonEC2", version, map[string]any{product: element.Product}, terms})
			}
			return awsList("us-east-1", version, "json")(list)
		},
		facts: []claim{
			{"on demand", awsOffers("--market", "on_demand"), has("region instance_type os tenancy price", "us-east-1 m5.large linux shared 0.096")},
			{"12 reserved terms", awsOffers("--market", "commitment"), count(12)},
			{"one year, nothing upfront", awsOffers("--plan", "ri_standard", "--term", "1y", "--payment", "none"), has("price upfront", "0.06 <null>")},
			{"three years, in part upfront", awsOffers("--plan", "ri_standard", "--term", "3y", "--payment", "partial"), has(
				"price published.amount upfront", "0.038216134 0.0190000000 505",
			)},
			{
				"what it is worth: break-even utilisation",
				[]string{"query", "discount", "--provider", "aws", "--market", "commitment", "--plan", "ri_standard", "--payment", "none", "--term", "1y"},
				has("on_demand price break_even_utilisation", "0.096 0.06 0.625"),
			},
		},
		edits: []mutation{
			{"one digit", `"0.0960000000"`, `"0.0970000000"`},
			{"one digit of a fee", `"505"`, `"506"`},
			{"one digit of a reserved rate", `"0.0600000000"`, `"0.0610000000"`},
			{"a required attribute renamed", `"operatingSystem"`, `"system"`},
			{"a required field renamed", `"LeaseContractLength"`, `"Lease"`},
			{"two values swapped", `"OfferingClass": "standard"`, `"OfferingClass": "convertible"`},
		},
	}
}
