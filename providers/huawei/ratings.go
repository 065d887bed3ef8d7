package huawei

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	onDemandURL = "https://" + bssHost + "/v2/bills/ratings/on-demand-resources"
	periodURL   = "https://" + bssHost + "/v2/bills/ratings/period-resources/subscribe-rate"

	// maxProducts is how many products one rating takes.
	maxProducts = 100

	// measureMain is the unit of amounts: one of the currency.
	measureMain = 1
)

// product is what a rating is asked of.
type product struct {
	ID            string `json:"id"`
	ServiceType   string `json:"cloud_service_type"`
	ResourceType  string `json:"resource_type"`
	ResourceSpec  string `json:"resource_spec"`
	Region        string `json:"region"`
	UsageFactor   string `json:"usage_factor,omitempty"`
	UsageValue    int    `json:"usage_value,omitempty"`
	UsageMeasure  int    `json:"usage_measure_id,omitempty"`
	ResourceSize  int    `json:"resource_size,omitempty"`
	SizeMeasure   int    `json:"size_measure_id,omitempty"`
	PeriodType    int    `json:"period_type,omitempty"` // 2 month, 3 year
	PeriodNum     int    `json:"period_num,omitempty"`
	Subscriptions int    `json:"subscription_num"`
}

// refusal is an error, which may come with status 200.
type refusal struct {
	ErrorCode string `json:"error_code"`
	ErrorMsg  string `json:"error_msg"`
}

// as turns an error into one of ours: the gateway's 03 codes are of the key.
func (e *refusal) as(source string) error {
	kind := gputide.ErrUnavailable
	switch {
	case strings.HasSuffix(e.ErrorCode, ".0308"):
		kind = gputide.ErrRateLimited
	case strings.HasPrefix(e.ErrorCode, "APIGW.03"), strings.HasPrefix(e.ErrorCode, "APIG.03"):
		kind = gputide.ErrAuth
	}
	return fmt.Errorf("%s: %w: %.40s: %.200q", source, kind, e.ErrorCode, e.ErrorMsg)
}

// rating is what the official price of some products is.
type rating struct {
	Amount  json.RawMessage `json:"official_website_amount"`
	Measure *int            `json:"measure_id"`
	Results []struct {
		ID      string          `json:"id"`
		Product string          `json:"product_id"`
		Amount  json.RawMessage `json:"official_website_amount"`
		Measure *int            `json:"measure_id"`
	} `json:"product_rating_results"`
}

type ratingAnswer struct {
	refusal
	Currency gputide.Currency `json:"currency"`
	rating
	Official *rating `json:"official_website_rating_result"` // of a period
}

// quote is the official price of one product.
type quote struct {
	amount, sku string
	currency    gputide.Currency
}

// rate asks for the official prices of products, by their ids.
func (r *run) rate(ctx context.Context, source, address, part string, products []product) (map[string]quote, []string, error) {
	quotes := make(map[string]quote)
	var urls []string
	for chunk := range slices.Chunk(products, maxProducts) {
		body, err := json.Marshal(map[string]any{"project_id": r.cfg.ProjectID, "product_infos": chunk})
		if err != nil {
			return nil, nil, err
		}
		header, err := r.header("POST", address, body)
		if err != nil {
			return nil, nil, err
		}
		var answer ratingAnswer
		at, err := r.http.JSON(ctx, fetch.Request{Source: source, URL: address, Header: header, Body: body, Part: part}, &answer)
		if err == nil && answer.ErrorCode != "" {
			err = answer.as(source)
		}
		if err == nil {
			err = answer.take(source, quotes)
		}
		if err != nil {
			return nil, nil, err
		}
		urls = append(urls, at)
	}
	return quotes, urls, nil
}

// take checks an answer and adds its quotes. The parts must make the total, but
// for a rounding of each.
func (a *ratingAnswer) take(source string, quotes map[string]quote) error {
	rt, path := &a.rating, "$"
	if source == sourcePeriod {
		if a.Official == nil {
			return drift(source, "$.official_website_rating_result", "an object", "none")
		}
		rt, path = a.Official, "$.official_website_rating_result"
	}
	total, err := gputide.ParseAmount(string(rt.Amount))
	switch {
	case err != nil:
		return drift(source, path+".official_website_amount", "an amount", string(rt.Amount))
	case rt.Measure == nil || *rt.Measure != measureMain:
		return drift(source, path+".measure_id", "1, units of the currency", measure(rt.Measure))
	case !slices.Contains(info().Currencies, a.Currency):
		return drift(source, "$.currency", "CNY or USD", string(a.Currency))
	case rt.Results == nil:
		return drift(source, path+".product_rating_results", "a list", "none")
	case len(rt.Results) == 0:
		return fmt.Errorf("%s: %w: product_rating_results", source, gputide.ErrEmpty)
	}
	sum := new(big.Rat)
	for _, p := range rt.Results {
		switch _, twice := quotes[p.ID]; {
		case p.ID == "" || twice:
			return drift(source, path+".product_rating_results[].id", "the id of one product", p.ID)
		case p.Measure == nil || *p.Measure != measureMain:
			return drift(source, path+".product_rating_results[].measure_id", "1, units of the currency", measure(p.Measure))
		}
		quotes[p.ID] = quote{string(p.Amount), p.Product, a.Currency}
		if v, err := gputide.ParseAmount(string(p.Amount)); err == nil {
			sum.Add(sum, v)
		}
	}
	slack := big.NewRat(int64(len(rt.Results)), 100)
	if diff := new(big.Rat).Sub(total, sum); diff.Abs(diff).Cmp(slack) > 0 {
		return drift(source, path+".official_website_amount", "the sum of the products, "+sum.FloatString(2), string(rt.Amount))
	}
	return nil
}

