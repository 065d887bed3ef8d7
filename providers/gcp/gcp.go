// Package gcp reads what Google Cloud charges for accelerators: machine types
// with GPUs, GPUs that are attached to N1 machines, and TPU chips, on demand,
// spot, under one- and three-year commitments, and of the Dynamic Workload
// Scheduler (flex-start and calendar mode).
//
// Source: the Cloud Billing Catalog, v1, service 6F81-5844-456A (any project's
// API key), documented at https://cloud.google.com/billing/v1/how-tos/catalog-api;
// and, without a key, the page
// https://cloud.google.com/products/compute/pricing/accelerator-optimized. The
// catalogue is the more authoritative: it feeds a market where it answers, and
// the page where it does not. With a service account the Compute API says which
// machine types and attachable cards there are and in which zones; machines.csv
// stands in for it.
//
// The catalogue has no machine types: it prices vCPUs, memory, cards and local
// SSD one by one, and only the description of a SKU says what it is of and how
// it is bought. A machine is the sum of its parts, all of one market and region;
// where a part has no rate there is no price. The page prices whole machines.
//
// Markets: on_demand, spot, commitment (plan cud), flex (plan dws_flex),
// capacity_block (plan dws_calendar; rates without dates). Amounts are USD per
// hour, for local SSD per month; neither source says anything of taxes. The
// catalogue is live; spot moves about once a month, at any time.
//
// Known gaps: TPU v2 to v4 (another service, whose SKUs no recording holds), A4X
// (no public SKUs), flexible (spend-based) commitments, machines of N1 with
// their cards as one price, custom machines, sole tenancy, workstations and
// operating systems with a licence. The pages of spot and of the Dynamic
// Workload Scheduler are not read: no recording holds them, and the page above
// has their columns. Unverified: what SKUs call cores, memory and local SSD in
// calendar mode; a machine whose parts go by other words is refused and counted.
//
// Verified: against recordings of SKUs of 2023 to 2026-09 and of the page's
// first table, 2026-10. Not yet live: the embedded tables of the page are known
// from a description of their form only.
package gcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// IDs of the sources.
const (
	sourceTypes    = "machine-types"
	sourceCards    = "accelerator-types"
	sourceSKUs     = "skus"
	sourcePage     = "page"
	sourceMachines = "machines"
	sourceToken    = "token"
)

const (
	skusURL  = "https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus"
	pageURL  = "https://cloud.google.com/products/compute/pricing/accelerator-optimized"
	typesURL = "https://compute.googleapis.com/compute/v1/projects/"

	envKey        = "GPUTIDE_GCP_API_KEY"
	envEmail      = "GPUTIDE_GCP_CLIENT_EMAIL"
	envPrivateKey = "GPUTIDE_GCP_PRIVATE_KEY"
	envProject    = "GPUTIDE_GCP_PROJECT"
)

// currency is what the catalogue is asked for and the page prints.
const currency gputide.Currency = "USD"

// Provider crawls Google Cloud.
type Provider struct {
	http *fetch.Client
	cfg  Config
}

var _ gputide.Provider = (*Provider)(nil)

// New returns the provider on f.
func New(f *fetch.Fetcher, cfg Config) *Provider {
	p := &Provider{http: f.Client(info()), cfg: cfg}
	for _, secret := range []string{cfg.APIKey, cfg.PrivateKey} {
		if secret != "" {
			p.http.AddSecret(secret)
		}
	}
	return p
}

// Info returns the static facts.
func (*Provider) Info() gputide.Info { return info() }

