package azure

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

type exchange = providertest.Exchange

// body returns a page of rows.
func body(link string, rows ...string) string {
	if link != "null" {
		link = fmt.Sprintf("%q", link)
	}
	return fmt.Sprintf(`{"BillingCurrency":"USD","CustomerEntityId":"Default","CustomerEntityType":"Retail","Items":[%s],"NextPageLink":%s,"Count":%d}`,
		strings.Join(rows, ","), link, len(rows))
}

// index is the answer that names regions.
func index(regions ...string) exchange {
	var rows []string
	for _, r := range regions {
		rows = append(rows, fmt.Sprintf(`{"armRegionName":%q}`, r))
	}
	return exchange{Source: sourceRegions, URL: indexURL(), Body: body("null", rows...)}
}

// first is the first page of a region, later the page a $skip leads to.
func first(region, text string) exchange {
	return exchange{Source: sourcePrices, URL: regionURL(region), Body: text}
}

func later(region string, skip int, text string) exchange {
	return exchange{Source: sourcePrices, URL: link(region, skip), Body: text}
}

// link is a link as pages have it.
func link(region string, skip int) string {
	return fmt.Sprintf("%s&$skip=%d", strings.Replace(regionURL(region), ".com/", ".com:443/", 1), skip)
}

// item is a row of eastus with members replaced; a value of "" drops the member.
func itemOf(replace map[string]string) string {
	members := map[string]string{
		"currencyCode": `"USD"`, "tierMinimumUnits": "0.0", "retailPrice": "98.32", "unitPrice": "98.32", "armRegionName": `"eastus"`,
		"effectiveStartDate": `"2023-08-01T00:00:00Z"`, "meterId": `"m"`, "meterName": `"ND96isrH100v5"`,
		"productName": `"Virtual Machines NDsr H100 v5 Series"`, "skuName": `"ND96isrH100v5"`, "serviceName": `"Virtual Machines"`,
		"unitOfMeasure": `"1 Hour"`, "type": `"Consumption"`, "isPrimaryMeterRegion": "false", "armSkuName": `"Standard_ND96isr_H100_v5"`,
	}
	for name, v := range replace {
		members[name] = v
	}
	var out []string
	for name, v := range members {
		if v != "" {
			out = append(out, fmt.Sprintf("%q:%s", name, v))
		}
	}
	slices.Sort(out)
	return "{" + strings.Join(out, ",") + "}"
}

// sized is a row of another size at a price.
func sized(size, price string) string {
	return itemOf(map[string]string{"armSkuName": `"` + size + `"`, "retailPrice": price, "meterId": `"` + size + `"`})
}

// crawl crawls what the exchanges answer, at providertest.Moment.
func crawl(t testing.TB, cfg Config, exchanges ...exchange) (*providertest.Collector, error) {
	t.Helper()
	return providertest.Collect(t.Context(), New(providertest.Replay(t, "azure", exchanges...), cfg))
}

// said lists offers, rows without a price and rows that do not say what they are.
func said(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Offers {
		out = append(out, name(&o.Key)+" "+o.Price.Amount+"/"+string(o.Price.Unit))
	}
	for _, s := range c.Skips {
		if s.Key != nil {
			out = append(out, name(s.Key)+" "+s.Reason)
		} else {
			out = append(out, "? "+s.Reason)
		}
	}
	for _, o := range c.Omits {
		out = append(out, fmt.Sprintf("- %s %d", o.Reason, o.Rows))
	}
	slices.Sort(out)
	return out
}

func name(k *gputide.Key) string {
	parts := []string{strings.TrimPrefix(k.InstanceType, "Standard_"), string(k.Market), k.Plan, string(k.Term), k.OS}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// states lists the outcomes of price scopes.
func states(c *providertest.Collector) []string {
	var out []string
	for _, s := range c.Scopes {
		if s.Scope.Signal != "" || s.EventFeed {
			continue
		}
		text := s.Scope.String() + " " + string(s.Status)
		if s.NoWithdraw {
			text += " no withdrawals"
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}
