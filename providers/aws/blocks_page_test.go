package aws_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws"
)

const blockURL = "https://aws.amazon.com/ec2/capacityblocks/pricing/"

func TestBlockRates(t *testing.T) {
	got, err := crawl(t, aws.Config{}, get("block-page", blockURL, fixtureBody(t, "block-page.html")))
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]string{}
	for _, o := range got.Live() {
		rates[o.Key.InstanceType+" "+o.Key.Region] = o.Price.Amount + " " + device(*o.Spec)
		if o.Key.Market != gputide.CapacityBlock || o.Key.Term != "" || o.Key.Stat != gputide.StatList || o.Part != "rates" || o.Key.Currency != "USD" {
			t.Errorf("%+v", o)
		}
	}
	same(t, "rates", map[string]string{
		"p5.48xlarge us-east-1": "39.33 8 × H100 gpu 81920", "p5.48xlarge us-east-2": "39.33 8 × H100 gpu 81920",
		"p4d.24xlarge us-east-2": "14.75 8 × A100 gpu 40960", "p4d.24xlarge us-west-2": "14.75 8 × A100 gpu 40960",
		"trn1.32xlarge ap-southeast-4": "15.49 16 × Trainium ai-asic 32768",
	}, rates)
	want := map[string]string{}
	for _, region := range []string{"us-east-1", "us-east-2", "us-west-2", "ap-southeast-4"} {
		want["partition=aws region="+region+" market=capacity_block part=rates"] = "done block-page"
	}
	same(t, "scopes", want, status(got))
}

// TestBlockRatesRefused shows that a row that says too little is refused and not
// guessed, and spoils no other.
func TestBlockRatesRefused(t *testing.T) {
	page := fixtureBody(t, "block-page.html")
	for name, c := range map[string]struct {
		old, new string
		reason   string
		known    bool
		offers   int
	}{
		"no type":           {`<td>trn1.32xlarge</td>`, `<td></td>`, "bad_row", false, 4},
		"lost cell":         {`<td>trn1.32xlarge</td>`, ``, "bad_row", false, 4},
		"two types":         {`<td>trn1.32xlarge</td>`, `<td>trn1.32xlarge trn2.48xlarge</td>`, "bad_row", false, 4},
		"unknown region":    {`Asia Pacific (Melbourne)`, `Moon (Tycho)`, "bad_row", false, 4},
		"no price":          {`$15.49 USD`, `N/A`, "no_price", true, 4},
		"zero":              {`$15.49 USD`, `$0.00 USD`, "no_price", true, 4},
		"another currency":  {`$15.49 USD`, `€15.49 EUR`, "no_price", true, 4},
		"one digit":         {`$15.49 USD`, `$15.59 USD`, "bad_row", true, 4},
		"one digit, a card": {`$0.968 USD`, `$0.967 USD`, "bad_row", true, 4},
		"count":             {`16 x AWS`, `8 x AWS`, "bad_row", true, 4},
	} {
		got, err := crawl(t, aws.Config{}, get("block-page", blockURL, strings.Replace(page, c.old, c.new, 1)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got.Live()) != c.offers || len(got.Skips) != 1 || got.Skips[0].Reason != c.reason || (got.Skips[0].Key != nil) != c.known {
			t.Errorf("%s: %d offers, skips %+v", name, len(got.Live()), got.Skips)
		}
	}
}

func TestBlockPageFaults(t *testing.T) {
	page := fixtureBody(t, "block-page.html")
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"no table":       {strings.ReplaceAll(page, "table", "div"), gputide.ErrSchemaDrift},
		"column renamed": {strings.Replace(page, "<b>Region</b>", "<b>Place</b>", 1), gputide.ErrSchemaDrift},
		"rate renamed":   {strings.Replace(page, "<b>Effective Instance Hourly Rate</b>", "<b>Rate</b>", 1), gputide.ErrSchemaDrift},
		"no rows":        {page[:strings.Index(page, "<tr><td>p5")] + "</tbody></table></main></body></html>", gputide.ErrEmpty},
		"endless span":   {strings.Replace(page, `rowspan="2"`, `rowspan="100000000"`, 1), gputide.ErrSchemaDrift},
		"bad span":       {strings.Replace(page, `rowspan="2"`, `colspan="x"`, 1), gputide.ErrSchemaDrift},
		"JSON":           {`{}`, gputide.ErrSchemaDrift},
	} {
		got, err := crawl(t, aws.Config{}, get("block-page", blockURL, c.text))
		if !errors.Is(err, c.want) || len(got.Live()) != 0 {
			t.Errorf("%s: %d offers, %v", name, len(got.Live()), err)
		}
		if s := status(got); s["market=capacity_block part=rates"] != "failed" || len(s) != 1 {
			t.Errorf("%s: %v", name, s)
		}
	}
}