func measure(id *int) string {
	if id == nil {
		return "none"
	}
	return strconv.Itoa(*id)
}

// rateECS feeds the ECS offers of the region of the key, Linux, from ratings.
func (r *run) rateECS(ctx context.Context) {
	if len(r.flavors) == 0 {
		return
	}
	r.rateMarket(ctx, sourceOnDemand, onDemandURL, gputide.OnDemand, []ask{{unit: gputide.PerHour}})
	r.rateMarket(ctx, sourcePeriod, periodURL, gputide.Subscription, []ask{
		{term: "1mo", unit: gputide.PerTerm, periodType: 2}, {term: "1y", unit: gputide.PerTerm, periodType: 3},
	})
}

// ask is one way to buy a flavor.
type ask struct {
	term       gputide.Term
	unit       gputide.Unit
	periodType int
}

// product returns what is asked of an ECS flavor.
func (a *ask) product(id int, flavor, region string) product {
	p := product{
		ID: strconv.Itoa(id), ServiceType: "hws.service.type.ec2", ResourceType: "hws.resource.type.vm",
		ResourceSpec: flavor + ".linux", Region: region, Subscriptions: 1,
	}
	if a.periodType != 0 {
		p.PeriodType, p.PeriodNum = a.periodType, 1
		return p
	}
	p.UsageFactor, p.UsageValue, p.UsageMeasure = "Duration", 1, measureHour
	return p
}

// rateMarket feeds one market of ECS.
func (r *run) rateMarket(ctx context.Context, source, address string, m gputide.Market, asks []ask) {
	s := china()
	scope := s.scope(r.cfg.Region, partECS, m)
	var urls []string
	for _, a := range asks {
		var products []product
		for i, flavor := range r.flavors {
			products = append(products, a.product(i+1, flavor, r.cfg.Region))
		}
		quotes, at, err := r.rate(ctx, source, address, strings.TrimSpace(partECS+" "+string(a.term)), products)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.lostRating(source, scope, err)
			return
		}
		for i, flavor := range r.flavors {
			key := gputide.Key{
				Partition: s.partition, Region: r.cfg.Region, InstanceType: flavor, OS: "linux", Market: m, Term: a.term,
				Stat: gputide.StatList, Currency: s.currency,
			}
			r.offer(source, partECS, key, quotes[products[i].ID], func(amount string) gputide.Published {
				return gputide.Published{Amount: amount, Unit: a.unit, Basis: gputide.BasisInstance}
			})
		}
		urls = append(urls, at...)
	}
	r.b.Done(source, scope, urls...)
	r.done++
}

// offer adds an offer of a quote, which is empty where a product has none.
func (r *run) offer(source, part string, key gputide.Key, q quote, price func(amount string) gputide.Published) {
	if q.currency != "" {
		key.Currency = q.currency
	}
	v, err := gputide.ParseAmount(q.amount)
	if err != nil || v.Sign() <= 0 {
		r.b.SkipPart(source, key, part, "no_price", q.amount)
		return
	}
	r.b.Add(gputide.RawOffer{Source: source, Key: key, Part: part, Price: price(q.amount), SKU: q.sku})
}

// lostRating reports a scope that ratings do not feed.
func (r *run) lostRating(source string, scope gputide.Scope, err error) {
	r.fail(source, err)
	if !isAbsent(err) {
		r.b.Report(gputide.ScopeRun{Scope: scope, Status: gputide.ScopeFailed, Source: source, Reason: err.Error()})
	}
}

// rateNotebooks feeds ModelArts: the price of a flavor is that of its billing
// code times its billing units.
func (r *run) rateNotebooks(ctx context.Context, list []notebook) {
	scope := r.notebookScope()
	var products []product
	var billed []*notebook
	for i := range list {
		n := &list[i]
		key := r.notebookKey(n)
		if n.Billing == nil || n.Billing.Code == "" || n.Billing.Units == nil || *n.Billing.Units < 1 {
			r.b.SkipPart(sourceOnDemand, key, partModelArts, "no_billing", n.ID)
			continue
		}
		billed = append(billed, n)
		products = append(products, product{
			ID: strconv.Itoa(len(billed)), ServiceType: "hws.service.type.modelarts", ResourceType: "hws.resource.type.modelarts",
			ResourceSpec: n.Billing.Code, Region: r.cfg.Region, UsageFactor: "Duration", UsageValue: 1, UsageMeasure: measureHour,
			ResourceSize: 1, SizeMeasure: 14, Subscriptions: 1,
		})
	}
	quotes, urls, err := r.rate(ctx, sourceOnDemand, onDemandURL, partModelArts, products)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.lostRating(sourceOnDemand, scope, err)
		return
	}
	for i, n := range billed {
		r.offer(sourceOnDemand, partModelArts, r.notebookKey(n), quotes[products[i].ID], func(amount string) gputide.Published {
			return gputide.Published{Basis: gputide.BasisInstance, Components: []gputide.Component{{
				Kind: "accelerator", Amount: amount, Unit: gputide.PerHour, Quantity: strconv.Itoa(*n.Billing.Units), SKU: n.Billing.Code,
			}}}
		})
	}
	r.b.Done(sourceOnDemand, scope, urls...)
	r.done++
}

// notebookScope is that of ModelArts in the region of the key.
func (r *run) notebookScope() gputide.Scope {
	s := china()
	return s.scope(r.cfg.Region, partModelArts, gputide.OnDemand)
}

func (r *run) notebookKey(n *notebook) gputide.Key {
	s := china()
	return gputide.Key{
		Partition: s.partition, Region: r.cfg.Region, InstanceType: n.ID, Market: gputide.OnDemand,
		Stat: gputide.StatList, Currency: s.currency,
	}
}
