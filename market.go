package gputide

// Market is the way an offer is bought.
type Market string

// The markets of the schema. MarketUnknown appears in imports only.
const (
	OnDemand      Market = "on_demand"
	Spot          Market = "spot"
	Commitment    Market = "commitment"   // a discount contract on usage: RI, savings plan, CUD, reserved rate
	Subscription  Market = "subscription" // the machine bought for whole periods: 包年包月, month, year
	CapacityBlock Market = "capacity_block"
	Flex          Market = "flex"
	Serverless    Market = "serverless"
	MarketUnknown Market = "unknown"
)

// Markets lists every market in the order of the schema.
func Markets() []Market {
	return []Market{OnDemand, Spot, Commitment, Subscription, CapacityBlock, Flex, Serverless, MarketUnknown}
}

// Valid reports whether m is a market of the schema.
func (m Market) Valid() bool {
	switch m {
	case OnDemand, Spot, Commitment, Subscription, CapacityBlock, Flex, Serverless, MarketUnknown:
		return true
	}
	return false
}

// Payment is when a commitment is paid. Empty means it does not apply.
type Payment string

// The payment options of a commitment.
const (
	PaymentNone    Payment = "none"
	PaymentPartial Payment = "partial"
	PaymentAll     Payment = "all"
)

// Stat says which price of an offer a series holds.
type Stat string

// The price statistics of the schema.
const (
	StatList     Stat = "list"
	StatPromo    Stat = "promo"
	StatPayable  Stat = "payable"   // depends on the account or a campaign
	StatBidFloor Stat = "bid_floor" // the lowest bid a market accepts
	StatMin      Stat = "min"       // cheapest of ephemeral listings
	StatP50      Stat = "p50"       // median of ephemeral listings, complete enumeration only
)

// Tax says whether a price includes value-added or sales tax. Empty means the
// source does not say.
type Tax string

// The tax states of the schema.
const (
	TaxExcluded Tax = "excluded"
	TaxIncluded Tax = "included"
)

// Currency is an ISO 4217 code as published, for example "USD" or "CNY".
type Currency string

// Valid reports whether c is three upper-case letters.
func (c Currency) Valid() bool {
	if len(c) != 3 {
		return false
	}
	for i := range 3 {
		if c[i] < 'A' || c[i] > 'Z' {
			return false
		}
	}
	return true
}
