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
	Offers map[string]struct {
		OfferCode       string `json:"offerCode"`
		VersionIndexURL string `json:"versionIndexUrl"`
		RegionIndexURL  string `json:"currentRegionIndexUrl"`
	} `json:"offers"`
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
}

// scope returns the scope a list feeds in a market.
func (l listing) scope(k book, m gputide.Market) gputide.Scope {
	if l.region == "" {
		return gputide.Scope{Partition: k.partition, Market: m}
	}
	return gputide.Scope{Partition: partitionOf(l.region), Region: l.region, Market: m}
}

// csv returns the address of the CSV form.
func (l listing) csv() string { return strings.TrimSuffix(l.url, ".json") + ".csv" }

// versionPattern is the form of a version: yyyymmddhhmmss.
var versionPattern = regexp.MustCompile(`^\d{14}$`)

// indexes returns the lists of a book: one per region by the region index, or
// the list of all regions by the version index where there is no region index.
func (r *run) indexes(ctx context.Context, k book) ([]listing, error) {
	var offers offerIndex
	if err := r.index(ctx, k.source, "https://"+k.host+k.index, &offers); err != nil {
		return nil, err
	}
	offer, ok := offers.Offers[offerCode]
	if !ok || offer.OfferCode != offerCode {
		return nil, drift(k.source, "offers."+offerCode, "the EC2 price list", "none")
	}
	if offer.RegionIndexURL == "" && offer.VersionIndexURL == "" {
		return nil, drift(k.source, "offers."+offerCode+".currentRegionIndexUrl", "an address", "none")
	}
	out, err := r.regions(ctx, k, offer.RegionIndexURL)
	if err == nil || !errors.Is(err, gputide.ErrNotInFixture) && offer.VersionIndexURL == "" {
		return out, err
	}
	all, versionErr := r.version(ctx, k, offer.VersionIndexURL)
	switch {
	case versionErr == nil:
		return []listing{all}, nil
	case errors.Is(versionErr, gputide.ErrNotInFixture):
		return nil, err
	}
	return nil, errors.Join(err, versionErr)
}

// index reads one index. An index the fixture lacks is reported as skipped.
func (r *run) index(ctx context.Context, source, url string, into any) error {
	_, err := r.http.JSON(ctx, fetch.Request{Source: source, URL: url}, into)
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		r.b.Source(source, gputide.SourceSkipped, err)
	case err != nil:
		r.b.Source(source, gputide.SourceFailed, err)
	}
	return err
}

// regions returns the lists of the region index.
func (r *run) regions(ctx context.Context, k book, path string) ([]listing, error) {
	if path == "" {
		return nil, drift(k.source, "offers."+offerCode+".currentRegionIndexUrl", "an address", "none")
	}
	url, err := address(k, k.source, path)
	if err != nil {
		return nil, err
	}
	var index regionIndex
	if err := r.index(ctx, sourceRegions, url, &index); err != nil {
		return nil, err
	}
	if len(index.Regions) == 0 {
		err := fmt.Errorf("%s: %w", sourceRegions, gputide.ErrEmpty)
		r.b.Source(sourceRegions, gputide.SourceFailed, err)
		return nil, err
	}
	var out []listing
	for _, code := range slices.Sorted(maps.Keys(index.Regions)) {
		e := index.Regions[code]
		if e.RegionCode != code {
			return nil, drift(sourceRegions, "regions."+code+".regionCode", code, e.RegionCode)
		}
		if !r.wants(k, code) {
			r.b.Omit(sourceRegions, "other_partition_or_not_asked", 1)
			continue
		}
		l, err := newListing(k, sourceRegions, e.CurrentVersionURL)
		if err != nil {
			return nil, err
		}
		l.region = code
		out = append(out, l)
	}
	return out, nil
}

// version returns the list of all regions of the version in force.
func (r *run) version(ctx context.Context, k book, path string) (listing, error) {
	url, err := address(k, k.source, path)
	if err != nil {
		return listing{}, err
	}
	var index versionIndex
	if err := r.index(ctx, sourceVersions, url, &index); err != nil {
		return listing{}, err
	}
	var current []string
	for v, e := range index.Versions {
		if !versionPattern.MatchString(v) {
			return listing{}, drift(sourceVersions, "versions."+v, "yyyymmddhhmmss", v)
		}
		if e.End == nil || e.Begin == "" {
			return listing{}, drift(sourceVersions, "versions."+v+".versionEffectiveEndDate", "a begin and an end", "none")
		}
		if *e.End == "" {
			current = append(current, v)
		}
	}
	if len(current) != 1 {
		return listing{}, drift(sourceVersions, "versions.*.versionEffectiveEndDate", "one version without an end", fmt.Sprintf("%d", len(current)))
	}
	l, err := newListing(k, sourceVersions, index.Versions[current[0]].URL)
	if err == nil && l.version != current[0] {
		return listing{}, drift(sourceVersions, "versions."+current[0]+".offerVersionUrl", current[0], l.version)
	}
	return l, err
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
