package aws

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const legacyURL = "https://" + legacyHost + "/spot.js"

// legacyFeed is the data of the old spot price page: prices of a region, in no
// particular zone, by system. The body is a call, callback({…});, around it.
type legacyFeed struct {
	Config struct {
		Rate    string `json:"rate"`
		Regions []struct {
			Region string `json:"region"`
			Types  []struct {
				Sizes []legacySize `json:"sizes"`
			} `json:"instanceTypes"`
		} `json:"regions"`
	} `json:"config"`
}

type legacySize struct {
	Size    string `json:"size"`
	Columns []struct {
		Name   string             `json:"name"`
		Prices map[string]*string `json:"prices"`
	} `json:"valueColumns"`
}

// legacyRegion returns the region code of a code of the page.
func legacyRegion(code string) string {
	if today, ok := map[string]string{
		"us-east": "us-east-1", "us-west": "us-west-1", "eu-ireland": "eu-west-1",
		"apac-sin": "ap-southeast-1", "apac-syd": "ap-southeast-2", "apac-tokyo": "ap-northeast-1",
	}[code]; ok {
		return today
	}
	return code
}

// legacySpot reads the spot prices of the regions that EC2 did not give.
func (r *run) legacySpot(ctx context.Context, fed map[string]bool) {
	feed, url, err := r.legacy(ctx)
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		r.b.Source(sourceLegacy, gputide.SourceSkipped, err)
		return
	case err != nil:
		r.fail(sourceLegacy, err, gputide.Scope{Partition: partitionCommercial, Market: gputide.Spot})
		return
	}
	for _, region := range feed.Config.Regions {
		code := legacyRegion(region.Region)
		if fed[code] || partitionOf(code) != partitionCommercial || !r.asked(code) {
			r.b.Omit(sourceLegacy, "region_not_asked", 1)
			continue
		}
		scope := gputide.Scope{Partition: partitionCommercial, Region: code, Market: gputide.Spot}
		for _, t := range region.Types {
			for _, s := range t.Sizes {
				r.legacySize(scope, &s)
			}
		}
		r.b.Done(sourceLegacy, scope, url)
	}
	r.count(nil)
}

// asked reports whether a region is to be read.
func (r *run) asked(region string) bool {
	return len(r.cfg.Regions) == 0 || slices.Contains(r.cfg.Regions, region)
}

// legacy fetches and checks the feed.
func (r *run) legacy(ctx context.Context) (*legacyFeed, string, error) {
	resp, err := r.http.Do(ctx, fetch.Request{Source: sourceLegacy, URL: legacyURL})
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body) // bounded by the cap of the source
	if err != nil {
		return nil, "", err
	}
	text, call := bytes.CutPrefix(bytes.TrimSpace(body), []byte("callback("))
	text, end := bytes.CutSuffix(bytes.TrimSuffix(text, []byte(";")), []byte(")"))
	if !call || !end {
		return nil, "", drift(sourceLegacy, "/", "callback({…});", string(text[:min(len(text), 60)]))
	}
	var feed legacyFeed
	if err := fetch.Unmarshal(sourceLegacy, "callback", text, &feed); err != nil {
		return nil, "", err
	}
	switch {
	case feed.Config.Rate != "perhr":
		return nil, "", drift(sourceLegacy, "config.rate", "perhr", feed.Config.Rate)
	case len(feed.Config.Regions) == 0:
		return nil, "", drift(sourceLegacy, "config.regions", "regions", "none")
	}
	return &feed, resp.URL, nil
}

// legacySize adds the prices of one instance type.
func (r *run) legacySize(scope gputide.Scope, s *legacySize) {
	for _, c := range s.Columns {
		os := map[string]string{"linux": "linux", "mswin": "windows"}[c.Name]
		price := c.Prices["USD"]
		switch {
		case s.Size == "" || c.Name == "":
			r.b.SkipUnknown(sourceLegacy, scope, "bad_row", s.Size+" "+c.Name)
			continue
		case os == "":
			r.b.Omit(sourceLegacy, "other_product", 1)
			continue
		case price != nil && strings.HasPrefix(*price, "N/A"):
			r.b.Omit(sourceLegacy, "not_offered", 1)
			continue
		}
		key := gputide.Key{
			Partition: scope.Partition, Region: scope.Region, InstanceType: s.Size, Market: gputide.Spot, OS: os,
			Tenancy: "shared", Stat: gputide.StatList, Currency: "USD",
		}
		if price == nil {
			r.b.Skip(sourceLegacy, key, "no_price", "no USD")
			continue
		}
		r.b.Add(gputide.RawOffer{
			Source: sourceLegacy, Key: key, Spec: r.tableSpec(s.Size),
			Price: gputide.Published{Amount: *price, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		})
	}
}
