package ibm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	// maxRows bounds a list of the catalog: is.instance has some hundreds of
	// plans, a plan some tens of deployments.
	maxRows = 20000

	// pageRows is how many plans are asked for at a time, the most the catalog
	// gives; a shorter page is taken as it comes.
	pageRows = 200
)

// plan is the price plan of one profile.
type plan struct{ profile, id string }

// knownPlans are the plans whose ids public clients state (2026-10-05), for when
// the list of plans cannot be read.
func knownPlans() []plan {
	return []plan{
		{"gx3d-160x1792x8h100", "99548819-fcbc-486c-8eeb-0355a56b035e"},
		{"gx3d-160x1792x8h200", "473375e7-f226-4deb-9214-dd68607b3d99"},
	}
}

// page is one page of a list of the catalog.
type page struct {
	Offset    *int              `json:"offset"`
	Count     *int              `json:"count"` // of all pages
	Resources []json.RawMessage `json:"resources"`
}

// check returns what is wrong with a page that comes after a number of rows.
// total is the count of the pages before, negative on the first.
func (pg *page) check(source string, after, total int) error {
	switch {
	case pg.Count == nil || pg.Offset == nil || pg.Resources == nil:
		return drift(source, "$", "offset, count and resources", "a page without")
	case *pg.Offset != after:
		return drift(source, "$.offset", strconv.Itoa(after), strconv.Itoa(*pg.Offset))
	case total >= 0 && *pg.Count != total:
		return drift(source, "$.count", strconv.Itoa(total)+" as on the page before", strconv.Itoa(*pg.Count))
	case *pg.Count < 0 || *pg.Count > maxRows:
		return drift(source, "$.count", fmt.Sprintf("at most %d", maxRows), strconv.Itoa(*pg.Count))
	}
	return nil
}

// pages reads a list of the catalog to its end. A list that does not add up to
// its own count is refused: a part of it would look like the whole.
func (p *Provider) pages(ctx context.Context, source, address string, first, next url.Values) (rows []json.RawMessage, urls []string, err error) {
	query, total := first, -1
	for {
		from := address
		if len(query) > 0 {
			from += "?" + query.Encode()
		}
		var pg page
		at, err := p.http.JSON(ctx, fetch.Request{Source: source, URL: from}, &pg)
		if err != nil {
			return nil, nil, err
		}
		if err := pg.check(source, len(rows), total); err != nil {
			return nil, nil, err
		}
		total = *pg.Count
		rows, urls = append(rows, pg.Resources...), append(urls, at)
		switch {
		case total == 0 && len(rows) == 0:
			return nil, nil, fmt.Errorf("%s: %w: resources", source, gputide.ErrEmpty)
		case len(rows) == total:
			return rows, urls, nil
		case len(rows) > total || len(pg.Resources) == 0:
			return nil, nil, drift(source, "$.resources", fmt.Sprintf("%d rows", total), strconv.Itoa(len(rows)))
		}
		query = url.Values{"_offset": {strconv.Itoa(len(rows))}}
		for name, v := range next {
			query[name] = v
		}
	}
}

type planRow struct {
	ID       string `json:"id"`
	Name     string `json:"name"` // of the profile
	Active   *bool  `json:"active"`
	Disabled *bool  `json:"disabled"`
}

// planID is the form of an id, which becomes a part of an address.
var planID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$`)

// plans lists the plans of accelerated profiles.
func (r *run) plans(ctx context.Context) ([]plan, error) {
	limit := url.Values{"_limit": {strconv.Itoa(pageRows)}}
	rows, _, err := r.pages(ctx, sourcePlans, plansURL, url.Values{"_limit": limit["_limit"], "_offset": {"0"}}, limit)
	if err != nil {
		return nil, err
	}
	var plans []plan
	for _, row := range rows {
		var p planRow
		err := json.Unmarshal(row, &p)
		found := plan{p.Name, p.ID}
		switch {
		case err != nil || p.Name == "":
			r.b.Omit(sourcePlans, "bad_row", 1)
		case !accelerated(p.Name):
			r.b.Omit(sourcePlans, "no_accelerator", 1)
		case p.Active != nil && !*p.Active, p.Disabled != nil && *p.Disabled:
			r.b.Omit(sourcePlans, "not_active", 1)
		case slices.Contains(plans, found):
			r.b.Omit(sourcePlans, "twin", 1)
		default:
			plans = append(plans, found)
		}
	}
	if len(plans) == 0 {
		return nil, drift(sourcePlans, "$.resources[].name", "a profile with accelerators", fmt.Sprintf("none of %d", len(rows)))
	}
	return plans, nil
}
