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

func (r *run) csv(ctx context.Context, k book, l listing) error {
	return r.list(ctx, k, l, fetch.Request{
		Source: k.id(sourceCSV), URL: l.csv(), Accept: "text/csv", Keep: keepAccelerated(r.families), KeepRule: keepRule,
	}, pricelist.ReadCSV)
}

func (r *run) json(ctx context.Context, k book, l listing) error {
	return r.list(ctx, k, l, fetch.Request{Source: k.id(sourceJSON), URL: l.url, Accept: "application/json"}, pricelist.ReadJSON)
}

// list reads one bulk list and reports its scopes as done.
func (r *run) list(ctx context.Context, k book, l listing, req fetch.Request, read reader) error {
	resp, err := r.http.Do(ctx, req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	opt := pricelist.Options{Source: req.Source, Partition: k.partitions[0], Currency: k.currency, Region: l.region}
	if l.region != "" {
		opt.Partition = partitionOf(l.region)
	}
	in := &intake{
		run: r, source: req.Source, book: k, listing: l,
		specs: map[*pricelist.Type]*gputide.Spec{}, fed: map[gputide.Scope]bool{},
	}
	rep, err := read(resp.Body, opt, in.row)
	switch {
	case err != nil:
		return err
	case rep.Rows == 0 && !resp.Reduced: // of a list of no accelerated type the archive keeps the head
		return fmt.Errorf("%s: %w: %s", req.Source, gputide.ErrEmpty, resp.URL)
	case l.version != "" && rep.Version != l.version:
		return drift(req.Source, "version", l.version, rep.Version)
	}
	for _, reason := range slices.Sorted(maps.Keys(rep.Omitted)) {
		r.b.Omit(req.Source, reason, rep.Omitted[reason])
	}
	for _, scope := range in.scopes() {
		r.b.Done(req.Source, scope, resp.URL)
	}
	return nil
}

// intake hands the rows of one list to the batch.
type intake struct {
	run     *run
	source  string
	book    book
	listing listing
	specs   map[*pricelist.Type]*gputide.Spec
	fed     map[gputide.Scope]bool // by the rows read so far
}

// row takes one row.
func (in *intake) row(w *pricelist.Row) {
	r := in.run
	if !w.Known {
		scope := in.listing.scope(in.book, w.Key.Market)
		if scope.Region != "" && scope.Market != "" {
			in.fed[scope] = true
		}
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
	if w.Skip != "" {
		r.b.Skip(in.source, w.Key, w.Skip, w.SKU+": "+w.Detail)
		return
	}
	r.b.Add(gputide.RawOffer{Source: in.source, Key: w.Key, Price: w.Price, SKU: w.SKU, Spec: in.spec(w)})
}

// spec returns what the row says of its type, one value per type.
func (in *intake) spec(w *pricelist.Row) *gputide.Spec {
	s := in.specs[w.Type]
	if s == nil || s.Partition != w.Key.Partition {
		s = specOf(w.Type, in.run.families)
		s.Source, s.Partition, s.Provider = in.source, w.Key.Partition, "aws"
		in.specs[w.Type] = s
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
