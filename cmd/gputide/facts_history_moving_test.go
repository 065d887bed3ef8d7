package main

func gcpFacts() []pastFact {
	at := func(typ, region string) string { return " --type " + typ + " --region " + region }
	a2, a3 := at("a2-highgpu-1g", "us-central1"), at("a3-highgpu-8g", "us-central1")
	discount := func(n int, typ, region string, rows int, low, median, high float64) pastFact {
		return pastFact{n, "Spot discount of " + typ + " in " + region, []asking{
			shows("query spot --over rows"+at(typ, region), "samples min_pct p50_pct max_pct", percents(rows, low, median, high)),
		}}
	}
	return []pastFact{
		{22, "GCP's A100: one on-demand price for four years, a spot price since 2023", []asking{
			one("query trend --market on_demand --bucket all --over rows"+a2, "n", "284", "changes", "0", "min", "3.673385", "max", "3.673385"),
			one("query changes --kind first_seen --market on_demand"+a2, "seen_at", "2022-02-27T15:41:02Z"),
			one("query spot --over rows"+a2, "price_first", "1.102016", "changes", "9", "price_last", "1.92802", "observed_at", "2026-07-30T06:13:17Z"),
			one("query changes --kind first_seen --market spot"+a2, "after", "1.102016", "seen_at", "2023-05-08T06:42:47Z"),
		}},
		discount(23, "a2-highgpu-1g", "us-central1", 199, 47.51, 60.00, 70.00),
		discount(24, "a3-highgpu-8g", "us-central1", 130, 29.32, 61.13, 76.99),
		discount(25, "g2-standard-4", "us-central1", 199, 43.79, 61.44, 70.00),
		discount(26, "g2-standard-4", "europe-west1", 199, 54.07, 63.49, 70.00),
		{27, "GCP's H100 spot price: its range and its largest fall", []asking{
			one("query spot --over rows"+a3, "samples", "130", "changes", "25", "price_max", "62.547325", "price_min", "20.365499", "price_last", "50.609541", "observed_at", "2026-07-30T06:13:17Z"),
			comesTo("query changes --kind price --market spot"+a3, "the largest fall is 35.39575 to 20.423034, -42.3009 %, seen 2025-03-13T03:56:02Z", largestFall),
		}},
		{28, "and its rise since", []asking{
			comesTo("query changes --kind price --market spot --from 2025-10-01 --to 2026-08-01"+a3, "14 changes, 14 up", ups),
			one("query trend --market spot --bucket all --over rows --from 2025-11-06 --to 2026-08-01"+a3, "first", "20.390157", "last", "50.609541").also(
				"change_pct", closeTo("change_pct", 148.21, 0.005)),
		}},
		{29, "The one change of an L4 in Europe", []asking{
			one("query changes --type g2-standard-4 --region europe-west4 --market on_demand --kind price", "before", "0.778293", "after", "0.742916",
				"seen_at", "2023-08-10T13:53:50Z", "not_before", "2023-07-27T03:58:20Z"),
		}},
		{30, "GCP's spot changes by year", []asking{
			list("query changes --provider gcp --market spot --region '*-*' --count-by year", "value count",
				"2023-01-01T00:00:00Z 263", "2024-01-01T00:00:00Z 523", "2025-01-01T00:00:00Z 829", "2026-01-01T00:00:00Z 1919"),
		}},
		{50, "GCP's spot discounts over time", []asking{
			one("query spot"+a3, "min_pct", "29.3171", "max_pct", "76.9855").also("p50_pct", closeTo("p50_pct", 62.983, 0.0005)),
			one("query spot"+a2, "min_pct", "47.5138", "p50_pct", "60", "max_pct", "70"),
		}},
	}
}

