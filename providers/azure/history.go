package azure

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// historyDays is how far the history of spot prices reaches back.
const historyDays = 90

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
