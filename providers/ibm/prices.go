package ibm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/gputide/gputide"
)

// deployment is a plan in one region.
type deployment struct {
	Region string `json:"deployment_region"`
	Type   string `json:"type"` // Paid, paygo, free, trial, …
	period
	Metrics []metric `json:"metrics"`
}

// metric is one price of a deployment.
type metric struct {
	ChargeUnitName string          `json:"charge_unit_name"` // INSTANCE_HOURS_MULTI_TENANT
	ChargeUnit     string          `json:"charge_unit"`      // Instance-Hour
	Quantity       json.RawMessage `json:"charge_unit_quantity"`
	TierModel      string          `json:"tier_model"`
	period
	Amounts []struct {
		Country  string `json:"country"`
		Currency string `json:"currency"`
		Prices   []tier `json:"prices"`
	} `json:"amounts"`
}

// tier is the price of one unit up to a quantity, that quantity included.
type tier struct {
	UpTo  json.RawMessage `json:"quantity_tier"`
	Price json.RawMessage `json:"price"`
}

type period struct {
	From  string `json:"effective_from"`
	Until string `json:"effective_until"`
}

// holds reports whether the period covers t. ok is false when it cannot be read;
// an end that is not stated is open.
func (p period) holds(t time.Time) (in, ok bool) {
	in, ok = true, true
	for i, text := range [...]string{p.From, p.Until} {
		if text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return false, false
		}
		in = in && at.After(t) == (i == 1)
	}
	return in, ok
}

// marketOf returns the market of a metric of an instance; empty for what is
// billed beside it or instead of it.
func marketOf(chargeUnitName string) gputide.Market {
	switch chargeUnitName {
	case "INSTANCE_HOURS_MULTI_TENANT":
		return gputide.OnDemand
	case "INSTANCE_MULTI_TENANT_SPOT":
		return gputide.Spot
	}
	return ""
}

// prices reads the offers of one plan and ends its scopes.
func (r *run) prices(ctx context.Context, p plan) error {
	deployments, urls, err := r.deployments(ctx, p)
	if errors.Is(err, gputide.ErrNotInFixture) {
		return err
	}
	if err != nil {
		r.b.Fail(sourcePrices, scope(p.profile), err)
		return err
	}
	spec := r.cards.spec(p.profile)
	for i := range deployments {
		r.addDeployment(&deployments[i], p.profile, spec)
	}
	r.b.Done(sourcePrices, scope(p.profile), urls...)
	return nil
}

// deployments reads the rows of a plan.
func (r *run) deployments(ctx context.Context, p plan) (out []deployment, urls []string, err error) {
	if !planID.MatchString(p.id) {
		return nil, nil, drift(sourcePlans, "$.resources[].id", "the id of a plan", p.id)
	}
	rows, urls, err := r.pages(ctx, sourcePrices, pricesURL(p.id), nil, url.Values{"_limit": {"50"}})
	if err != nil {
		return nil, nil, err
	}
	named, known := 0, 0
	for _, row := range rows {
		var d deployment
		if err := json.Unmarshal(row, &d); err != nil || d.Region == "" || len(d.Metrics) == 0 {
			r.skipUnknown(p.profile, "bad_row", string(row))
			continue
		}
		for _, m := range d.Metrics {
			if m.ChargeUnitName != "" {
				named++
			}
			if marketOf(m.ChargeUnitName) != "" {
				known++
			}
		}
		out = append(out, d)
	}
	switch {
	case named == 0:
		return nil, nil, drift(sourcePrices, "$.resources[].metrics[].charge_unit_name", "it in some metric", fmt.Sprintf("none in %d rows", len(rows)))
	case known == 0: // priced by its parts, or not at all
		r.skipUnknown(p.profile, "no_instance_price", p.profile)
		return nil, urls, nil
	}
	return out, urls, nil
}

func (r *run) skipUnknown(profile, reason, detail string) {
	r.b.SkipUnknown(sourcePrices, scope(profile), reason, detail)
}

