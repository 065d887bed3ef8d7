package gcp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/gputide/gputide"
)

// defaultRegion is the region of the tables that show before one is chosen.
const defaultRegion = "us-central1"

// The headings of the columns that tell what a row is of. Class names change
// with each build.
const (
	headType       = "Machine type"
	headGPU        = "GPU"
	headComponents = "Components"
)

// headings are how the columns of prices begin: a cell goes on with a footnote
// mark and the text of a tooltip.
func headings() map[mode]string {
	return map[mode]string{
		onDemand: "Price (USD)",
		flex:     "DWS Flex-start price (USD)",
		calendar: "DWS Calendar Mode price (USD)",
		spot:     "Current Spot pricing (USD)",
		commit1y: "Compute Resource CUDs - 1 Year (USD)",
		commit3y: "Compute Resource CUDs - 3 Year (USD)",
	}
}

const (
	// maxRows bounds the rows of the page: about 25 in each of 45 regions.
	maxRows = 100_000

	maxCells = 64 // of a row
)

// grid is one table of the page, as text.
type grid struct {
	region string
	rows   [][]string // the first is the heading
}

// columns are where a table has what, by heading; -1 is nowhere.
type columns struct {
	instanceType, gpu, components int
	prices                        map[mode]int
	other                         int64 // priced columns of no known heading
}

// pageRun is the reading of one page.
type pageRun struct {
	*run
	seen    map[gputide.Key]string // amount of each offer
	columns map[mode]bool          // found in some table
	rows    int
}

// page reads the prices of all markets from the pricing page: of every region
// from the tables that its scripts hold, and of one from those that show.
func (r *run) page(ctx context.Context) error {
	doc, url, err := r.http.Page(ctx, sourcePage, pageURL)
	if err != nil {
		return err
	}
	shown := shownTables(doc)
	embedded, err := embeddedTables(doc)
	if err != nil {
		return err
	}
	p := &pageRun{run: r, seen: map[gputide.Key]string{}, columns: map[mode]bool{}}
	tables := 0
	for _, g := range slices.Concat(embedded, shown) {
		c, ok := findColumns(g.rows)
		if !ok {
			continue
		}
		tables++
		p.take(&c)
		for _, row := range g.rows[1:] {
			if p.rows++; p.rows > maxRows {
				return drift(sourcePage, "tr", fmt.Sprintf("at most %d rows", maxRows), fmt.Sprint(p.rows))
			}
			p.row(g.region, row, &c)
		}
	}
	switch {
	case tables == 0:
		return drift(sourcePage, fmt.Sprintf("heading %q", headType), "a table with it and prices", fmt.Sprintf("none of %d", len(shown)+len(embedded)))
	case len(p.seen) == 0:
		return fmt.Errorf("%s: %w: tables under %q", sourcePage, gputide.ErrEmpty, headType)
	}
	return p.end(url, len(embedded) > 0)
}

// end closes the scopes. A market whose heading is gone is not read; where the
// embedded tables are gone only the region that shows is. The error is a
// *gputide.PartialError: what failed was reported.
func (p *pageRun) end(url string, everywhere bool) error {
	var failed []error
	for _, m := range markets() {
		if err := p.lostColumn(m); err != nil {
			p.b.Fail(sourcePage, gputide.Scope{Market: m}, err)
			failed = append(failed, err)
			continue
		}
		if everywhere {
			p.b.Done(sourcePage, gputide.Scope{Market: m}, url)
			continue
		}
		err := drift(sourcePage, "AF_initDataCallback", "tables of every region", "none")
		p.b.Fail(sourcePage, gputide.Scope{Market: m}, err)
		p.b.Done(sourcePage, gputide.Scope{Market: m, Region: defaultRegion}, url)
		failed = append(failed, err)
	}
	if len(failed) == 0 {
		return nil
	}
	return &gputide.PartialError{Done: len(markets()) - len(failed), Failed: failed}
}

// lostColumn returns drift when a column of a market is in no table.
func (p *pageRun) lostColumn(m gputide.Market) error {
	for _, mode := range modes() {
		if mode.key("", "").Market == m && !p.columns[mode] {
			return drift(sourcePage, fmt.Sprintf("heading %q", headings()[mode]), "a column", "none in any table")
		}
	}
	return nil
}

// take notes the columns of a table. A priced column of no known heading may be
// one of those the table lacks.
func (p *pageRun) take(c *columns) {
	p.b.Omit(sourcePage, "other_column", c.other)
	for _, mode := range modes() {
		if _, ok := c.prices[mode]; ok {
			p.columns[mode] = true
		} else if c.other > 0 {
			p.b.SkipUnknown(sourcePage, gputide.Scope{Market: mode.key("", "").Market}, "unknown_column", fmt.Sprintf("no %q", headings()[mode]))
		}
	}
}

// findColumns reads a heading. ok is false for a table of something else.
func findColumns(rows [][]string) (c columns, ok bool) {
	c = columns{instanceType: -1, gpu: -1, components: -1, prices: map[mode]int{}}
	if len(rows) == 0 || len(rows[0]) > maxCells {
		return c, false
	}
	for i, head := range rows[0] {
		switch {
		case head == headType:
			c.instanceType = i
		case head == headGPU:
			c.gpu = i
		case head == headComponents:
			c.components = i
		default:
			priced := false
			for mode, want := range headings() {
				if strings.HasPrefix(head, want) {
					c.prices[mode], priced = i, true
				}
			}
			if !priced && strings.Contains(head, "USD") {
				c.other++
			}
		}
	}
	return c, c.instanceType >= 0 && len(c.prices) > 0
}

