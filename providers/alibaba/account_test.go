package alibaba

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// TestDevice shows the three ways in which a card is cut, and what is none.
func TestDevice(t *testing.T) {
	f := table(t)
	for _, tt := range []struct{ row, want string }{
		// A divisor behind the name.
		{`"ecs.ga1.xlarge","GPUAmount":1,"GPUSpec":"AMD S7150/4"`, "AMD S7150 gpu 1/4 - vgpu"},
		{`"ecs.ga1.8xlarge","GPUAmount":2,"GPUSpec":"AMD S7150"`, "AMD S7150 gpu 2 - whole"},
		{`"ecs.new.large","GPUAmount":1,"GPUSpec":"NVIDIA T4/16"`, "NVIDIA T4  1/16 - vgpu"},
		// One card with less memory than such a card has.
		{`"ecs.vgn6i-m4.xlarge","GPUAmount":1,"GPUSpec":"NVIDIA T4","GPUMemorySize":4`, "NVIDIA T4 gpu 1/4 4096 vgpu"},
		{`"ecs.vgn6i-m2.large","GPUAmount":1,"GPUSpec":"NVIDIA T4","GPUMemorySize":2`, "NVIDIA T4 gpu 1/8 2048 vgpu"},
		{`"ecs.sgn7i-vws-m2.xlarge","GPUAmount":1,"GPUSpec":"NVIDIA A10","GPUMemorySize":2`, "NVIDIA A10 gpu 1/12 2048 vgpu"},
		{`"ecs.vgn6i-m16-vws.5xlarge","GPUAmount":1,"GPUSpec":"NVIDIA T4","GPUMemorySize":16`, "NVIDIA T4 gpu 1 16384 vgpu"},
		// A fraction as the number, and no memory: the table knows both.
		{`"ecs.vgn5i-m2.xlarge","GPUAmount":0.25,"GPUSpec":"NVIDIA P4"`, "NVIDIA P4 gpu 1/4 2048 vgpu"},
		{`"ecs.vgn5i-m2.xlarge","GPUAmount":1,"GPUSpec":"NVIDIA P4"`, "NVIDIA P4 gpu 1/4 2048 vgpu"},
		{`"ecs.new.large","GPUAmount":"0.5","GPUSpec":"NVIDIA T4"`, "NVIDIA T4  1/2 - vgpu"},
		// Whole cards, of one memory or of several, and masked names.
		{`"ecs.gn7e-c16g1.32xlarge","GPUAmount":8,"GPUSpec":"NVIDIA A100","GPUMemorySize":80`, "NVIDIA A100 gpu 8 81920 whole"},
		{`"ecs.gn7-c12g1.3xlarge","GPUAmount":1,"GPUSpec":"NVIDIA A100","GPUMemorySize":40`, "NVIDIA A100 gpu 1 40960 whole"},
		{`"ecs.gn4.14xlarge","GPUAmount":2,"GPUSpec":"NVIDIA M40"`, "NVIDIA M40 gpu 2 - whole"},
		{`"ecs.gn8v.6xlarge","GPUAmount":1,"GPUSpec":"GPU H","GPUMemorySize":96`, "GPU H gpu 1 98304 whole"},
		{`"ecs.sgn8ia-m16.8xlarge","GPUAmount":1,"GPUSpec":"vGPU8","GPUMemorySize":16`, "vGPU8 gpu 1/3 16384 vgpu"},
		{`"ecs.gn99.large","GPUAmount":1,"GPUSpec":""`, "gn99  1 - whole"},
		// No accelerators of ours.
		{`"ecs.f3-c16f1.16xlarge","GPUAmount":4,"GPUSpec":"Xilinx VU9p","GPUMemorySize":64`, "Xilinx VU9p fpga 4 65536 whole"},
		{`"ecs.video-trans.26xhevc","GPUAmount":12,"GPUSpec":"NETINT T408"`, "NETINT T408 video 12 - whole"},
		{`"ecs.g6.large","GPUAmount":0,"GPUSpec":"NVIDIA V100","GPUMemorySize":32`, ""},
		{`"ecs.g6.large"`, ""},
		{`"ecs.g6.large","GPUAmount":"many","GPUSpec":"T4"`, ""},
		{`"ecs.gn6i.large","GPUAmount":100000,"GPUSpec":"T4"`, "T4 gpu  16384 "},
	} {
		var row instanceType
		if err := json.Unmarshal([]byte(`{"InstanceTypeId":`+tt.row+`}`), &row); err != nil {
			t.Fatal(err)
		}
		d, got := row.device(f), ""
		if d.Known() {
			mib := "-"
			if d.MemoryMiB != nil {
				mib = fmt.Sprint(*d.MemoryMiB)
			}
			got = fmt.Sprintf("%s %s %s %s %s", d.Name, d.Kind, d.Count, mib, d.Share)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.row, got, tt.want)
		}
	}
}

