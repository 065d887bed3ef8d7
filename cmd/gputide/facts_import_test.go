package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The facts of the shared history, proven through `import` and `query` as a user
// would. What trend, discount and spot say of them is proven beside those verbs.

// importNow is after every row of the shared history.
var importNow = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// importHistory imports files of the shared history into a new database. Names
// are those of profiles; the file of a profile begins with its name.
func importHistory(t *testing.T, profiles ...string) (*cli, []importOut) {
	t.Helper()
	dir := shared(t)
	c := testMain(t)
	c.Now = func() time.Time { return importNow }
	var outs []importOut
	for _, p := range profiles {
		files, err := filepath.Glob(filepath.Join(dir, "history", p+"*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("files of profile %s: %v, %v", p, files, err)
		}
		var out importOut
		if err := json.Unmarshal([]byte(c.must(t, "import", files[0], "--profile", p, "-o", "json")), &out); err != nil {
			t.Fatal(err)
		}
		if out.Rejected > 0 {
			t.Errorf("%s: rejected %v, %v", p, out.Reasons, out.Examples)
		}
		outs = append(outs, out)
	}
	return c, outs
}

// proveImported checks claims on the database of c.
func proveImported(t *testing.T, c *cli, claims []claim) {
	t.Helper()
	for _, f := range claims {
		t.Run("fact/"+f.name, func(t *testing.T) {
			tally.all.Add(1)
			if err := f.prove(t, c.env["GPUTIDE_DB"]); err != nil {
				t.Errorf("gputide %s: %v", strings.Join(f.query, " "), err)
				return
			}
			tally.proven.Add(1)
		})
	}
}

// asked is a query as one text.
func asked(s string) []string { return strings.Fields(s) }

// inOrder checks that exactly these rows come out, in this order.
func inOrder(fields string, want ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		for i, w := range want {
			if i < len(rows) {
				if err := has(fields, w)(rows[i : i+1]); err != nil {
					return fmt.Errorf("row %d: %w", i, err)
				}
			}
		}
		return count(len(want))(rows)
	}
}

// only checks the rows that have a value in a field and leaves the others out.
func only(field, value string, check func([]answerRow) error) func([]answerRow) error {
	return func(rows []answerRow) error {
		return check(slices.DeleteFunc(slices.Clone(rows), func(r answerRow) bool { return r.text(field) != value }))
	}
}

// countsBy checks how many rows share the first n bytes of a field.
func countsBy(field string, n int, want map[string]int) func([]answerRow) error {
	return func(rows []answerRow) error {
		got := map[string]int{}
		for _, r := range rows {
			got[r.text(field)[:n]]++
		}
		if !maps.Equal(got, want) {
			return fmt.Errorf("by %s: %v, want %v", field, got, want)
		}
		return nil
	}
}

// extremes checks the lowest and highest value of a price field.
func extremes(field string, low, high float64) func([]answerRow) error {
	return func(rows []answerRow) error {
		if len(rows) == 0 {
			return errors.New("no rows")
		}
		var values []float64
		for _, r := range rows {
			var v float64
			if _, err := fmt.Sscan(r.text(field), &v); err != nil {
				return err
			}
			values = append(values, v)
		}
		if slices.Min(values) != low || slices.Max(values) != high {
			return fmt.Errorf("%s from %v to %v, want %v to %v", field, slices.Min(values), slices.Max(values), low, high)
		}
		return nil
	}
}

