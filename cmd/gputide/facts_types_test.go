package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gputide/gputide/providers/aws/awstest"
)

// awsTypeRecordings are the recorded answers of DescribeInstanceTypes, read by
// the real client of the SDK.
func awsTypeRecordings() []recording {
	types := func(more ...string) []string { return append([]string{"query", "types", "--provider", "aws"}, more...) }
	const fields = "instance_type accelerator.slug accelerator.count accelerator.reported_mib"
	slice := claim{
		"a slice is an eighth of a card",
		types("--type", "g6f.large"), has(fields, "g6f.large l4-24gb 1/8 2861"),
	}
	inferentia := claim{
		"Inferentia in two blocks is counted once",
		types("--type", "inf1.24xlarge"), has("accelerator.vendor accelerator.count", "AWS 16"),
	}
	return []recording{
		{
			name: "describe_instance_types.accelerated.json", provider: "aws", at: "2026-08-02T00:00:00Z", crawl: []string{"--collect", "all"},
			wrapped: "CLI JSON decoded into the SDK's types and written in the wire form of EC2",
			wrap: func(body []byte) fixture {
				all, err := awstest.InstanceTypes(body)
				if err != nil {
					return typesFixture([]byte(err.Error())) // a mutation may break the JSON
				}
				wire, err := awstest.InstanceTypesXML(all, "")
				if err != nil {
					panic(err) // the SDK's types have a wire form
				}
				return typesFixture(wire)
			},
			facts: []claim{
				{"75 types", types(), count(75)},
				{"devices by kind", types(), kinds(map[string]int{"gpu": 57, "inferentia": 4, "trainium": 4, "qualcomm": 1, "none": 9})},
				{"H100, H200, B200 and both A100", types("--type", "p5.48xlarge,p6-b200.48xlarge,p5en.48xlarge,p4d.24xlarge,p4de.24xlarge"), has(
					fields,
					"p5.48xlarge h100-sxm-80gb 8 81920", "p6-b200.48xlarge b200-sxm-180gb 8 183359", "p5en.48xlarge h200-sxm-141gb 8 144384",
					"p4d.24xlarge a100-sxm-40gb 8 40960", "p4de.24xlarge a100-sxm-80gb 8 81920",
				)},
				{"the machine around eight H100", types("--type", "p5.48xlarge"), has("vcpu memory_gib network_gbps", "192 2048 3200")},
				slice, inferentia,
				{"Trainium from the Neuron block", types("--type", "trn2.48xlarge"), has(fields, "trn2.48xlarge trainium2-96gb 16 524288")},
				{"Qualcomm from the inference block", types("--type", "dl2q.24xlarge"), has("accelerator.raw accelerator.count", "Qualcomm AI100 8")},
				{"FPGA, video and ordinary types have no accelerator of ours", types("--type", "f2.48xlarge,vt1.3xlarge,m5.large"), has(
					"instance_type accelerator", "f2.48xlarge <null>", "vt1.3xlarge <null>", "m5.large <null>",
				)},
			},
			edits: []mutation{
				{"one digit of a memory size", "144384", "81920"},
				{"one digit of a count", `"GpuPartitionSize": 0.125`, `"GpuPartitionSize": 0.25`},
				{"a required field renamed", `"InstanceType"`, `"Type"`},
				{"a block renamed", `"NeuronInfo"`, `"NeuronInformation"`},
				{"two columns swapped", `"DefaultVCpus": 192`, `"DefaultCores": 192`},
			},
		},
		{
			name: "ec2_wire.DescribeInstanceTypes.xml", provider: "aws", at: "2026-08-02T00:00:00Z", crawl: []string{"--collect", "all"},
			wrapped: "a composed last page behind the placeholder token",
			wrap:    typesFixture,
			facts: []claim{
				{"ten types and the next page", types(), count(11)},
				{"cards", types("--type", "p5.48xlarge,p4de.24xlarge,g5.2xlarge,p6-b200.48xlarge"), has(
					fields,
					"p5.48xlarge h100-sxm-80gb 8 81920", "p4de.24xlarge a100-sxm-80gb 8 81920", "g5.2xlarge a10g-24gb 1 22888",
					"p6-b200.48xlarge b200-sxm-180gb 8 183359",
				)},
				slice, inferentia,
				{"Trainium, no GPU", types("--type", "trn2.48xlarge"), has("accelerator.vendor accelerator.count", "AWS 16")},
				{"Qualcomm AI100", types("--type", "dl2q.24xlarge"), has("accelerator.raw accelerator.count", "Qualcomm AI100 8")},
				{"an FPGA and an ordinary machine have no GPU", types("--type", "f2.48xlarge,m5.large"), has(
					"instance_type accelerator", "f2.48xlarge <null>", "m5.large <null>",
				)},
				{"workloads are the vendor's use tags", types("--type", "p5.48xlarge"), has("use", `["ml-ai"]`)},
			},
			edits: []mutation{
				{"one digit of a memory size", "<sizeInMiB>22888<", "<sizeInMiB>22889000<"},
				{"one digit of a partition", "<gpuPartitionSize>0.125<", "<gpuPartitionSize>0.5<"},
				{"a required element renamed", "instanceType>", "kind>"},
				{"a list renamed", "workloadSet", "workloads"},
				{"two blocks swapped", "neuronInfo", "fpgaInfo"},
				{"the token cut", "<nextToken>", "<next>"},
			},
		},
	}
}

// typesFixture answers DescribeInstanceTypes in the first region with body and,
// where body names a next page, that page with one more type. Other regions
// answer the same.
func typesFixture(body []byte) fixture {
	last := `<?xml version="1.0" encoding="UTF-8"?><DescribeInstanceTypesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">` +
		`<requestId>last</requestId><instanceTypeSet><item><instanceType>g4dn.xlarge</instanceType></item></instanceTypeSet><nextToken/></DescribeInstanceTypesResponse>`
	f := fixture{files: map[string][]byte{"types.xml": body, "last.xml": []byte(last)}}
	for _, region := range []string{"us-east-1", "us-east-2", "us-west-2"} {
		url := fmt.Sprintf("https://ec2.%s.amazonaws.com/", region)
		if bytes.Contains(body, []byte("<nextToken>")) {
			f.exchanges = append(f.exchanges, exchange{Source: "instance-types", Method: "POST", URL: url, BodyContains: "NextToken=", File: "last.xml"})
		}
		f.exchanges = append(f.exchanges, exchange{Source: "instance-types", Method: "POST", URL: url, BodyContains: "Action=DescribeInstanceTypes", File: "types.xml"})
	}
	return f
}

// kinds checks how many types have which device.
func kinds(want map[string]int) func([]answerRow) error {
	return func(rows []answerRow) error {
		got := map[string]int{}
		for _, r := range rows {
			got[kindOf(r)]++
		}
		for k, n := range want {
			if got[k] != n {
				return fmt.Errorf("%d types of kind %s, want %d: %v", got[k], k, n, got)
			}
		}
		return nil
	}
}

func kindOf(r answerRow) string {
	raw, slug := r.text("accelerator.raw"), r.text("accelerator.slug")
	switch {
	case strings.HasPrefix(slug, "inferentia"):
		return "inferentia"
	case strings.HasPrefix(slug, "trainium"):
		return "trainium"
	case strings.Contains(raw, "AI100"):
		return "qualcomm"
	case raw == "<null>":
		return "none"
	}
	return "gpu"
}
