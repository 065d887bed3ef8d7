package fetch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gputide/gputide"
)

// maxDepth bounds the nesting of a JSON body: the deepest of any source is 9.
const maxDepth = 64

// JSON sends a request and decodes its whole body into the value that into
// points to. It returns the redacted address the body came from, also with an
// error where it is known. A body that is no JSON, is nested too deeply, is cut,
// or goes on behind its value is a *gputide.DriftError.
func (c *Client) JSON(ctx context.Context, r Request, into any) (string, error) {
	if r.Accept == "" {
		r.Accept = "application/json"
	}
	resp, err := c.Do(ctx, r)
	if err != nil {
		return c.f.redact.URL(r.URL), err
	}
	defer closeQuietly(resp.Body)
	d := NewDecoder(r.Source, resp.Body)
	if err := d.Decode(into); err != nil {
		return resp.URL, err
	}
	return resp.URL, d.End()
}

// Unmarshal decodes a JSON text that another body contains, with the bounds and
// the errors of [Client.JSON]. path says where the text was found.
func Unmarshal(source, path string, data []byte, into any) error {
	d := NewDecoder(source, bytes.NewReader(data))
	d.base = path
	if err := d.Decode(into); err != nil {
		return err
	}
	return d.End()
}

// Decoder reads a JSON body piece by piece, in bounded memory. Its errors are
// *gputide.DriftError, or what the reader itself returned.
type Decoder struct {
	source string
	base   string
	path   []string
	in     *depthReader
	dec    *json.Decoder
	redact func(string) string // of what a body shows in errors
}

// NewDecoder returns a decoder of the JSON that r yields.
func NewDecoder(source string, r io.Reader) *Decoder {
	in := &depthReader{r: bufio.NewReaderSize(r, 64<<10), max: maxDepth}
	d := &Decoder{source: source, base: "$", in: in, dec: json.NewDecoder(in), redact: func(s string) string { return s }}
	if b, ok := r.(interface{ redactor() *Redactor }); ok {
		d.redact = b.redactor().Text
	}
	return d
}

// Decode decodes the next value into the value that into points to.
func (d *Decoder) Decode(into any) error {
	if err := d.dec.Decode(into); err != nil {
		return d.drift("a value", err)
	}
	return nil
}

// Object reads an object member by member. member is called with each name and
// must consume the value with Decode, Object, Array or Skip.
func (d *Decoder) Object(member func(name string) error) error {
	if err := d.delim('{', "an object"); err != nil {
		return err
	}
	for d.dec.More() {
		tok, err := d.dec.Token()
		if err != nil {
			return d.drift("a member", err)
		}
		name, _ := tok.(string)
		d.path = append(d.path, "."+name)
		if err := member(name); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
	}
	return d.delim('}', "the end of an object")
}

// Array reads an array element by element. element must consume the value.
func (d *Decoder) Array(element func() error) error {
	if err := d.delim('[', "an array"); err != nil {
		return err
	}
	for i := 0; d.dec.More(); i++ {
		d.path = append(d.path, fmt.Sprintf("[%d]", i))
		if err := element(); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
	}
	return d.delim(']', "the end of an array")
}

// Skip passes over the next value without keeping it.
func (d *Decoder) Skip() error {
	for depth := 0; ; {
		tok, err := d.dec.Token()
		if err != nil {
			return d.drift("a value", err)
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// End reads to the end of the body and refuses anything behind the value.
func (d *Decoder) End() error {
	tok, err := d.dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return d.drift("the end", err)
	}
	return &gputide.DriftError{Source: d.source, Path: d.where(), Want: "the end of the body", Got: d.clip(fmt.Sprint(tok))}
}

func (d *Decoder) delim(want json.Delim, name string) error {
	tok, err := d.dec.Token()
	if err != nil {
		return d.drift(name, err)
	}
	if tok != want {
		return &gputide.DriftError{Source: d.source, Path: d.where(), Want: name, Got: d.clip(fmt.Sprint(tok))}
	}
	return nil
}

func (d *Decoder) where() string { return d.base + strings.Join(d.path, "") }

// drift explains an error of encoding/json. Errors of the reader pass: they have
// their own meaning.
func (d *Decoder) drift(want string, err error) error {
	if d.in.err != nil && d.in.err != io.EOF {
		if de, ok := errors.AsType[*gputide.DriftError](d.in.err); ok {
			de.Source, de.Path = d.source, d.where()
			return de
		}
		return d.in.err
	}
	de := &gputide.DriftError{Source: d.source, Path: d.where(), Want: want, Got: "something else", Err: err}
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if te.Field != "" {
			de.Path += "." + te.Field
		}
		de.Want, de.Got, de.Err = te.Type.String(), te.Value, nil
		return de
	}
	switch {
	case d.in.n == 0:
		de.Want, de.Got, de.Err = "JSON", "an empty body", nil
	case d.in.html():
		de.Want, de.Got, de.Err = "JSON", "HTML: "+d.clip(d.in.head()), nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		de.Got, de.Err = "the end of the body", nil
	case d.dec.InputOffset() == 0 && !d.in.begins():
		de.Want, de.Got, de.Err = "JSON", d.clip(d.in.head()), nil
	}
	return de
}

func (d *Decoder) clip(s string) string { return clip(d.redact(s)) }

// clip shortens a text for an error.
func clip(s string) string {
	const most = 80
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// depthReader passes JSON text through, drops a byte order mark, remembers its
// start and stops where the nesting gets too deep.
type depthReader struct {
	r     *bufio.Reader
	max   int
	n     int64
	start []byte
	err   error

	depth            int
	inString, escape bool
}

func (r *depthReader) Read(p []byte) (int, error) {
	if r.n == 0 {
		if mark, _ := r.r.Peek(3); string(mark) == "\xef\xbb\xbf" {
			_, _ = r.r.Discard(3)
		}
	}
	n, err := r.r.Read(p)
	if room := 256 - len(r.start); room > 0 {
		r.start = append(r.start, p[:min(n, room)]...)
	}
	r.n += int64(n)
	if !r.scan(p[:n]) {
		err = &gputide.DriftError{Want: fmt.Sprintf("at most %d levels", r.max), Got: "a deeper nesting"}
		n = 0
	}
	if err != nil {
		r.err = err
	}
	return n, err
}

// scan follows the nesting and reports whether it stays within bounds.
func (r *depthReader) scan(p []byte) bool {
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case r.escape:
			r.escape = false
		case r.inString:
			j := bytes.IndexAny(p[i:], `"\`)
			if j < 0 {
				return true
			}
			i += j
			r.escape = p[i] == '\\'
			r.inString = r.escape
		case c == '"':
			r.inString = true
		case c == '{' || c == '[':
			if r.depth++; r.depth > r.max {
				return false
			}
		case c == '}' || c == ']':
			r.depth--
		}
	}
	return true
}

func (r *depthReader) head() string { return strings.ToValidUTF8(string(r.start), "�") }

func (r *depthReader) html() bool {
	b := bytes.TrimLeft(r.start, " \t\r\n")
	return len(b) > 0 && b[0] == '<'
}

// begins reports whether the text starts like a JSON value.
func (r *depthReader) begins() bool {
	b := bytes.TrimLeft(r.start, " \t\r\n")
	return len(b) > 0 && bytes.IndexByte([]byte(`{["-0123456789tfn`), b[0]) >= 0
}
