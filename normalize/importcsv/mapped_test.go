package importcsv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

var told = time.Date(2026, 7, 1, 2, 3, 4, 0, time.UTC)

// rowsOf reads a file of prices and returns its rows as text: moment, key and
// price.
func rowsOf(t testing.TB, p *Profile, opt Options, text string) ([]string, *Tally) {
	t.Helper()
	opt.Normalizer, opt.Now = normalizer(t), now
	r, err := New(strings.NewReader(text), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for row, err := range r.Prices(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(row.At.Format(time.RFC3339), " ", strings.ReplaceAll(row.Offer.Key.Canonical(), "\n", " "), " = ", row.Offer.Published.Amount))
	}
	tally := r.Tally()
	if n := int64(len(out)) + tally.RejectedRows() + tally.LeftRows(); n != tally.Rows {
		t.Errorf("%d rows yielded, rejected or left out of %d", n, tally.Rows)
	}
	return out, tally
}

// The lines are those of the published catalogue.
func TestSkyPilot(t *testing.T) {
	p := load(t, "skypilot")
	for _, tt := range []struct {
		name, text string
		want       []string
		left       map[Reason]int64
	}{
		{
			"aws",
			`InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch
a1.2xlarge,,,8.0,16.0,,0.204,0.105600,us-east-2,use2-az1,arm64
a1.2xlarge,,,8.0,16.0,,0.204,,us-east-2,use2-az2,arm64
`,
			[]string{
				"2026-07-01T02:03:04Z currency=USD instance_type=a1.2xlarge market=on_demand os=linux partition=aws provider=aws region=us-east-2 stat=list tenancy=shared = 0.204",
				"2026-07-01T02:03:04Z currency=USD instance_type=a1.2xlarge market=spot os=linux partition=aws provider=aws region=us-east-2 stat=list tenancy=shared zone=use2-az1 = 0.105600",
				"2026-07-01T02:03:04Z currency=USD instance_type=a1.2xlarge market=on_demand os=linux partition=aws provider=aws region=us-east-2 stat=list tenancy=shared = 0.204",
			},
			nil,
		},
		{
			"lambda",
			`InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice
gpu_8x_v100_n,V100,8.0,88.0,448.0,6.32,us-east-1,"{'Gpus': [{'Name': 'V100', 'Manufacturer': 'NVIDIA', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 16384}}], 'TotalGpuMemoryInMiB': 16384}",
`,
			[]string{"2026-07-01T02:03:04Z currency=USD instance_type=gpu_8x_v100_n market=on_demand provider=lambda stat=list tax=excluded = 6.32"},
			nil,
		},
		{
			"runpod",
			`InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Region,SpotPrice,Price,AvailabilityZone,GpuInfo
2x_A100-80GB_SECURE,A100-80GB,2.0,16.0,234.0,IN,2.78,2.78,AP-IN-1,"{'Gpus': [{'Name': 'A100 PCIe'}]}"
`,
			[]string{"2026-07-01T02:03:04Z currency=USD instance_type=NVIDIA A100 80GB PCIe×2 market=on_demand provider=runpod stat=list tier=secure = 2.78"},
			map[Reason]int64{LeftCopied: 1},
		},
		{
			"vast",
			`InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region
1x-H200-32-65536,H200,1,32,64.0,"{'Gpus': [{'Name': 'H200'}]}",2.65,0.00,"France, FR, EU"
`,
			nil,
			map[Reason]int64{LeftAggregated: 2},
		},
	} {
		got, tally := rowsOf(t, p, Options{At: told, Provider: p.Files.ProviderOf("catalogs/v8/" + tt.name + "/vms.csv")}, tt.text)
		if d := cmp.Diff(tt.want, got); d != "" || tally.RejectedRows() > 0 {
			t.Errorf("%s: rejected %v (-want +got):\n%s", tt.name, tally.Rejected, d)
		}
		if d := cmp.Diff(tt.left, tally.Left); d != "" {
			t.Errorf("%s left out: %s", tt.name, d)
		}
	}
}

