package aws_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/aws"
	"github.com/gputide/gputide/providers/aws/awstest"
	"github.com/gputide/gputide/providers/providertest"
)

// asked answers a request of EC2 that contains a text, or any of the source.
func asked(source, region, contains, body string) exchange {
	if contains == "" {
		contains = "Action=" + map[string]string{
			"ec2-regions": "DescribeRegions", "ec2-zones": "DescribeAvailabilityZones", "spot-history": "DescribeSpotPriceHistory",
			"type-offerings": "DescribeInstanceTypeOfferings", "block-offerings": "DescribeCapacityBlockOfferings",
		}[source]
	}
	return exchange{Source: source, Method: "POST", URL: "https://ec2." + region + ".amazonaws.com/", BodyContains: contains, body: body}
}

// answerOf is an answer of EC2 with items; token is that of the next page.
func answerOf(action, set, token string, items ...string) string {
	return "<" + action + `Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><` + set + "><item>" +
		strings.Join(items, "</item><item>") + "</item></" + set + "><nextToken>" + token + "</nextToken></" + action + "Response>"
}

func spotRow(zone, price, at string) string {
	return "<availabilityZone>" + zone + "</availabilityZone><instanceType>g5.2xlarge</instanceType>" +
		"<productDescription>Linux/UNIX</productDescription><spotPrice>" + price + "</spotPrice><timestamp>" + at + "</timestamp>"
}

func spotPage(token string, rows ...string) string {
	if len(rows) == 0 {
		return strings.Replace(answerOf("DescribeSpotPriceHistory", "spotPriceHistorySet", token, ""), "<item></item>", "", 1)
	}
	return answerOf("DescribeSpotPriceHistory", "spotPriceHistorySet", token, rows...)
}

const (
	isFeed = "Action=DescribeSpotPriceHistory&EndTime="
	isNow  = "Action=DescribeSpotPriceHistory&Filter"
)

// account answers for the regions of an account; a region with ! is not enabled.
func account(regions ...string) []exchange {
	var items []string
	var out []exchange
	for _, r := range regions {
		name, off := strings.CutPrefix(r, "!")
		optIn := "opted-in"
		if off {
			optIn = "not-opted-in"
		}
		items = append(items, "<regionName>"+name+"</regionName><optInStatus>"+optIn+"</optInStatus>")
		out = append(out, asked("ec2-zones", name, "", answerOf("DescribeAvailabilityZones", "availabilityZoneInfo", "",
			"<zoneName>"+name+"a</zoneName><zoneId>id-of-a</zoneId>")))
	}
	return append(out, asked("ec2-regions", "us-east-1", "", answerOf("DescribeRegions", "regionInfo", "", items...)))
}

// spotOf maps zone, and moment of an event, to price.
func spotOf(c *providertest.Collector) map[string]string {
	out := map[string]string{}
	for _, o := range c.Live() {
		if o.Key.Market != gputide.Spot {
			continue
		}
		k := o.Key.Region + " " + o.Key.Zone
		if !o.At.IsZero() {
			k += " " + o.At.Format(time.RFC3339)
		}
		for _, f := range o.Flags {
			k += " " + string(f)
		}
		out[k] = o.Price.Amount
	}
	return out
}

// lanes returns the outcome of the spot scopes: region, feed or now.
func lanes(c *providertest.Collector) map[string]string {
	out := map[string]string{}
	for _, s := range c.Scopes {
		if s.Scope.Market != gputide.Spot || s.Scope.Signal != "" {
			continue
		}
		k := s.Scope.Region + " now"
		if s.EventFeed {
			k = s.Scope.Region + " feed"
		}
		if v := string(s.Status) + " " + s.Source; !strings.HasPrefix(out[k], "done") {
			out[k] = v
		}
	}
	return out
}

func omitted(c *providertest.Collector, source string) map[string]int64 {
	out := map[string]int64{}
	for _, o := range c.Omits {
		if o.Source == source {
			out[o.Reason] = o.Rows
		}
	}
	return out
}

const (
	before = "2026-07-01T10:00:00.000Z" // providertest.Moment is later
	later  = "2026-07-01T12:00:00.500Z"
	future = "2099-01-01T00:00:00.000Z"
)

