package gcp_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/gcp"
	"github.com/gputide/gputide/providers/providertest"
)

const listURL = "https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus?currencyCode=USD&pageSize=5000"

// row writes a SKU of one dollar amount.
func row(id, description, unit, currency, units string, regions ...string) string {
	return fmt.Sprintf(`{"skuId":%q,"description":%q,"category":{"resourceGroup":"GPU","usageType":"OnDemand"},"serviceRegions":["%s"],
		"pricingInfo":[{"pricingExpression":{"usageUnit":%q,"tieredRates":[{"startUsageAmount":0,"unitPrice":{"currencyCode":%q,"units":%q,"nanos":0}}]}}]}`,
		id, description, strings.Join(regions, `","`), unit, currency, units)
}

func t4(id, units string) string {
	return row(id, "Nvidia Tesla T4 GPU running in Iowa", "h", "USD", units, "us-central1")
}

func p4(id string) string {
	return row(id, "Nvidia Tesla P4 GPU running in Iowa", "h", "USD", "5", "us-central1")
}

func list(token string, rows ...string) string {
	return fmt.Sprintf(`{"skus":[%s],"nextPageToken":%q}`, strings.Join(rows, ","), token)
}

// answers pairs bodies with the tokens they are asked by.
func answers(pages ...string) []providertest.Exchange {
	var out []providertest.Exchange
	for i := 0; i < len(pages); i += 2 {
		url := listURL
		if pages[i] != "" {
			url += "&pageToken=" + pages[i]
		}
		out = append(out, providertest.Exchange{Source: "skus", URL: url, Body: pages[i+1]})
	}
	return out
}

func collect(t *testing.T, exchanges []providertest.Exchange) (*providertest.Collector, error) {
	t.Helper()
	f := providertest.Replay(t, "gcp", exchanges...)
	return providertest.Collect(t.Context(), gcp.New(f, gcp.Config{}))
}

// live lists the offers that count.
func live(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Live() {
		out = append(out, o.Key.InstanceType+" "+o.Key.Region+" "+o.Price.Amount)
	}
	slices.Sort(out)
	return out
}

