package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// figure is a chart: lines over time.
type figure struct {
	title  string
	bucket string
	lines  []figureLine
}

// figureLine is one line of a chart, its points in order of time.
type figureLine struct {
	name   string
	points []point
}

type point struct {
	at time.Time
	y  float64
}

// units is a price for drawing.
func units(m query.Money) float64 { return gputide.Nano(m).Units() }

// The size of a chart on a terminal.
const (
	chartHeight     = 10
	chartWidth      = 80 // where the output is no terminal
	mostChartLines  = 6  // in one chart
	mostCharts      = 3  // below each other, where lines cannot be told apart by colour
	leastChartWidth = 24
)

// drawn returns at most n lines that can be drawn, and how many more there are.
func (f *figure) drawn(n int) (lines []figureLine, more int) {
	for _, l := range f.lines {
		if len(l.points) < 2 {
			continue
		}
		if len(lines) == n {
			more++
			continue
		}
		lines = append(lines, l)
	}
	return lines, more
}

// drawFigure draws a chart in characters. With colours the lines share one
// chart, without each has its own: they could not be told apart.
func (m *Main) drawFigure(w io.Writer, f figure) error {
	most := mostCharts
	if m.colour() {
		most = mostChartLines
	}
	lines, more := f.drawn(most)
	if len(lines) == 0 {
		return nil
	}
	width := m.screenWidth()
	if width == 0 {
		width = chartWidth
	}
	if m.colour() {
		if err := drawLines(w, f.title, width, lines, true); err != nil {
			return err
		}
	} else {
		for i := range lines {
			if err := drawLines(w, f.title+": "+lines[i].name, width, lines[i:i+1], false); err != nil {
				return err
			}
		}
	}
	if more > 0 {
		fmt.Fprintf(m.Stderr, "%d more lines are not drawn; narrow the filters, or use --chart FILE.svg\n", more)
	}
	return nil
}

func drawLines(w io.Writer, title string, width int, lines []figureLine, colour bool) error {
	from, to := extent(lines)
	gutter := labelWidth(lines) + 3
	inner := width - gutter
	if inner < leastChartWidth {
		return nil // no room for a line anybody could read
	}
	data := make([][]float64, len(lines))
	names := make([]string, len(lines))
	for i := range lines {
		data[i], names[i] = resample(lines[i].points, from, to, inner), clean(lines[i].name)
	}
	options := []asciigraph.Option{asciigraph.Height(chartHeight), asciigraph.YAxisValueFormatter(axisText)}
	if colour {
		palette := []asciigraph.AnsiColor{asciigraph.Blue, asciigraph.Red, asciigraph.Green, asciigraph.Yellow, asciigraph.Magenta, asciigraph.Cyan}
		options = append(options, asciigraph.SeriesColors(palette[:len(lines)]...))
		if len(lines) > 1 {
			options = append(options, asciigraph.SeriesLegends(names...))
		} else {
			title += ": " + names[0]
		}
	}
	start, end := from.Format(time.DateOnly), to.Format(time.DateOnly)
	gap := max(1, inner-len(start)-len(end))
	_, err := fmt.Fprintf(w, "\n%s\n%s\n%s%s%s%s\n", fitText(clean(title), width), asciigraph.PlotMany(data, options...),
		strings.Repeat(" ", gutter), start, strings.Repeat(" ", gap), end)
	return err
}

// axisText words a value of the price axis.
func axisText(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1000:
		return fmt.Sprintf("%.0f", v)
	case size >= 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4f", v)
}

func labelWidth(lines []figureLine) int {
	widest := 0
	for _, l := range lines {
		for _, p := range l.points {
			widest = max(widest, len(axisText(p.y)))
		}
	}
	return widest
}

// fitText shortens a title to a width.
func fitText(s string, width int) string {
	r := []rune(s)
	if width > 0 && len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}

func extent(lines []figureLine) (from, to time.Time) {
	for i, l := range lines {
		first, last := l.points[0].at, l.points[len(l.points)-1].at
		if i == 0 || first.Before(from) {
			from = first
		}
		if i == 0 || last.After(to) {
			to = last
		}
	}
	return from, to
}

// resample returns the value in force at each of n instants from from to to, no
// number before the first point and after the last.
func resample(points []point, from, to time.Time, n int) []float64 {
	out := make([]float64, n)
	last := points[len(points)-1].at
	for i := range out {
		at := from.Add(time.Duration(float64(to.Sub(from)) * float64(i) / float64(n-1)))
		next, found := slices.BinarySearchFunc(points, at, func(p point, t time.Time) int { return p.at.Compare(t) })
		if !found {
			next--
		}
		if next < 0 || at.After(last) {
			out[i] = math.NaN()
			continue
		}
		out[i] = points[next].y
	}
	return out
}