// TestSpotRows reads every kind of row: by zone id or name, the newest of
// several, twins and products that are not ours.
func TestSpotRows(t *testing.T) {
	withID := strings.Replace(spotRow("us-east-1c", "0.5", before), "<instanceType>", "<availabilityZoneId>use1-az1</availabilityZoneId><instanceType>", 1)
	got, err := crawl(t, aws.Config{}, append(
		account("us-east-1"),
		asked("spot-history", "us-east-1", "NextToken=two", spotPage("three")),
		asked("spot-history", "us-east-1", "NextToken=three", spotPage("", spotRow("us-east-1z", "0.3", before))),
		asked("spot-history", "us-east-1", isFeed, spotPage("two", withID, spotRow("us-east-1a", "0.4", before), spotRow("us-east-1a", "0.41", later))),
		asked("spot-history", "us-east-1", isNow, spotPage("", withID, spotRow("us-east-1a", "0.4", before), spotRow("us-east-1a", "0.41", later),
			spotRow("us-east-1a", "0.6", future), strings.Replace(spotRow("us-east-1a", "0.9", later), "UNIX", "UNIX (Amazon VPC)", 1),
			strings.Replace(spotRow("us-east-1a", "0.8", later), "Linux/UNIX", "Solaris", 1), strings.Replace(spotRow("us-east-1a", "0.7", later), "g5.2xlarge", "", 1))),
	)...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "prices", map[string]string{
		"us-east-1 use1-az1 2026-07-01T10:00:00Z": "0.5", "us-east-1 use1-az1": "0.5",
		"us-east-1 id-of-a 2026-07-01T10:00:00Z": "0.4", "us-east-1 id-of-a 2026-07-01T12:00:00Z": "0.41", "us-east-1 id-of-a": "0.41",
		"us-east-1 us-east-1z 2026-07-01T10:00:00Z account_zone": "0.3",
	}, spotOf(got))
	same(t, "left out", map[string]int64{"vpc_twin": 1, "other_product": 1, "after_the_crawl": 1, "replaced_price": 1}, omitted(got, "spot-history"))
	same(t, "scopes", map[string]string{"us-east-1 feed": "done spot-history", "us-east-1 now": "done spot-history"}, lanes(got))
	if len(got.Skips) != 1 || got.Skips[0].Reason != "bad_row" || got.Skips[0].Scope.Region != "us-east-1" {
		t.Errorf("skips %+v", got.Skips)
	}
}

// TestSpotPaging reads a history whole or not at all.
func TestSpotPaging(t *testing.T) {
	row := spotRow("us-east-1a", "0.4", before)
	busy := asked("spot-history", "us-east-1", "NextToken=p7", `<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>Request limit exceeded.</Message></Error></Errors><RequestID>x</RequestID></Response>`)
	busy.Status, busy.Times = 503, 1
	seven := []exchange{busy, asked("spot-history", "us-east-1", "NextToken=p7", spotPage("", spotRow("us-east-1a", "0.7", later)))}
	for i := 2; i < 7; i++ {
		seven = append(seven, asked("spot-history", "us-east-1", fmt.Sprintf("NextToken=p%d", i), spotPage(fmt.Sprintf("p%d", i+1))))
	}
	gonePage := asked("spot-history", "us-east-1", "NextToken=two", "")
	gonePage.Status = 500
	for name, c := range map[string]struct {
		pages []exchange
		want  error
		feed  string
		rows  int
	}{
		"throttled on page 7": {append(seven, asked("spot-history", "us-east-1", isFeed, spotPage("p2", row))), nil, "done", 2},
		"repeated token": {
			[]exchange{asked("spot-history", "us-east-1", isFeed, spotPage("again", row)), asked("spot-history", "us-east-1", "NextToken=again", spotPage("again", row))},
			gputide.ErrSchemaDrift, "failed", 0,
		},
		"a page is gone":   {[]exchange{gonePage, asked("spot-history", "us-east-1", isFeed, spotPage("two", row))}, gputide.ErrUnavailable, "failed", 0},
		"no row says when": {[]exchange{asked("spot-history", "us-east-1", isFeed, spotPage("", strings.Replace(row, before, "", 1)))}, gputide.ErrSchemaDrift, "failed", 0},
		"a time is none":   {[]exchange{asked("spot-history", "us-east-1", isFeed, spotPage("", row, spotRow("us-east-1a", "0.4", "soon")))}, gputide.ErrSchemaDrift, "failed", 0},
		"empty":            {[]exchange{asked("spot-history", "us-east-1", isFeed, spotPage(""))}, nil, "done", 0},
	} {
		t.Run(name, func(t *testing.T) {
			now := asked("spot-history", "us-east-1", "Action=DescribeSpotPriceHistory&Filter", spotPage("", row))
			got, err := crawl(t, aws.Config{}, append(append(account("us-east-1"), now), c.pages...)...)
			if c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			same(t, "scopes", map[string]string{"us-east-1 feed": c.feed + " spot-history", "us-east-1 now": "done spot-history"}, lanes(got))
			events := 0
			for _, o := range got.Live() {
				if !o.At.IsZero() {
					events++
				}
			}
			if events != c.rows && c.feed == "done" {
				t.Errorf("%d events, want %d", events, c.rows)
			}
		})
	}
}

