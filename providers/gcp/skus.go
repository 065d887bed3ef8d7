package gcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	pageSize = 5000 // the most the API gives

	// maxPages bounds the pages of one list: the catalogue has about 7.
	maxPages = 100

	// maxRegions bounds the regions of one SKU: there are about 45.
	maxRegions = 500
)

// catalogue is what was read of the SKUs.
type catalogue struct {
	table   *table
	rates   rates
	unknown map[string]*accelerator // by words: sold under their own words

	ids      map[string]int // SKU → page
	read     int
	relevant int
	usable   int
	fault    string // path of the first thing that kept a SKU from being read
	moved    int    // SKUs that came again on a later page
	omits    map[string]int64
	blind    []blindRow
	urls     []string
}

// blindRow is a SKU that does not say what or where it is.
type blindRow struct {
	markets        []gputide.Market
	reason, detail string
}

// skus reads the prices of all markets from the catalogue.
func (r *run) skus(ctx context.Context) error {
	key := r.cfg.APIKey
	switch {
	case r.http.Replaying():
		key = "replay"
	case key == "":
		return &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + envKey}
	}
	c := &catalogue{
		table: r.table, rates: rates{}, unknown: map[string]*accelerator{}, ids: map[string]int{}, omits: map[string]int64{},
	}
	if err := r.pages(ctx, key, c); err != nil {
		return err
	}
	if err := c.sound(); err != nil {
		return err
	}
	r.offers(c)
	for _, m := range markets() {
		r.b.Done(sourceSKUs, gputide.Scope{Market: m}, c.urls...)
	}
	return nil
}

// pages reads every page. Tokens are opaque and end with an empty one; a page
// without SKUs is allowed, a token that comes again is a circle.
func (r *run) pages(ctx context.Context, key string, c *catalogue) error {
	tokens := map[string]bool{}
	token := ""
	for page := 1; ; page++ {
		if page > maxPages {
			return drift(sourceSKUs, "nextPageToken", fmt.Sprintf("an end within %d pages", maxPages), token)
		}
		query := url.Values{"pageSize": {strconv.Itoa(pageSize)}, "currencyCode": {string(currency)}}
		if token != "" {
			query.Set("pageToken", token)
		}
		next, err := c.page(ctx, r.http, fetch.Request{
			Source: sourceSKUs, URL: skusURL + "?" + query.Encode(), Accept: "application/json",
			Header: map[string][]string{"X-Goog-Api-Key": {key}},
		}, page)
		switch {
		case page == 1 && isRefused(err): // the API answers 400 to a wrong key
			return &gputide.HintError{Err: fmt.Errorf("%w: %w", gputide.ErrAuth, err), Hint: "check the key in " + envKey}
		case err != nil && page == 1:
			return err
		case err != nil:
			return fmt.Errorf("page %d: %w", page, err)
		case next == "":
			return nil
		case tokens[next]:
			return drift(sourceSKUs, "nextPageToken", "a new token", next)
		}
		tokens[next], token = true, next
	}
}

func isRefused(err error) bool {
	fe, ok := errors.AsType[*gputide.FetchError](err)
	return ok && fe.Status == 400
}

// page reads one page, one SKU at a time, and returns the token of the next.
func (c *catalogue) page(ctx context.Context, client *fetch.Client, req fetch.Request, page int) (next string, err error) {
	resp, err := client.Do(ctx, req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }() // all of it was read, or the error says more
	c.urls = append(c.urls, resp.URL)
	d := fetch.NewDecoder(sourceSKUs, resp.Body)
	listed := false
	err = d.Object(func(name string) error {
		switch name {
		case "skus":
			listed = true
			return d.Array(func() error {
				var s sku
				if err := d.Decode(&s); err != nil {
					return err
				}
				c.add(&s, page)
				return nil
			})
		case "nextPageToken":
			return d.Decode(&next)
		}
		return d.Skip()
	})
	switch {
	case err != nil:
		return "", err
	case !listed && next == "" && page == 1:
		return "", drift(sourceSKUs, "skus", "a list", "none")
	}
	return next, d.End()
}

// add takes one SKU.
func (c *catalogue) add(s *sku, page int) {
	c.read++
	c.follow(s.ID, page)
	if s.Description == "" {
		c.blindRow(pathDescription, markets(), skipBadRow, s.ID+": no description")
		return
	}
	p := parseDescription(s.Description)
	id, omit := c.identify(p, s.Category.Group)
	if omit != "" {
		c.omits[omit]++
		return
	}
	c.relevant++
	if len(s.Regions) == 0 || len(s.Regions) > maxRegions {
		c.blindRow(pathRegions, []gputide.Market{p.mode.key("", "").Market}, skipBadRow, s.ID+": no regions: "+s.Description)
		return
	}
	r := s.rateOf(id)
	if r.path == "" {
		c.usable++
	} else {
		c.note(r.path)
	}
	for _, region := range s.Regions {
		c.rates.put(id, region, r)
	}
}

// follow notes the page of a SKU. One that comes again on a later page says that
// the list shifted in between: others may have slipped through.
func (c *catalogue) follow(id string, page int) {
	if id == "" {
		return
	}
	switch first := c.ids[id]; first {
	case 0:
		c.ids[id] = page
	case page:
	default:
		c.moved++
	}
}

// identify returns the rate a phrase is of, or why it is none of ours. A card or
// chip that the tables do not know is sold under its own words.
func (c *catalogue) identify(p phrase, group string) (id rateID, omit string) {
	if p.omit != "" {
		return id, p.omit
	}
	if id, known := c.table.identify(p); known {
		return id, ""
	}
	if (group != "GPU" && group != "TPU") || !isAccelerator(p.subject) {
		return id, omitOther
	}
	if c.unknown[p.subject] == nil {
		c.unknown[p.subject] = newAccelerator(p.subject, group)
	}
	return rateID{partAccelerator, p.subject, p.mode}, ""
}

func newAccelerator(words, group string) *accelerator {
	a := &accelerator{rate: words, kind: gputide.DeviceGPU, counts: []uint32{1}}
	if group == "TPU" {
		a.kind = gputide.DeviceASIC
	}
	return a
}

func (c *catalogue) blindRow(path string, markets []gputide.Market, reason, detail string) {
	c.note(path)
	c.blind = append(c.blind, blindRow{markets, reason, detail})
}

func (c *catalogue) note(path string) {
	if c.fault == "" {
		c.fault = path
	}
}

// sound returns what keeps the list as a whole from being believed: nothing in
// it, or a field gone from every SKU that matters.
func (c *catalogue) sound() error {
	switch {
	case c.read == 0:
		return fmt.Errorf("%s: %w: skus", sourceSKUs, gputide.ErrEmpty)
	case c.usable > 0:
		return nil
	case c.fault != "":
		return drift(sourceSKUs, c.fault, "it in some SKU of an accelerator", fmt.Sprintf("none of %d", max(c.relevant, len(c.blind))))
	}
	return drift(sourceSKUs, pathDescription, "SKUs of accelerators", fmt.Sprintf("none of %d", c.read))
}