// FuzzDevice shows that no row of instance types ends in a panic or in a number
// of cards that is none.
func FuzzDevice(f *testing.F) {
	f.Add(`{"InstanceTypeId":"ecs.ga1.xlarge","GPUAmount":1,"GPUSpec":"AMD S7150/4","GPUMemorySize":4}`)
	f.Add(`{"InstanceTypeId":"ecs.vgn6i-m4.xlarge","GPUAmount":0.25,"GPUSpec":"/9"}`)
	families := table(f)
	f.Fuzz(func(t *testing.T, text string) {
		var row instanceType
		if json.Unmarshal([]byte(text), &row) != nil {
			return
		}
		if d := row.spec(families).Device; d.Count.Value() < 0 || d.Count.Value() > maxCards {
			t.Errorf("%s: %s cards", text, d.Count)
		}
	})
}

func TestBand(t *testing.T) {
	for _, tt := range []struct {
		text, rate string
		band       int64
		ok         bool
	}{
		{"0-3%", "0", 0, true},
		{"3-5%", "4.1", 0, true},
		{"5-10%", "", 1, true},
		{"10-15%", "12", 2, true},
		{"20-100%", "", 4, true},
		{"10-100%", "17.5", 3, true},
		{"10-100%", "64", 4, true},
		{"10-100%", "", 0, false},
		{"10-100%", "3", 0, false},
		{"10-100%", "NaN", 0, false},
		{"", "0", 0, false},
		{"low", "0", 0, false},
		{"3-0%", "0", 0, false},
		{"0-300%", "0", 0, false},
	} {
		if band, ok := bandOf(tt.text, tt.rate); band != tt.band || ok != tt.ok {
			t.Errorf("%s at %s: band %d, %v", tt.text, tt.rate, band, ok)
		}
	}
}

// rpc is an answer of ECS in cn-hangzhou. params are wildcards but for those named.
func rpc(source, action, body string, status int, params ...string) providertest.Exchange {
	query := append([]string{"Action=" + action, "Format=JSON", "Version=" + rpcVersion}, params...)
	return providertest.Exchange{
		Source: source, URL: "https://" + host(homeRegion) + "/?" + strings.Join(query, "&"), Status: status, Body: body,
		Header: map[string]string{"Content-Type": "application/json"},
	}
}

const testType = "ecs.gn6i-c4g1.xlarge"

// stocked are regions and stock that name the test type.
func stocked() []providertest.Exchange {
	const stock = `{"AvailableZones":{"AvailableZone":[{"ZoneId":"cn-hangzhou-i","AvailableResources":{"AvailableResource":[{"SupportedResources":` +
		`{"SupportedResource":[{"Value":"` + testType + `","Status":"Available"}]}}]}}]}}`
	params := []string{"RegionId=cn-hangzhou", "DestinationResource=InstanceType", "InstanceChargeType=PostPaid"}
	return []providertest.Exchange{
		rpc(sourceRegions, "DescribeRegions", `{"Regions":{"Region":[{"RegionId":"cn-hangzhou"}]}}`, 200),
		rpc(sourceStock, "DescribeAvailableResource", stock, 200, params...),
		rpc(sourceStock, "DescribeAvailableResource", stock, 200, append(params, "SpotStrategy=SpotAsPriceGo")...),
	}
}

func history(body string, more ...string) providertest.Exchange {
	return rpc(sourceSpot, "DescribeSpotPriceHistory", body, 200, append(more, "RegionId=cn-hangzhou", "InstanceType="+testType, "NetworkType=vpc",
		"OSType=linux", "IoOptimized=optimized", "StartTime=*", "EndTime=*")...)
}

func quote(status int, body, unit, n string) providertest.Exchange {
	return rpc(sourcePrice, "DescribePrice", body, status, "RegionId=cn-hangzhou", "ResourceType=instance", "InstanceType="+testType,
		"SystemDisk.Category=*", "SystemDisk.Size=*", "PriceUnit="+unit, "Period="+n)
}

