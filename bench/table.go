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

// row is one line of a table: a cell for each column after the first.
type row struct {
	what  string
	cells []string
}

// aim is what a row must reach: our value at most limit times the smallest of
// the named peers, or at most limit itself when none is named.
type aim struct {
	text    string
	against []int
	limit   float64
}

// cell says what was aimed at and whether the values reach it.
func (a aim) cell(values []float64) string {
	if a.text == "" {
		return "–"
	}
	limit := a.limit
	for i, peer := range a.against {
		if v := values[peer] * a.limit; i == 0 || v < limit {
			limit = v
		}
	}
	if values[0] <= limit {
		return a.text + ": met"
	}
	return a.text + ": **missed**"
}

// versus makes a row of values, ours first: every other cell carries ours ÷
// theirs. print writes a value.
func versus(what string, values []float64, print func(peer int) string, a aim) row {
	r := row{what: what}
	for i := range values {
		cell := print(i)
		if i > 0 {
			cell += fmt.Sprintf(" (%s×)", ratio(values[0]/values[i]))
		}
		r.cells = append(r.cells, cell)
	}
	r.cells = append(r.cells, a.cell(values))
	return r
}

// ratio writes a ratio with two figures that count.
func ratio(v float64) string {
	switch {
	case v < 0.001:
		return fmt.Sprintf("%.1e", v)
	case v < 0.1:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// timed makes a row of durations.
func timed(what string, samples []sample, a aim) row {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = s.median().Seconds()
	}
	return versus(what, values, func(i int) string { return duration(samples[i]) }, a)
}

// own makes a row of gputide alone, in a table of as many peers.
func own(what, cell string, value float64, peers int, a aim) row {
	r := row{what: what, cells: []string{cell}}
	for range peers - 1 {
		r.cells = append(r.cells, "–")
	}
	r.cells = append(r.cells, a.cell([]float64{value}))
	return r
}

func duration(s sample) string {
	ms := float64(s.median()) / float64(time.Millisecond)
	digits := 1
	if ms < 10 {
		digits = 3
	}
	return fmt.Sprintf("%.*f ms ± %.0f %%", digits, ms, s.spread()/2)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}

func printTable(w io.Writer, title string, heads []string, rows []row) {
	fmt.Fprintf(w, "\n%s\n\n| | %s |\n|%s\n", title, strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)+1))
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s |\n", r.what, strings.Join(r.cells, " | "))
	}
}