// typePattern is the form of a machine type.
var typePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$`)

// row takes one row of a table.
func (p *pageRun) row(region string, row []string, c *columns) {
	cell := func(i int) string {
		if i < 0 || i >= len(row) {
			return ""
		}
		return row[i]
	}
	name := cell(c.instanceType)
	isType := typePattern.MatchString(name)
	switch {
	case !isType && !slices.ContainsFunc(row, func(text string) bool { return text != "" && text != name }):
		p.b.Omit(sourcePage, "group_row", 1) // the name of a series over its rows
		return
	case !isType || len(row) > maxCells:
		for _, m := range markets() {
			p.b.SkipUnknown(sourcePage, gputide.Scope{Market: m}, skipBadRow, strings.Join(row, " | "))
		}
		return
	}
	m := p.table.byName[name]
	var spec *gputide.Spec
	if m == nil {
		m = &machine{name: name, onDemand: true}
		spec = pageSpec(name, cell(c.gpu), cell(c.components))
	}
	for _, mode := range modes() {
		if at, ok := c.prices[mode]; ok {
			p.price(m, spec, mode.key(region, name), cell(at))
		}
	}
}

// price takes one cell of a price column.
func (p *pageRun) price(m *machine, spec *gputide.Spec, key gputide.Key, text string) {
	if isNotOffered(text) {
		p.b.Omit(sourcePage, "not_offered", 1)
		return
	}
	amount, ok := hourly(text)
	if !ok {
		p.b.Skip(sourcePage, key, skipNoPrice, text)
		return
	}
	if other, twin := p.seen[key]; twin && other == amount {
		p.b.Omit(sourcePage, "twin", 1) // of the region that shows
		return
	}
	p.seen[key] = amount
	p.b.Add(gputide.RawOffer{
		Source: sourcePage, Key: key, Spec: spec, Flags: p.flags(m, &key),
		Price: gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	})
}

func isNotOffered(text string) bool {
	switch strings.ToLower(text) {
	case "n/a", "—", "–", "-":
		return true
	}
	return false
}

// pricePattern is the form of a price; blanks stand where they should not.
var pricePattern = regexp.MustCompile(`^\$ ?([0-9][0-9,. ]{0,30}?) ?/ ?1 hour$`)

// hourly reads "$42.4000/ 1 hour" and "$2 .0000/ 1 hour"; false for no price.
func hourly(text string) (string, bool) {
	m := pricePattern.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	amount := strings.ReplaceAll(strings.ReplaceAll(m[1], " ", ""), ",", "")
	v, err := gputide.ParseAmount(amount)
	return amount, err == nil && v.Sign() > 0
}

// The figures of the components of a machine: "vCPUs:48", "Memory: 1,871GB".
var (
	gpusPattern    = regexp.MustCompile(`GPUs: ?(\d{1,3})(?: |$)`)
	cpusPattern    = regexp.MustCompile(`vCPUs: ?([\d,.]+)(?: |$)`)
	memoryPattern  = regexp.MustCompile(`Memory: ?([\d,.]+) ?Gi?B(?: |$)`)
	groupedPattern = regexp.MustCompile(`^\d{1,3}(?:,\d{3}){0,2}$|^\d{1,6}$`)
)

// pageSpec returns what the page says of a machine type that the table does not
// have. Its GB of memory are GiB, as they are wherever Compute Engine prints GB.
func pageSpec(name, gpu, components string) *gputide.Spec {
	figure := func(p *regexp.Regexp) *float64 {
		m := p.FindStringSubmatch(components)
		if m == nil || !groupedPattern.MatchString(m[1]) {
			return nil
		}
		return number(strings.ReplaceAll(m[1], ",", ""))
	}
	s := &gputide.Spec{Source: sourcePage, InstanceType: name, VCPU: figure(cpusPattern), MemoryGiB: figure(memoryPattern)}
	s.Device = gputide.Device{Name: gpu, Kind: gputide.DeviceGPU}
	if n := figure(gpusPattern); n != nil {
		s.Device.Count, s.Device.Share = gputide.NewCount(uint32(*n), 1), gputide.ShareWhole
	}
	return s
}

// shownTables returns the tables that show.
func shownTables(doc *goquery.Document) []grid {
	var grids []grid
	for _, t := range doc.Find("table").EachIter() {
		g := grid{region: defaultRegion}
		for _, tr := range t.Find("tr").EachIter() {
			var row []string
			for _, cell := range tr.ChildrenFiltered("th,td").EachIter() {
				row = append(row, cellText(cell))
			}
			g.rows = append(g.rows, row)
		}
		grids = append(grids, g)
	}
	return grids
}

// cellText returns the text of a cell, a blank between its paragraphs.
func cellText(cell *goquery.Selection) string {
	cell.Find("p,br,div,sup,h2").Each(func(_ int, s *goquery.Selection) { s.AfterHtml(" ") })
	return strings.Join(strings.Fields(cell.Text()), " ")
}
