package lambda

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/gputide/gputide"
)

// heading is over the on-demand prices. What stands under other headings is not
// read: 1-Click Clusters are committed and priced for other terms.
const heading = "Instances pricing"

// The labels of the cells a row is read from. Class names change with each
// build; the label of the price says what it is for.
const (
	labelPlan  = "Plan"
	labelVRAM  = "VRAM/GPU"
	labelVCPUs = "vCPUs"
	labelRAM   = "RAM"
	labelDisk  = "STORAGE"
	labelPrice = "PRICE/GPU/HR*"
)

// maxRows bounds the rows of the section: it has had 22.
const maxRows = 1000

// pageRow is one row of a table.
type pageRow struct {
	count int    // of the tab
	plan  string // of the row; that of its cell is the same
	cells cells
}

// cells are the texts of a row by label; empty is missing.
type cells struct{ plan, vram, vcpus, ram, disk, price string }

// page reads the prices from the pricing page.
func (r *run) page(ctx context.Context) error {
	doc, url, err := r.http.Page(ctx, sourcePage, pageURL)
	if err != nil {
		return err
	}
	rows, err := readSections(doc)
	if err != nil {
		return err
	}
	// Other sections, and copies for narrow screens.
	r.b.Omit(sourcePage, "outside_tabs", int64(max(0, doc.Find("tr[data-plan]").Length()-len(rows))))
	seen := make(map[pageRow]bool, len(rows))
	for i := range rows {
		if seen[rows[i]] { // a copy inside its panel
			r.b.Omit(sourcePage, "twin", 1)
			continue
		}
		seen[rows[i]] = true
		rows[i].add(r.b, r.table)
	}
	r.b.Done(sourcePage, scope(), url)
	return nil
}

