package providertest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// Field names a field of the bodies of one source. In JSON Path is the names of
// the members down to it, with [] for each list and * for any name:
// "data.gpuTypes[].id", "products.*.sku". In CSV it is the heading of a column.
// In XML it is element@attribute.
type Field struct{ Source, Path string }

// errNoMatch is returned by an edit that found nothing to change.
var errNoMatch = errors.New("nothing to change")

// everyRow asks an edit to change the field wherever it stands.
const everyRow = -1

// edits are the ways one field of a body can be spoiled. Each returns errNoMatch
// where there is nothing to change.
type edits interface {
	// lose removes the field from the given row, counted from 0 among those that
	// have it, or renames it in every row.
	lose(path string, row int) ([]byte, error)

	// swap exchanges two fields of every row.
	swap(a, b string) ([]byte, error)

	// clear removes every row of the list at path.
	clear(path string) ([]byte, error)

	// text returns the body as it is.
	text() []byte
}

// editsOf returns the edits for the form of body.
func editsOf(body []byte) edits {
	switch b := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))); {
	case len(b) > 0 && (b[0] == '{' || b[0] == '['):
		return jsonEdits(body)
	case len(b) > 0 && b[0] == '<':
		return xmlEdits(body)
	}
	return csvEdits(body)
}

// repack edits a body, unpacked first where it is gzip. It returns nil when
// there was nothing to change.
func repack(body []byte, change func([]byte) ([]byte, error)) ([]byte, error) {
	zipped := bytes.HasPrefix(body, []byte{0x1f, 0x8b})
	if zipped {
		zr, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if body, err = io.ReadAll(zr); err != nil {
			return nil, err
		}
	}
	out, err := change(body)
	if err != nil || !zipped || out == nil {
		return out, err
	}
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if _, err := zw.Write(out); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// span is a stretch of a body.
type span struct{ from, to int }

// splice replaces spans of body, in order, each by what with returns for it.
func splice(body []byte, spans []span, with func(i int) string) []byte {
	var out bytes.Buffer
	at := 0
	for i, s := range spans {
		out.Write(body[at:s.from])
		out.WriteString(with(i))
		at = s.to
	}
	out.Write(body[at:])
	return out.Bytes()
}

// pick returns the spans an edit of row changes.
func pick(spans []span, row int) ([]span, error) {
	switch {
	case row == everyRow && len(spans) > 0:
		return spans, nil
	case row >= 0 && row < len(spans):
		return spans[row : row+1], nil
	}
	return nil, errNoMatch
}

// exchangeSpans replaces the spans of each pair by each other.
func exchangeSpans(body []byte, pairs [][2]span) ([]byte, error) {
	if len(pairs) == 0 {
		return nil, errNoMatch
	}
	var spans []span
	var texts []string
	for _, p := range pairs {
		if p[0].from > p[1].from {
			p[0], p[1] = p[1], p[0]
		}
		spans = append(spans, p[0], p[1])
		texts = append(texts, string(body[p[1].from:p[1].to]), string(body[p[0].from:p[0].to]))
	}
	return splice(body, spans, func(i int) string { return texts[i] }), nil
}