func marketFacts() []pastFact {
	const card = " --provider vastai --gpu rtx-4090 --count 1 --region US"
	return []pastFact{
		{31, "RunPod's secure on-demand prices of one card, every change", []asking{
			list("query changes --kind price --provider runpod --tier secure --market on_demand --count 1", "seen_at instance_type before after",
				"2026-05-19T00:00:00Z NVIDIA B200×1 5.49 5.89",
				"2026-05-19T00:00:00Z NVIDIA H100 NVL×1 3.07 3.19",
				"2026-05-19T00:00:00Z NVIDIA H100 PCIe×1 2.39 2.89",
				"2026-05-19T00:00:00Z NVIDIA H100 80GB HBM3×1 2.99 3.29",
				"2026-05-19T00:00:00Z NVIDIA H200×1 3.99 4.39",
				"2026-05-19T00:00:00Z NVIDIA L40×1 0.99 0.82",
				"2026-05-19T00:00:00Z RTX_PRO_6000×1 1.89 2.09",
				"2026-06-18T00:00:00Z NVIDIA L40S×1 0.86 0.99",
				"2026-06-18T00:00:00Z AMD Instinct MI300X OAM×1 1.99 2.19",
				"2026-07-07T00:00:00Z NVIDIA H100 80GB HBM3×1 3.29 2.99",
				"2026-07-07T00:00:00Z RTX_PRO_6000×1 2.09 1.99"),
		}},
		{32, "Vast.ai's cheapest RTX 4090 in the US, on demand", []asking{
			one("query trend --market on_demand --over rows --bucket all"+card, "n", "71", "changes", "66", "min", "0.2896", "p50", "0.4444", "max", "1.1788", "first", "0.4827", "last", "0.3096"),
		}},
		{33, "and as a bid", []asking{
			one("query trend --market spot --over rows --bucket all"+card, "n", "73", "changes", "66", "min", "0.0933", "p50", "0.232", "max", "0.831", "first", "0.0933", "last", "0.2533"),
		}},
		{34, "Its discount, negative on some days", []asking{shows("query spot --over rows"+card, "samples min_pct p50_pct max_pct", percents(71, -35.84, 48.52, 80.67))}},
		{35, "Lambda's cheapest prices do not move", []asking{
			counted(6, "query changes --kind first_seen --provider lambda --stat min"),
			counted(0, "query changes --kind price --provider lambda --stat min"),
			comesTo("export --provider lambda --stat min", "prices at 71 moments", days),
		}},
		{36, "Prime Intellect's listing of Lambda's H100 flaps among four prices", []asking{
			one("query trend --provider primeintellect --seller lambdalabs --type 'NVIDIA H100 SXM5×1' --over rows --bucket all", "n", "864", "changes", "203", "min", "2.99", "max", "3.29"),
			comesTo("query changes --kind price,first_seen --provider primeintellect --seller lambdalabs --type 'NVIDIA H100 SXM5×1'", "after takes 2.99, 3.09, 3.19, 3.29", values("after")),
		}},
		{37, "and of DataCrunch's B200", []asking{
			one("query trend --provider primeintellect --seller datacrunch --type 'NVIDIA B200×1' --over rows --bucket all", "changes", "20", "min", "1.55", "max", "1.8", "first", "1.65", "last", "1.79"),
			one("query changes --kind first_seen --provider primeintellect --seller datacrunch --type 'NVIDIA B200×1'", "after", "1.65", "seen_at", "2025-11-07T05:40:10Z"),
			one("query offers --all --provider primeintellect --seller datacrunch --type 'NVIDIA B200×1' --at 2025-11-16T06:47:03Z", "price", "1.79", "observed_at", "2025-11-16T06:47:03Z"),
		}},
	}
}

