package importcsv

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gputide/gputide"
)

// Bounds of a file.
const (
	MaxLine  = 64 << 10 // bytes of one line
	MaxBytes = 8 << 30  // bytes of a file, unpacked
)

// lines yields the lines of a plain or gzipped file without their ends.
type lines struct {
	sc    *bufio.Scanner
	n     int64 // number of the line read last, from 1
	bytes int64
	max   int64
	text  []byte
	again bool // the line read last is yielded once more
}

// unpack returns the plain bytes of a plain or gzipped file.
func unpack(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	magic, err := in.Peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%w: gzip: %w", gputide.ErrInvalid, err)
	}
	return z, nil
}

func newLines(r io.Reader) (*lines, error) {
	src, err := unpack(r)
	if err != nil {
		return nil, err
	}
	sc := bufio.NewScanner(src)
	sc.Buffer(make([]byte, 8<<10), MaxLine)
	return &lines{sc: sc, max: MaxBytes}, nil
}

// next reads a line and reports whether there was one.
func (l *lines) next() (bool, error) {
	if l.again {
		l.again = false
		return true, nil
	}
	if !l.sc.Scan() {
		return false, l.fail(l.sc.Err())
	}
	l.n++
	l.text = l.sc.Bytes()
	if l.bytes += int64(len(l.text)) + 1; l.bytes > l.max {
		return false, &gputide.HintError{
			Err:  fmt.Errorf("%w: more than %d bytes", gputide.ErrTooLarge, l.max),
			Hint: "split the file and import its parts",
		}
	}
	return true, nil
}

func (l *lines) fail(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%w: line %d is longer than %d bytes", gputide.ErrTooLarge, l.n+1, MaxLine)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return fmt.Errorf("%w: the file is cut or damaged after line %d: %w", gputide.ErrInvalid, l.n, err)
	}
	return fmt.Errorf("after line %d: %w", l.n, err)
}

// first reads the first line, without a byte order mark.
func (l *lines) first() (string, error) {
	ok, err := l.next()
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("%w: the file has no line", gputide.ErrEmpty)
	}
	return string(bytes.TrimPrefix(l.text, []byte("\ufeff"))), nil
}

// object reports whether the file is NDJSON: its first line begins an object.
// That line is read again.
func (l *lines) object() (bool, error) {
	text, err := l.first()
	l.again = true
	return strings.HasPrefix(text, "{"), err
}

// names reads the names of the columns.
func (l *lines) names() ([]string, error) {
	text, err := l.first()
	if err != nil {
		return nil, err
	}
	names, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return nil, fmt.Errorf("%w: the first line names no columns: %w", gputide.ErrInvalid, err)
	}
	return names, nil
}

// header reads the first line and refuses any other than the one wanted. It
// returns its columns.
func (l *lines) header(want string) ([]string, error) {
	got, err := l.first()
	if err != nil {
		return nil, err
	}
	if got == want {
		return strings.Split(want, ","), nil
	}
	return nil, &gputide.HintError{
		Err:  fmt.Errorf("%w: %s", gputide.ErrInvalid, headerDifference(want, got)),
		Hint: "the first line must be " + want,
	}
}

// headerDifference names the first column that is not as wanted.
func headerDifference(want, got string) string {
	wants, gots := strings.Split(want, ","), strings.Split(got, ",")
	for i, w := range wants {
		switch {
		case i >= len(gots):
			return fmt.Sprintf("header has no column %q", w)
		case gots[i] != w:
			return fmt.Sprintf("column %d of the header is %.80q, want %q", i+1, gots[i], w)
		}
	}
	return fmt.Sprintf("header has an unknown column %.80q", gots[len(wants)])
}

// split cuts the line into fields and reports whether it has exactly as many as
// cells. A quoted field may hold commas, and no line end.
func (l *lines) split(cells []string) bool {
	if bytes.IndexByte(l.text, '"') >= 0 {
		return splitQuoted(l.text, cells)
	}
	rest := string(l.text)
	for i := range cells {
		field, after, more := strings.Cut(rest, ",")
		if more != (i < len(cells)-1) {
			return false
		}
		cells[i], rest = field, after
	}
	return true
}

func splitQuoted(line []byte, cells []string) bool {
	r := csv.NewReader(bytes.NewReader(line))
	r.FieldsPerRecord = len(cells)
	record, err := r.Read()
	if err != nil {
		return false
	}
	if _, err := r.Read(); !errors.Is(err, io.EOF) {
		return false
	}
	copy(cells, record)
	return true
}
