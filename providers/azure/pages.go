package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	// apiVersion is the one version that gives savings plans.
	apiVersion = "2023-01-01-preview"

	// maxPages bounds a list: eastus had about 12 pages of 1,000 rows in 2026.
	maxPages = 100
)

// indexSizes are common sizes of several generations: every region sells one.
func indexSizes() []string {
	return []string{"Standard_D2s_v3", "Standard_D2s_v5", "Standard_D2as_v5", "Standard_D2s_v6"}
}

// query returns the address of the rows that a filter leaves.
func query(filter string) string {
	q := url.Values{"api-version": {apiVersion}, "currencyCode": {"'" + string(currency) + "'"}, "$filter": {filter}}
	return priceURL + "?" + q.Encode()
}

// regionURL returns the first page of a region's list. The filter leaves out
// Dev/Test rates and every other service.
func regionURL(region string) string {
	return query("serviceName eq 'Virtual Machines' and armRegionName eq '" + region +
		"' and (priceType eq 'Consumption' or priceType eq 'Reservation')")
}

// indexURL returns the rows of common sizes in every region.
func indexURL() string {
	var sizes []string
	for _, s := range indexSizes() {
		sizes = append(sizes, "armSkuName eq '"+s+"'")
	}
	return query("serviceName eq 'Virtual Machines' and priceType eq 'Consumption' and (" + strings.Join(sizes, " or ") + ")")
}

// regions returns the codes of the regions to read, sorted: those with a price
// of a common size.
func (r *run) regions(ctx context.Context) ([]string, error) {
	seen := map[string]bool{}
	_, err := r.pages(ctx, sourceRegions, indexURL(), func(raw json.RawMessage) error {
		var row struct {
			Region string `json:"armRegionName"`
		}
		if err := json.Unmarshal(raw, &row); err == nil && isCode(row.Region) {
			seen[row.Region] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(seen) == 0 {
		return nil, drift(sourceRegions, "Items[].armRegionName", "region codes", "none")
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(region string) bool { return !r.wants(region) }), nil
}

// isCode reports whether s is a region code, fit to be quoted in a filter.
func isCode(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// pages reads a list of retail prices to its end and hands each row to row. It
// returns the address of the first page. A page in another currency, a page that
// does not have the rows it counts, a link that was followed before, and a list
// longer than maxPages are errors: what was read is a part of the list only.
func (p *Provider) pages(ctx context.Context, source, address string, row func(json.RawMessage) error) (string, error) {
	first, rows := "", 0
	followed := map[string]bool{}
	for address != "" {
		switch {
		case followed[address]:
			return first, drift(source, "NextPageLink", "a page not read before", address)
		case len(followed) == maxPages:
			return first, fmt.Errorf("%s: %w: more than %d pages", source, gputide.ErrTooLarge, maxPages)
		}
		followed[address] = true
		pg := page{source: source}
		got, err := p.page(ctx, &pg, address, row)
		if err != nil {
			return first, err
		}
		if first == "" {
			first = got
		}
		rows += pg.rows
		if address, err = next(source, "NextPageLink", address, pg.next); err != nil {
			return first, err
		}
	}
	if rows == 0 {
		return first, fmt.Errorf("%s: %w: %s", source, gputide.ErrEmpty, first)
	}
	return first, nil
}

// page is the envelope of one page.
type page struct {
	source   string
	currency string
	next     string // empty on the last page
	count    int    // rows the page says it has
	rows     int    // rows it has
	seen     map[string]bool
}

// page reads one page and returns the redacted address it came from.
func (p *Provider) page(ctx context.Context, pg *page, address string, row func(json.RawMessage) error) (string, error) {
	resp, err := p.http.Do(ctx, fetch.Request{Source: pg.source, URL: address, Accept: "application/json"})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	d := fetch.NewDecoder(pg.source, resp.Body)
	pg.seen = map[string]bool{}
	err = d.Object(func(name string) error {
		pg.seen[name] = true
		switch name {
		case "BillingCurrency":
			return d.Decode(&pg.currency)
		case "NextPageLink":
			return d.Decode(&pg.next)
		case "Count":
			return d.Decode(&pg.count)
		case "Items":
			return d.Array(func() error {
				var raw json.RawMessage
				if err := d.Decode(&raw); err != nil {
					return err
				}
				pg.rows++
				return row(raw)
			})
		}
		return d.Skip()
	})
	if err == nil {
		err = d.End()
	}
	if err == nil {
		err = pg.check()
	}
	return resp.URL, err
}

func (pg *page) check() error {
	for _, name := range []string{"BillingCurrency", "Items", "NextPageLink", "Count"} {
		if !pg.seen[name] {
			return drift(pg.source, name, "a member of the page", "none")
		}
	}
	switch {
	case pg.currency != string(currency):
		return drift(pg.source, "BillingCurrency", string(currency)+" as asked", pg.currency)
	case pg.count != pg.rows:
		return drift(pg.source, "Count", fmt.Sprintf("the %d rows of the page", pg.rows), fmt.Sprint(pg.count))
	}
	return nil
}

// next returns the address of the page a link names, empty when there is none.
// Links name the default port. One that leads elsewhere is drift.
func next(source, path, from, link string) (string, error) {
	if link == "" {
		return "", nil
	}
	to, err := url.Parse(link)
	base, baseErr := url.Parse(from)
	if err != nil || baseErr != nil || to.Scheme != "https" || to.User != nil ||
		strings.TrimSuffix(to.Host, ":443") != base.Host || to.Path != base.Path {
		return "", drift(source, path, "an address like "+from, link)
	}
	to.Host = base.Host
	return to.String(), nil
}
