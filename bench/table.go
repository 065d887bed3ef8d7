package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// sample holds the rounds of one measurement of one peer.
type sample []time.Duration

func (s sample) median() time.Duration {
	d := slices.Sorted(slices.Values(s))
	return d[len(d)/2]
}

// spread returns the distance from fastest to slowest in percent of the median.
func (s sample) spread() float64 {
	return 100 * float64(slices.Max(s)-slices.Min(s)) / float64(s.median())
}

// row is one line of a table: cells per peer, and the ratio of ours to theirs.
type row struct {
	what  string
	cells []string
	ratio string
}

func timed(what string, ours, theirs sample) row {
	return row{
		what:  what,
		cells: []string{duration(ours), duration(theirs)},
		ratio: fmt.Sprintf("%.2f×", float64(ours.median())/float64(theirs.median())),
	}
}

func duration(s sample) string {
	return fmt.Sprintf("%.3f ms ± %.0f %%", float64(s.median())/float64(time.Millisecond), s.spread()/2)
}

func printTable(w io.Writer, title string, heads []string, rows []row) {
	fmt.Fprintf(w, "\n%s\n\n| | %s | ratio |\n|%s\n", title, strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)+2))
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s | %s |\n", r.what, strings.Join(r.cells, " | "), r.ratio)
	}
}