func info() gputide.Info {
	return gputide.Info{
		Name:  "gcp",
		Title: "Google Cloud Compute Engine and Cloud TPU",
		Home:  pageURL,
		Sources: []gputide.Source{{
			ID: sourceTypes, Title: "Compute API, machine types of all zones",
			URL: typesURL + "*/aggregated/machineTypes", Doc: "https://cloud.google.com/compute/docs/reference/rest/v1/machineTypes/aggregatedList",
			Hosts: []string{"compute.googleapis.com"}, Auth: gputide.AuthKey, Env: accountEnv(),
			Gives:    "machine types as the API reports them, and which region sells which",
			MaxBytes: 64 << 20,
		}, {
			ID: sourceCards, Title: "Compute API, accelerator types of all zones",
			URL: typesURL + "*/aggregated/acceleratorTypes", Doc: "https://cloud.google.com/compute/docs/reference/rest/v1/acceleratorTypes/aggregatedList",
			Hosts: []string{"compute.googleapis.com"}, Auth: gputide.AuthKey, Env: accountEnv(),
			Gives:    "which region sells which attachable GPU, and how many a machine takes",
			MaxBytes: 64 << 20,
		}, {
			ID: sourceSKUs, Title: "Cloud Billing Catalog, SKUs of Compute Engine",
			URL: skusURL, Doc: "https://cloud.google.com/billing/docs/reference/rest/v1/services.skus/list",
			Hosts: []string{"cloudbilling.googleapis.com"}, Auth: gputide.AuthKey, Env: []string{envKey},
			Gives:  "prices of every region by their parts, attachable GPUs and TPUs",
			Prices: true, MaxBytes: 64 << 20,
		}, {
			ID: sourcePage, Title: "Pricing page of accelerator-optimized machines",
			URL: pageURL, Doc: pageURL, Hosts: []string{"cloud.google.com"}, Auth: gputide.AuthNone,
			Prices: true, Page: true, MaxBytes: 16 << 20,
		}, {
			ID: sourceMachines, Title: "Parts of machine types",
			Doc: "https://cloud.google.com/compute/docs/accelerator-optimized-machines", Auth: gputide.AuthNone,
		}, {
			ID: sourceToken, Title: "Access token of a service account",
			URL: tokenURL, Doc: "https://developers.google.com/identity/protocols/oauth2/service-account",
			Hosts: []string{"oauth2.googleapis.com"}, Auth: gputide.AuthKey, Env: accountEnv(),
			Gives: "access to the Compute API", MaxBytes: 1 << 20,
		}},
		Markets:    markets(),
		Currencies: []gputide.Currency{currency},
		Cadence:    24 * time.Hour,
		// The API allows 300 requests a minute; a crawl makes a dozen.
		RequestsPerSecond: 2,
		Evidence:          gputide.EvidenceComposed,
		Note: "No TPU v2 to v4, A4X, flexible commitments, custom machines or sole tenancy. " +
			"Without a key no attachable GPUs and no TPUs.",
	}
}

// accountEnv names what holds the service account.
func accountEnv() []string { return []string{envEmail, envPrivateKey, envProject} }

func markets() []gputide.Market {
	return []gputide.Market{
		gputide.OnDemand, gputide.Spot, gputide.Commitment, gputide.CapacityBlock, gputide.Flex,
	}
}

// run is one crawl.
type run struct {
	*Provider
	b     *gputide.Batch
	table *table
	sold  sold // machine types
	cards sold // attachable cards

	project, bearer string // of the Compute API
}

// Crawl reads the machine types, and the prices of each market from the first
// source that answers.
func (p *Provider) Crawl(ctx context.Context, b *gputide.Batch) error {
	t, err := loadTable()
	if err != nil {
		return err
	}
	r := &run{Provider: p, b: b, table: t}
	for i := range t.machines {
		b.Spec(t.machines[i].spec())
	}
	typesErr := r.types(ctx)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var failed []error
	for _, s := range []struct {
		id   string
		read func(context.Context) error
	}{{sourceSKUs, r.skus}, {sourcePage, r.page}} {
		err := s.read(ctx)
		_, reported := errors.AsType[*gputide.PartialError](err)
		switch {
		case err == nil, reported:
			return errors.Join(err, typesErr)
		case errors.Is(err, gputide.ErrNeedsKey), errors.Is(err, gputide.ErrNotInFixture):
			b.Source(s.id, gputide.SourceSkipped, err)
		default:
			for _, m := range markets() {
				b.Fail(s.id, gputide.Scope{Market: m}, err)
			}
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		failed = append(failed, err)
	}
	return errors.Join(append(failed, typesErr)...)
}

func drift(source, path, want, got string) error {
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80q", got)}
}
