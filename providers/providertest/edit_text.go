package providertest

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
)

type csvEdits []byte

func (b csvEdits) lose(column string, row int) ([]byte, error) {
	head, at, lines := b.heading(column)
	if at < 0 {
		return nil, errNoMatch
	}
	if row == everyRow {
		lines[head] = editCell(lines[head], at, "renamed")
		return join(lines), nil
	}
	if row += head + 1; row >= len(lines) || len(lines[row]) == 0 {
		return nil, errNoMatch
	}
	lines[row] = editCell(lines[row], at, "")
	return join(lines), nil
}

func (b csvEdits) swap(first, second string) ([]byte, error) {
	head, one, lines := b.heading(first)
	_, two, _ := b.heading(second)
	if one < 0 || two < 0 {
		return nil, errNoMatch
	}
	lines[head] = editCell(editCell(lines[head], one, second), two, first)
	return join(lines), nil
}

func (b csvEdits) clear(column string) ([]byte, error) {
	head, at, lines := b.heading(column)
	if at < 0 {
		return nil, errNoMatch
	}
	return append(join(lines[:head+1]), '\n'), nil
}

// heading returns the first line that has a cell of the given text and the
// number of the cell; -1 when no line has.
func (b csvEdits) heading(column string) (line, cell int, lines [][]byte) {
	lines = bytes.Split(b, []byte("\n"))
	for i, l := range lines {
		if cell := slices.Index(cells(l), column); cell >= 0 {
			return i, cell, lines
		}
	}
	return 0, -1, lines
}

func join(lines [][]byte) []byte { return bytes.Join(lines, []byte("\n")) }

func cells(line []byte) []string {
	r := csv.NewReader(bytes.NewReader(line))
	r.LazyQuotes = true
	row, err := r.Read()
	if err != nil {
		return nil
	}
	return row
}

// editCell returns line with one cell replaced, quoted as the line was.
func editCell(line []byte, at int, text string) []byte {
	row := cells(line)
	if at >= len(row) {
		return line
	}
	row[at] = text
	quoted := bytes.HasPrefix(line, []byte(`"`))
	for i, c := range row {
		if quoted || strings.ContainsAny(c, `",`) {
			row[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
	}
	out := strings.Join(row, ",")
	if bytes.HasSuffix(line, []byte("\r")) {
		out += "\r"
	}
	return []byte(out)
}

// xmlEdits spoils attributes: a path is element@attribute.
type xmlEdits []byte

func (b xmlEdits) lose(path string, row int) ([]byte, error) {
	names, err := pick(b.attributes(path, 1), row)
	if err != nil {
		return nil, err
	}
	return splice(b, names, func(int) string { return "renamed" }), nil
}

func (b xmlEdits) swap(first, second string) ([]byte, error) {
	one, two := b.attributes(first, 2), b.attributes(second, 2)
	if len(one) != len(two) {
		return nil, errNoMatch
	}
	pairs := make([][2]span, len(one))
	for i := range one {
		pairs[i] = [2]span{one[i], two[i]}
	}
	return exchangeSpans(b, pairs)
}

func (b xmlEdits) clear(path string) ([]byte, error) {
	element, attr, _ := strings.Cut(path, "@")
	name := `(?:\w+:)?` + regexp.QuoteMeta(element)
	re := regexp.MustCompile(`(?s)<` + name + `\s[^>]*` + regexp.QuoteMeta(attr) + `=[^>]*(?:/>|[^/]>.*?</` + name + `>)`)
	if !re.Match(b) {
		return nil, errNoMatch
	}
	return re.ReplaceAll(b, nil), nil
}

// attributes returns the spans of the names (1) or values (2) of an attribute.
func (b xmlEdits) attributes(path string, group int) []span {
	element, attr, _ := strings.Cut(path, "@")
	re := regexp.MustCompile(`<(?:\w+:)?` + regexp.QuoteMeta(element) + `\s(?:[^>]*\s)?(` + regexp.QuoteMeta(attr) +
		`)\s*=\s*(?:"|')([^"']*)(?:"|')`)
	var spans []span
	for _, m := range re.FindAllSubmatchIndex(b, -1) {
		spans = append(spans, span{m[2*group], m[2*group+1]})
	}
	return spans
}

func (b csvEdits) text() []byte { return b }
func (b xmlEdits) text() []byte { return b }
