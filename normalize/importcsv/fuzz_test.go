package importcsv

import (
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

// FuzzSources reads any bytes as each source that is not the common CSV: no row
// comes out that could not be stored, and every row is accounted for.
func FuzzSources(f *testing.F) {
	f.Add(uint8(0), "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\ngpu_1x_a6000,A6000,1.0,14.0,100.0,1.09,us-east-1,\"{'Gpus': []}\",\n")
	f.Add(uint8(1), "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot\np5.48xlarge,us-east-1,55.04,192,2048.0,8,H100,80.0,False\n")
	f.Add(uint8(2), `{"SpotPriceHistory": [{"AvailabilityZone": "us-east-1f", "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.0437", "Timestamp": "2021-02-09T01:40:10Z"}]}`)
	f.Add(uint8(3), strings.Join(ExportColumns(), ",")+"\n2025-03-01T06:00:00Z,withdrawn,00,USD,p5,,on_demand,,,,,aws,,,list,,,,,,,,,,,,,,,,\n")
	f.Add(uint8(3), `{"time":"2025-03-01T06:00:00Z","state":"priced","offer_id":"27cd42a41ed679d23554d9d48af9ba58","price":"1","amount":"1","unit":"h","basis":"instance","components":[{"kind":"ram"}],"spec":{"count":"8"}}`+"\n")
	f.Add(uint8(4), "Date,USD,\n2023-02-01,1.0894,\n")
	f.Add(uint8(5), `{"ranges":[{"index":0,"label":"<5%"}],"spot_advisor":{"us-east-1":{"Linux":{"p4d":{"s":1,"r":0}}}}}`)
	f.Add(uint8(6), benchmarksHeader+"\nv4.1,v4.1-0043,NVIDIA,DGX,NVIDIA H100-SXM-80GB,8,1,llama2-70b-99,Offline,24524.9,Tokens/s\n")
	norm := normalizer(f)
	var sources []*Profile
	for _, name := range []string{"skypilot", "gpuhunt", "aws_spot_history", "export", "ecb_history", "aws_spot_advisor_dump", "mlperf_inference"} {
		sources = append(sources, load(f, name))
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		p := sources[int(which)%len(sources)]
		provider := "aws"
		if which >= 128 {
			provider = "runpod"
		}
		r, err := New(strings.NewReader(text), p, Options{Normalizer: norm, Now: now, At: told, Provider: provider})
		if err != nil {
			return
		}
		var kept int64
		switch p.Form {
		case FormECB:
			rates, err := r.Rates(t.Context())
			if err != nil {
				return
			}
			kept = int64(len(rates)) // equal twins are one
		case FormAdvisor:
			if _, err := r.Signals(t.Context()); err != nil {
				return
			}
		case FormBenchmarks:
			results, err := r.Benchmarks(t.Context())
			if err != nil {
				return
			}
			kept = int64(len(results))
		default:
			for row, err := range r.Prices(t.Context()) {
				if err != nil {
					return
				}
				kept++
				storable(t, &row)
			}
			if n := kept + r.Tally().RejectedRows() + r.Tally().LeftRows(); n != r.Tally().Rows {
				t.Fatalf("%d rows yielded, rejected or left out of %d", n, r.Tally().Rows)
			}
		}
		if kept+r.Tally().RejectedRows() > r.Tally().Rows {
			t.Fatalf("%d kept and %d rejected of %d rows", kept, r.Tally().RejectedRows(), r.Tally().Rows)
		}
	})
}

// storable fails for a row that the store would refuse.
func storable(t *testing.T, row *gputide.ImportRow) {
	t.Helper()
	o := &row.Offer
	if row.At.After(now) || row.At.Year() < firstYear || row.At.Nanosecond() != 0 || o.Key.Provider == "" || o.Key.InstanceType == "" ||
		!o.Key.Currency.Valid() || !o.Key.Market.Valid() {
		t.Fatalf("yielded %+v", row)
	}
	if priced := row.State == ""; priced != (o.Price > 0) || o.Price > gputide.MaxNano {
		t.Fatalf("state %q, price %s", row.State, o.Price)
	}
	if s := row.Spec; s != nil && (s.InstanceType != o.Key.InstanceType || s.Provider != o.Key.Provider || s.Partition != o.Key.Partition) {
		t.Fatalf("spec of %q at %q", s.InstanceType, o.Key.InstanceType)
	}
}
