package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The layout of an SVG chart, in pixels.
const (
	svgWidth      = 960
	svgHeight     = 420
	svgLeft       = 80
	svgRight      = 24
	svgTop        = 48
	svgBottom     = 40
	svgLegendLine = 18
	svgTicks      = 5
)

// svgPalette are colours that stay apart for people who see few.
func svgPalette() []string {
	return []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999"}
}

// checkChart refuses a chart that could not be written.
func checkChart(path string) error {
	if path != "" && !strings.EqualFold(filepath.Ext(path), ".svg") {
		return usagef("--chart %q: the name must end in .svg", clip(path))
	}
	return nil
}

// writeChart writes a figure to a file.
func writeChart(path string, f figure) error {
	if err := os.WriteFile(path, svgChart(f), 0o644); err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	return nil
}

// svgScale places values on the drawing.
type svgScale struct {
	from, to  time.Time
	low, high float64
}

func (s *svgScale) x(t time.Time) float64 {
	span := s.to.Sub(s.from)
	if span <= 0 {
		return svgLeft
	}
	return svgLeft + (svgWidth-svgLeft-svgRight)*float64(t.Sub(s.from))/float64(span)
}

func (s *svgScale) y(v float64) float64 {
	return svgTop + (svgHeight-svgTop-svgBottom)*(1-(v-s.low)/(s.high-s.low))
}

// svgChart draws a figure. A price holds until the next point, so lines are
// steps.
func svgChart(f figure) []byte {
	lines := make([]figureLine, 0, len(f.lines))
	for _, l := range f.lines {
		if len(l.points) > 0 {
			lines = append(lines, l)
		}
	}
	height := svgHeight + svgLegendLine*len(lines)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		svgWidth, height, svgWidth, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", svgWidth, height)
	svgText(&b, svgLeft, 26, "start", 15, f.title)
	if len(lines) > 0 {
		s := newScale(lines)
		s.axes(&b)
		for i, l := range lines {
			colour := svgPalette()[i%len(svgPalette())]
			s.line(&b, l, colour)
			y := svgHeight + svgLegendLine*i
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="14" height="4" fill="%s"/>`+"\n", svgLeft, y+2, colour)
			svgText(&b, svgLeft+22, float64(y+8), "start", 12, l.name)
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func newScale(lines []figureLine) *svgScale {
	s := &svgScale{low: math.Inf(1), high: math.Inf(-1)}
	s.from, s.to = extent(lines)
	for _, l := range lines {
		for _, p := range l.points {
			s.low, s.high = min(s.low, p.y), max(s.high, p.y)
		}
	}
	pad := (s.high - s.low) / 20
	if pad == 0 {
		pad = max(math.Abs(s.high)/20, 1e-6)
	}
	s.low, s.high = s.low-pad, s.high+pad
	return s
}

func (s *svgScale) axes(b *bytes.Buffer) {
	for i := range svgTicks {
		v := s.low + (s.high-s.low)*float64(i)/(svgTicks-1)
		y := s.y(v)
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#dddddd"/>`+"\n", svgLeft, y, svgWidth-svgRight, y)
		svgText(b, svgLeft-8, y+4, "end", 12, axisText(v))
		t := s.from.Add(time.Duration(float64(s.to.Sub(s.from)) * float64(i) / (svgTicks - 1)))
		anchor := "middle"
		switch i {
		case 0:
			anchor = "start"
		case svgTicks - 1:
			anchor = "end"
		}
		svgText(b, s.x(t), svgHeight-svgBottom+20, anchor, 12, s.moment(t))
		if !s.from.Before(s.to) {
			return
		}
	}
}

// moment words a tick of the time axis.
func (s *svgScale) moment(t time.Time) string {
	const day = 24 * time.Hour
	if s.to.Sub(s.from) < 4*day {
		return t.UTC().Format("2006-01-02 15:04")
	}
	return t.UTC().Format(time.DateOnly)
}

func (s *svgScale) line(b *bytes.Buffer, l figureLine, colour string) {
	if len(l.points) == 1 {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", s.x(l.points[0].at), s.y(l.points[0].y), colour)
		return
	}
	fmt.Fprintf(b, `<path fill="none" stroke="%s" stroke-width="2" d="`, colour)
	for i, p := range l.points {
		if i == 0 {
			fmt.Fprintf(b, "M%.1f %.1f", s.x(p.at), s.y(p.y))
			continue
		}
		fmt.Fprintf(b, "H%.1fV%.1f", s.x(p.at), s.y(p.y))
	}
	b.WriteString(`"/>` + "\n")
}

// svgText writes one line of text, escaped.
func svgText(b *bytes.Buffer, x, y float64, anchor string, size int, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d">`, x, y, anchor, size)
	_ = xml.EscapeText(b, []byte(clean(s))) // a buffer takes every write
	b.WriteString("</text>\n")
}