func TestImportFactsSpot2020(t *testing.T) {
	c, outs := importHistory(t, "aws_spot_2020")
	o := outs[0]
	if o.Rows != 15905 || o.Series != 92 || o.FirstSeen != 92 || o.Changed != 8920 || o.Confirmed != 6893 {
		t.Errorf("fact 1: %+v", o)
	}
	seriesOf := func(rows []answerRow) map[string]int {
		n := map[string]int{}
		for _, r := range rows {
			n[r.text("zone")+" "+r.text("instance_type")]++
		}
		return n
	}
	proveImported(t, c, []claim{
		{"1 changes", asked("query changes --kind price"), count(8920)},
		{"1 series", asked("query changes --kind first_seen"), count(92)},
		{"5", asked("query offers --type p3.2xlarge --region us-east-1 --at 2020-02-01T00:00:00Z"), inOrder(
			"zone price observed_at",
			"us-east-1c 0.918 2020-01-31T13:11:17Z", "us-east-1f 0.9285 2020-01-31T20:09:48Z",
			"us-east-1d 0.9297 2020-01-31T16:40:01Z", "us-east-1b 1.0033 2020-01-31T21:49:57Z")},
		{"6", asked("query changes --type p2.xlarge --zone us-east-1f"), has(
			"kind after seen_at", "first_seen 0.9 2020-01-03T22:55:01Z")},
		{"6 last", asked("query offers --type p2.xlarge --zone us-east-1f --at 2020-04-01"), has(
			"price observed_at state", "0.9 2020-03-23T13:30:51Z imported_end")},
		{"7", asked("query changes --kind price"), func(rows []answerRow) error {
			if n := len(seriesOf(rows)); n != 89-39 {
				return fmt.Errorf("%d series change, want 50 of 89", n)
			}
			return nil
		}},
		{"8", asked("query changes --kind price"), func(rows []answerRow) error {
			n := seriesOf(rows)
			names := slices.SortedFunc(maps.Keys(n), func(a, b string) int { return n[b] - n[a] })
			top := fmt.Sprint(names[0], n[names[0]], " ", names[1], n[names[1]], " ", names[2], n[names[2]])
			if want := "us-west-2c p3.16xlarge357 us-east-1b p3.2xlarge355 us-west-2a p2.xlarge350"; top != want {
				return fmt.Errorf("top %s, want %s", top, want)
			}
			return nil
		}},
		{"9", asked("query changes"), extremes("after", 0.27, 26.44)},
		{"9 lowest", asked("query changes --zone us-west-2c --type p2.xlarge"), some("after", "0.27")},
		{"9 highest", asked("query changes --zone eu-west-1c --type p3.16xlarge"), some("after", "26.44")},
	})
}

// some checks that at least one row has a value in a field.
func some(field, value string) func([]answerRow) error {
	return func(rows []answerRow) error {
		if !slices.ContainsFunc(rows, func(r answerRow) bool { return r.text(field) == value }) {
			return fmt.Errorf("no %s is %s", field, value)
		}
		return nil
	}
}

func TestImportFactsAWSOnDemand(t *testing.T) {
	c, outs := importHistory(t, "aws_ondemand_2022_2026", "fx_ecb_2013_2026")
	if o := outs[0]; o.Rows != 84490 || o.Series != 1685 || o.Changed != 26 {
		t.Errorf("fact 14: %+v", o)
	}
	const step = "2025-06-23T13:18:30Z 2025-04-28T13:22:31Z"
	change := func(name, typ, first, want string) []claim {
		return []claim{
			{name, asked("query changes --region us-east-1 --type " + typ), both(
				only("kind", "first_seen", has("after seen_at", first)),
				only("kind", "price", has("before after seen_at not_before", want+" "+step)))},
			{name + " last", asked("query offers --region us-east-1 --at 2026-07-20T13:44:30Z --type " + typ), has(
				"price observed_at state", strings.Fields(want)[1]+" 2026-07-20T13:44:30Z priced")},
		}
	}
	var claims []claim
	claims = append(claims, change("10", "p5.48xlarge", "98.32 2023-07-31T13:09:33Z", "98.32 55.04")...)
	claims = append(claims, change("11", "p4d.24xlarge", "32.7726 2022-06-22T13:25:00Z", "32.7726 21.957642")...)
	claims = append(claims, change("12", "p4de.24xlarge", "40.96575 2022-06-22T13:25:00Z", "40.96575 27.44705")...)
	claims = append(claims, change("13", "p5en.48xlarge", "84.8 2025-03-31T13:14:23Z", "84.8 63.296")...)
	for typ, want := range map[string]string{
		"p5.48xlarge":      "98.32 2023-07-31T13:09:33Z",
		"g6.xlarge":        "0.8048 2024-04-08T13:06:24Z",
		"g6e.xlarge":       "1.861 2024-08-16T05:23:42Z",
		"p6-b200.48xlarge": "113.9328 2025-07-28T13:21:01Z",
		"g7e.2xlarge":      "3.36312 2026-01-20T23:41:45Z",
		"p6-b300.48xlarge": "142.416 2026-05-18T14:21:15Z",
		"g7.2xlarge":       "2.52 2026-06-15T15:13:55Z",
	} {
		claims = append(claims, claim{
			"16 " + typ, asked("query changes --kind first_seen --region us-east-1 --type " + typ), has("before after seen_at", "<null> "+want),
		})
	}
	claims = append(claims,
		claim{"14", asked("query changes --kind price"), count(26)},
		claim{"14 GPU", asked("query changes --kind price --vendor nvidia --vendor amd"), has(
			"instance_type", "p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge", "p5en.48xlarge")},
		claim{"15 first", asked("query offers --all --region us-east-1 --state priced --at 2022-06-22T13:25:00Z"), count(545)},
		claim{"15 last", asked("query offers --all --region us-east-1 --state priced --at 2026-07-20T13:44:30Z"), count(1367)},
		claim{"17", asked("query offers --type p3.2xlarge --region cn-north-1 --at 2023-02-01T14:14:10Z"), has(
			"partition price currency price_usd fx_date", "aws-cn 36.078 CNY 5.350892174 2023-02-01")},
		claim{"17 no change", asked("query changes --type p3.2xlarge --region cn-north-1"), has("kind after seen_at", "first_seen 36.078 2023-02-01T14:14:10Z")},
	)
	proveImported(t, c, claims)
}

