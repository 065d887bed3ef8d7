package main

// ucloudRecordings is the documented price of UCloud and what must come out.
// Figures: payloads/ucloud/SOURCES.md of the shared recordings. The size asked
// for is that of the documented request, which has no card.
func ucloudRecordings() []recording {
	const (
		api   = "https://api.ucloud.cn/?PublicKey=*&Action="
		types = `{"RetCode":0,"AvailableInstanceTypes":[{"Name":"card","Zone":"cn-bj2-04","Status":"Normal","MachineClass":"GPU",` +
			`"MachineSizes":[{"Gpu":1,"Collection":[{"Cpu":2,"Memory":[4]}]}],"Disks":[{"BootDisk":[{"Name":"CLOUD_SSD"}]}]}]}`
		size = "&Region=cn-bj2&Zone=cn-bj2-04&MachineType=G&GpuType=card&GPU=1&CPU=2&Memory=4096&Count=1&ChargeType=Dynamic" +
			"&Disks.0.IsBoot=True&Disks.0.Type=CLOUD_SSD&Disks.0.Size=20"
	)
	return []recording{{
		name: "get_uhost_instance_price_doc.json", provider: "ucloud", at: "2026-09-20T00:00:00Z",
		wrapped: "composed regions and a type whose price this is",
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{
					{Source: "regions", URL: api + "GetRegion", File: "regions.json"},
					{Source: "types", URL: api + "DescribeAvailableInstanceTypes&Region=cn-bj2", File: "types.json"},
					{Source: "prices", URL: api + "GetUHostInstancePrice" + size, File: "price.json"},
				},
				files: map[string][]byte{
					"regions.json": []byte(`{"RetCode":0,"Regions":[{"Region":"cn-bj2"}]}`), "types.json": []byte(types), "price.json": body,
				},
			}
		},
		facts: []claim{{
			"0.42 CNY an hour, what is paid; no list price in the answer, and none invented",
			[]string{"query", "offers", "--provider", "ucloud", "--all"},
			has(
				"instance_type region zone market published.amount published.unit currency stat",
				"G.cardx1.c2m4 cn-bj2 cn-bj2-04 on_demand 0.42 h CNY payable",
			),
		}},
		edits: []mutation{
			{"one digit of the price", `0.42`, `0.43`},
			{"another way to pay", `"Dynamic"`, `"Month"`},
			{"a refusal", `"RetCode": 0`, `"RetCode": 171`},
			{"the price renamed", `"Price"`, `"OriginalPrice"`},
			{"the list renamed", `"PriceSet"`, `"Prices"`},
			{"a price that is none", `0.42`, `0`},
		},
	}}
}