// The columns are those the program writes, the prices of AWS's list.
func TestGPUHunt(t *testing.T) {
	p := load(t, "gpuhunt")
	text := `instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size
p5.48xlarge,us-east-1,55.04,192,2048.0,8,H100,80.0,False,
m5.xlarge,us-east-1,0.192,4,16.0,0,,,True,
p5.48xlarge,us-east-1,55.04,192,2048.0,8,H100,80.0,maybe,
p5.48xlarge,us-east-1,55.04,many,2048.0,8,H100,80.0,False,
`
	got, tally := rowsOf(t, p, Options{At: told, Provider: p.Files.ProviderOf("aws.csv")}, text)
	want := []string{
		"2026-07-01T02:03:04Z currency=USD instance_type=p5.48xlarge market=on_demand os=linux partition=aws provider=aws region=us-east-1 stat=list tenancy=shared = 55.04",
		"2026-07-01T02:03:04Z currency=USD instance_type=m5.xlarge market=spot os=linux partition=aws provider=aws region=us-east-1 stat=min tenancy=shared = 0.192",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Reason]int64{ReasonMarket: 1, ReasonSpec: 1}, tally.Rejected); d != "" {
		t.Error(d)
	}
	if rows, tally := rowsOf(t, p, Options{Provider: "aws"}, text); len(rows) > 0 || tally.Rejected[ReasonTime] == 0 {
		t.Errorf("without a moment: %v, %v", rows, tally)
	}
}

func TestSpotHistory(t *testing.T) {
	p := load(t, "aws_spot_history")
	got, tally := rowsOf(t, p, Options{}, `{"NextToken": "x", "SpotPriceHistory": [
  {"AvailabilityZone": "us-east-1f", "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.043700", "Timestamp": "2021-02-09T01:40:10+00:00"},
  {"AvailabilityZone": "us-west-2-lax-1a", "AvailabilityZoneId": "usw2-lax1-az1", "InstanceType": "g4dn.xlarge", "ProductDescription": "Windows (Amazon VPC)", "SpotPrice": "0.5", "Timestamp": "2021-02-09T01:40:10.000Z"},
  {"AvailabilityZone": "us-east-1f", "InstanceType": "m5.large", "ProductDescription": "BeOS", "SpotPrice": "0.0437", "Timestamp": "2021-02-09T01:40:10Z"},
  {"AvailabilityZone": "", "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.0437", "Timestamp": "2021-02-09T01:40:10Z"},
  {"AvailabilityZone": "us-east-1f", "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.0437"},
  {"SpotPrice": 0.0437}
]}
{"SpotPriceHistory": [{"AvailabilityZone": "cn-north-1a", "InstanceType": "p3.2xlarge", "ProductDescription": "SUSE Linux", "SpotPrice": "9", "Timestamp": "2021-02-09T01:40:10Z"}], "More": {"a": [1]}}`)
	want := []string{
		"2021-02-09T01:40:10Z currency=USD instance_type=m5.large market=spot os=linux partition=aws provider=aws region=us-east-1 stat=list tenancy=shared zone=us-east-1f = 0.043700",
		"2021-02-09T01:40:10Z currency=USD instance_type=g4dn.xlarge market=spot os=windows partition=aws provider=aws region=us-west-2 stat=list tenancy=shared zone=usw2-lax1-az1 = 0.5",
		"2021-02-09T01:40:10Z currency=CNY instance_type=p3.2xlarge market=spot os=suse partition=aws-cn provider=aws region=cn-north-1 stat=list tenancy=shared zone=cn-north-1a = 9",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Reason]int64{ReasonOS: 1, ReasonRegion: 1, ReasonTime: 1, ReasonColumns: 1}, tally.Rejected); d != "" {
		t.Error(d)
	}
}

