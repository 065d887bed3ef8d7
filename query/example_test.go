package query_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

func ExampleEngine_Offers() {
	e := query.Engine{Reader: shelf(), Catalogue: noCards{}, Regions: noPlaces{}, Now: now}
	ans, err := e.Offers(context.Background(), query.OffersRequest{
		Filter: query.Filter{Market: []string{"on_demand"}, MaxPrice: "60"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range ans.Rows {
		fmt.Println(r.InstanceType, r.Region, r.Price, r.Currency, r.State)
	}
	for _, h := range ans.Hidden {
		fmt.Println(h.Count, h.Reason, "hidden; shown by", h.Ask)
	}
	// Output:
	// p4d.24xlarge us-east-1 21.957642 USD priced
	// p5.48xlarge us-east-1 55.04 USD priced
	// 1 withdrawn hidden; shown by state=withdrawn
}

func ExampleEngine_Offers_unknownValue() {
	e := query.Engine{Reader: shelf(), Catalogue: noCards{}, Regions: noPlaces{}, Now: now}
	_, err := e.Offers(context.Background(), query.OffersRequest{Filter: query.Filter{Region: []string{"us-est-1"}}})
	fmt.Println(err)
	// Output:
	// invalid: region "us-est-1" is not known (did you mean us-east-1?)
}

func ExampleParseSince() {
	t, err := query.ParseSince("90d", now())
	fmt.Println(t.Format(time.RFC3339), err)
	// Output:
	// 2026-07-02T12:00:00Z <nil>
}

func now() time.Time { return time.Date(2026, 9, 30, 12, 0, 0, 0, time.UTC) }

func shelf() *store {
	s := &store{}
	s.add("p5.48xlarge", "us-east-1", 55_040_000_000, gputide.StatePriced)
	s.add("p4d.24xlarge", "us-east-1", 21_957_642_000, gputide.StatePriced)
	s.add("p4d.24xlarge", "eu-west-1", 23_715_690_000, gputide.StateWithdrawn)
	return s
}

// store stands for the database of a program; it has what the examples ask.
type store struct {
	query.Reader
	quotes []gputide.Quote
}

func (s *store) add(typ, region string, price gputide.Nano, state gputide.State) {
	k := gputide.Key{
		Provider: "aws", Region: region, InstanceType: typ, Market: gputide.OnDemand, Currency: "USD", Stat: gputide.StatList,
	}
	s.quotes = append(s.quotes, gputide.Quote{ID: k.ID(), Key: k, State: state, Price: price, ObservedAt: now().Add(-time.Hour)})
}

func (s *store) Quotes(_ context.Context, sel gputide.Selection, _ time.Time) ([]gputide.Quote, error) {
	return slices.DeleteFunc(slices.Clone(s.quotes), func(q gputide.Quote) bool {
		return slices.ContainsFunc(sel.Matches, func(m gputide.Match) bool { return !slices.Contains(m.Values, q.Key.Get(m.Field)) })
	}), nil
}

func (s *store) Values(_ context.Context, f gputide.Field) ([]string, error) {
	var out []string
	for _, q := range s.quotes {
		if v := q.Key.Get(f); v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (s *store) Signals(context.Context, gputide.Selection, string, time.Time) ([]gputide.SignalValue, error) {
	return nil, nil
}

func (s *store) Specs(context.Context, gputide.Selection, time.Time) ([]gputide.Spec, error) {
	return nil, nil
}

func (s *store) Rate(context.Context, gputide.Currency, time.Time) (gputide.Rate, bool, error) {
	return gputide.Rate{}, false, nil
}

type noCards struct{}

func (noCards) Version() string { return "" }

func (noCards) Resolve(_ string, d *gputide.Device) (gputide.Accelerator, bool) {
	return gputide.Accelerator{Raw: d.Name}, false
}
func (noCards) Match(string) ([]string, bool)               { return nil, false }
func (noCards) Near(string, int) []string                   { return nil }
func (noCards) Entry(string) (gputide.CatalogueEntry, bool) { return gputide.CatalogueEntry{}, false }

type noPlaces struct{}

func (noPlaces) Lookup(string, string, string) (gputide.Place, bool) { return gputide.Place{}, false }
