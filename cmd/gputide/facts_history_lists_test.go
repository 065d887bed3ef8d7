package main

// The numbers of the facts are those of history/facts.md.

const window2020 = " --from 2020-01-05 --to 2020-02-05"

func awsSpotFacts() []pastFact {
	zone := func(n int, typ, zone, rows, changes, low, median, high, mean string, exact float64) pastFact {
		of := " --type " + typ + " --zone " + zone + window2020
		return pastFact{n, "AWS spot " + typ + " in " + zone + " over a month", []asking{
			one("query trend --bucket all --over rows"+of, "n", rows, "changes", changes, "min", low, "p50", median, "max", high),
			shows("query trend --bucket all"+of, "mean over", closeTo("mean", exact, sixDecimals)),
			shows("query spot"+of, "price_mean over", closeTo("price_mean", exact, sixDecimals)),
		}}
	}
	all := "query spot --provider aws --os linux --over rows"
	return []pastFact{
		{1, "Every row of AWS's spot history, change or not, is an observation", []asking{
			one("import aws_spot_2020.csv.gz --profile aws_spot_2020", "rows", "15905", "series", "92", "first_seen", "92", "changed", "8920", "confirmed", "6893"),
			comesTo(all, "15905 samples, 8920 changes", totals("samples", "changes")),
		}},
		zone(2, "p3.2xlarge", "us-east-1b", "126", "121", "0.9647", "1.04025", "1.1564", "1.053903", 1.053903),
		zone(3, "p3.2xlarge", "us-east-1d", "125", "120", "0.9198", "0.9491", "0.9691", "0.945296", 0.945296),
		zone(4, "p2.xlarge", "us-east-1a", "122", "119", "0.3718", "0.38125", "0.4135", "0.384419", 0.384419),
		{5, "The cheapest zone of p3.2xlarge as of a moment", []asking{
			shows("query offers --market spot --type p3.2xlarge --region us-east-1 --at 2020-02-01T00:00:00Z", "zone price observed_at", inOrder(
				"zone price observed_at",
				"us-east-1c 0.918 2020-01-31T13:11:17Z", "us-east-1f 0.9285 2020-01-31T20:09:48Z",
				"us-east-1d 0.9297 2020-01-31T16:40:01Z", "us-east-1b 1.0033 2020-01-31T21:49:57Z")),
			list("query spot --type p3.2xlarge --region us-east-1 --to 2020-02-01", "zone price best_zone_now",
				"us-east-1b 1.0033 us-east-1c", "us-east-1c 0.918 us-east-1c", "us-east-1d 0.9297 us-east-1c", "us-east-1f 0.9285 us-east-1c"),
		}},
		{6, "A price that never moves, and no on-demand price of its time to set it against", []asking{
			one("query spot --type p2.xlarge --zone us-east-1f --over rows",
				"samples", "87", "changes", "0", "price_min", "0.9", "price_max", "0.9", "from", "2020-01-03T22:55:01Z", "observed_at", "2020-03-23T13:30:51Z",
				"reason", "no_reference", "now_pct", "<null>", "p50_pct", "<null>", "on_demand", "<null>"),
		}},
		{7, "39 of the 89 spot series with two rows or more never change", []asking{comesTo(all, "39 of 89 with two or more never change", still)}},
		{8, "The spot series with most changes", []asking{
			shows("query changes --provider aws --market spot --count-by series --top 3", "zone instance_type count", inOrder("zone instance_type count",
				"us-west-2c p3.16xlarge 357", "us-east-1b p3.2xlarge 355", "us-west-2a p2.xlarge 350")),
		}},
		{9, "The highest and the lowest spot price", []asking{
			one("query trend --provider aws --market spot --os linux --group-by provider --mix gpu --bucket all --over rows", "max", "26.44", "min", "0.27", "n", "15905"),
			list("query changes --zone eu-west-1c --type p3.16xlarge", "kind after", "first_seen 26.44"),
			one("query trend --zone us-west-2c --type p2.xlarge --bucket all --over rows", "min", "0.27"),
		}},
		{48, "The same month over time: the price carried in counts", []asking{
			one("query trend --bucket all --type p3.2xlarge --zone us-east-1b"+window2020, "min", "0.9627", "max", "1.1564", "covered_share", "1"),
		}},
		{49, "p2.xlarge over time", []asking{
			one("query spot --type p2.xlarge --zone us-east-1a"+window2020, "price_max", "0.4199", "price_min", "0.3718").also("price_mean", closeTo("price_mean", 0.384419, sixDecimals)),
		}},
	}
}

const usEast = " --provider aws --market on_demand --region us-east-1"