// TestPages proves that a list of pages is read to its end or not at all.
func TestPages(t *testing.T) {
	one, four := []string{"nvidia-tesla-p4×1 us-central1 5"}, []string{"nvidia-tesla-t4×1 us-central1 1"}
	endless := []string{"", list("t1", t4("A", "1"))}
	for i := 1; i <= 101; i++ {
		endless = append(endless, fmt.Sprintf("t%d", i), list(fmt.Sprintf("t%d", i+1)))
	}
	for name, tt := range map[string]struct {
		pages []string
		want  []string // offers of one card
		err   error
	}{
		"one page":                 {[]string{"", list("", t4("A", "1"))}, four, nil},
		"no token at all":          {[]string{"", `{"skus":[` + t4("A", "1") + `]}`}, four, nil},
		"two pages":                {[]string{"", list("b", t4("A", "1")), "b", list("", p4("B"))}, append(slices.Clone(one), four...), nil},
		"token before the list":    {[]string{"", `{"nextPageToken":"b","skus":[` + t4("A", "1") + `]}`, "b", list("", p4("B"))}, append(slices.Clone(one), four...), nil},
		"an empty page between":    {[]string{"", list("b", t4("A", "1")), "b", list("c"), "c", list("", p4("B"))}, append(slices.Clone(one), four...), nil},
		"an empty page last":       {[]string{"", list("b", t4("A", "1")), "b", `{}`}, four, nil},
		"an empty page first":      {[]string{"", `{"nextPageToken":"b"}`, "b", list("", t4("A", "1"))}, four, nil},
		"no SKUs":                  {[]string{"", list("")}, nil, gputide.ErrEmpty},
		"no list":                  {[]string{"", `{}`}, nil, gputide.ErrSchemaDrift},
		"SKUs of something else":   {[]string{"", list("", row("A", "Network Egress", "GiBy", "USD", "1", "us-central1"))}, nil, gputide.ErrSchemaDrift},
		"a token that comes again": {[]string{"", list("b", t4("A", "1")), "b", list("c", p4("B")), "c", list("b")}, nil, gputide.ErrSchemaDrift},
		"a token of itself":        {[]string{"", list("b", t4("A", "1")), "b", list("b", p4("B"))}, nil, gputide.ErrSchemaDrift},
		"no end":                   {endless, nil, gputide.ErrSchemaDrift},
		"a cut page":               {[]string{"", list("b", t4("A", "1")), "b", list("", p4("B"))[:60]}, nil, gputide.ErrSchemaDrift},
		"something behind":         {[]string{"", list("", t4("A", "1")) + "{}"}, nil, gputide.ErrSchemaDrift},
		"another currency":         {[]string{"", list("", row("A", "Nvidia Tesla T4 GPU running in Iowa", "h", "IDR", "1", "us-central1"))}, nil, gputide.ErrSchemaDrift},
		"another unit":             {[]string{"", list("", row("A", "Nvidia Tesla T4 GPU running in Iowa", "mo", "USD", "1", "us-central1"))}, nil, gputide.ErrSchemaDrift},
		"a page that is missing":   {[]string{"", list("b", t4("A", "1"))}, nil, gputide.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			exchanges := answers(tt.pages...)
			if tt.err == gputide.ErrUnavailable {
				exchanges = append(exchanges, providertest.Exchange{Source: "skus", URL: listURL + "&pageToken=b", Status: 503})
			}
			c, err := collect(t, exchanges)
			if !errors.Is(errors.Join(append(c.Errors("skus"), err)...), tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if strings.HasPrefix(name, "a token ") && !strings.Contains(err.Error(), "want a new token") {
				t.Errorf("the circle was not seen: %v", err)
			}
			var got []string
			for _, o := range live(c) {
				if strings.Contains(o, "×1 ") {
					got = append(got, o)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			for _, s := range c.Scopes {
				if s.Source == "skus" && (s.Status == gputide.ScopeDone) != (tt.err == nil) {
					t.Errorf("scope %s is %s", s.Scope.Market, s.Status)
				}
			}
		})
	}
}

// TestRateLimitedLate proves that a late page that is never had fails every
// market and shows none of the earlier pages.
func TestRateLimitedLate(t *testing.T) {
	pages := []string{"", list("p2", t4("A", "1"))}
	for i := 2; i < 7; i++ {
		pages = append(pages, fmt.Sprintf("p%d", i), list(fmt.Sprintf("p%d", i+1)))
	}
	c, err := collect(t, append(answers(pages...), providertest.Exchange{
		Source: "skus", URL: listURL + "&pageToken=p7", Status: 429, Header: map[string]string{"Retry-After": "1"},
	}))
	if !errors.Is(err, gputide.ErrRateLimited) || !strings.Contains(err.Error(), "page 7") {
		t.Errorf("error %v", err)
	}
	if got := live(c); got != nil {
		t.Errorf("offers %v", got)
	}
}

// TestShiftedPages proves that a list that moved between two pages withdraws
// nothing: what slipped through is not known to be gone.
func TestShiftedPages(t *testing.T) {
	c, err := collect(t, answers("", list("b", t4("A", "1"), p4("B")), "b", list("", p4("B"))))
	if err != nil {
		t.Fatal(err)
	}
	markets := map[gputide.Market]bool{}
	for _, s := range c.Skips {
		if s.Key == nil && s.Reason == "moved_page" {
			markets[s.Scope.Market] = true
		}
	}
	if len(markets) != 5 || len(live(c)) != 6 {
		t.Errorf("%d markets say so, offers %v", len(markets), live(c))
	}
}

// TestRefusedKey proves that the answer to a wrong key, which is no 401, is told
// as what it is.
func TestRefusedKey(t *testing.T) {
	c, err := collect(t, []providertest.Exchange{{Source: "skus", URL: listURL, Status: 400, Body: `{"error":{"code":400}}`}})
	if !errors.Is(err, gputide.ErrAuth) || !strings.Contains(err.Error(), "GPUTIDE_GCP_API_KEY") || len(c.Live()) != 0 {
		t.Errorf("error %v", err)
	}
}

// TestNeedsKey proves that live and without credentials both APIs are skipped
// and say what to do, and the page is asked.
func TestNeedsKey(t *testing.T) {
	c, err := providertest.Collect(t.Context(), gcp.New(fetch.New(fetch.Options{Attempts: 1, Dial: fetch.DialLoopback}), gcp.Config{}))
	if err == nil {
		t.Error("the page cannot be had")
	}
	for _, source := range []string{"machine-types", "accelerator-types", "skus"} {
		errs := c.Errors(source)
		if len(errs) != 1 || !errors.Is(errs[0], gputide.ErrNeedsKey) {
			t.Errorf("%s: %v", source, errs)
		}
	}
	if len(c.Errors("page")) == 0 {
		t.Error("the page was not asked")
	}
}

// TestSums proves that a sum without one of its parts is refused and counted,
// never smaller, and names what it has.
func TestSums(t *testing.T) {
	parts := []string{
		row("GPU", "Nvidia Tesla A100 80GB GPU running in Americas", "h", "USD", "4", "us-central1"),
		row("CORE", "A2 Instance Core running in Americas", "h", "USD", "3", "us-central1"),
		row("RAM", "A2 Instance Ram running in Americas", "GiBy.h", "USD", "2", "us-central1"),
		row("SSD", "SSD backed Local Storage", "GiBy.mo", "USD", "1", "us-central1"),
	}
	c, err := collect(t, answers("", list("", parts...)))
	if err != nil || len(c.Live()) != 4 {
		t.Fatalf("%d offers, %v", len(c.Live()), err)
	}
	for i, left := range []string{"", "without core: ram", "without ram: core", "without local_ssd: core"} {
		c, err := collect(t, answers("", list("", slices.Delete(slices.Clone(parts), i, i+1)...)))
		if i == 0 { // without its card a machine is not listed at all
			if len(c.Live())+len(c.Skips) != 0 {
				t.Errorf("no card, and %v %v", live(c), c.Skips)
			}
			continue
		}
		if err != nil || len(c.Live()) != 0 || len(c.Skips) != 4 {
			t.Errorf("without %s: %v, %d skips, %v", parts[i], live(c), len(c.Skips), err)
		}
		for _, s := range c.Skips {
			if s.Key == nil || s.Reason != "incomplete_components" || !strings.Contains(s.Detail, left) {
				t.Errorf("%+v", s)
			}
		}
	}
	spoilt := row("SSD", "SSD backed Local Storage", "GiBy.mo", "IDR", "1", "us-central1")
	c, err = collect(t, answers("", list("", append(slices.Clone(parts[:3]), spoilt)...)))
	if err != nil || len(c.Live()) != 0 || len(c.Skips) != 4 || c.Skips[0].Reason != "wrong_currency" {
		t.Errorf("a part in another currency: %v, %v, %v", live(c), c.Skips, err)
	}
}

// TestUnknownCard proves that a card the tables do not know keeps its price
// under its own words, and is no machine.
func TestUnknownCard(t *testing.T) {
	c, err := collect(t, answers("", list("", row("A", "Nvidia X900 GPU running in Iowa", "h", "USD", "7", "us-central1"))))
	if err != nil || !slices.Equal(live(c), []string{"Nvidia X900 GPU×1 us-central1 7"}) {
		t.Fatalf("%v, %v", live(c), err)
	}
	if o := c.Live()[0]; !slices.Equal(o.Flags, []gputide.Flag{gputide.FlagAcceleratorOnly}) || o.Spec.Device.Name != "Nvidia X900 GPU" {
		t.Errorf("%+v", o)
	}
}

// TestSoldWhere proves that a price in a region without the machine type is
// flagged, once the regions are known, and that half a list of machine types
// says nothing.
func TestSoldWhere(t *testing.T) {
	const address = "https://compute.googleapis.com/compute/v1/projects/*/aggregated/machineTypes?maxResults=500"
	slice := func(regions ...string) string {
		return row("A", "1/8 vGPU no lssd running in Americas", "h", "USD", "1", regions...)
	}
	types := `{"items":{"zones/us-central1-b":{"machineTypes":[{"name":"g4-standard-6","guestCpus":6,"memoryMb":22528,
		"accelerators":[{"guestAcceleratorType":"nvidia-rtx-pro-6000","guestAcceleratorCount":1}]}]},"zones/x-a":{"warning":{}}}%s}`
	prices := answers("", list("", slice("us-central1", "us-east1")))
	flagged := func(c *providertest.Collector) (out []string) {
		for _, o := range c.Live() {
			if o.Key.InstanceType == "g4-standard-6" && len(o.Flags) > 0 {
				out = append(out, o.Key.Region+" "+string(o.Flags[0]))
			}
		}
		return out
	}
	c, err := collect(t, append(prices, providertest.Exchange{Source: "machine-types", URL: address, Body: fmt.Sprintf(types, "")}))
	if got := flagged(c); err != nil || !slices.Equal(got, []string{"us-east1 listed_not_sold"}) {
		t.Errorf("flags %v, %v", got, err)
	}
	for _, s := range c.Specs {
		if s.InstanceType == "g4-standard-6" && s.Source == "machine-types" && (s.Device.Known() || *s.MemoryGiB != 22) {
			t.Errorf("the API's card of a slice, or its memory: %+v", s)
		}
	}
	cards := strings.Replace(address, "machineTypes", "acceleratorTypes", 1)
	c, err = collect(t, append(
		answers("", list("", row("A", "Nvidia Tesla V100 GPU running in Americas", "h", "USD", "1", "us-central1", "us-east1"))),
		providertest.Exchange{Source: "machine-types", URL: address, Body: fmt.Sprintf(types, "")},
		providertest.Exchange{Source: "accelerator-types", URL: cards, Body: `{"items":{"zones/us-east1-b":{"acceleratorTypes":[
			{"name":"nvidia-tesla-v100","maximumCardsPerInstance":4},{"name":"nvidia-tesla-p4","deprecated":{"state":"DELETED"}}]}}}`},
	))
	var sold []string
	for _, o := range c.Live() {
		if !slices.Contains(o.Flags, gputide.FlagListedNotSold) {
			sold = append(sold, o.Key.InstanceType+" "+o.Key.Region)
		}
	}
	if want := []string{"nvidia-tesla-v100×1 us-east1", "nvidia-tesla-v100×2 us-east1", "nvidia-tesla-v100×4 us-east1"}; err != nil || !slices.Equal(sold, want) {
		t.Errorf("cards sold: %v, %v", sold, err)
	}
	c, err = collect(t, append(prices, providertest.Exchange{
		Source: "machine-types", URL: address, Body: fmt.Sprintf(types, `,"nextPageToken":"b"`),
	}, providertest.Exchange{Source: "machine-types", URL: address + "&pageToken=b", Status: 503}))
	if got := flagged(c); !errors.Is(err, gputide.ErrUnavailable) || got != nil || len(c.Live()) == 0 {
		t.Errorf("half a list: flags %v, %v", got, err)
	}
}
