package pricelist

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"testing"
)

const header2025 = `"SKU","OfferTermCode","RateCode","TermType","PriceDescription","EffectiveDate","StartingRange","EndingRange","Unit","PricePerUnit","Currency","RelatedTo","LeaseContractLength","PurchaseOption","OfferingClass","Product Family","serviceCode","Location","Location Type","Instance Type","Current Generation","Instance Family","vCPU","Physical Processor","Clock Speed","Memory","Storage","Network Performance","Processor Architecture","Storage Media","Volume Type","Max Volume Size","Max IOPS/volume","Max IOPS Burst Performance","Max throughput/volume","Provisioned","Tenancy","EBS Optimized","Operating System","License Model","Group","Group Description","Transfer Type","From Location","From Location Type","To Location","To Location Type","usageType","operation","AvailabilityZone","CapacityStatus","ClassicNetworkingSupport","Dedicated EBS Throughput","ECU","Elastic Graphics Type","Enhanced Networking Supported","From Region Code","GPU","GPU Memory","Instance","Instance Capacity - 10xlarge","Instance Capacity - 12xlarge","Instance Capacity - 16xlarge","Instance Capacity - 18xlarge","Instance Capacity - 24xlarge","Instance Capacity - 2xlarge","Instance Capacity - 32xlarge","Instance Capacity - 4xlarge","Instance Capacity - 8xlarge","Instance Capacity - 9xlarge","Instance Capacity - large","Instance Capacity - medium","Instance Capacity - metal","Instance Capacity - xlarge","instanceSKU","Intel AVX2 Available","Intel AVX Available","Intel Turbo Available","MarketOption","Normalization Size Factor","Physical Cores","Pre Installed S/W","Processor Features","Product Type","Region Code","Resource Type","serviceName","SnapshotArchiveFeeType","To Region Code","Volume API Name","VPCNetworkingSupport"`

const preamble2025 = `"FormatVersion","v1.0"
"Disclaimer","This pricing list is for informational purposes only."
"Publication Date","2025-09-12T22:53:08Z"
"Version","20250912225308"
"OfferCode","AmazonEC2"
`

// cells is one row by column name.
type cells map[string]string

// csvText writes rows under the 2025 header in the form AWS uses: every
// non-empty field quoted.
func csvText(rows ...cells) string { return csvUnder(header2025, rows...) }

