package aws

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws/pricelist"
)

// sourceBlockPage is the source of the published capacity block rates.
const sourceBlockPage = "block-page"

const (
	blockPageHost = "aws.amazon.com"
	blockPageURL  = "https://" + blockPageHost + "/ec2/capacityblocks/pricing/"
)

// partRates is the part of the capacity blocks that is published without dates:
// one rate per type and region, whatever the length.
const partRates = "rates"

// blockPage is the source, for Info.
func blockPage() gputide.Source {
	return gputide.Source{
		ID: sourceBlockPage, Title: "Capacity block rates page", URL: blockPageURL, Doc: blockPageURL,
		Hosts: []string{blockPageHost}, Auth: gputide.AuthNone, Prices: true, Page: true, MaxBytes: 16 << 20,
	}
}

// The headings of the columns a rate is read from.
const (
	blockType    = "Instance Type"
	blockRegion  = "Region"
	blockRate    = "Effective Instance Hourly Rate"
	blockPerCard = "Effective Accelerator Hourly Rate"
	blockCards   = "GPU"
	blockVCPU    = "vCPU"
	blockMemory  = "Instance Memory"
	blockCardMem = "Accelerator Memory"
	blockNetwork = "Network Performance"
)

// blockRow is one row of a table by heading.
type blockRow map[string]string

// maxBlockRows bounds the rows of all tables, and maxSpan how many rows or
// columns a cell may fill.
const (
	maxBlockRows = 5000
	maxSpan      = 200
)

// blockRates reads the rates of the page and reports the regions it names.
func (r *run) blockRates(ctx context.Context) {
	doc, url, err := r.http.Page(ctx, sourceBlockPage, blockPageURL)
	if errors.Is(err, gputide.ErrNotInFixture) {
		r.b.Source(sourceBlockPage, gputide.SourceSkipped, err)
		return
	}
	whole := gputide.Scope{Market: gputide.CapacityBlock, Part: partRates}
	var rows []blockRow
	if err == nil {
		rows, err = blockTables(doc)
	}
	if err != nil {
		r.fail(sourceBlockPage, err, whole)
		return
	}
	regions, err := r.regionsByName()
	if err != nil {
		r.fail(sourceBlockPage, err, whole)
		return
	}
	read := map[gputide.Scope]bool{}
	for _, row := range rows {
		region := regions[row[blockRegion]]
		scope := gputide.Scope{Partition: partitionOf(region), Region: region, Market: gputide.CapacityBlock, Part: partRates}
		switch {
		case region == "":
			r.b.SkipUnknown(sourceBlockPage, whole, pricelist.SkipBadRow, fmt.Sprintf("%s is %.60q", blockRegion, row[blockRegion]))
			continue
		case len(r.cfg.Regions) > 0 && !slices.Contains(r.cfg.Regions, region):
			r.b.Omit(sourceBlockPage, "other_partition_or_not_asked", 1)
			continue
		}
		read[scope] = true
		r.blockRate(scope, row)
	}
	for scope := range read {
		r.b.Done(sourceBlockPage, scope, url)
	}
	r.count(nil)
}

// regionsByName returns region codes by the long names of pages and lists.
func (*run) regionsByName() (map[string]string, error) {
	all, err := pricelist.Locations()
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, 2*len(all))
	for _, l := range all {
		out[l.Name] = l.Region
		if l.Other != "" {
			out[l.Other] = l.Region
		}
	}
	return out, nil
}

