package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// offerCode is the code of the EC2 price list.
const offerCode = "AmazonEC2"

// offerIndex is the index of all price lists of a book. Addresses are relative
// to its host.
type offerIndex struct {
	Offers map[string]offerEntry `json:"offers"`
}

// offerEntry leads to the lists of one service.
type offerEntry struct {
	OfferCode       string `json:"offerCode"`
	VersionIndexURL string `json:"versionIndexUrl"`
	RegionIndexURL  string `json:"currentRegionIndexUrl"`
	PlanIndexURL    string `json:"currentSavingsPlanIndexUrl"`
}

// regionIndex leads to the current list of each region.
type regionIndex struct {
	Regions map[string]struct {
		RegionCode        string `json:"regionCode"`
		CurrentVersionURL string `json:"currentVersionUrl"`
	} `json:"regions"`
}

// versionIndex leads to the lists of all regions of each version. The end of
// the current one is empty.
type versionIndex struct {
	Versions map[string]struct {
		Begin string  `json:"versionEffectiveBeginDate"`
		End   *string `json:"versionEffectiveEndDate"`
		URL   string  `json:"offerVersionUrl"`
	} `json:"versions"`
}

// listing is one price list: of a region, or of all regions of a book.
type listing struct {
	region  string // empty for all regions
	url     string // of the JSON form
	version string // as the index states it; empty when it does not
	plan    plan   // the savings plans of the region
}

// scope returns the scope a list feeds in a market.
func (l listing) scope(k book, m gputide.Market) gputide.Scope {
	if l.region == "" {
		return gputide.Scope{Partition: k.partitions[0], Market: m}
	}
	return gputide.Scope{Partition: partitionOf(l.region), Region: l.region, Market: m}
}

// csvForm and jsonForm return the address of a form of a list.
func csvForm(url string) string  { return strings.TrimSuffix(url, ".json") + ".csv" }
func jsonForm(url string) string { return strings.TrimSuffix(url, ".csv") + ".json" }

// versionPattern is the form of a version: yyyymmddhhmmss.
var versionPattern = regexp.MustCompile(`^\d{14}$`)

// indexes returns the lists of a book: one per region by the region index, or
// the list of all regions by the version index where there is no region index.
// It reports the sources it cannot use; of an error it names the source.
func (r *run) indexes(ctx context.Context, k book) (lists []listing, source string, err error) {
	offers, err := r.offers(ctx, k)
	if err != nil {
		return nil, k.id(sourceOffers), r.unusable(k.id(sourceOffers), err)
	}
	offer := offers.Offers[offerCode]
	source = k.id(sourceRegions)
	if lists, err = r.regions(ctx, k, source, offer.RegionIndexURL); err == nil {
		r.addPlans(ctx, k, offers, lists)
		return lists, "", nil
	}
	_ = r.unusable(source, err)
	versions := k.id(sourceVersions)
	all, versionErr := r.version(ctx, k, versions, offer.VersionIndexURL)
	switch {
	case versionErr == nil:
		if offer.PlanIndexURL != "" {
			all.plan.err = errAllRegions
		}
		return []listing{all}, "", nil
	case errors.Is(err, gputide.ErrNotInFixture):
		source, err = versions, versionErr
	}
	_ = r.unusable(versions, versionErr)
	return nil, source, err
}

// offers returns the index of price lists of a book, with an entry of EC2 that
// leads on.
func (p *Provider) offers(ctx context.Context, k book) (*offerIndex, error) {
	source := k.id(sourceOffers)
	var index offerIndex
	if _, err := p.http.JSON(ctx, fetch.Request{Source: source, URL: k.url("index.json")}, &index); err != nil {
		return nil, err
	}
	switch offer, ok := index.Offers[offerCode]; {
	case !ok || offer.OfferCode != offerCode:
		return nil, drift(source, "offers."+offerCode, "the EC2 price list", "none")
	case offer.RegionIndexURL == "":
		return nil, drift(source, "offers."+offerCode+".currentRegionIndexUrl", "an address", "none")
	case offer.VersionIndexURL == "":
		return nil, drift(source, "offers."+offerCode+".versionIndexUrl", "an address", "none")
	}
	return &index, nil
}