func tableFacts() []pastFact {
	const p5 = "query compare --per mlperf:llama2-70b-99@v4.1-0043 --provider aws --region us-east-1 --type p5.48xlarge --at "
	return []pastFact{
		{38, "A hand-kept table: long flat runs, then jumps", []asking{
			one("query changes --kind price --provider lambda --stat list", "instance_type", "1x H100 (80 GB) 26vcpu 200gb", "before", "2.4", "after", "1.99",
				"not_before", "2023-05-29T17:59:33Z", "seen_at", "2023-06-20T22:33:41Z"),
			one("import fsdl_cloud_gpus_2022_2025.csv --profile fsdl_cloud_gpus", "rows", "8513", "changed", "8"),
		}},
		{39, "Hugging Face's endpoints become cheaper", []asking{
			one("query changes --kind price --provider huggingface --seller aws --type 'nvidia-a100 x8'", "before", "32", "after", "20", "seen_at", "2025-06-11T15:40:08Z"),
			one("query changes --kind price --provider huggingface --seller gcp --type 'nvidia-h100 x8'", "before", "100", "after", "80", "seen_at", "2024-12-02T10:12:34Z"),
		}},
		{46, "A rate holds over the weekend", []asking{
			list("query fx --quote USD,CNY --at 2023-02-01", "quote rate", "USD 1.0894", "CNY 7.3452"),
			one("query fx --quote USD --at 2023-02-04", "rate", "1.0937", "fx_date", "2023-02-03"),
		}},
		{47, "What a dollar buys of a benchmark", []asking{
			one(p5+"2026-07-20", "instance_price", "55.04", "benchmark.result", "24524.9", "benchmark.units", "Tokens/s").also(
				"benchmark.per_currency", closeTo("benchmark.per_currency", 1604100, 0.5)),
			one(p5+"2025-04-01", "instance_price", "98.32").also("benchmark.per_currency", closeTo("benchmark.per_currency", 897983, 0.5)),
			one("query compare --per mlperf:llama2-70b-99@v4.1-0002 --provider azure --region westus --type Standard_ND96isr_MI300X_v5 --at 2026-06-18T12:00:00Z", "benchmark.result", "23514.8"),
			one("query compare --per mlperf:llama2-70b-99@v4.1-0048 --provider aws --region us-east-1 --type p5en.48xlarge --at 2026-07-20", "benchmark.result", "31302.7"),
		}},
	}
}

func advisorFacts() []pastFact {
	signals := func(typ, at, savings, label string) asking {
		line := "query signals --region us-east-1 --os linux --type " + typ + " --at " + at
		return shows(line, "name value label", func(rows []answerRow) error {
			if err := only("name", "savings", has("value", savings))(rows); err != nil {
				return err
			}
			return only("name", "interruption", has("label", label))(rows)
		})
	}
	bands := func(n int, at string, want ...string) pastFact {
		fields := make([]string, len(want))
		for i, label := range []string{"<5%", "5-10%", "10-15%", "15-20%", ">20%"} {
			fields[i] = label + " " + want[i]
		}
		return pastFact{n, "Interruption bands of Linux GPU types on " + at[:10], []asking{
			list("query signals --name interruption --count-by value --os linux --at "+at, "label count", fields...),
		}}
	}
	const first, second, third = "2021-02-10T11:17:16Z", "2024-02-28T23:00:00Z", "2025-06-28T23:00:00Z"
	return []pastFact{
		{41, "The spot advisor of g4dn.xlarge", []asking{
			signals("g4dn.xlarge", first, "70", "5-10%"), signals("g4dn.xlarge", second, "58", "5-10%"), signals("g4dn.xlarge", third, "64", "15-20%"),
		}},
		{42, "and of p4d.24xlarge", []asking{
			signals("p4d.24xlarge", first, "70", "<5%"), signals("p4d.24xlarge", second, "69", ">20%"), signals("p4d.24xlarge", third, "67", "10-15%"),
		}},
		bands(43, "2021-02-10T23:00:00Z", "31", "33", "52", "28", "109"),
		bands(44, second, "186", "57", "24", "16", "192"),
		bands(45, third, "179", "68", "71", "74", "290"),
	}
}
