package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// ListVersion is one version of the EC2 price list as it can still be had for a
// region. AWS keeps all of them since 2015-12.
type ListVersion struct {
	Version    string    // yyyymmddhhmmss
	At         time.Time // when it was published: the moment its prices are observed
	Begin, End time.Time // it is in force from Begin until before End; a zero End is the current one's
	URL        string    // of its CSV form
	AllRegions bool      // there is no list of the region alone: this one has all of them
	Bytes      int64     // of the CSV form; -1 when the host does not say

	region string
}

// versionLayout is the form of a version.
const versionLayout = "20060102150405"

// Versions returns the versions of the EC2 price list that were in force at the
// given moments, oldest first and each once, as the index of versions says. For
// each it asks how long its list of the region is, but fetches none. A moment
// before the first version has none; it returns [gputide.ErrNotFound] when all
// have none, and for a region of no price book.
//
// Source: https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html
func (p *Provider) Versions(ctx context.Context, region string, moments []time.Time) ([]ListVersion, error) {
	k, err := bookOf(region)
	if err != nil {
		return nil, err
	}
	offers, err := p.offers(ctx, k)
	if err != nil {
		return nil, err
	}
	source := k.id(sourceVersions)
	all, err := p.versions(ctx, k, source, offers.Offers[offerCode].VersionIndexURL)
	if err != nil {
		return nil, err
	}
	out := inForce(all, moments)
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w: no version was in force", source, gputide.ErrNotFound)
	}
	for i := range out {
		out[i].region = region
		if err := p.locate(ctx, k, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ReadVersion adds what a version of the list says of its region to b, as Crawl
// does with the current one: on demand and reserved. It marks the scopes it read
// as done.
func (p *Provider) ReadVersion(ctx context.Context, v ListVersion, b *gputide.Batch) error {
	k, err := bookOf(v.region)
	if err != nil {
		return err
	}
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	cfg := p.cfg
	cfg.Regions = []string{v.region}
	r := &run{Provider: &Provider{http: p.http, cfg: cfg}, b: b, families: table}
	l := listing{url: jsonForm(v.URL), version: v.Version}
	if !v.AllRegions {
		l.region = v.region
	}
	_, err = r.csv(ctx, k, l)
	return err
}

// bookOf returns the book that lists a region.
func bookOf(region string) (book, error) {
	for _, k := range books() {
		if region != "" && k.holds(region) {
			return k, nil
		}
	}
	return book{}, fmt.Errorf("%w: region %.40q", gputide.ErrNotFound, region)
}

// versions returns the versions of the index of versions, oldest first.
func (p *Provider) versions(ctx context.Context, k book, source, path string) ([]ListVersion, error) {
	url, err := address(k, source, path)
	if err != nil {
		return nil, err
	}
	var index versionIndex
	if _, err := p.http.JSON(ctx, fetch.Request{Source: source, URL: url}, &index); err != nil {
		return nil, err
	}
	out := make([]ListVersion, 0, len(index.Versions))
	for name, e := range index.Versions {
		path := "versions." + name
		at, err := time.Parse(versionLayout, name)
		if err != nil || len(name) != len(versionLayout) {
			return nil, drift(source, path, "yyyymmddhhmmss", name)
		}
		v := ListVersion{Version: name, At: at}
		if v.Begin, err = time.Parse(time.RFC3339, e.Begin); err != nil {
			return nil, drift(source, path+".versionEffectiveBeginDate", "a moment", e.Begin)
		}
		switch {
		case e.End == nil:
			return nil, drift(source, path+".versionEffectiveEndDate", "a moment or nothing", "no field")
		case *e.End != "":
			if v.End, err = time.Parse(time.RFC3339, *e.End); err != nil {
				return nil, drift(source, path+".versionEffectiveEndDate", "a moment", *e.End)
			}
		}
		l, err := newListing(k, source, e.URL)
		if err != nil {
			return nil, err
		}
		if l.version != name {
			return nil, drift(source, path+".offerVersionUrl", name, l.version)
		}
		v.URL = csvForm(l.url)
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b ListVersion) int { return strings.Compare(a.Version, b.Version) })
	return out, nil
}

// inForce returns the versions in force at any of the moments. Of two in force
// at one it is the later, which replaced the other.
func inForce(all []ListVersion, moments []time.Time) []ListVersion {
	chosen := make([]bool, len(all))
	for _, t := range moments {
		for i, v := range slices.Backward(all) {
			if !t.Before(v.Begin) && (v.End.IsZero() || t.Before(v.End)) {
				chosen[i] = true
				break
			}
		}
	}
	var out []ListVersion
	for i, v := range all {
		if chosen[i] {
			out = append(out, v)
		}
	}
	return out
}

// locate finds the list of the region of a version, the list of all regions
// where there is none of its own, and its length.
func (p *Provider) locate(ctx context.Context, k book, v *ListVersion) error {
	own := strings.TrimSuffix(v.URL, "index.csv") + v.region + "/index.csv"
	n, err := p.length(ctx, k, own)
	switch {
	case errors.Is(err, gputide.ErrNotFound):
		v.AllRegions = true
		v.Bytes, err = p.length(ctx, k, v.URL)
		return err
	case err != nil:
		return err
	}
	v.URL, v.Bytes = own, n
	return nil
}

// length asks how long a body is; -1 when its host does not say.
func (p *Provider) length(ctx context.Context, k book, url string) (int64, error) {
	resp, err := p.http.Do(ctx, fetch.Request{Source: k.id(sourceCSV), Method: http.MethodHead, URL: url, Accept: "text/csv"})
	if err != nil {
		return 0, err
	}
	if err := resp.Body.Close(); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64)
	if err != nil || n < 0 {
		return -1, nil //nolint:nilerr // not said is no error
	}
	return n, nil
}
