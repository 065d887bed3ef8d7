package gputide

import (
	"context"
	"time"
)

// Provider crawls what one cloud publishes.
type Provider interface {
	// Info returns static facts. It does no I/O and never fails.
	Info() Info

	// Crawl adds everything it can read to b. A row it cannot read goes to
	// b.Skip or b.SkipUnknown, a row that is by rule none of ours to b.Omit;
	// none is dropped silently. Each scope it was asked to read ends in b.Done or
	// b.Fail. A non-nil error wraps one of this package's sentinels; what is
	// already in b stays valid for the scopes marked done.
	Crawl(ctx context.Context, b *Batch) error
}

// RateCrawler is the optional ability to read exchange rates.
type RateCrawler interface {
	// CrawlRates adds exchange rates with b.Rate.
	CrawlRates(ctx context.Context, b *Batch) error
}

// SpecCrawler is the optional ability to read instance types apart from prices.
// It is asked before Crawl, so that offers find the specs of their types.
type SpecCrawler interface {
	// CrawlSpecs adds instance types with b.Spec.
	CrawlSpecs(ctx context.Context, b *Batch) error
}

// Auth is what a source asks of its caller.
type Auth string

// The kinds of authentication.
const (
	AuthNone Auth = "none"
	AuthKey  Auth = "key"
)

// Source is one place a provider reads from.
type Source struct {
	ID    string   // short slug, unique within the provider
	Title string   // what it gives
	URL   string   // canonical address or its pattern with * for variable parts; empty for a built-in table
	Doc   string   // where the form is documented, or the table was taken from
	Hosts []string // hosts it may be asked at; a leading dot allows subdomains
	Auth  Auth
	Env   []string // environment variables that hold the credential, GPUTIDE_<PROVIDER>_<FIELD>
	Gives string   // what a credential adds, for people

	// Prices is set for a source that lists offers. Sources stand in order of
	// authority: the first that answers feeds a scope.
	Prices   bool
	MaxBytes int64         // cap of one body; 0 is the default of fetch
	Timeout  time.Duration // of one request with its body; 0 is the default of fetch
	Page     bool          // an HTML page: robots.txt applies
}

// Evidence is how well an adapter is proven.
type Evidence string

// The grades of evidence, best first.
const (
	EvidenceRecorded   Evidence = "recorded"
	EvidenceDocumented Evidence = "documented"
	EvidenceComposed   Evidence = "composed"
)

// Info holds the static facts of a provider. The docs page, the allow-list of
// hosts, `gputide providers` and the help are made from it.
type Info struct {
	Name       string // one-word slug
	Title      string
	TitleZH    string // its name in Chinese where it has one of its own
	Home       string // https URL of the price page
	Sources    []Source
	Markets    []Market
	Currencies []Currency
	Partitions []string      // empty when the provider has one price book
	Cadence    time.Duration // how often a daemon crawls it
	Paces      []Pace        // markets it crawls more often, by themselves
	Deadline   time.Duration // of one crawl; 0 is the crawler's default

	// RequestsPerSecond is the limit per host; 0 is one request a second.
	RequestsPerSecond float64
	Evidence          Evidence
	Note              string // what the adapter does not give, for people
}

// Pace is how often one market is crawled by itself.
type Pace struct {
	Market  Market
	Cadence time.Duration
}

// Source returns the source with the given ID.
func (i *Info) Source(id string) (Source, bool) {
	for _, s := range i.Sources {
		if s.ID == id {
			return s, true
		}
	}
	return Source{}, false
}