// unusable reports an index as skipped or failed and returns err.
func (r *run) unusable(source string, err error) error {
	status := gputide.SourceFailed
	if errors.Is(err, gputide.ErrNotInFixture) {
		status = gputide.SourceSkipped
	}
	r.b.Source(source, status, err)
	return err
}

// regions returns the lists of the region index.
func (r *run) regions(ctx context.Context, k book, source, path string) ([]listing, error) {
	url, err := address(k, source, path)
	if err != nil {
		return nil, err
	}
	var index regionIndex
	if _, err := r.http.JSON(ctx, fetch.Request{Source: source, URL: url}, &index); err != nil {
		return nil, err
	}
	if index.Regions == nil {
		return nil, drift(source, "regions", "an object", "none")
	}
	if len(index.Regions) == 0 {
		return nil, fmt.Errorf("%s: %w", source, gputide.ErrEmpty)
	}
	var out []listing
	for _, code := range slices.Sorted(maps.Keys(index.Regions)) {
		e := index.Regions[code]
		if e.RegionCode != code {
			return nil, drift(source, "regions."+code+".regionCode", code, e.RegionCode)
		}
		if !r.wants(k, code) {
			r.b.Omit(source, "other_partition_or_not_asked", 1)
			continue
		}
		l, err := newListing(k, source, e.CurrentVersionURL)
		if err != nil {
			return nil, err
		}
		l.region = code
		out = append(out, l)
	}
	for _, region := range r.cfg.Regions {
		if _, ok := index.Regions[region]; !ok && k.holds(region) {
			r.unlisted(k, region, slices.Sorted(maps.Keys(index.Regions)))
		}
	}
	return out, nil
}

// unlisted reports a region that was asked for and is in no index: the fixture
// lacks it, or there is none of that name.
func (r *run) unlisted(k book, region string, known []string) {
	if r.http.Replaying() {
		r.b.Source(k.id(sourceCSV), gputide.SourceSkipped, fmt.Errorf("%w: region %s", gputide.ErrNotInFixture, region))
		return
	}
	r.count(&gputide.HintError{
		Err:  fmt.Errorf("%s: %w: region %.40q", k.id(sourceRegions), gputide.ErrNotFound, region),
		Hint: "regions: " + strings.Join(known, " "),
	})
}

// version returns the list of all regions of the version in force.
func (r *run) version(ctx context.Context, k book, source, path string) (listing, error) {
	versions, err := r.versions(ctx, k, source, path)
	if err != nil {
		return listing{}, err
	}
	current := slices.DeleteFunc(versions, func(v ListVersion) bool { return !v.End.IsZero() })
	if len(current) != 1 {
		return listing{}, drift(source, "versions.*.versionEffectiveEndDate", "one version without an end", fmt.Sprint(len(current)))
	}
	return listing{url: jsonForm(current[0].URL), version: current[0].Version}, nil
}

// newListing returns the list at a path of an index.
func newListing(k book, source, path string) (listing, error) {
	url, err := address(k, source, path)
	if err != nil {
		return listing{}, err
	}
	if !strings.HasSuffix(url, ".json") {
		return listing{}, drift(source, "offerVersionUrl", "an address of a JSON file", url)
	}
	l := listing{url: url}
	for part := range strings.SplitSeq(path, "/") {
		if versionPattern.MatchString(part) {
			l.version = part
		}
	}
	return l, nil
}

// address makes an absolute address of a path of an index.
func address(k book, source, path string) (string, error) {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return "", drift(source, "url", "a path on its host", path)
	}
	return "https://" + k.host + path, nil
}

func drift(source, path, want, got string) error {
	if got == "" {
		got = "nothing"
	}
	return &gputide.DriftError{Source: source, Path: path, Want: want, Got: fmt.Sprintf("%.80s", got)}
}
