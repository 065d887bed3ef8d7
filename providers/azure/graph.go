package azure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	graphURL     = armURL + "/providers/Microsoft.ResourceGraph/resources"
	graphVersion = "2024-04-01"
	graphTop     = 1000

	// maxGraphPages bounds a query: some 1,200 sizes of two systems in 60 regions.
	maxGraphPages = 500

	evictionQuery = "SpotResources | where type =~ 'microsoft.compute/skuspotevictionrate/location'" +
		" | project id, skuName=tostring(sku.name), location, spotEvictionRate=tostring(properties.evictionRate)"
	historyQuery = "SpotResources | where type =~ 'microsoft.compute/skuspotpricehistory/ostype/location'" +
		" | project id, skuName=tostring(sku.name), osType=tostring(properties.osType), location, spotPrices=properties.spotPrices"
)

// graph reads eviction rates and the history of spot prices.
func (r *run) graph(ctx context.Context) {
	a, err := r.signIn(ctx)
	if errors.Is(err, gputide.ErrNeedsKey) {
		r.b.Source(sourceEviction, gputide.SourceSkipped, err)
		r.b.Source(sourceHistory, gputide.SourceSkipped, err)
		return
	}
	if err != nil {
		r.b.Source(sourceToken, gputide.SourceFailed, err)
		r.count(err)
		return
	}
	for _, q := range []struct {
		source string
		read   func(context.Context, *arm) error
	}{{sourceEviction, r.evictions}, {sourceHistory, r.history}} {
		err := q.read(ctx, a)
		if errors.Is(err, gputide.ErrNotInFixture) {
			r.b.Source(q.source, gputide.SourceSkipped, err)
			continue
		}
		if err != nil {
			r.b.Source(q.source, gputide.SourceFailed, err)
		}
		r.count(err)
	}
}

// graphPage is one page of an answer. Total counts the rows of all pages.
type graphPage struct {
	Total     *int              `json:"totalRecords"`
	Data      []json.RawMessage `json:"data"`
	Truncated string            `json:"resultTruncated"`
	SkipToken string            `json:"$skipToken"`
}

// query asks Resource Graph and hands each row to row. It returns the address
// asked. An answer that ends before its last row is an error.
func (a *arm) query(ctx context.Context, source, kusto string, row func(json.RawMessage)) (string, error) {
	rows, token := 0, ""
	followed := map[string]bool{}
	for {
		p, address, err := a.graphPage(ctx, source, kusto, token)
		if err != nil {
			return address, err
		}
		for _, raw := range p.Data {
			row(raw)
		}
		rows += len(p.Data)
		if p.SkipToken == "" {
			return address, p.last(source, rows)
		}
		switch token = p.SkipToken; {
		case followed[token]:
			return address, drift(source, "$skipToken", "a page not read before", "one read before")
		case len(followed) == maxGraphPages:
			return address, fmt.Errorf("%s: %w: more than %d pages", source, gputide.ErrTooLarge, maxGraphPages)
		}
		followed[token] = true
	}
}

// graphPage asks for the page that a token leads to; the first has none.
func (a *arm) graphPage(ctx context.Context, source, kusto, token string) (p graphPage, address string, err error) {
	type options struct {
		Format    string `json:"resultFormat"`
		Top       int    `json:"$top"`
		SkipToken string `json:"$skipToken,omitempty"`
	}
	type request struct {
		Query   string  `json:"query"`
		Options options `json:"options"`
	}
	body, err := json.Marshal(request{kusto, options{"objectArray", graphTop, token}})
	if err != nil {
		return p, "", err
	}
	header := maps.Clone(a.header)
	header["Content-Type"] = []string{"application/json"}
	address, err = a.http.JSON(ctx, fetch.Request{
		Source: source, URL: graphURL + "?api-version=" + graphVersion, Header: header, Body: body,
	}, &p)
	if err == nil && (p.Total == nil || p.Data == nil) {
		err = drift(source, "totalRecords, data", "both", "not both")
	}
	return p, address, err
}

// last judges the page that leads to none: rows are those of all pages.
func (p *graphPage) last(source string, rows int) error {
	switch {
	case p.Truncated == "true" || rows != *p.Total:
		return drift(source, "totalRecords", fmt.Sprintf("the %d rows read", rows), fmt.Sprint(*p.Total))
	case rows == 0:
		return fmt.Errorf("%s: %w", source, gputide.ErrEmpty)
	}
	return nil
}

// sizeOf returns a size as the prices spell it: Resource Graph has lower case.
// It is false for one that has no price in this run.
func (r *run) sizeOf(name string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	size, ok := r.names[strings.ToLower(name)]
	return size, ok
}

// evictions reads the eviction rates of all regions.
func (r *run) evictions(ctx context.Context, a *arm) error {
	fed := map[string]bool{}
	address, err := a.query(ctx, sourceEviction, evictionQuery, func(raw json.RawMessage) {
		var row struct {
			Size   string  `json:"skuName"`
			Region string  `json:"location"`
			Rate   *string `json:"spotEvictionRate"`
		}
		if err := json.Unmarshal(raw, &row); err != nil || row.Size == "" || row.Region == "" || row.Rate == nil {
			r.b.SkipUnknown(sourceEviction, evictionScope(""), "bad_row", string(raw))
			return
		}
		size, priced := r.sizeOf(row.Size)
		switch {
		case !r.wants(row.Region):
			r.b.Omit(sourceEviction, "region_not_asked", 1)
			return
		case !priced:
			r.b.Omit(sourceEviction, "size_without_price", 1)
			return
		case *row.Rate == "": // not known, which is not 0
			r.b.Omit(sourceEviction, "rate_unknown", 1)
			return
		}
		scope := evictionScope(row.Region)
		fed[row.Region] = true
		rate, ok := evictionBand(*row.Rate)
		if !ok {
			r.b.SkipUnknown(sourceEviction, scope, "unknown_band", row.Size+": "+*row.Rate)
			return
		}
		r.b.Signal(gputide.Signal{
			Source: sourceEviction, Name: gputide.SignalEvictionRate, Value: rate,
			Key: gputide.Key{Partition: partitionCommercial, Region: row.Region, InstanceType: size, Market: gputide.Spot},
		})
	})
	if err != nil {
		if !errors.Is(err, gputide.ErrNotInFixture) {
			r.b.Fail(sourceEviction, evictionScope(""), err)
		}
		return err
	}
	for region := range fed {
		r.b.Done(sourceEviction, evictionScope(region), address)
	}
	return nil
}

func evictionScope(region string) gputide.Scope {
	s := spotScope(region)
	s.Signal = gputide.SignalEvictionRate
	return s
}

// evictionBand returns the lower bound of a band in percent.
func evictionBand(band string) (int64, bool) {
	rate, ok := map[string]int64{"0-5": 0, "5-10": 5, "10-15": 10, "15-20": 15, "20+": 20}[band]
	return rate, ok
}

func spotScope(region string) gputide.Scope {
	return gputide.Scope{Partition: partitionCommercial, Region: region, Market: gputide.Spot}
}
