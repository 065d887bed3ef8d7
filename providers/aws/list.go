package aws

import (
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
	in := &intake{run: r, source: req.Source, book: k, listing: l, specs: map[*pricelist.Type]*gputide.Spec{}, regions: map[string]bool{}}
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
	regions map[string]bool // read from a list of all regions
}

// row takes one row.
func (in *intake) row(w *pricelist.Row) {
	r := in.run
	if !w.Known {
		r.b.SkipUnknown(in.source, in.listing.scope(in.book, w.Key.Market), w.Skip, w.SKU+": "+w.Detail)
		return
	}
	if in.listing.region == "" {
		if !r.wants(in.book, w.Key.Region) {
			r.b.Omit(in.source, "other_partition_or_not_asked", 1)
			return
		}
		w.Key.Partition = partitionOf(w.Key.Region)
		in.regions[w.Key.Region] = true
	}
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

// scopes returns what the list fed. A list of all regions feeds those it names.
func (in *intake) scopes() []gputide.Scope {
	regions := []string{in.listing.region}
	if in.listing.region == "" {
		regions = slices.Sorted(maps.Keys(in.regions))
	}
	var out []gputide.Scope
	for _, m := range listMarkets() {
		if len(regions) == 0 {
			out = append(out, gputide.Scope{Partition: in.book.partitions[0], Market: m})
		}
		for _, region := range regions {
			out = append(out, gputide.Scope{Partition: partitionOf(region), Region: region, Market: m})
		}
	}
	return out
}
