package aws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/aws/pricelist"
)

// partPlans is the part of the commitments of a region that savings plans are:
// they have a list of their own, and neither that list nor the list with the
// reserved instances says anything of the other.
const partPlans = "savings_plan"

// errAllRegions is why savings plans are not read beside a list of all regions:
// its products would not fit into memory.
var errAllRegions = fmt.Errorf("%w: savings plans are joined with the price list of their region, and there is no index of those", gputide.ErrUnavailable)

// errNoProducts is why the savings plans of a region are not read when its list
// was not.
var errNoProducts = fmt.Errorf("%w: savings plans are joined with the price list of their region, which was not read", gputide.ErrUnavailable)

// plan is the savings plan list of a region. The zero value says that it has
// none.
type plan struct {
	url     string // of the JSON form
	version string // as the index states it; empty when it does not
	err     error  // why it is not known
}

// planIndex leads to the current savings plan list of each region. Other than
// the index of price lists it is an array.
type planIndex struct {
	Regions []struct {
		RegionCode string `json:"regionCode"`
		VersionURL string `json:"versionUrl"`
	} `json:"regions"`
}

// scope returns the scope of the savings plans beside a list.
func (l listing) planScope(k book) gputide.Scope {
	s := l.scope(k, gputide.Commitment)
	s.Part = partPlans
	return s
}

// addPlans finds the savings plan list of each region.
func (r *run) addPlans(ctx context.Context, k book, offers *offerIndex, lists []listing) {
	path := offers.Offers[offerCode].PlanIndexURL
	r.b.Omit(k.id(sourceOffers), "other_savings_plan", offers.otherPlans())
	if path == "" {
		return
	}
	source := k.id(sourcePlans)
	plans, err := r.planLists(ctx, k, source, path)
	switch {
	case errors.Is(err, gputide.ErrNotInFixture):
		r.b.Source(source, gputide.SourceSkipped, err)
		return
	case err != nil:
		for i := range lists {
			lists[i].plan.err = err
		}
		return
	}
	for i := range lists {
		lists[i].plan = plans[lists[i].region]
		delete(plans, lists[i].region)
	}
	r.b.Omit(source, "other_partition_or_not_asked", int64(len(plans)))
}

// otherPlans returns how many indexes of savings plans there are beside that of
// EC2: for SageMaker, for databases.
func (x *offerIndex) otherPlans() int64 {
	other := map[string]bool{}
	for _, o := range x.Offers {
		if o.PlanIndexURL != "" && o.PlanIndexURL != x.Offers[offerCode].PlanIndexURL {
			other[o.PlanIndexURL] = true
		}
	}
	return int64(len(other))
}

// planLists returns the savings plan lists by region.
func (r *run) planLists(ctx context.Context, k book, source, path string) (map[string]plan, error) {
	url, err := address(k, source, path)
	if err != nil {
		return nil, err
	}
	var index planIndex
	if _, err := r.http.JSON(ctx, fetch.Request{Source: source, URL: url}, &index); err != nil {
		return nil, err
	}
	switch {
	case index.Regions == nil:
		return nil, drift(source, "regions", "an array", "none")
	case len(index.Regions) == 0:
		return nil, fmt.Errorf("%s: %w", source, gputide.ErrEmpty)
	}
	out := make(map[string]plan, len(index.Regions))
	for _, e := range index.Regions {
		if e.RegionCode == "" {
			return nil, drift(source, "regions[].regionCode", "a region", "none")
		}
		if _, twice := out[e.RegionCode]; twice {
			return nil, drift(source, "regions[].regionCode", "one list per region", e.RegionCode)
		}
		l, err := newListing(k, source, e.VersionURL)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(e.VersionURL, "/"+e.RegionCode+"/") {
			return nil, drift(source, "regions[].versionUrl", "a list of "+e.RegionCode, e.VersionURL)
		}
		out[e.RegionCode] = plan{url: l.url, version: l.version}
	}
	return out, nil
}