func csvUnder(header string, rows ...cells) string {
	var b strings.Builder
	b.WriteString(preamble2025)
	b.WriteString(header)
	b.WriteByte('\n')
	names := columnNames(header)
	for _, r := range rows {
		for i, n := range names {
			if i > 0 {
				b.WriteByte(',')
			}
			if v := r[n]; v != "" {
				fmt.Fprintf(&b, "%q", v)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func columnNames(header string) []string {
	rec, err := csv.NewReader(strings.NewReader(header)).Read()
	if err != nil {
		return nil
	}
	return rec
}

// row returns the on-demand Linux row of a type, with changes.
func row(changes ...string) cells {
	c := cells{
		"SKU": "3D4V8UAYEMB38GU2", "OfferTermCode": "JRTCKXETXF", "RateCode": "3D4V8UAYEMB38GU2.JRTCKXETXF.6YS6EN2CT7",
		"TermType": "OnDemand", "PriceDescription": "$55.04 per On Demand Linux p5.48xlarge Instance Hour",
		"EffectiveDate": "2025-09-01", "StartingRange": "0", "EndingRange": "Inf", "Unit": "Hrs",
		"PricePerUnit": "55.0400000000", "Currency": "USD", "Product Family": "Compute Instance",
		"serviceCode": "AmazonEC2", "Location": "US East (N. Virginia)", "Location Type": "AWS Region",
		"Instance Type": "p5.48xlarge", "Current Generation": "Yes", "Instance Family": "GPU instance", "vCPU": "192",
		"Physical Processor": "AMD EPYC 7R13 Processor", "Clock Speed": "2.95 GHz", "Memory": "2048 GiB",
		"Storage": "8 x 3840 GB SSD", "Network Performance": "3200 Gigabit", "Processor Architecture": "64-bit",
		"Tenancy": "Shared", "Operating System": "Linux", "License Model": "No License required",
		"usageType": "BoxUsage:p5.48xlarge", "operation": "RunInstances", "AvailabilityZone": "NA", "CapacityStatus": "Used",
		"ClassicNetworkingSupport": "false", "Dedicated EBS Throughput": "80000 Mbps", "ECU": "NA",
		"Enhanced Networking Supported": "Yes", "GPU": "8", "GPU Memory": "640 GB HBM3", "Intel AVX2 Available": "Yes",
		"Intel AVX Available": "Yes", "Intel Turbo Available": "Yes", "MarketOption": "OnDemand",
		"Normalization Size Factor": "384", "Pre Installed S/W": "NA", "Processor Features": "AMD Turbo; AVX; AVX2",
		"Region Code": "us-east-1", "serviceName": "Amazon Elastic Compute Cloud", "VPCNetworkingSupport": "true",
	}
	for i := 0; i+1 < len(changes); i += 2 {
		c[changes[i]] = changes[i+1]
	}
	c["RateCode"] = c["SKU"] + "." + c["OfferTermCode"] + ".6YS6EN2CT7"
	if c["Unit"] == "Quantity" {
		c["RateCode"] = c["SKU"] + "." + c["OfferTermCode"] + ".2TG2D8R56U"
		delete(c, "StartingRange")
		delete(c, "EndingRange")
	}
	return c
}

// generated returns a list of at least size bytes: 200 products of 12 reserved
// terms and an on-demand row each, one in a hundred rows on-demand Linux. When
// mixed is set, no two rows of a product stand together.
func generated(size int, mixed bool) []byte {
	rows := generatedRows()
	if mixed {
		spread := make([]cells, 0, len(rows))
		for i := range 21 {
			for j := i; j < len(rows); j += 21 {
				spread = append(spread, rows[j])
			}
		}
		rows = spread
	}
	text := []byte(csvText(rows...))
	head := bytes.Index(text, []byte(header2025)) + len(header2025) + 1
	out := bytes.Clone(text)
	for len(out) < size {
		out = append(out, text[head:]...)
	}
	return out
}

func generatedRows() []cells {
	var rows []cells
	for i := range 200 {
		id := fmt.Sprintf("SKU%013d", i)
		product := []string{"SKU", id, "Instance Type", fmt.Sprintf("m%d.%dxlarge", 5+i%40, 1+i/40), "Clock Speed", fmt.Sprintf("%d.5 GHz", i)}
		if i%13 != 0 {
			product = append(product, "Operating System", "Windows", "operation", "RunInstances:0002")
		}
		rows = append(rows, row(product...))
		for j, term := range []string{"1yr", "3yr"} {
			for k, class := range []string{"standard", "convertible"} {
				for m, option := range []string{"No Upfront", "Partial Upfront", "All Upfront"} {
					t := append([]string{
						"OfferTermCode", fmt.Sprintf("TERM%d%d%d", j, k, m), "TermType", "Reserved",
						"LeaseContractLength", term, "OfferingClass", class, "PurchaseOption", option,
					}, product...)
					if m > 0 {
						rows = append(rows, row(append(t, "Unit", "Quantity", "PricePerUnit", "2750")...))
					}
					rows = append(rows, row(t...))
				}
			}
		}
	}
	return rows
}

var benchOptions = Options{Source: "bulk-csv", Partition: "aws", Currency: "USD", Region: "us-east-1"}

func BenchmarkReadCSV(b *testing.B) {
	for _, order := range []string{"by product", "mixed"} {
		body := generated(32<<20, order == "mixed")
		b.Run("on-demand Linux/"+order, func(b *testing.B) {
			opt := benchOptions
			opt.Only = OnDemandLinux
			benchCSV(b, body, opt)
		})
		b.Run("everything/"+order, func(b *testing.B) { benchCSV(b, body, benchOptions) })
		b.Run("encoding-csv/"+order, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				c := csv.NewReader(bytes.NewReader(body))
				c.FieldsPerRecord, c.ReuseRecord = -1, true
				for {
					if _, err := c.Read(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func benchCSV(b *testing.B, body []byte, opt Options) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		offers := 0
		rep, err := ReadCSV(bytes.NewReader(body), opt, func(r *Row) {
			if r.Skip == "" {
				offers++
			}
		})
		if err != nil || offers == 0 {
			b.Fatal(err, rep, offers)
		}
	}
}
