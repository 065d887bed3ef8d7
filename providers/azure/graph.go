package azure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	graphURL     = armURL + "/providers/Microsoft.ResourceGraph/resources"
	graphVersion = "2024-04-01"
	graphTop     = 1000

	// maxGraphPages bounds a query: some 1,200 sizes of two systems in 60 regions.
	maxGraphPages = 500

	// historyDays is how far the history of spot prices reaches back.
	historyDays = 90

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
	type options struct {
		Format    string `json:"resultFormat"`
		Top       int    `json:"$top"`
		SkipToken string `json:"$skipToken,omitempty"`
	}
	type request struct {
		Query   string  `json:"query"`
		Options options `json:"options"`
	}
	rows, token, address := 0, "", ""
	followed := map[string]bool{}
	for {
		body, err := json.Marshal(request{kusto, options{"objectArray", graphTop, token}})
		if err != nil {
			return address, err
		}
		header := maps.Clone(a.header)
		header["Content-Type"] = []string{"application/json"}
		var p graphPage
		address, err = a.http.JSON(ctx, fetch.Request{
			Source: source, URL: graphURL + "?api-version=" + graphVersion, Header: header, Body: body,
		}, &p)
		switch {
		case err != nil:
			return address, err
		case p.Total == nil || p.Data == nil:
			return address, drift(source, "totalRecords, data", "both", "not both")
		}
		for _, raw := range p.Data {
			row(raw)
		}
		rows += len(p.Data)
		switch {
		case p.SkipToken != "" && followed[p.SkipToken]:
			return address, drift(source, "$skipToken", "a page not read before", "one read before")
		case len(followed) == maxGraphPages:
			return address, fmt.Errorf("%s: %w: more than %d pages", source, gputide.ErrTooLarge, maxGraphPages)
		case p.SkipToken != "":
			token = p.SkipToken
			followed[token] = true
			continue
		case p.Truncated == "true" || rows != *p.Total:
			return address, drift(source, "totalRecords", fmt.Sprintf("the %d rows read", rows), fmt.Sprint(*p.Total))
		case rows == 0:
			return address, fmt.Errorf("%s: %w", source, gputide.ErrEmpty)
		}
		return address, nil
	}
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

// history reads when spot prices changed, an event feed beside the prices in
// force.
func (r *run) history(ctx context.Context, a *arm) error {
	to := r.b.At()
	from := map[string]time.Time{} // region → start of its window
	address, err := a.query(ctx, sourceHistory, historyQuery, func(raw json.RawMessage) {
		var row historyRow
		if err := json.Unmarshal(raw, &row); err != nil || !row.whole() {
			r.b.SkipUnknown(sourceHistory, spotScope(""), "bad_row", string(raw))
			return
		}
		size, priced := r.sizeOf(row.Size)
		switch {
		case !r.wants(row.Region):
			r.b.Omit(sourceHistory, "region_not_asked", 1)
			return
		case !priced:
			r.b.Omit(sourceHistory, "size_without_price", 1)
			return
		}
		if from[row.Region].IsZero() {
			from[row.Region] = to.AddDate(0, 0, -historyDays)
		}
		for _, e := range row.Prices {
			if at, ok := r.event(&row, size, e); ok && at.Before(from[row.Region]) {
				from[row.Region] = at
			}
		}
	})
	if err != nil {
		if !errors.Is(err, gputide.ErrNotInFixture) {
			r.b.FailFeed(sourceHistory, spotScope(""), err)
		}
		return err
	}
	for region, start := range from {
		r.b.DoneFeed(sourceHistory, spotScope(region), start, to, address)
	}
	return nil
}

func spotScope(region string) gputide.Scope {
	return gputide.Scope{Partition: partitionCommercial, Region: region, Market: gputide.Spot}
}

// event adds one price of the history and returns when it took effect.
func (r *run) event(row *historyRow, size string, e spotPrice) (time.Time, bool) {
	key := keyOf(row.Region, offerKey{size: size, market: gputide.Spot, os: strings.ToLower(row.OS)})
	amount := strings.Trim(string(e.Price), `"`)
	if _, reason, detail := amountOf(json.RawMessage(amount)); reason != "" {
		r.b.SkipUnknown(sourceHistory, spotScope(row.Region), reason, size+": "+detail)
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, e.At())
	if err != nil || at.After(r.b.At()) {
		r.b.SkipUnknown(sourceHistory, spotScope(row.Region), "bad_date", size+": "+e.At())
		return time.Time{}, false
	}
	at = at.UTC().Truncate(time.Second)
	r.b.Add(gputide.RawOffer{
		Source: sourceHistory, Key: key, At: at, Spec: r.spec(key.Partition, size),
		Price: gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	})
	return at, true
}

// historyRow is the history of one size, system and region.
type historyRow struct {
	Size   string     `json:"skuName"`
	OS     string     `json:"osType"`
	Region string     `json:"location"`
	Prices spotPrices `json:"spotPrices"`
}

func (h *historyRow) whole() bool {
	os := strings.ToLower(h.OS)
	return h.Size != "" && h.Region != "" && h.Prices != nil && (os == "linux" || os == "windows")
}

// spotPrices is a list of prices, or the text of one.
type spotPrices []spotPrice

// UnmarshalJSON reads both forms.
func (p *spotPrices) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	return json.Unmarshal(data, (*[]spotPrice)(p))
}

// spotPrice is one price. Texts about it name its moment differently.
type spotPrice struct {
	Price     json.RawMessage `json:"priceUSD"` // a number, or the text of one
	Effective string          `json:"effectiveDate"`
	DateTime  string          `json:"dateTime"`
}

// At returns the moment a price took effect, as stated.
func (p spotPrice) At() string {
	if p.Effective != "" {
		return p.Effective
	}
	return p.DateTime
}