// readSections returns the rows of every section under the heading. Anything
// that is not as it was is drift: a table read wrongly would give prices to the
// wrong offers. Only elements count; the tables are repeated as text inside
// scripts.
func readSections(doc *goquery.Document) ([]pageRow, error) {
	heads := doc.Find("h1,h2,h3,h4").FilterFunction(func(_ int, h *goquery.Selection) bool { return isHeading(h) })
	if heads.Length() == 0 {
		return nil, pageDrift("", "the heading", "none")
	}
	var rows []pageRow
	var sections []*goquery.Selection
	for _, h := range heads.EachIter() {
		s, err := section(h)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(sections, func(t *goquery.Selection) bool { return t.IsSelection(s) }) {
			continue
		}
		sections = append(sections, s)
		found, err := readTabs(doc, s)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	switch {
	case len(rows) == 0:
		return nil, fmt.Errorf("%s: %w: %q", sourcePage, gputide.ErrEmpty, heading)
	case len(rows) > maxRows:
		return nil, pageDrift("tr", fmt.Sprintf("at most %d rows", maxRows), strconv.Itoa(len(rows)))
	}
	return rows, lostCells(rows)
}

func isHeading(h *goquery.Selection) bool { return text(h) == heading }

// section returns the smallest element around a heading that holds tabs, and
// drift where it holds another heading: its tabs may belong to that one.
func section(h *goquery.Selection) (*goquery.Selection, error) {
	for s := h.Parent(); s.Length() > 0; s = s.Parent() {
		other := s.Find("h1,h2").FilterFunction(func(_ int, h *goquery.Selection) bool { return !isHeading(h) })
		if other.Length() > 0 {
			return nil, pageDrift("[role=tab]", "tabs before the next heading", text(other.First()))
		}
		if s.Find("[role=tab]").Length() > 0 {
			return s, nil
		}
	}
	return nil, pageDrift("[role=tab]", "tabs", "none")
}

// tabPattern is the text of a tab: the number of cards of its rows.
var tabPattern = regexp.MustCompile(`^(\d{1,3})x$`)

// readTabs returns the rows of the panel of each tab, hidden ones included.
func readTabs(doc *goquery.Document, s *goquery.Selection) ([]pageRow, error) {
	var rows []pageRow
	panels := make(map[string]bool) // by id
	empty := ""                     // the label of a tab without rows
	for _, tab := range s.Find("[role=tab]").EachIter() {
		label := text(tab)
		m := tabPattern.FindStringSubmatch(label)
		if m == nil {
			return nil, pageDrift("[role=tab]", "a number of cards, as in 8x", label)
		}
		count, _ := strconv.Atoi(m[1]) // digits, by the pattern
		if count < 1 || count > maxCount {
			return nil, pageDrift("[role=tab]", fmt.Sprintf("1x to %dx", maxCount), label)
		}
		id := tab.AttrOr("aria-controls", "")
		panel := s.Find("[role=tabpanel]").FilterFunction(func(_ int, p *goquery.Selection) bool { return p.AttrOr("id", "") == id })
		if id == "" || panels[id] || panel.Length() != 1 {
			return nil, pageDrift("[role=tab] "+label, "one panel of its own", fmt.Sprintf("%d called %q", panel.Length(), id))
		}
		found := readPanel(panel, count)
		panels[id] = true
		rows = append(rows, found...)
		if len(found) == 0 {
			empty = label
		}
	}
	if n := s.Find("[role=tabpanel]").Length(); n != len(panels) {
		return nil, pageDrift("[role=tabpanel]", fmt.Sprintf("one for each of %d tabs", len(panels)), strconv.Itoa(n))
	}
	if len(rows) > 0 && empty != "" {
		return nil, pageDrift("[role=tab] "+empty, "rows", "none")
	}
	return rows, nil
}

// readPanel returns the rows with labelled cells.
func readPanel(panel *goquery.Selection, count int) []pageRow {
	var rows []pageRow
	for _, tr := range panel.Find("tr").EachIter() {
		labelled := tr.Find("[data-label]")
		plan, planned := tr.Attr("data-plan")
		if labelled.Length() == 0 && !planned {
			continue // the head of the table
		}
		row := pageRow{count: count, plan: strings.TrimSpace(plan)}
		for _, cell := range labelled.EachIter() {
			if at := row.cells.at(cell.AttrOr("data-label", "")); at != nil {
				*at = text(cell)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// at returns where the text of a label is kept; nil for other labels.
func (c *cells) at(label string) *string {
	switch label {
	case labelPlan:
		return &c.plan
	case labelVRAM:
		return &c.vram
	case labelVCPUs:
		return &c.vcpus
	case labelRAM:
		return &c.ram
	case labelDisk:
		return &c.disk
	case labelPrice:
		return &c.price
	}
	return nil
}

// lostCells returns drift when what identifies or prices an offer is in no row.
func lostCells(rows []pageRow) error {
	for _, f := range []struct {
		name string
		of   func(*pageRow) string
	}{
		{"tr[data-plan]", func(r *pageRow) string { return r.plan }},
		{"[data-label=" + labelPlan + "]", func(r *pageRow) string { return r.cells.plan }},
		{"[data-label=" + labelVRAM + "]", func(r *pageRow) string { return r.cells.vram }},
		{"[data-label=" + labelPrice + "]", func(r *pageRow) string { return r.cells.price }},
	} {
		if !slices.ContainsFunc(rows, func(r pageRow) bool { return f.of(&r) != "" }) {
			return pageDrift(f.name, "it in some row", fmt.Sprintf("none of %d rows", len(rows)))
		}
	}
	return nil
}

// add adds the offer of one row.
func (row *pageRow) add(b *gputide.Batch, table *names) {
	c := &row.cells
	vram, ok := parseSize(c.vram)
	if row.plan == "" || row.plan != c.plan || !ok || vram.unit != "GB" {
		b.SkipUnknown(sourcePage, scope(), "bad_row", fmt.Sprintf("%dx %q %q %q", row.count, row.plan, c.plan, c.vram))
		return
	}
	key := newKey(table.instanceType(words{row.plan, c.vram, row.count}))
	if isNotOffered(c.price) {
		b.Omit(sourcePage, "not_offered", 1)
		return
	}
	amount, isUSD := strings.CutPrefix(c.price, "$")
	if v, err := gputide.ParseAmount(amount); !isUSD || err != nil || v.Sign() <= 0 {
		b.Skip(sourcePage, key, "no_price", c.price)
		return
	}
	b.Add(gputide.RawOffer{
		Source: sourcePage, Key: key, Spec: row.spec(key.InstanceType, vram),
		Price: gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisAccelerator},
	})
}

// isNotOffered reports whether the page says that there is no price.
func isNotOffered(price string) bool {
	switch strings.ToLower(price) {
	case "—", "–", "-", "n/a", "contact sales", "contact us":
		return true
	}
	return false
}

// spec returns what a row says of its type: vCPUs, memory and disk are those of
// the whole instance.
func (row *pageRow) spec(instanceType string, vram size) *gputide.Spec {
	s := newSpec(sourcePage, instanceType, gputide.Device{
		Name: row.plan, Count: gputide.NewCount(uint32(row.count), 1), MemoryGB: &vram.amount,
	})
	if n, err := strconv.ParseUint(row.cells.vcpus, 10, 16); err == nil && n > 0 {
		s.VCPU = new(float64(n))
	}
	if ram, ok := parseSize(row.cells.ram); ok {
		s.MemoryGiB = ram.gib()
	}
	if disk, ok := parseSize(row.cells.disk); ok && disk.gib() != nil {
		setDisk(s, *disk.gib(), disk.kind)
	}
	return s
}

// text returns the text of an element with its blanks collapsed.
func text(s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") }

// pageDrift names the heading whose section changed.
func pageDrift(where, want, got string) error {
	path := fmt.Sprintf("heading %q", heading)
	if where != "" {
		path += " " + where
	}
	return drift(sourcePage, path, want, got)
}
