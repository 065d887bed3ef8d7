package aws

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/aws/pricelist"
)

// reader is the form of pricelist.ReadCSV and pricelist.ReadJSON.
type reader func(io.Reader, pricelist.Options, func(*pricelist.Row)) (*pricelist.Report, error)

// wares are what a list leaves behind for the savings plans of its region.
type wares struct {
	source   string // of the list
	products pricelist.Products
	specs    map[*pricelist.Type]*gputide.Spec
	reduced  bool // to the accelerated types, by the archive
}

func (r *run) csv(ctx context.Context, k book, l listing) (*wares, error) {
	return r.list(ctx, k, l, fetch.Request{
		Source: k.id(sourceCSV), URL: csvForm(l.url), Accept: "text/csv", Keep: keepAccelerated(r.families), KeepRule: keepRule,
	}, pricelist.ReadCSV)
}

func (r *run) json(ctx context.Context, k book, l listing) (*wares, error) {
	return r.list(ctx, k, l, fetch.Request{Source: k.id(sourceJSON), URL: l.url, Accept: "application/json"}, pricelist.ReadJSON)
}

// list reads one bulk list and reports its scopes as done.
func (r *run) list(ctx context.Context, k book, l listing, req fetch.Request, read reader) (*wares, error) {
	resp, err := r.http.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	out := &wares{source: req.Source, specs: map[*pricelist.Type]*gputide.Spec{}, reduced: resp.Reduced}
	opt := pricelist.Options{Source: req.Source, Partition: k.partitions[0], Currency: k.currency, Region: l.region}
	if l.region != "" {
		opt.Partition = partitionOf(l.region)
	}
	if l.plan.url != "" {
		opt.Products = &out.products
	}
	in := &intake{run: r, source: req.Source, book: k, listing: l, out: out, fed: map[gputide.Scope]bool{}}
	rep, err := read(resp.Body, opt, in.row)
	switch {
	case err != nil:
		return nil, err
	case rep.Rows == 0 && !resp.Reduced: // of a list of no accelerated type the archive keeps the head
		return nil, fmt.Errorf("%s: %w: %s", req.Source, gputide.ErrEmpty, resp.URL)
	case l.version != "" && rep.Version != l.version:
		return nil, drift(req.Source, "version", l.version, rep.Version)
	case !in.sound && in.skipped != "":
		return nil, drift(req.Source, "rows", "an offer of this list", "none: "+in.skipped)
	}
	r.omit(req.Source, rep)
	for _, scope := range in.scopes() {
		r.b.Done(req.Source, scope, resp.URL)
	}
	return out, nil
}

// omit counts the rows a list had beside offers.
func (r *run) omit(source string, rep *pricelist.Report) {
	for _, reason := range slices.Sorted(maps.Keys(rep.Omitted)) {
		r.b.Omit(source, reason, rep.Omitted[reason])
	}
}

// intake hands the rows of one list to the batch.
type intake struct {
	run     *run
	source  string
	book    book
	listing listing
	out     *wares
	fed     map[gputide.Scope]bool // by the rows read so far
	sound   bool                   // some row is what was asked for; prices of 0 stand for a region to come
	skipped string                 // reason why the last row of the others was skipped
}

// row takes one row.
func (in *intake) row(w *pricelist.Row) {
	r := in.run
	if !w.Known {
		scope := in.listing.scope(in.book, w.Key.Market)
		if scope.Region != "" && scope.Market != "" {
			in.fed[scope] = true
		}
		in.skipped = w.Skip
		r.b.SkipUnknown(in.source, scope, w.Skip, w.SKU+": "+w.Detail)
		return
	}
	if in.listing.region == "" {
		if !r.wants(in.book, w.Key.Region) {
			r.b.Omit(in.source, "other_partition_or_not_asked", 1)
			return
		}
		w.Key.Partition = partitionOf(w.Key.Region)
	}
	in.fed[gputide.Scope{Partition: w.Key.Partition, Region: w.Key.Region, Market: w.Key.Market}] = true
	in.sound = in.sound || w.Skip == "" || w.Skip == pricelist.SkipNoPrice
	if w.Skip != "" {
		in.skipped = w.Skip
		r.b.Skip(in.source, w.Key, w.Skip, w.SKU+": "+w.Detail)
		return
	}
	r.b.Add(gputide.RawOffer{Source: in.source, Key: w.Key, Price: w.Price, SKU: w.SKU, Spec: in.out.spec(w.Type, w.Key.Partition, r.families)})
}

// spec returns what the list says of a type in a partition, one value per type.
func (w *wares) spec(t *pricelist.Type, partition string, table families) *gputide.Spec {
	s := w.specs[t]
	if s == nil || s.Partition != partition {
		s = specOf(t, table)
		s.Source, s.Partition, s.Provider = w.source, partition, "aws"
		w.specs[t] = s
	}
	return s
}

// scopes returns what the list fed: the regions and markets it has rows of. Many
// local zones have nothing reserved; a market that a list no longer has at all
// becomes stale and is not concluded to be withdrawn. A list without any
// instance is reported for both markets, so that the crawler can hold it back.
func (in *intake) scopes() []gputide.Scope {
	if len(in.fed) == 0 {
		for _, m := range listMarkets() {
			in.fed[in.listing.scope(in.book, m)] = true
		}
	}
	return slices.SortedFunc(maps.Keys(in.fed), func(a, b gputide.Scope) int { return cmp.Compare(a.String(), b.String()) })
}
