package ecb_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/ecb"
	"github.com/gputide/gputide/providers/providertest"
)

const (
	dailyURL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
	histURL  = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml"
)

// envelope returns a document with the given days inside.
func envelope(days string) string {
	return `<?xml version="1.0"?><gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" ` +
		`xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><Cube>` + days + `</Cube></gesmes:Envelope>`
}

func day(date string, rates ...string) string {
	out := "<Cube time='" + date + "'>"
	for _, r := range rates {
		cur, amount, _ := strings.Cut(r, " ")
		out += "<Cube currency='" + cur + "' rate='" + amount + "'/>"
	}
	return out + "</Cube>"
}

func hist(body string) providertest.Exchange {
	return providertest.Exchange{Source: "hist-90d", URL: histURL, Body: body}
}

func daily(body string) providertest.Exchange {
	return providertest.Exchange{Source: "daily", URL: dailyURL, Body: body}
}

func crawl(t testing.TB, exchanges ...providertest.Exchange) (*providertest.Collector, error) {
	t.Helper()
	return providertest.Collect(t.Context(), ecb.New(providertest.Replay(t, "ecb", exchanges...)))
}

func texts(rates []gputide.Rate) []string {
	var out []string
	for _, r := range rates {
		out = append(out, r.Date.Format(time.DateOnly)+" "+string(r.Base)+string(r.Quote)+" "+r.Amount+" "+r.Source)
	}
	return out
}

func TestRates(t *testing.T) {
	const prefix = "2023-02-01 EUR"
	for _, tt := range []struct {
		name  string
		days  string
		want  []string
		skips []string
	}{
		{"as published", day("2023-02-01", "USD 1.0894", "JPY 141.370"), []string{prefix + "JPY 141.370", prefix + "USD 1.0894"}, nil},
		{"not quoted", day("2023-02-01", "USD 1.0894", "RUB N/A"), []string{prefix + "USD 1.0894"}, nil},
		{
			"no prices", day("2023-02-01", "USD 1.0894", "JPY 0", "GBP -1", "CNY 1e400", "INR NaN", "KRW "),
			[]string{prefix + "USD 1.0894"},
			[]string{"no_price", "no_price", "no_price", "no_price", "no_price"},
		},
		{"bad currency", day("2023-02-01", "USD 1.0894", "usd 1"), []string{prefix + "USD 1.0894"}, []string{"bad_currency"}},
		{"bad day", day("2023-02-01", "USD 1.0894") + day("2023-02-30", "USD 1"), []string{prefix + "USD 1.0894"}, []string{"bad_date"}},
		{"a day to come", day("2027-01-04", "USD 1") + day("2023-02-01", "USD 1.0894"), []string{prefix + "USD 1.0894"}, []string{"bad_date"}},
		{"a rate twice", day("2023-02-01", "USD 1.0894", "USD 1.0894"), []string{prefix + "USD 1.0894"}, nil},
		{"a day without rates", day("2023-02-01", "USD 1.0894") + day("2023-02-02"), []string{prefix + "USD 1.0894"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawl(t, hist(envelope(tt.days)))
			if err != nil {
				t.Fatal(err)
			}
			for i := range tt.want {
				tt.want[i] += " hist-90d"
			}
			if d := cmp.Diff(tt.want, texts(c.Rates)); d != "" {
				t.Errorf("rates (-want +got):\n%s", d)
			}
			var skips []string
			for _, s := range c.Skips {
				skips = append(skips, s.Reason)
			}
			if d := cmp.Diff(tt.skips, skips); d != "" {
				t.Errorf("skips (-want +got):\n%s", d)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	good := envelope(day("2023-02-01", "USD 1.0894"))
	for _, tt := range []struct {
		name, body string
		want       error
	}{
		{"a page", "<html><body>moved</body></html>", gputide.ErrSchemaDrift},
		{"json", `{"rates":{}}`, gputide.ErrSchemaDrift},
		{"nothing", "", gputide.ErrSchemaDrift},
		{"cut", good[:len(good)-20], gputide.ErrSchemaDrift},
		{"more behind it", good + good, gputide.ErrSchemaDrift},
		{"entities", `<!DOCTYPE E [<!ENTITY a "x">]>` + strings.Replace(good, "1.0894", "&a;", 1), gputide.ErrSchemaDrift},
		{"two rates that differ", envelope(day("2023-02-01", "USD 1.0894", "USD 1.0895")), gputide.ErrSchemaDrift},
		{"rates without a day", envelope("<Cube currency='USD' rate='1.0894'/>"), gputide.ErrSchemaDrift},
		{"no rate at all", envelope(day("2023-02-01")), gputide.ErrSchemaDrift},
		{"no day", envelope(""), gputide.ErrEmpty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawl(t, hist(tt.body))
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if len(c.Rates) > 0 {
				t.Errorf("rates of a refused document: %v", texts(c.Rates))
			}
		})
	}
}

// TestDaily proves that the document of one day stands in for the longer one,
// and that the failure of that is told.
func TestDaily(t *testing.T) {
	c, err := crawl(t, hist("<html/>"), daily(envelope(day("2026-09-30", "USD 1.1355"))))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"2026-09-30 EURUSD 1.1355 daily"}, texts(c.Rates)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if errs := c.Errors("hist-90d"); len(errs) != 1 || !errors.Is(errs[0], gputide.ErrSchemaDrift) {
		t.Errorf("told of hist-90d: %v", errs)
	}
}

// TestNotInFixture proves that a source the fixture lacks is skipped, not failed.
func TestNotInFixture(t *testing.T) {
	c, err := crawl(t, daily(envelope(day("2026-09-30", "USD 1.1355"))))
	if err != nil || len(c.Rates) != 1 {
		t.Errorf("rates %v, error %v", texts(c.Rates), err)
	}
	if !slices.ContainsFunc(c.Sources, func(s providertest.SourceNote) bool {
		return s.Source == "hist-90d" && s.Status == gputide.SourceSkipped
	}) {
		t.Errorf("hist-90d is not skipped: %v", c.Sources)
	}
}
