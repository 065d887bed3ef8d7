package alibaba

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gputide/gputide"
)

const (
	// spotPast is how far back ECS tells spot prices, less an hour so that a
	// request on its way does not reach behind it.
	// https://www.alibabacloud.com/help/en/ecs/developer-reference/api-ecs-2014-05-26-describespotpricehistory
	spotPast = 30*24*time.Hour - time.Hour

	// spotOverlap is how much of the last window is read again.
	spotOverlap = 6 * time.Hour

	// spotNow is how old the newest sample of a price in force may be: the window
	// that ECS answers for when none is named.
	spotNow = 3 * time.Hour

	// longWindow is a window that may hold much: regions with one are read one
	// after the other, and only while a crawl has read fewer than spotBudget
	// samples, so that the first crawl stays in memory. The rest follow in the next.
	longWindow = 5 * 24 * time.Hour
	spotBudget = 150_000
)

// errPutOff is the outcome of a history that a later crawl reads.
var errPutOff = errors.New("spot history is left to the next crawl")

// sample is one row of DescribeSpotPriceHistory: ECS states the price of each
// hour, changed or not.
type sample struct {
	Zone         string          `json:"ZoneId"`
	InstanceType string          `json:"InstanceType"`
	Timestamp    string          `json:"Timestamp"`
	Network      string          `json:"NetworkType"`
	Optimized    string          `json:"IoOptimized"`
	Spot         json.RawMessage `json:"SpotPrice"`
	Origin       json.RawMessage `json:"OriginPrice"` // on demand

	at time.Time
}

type spotPage struct {
	SpotPrices *struct {
		SpotPriceType []json.RawMessage
	}
	Currency   string
	NextOffset int
}

// spotFacts is what spot prices say beside themselves.
type spotFacts struct {
	site   *site // that the account belongs to; nil when not known
	origin map[string]origin
	url    string
}

// origin is the on-demand price of a type.
type origin struct {
	amount string
	at     time.Time
}

func (f *spotFacts) partition() string {
	if f.site == nil {
		return ""
	}
	return f.site.partition
}

// settle learns the site from the currency of an answer: prices of one account
// are those of one site.
func (f *spotFacts) settle(source, currency string) error {
	for _, s := range sites() {
		if string(s.currency) != currency {
			continue
		}
		if f.site != nil && f.site.partition != s.partition {
			return drift(source, "$.Currency", string(f.site.currency), currency)
		}
		f.site = &s
		return nil
	}
	return drift(source, "$.Currency", "CNY or USD", currency)
}

// spot reads the spot prices of types in a region: the samples since the last
// crawl, of 30 days the first time, and what is in force now.
func (r *run) spot(ctx context.Context, region string, types []string) (spotFacts, error) {
	now := r.b.At()
	from, feed := r.window(region), true
	if now.Sub(from) > longWindow {
		r.long.Lock()
		defer r.long.Unlock()
		if feed = r.events < spotBudget; !feed {
			from = now.Add(-spotNow)
		}
	}
	f := spotFacts{origin: map[string]origin{}}
	rows := 0
	for _, name := range types {
		n, err := r.spotType(ctx, region, name, from, feed, &f)
		if err != nil {
			if context.Cause(ctx) == nil && !errors.Is(err, gputide.ErrNotInFixture) {
				r.b.FailFeed(sourceSpot, gputide.Scope{Partition: f.partition(), Region: region, Market: gputide.Spot}, err)
			}
			return f, err
		}
		rows += n
	}
	if f.site == nil {
		r.b.Omit(sourceSpot, "region_without_offers", 1) // ECS's own "not offered"
		return f, nil
	}
	scope := gputide.Scope{Partition: f.site.partition, Region: region, Market: gputide.Spot}
	if feed {
		r.b.DoneFeed(sourceSpot, scope, from, now, f.url)
	} else {
		r.b.Source(sourceSpot, gputide.SourceSkipped, fmt.Errorf("%w: %s", errPutOff, region))
	}
	if now.Sub(from) > longWindow {
		r.events += rows
	}
	r.b.Done(sourceSpot, scope, f.url)
	return f, nil
}

// window returns the start of the window to read. Before an answer came the site
// is not known; the feed of either was read by the same account.
func (r *run) window(region string) time.Time {
	from := r.b.At().Add(-spotPast)
	for _, s := range sites() {
		fed := r.b.Fed(gputide.Scope{Partition: s.partition, Region: region, Market: gputide.Spot})
		if start := fed.Add(-spotOverlap); !fed.IsZero() && start.After(from) {
			from = start
		}
	}
	return from
}

