package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// product is one part of either price list.
type product struct {
	PartNumber      string `json:"partNumber"`
	PriceType       string `json:"pricetype"`       // of the estimator: HOUR
	MetricName      string `json:"metricName"`      // of the API: GPU Per Hour
	ServiceCategory string `json:"serviceCategory"` // of the API: Compute - GPU
	Localizations   []struct {
		CurrencyCode string `json:"currencyCode"`
		Prices       []struct {
			Model string          `json:"model"`
			Value json.RawMessage `json:"value"`
		} `json:"prices"`
	} `json:"currencyCodeLocalizations"`
}

// amount returns the list price of p as published, or why there is none. Of
// several steps the dearest is the price of the part: a free allowance comes
// first in the list, at 0.
func (p *product) amount() (amount, reason string) {
	for _, l := range p.Localizations {
		if l.CurrencyCode != currency {
			continue
		}
		var best *big.Rat
		for _, price := range l.Prices {
			if price.Model != "PAY_AS_YOU_GO" {
				continue
			}
			v, err := gputide.ParseAmount(string(price.Value))
			if err != nil || v.Sign() < 0 {
				return "", "no_price"
			}
			if v.Sign() > 0 && (best == nil || v.Cmp(best) > 0) {
				best, amount = v, string(price.Value)
			}
		}
		if best == nil {
			return "", "no_price"
		}
		return amount, ""
	}
	return "", "other_currency"
}

// items reads the list named items of an answer, row by row. A row that is no
// product is handed on with its text alone.
func (r *run) items(ctx context.Context, source, url string, row func(raw json.RawMessage) error) (string, error) {
	resp, err := r.http.Do(ctx, fetch.Request{Source: source, URL: url, Accept: "application/json"})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	d := fetch.NewDecoder(source, resp.Body)
	rows, found := 0, false
	err = d.Object(func(name string) error {
		if name != "items" {
			return d.Skip()
		}
		found = true
		return d.Array(func() error {
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				return err
			}
			rows++
			return row(raw)
		})
	})
	if err == nil {
		err = d.End()
	}
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", drift(source, "$.items", "a list", "none")
	case rows == 0:
		return "", fmt.Errorf("%s: %w: items", source, gputide.ErrEmpty)
	}
	return resp.URL, nil
}

// unitPrice is the list price of a part, or why there is none.
type unitPrice struct{ amount, reason string }

// products reads the prices of the estimator by part.
func (r *run) products(ctx context.Context) (prices map[string]unitPrice, url string, err error) {
	prices = make(map[string]unitPrice)
	priced, rows, last := 0, 0, ""
	url, err = r.items(ctx, sourceProducts, productsURL, func(raw json.RawMessage) error {
		rows++
		var p product
		if err := json.Unmarshal(raw, &p); err != nil || p.PartNumber == "" {
			last = "no part number"
			r.skipUnknown(sourceProducts, "bad_row", string(raw))
			return nil
		}
		var u unitPrice
		if u.amount, u.reason = p.amount(); u.reason == "" && p.PriceType != "HOUR" {
			u = unitPrice{reason: "not_hourly"}
		}
		if u.reason == "" {
			priced++
		} else {
			last = u.reason
		}
		if old, twice := prices[p.PartNumber]; twice && old != u {
			u = unitPrice{reason: "two_prices"}
		}
		prices[p.PartNumber] = u
		return nil
	})
	if err == nil && priced == 0 {
		err = drift(sourceProducts, "$.items[]", "parts with a price in "+currency+" per hour", fmt.Sprintf("none of %d: %s", rows, last))
	}
	return prices, url, err
}