func TestImportFactsAzure(t *testing.T) {
	c, _ := importHistory(t, "azure_ondemand_2023_2026")
	proveImported(t, c, []claim{
		{"18", asked("query changes --kind price --type Standard_ND96isr_MI300X_v5"), both(
			only("seen_at", "2025-05-16T07:05:27Z", only("not_before", "2024-12-13T01:59:24Z", count(17))),
			only("region", "australiasoutheast", only("seen_at", "2025-05-16T07:05:27Z", has("before after pct", "123.883 67.2 -45.7553"))))},
		{"19", asked("query changes --region polandcentral --type Standard_ND96ams_A100_v4"), has(
			"kind after", "first_seen 46.861", "price 7.692", "price 46.89")},
		{"19 moments", asked("query changes --kind price --region polandcentral --type Standard_ND96ams_A100_v4"), countsBy(
			"seen_at", 10, map[string]int{"2025-05-16": 1, "2026-04-02": 1})},
		{"20", asked("query changes --kind price --region centralus --type Standard_NCC40ads_H100_v5"), inOrder(
			"before after", "9.73 7.89", "7.89 9.73")},
		{"21", asked("query changes --kind price"), both(count(216), countsBy("seen_at", 10, map[string]int{
			"2023-12-18": 12, "2024-12-13": 6, "2025-05-16": 102, "2025-06-03": 3, "2026-04-02": 33, "2026-06-18": 60,
		}))},
	})
}

func TestImportFactsGCP(t *testing.T) {
	c, _ := importHistory(t, "gcp_gpu_2022_2026")
	a2 := "--region us-central1 --type a2-highgpu-1g"
	proveImported(t, c, []claim{
		{"22 on demand", asked("query changes --market on_demand " + a2), has("kind after seen_at", "first_seen 3.673385 2022-02-27T15:41:02Z")},
		{"22 last", asked("query offers --market on_demand --at 2026-07-30T06:13:17Z " + a2), has("price observed_at", "3.673385 2026-07-30T06:13:17Z")},
		{"22 spot first", asked("query changes --kind first_seen --market spot " + a2), has("after seen_at", "1.102016 2023-05-08T06:42:47Z")},
		{"22 spot", asked("query changes --kind price --market spot " + a2), count(9)},
		{"22 spot last", asked("query offers --market spot --at 2026-07-30T06:13:17Z " + a2), has("price", "1.92802")},
		{"29", asked("query changes --kind price --market on_demand --region europe-west4 --type g2-standard-4"), has(
			"before after seen_at not_before", "0.778293 0.742916 2023-08-10T13:53:50Z 2023-07-27T03:58:20Z")},
		{"30", asked("query changes --kind price --market spot"), countsBy("seen_at", 4, map[string]int{
			"2023": 263, "2024": 523, "2025": 829, "2026": 1919,
		})},
	})
}

func TestImportFactsMarketplaces(t *testing.T) {
	c, outs := importHistory(t, "marketplace_daily_2026", "primeintellect_2025")
	if o := outs[0]; o.Series != 1061 || o.Changed != 8261 {
		t.Errorf("marketplaces: %+v", o)
	}
	proveImported(t, c, []claim{
		{"31", asked("query changes --kind price --provider runpod --tier secure --market on_demand"), has(
			"seen_at instance_type before after",
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
			"2026-07-07T00:00:00Z RTX_PRO_6000×1 2.09 1.99")},
		{"32 changes", []string{"query", "changes", "--kind", "price", "--provider", "vastai", "--region", "US", "--market", "on_demand", "--type", "RTX 4090×1"}, count(66)},
		{"33 changes", []string{"query", "changes", "--kind", "price", "--provider", "vastai", "--region", "US", "--market", "spot", "--type", "RTX 4090×1"}, count(66)},
		{"35", asked("query changes --provider lambda --kind price --kind first_seen"), both(only("kind", "price", count(0)), count(6))},
		{"36", []string{"query", "changes", "--kind", "price", "--kind", "first_seen", "--provider", "primeintellect", "--type", "NVIDIA H100 SXM5×1"}, only(
			"seller", "lambdalabs", both(only("kind", "price", count(203)), takes("after", "2.99", "3.09", "3.19", "3.29")))},
		{"37", []string{"query", "changes", "--kind", "price", "--kind", "first_seen", "--provider", "primeintellect", "--type", "NVIDIA B200×1"}, only(
			"seller", "datacrunch", both(
				only("kind", "price", count(20)), extremes("after", 1.55, 1.8),
				only("kind", "first_seen", has("after seen_at", "1.65 2025-11-07T05:40:10Z"))))},
		{"37 last", []string{"query", "offers", "--provider", "primeintellect", "--type", "NVIDIA B200×1", "--at", "2025-11-16T06:47:03Z", "--all"}, only(
			"seller", "datacrunch", has("price observed_at", "1.79 2025-11-16T06:47:03Z"))},
	})
}