// spotType adds the prices of one type and returns how many samples they are.
func (r *run) spotType(ctx context.Context, region, name string, from time.Time, feed bool, f *spotFacts) (int, error) {
	rows, err := r.samples(ctx, region, name, from, f)
	if notSold(err) {
		r.b.Omit(sourceSpot, "type_not_offered", 1)
		return 0, nil
	}
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	slices.SortStableFunc(rows, func(a, b sample) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.InstanceType, b.InstanceType), a.at.Compare(b.at))
	})
	events := 0
	for i := range rows {
		s := &rows[i]
		last := i == len(rows)-1 || rows[i+1].Zone != s.Zone || rows[i+1].InstanceType != s.InstanceType
		o := r.spotOffer(region, s, f.site)
		if feed {
			events++
			event := o
			event.At = s.at
			r.b.Add(event)
		}
		if last && s.at.After(r.b.At().Add(-spotNow)) {
			r.b.Add(o)
		}
		f.learn(s)
	}
	return events, nil
}

// learn keeps the newest on-demand price of a type.
func (f *spotFacts) learn(s *sample) {
	amount := newValue(s.Origin).text
	if known := f.origin[s.InstanceType]; isPrice(amount) && known.at.Before(s.at) {
		f.origin[s.InstanceType] = origin{amount, s.at}
	}
}

func (r *run) spotOffer(region string, s *sample, at *site) gputide.RawOffer {
	return gputide.RawOffer{
		Source: sourceSpot, Spec: r.spec(at.partition, s.InstanceType),
		Key: gputide.Key{
			Partition: at.partition, Region: region, Zone: s.Zone, InstanceType: s.InstanceType, Market: gputide.Spot, OS: "linux",
			Stat: gputide.StatList, Currency: at.currency,
		},
		Price: gputide.Published{Amount: newValue(s.Spot).text, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	}
}

// samples reads all pages of the history of a type.
func (r *run) samples(ctx context.Context, region, name string, from time.Time, f *spotFacts) ([]sample, error) {
	params := map[string]string{
		"RegionId": region, "InstanceType": name, "NetworkType": "vpc", "OSType": "linux", "IoOptimized": "optimized",
		"StartTime": from.Format(rpcTime), "EndTime": r.b.At().Format(rpcTime),
	}
	var out []sample
	offset := 0
	for range maxPages {
		var page spotPage
		url, err := r.ask(ctx, sourceSpot, region, "DescribeSpotPriceHistory", params, &page)
		if err != nil {
			return nil, err
		}
		if page.SpotPrices == nil || page.SpotPrices.SpotPriceType == nil {
			return nil, drift(sourceSpot, "$.SpotPrices.SpotPriceType", "a list", "none")
		}
		rows := page.SpotPrices.SpotPriceType
		if len(rows) > 0 {
			if err := f.settle(sourceSpot, page.Currency); err != nil {
				return nil, err
			}
			f.url = url
		}
		kept, err := r.page(region, rows, f.site)
		if err != nil {
			return nil, err
		}
		out = append(out, kept...)
		if page.NextOffset <= offset || len(rows) == 0 {
			return out, nil
		}
		offset = page.NextOffset
		params["Offset"] = strconv.Itoa(offset)
	}
	return nil, fmt.Errorf("%s: %w: more than %d pages of %s in %s", sourceSpot, gputide.ErrTooLarge, maxPages, name, region)
}

// page returns the rows of a page that are prices of ours, and counts the others.
func (r *run) page(region string, rows []json.RawMessage, at *site) ([]sample, error) {
	var out []sample
	bad, unpriced := 0, 0
	for _, raw := range rows {
		var s sample
		err := json.Unmarshal(raw, &s)
		if err == nil {
			s.at, err = time.Parse(time.RFC3339, s.Timestamp)
		}
		s.at = s.at.UTC().Truncate(time.Second)
		scope := gputide.Scope{Partition: at.partition, Region: region, Market: gputide.Spot}
		if s.Spot == nil {
			unpriced++
		}
		switch {
		case err != nil || s.Zone == "" || s.InstanceType == "":
			bad++
			r.b.SkipUnknown(sourceSpot, scope, "bad_row", string(raw))
		case s.Network != network && s.Network != "", s.Optimized != optimized && s.Optimized != "":
			r.b.Omit(sourceSpot, "other_network", 1)
		case s.at.After(r.b.At()):
			r.b.Omit(sourceSpot, "after_the_crawl", 1) // the next one reads it
		case !isPrice(newValue(s.Spot).text):
			r.b.Skip(sourceSpot, r.spotOffer(region, &s, at).Key, "no_price", string(s.Spot))
		default:
			out = append(out, s)
		}
	}
	switch {
	case bad > 0 && bad == len(rows):
		return nil, drift(sourceSpot, "$.SpotPrices.SpotPriceType[]", "a zone, a type and a time", "none in any row")
	case unpriced > 0 && unpriced == len(rows):
		return nil, drift(sourceSpot, "$.SpotPrices.SpotPriceType[].SpotPrice", "it in some row", "none")
	}
	return out, nil
}