func TestSpotHistoryIsRefused(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"SpotPriceHistory": {}}`, `{"SpotPriceHistory": [`, `{"SpotPriceHistory": [{}] x`, `{"SpotPriceHistory": []} 1`} {
		r, err := New(strings.NewReader(text), load(t, "aws_spot_history"), Options{Normalizer: normalizer(t), Now: now})
		if err != nil {
			t.Fatal(err)
		}
		var last error
		for _, last = range r.Prices(t.Context()) {
		}
		if !errors.Is(last, gputide.ErrInvalid) && !errors.Is(last, gputide.ErrEmpty) {
			t.Errorf("%q: %v", text, last)
		}
	}
}

// The recorded answer is of 2021.
func TestRecordedSpotHistory(t *testing.T) {
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "payloads", "aws", "selector_describespotpricehistory.m5_large.json"))
	if err != nil {
		t.Fatal(err)
	}
	rows, tally := rowsOf(t, load(t, "aws_spot_history"), Options{}, string(text))
	if want := strings.Count(string(text), `"SpotPrice":`); len(rows) != want || tally.RejectedRows() != 0 {
		t.Errorf("%d rows of %d, rejected %v", len(rows), want, tally.Rejected)
	}
}

func TestECB(t *testing.T) {
	text := "Date,USD,CNY,ISK,\n2023-02-01,1.0894,7.3452,N/A,\n2023-02-03,1.0937,x,,\n1889-01-01,1,1,1,\n"
	r := reader(t, "ecb_history", text)
	got, err := r.Rates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, rate := range got {
		out = append(out, fmt.Sprint(rate.Date.Format(time.DateOnly), rate.Base, rate.Quote, rate.Amount, rate.Source))
	}
	want := []string{"2023-02-01EURUSD1.0894hist", "2023-02-01EURCNY7.3452hist", "2023-02-03EURUSD1.0937hist"}
	if d := cmp.Diff(want, out); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Reason]int64{ReasonValue: 1, ReasonTime: 3}, r.Tally().Rejected); d != "" || r.Tally().Rows != 7 {
		t.Errorf("%d rows, rejected %s", r.Tally().Rows, d)
	}
	for _, header := range []string{"date,USD", "Date", "Date,usd", "Date,,USD", "Date,USD,USD2"} {
		if _, err := New(strings.NewReader(header+"\n"), load(t, "ecb_history"), Options{Now: now}); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%q: %v", header, err)
		}
	}
}

func TestAdvisorDump(t *testing.T) {
	p := load(t, "aws_spot_advisor_dump")
	text := `{"ranges": [{"index": 0, "label": "<5%", "dots": 0, "max": 5}, {"index": 7, "label": ">20%"}, {"index": 9, "label": "often"}],
	"instance_types": {}, "global_rate": "<10%",
	"spot_advisor": {"us-east-1": {"Linux": {"p4d.24xlarge": {"s": 67, "r": 7}, "g5.xlarge": {"s": -62, "r": 0}, "x": {"s": 1}, "y": {"s": 1, "r": 9}}, "BSD": {"z": {"s": 1, "r": 0}}}}}`
	r, err := New(strings.NewReader(text), p, Options{Now: now, At: told})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Signals(t.Context())
	if err != nil || len(got) != 1 || !got[0].At.Equal(told) || !got[0].Incomplete {
		t.Fatalf("%+v, %v", got, err)
	}
	values := map[string]int64{}
	for _, s := range got[0].Signals {
		values[s.Name+" "+s.Key.InstanceType] = s.Value
	}
	want := map[string]int64{"interruption p4d.24xlarge": 4, "savings p4d.24xlarge": 67, "interruption g5.xlarge": 0, "savings g5.xlarge": -62}
	if d := cmp.Diff(want, values); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Reason]int64{ReasonValue: 2, ReasonOS: 1}, r.Tally().Rejected); d != "" || r.Tally().Rows != 5 {
		t.Errorf("%d rows, rejected %s", r.Tally().Rows, d)
	}
	for _, tt := range []struct {
		text string
		at   time.Time
	}{{text, time.Time{}}, {"{}", told}, {"", told}, {`{"spot_advisor": 1}`, told}} {
		r, err := New(strings.NewReader(tt.text), p, Options{Now: now, At: tt.at})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Signals(t.Context()); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%.20q at %s: %v", tt.text, tt.at, err)
		}
	}
}

func TestBenchmarkRows(t *testing.T) {
	const row = "v4.1,v4.1-0043,NVIDIA,\"NVIDIA DGX H100 (8x H100-SXM-80GB, TensorRT)\",NVIDIA H100-SXM-80GB,8,1,llama2-70b-99,Offline,24524.9,Tokens/s\n"
	edit := func(old, new string) string { return strings.Replace(row, old, new, 1) }
	r := reader(t, "mlperf_inference", benchmarksHeader+"\n"+row+row+edit("24524.9", "1")+edit("Offline", "")+edit("24524.9", "0")+edit(",8,1,", ",0,1,")+
		edit(",8,1,llama2-70b-99,", ",,,llama2-70b-99.9,")+"v4.1\n")
	got, err := r.Benchmarks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := gputide.Benchmark{
		Round: "v4.1", ID: "v4.1-0043", Submitter: "NVIDIA", System: "NVIDIA DGX H100 (8x H100-SXM-80GB, TensorRT)",
		Accelerator: "NVIDIA H100-SXM-80GB", AcceleratorsPerNode: 8, Nodes: 1,
		Model: "llama2-70b-99", Scenario: "Offline", Result: "24524.9", Units: "Tokens/s", Source: "import:mlperf_inference",
	}
	second := first
	second.Model, second.AcceleratorsPerNode, second.Nodes = "llama2-70b-99.9", 0, 0
	if d := cmp.Diff([]gputide.Benchmark{first, second}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Reason]int64{ReasonTwice: 1, ReasonValue: 2, ReasonCount: 1, ReasonColumns: 1}, r.Tally().Rejected); d != "" || r.Tally().Rows != 8 {
		t.Errorf("%d rows, rejected %s", r.Tally().Rows, d)
	}
}

// TestMap reads a file nobody knows.
func TestMap(t *testing.T) {
	p := load(t, OpenProfile)
	columns := map[string]string{
		"when": "time", "cloud": "provider", "usd": "price", "shape": "instance_type", "how": "market", "class": "tier", "cores": "vcpu", "card": "gpu", "n": "gpu_count",
	}
	if err := p.Map(columns); err != nil {
		t.Fatal(err)
	}
	if err := p.Constants(Fields{gputide.FieldCurrency: "USD", gputide.FieldOS: "linux"}); err != nil {
		t.Fatal(err)
	}
	got, tally := rowsOf(t, p, Options{}, `cloud,shape,notes,when,usd,how,class,cores,card,n
acme,x1,"a, b",2024-05-06,1.50,spot,gold,8,H100,1
acme,x1,,2024-05-06T07:08:09.5+02:00,1.6,,,,,
acme,x1,,06/05/2024,1.6,,,,,
acme,x1,,2024-05-06,1.6,rented,,,,
acme,x1,,2024-05-06,,spot,,,,
,x1,,2024-05-06,1,spot,,,,
`)
	want := []string{
		"2024-05-06T00:00:00Z currency=USD instance_type=x1 market=spot os=linux provider=acme stat=list tier=gold = 1.50",
		"2024-05-06T05:08:09Z currency=USD instance_type=x1 market=unknown os=linux provider=acme stat=list = 1.6",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[Reason]int64{ReasonTime: 1, ReasonMarket: 1, ReasonPrice: 1, "bad_key": 1}, tally.Rejected); d != "" {
		t.Error(d)
	}
	for _, bad := range []map[string]string{{"usd": "prize"}, {"a": "price", "b": "price"}, {"when": "time"}} {
		if err := load(t, OpenProfile).Map(bad); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if err := load(t, "aws_spot_advisor").Map(columns); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("columns of signals: %v", err)
	}
	if err := p.Constants(Fields{"colour": "red"}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("an unknown constant: %v", err)
	}
	if _, err := New(strings.NewReader("cloud,shape\n"), p, Options{Now: now}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("a header without the columns: %v", err)
	}
}

// TestMapOfAProfile renames one column of a known form.
func TestMapOfAProfile(t *testing.T) {
	p := load(t, "aws_ondemand_2022_2026")
	if err := p.Map(map[string]string{"Date": "time"}); err != nil {
		t.Fatal(err)
	}
	got, _ := rowsOf(t, p, Options{}, strings.Replace(HeaderOf(FormPrices), "time", "Date", 1)+"\n2024-01-01T00:00:00Z,aws,us-east-1,,p5.48xlarge,NVIDIA H100,8,on_demand,Linux,98.32,USD\n")
	want := []string{"2024-01-01T00:00:00Z currency=USD instance_type=p5.48xlarge market=on_demand os=linux partition=aws provider=aws region=us-east-1 stat=list tenancy=shared = 98.32"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