// addDeployment adds the offers of one region.
func (r *run) addDeployment(d *deployment, profile string, spec *gputide.Spec) {
	onDemand := false
	for i := range d.Metrics {
		m := &d.Metrics[i]
		market := marketOf(m.ChargeUnitName)
		switch {
		case m.ChargeUnitName == "":
			r.skipUnknown(profile, "bad_metric", d.Region)
			onDemand = true // it may be this one
		case m.ChargeUnitName == "INSTANCE_HOURS_RESERVATION":
			r.b.Omit(sourcePrices, "reservation", 1)
		case market == "":
			r.b.Omit(sourcePrices, "other_metric", 1)
		default:
			onDemand = onDemand || market == gputide.OnDemand
			r.addMetric(d, m, key(profile, d.Region, market), profile, spec)
		}
	}
	if !onDemand { // spot is not sold everywhere
		r.b.SkipPart(sourcePrices, key(profile, d.Region, gputide.OnDemand), profile, "no_metric", d.Region)
	}
}

func key(profile, region string, m gputide.Market) gputide.Key {
	return gputide.Key{InstanceType: profile, Region: region, Market: m, Stat: gputide.StatList, Currency: currency}
}

// omitted returns why a metric is, by rule, no offer now; empty for one that is.
// dated is false when its dates cannot be read.
func (d *deployment) omitted(m *metric, at time.Time) (reason string, dated bool) {
	inForce, ok := d.holds(at)
	metricInForce, metricOK := m.holds(at)
	switch {
	case !ok || !metricOK:
		return "", false
	case !inForce || !metricInForce:
		return "not_in_force", true
	case d.Type != "" && d.Type != "Paid" && d.Type != "paygo":
		return "other_type", true
	}
	return "", true
}

// addMetric adds the offers of one metric, one for each tier.
func (r *run) addMetric(d *deployment, m *metric, k gputide.Key, profile string, spec *gputide.Spec) {
	tiers, reason := m.tiers()
	omitted, dated := d.omitted(m, r.b.At())
	switch {
	case !dated:
		reason = "bad_date"
	case omitted != "":
		r.b.Omit(sourcePrices, omitted, 1)
		return
	}
	if reason != "" {
		r.b.SkipPart(sourcePrices, k, profile, reason, m.ChargeUnitName)
		return
	}
	for _, t := range tiers {
		k.Volume = ""
		if len(tiers) > 1 {
			k.Volume = "h<=" + string(t.UpTo)
		}
		if v, err := gputide.ParseAmount(string(t.Price)); err != nil || v.Sign() <= 0 {
			r.b.SkipPart(sourcePrices, k, profile, "no_price", string(t.Price))
			continue
		}
		r.b.Add(gputide.RawOffer{
			Source: sourcePrices, Key: k, Part: profile, Spec: spec,
			Price: gputide.Published{Amount: string(t.Price), Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		})
	}
}

// tiers returns the prices of an instance-hour in USD for the USA, or why there
// are none.
func (m *metric) tiers() (tiers []tier, reason string) {
	if m.ChargeUnit != "Instance-Hour" {
		return nil, "charge_unit"
	}
	if string(m.Quantity) != "1" { // a price of several hours would need dividing
		return nil, "charge_unit_quantity"
	}
	tiers, reason = m.usd()
	if reason != "" {
		return nil, reason
	}
	switch m.TierModel {
	case "Linear Tier", "Linear", "Proration":
		if len(tiers) > 1 {
			return nil, "tier_model"
		}
	case "Graduated Tier", "Granular Tier": // the price of a unit by the tier it falls in
		for _, t := range tiers {
			if v, err := gputide.ParseAmount(string(t.UpTo)); err != nil || v.Sign() <= 0 || !v.IsInt() {
				return nil, "bad_tier"
			}
		}
	default: // a price of a block, not of an hour
		return nil, "tier_model"
	}
	return tiers, ""
}

// usd returns the prices of the list for the USA as they stand.
func (m *metric) usd() (tiers []tier, reason string) {
	for _, a := range m.Amounts {
		if a.Country != country {
			continue
		}
		if a.Currency != currency {
			return nil, "other_currency"
		}
		tiers = append(tiers, a.Prices...)
	}
	if len(tiers) == 0 {
		return nil, "no_price"
	}
	return tiers, ""
}