// takes checks which values a field takes.
func takes(field string, want ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		got := map[string]bool{}
		for _, r := range rows {
			got[r.text(field)] = true
		}
		if values := slices.Sorted(maps.Keys(got)); !slices.Equal(values, want) {
			return fmt.Errorf("%s takes %v, want %v", field, values, want)
		}
		return nil
	}
}

func TestImportFactsTables(t *testing.T) {
	c, _ := importHistory(t, "fsdl_cloud_gpus", "hf_endpoints")
	proveImported(t, c, []claim{
		{"38", asked("query changes --kind price --provider lambda"), has(
			"instance_type before after seen_at not_before", "1x H100 (80 GB) 26vcpu 200gb 2.4 1.99 2023-06-20T22:33:41Z 2023-05-29T17:59:33Z")},
		{"38 all", asked("query changes --kind price"), func(rows []answerRow) error {
			n := slices.DeleteFunc(slices.Clone(rows), func(r answerRow) bool { return r.text("provider") == "huggingface" })
			return count(8)(n)
		}},
		{"39 aws", []string{"query", "changes", "--kind", "price", "--provider", "huggingface", "--type", "nvidia-a100 x8"}, only(
			"seller", "aws", has("before after seen_at", "32 20 2025-06-11T15:40:08Z"))},
		{"39 gcp", []string{"query", "changes", "--kind", "price", "--provider", "huggingface", "--type", "nvidia-h100 x8"}, only(
			"seller", "gcp", has("before after seen_at", "100 80 2024-12-02T10:12:34Z"))},
	})
}

func TestImportFactsAWSGPUs(t *testing.T) {
	c, _ := importHistory(t, "aws_ec2_2013_2017", "aws_spot_advisor", "aws_ondemand_2022_2026")
	bands := func(at string, want ...string) claim {
		fields := make([]string, len(want))
		for i, label := range []string{"<5%", "5-10%", "10-15%", "15-20%", ">20%"} {
			fields[i] = label + " " + want[i]
		}
		return claim{"bands " + at, asked("query signals --name interruption --count-by value --os linux --at " + at), has("label count", fields...)}
	}
	signals := func(name, typ, at, savings, label string) claim {
		return claim{name + " " + at, asked("query signals --region us-east-1 --os linux --type " + typ + " --at " + at), both(
			only("name", "savings", has("value", savings)), only("name", "interruption", has("label", label)))}
	}
	proveImported(t, c, []claim{
		{"40", asked("query changes --kind price --market on_demand --os linux --to 2018-01-01"), has(
			"region instance_type before after seen_at not_before",
			"ap-northeast-1 g2.2xlarge 0.943 0.898 2014-07-06T21:09:13Z 2014-02-22T20:49:10Z")},
		signals("41", "g4dn.xlarge", "2021-02-10T11:17:16Z", "70", "5-10%"),
		signals("41", "g4dn.xlarge", "2024-02-28T23:00:00Z", "58", "5-10%"),
		signals("41", "g4dn.xlarge", "2025-06-28T23:00:00Z", "64", "15-20%"),
		signals("42", "p4d.24xlarge", "2021-02-10T11:17:16Z", "70", "<5%"),
		signals("42", "p4d.24xlarge", "2024-02-28T23:00:00Z", "69", ">20%"),
		signals("42", "p4d.24xlarge", "2025-06-28T23:00:00Z", "67", "10-15%"),
		bands("2021-02-10T23:00:00Z", "31", "33", "52", "28", "109"),
		bands("2024-02-28T23:00:00Z", "186", "57", "24", "16", "192"),
		bands("2025-06-28T23:00:00Z", "179", "68", "71", "74", "290"),
	})
}
