package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func day(n int) time.Time { return time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n) }

func twoLines() figure {
	return figure{title: "price <of> one \"gpu\" & hour", lines: []figureLine{
		{name: "a <script>alert(1)</script>", points: []point{{day(0), 1}, {day(5), 2}, {day(9), 1.5}}},
		{name: "b\x1b[31m", points: []point{{day(3), 4}, {day(4), 4}}},
		{name: "one point", points: []point{{day(2), 3}}},
		{name: "none"},
	}}
}

func TestSVGIsWellFormedAndEscaped(t *testing.T) {
	for name, f := range map[string]figure{
		"two lines": twoLines(), "empty": {title: "x"},
		"flat": {lines: []figureLine{{points: []point{{day(0), 0}, {day(1), 0}}}}},
		"dot":  {lines: []figureLine{{points: []point{{day(0), 7}}}}},
	} {
		out := svgChart(f)
		var texts []string
		dec := xml.NewDecoder(bytes.NewReader(out))
		for {
			tok, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
			switch tok := tok.(type) {
			case xml.CharData:
				texts = append(texts, string(tok))
			case xml.StartElement:
				if tok.Name.Local == "script" {
					t.Errorf("%s: a name became an element", name)
				}
			}
		}
		if s := string(out); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.Contains(s, "\x1b") {
			t.Errorf("%s:\n%s", name, s)
		}
		if name == "two lines" && !strings.Contains(strings.Join(texts, "|"), "a <script>alert(1)</script>") {
			t.Errorf("the legend lost its text: %q", texts)
		}
	}
}

func TestChartFitsTheTerminal(t *testing.T) {
	for _, width := range []string{"20", "40", "72", "200"} {
		c := testMain(t)
		c.env["COLUMNS"] = width
		if err := c.drawFigure(&c.out, twoLines()); err != nil {
			t.Fatal(err)
		}
		limit := map[string]int{"20": 20, "40": 40, "72": 72, "200": 200}[width]
		for l := range strings.SplitSeq(c.out.String(), "\n") {
			if n := utf8.RuneCountInString(l); n > limit {
				t.Errorf("%s columns: a line of %d: %q", width, n, l)
			}
		}
		if drawn := strings.Contains(c.out.String(), "┤"); drawn != (limit > 20) {
			t.Errorf("%s columns:\n%s", width, c.out.String())
		}
		if strings.Contains(c.out.String(), "\x1b") {
			t.Error("colours where there is no terminal")
		}
	}
}

func TestResample(t *testing.T) {
	got := resample([]point{{day(1), 10}, {day(3), 30}}, day(0), day(4), 5)
	want := []float64{math.NaN(), 10, 10, 30, math.NaN()}
	equalNaN := cmp.Comparer(func(a, b float64) bool { return a == b || (math.IsNaN(a) && math.IsNaN(b)) })
	if d := cmp.Diff(want, got, equalNaN); d != "" {
		t.Error(d)
	}
}

func TestMoreLinesThanCanBeDrawn(t *testing.T) {
	c := testMain(t)
	var f figure
	for range 9 {
		f.lines = append(f.lines, figureLine{name: "x", points: []point{{day(0), 1}, {day(1), 2}}})
	}
	if err := c.drawFigure(&c.out, f); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(c.out.String(), "x\n"); n != mostCharts || !strings.Contains(c.err.String(), "6 more lines") {
		t.Errorf("%d charts, %s", n, c.err.String())
	}
}
