package gcp

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"github.com/gputide/gputide/crawler/fetch"
)

// The page hands the tables of all regions to its scripts: calls of
// AF_initDataCallback whose data holds, at a depth that changes, blocks of
// [heading, rows, "City (region-code)"]. A cell is an array with its visible
// text at [3][1][1]. Known from a description; the reader takes nothing else
// for granted.
const (
	callback = "AF_initDataCallback("
	dataMark = "data:"

	maxTables = 10_000
	maxDepth  = 64
)

// placePattern ends a block: "Iowa (us-central1)".
var placePattern = regexp.MustCompile(`^[^()]{1,60} \(([a-z]+-[a-z]+[0-9]{1,2})\)$`)

// embeddedTables returns the tables inside the scripts.
func embeddedTables(doc *goquery.Document) ([]grid, error) {
	var grids []grid
	for _, script := range doc.Find("script").EachIter() {
		text := script.Text()
		for {
			_, rest, ok := strings.Cut(text, callback)
			if !ok {
				break
			}
			text = rest
			_, data, ok := strings.Cut(rest, dataMark)
			if data = strings.TrimSpace(data); !ok || !strings.HasPrefix(data, "[") {
				continue
			}
			var value any
			d := fetch.NewDecoder(sourcePage, strings.NewReader(data))
			if err := d.Decode(&value); err != nil {
				return nil, fmt.Errorf("embedded data: %w", err)
			}
			if grids = collect(grids, value, 0); len(grids) > maxTables {
				return nil, drift(sourcePage, callback, fmt.Sprintf("at most %d tables", maxTables), "more")
			}
		}
	}
	return grids, nil
}

// collect adds the blocks inside v.
func collect(grids []grid, v any, depth int) []grid {
	list, ok := v.([]any)
	if !ok || depth > maxDepth {
		return grids
	}
	if g, ok := block(list); ok {
		return append(grids, g)
	}
	for _, inner := range list {
		grids = collect(grids, inner, depth+1)
	}
	return grids
}

// block reads one table of a region; ok is false for any other list.
func block(list []any) (g grid, ok bool) {
	if len(list) < 3 {
		return g, false
	}
	place, isText := list[2].(string)
	m := placePattern.FindStringSubmatch(place)
	head, isHead := list[0].([]any)
	rows, isRows := list[1].([]any)
	if !isText || m == nil || !isHead || !isRows {
		return g, false
	}
	g.region = m[1]
	g.rows = append(g.rows, texts(head))
	for _, r := range rows {
		row, _ := r.([]any)
		g.rows = append(g.rows, texts(row))
	}
	return g, true
}

// texts returns the visible text of the cells of a row.
func texts(cells []any) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = visible(c)
	}
	return out
}

// visible returns the text at [3][1][1] of a cell, without its mark-up.
func visible(cell any) string {
	for _, i := range []int{3, 1, 1} {
		list, ok := cell.([]any)
		if !ok || i >= len(list) {
			return ""
		}
		cell = list[i]
	}
	text, ok := cell.(string)
	if !ok {
		return ""
	}
	if strings.ContainsAny(text, "<&") {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(text))
		if err != nil {
			return ""
		}
		return cellText(doc.Selection)
	}
	return strings.Join(strings.Fields(text), " ")
}