func row(zone, at, spot, origin string) string {
	return fmt.Sprintf(`{"ZoneId":%q,"Timestamp":%q,"SpotPrice":%s,"OriginPrice":%s,"InstanceType":%q,"NetworkType":"vpc","IoOptimized":"optimized"}`,
		zone, at, spot, origin, testType)
}

func prices(currency string, rows ...string) string {
	return `{"SpotPrices":{"SpotPriceType":[` + strings.Join(rows, ",") + `]},"Currency":"` + currency + `"}`
}

// spotSaid tells the offers and the outcome of scopes of a crawl.
func spotSaid(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Offers {
		at := ""
		if !o.At.IsZero() {
			at = o.At.Format("0102T15")
		}
		k := &o.Key
		out = append(out, strings.Join(strings.Fields(fmt.Sprintln(o.Source, k.Partition, k.Market, k.Term, k.Zone, k.Stat, o.Price.Amount, at)), " "))
	}
	for _, s := range c.Skips {
		out = append(out, s.Source+" "+s.Reason)
	}
	for _, s := range c.Scopes {
		if s.Status == gputide.ScopeFailed {
			out = append(out, strings.Join(strings.Fields(fmt.Sprintln("failed", s.Source, s.Scope.Partition, s.Scope.Market, s.Scope.Signal)), " "))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestSpot(t *testing.T) {
	good := row("cn-hangzhou-i", "2026-11-30T23:00:00Z", "1.163", "11.63")
	now := []string{
		"spot-history cn spot cn-hangzhou-i list 1.163", "spot-history cn spot cn-hangzhou-i list 1.163 1130T23",
		"spot-history cn on_demand list 11.63",
	}
	for _, tt := range []struct {
		name, body string
		want       []string
		err        error
	}{
		{"one", prices("CNY", good), now, nil},
		{
			"samples in any order; the newest is in force",
			prices("CNY", good, row("cn-hangzhou-i", "2026-11-30T21:00:00Z", "2", "11"), row("cn-hangzhou-i", "2026-11-30T22:00:00Z", "2", "11")),
			append([]string{"spot-history cn spot cn-hangzhou-i list 2 1130T21", "spot-history cn spot cn-hangzhou-i list 2 1130T22"}, now...), nil,
		},
		{
			"too old to be in force", prices("CNY", row("cn-hangzhou-i", "2026-11-30T20:00:00Z", "2", "11")),
			[]string{"spot-history cn spot cn-hangzhou-i list 2 1130T20", "spot-history cn on_demand list 11"},
			nil,
		},
		{
			"the international site", prices("USD", good),
			[]string{
				"spot-history intl spot cn-hangzhou-i list 1.163", "spot-history intl spot cn-hangzhou-i list 1.163 1130T23",
				"spot-history intl on_demand list 11.63",
			},
			nil,
		},
		{"another currency", prices("JPY", good), []string{"failed spot-history spot"}, gputide.ErrSchemaDrift},
		{"no currency", prices("", good), []string{"failed spot-history spot"}, gputide.ErrSchemaDrift},
		{"nothing on offer", prices(""), nil, nil},
		{"zero", prices("CNY", good, row("cn-hangzhou-h", "2026-11-30T23:00:00Z", "0", "11.63")), append([]string{"spot-history no_price"}, now...), nil},
		{"of the future", prices("CNY", good, row("cn-hangzhou-i", "2026-12-01T01:00:00Z", "9", "11")), now, nil},
		{"a classic network", prices("CNY", good, strings.Replace(row("z", "2026-11-30T23:00:00Z", "9", "9"), "vpc", "classic", 1)), now, nil},
		{"a row without a zone", prices("CNY", good, row("", "2026-11-30T23:00:00Z", "9", "9")), append([]string{"spot-history bad_row"}, now...), nil},
		{"no zones", prices("CNY", row("", "2026-11-30T23:00:00Z", "9", "9")), []string{"failed spot-history cn spot", "spot-history bad_row"}, gputide.ErrSchemaDrift},
		{"prices renamed", prices("CNY", strings.Replace(good, "SpotPrice", "Price", 1)), []string{"failed spot-history cn spot", "spot-history no_price"}, gputide.ErrSchemaDrift},
		{"a type that is not sold", `{"Code":"InvalidInstanceType.NotSupportSpot","Message":"no"}`, nil, nil},
		{"throttled", `{"Code":"Throttling.User","Message":"no"}`, []string{"failed spot-history spot"}, gputide.ErrRateLimited},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := providertest.Collect(t.Context(), New(providertest.Replay(t, "alibaba", append(stocked(), history(tt.body))...), Config{}))
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			slices.Sort(tt.want)
			if d := cmp.Diff(tt.want, spotSaid(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestWindow shows how much is read: 30 days, or what came since the last crawl
// with some overlap.
func TestWindow(t *testing.T) {
	now := providertest.Moment()
	for name, tt := range map[string]struct {
		fed  time.Time
		want string
	}{
		"first":    {time.Time{}, "2026-11-01T01:00:00Z"},
		"an hour":  {now.Add(-time.Hour), "2026-11-30T17:00:00Z"},
		"long ago": {now.AddDate(0, -3, 0), "2026-11-01T01:00:00Z"},
	} {
		b := gputide.NewBatch("alibaba", now, new(providertest.Collector))
		b.Narrow(nil, func(s gputide.Scope) time.Time {
			if s.Partition == "cn" && s.Region == "cn-hangzhou" && s.Market == gputide.Spot {
				return tt.fed
			}
			return time.Time{}
		})
		r := &run{b: b}
		if got := r.window("cn-hangzhou").Format(time.RFC3339); got != tt.want {
			t.Errorf("%s: from %s, want %s", name, got, tt.want)
		}
	}
}

// TestPutOff shows that a crawl that has read much leaves a long history to the
// next one, and reads what is in force.
func TestPutOff(t *testing.T) {
	c := new(providertest.Collector)
	p := New(providertest.Replay(t, "alibaba", history(prices("CNY", row("cn-hangzhou-i", "2026-11-30T23:00:00Z", "1.163", "11.63")))), Config{})
	r := &run{Provider: p, b: gputide.NewBatch("alibaba", providertest.Moment(), c), table: table(t), events: spotBudget}
	if _, err := r.spot(t.Context(), "cn-hangzhou", []string{testType}); err != nil {
		t.Fatal(err)
	}
	if len(c.Offers) != 1 || !c.Offers[0].At.IsZero() || len(c.Scopes) != 1 || c.Scopes[0].EventFeed {
		t.Errorf("offers %v, scopes %v", c.Offers, c.Scopes)
	}
	if said := c.Errors(sourceSpot); len(said) != 1 || !errors.Is(said[0], errPutOff) {
		t.Errorf("said %v", said)
	}
}

// quoted is an answer of DescribePrice.
func quoted(currency, original, trade, more string) string {
	return fmt.Sprintf(`{"PriceInfo":{"Price":{"Currency":%q,"OriginalPrice":%s,"DiscountPrice":0,"TradePrice":%s%s}}}`, currency, original, trade, more)
}

func TestQuotes(t *testing.T) {
	none := quote(404, `{"Code":"PriceNotFound","Message":"no"}`, "*", "*")
	hour := func(body string) []providertest.Exchange {
		return []providertest.Exchange{quote(200, body, "Hour", "1"), none}
	}
	const detail = `,"DetailInfos":{"DetailInfo":[{"Resource":"systemDisk","OriginalPrice":1,"TradePrice":1},` +
		`{"Resource":"instanceType","OriginalPrice":11.63,"TradePrice":10}]}`
	for _, tt := range []struct {
		name  string
		asked []providertest.Exchange
		want  []string
		err   error
	}{
		{"an hour", hour(quoted("CNY", "12.63", "11.63", "")), []string{"price cn on_demand list 12.63", "price cn on_demand payable 11.63"}, nil},
		{"without its disk", hour(quoted("CNY", "12.63", "11", detail)), []string{"price cn on_demand list 11.63", "price cn on_demand payable 10"}, nil},
		{
			"parts without the instance", hour(quoted("CNY", "1", "1", `,"DetailInfos":{"DetailInfo":[{"Resource":"systemDisk","OriginalPrice":1}]}`)),
			[]string{"price no_price"},
			nil,
		},
		{"in dollars", hour(quoted("USD", "2", "1.5", "")), []string{"price intl on_demand list 2", "price intl on_demand payable 1.5"}, nil},
		{"zero", hour(quoted("CNY", "0", "0", "")), []string{"price no_price"}, nil},
		{
			"every period",
			[]providertest.Exchange{quote(200, quoted("CNY", "10", "9", ""), "*", "*")},
			[]string{
				"price cn on_demand list 10", "price cn on_demand payable 9", "price cn subscription 1mo list 10", "price cn subscription 1mo payable 9",
				"price cn subscription 1y list 10", "price cn subscription 1y payable 9", "price cn subscription 2y list 10",
				"price cn subscription 2y payable 9", "price cn subscription 3y list 10", "price cn subscription 3y payable 9",
				"price cn subscription 4y list 10", "price cn subscription 4y payable 9", "price cn subscription 5y list 10",
				"price cn subscription 5y payable 9",
			},
			nil,
		},
		{"renamed", hour(`{"PriceInfo":{"Price":{"Currency":"CNY","ListPrice":1,"TradePrice":1}}}`), []string{"failed price on_demand", "failed price subscription"}, gputide.ErrSchemaDrift},
		{"another currency", hour(quoted("EUR", "1", "1", "")), []string{"failed price on_demand", "failed price subscription"}, gputide.ErrSchemaDrift},
		{
			"one period refused",
			[]providertest.Exchange{
				quote(400, `{"Code":"InvalidPeriod.ValueNotSupported","Message":"no"}`, "Year", "*"), quote(200, quoted("CNY", "10", "9", ""), "*", "*"),
			},
			[]string{
				"price cn on_demand list 10", "price cn on_demand payable 9", "price cn subscription 1mo list 10", "price cn subscription 1mo payable 9",
				"price refused",
			},
			nil,
		},
		{
			"every period refused",
			[]providertest.Exchange{quote(400, `{"Code":"InvalidParameter","Message":"no"}`, "*", "*")},
			[]string{"failed price on_demand", "failed price subscription", "price refused"},
			gputide.ErrInvalid,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := providertest.Collect(t.Context(), New(providertest.Replay(t, "alibaba", append(stocked(), tt.asked...)...), Config{}))
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			slices.Sort(tt.want)
			if d := cmp.Diff(tt.want, spotSaid(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestQuotesBesideList shows that a type of the list is not asked for, and that
// nothing is when the list could not be read.
func TestQuotesBesideList(t *testing.T) {
	withList := func(body string) []providertest.Exchange {
		return append(
			stocked(), page("//g.alicdn.com/aliyun/ecs-price-info/2.0.9/x.js"),
			providertest.Exchange{Source: "list-cn", URL: sites()[0].url("2.0.9"), Body: body, Header: map[string]string{"Content-Type": "application/json"}},
			history(prices("CNY", row("cn-hangzhou-i", "2026-11-30T23:00:00Z", "1.163", "11.63"))),
			quote(200, quoted("CNY", "10", "9", ""), "*", "*"),
		)
	}
	for name, tt := range map[string]struct {
		body   string
		quotes int
		report bool
		err    error
	}{
		"in the list":     {list(entry(goodKey, goodLists)), 0, true, nil},
		"not in the list": {list(entry("cn-hangzhou::ecs.gn5-c4g1.xlarge::vpc::linux::optimized", goodLists)), 14, true, nil},
		"no list":         {`{"currency":"CNY"}`, 0, false, gputide.ErrSchemaDrift},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := providertest.Collect(t.Context(), New(providertest.Replay(t, "alibaba", withList(tt.body)...), Config{}))
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			quotes := 0
			for _, o := range c.Offers {
				if o.Part == partQuote {
					quotes++
				}
			}
			reported := slices.ContainsFunc(c.Scopes, func(s gputide.ScopeRun) bool { return s.Scope.Part == partQuote })
			if quotes != tt.quotes || reported != tt.report {
				t.Errorf("%d quotes, reported %v", quotes, reported)
			}
		})
	}
}

// TestSpotAlone shows that a crawl of spot prices reads nothing else.
func TestSpotAlone(t *testing.T) {
	c := new(providertest.Collector)
	b := gputide.NewBatch("alibaba", providertest.Moment(), c)
	b.Narrow([]gputide.Market{gputide.Spot}, nil)
	f := providertest.Replay(t, "alibaba", append(stocked(), history(prices("CNY", row("cn-hangzhou-i", "2026-11-30T23:00:00Z", "1.163", "11.63"))))...)
	if err := New(f, Config{}).Crawl(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Scopes {
		if s.Scope.Market != gputide.Spot {
			t.Errorf("scope %s", s.Scope)
		}
	}
	if len(c.Offers) != 2 {
		t.Errorf("%d offers", len(c.Offers))
	}
}