// savingsPlans reads the savings plans of a region from the first of their
// sources that answers. w is what the price list of the region left behind, nil
// when it was not read.
func (r *run) savingsPlans(ctx context.Context, k book, l listing, w *wares) {
	switch {
	case l.plan == plan{}:
		return
	case l.plan.err != nil:
		r.fail(k.id(sourcePlans), l.plan.err, l.planScope(k))
		return
	case w == nil:
		r.fail(k.id(sourcePlanCSV), errNoProducts, l.planScope(k))
		return
	}
	var errs []error
	for _, s := range []struct {
		req  fetch.Request
		read planReader
	}{
		{fetch.Request{
			Source: k.id(sourcePlanCSV), URL: csvForm(l.plan.url), Accept: "text/csv", Keep: r.keepPlans(w), KeepRule: keepPlanRule,
		}, pricelist.ReadPlansCSV},
		{fetch.Request{Source: k.id(sourcePlanJSON), URL: l.plan.url, Accept: "application/json"}, pricelist.ReadPlansJSON},
	} {
		err := r.planList(ctx, k, l, w, s.req, s.read)
		switch {
		case err == nil:
			r.count(nil)
			return
		case errors.Is(err, gputide.ErrNotInFixture):
			r.b.Source(s.req.Source, gputide.SourceSkipped, err)
			continue
		}
		errs = append(errs, err)
		r.b.Fail(s.req.Source, l.planScope(k), err)
	}
	if len(errs) > 0 {
		r.count(errors.Join(errs...))
	}
}

// planReader is the form of pricelist.ReadPlansCSV and pricelist.ReadPlansJSON.
type planReader func(io.Reader, pricelist.PlanOptions, func(*pricelist.Row)) (*pricelist.Report, error)

// planList reads one savings plan list and reports its scope as done.
func (r *run) planList(ctx context.Context, k book, l listing, w *wares, req fetch.Request, read planReader) error {
	resp, err := r.http.Do(ctx, req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	scope := l.planScope(k)
	opt := pricelist.PlanOptions{
		Source: req.Source, Partition: scope.Partition, Region: l.region, Currency: k.currency, Products: &w.products, Partial: w.reduced,
	}
	rep, err := read(resp.Body, opt, func(row *pricelist.Row) {
		switch detail := row.SKU + ": " + row.Detail; {
		case !row.Known:
			r.b.SkipUnknown(req.Source, scope, row.Skip, detail)
		case row.Skip != "":
			r.b.SkipPart(req.Source, row.Key, partPlans, row.Skip, detail)
		default:
			r.b.Add(gputide.RawOffer{
				Source: req.Source, Key: row.Key, Part: partPlans, Price: row.Price, SKU: row.SKU,
				Spec: w.spec(row.Type, row.Key.Partition, r.families),
			})
		}
	})
	switch {
	case err != nil:
		return err
	case rep.Rows == 0 && !resp.Reduced:
		return fmt.Errorf("%s: %w: %s", req.Source, gputide.ErrEmpty, resp.URL)
	case l.plan.version != "" && rep.Version != l.plan.version:
		return drift(req.Source, "version", l.plan.version, rep.Version)
	}
	r.omit(req.Source, rep)
	r.b.Done(req.Source, scope, resp.URL)
	return nil
}

// keepPlanRule names what keepPlans keeps.
const keepPlanRule = "accelerated-plans-1"

// keepPlans returns what the archive keeps of a savings plan list in CSV form
// too large to be kept whole: the lines up to the header and those whose last
// column is an accelerated type of the price list, byte for byte.
func (r *run) keepPlans(w *wares) func(line []byte) bool {
	types := map[string]bool{}
	for name, t := range w.products.Types() {
		if d := deviceOf(t, r.families); d.Known() {
			types[name] = true
		}
	}
	inHead := true
	return func(line []byte) bool {
		if inHead {
			inHead = !bytes.HasPrefix(bytes.TrimLeft(line, `"`), []byte("SKU"))
			return true
		}
		last := bytes.TrimRight(line, "\r\n")
		last = last[bytes.LastIndexByte(last, ',')+1:]
		return types[string(bytes.Trim(last, `"`))]
	}
}