// blockRate takes the rate of a row. The list has the twin of a block at 0 under
// Linux and shared tenancy: that is what the rate includes.
func (r *run) blockRate(scope gputide.Scope, row blockRow) {
	family, size, ok := strings.Cut(row[blockType], ".")
	if !ok || family == "" || size == "" || strings.ContainsAny(row[blockType], " \t") {
		r.b.SkipUnknown(sourceBlockPage, scope, pricelist.SkipBadRow, fmt.Sprintf("%s is %.60q", blockType, row[blockType]))
		return
	}
	cards, _, _ := strings.Cut(row[blockCards], " ")
	spec := specOf(&pricelist.Type{
		Name: row[blockType], VCPU: row[blockVCPU], Memory: row[blockMemory], GPU: cards, GPUMemory: row[blockCardMem], Network: row[blockNetwork],
		Metal: strings.Contains(row[blockType], ".metal"),
	}, r.families)
	spec.Source, spec.Partition, spec.Provider = sourceBlockPage, scope.Partition, "aws"
	key := gputide.Key{
		Partition: scope.Partition, Region: scope.Region, InstanceType: row[blockType], Market: gputide.CapacityBlock,
		Payment: gputide.PaymentAll, OS: "linux", Tenancy: "shared", Stat: gputide.StatList, Currency: "USD",
	}
	rate, ok := dollars(row[blockRate])
	if !ok {
		r.b.SkipPart(sourceBlockPage, key, partRates, pricelist.SkipNoPrice, fmt.Sprintf("%.40q", row[blockRate]))
		return
	}
	if card, ok := dollars(row[blockPerCard]); !ok || !agree(rate, card, spec.Device.Count) {
		r.b.SkipPart(sourceBlockPage, key, partRates, pricelist.SkipBadRow,
			fmt.Sprintf("%.40q an instance and %.40q for one of %.40q", row[blockRate], row[blockPerCard], row[blockCards]))
		return
	}
	r.b.Add(gputide.RawOffer{
		Source: sourceBlockPage, Key: key, Part: partRates, Spec: spec,
		Price: gputide.Published{Amount: rate, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	})
}

// dollars reads "$39.33 USD" as its amount. ok is false for what is no price in
// USD.
func dollars(s string) (amount string, ok bool) {
	s, ok = strings.CutPrefix(s, "$")
	if !ok {
		return "", false
	}
	s, ok = strings.CutSuffix(s, " USD")
	if !ok {
		return "", false
	}
	s = strings.ReplaceAll(s, ",", "")
	return s, positive(s)
}

// agree reports whether the rate of an instance is that of one card times their
// number, up to the rounding of the latter.
func agree(instance, card string, count gputide.Count) bool {
	a, errA := gputide.ParseAmount(instance)
	b, errB := gputide.ParseAmount(card)
	if errA != nil || errB != nil || !count.Known() {
		return false
	}
	_, decimals, _ := strings.Cut(card, ".")
	unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(decimals))), nil))
	each := new(big.Rat).Mul(a, big.NewRat(int64(count.Den), int64(count.Num)))
	off := each.Sub(each, b)
	return off.Abs(off).Add(off, off).Cmp(unit) <= 0
}

// blockTables returns the rows of every table with the headings of the rates.
func blockTables(doc *goquery.Document) ([]blockRow, error) {
	var rows []blockRow
	found := false
	for _, table := range doc.Find("table").EachIter() {
		if table.Find("table").Length() > 0 {
			continue // laid out with tables; the inner one is read
		}
		grid, err := tableGrid(table)
		if err != nil {
			return nil, err
		}
		if len(grid) == 0 || !slices.Contains(grid[0], blockRate) {
			continue
		}
		found = true
		for _, name := range []string{blockType, blockRegion, blockRate, blockPerCard, blockCards} {
			if !slices.Contains(grid[0], name) {
				return nil, drift(sourceBlockPage, "table", "a column "+name, strings.Join(grid[0], ", "))
			}
		}
		for _, cells := range grid[1:] {
			row := blockRow{}
			for i, name := range grid[0] {
				if i < len(cells) {
					row[name] = cells[i]
				}
			}
			rows = append(rows, row)
		}
		if len(rows) > maxBlockRows {
			return nil, drift(sourceBlockPage, "table", fmt.Sprintf("at most %d rows", maxBlockRows), "more")
		}
	}
	switch {
	case !found:
		return nil, drift(sourceBlockPage, "table", "a table with the column "+blockRate, "none")
	case len(rows) == 0:
		return nil, fmt.Errorf("%s: %w", sourceBlockPage, gputide.ErrEmpty)
	}
	return rows, nil
}

// tableGrid returns the texts of a table by row and column. A cell that fills
// several rows or columns stands in each.
func tableGrid(table *goquery.Selection) ([][]string, error) {
	var grid [][]string
	above := map[int]*filling{} // by column
	for _, tr := range table.Find("tr").EachIter() {
		var row []string
		for _, cell := range tr.Find("th,td").EachIter() {
			row = carry(row, above, false)
			text := strings.Join(strings.Fields(cell.Text()), " ")
			height, okH := spanOf(cell, "rowspan")
			width, okW := spanOf(cell, "colspan")
			if !okH || !okW || len(row)+width > maxSpan {
				return nil, drift(sourceBlockPage, "table", fmt.Sprintf("spans of 1 to %d", maxSpan), text)
			}
			for range width {
				above[len(row)] = &filling{text, height - 1}
				row = append(row, text)
			}
		}
		grid = append(grid, carry(row, above, true))
	}
	return grid, nil
}

// filling is a cell that fills rows further down.
type filling struct {
	text string
	rows int
}

// carry appends the cells from above that stand next in a row; to its end, those
// that stand behind a gap too.
func carry(row []string, above map[int]*filling, toEnd bool) []string {
	last := len(row)
	for column, f := range above {
		if toEnd && f.rows > 0 {
			last = max(last, column+1)
		}
	}
	for {
		f := above[len(row)]
		switch {
		case f != nil && f.rows > 0:
			f.rows--
			row = append(row, f.text)
		case len(row) < last:
			row = append(row, "")
		default:
			return row
		}
	}
}

// spanOf reads how many rows or columns a cell fills.
func spanOf(cell *goquery.Selection, name string) (n int, ok bool) {
	s, given := cell.Attr(name)
	if !given {
		return 1, true
	}
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil && n >= 1 && n <= maxSpan
}
