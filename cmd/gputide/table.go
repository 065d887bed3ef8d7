package main

import (
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// column is one column of a table for people.
type column[T any] struct {
	head  string
	cell  func(*T) string
	right bool // numbers
	shed  int  // 0 always shown; of the others the highest is left out first when the terminal is narrow
	least int  // may be shortened to this width; 0 never

	// paint colours a cell on a terminal; nil leaves it.
	paint func(*T) text.Colors
}

// columnGap is the blank space between two columns.
const columnGap = 2

// grid is a table laid out: what is shown and how wide.
type grid struct {
	heads  []string
	cells  [][]string // [column][row], clean
	width  []int
	shown  []bool
	hidden []string // heads left out for the width
}

// screen is where a table goes.
type screen struct {
	w      io.Writer
	width  int // columns; 0 is no limit
	colour bool
	lang   lang
}

func (m *Main) screen(w io.Writer) screen {
	return screen{w: w, width: m.screenWidth(), colour: m.colour(), lang: m.lang}
}

// printTable writes rows as a table that fits the screen and returns the heads of
// the columns that had no room. A column without any value is not shown.
func printTable[T any](s screen, columns []column[T], rows []T) ([]string, error) {
	g := layOut(columns, rows, s.lang)
	fit(g, columns, s.width)
	t := table.NewWriter()
	t.SetStyle(plainStyle())
	var configs []table.ColumnConfig
	var head table.Row
	for i, c := range columns {
		if !g.shown[i] {
			continue
		}
		head = append(head, g.heads[i])
		cfg := table.ColumnConfig{Number: len(head), WidthMax: g.width[i], WidthMaxEnforcer: func(s string, n int) string { return text.Snip(s, n, "…") }}
		if c.right {
			cfg.Align, cfg.AlignHeader = text.AlignRight, text.AlignRight
		}
		configs = append(configs, cfg)
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(head)
	for r := range rows {
		var line table.Row
		for i, c := range columns {
			if !g.shown[i] {
				continue
			}
			v := g.cells[i][r]
			if s.colour && c.paint != nil {
				if p := c.paint(&rows[r]); p != nil {
					v = paint(p, v)
				}
			}
			line = append(line, v)
		}
		t.AppendRow(line)
	}
	for line := range strings.SplitSeq(t.Render(), "\n") {
		if _, err := io.WriteString(s.w, strings.TrimRight(line, " ")+"\n"); err != nil {
			return g.hidden, err
		}
	}
	return g.hidden, nil
}

// paint colours text, whatever go-pretty believes of the terminal.
func paint(c text.Colors, s string) string { return c.EscapeSeq() + s + text.EscapeReset }

func plainStyle() table.Style {
	s := table.StyleDefault
	s.Options = table.OptionsNoBordersAndSeparators
	s.Box.PaddingLeft = ""
	s.Box.PaddingRight = strings.Repeat(" ", columnGap)
	s.Format.Header = text.FormatDefault
	return s
}

func layOut[T any](columns []column[T], rows []T, l lang) *grid {
	out := &grid{
		heads: make([]string, len(columns)),
		cells: make([][]string, len(columns)), width: make([]int, len(columns)), shown: make([]bool, len(columns)),
	}
	for i, c := range columns {
		out.heads[i] = l.head(c.head)
		out.width[i] = text.StringWidthWithoutEscSequences(out.heads[i])
		out.cells[i] = make([]string, len(rows))
		for r := range rows {
			v := l.cell(c.head, clean(c.cell(&rows[r])))
			out.cells[i][r] = v
			if v != "" {
				out.shown[i] = true
				out.width[i] = max(out.width[i], text.StringWidthWithoutEscSequences(v))
			}
		}
	}
	return out
}

// fit leaves out and shortens columns until the table fits.
func fit[T any](g *grid, columns []column[T], width int) {
	if width <= 0 {
		return
	}
	for g.least(columnLeast(columns)) > width {
		worst := -1
		for i, c := range columns {
			if g.shown[i] && c.shed > 0 && (worst < 0 || c.shed > columns[worst].shed) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		g.shown[worst] = false
		g.hidden = append(g.hidden, strings.ToLower(g.heads[worst]))
	}
	g.shorten(columnLeast(columns), width)
}

func columnLeast[T any](columns []column[T]) []int {
	least := make([]int, len(columns))
	for i, c := range columns {
		least[i] = c.least
	}
	return least
}

// least is the width of the table with every column at its shortest.
func (g *grid) least(least []int) int {
	sum := 0
	for i, w := range g.width {
		if !g.shown[i] {
			continue
		}
		if least[i] > 0 {
			w = min(w, least[i])
		}
		sum += w + columnGap
	}
	return sum - columnGap
}

// shorten takes width from the widest column that may give it, one at a time.
func (g *grid) shorten(least []int, width int) {
	for g.least(make([]int, len(least))) > width {
		widest := -1
		for i, w := range g.width {
			if g.shown[i] && least[i] > 0 && w > least[i] && (widest < 0 || w > g.width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		g.width[widest]--
	}
}

// screenWidth returns how many columns an answer may have: COLUMNS when set, the
// width of the terminal, or 0 (no limit) when standard output is no terminal.
func (m *Main) screenWidth() int {
	if n, err := strconv.Atoi(m.envText("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := asFile(m.Stdout); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			return w
		}
	}
	return 0
}

// colour reports whether an answer may carry colours: on a terminal and without
// NO_COLOR.
func (m *Main) colour() bool {
	return m.envText("NO_COLOR") == "" && m.envText("TERM") != "dumb" && isTerminal(m.Stdout)
}

func isTerminal(w io.Writer) bool {
	f, ok := asFile(w)
	return ok && term.IsTerminal(int(f.Fd()))
}