// TestSpotRegions keeps what fails of one region from the others: one that the
// account has not enabled is skipped, one that refuses it fails and is left to
// the page feed, one whose zones are not known fails.
func TestSpotRegions(t *testing.T) {
	row := func(region string) string { return spotPage("", spotRow(region+"a", "0.4", before)) }
	refused := asked("spot-history", "us-west-1", "", `<Response><Errors><Error><Code>AuthFailure</Code><Message>AWS was not able to validate the provided access credentials</Message></Error></Errors></Response>`)
	refused.Status = 401
	answers := account("us-east-1", "us-west-1", "us-west-2", "!ap-east-1")
	for i := range answers {
		if answers[i].Source == "ec2-zones" && strings.Contains(answers[i].URL, "us-west-2") {
			answers[i].Status = 500
		}
	}
	got, err := crawl(t, aws.Config{}, append(
		answers, refused,
		asked("spot-history", "us-east-1", "", row("us-east-1")), asked("spot-history", "us-west-2", "", row("us-west-2")),
		get("spot-feed", "https://spot-price.s3.amazonaws.com/spot.js", `callback({"config":{"rate":"perhr","regions":[
			{"region":"us-east","instanceTypes":[{"sizes":[{"size":"g5.2xlarge","valueColumns":[{"name":"linux","prices":{"USD":"0.9"}}]}]}]},
			{"region":"us-west","instanceTypes":[{"sizes":[{"size":"g5.2xlarge","valueColumns":[{"name":"linux","prices":{"USD":"0.8"}},{"name":"mswin","prices":{"USD":"N/A*"}},{"name":"os","prices":{"USD":"1"}}]}]}]}]}});`),
	)...)
	partial, ok := errors.AsType[*gputide.PartialError](err)
	if !ok || !errors.Is(err, gputide.ErrAuth) || !errors.Is(err, gputide.ErrUnavailable) || !strings.Contains(errors.Join(partial.Failed...).Error(), "AuthFailure") {
		t.Errorf("error %v", err)
	}
	same(t, "scopes", map[string]string{
		"us-east-1 feed": "done spot-history", "us-east-1 now": "done spot-history",
		"us-west-1 feed": "failed spot-history", "us-west-1 now": "done spot-feed",
		"us-west-2 feed": "failed spot-history", "us-west-2 now": "failed spot-history",
	}, lanes(got))
	prices := spotOf(got)
	if prices["us-east-1 id-of-a"] != "0.4" || prices["us-west-1 "] != "0.8" || len(prices) != 3 {
		t.Errorf("prices %v", prices)
	}
	same(t, "left out of the page feed", map[string]int64{"region_not_asked": 1, "not_offered": 1, "other_product": 1}, omitted(got, "spot-feed"))
	skipped := false
	for _, s := range got.Sources {
		skipped = skipped || s.Source == "spot-history" && s.Status == gputide.SourceSkipped && strings.Contains(s.Err.Error(), "ap-east-1 is not enabled")
	}
	if !skipped {
		t.Errorf("the region that is not enabled is not named: %+v", got.Sources)
	}
}