func awsListFacts() []pastFact {
	cut := func(n int, typ, first, before, after, pct, rows string) pastFact {
		of := usEast + " --type " + typ
		return pastFact{n, "The one change of " + typ, []asking{
			one("query changes --kind price"+of, "before", before, "after", after, "pct", pct, "seen_at", "2025-06-23T13:18:30Z", "not_before", "2025-04-28T13:22:31Z"),
			one("query trend --bucket all --over rows"+of, "n", rows, "changes", "1", "first", before, "last", after),
			one("query offers --at 2026-07-20T13:44:30Z"+of, "price", after, "observed_at", "2026-07-20T13:44:30Z", "state", "priced"),
			one("query changes --kind first_seen"+of, "after", before, "seen_at", first),
		}}
	}
	born := []asking{}
	for _, b := range [][3]string{
		{"p5.48xlarge", "98.32", "2023-07-31T13:09:33Z"},
		{"g6.xlarge", "0.8048", "2024-04-08T13:06:24Z"},
		{"g6e.xlarge", "1.861", "2024-08-16T05:23:42Z"},
		{"p6-b200.48xlarge", "113.9328", "2025-07-28T13:21:01Z"},
		{"g7e.2xlarge", "3.36312", "2026-01-20T23:41:45Z"},
		{"p6-b300.48xlarge", "142.416", "2026-05-18T14:21:15Z"},
		{"g7.2xlarge", "2.52", "2026-06-15T15:13:55Z"},
	} {
		born = append(born, one("query changes --kind first_seen"+usEast+" --type "+b[0], "before", "<null>", "after", b[1], "seen_at", b[2]))
	}
	lists := " --provider aws --market on_demand --region us-east-1,cn-north-1"
	return []pastFact{
		cut(10, "p5.48xlarge", "2023-07-31T13:09:33Z", "98.32", "55.04", "-44.0195", "60"),
		cut(11, "p4d.24xlarge", "2022-06-22T13:25:00Z", "32.7726", "21.957642", "-33", "102"),
		cut(12, "p4de.24xlarge", "2022-06-22T13:25:00Z", "40.96575", "27.44705", "-33", "102"),
		cut(13, "p5en.48xlarge", "2025-03-31T13:14:23Z", "84.8", "63.296", "-25.3585", "26"),
		{14, "List prices hardly move", []asking{
			one("import aws_ondemand_2022_2026.csv.gz --profile aws_ondemand_2022_2026", "rows", "84490", "series", "1685", "changed", "26"),
			comesTo("export"+lists, "84490 prices of 1685 offers, 1607 of 1632 with two or more never change", observed),
			counted(26, "query changes --kind price"+lists),
			list("query changes --kind price --vendor nvidia,amd"+lists, "instance_type", "p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge", "p5en.48xlarge"),
		}},
		{15, "Types on offer in us-east-1, then and now", []asking{
			counted(545, "query offers --all --state priced --at 2022-06-22T13:25:00Z"+usEast),
			counted(1367, "query offers --all --state priced --at 2026-07-20T13:44:30Z"+usEast),
		}},
		{16, "Types as they first appear", born},
		{17, "An AWS price in China, in dollars of that day", []asking{
			one("query trend --type p3.2xlarge --partition aws-cn --region cn-north-1 --over rows --bucket all", "n", "21", "changes", "0", "min", "36.078", "max", "36.078", "currency", "CNY"),
			one("query offers --type p3.2xlarge --region cn-north-1 --at 2023-02-01T14:14:10Z", "price", "36.078", "currency", "CNY", "price_usd", "5.350892174", "fx_date", "2023-02-01"),
			shows("query fx --base CNY --quote USD --amount 36.078 --at 2023-02-01", "converted", closeTo("converted", 5.350892, sixDecimals)),
		}},
		{40, "The one change of on-demand Linux prices of GPU types, 2013 to 2017", []asking{
			one("query changes --kind price --provider aws --market on_demand --os linux --to 2018-01-01", "region", "ap-northeast-1", "instance_type", "g2.2xlarge",
				"before", "0.943", "after", "0.898", "not_before", "2014-02-22T20:49:10Z", "seen_at", "2014-07-06T21:09:13Z"),
		}},
	}
}

func azureFacts() []pastFact {
	const mi300 = "query changes --type Standard_ND96isr_MI300X_v5 --kind price --from 2025-05-16 --to 2025-05-17"
	const poland = " --provider azure --region polandcentral --type Standard_ND96ams_A100_v4"
	return []pastFact{
		{18, "MI300X falls in seventeen regions at once", []asking{
			shows(mi300, "region before after", count(17)).also("", only("not_before", "2024-12-13T01:59:24Z", only("seen_at", "2025-05-16T07:05:27Z", count(17)))),
			one(mi300+" --region australiasoutheast", "before", "123.883", "after", "67.2", "pct", "-45.7553"),
		}},
		{19, "An outlier the source really published is kept, and named", []asking{
			list("query changes"+poland, "kind after seen_at", "first_seen 46.861 2023-10-27T06:44:32Z", "price 7.692 2025-05-16T07:05:27Z", "price 46.89 2026-04-02T00:04:39Z"),
			one("query trend --over rows --bucket all"+poland, "n", "8", "min", "7.692", "max", "46.89", "changes", "2"),
		}},
		{20, "A price that falls and rises again", []asking{
			shows("query changes --kind price --provider azure --region centralus --type Standard_NCC40ads_H100_v5", "before after seen_at", inOrder(
				"before after", "9.73 7.89", "7.89 9.73")),
			one("query trend --provider azure --region centralus --type Standard_NCC40ads_H100_v5 --bucket all --over rows --from 2025-05-16", "first", "9.73", "min", "7.89", "last", "9.73", "changes", "2"),
		}},
		{21, "Changes of Azure's N-series by observation", []asking{
			list("query changes --provider azure --os linux --count-by day", "value count",
				"2023-12-18T00:00:00Z 12", "2024-12-13T00:00:00Z 6", "2025-05-16T00:00:00Z 102", "2025-06-03T00:00:00Z 3",
				"2026-04-02T00:00:00Z 33", "2026-06-18T00:00:00Z 60"),
			counted(216, "query changes --kind price --provider azure --os linux"),
		}},
	}
}
