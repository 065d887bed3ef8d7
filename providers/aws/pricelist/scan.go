package pricelist

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/gputide/gputide"
)

const (
	bufferSize = 256 << 10
	maxRecord  = 1 << 20 // a longer record is refused with gputide.ErrTooLarge
)

// span is a field of the current record, as offsets into its backing array.
type span struct{ from, to int32 }

// scanner splits CSV into records as encoding/csv does, only faster. It takes
// the form the price list is written in, one line per record and no quote
// inside a field, itself and hands every other record to encoding/csv.
type scanner struct {
	r        io.Reader
	buf      []byte
	pos, end int
	eof      bool
	readErr  error

	// The current record is head and, from field tailCol on, tail.
	head  []byte
	tail  []byte
	spans []span

	// tailCol is the field from which records of one product are alike. A
	// record whose rest is that of the record before it is not split again.
	tailCol  int
	sameTail bool
	tailFrom int // spans filled up to the tail when it was last split
	scratch  []byte
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, bufferSize), spans: make([]span, 0, 128)}
}

// shareTail tells s that fields from col on repeat from record to record.
func (s *scanner) shareTail(col int) { s.tailCol, s.tail, s.tailFrom = col, s.tail[:0], 0 }

// len returns the number of fields of the current record.
func (s *scanner) len() int { return len(s.spans) }

// field returns field i of the current record; it is valid until next is called.
func (s *scanner) field(i int) []byte {
	f := s.spans[i]
	if s.tailCol > 0 && i >= s.tailCol {
		return s.tail[f.from:f.to]
	}
	return s.head[f.from:f.to]
}

// next reads the next record. It returns io.EOF at the end, the error of the
// reader, or the *csv.ParseError of encoding/csv.
func (s *scanner) next() error {
	for searched := 0; ; {
		i := bytes.IndexByte(s.buf[s.pos+searched:s.end], '\n')
		if i < 0 && !s.eof {
			searched = s.end - s.pos
			if err := s.fill(); err != nil {
				return err
			}
			continue
		}
		if i >= 0 {
			i += searched
		}
		searched = 0
		line, used := s.buf[s.pos:s.end], s.end-s.pos
		if i >= 0 {
			line, used = line[:i], i+1
		}
		if used == 0 {
			return s.ended()
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) == 0 {
			s.pos += used
			continue
		}
		if !s.split(line) {
			return s.slow()
		}
		s.pos += used
		return nil
	}
}

func (s *scanner) ended() error {
	if s.readErr != nil {
		return s.readErr
	}
	return io.EOF
}

// fill reads more of the stream behind what is left of the buffer.
func (s *scanner) fill() error {
	if s.pos > 0 {
		copy(s.buf, s.buf[s.pos:s.end])
		s.end -= s.pos
		s.pos = 0
	}
	if s.end == len(s.buf) {
		if len(s.buf) >= maxRecord {
			return fmt.Errorf("%w: a record is longer than %d bytes", gputide.ErrTooLarge, maxRecord)
		}
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		switch {
		case errors.Is(err, io.EOF):
			s.eof = true
			return nil
		case err != nil:
			return err
		case n > 0:
			return nil
		}
	}
	return io.ErrNoProgress
}

// split finds the fields of a line. It reports false for a line that is not a
// record of plain fields.
func (s *scanner) split(line []byte) bool {
	s.head, s.sameTail = line, false
	s.spans = s.spans[:0]
	i := 0
	if s.tailCol > 0 {
		var ok, more bool
		if i, more, ok = s.fields(line, 0, s.tailCol); !ok {
			return false
		}
		if !more {
			return true
		}
		return s.splitTail(line[i:])
	}
	_, _, ok := s.fields(line, 0, maxRecord)
	return ok
}

// splitTail takes over the fields of the tail of the record before when the
// bytes are the same.
func (s *scanner) splitTail(tail []byte) bool {
	if s.tailFrom > 0 && bytes.Equal(tail, s.tail) {
		s.spans = s.spans[:s.tailFrom]
		s.sameTail = true
		return true
	}
	s.tail = append(s.tail[:0], tail...)
	s.tailFrom = 0
	_, _, ok := s.fields(s.tail, 0, maxRecord)
	if ok {
		s.tailFrom = len(s.spans)
	}
	return ok
}

// fields splits b from offset i on into at most limit fields. It returns the
// offset behind the last comma and whether a further field begins there.
func (s *scanner) fields(b []byte, i, limit int) (next int, more, ok bool) {
	spans := s.spans
	for range limit {
		var f span
		switch {
		case i < len(b) && b[i] == '"':
			q := quoteIndex(b, i+1)
			if q < 0 {
				return 0, false, false
			}
			f = span{int32(i + 1), int32(q)}
			i = q + 1
			if i < len(b) && b[i] != ',' {
				return 0, false, false
			}
		case i < len(b) && b[i] == ',':
			f = span{int32(i), int32(i)}
		default:
			n := bytes.IndexByte(b[i:], ',')
			if n < 0 {
				n = len(b) - i
			}
			if bytes.IndexByte(b[i:i+n], '"') >= 0 {
				return 0, false, false
			}
			f = span{int32(i), int32(i + n)}
			i += n
		}
		spans = append(spans, f)
		if i >= len(b) {
			s.spans = spans
			return i, false, true
		}
		i++ // the comma
	}
	s.spans = spans
	return i, true, true
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// quoteIndex returns the index of the first quote in b at or after i, or -1.
// Fields are short, so that eight bytes at a time beat a call of IndexByte.
func quoteIndex(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:]) ^ (lowBits * '"')
		if m := (x - lowBits) &^ x & highBits; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(b); i++ {
		if b[i] == '"' {
			return i
		}
	}
	return -1
}

// slow reads one record with encoding/csv, from as much of the stream as the
// record needs.
func (s *scanner) slow() error {
	for {
		window := s.buf[s.pos:s.end]
		c := csv.NewReader(bytes.NewReader(window))
		c.FieldsPerRecord = -1
		rec, err := c.Read()
		if whole := err == nil && c.InputOffset() < int64(len(window)); !whole && !s.eof {
			if fillErr := s.fill(); fillErr != nil {
				return fillErr
			}
			continue
		}
		if err != nil {
			return err
		}
		s.pos += int(c.InputOffset())
		s.keep(rec)
		return nil
	}
}

// keep makes rec the current record.
func (s *scanner) keep(rec []string) {
	s.scratch, s.tail = s.scratch[:0], s.tail[:0]
	s.spans, s.sameTail, s.tailFrom = s.spans[:0], false, 0
	for i, v := range rec {
		if s.tailCol > 0 && i >= s.tailCol {
			s.spans = append(s.spans, span{int32(len(s.tail)), int32(len(s.tail) + len(v))})
			s.tail = append(s.tail, v...)
			continue
		}
		s.spans = append(s.spans, span{int32(len(s.scratch)), int32(len(s.scratch) + len(v))})
		s.scratch = append(s.scratch, v...)
	}
	s.head = s.scratch
}