func TestSpotFeedOfThePageFaults(t *testing.T) {
	for name, body := range map[string]string{
		"no call": `{"config":{}}`, "cut": `callback({"config":{"rate":"perhr"`, "HTML": "<html></html>",
		"other rate": `callback({"config":{"rate":"perday","regions":[{"region":"us-east"}]}});`, "nothing": `callback({"config":{"rate":"perhr","regions":[]}});`,
	} {
		got, err := crawl(t, aws.Config{}, get("spot-feed", "https://spot-price.s3.amazonaws.com/spot.js", body))
		if !errors.Is(err, gputide.ErrSchemaDrift) || len(got.Offers) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSpotWindow asks for what is new since the last crawl and a little before
// it, for 90 days the first time, and for what holds at the moment of the crawl.
func TestSpotWindow(t *testing.T) {
	at := time.Date(2026, 9, 10, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		fed  time.Time
		from string
	}{
		"first":      {time.Time{}, "2026-06-12T13%3A00%3A00Z"},
		"again":      {at.Add(-10 * time.Minute), "2026-09-10T05%3A50%3A00Z"},
		"a year off": {at.AddDate(-1, 0, 0), "2026-06-12T13%3A00%3A00Z"},
	} {
		p := onAnswers(t, aws.Config{}, append(
			account("us-east-1"),
			// One text must hold for a request to be answered: what is asked of now
			// ends with the moment, a window with its begin.
			asked("spot-history", "us-east-1", "StartTime=2026-09-10T12%3A00%3A00Z", spotPage("", spotRow("us-east-1a", "0.5", before))),
			asked("spot-history", "us-east-1", "StartTime="+c.from, spotPage("", spotRow("us-east-1a", "0.4", before))),
			get("bulk-csv", "https://pricing.us-east-1.amazonaws.com/nothing", ""), get("offer-index", "https://pricing.us-east-1.amazonaws.com/nothing", ""),
		)...)
		got := new(providertest.Collector)
		b := gputide.NewBatch("aws", at, got)
		b.Narrow([]gputide.Market{gputide.Spot}, func(s gputide.Scope) time.Time {
			if s != (gputide.Scope{Partition: "aws", Region: "us-east-1", Market: gputide.Spot}) {
				t.Errorf("%s: fed of %s", name, s)
			}
			return c.fed
		})
		// Spot alone: an index of price lists, declared but at another address,
		// would fail if it were asked for.
		if err := p.Crawl(fetch.WithRun(t.Context(), at), b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name, map[string]string{"us-east-1 id-of-a": "0.5", "us-east-1 id-of-a 2026-07-01T10:00:00Z": "0.4"}, spotOf(got))
	}
}

// TestOfferings tells the zones of each type, and leaves a failed region out.
func TestOfferings(t *testing.T) {
	item := func(typ, zone string) string {
		return "<instanceType>" + typ + "</instanceType><locationType>availability-zone-id</locationType><location>" + zone + "</location>"
	}
	const action, set = "DescribeInstanceTypeOfferings", "instanceTypeOfferingSet"
	got, err := crawl(t, aws.Config{}, append(
		account("us-east-1", "us-west-2", "us-west-1"),
		asked("type-offerings", "us-east-1", "NextToken=two", answerOf(action, set, "", item("g5.2xlarge", "use1-az2"))),
		asked("type-offerings", "us-east-1", "", answerOf(action, set, "two", item("g5.2xlarge", "use1-az1"), item("p9.unheard", "use1-az1"))),
		asked("type-offerings", "us-west-2", "", answerOf(action, set, "", item("g5.2xlarge", ""))),
		asked("type-offerings", "us-west-1", "", answerOf(action, set, "", strings.Replace(item("g5.2xlarge", "us-west-1a"), "-zone-id", "-zone", 1))),
	)...)
	if !errors.Is(err, gputide.ErrSchemaDrift) {
		t.Errorf("error %v", err)
	}
	zones := map[string]string{}
	for _, s := range got.Signals {
		if s.Name != gputide.SignalAvailability || s.Value != gputide.AvailabilityYes || s.Key.Region != "us-east-1" {
			t.Errorf("signal %+v", s)
		}
		zones[s.Key.InstanceType] += s.Key.Zone + " "
	}
	same(t, "zones", map[string]string{"g5.2xlarge": "use1-az1 use1-az2 ", "p9.unheard": "use1-az1 "}, zones)
	scopes := map[string]gputide.ScopeStatus{}
	for _, s := range got.Scopes {
		if s.Scope.Signal == gputide.SignalAvailability {
			scopes[s.Scope.Region] = s.Status
		}
	}
	same(t, "scopes", map[string]gputide.ScopeStatus{"us-east-1": "done", "us-west-2": "failed", "us-west-1": "failed"}, scopes)
}

// TestBlocks keeps the cheapest block of each length that starts in two weeks,
// and refuses what cannot be told.
func TestBlocks(t *testing.T) {
	type1, err := awstest.InstanceTypes([]byte(`{"InstanceTypes":[{"InstanceType":"p4d.24xlarge","SupportedUsageClasses":["on-demand","capacity-block"]},{"InstanceType":"g5.2xlarge","SupportedUsageClasses":["spot"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	types, err := awstest.InstanceTypesXML(type1, "")
	if err != nil {
		t.Fatal(err)
	}
	at := providertest.Moment()
	item := func(id, fee string, start time.Time, hours int, more string) string {
		return fmt.Sprintf("<capacityBlockOfferingId>%s</capacityBlockOfferingId><instanceType>p4d.24xlarge</instanceType><availabilityZone>us-east-1a</availabilityZone><instanceCount>1</instanceCount><startDate>%s</startDate><capacityBlockDurationHours>%d</capacityBlockDurationHours><upfrontFee>%s</upfrontFee><currencyCode>USD</currencyCode>%s",
			id, start.Format(time.RFC3339), hours, fee, more)
	}
	const action, set = "DescribeCapacityBlockOfferings", "capacityBlockOfferingSet"
	day := at.Add(24 * time.Hour)
	noType := strings.Replace(item("cb-7", "1", day, 24, ""), "p4d.24xlarge", "", 1)
	none := strings.Replace(answerOf(action, set, "", ""), "<item></item>", "", 1)
	got, err := crawl(t, aws.Config{}, append(
		account("us-east-1"),
		ec2("us-east-1", "", string(types)), ec2("us-east-2", "", string(types)), ec2("us-west-2", "", string(types)),
		asked("block-offerings", "us-east-1", "CapacityDurationHours=24&", answerOf(action, set, "",
			item("cb-1", "283", day, 24, ""), item("cb-2", "282.5", day.Add(time.Hour), 24, "<tenancy>default</tenancy>"), item("cb-3", "9", at.Add(15*24*time.Hour), 24, ""),
			item("cb-4", "511", day, 43, ""), item("cb-5", "5", day, 23, "<capacityBlockDurationMinutes>30</capacityBlockDurationMinutes>"),
			strings.Replace(item("cb-6", "1", day, 24, ""), "<instanceCount>1", "<instanceCount>2", 1), noType)),
		asked("block-offerings", "us-east-1", "", none),
	)...)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, o := range got.Live() {
		blocks[string(o.Key.Term)+" "+o.Key.Zone+" "+o.Key.Tenancy+" "+string(o.Key.Stat)] = o.Price.Upfront + " " + o.SKU
	}
	start := day.Add(time.Hour).UTC().Format(time.RFC3339)
	same(t, "blocks", map[string]string{
		"24h id-of-a shared min": "282.5 cb-2 " + start + "/" + day.Add(25*time.Hour).UTC().Format(time.RFC3339),
		"43h id-of-a shared min": "511 cb-4 " + day.UTC().Format(time.RFC3339) + "/" + day.Add(43*time.Hour).UTC().Format(time.RFC3339),
	}, blocks)
	same(t, "left out", map[string]int64{
		"not_the_cheapest": 1, "starts_later": 1, "part_of_an_hour": 1, "other_instance_count": 1, "no_block_on_offer": 2,
	}, omitted(got, "block-offerings"))
	if len(got.Skips) != 1 || got.Skips[0].Reason != "bad_row" {
		t.Errorf("skips %+v", got.Skips)
	}
}
