// Package ibm reads what IBM Cloud charges for the accelerated instance profiles
// of its VPC, on demand and spot.
//
// Source: the Global Catalog, https://globalcatalog.cloud.ibm.com/api/v1,
// documented at https://cloud.ibm.com/apidocs/resource-catalog/global-catalog: the
// plans of is.instance, one for each profile, and the prices of a plan, one
// deployment for each region. Where the list of plans does not answer, the plans
// of a built-in table are read. With a key, the instance profiles of the VPC
// API, https://cloud.ibm.com/apidocs/vpc/latest#list-instance-profiles; without
// one, the name of a profile says its vCPUs, memory and cards.
//
// Auth: none for prices; an API key, exchanged for a token at
// https://iam.cloud.ibm.com/identity/token, for profiles. Markets: on_demand and
// spot. Amounts are USD per instance and hour, of the price list for the USA;
// they are those of the instance alone, without operating system, and without the
// discount for sustained use. IBM says of no price whether it includes taxes. No
// source states a rhythm.
//
// Known gaps: reservations, dedicated hosts, bare metal, subscriptions, other
// countries and currencies, and profiles without accelerators, which IBM prices
// by vCPU and GB. A profile whose plan has no instance-hour price is counted and
// left out. The prices of one profile are in a recording; those of others are
// read in the same form and not verified.
//
// Verified: 2026-10-05, against the prices of gx3d-160x1792x8h100 and two
// instance profiles. The form of the list of plans is that of its documentation
// and of public clients; disks of profiles are from documentation.
package ibm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	sourceProfiles = "profiles"
	sourcePlans    = "plans"
	sourcePrices   = "prices"
	sourceNames    = "names"

	catalog     = "https://globalcatalog.cloud.ibm.com/api/v1/"
	catalogHost = "globalcatalog.cloud.ibm.com"
	catalogDoc  = "https://cloud.ibm.com/apidocs/resource-catalog/global-catalog"
	plansURL    = catalog + "is.instance/plan"

	envKey = "GPUTIDE_IBM_API_KEY"

	currency = "USD"
	country  = "USA"

	// timeout of one request: public clients of the catalog wait for minutes.
	timeout = 3 * time.Minute
)

// Provider crawls IBM Cloud.
type Provider struct {
	http *fetch.Client
	key  string
}

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f. key is an API key of any account; without one
// the profiles are not asked for.
func New(f *fetch.Fetcher, key string) *Provider {
	p := &Provider{http: f.Client(info()), key: key}
	if key != "" {
		p.http.AddSecret(key)
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	return gputide.Info{
		Name:  "ibm",
		Title: "IBM Cloud VPC",
		Home:  "https://cloud.ibm.com/estimator",
		Sources: []gputide.Source{{
			ID: sourceProfiles, Title: "Instance profiles of the VPC API", URL: fmt.Sprintf(profilesURL, "*"),
			Doc:   "https://cloud.ibm.com/apidocs/vpc/latest#list-instance-profiles",
			Hosts: []string{".iaas.cloud.ibm.com", "iam.cloud.ibm.com"}, Auth: gputide.AuthKey, Env: []string{envKey},
			Gives: "network, local disks and the vendor's name of the card", MaxBytes: 8 << 20,
		}, {
			ID: sourcePlans, Title: "Global Catalog, plans of instances", URL: plansURL, Doc: catalogDoc,
			Hosts: []string{catalogHost}, Auth: gputide.AuthNone, MaxBytes: 8 << 20, Timeout: timeout,
		}, {
			ID: sourcePrices, Title: "Global Catalog, prices of a plan by region", URL: pricesURL("*"), Doc: catalogDoc,
			Hosts: []string{catalogHost}, Auth: gputide.AuthNone, Prices: true, MaxBytes: 8 << 20, Timeout: timeout,
		}, {
			ID: sourceNames, Title: "Cards by the names of profiles",
			Doc: "https://cloud.ibm.com/docs/vpc?topic=vpc-accelerated-profile-family", Auth: gputide.AuthNone,
		}},
		Markets:    markets(),
		Currencies: []gputide.Currency{currency},
		Cadence:    24 * time.Hour,
		Evidence:   gputide.EvidenceComposed,
		Note: "Accelerated profiles only; no reservations, dedicated hosts, bare metal, operating systems or sustained-use discounts. " +
			"Prices of one profile are verified against a recording.",
	}
}

func markets() []gputide.Market { return []gputide.Market{gputide.OnDemand, gputide.Spot} }

// pricesURL is the address of the prices of a plan.
func pricesURL(plan string) string { return catalog + plan + "/pricing/deployment" }

// scope is that of one profile in both markets: its prices are asked for by
// themselves, and spot is not sold of every profile.
func scope(profile string) gputide.Scope { return gputide.Scope{Part: profile} }

// run is one crawl.
type run struct {
	*Provider
	b     *gputide.Batch
	cards cards
}

// Crawl reads the prices of each plan. What fails of one touches no other.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	c, err := loadCards()
	if err != nil {
		return err
	}
	b.Source(sourceNames, gputide.SourceOK, nil)
	r := &run{Provider: p, b: b, cards: c}
	plans, err := r.plans(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var failed []error
	switch {
	case err == nil:
		b.Source(sourcePlans, gputide.SourceOK, nil)
	case errors.Is(err, gputide.ErrNotInFixture):
		b.Source(sourcePlans, gputide.SourceSkipped, err)
	default:
		b.Source(sourcePlans, gputide.SourceFailed, err)
		failed = append(failed, err)
	}
	if err != nil {
		plans = knownPlans()
	}
	done := 0
	for _, pl := range plans {
		err := r.prices(ctx, pl)
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case errors.Is(err, gputide.ErrNotInFixture):
			b.Source(sourcePrices, gputide.SourceSkipped, err)
			return errors.Join(append(failed, err)...)
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", pl.profile, err))
		default:
			done++
		}
	}
	switch {
	case len(failed) == 0:
		return nil
	case done == 0:
		return errors.Join(failed...)
	}
	return &gputide.PartialError{Done: done, Failed: failed}
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
