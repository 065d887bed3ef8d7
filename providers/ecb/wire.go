package ecb

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"github.com/gputide/gputide"
)

// envelope is a reference rate document. Elements are matched by their local
// names, whatever their namespace prefix.
type envelope struct {
	XMLName xml.Name `xml:"Envelope"`
	Days    []day    `xml:"Cube>Cube"`
}

type day struct {
	Date  string `xml:"time,attr"` // 2006-01-02
	Rates []rate `xml:"Cube"`
}

// rate is one quotation: 1 EUR is Amount units of Currency.
type rate struct {
	Currency string `xml:"currency,attr"`
	Amount   string `xml:"rate,attr"` // decimal text of varying length, or N/A
}

// decode reads one whole document. It returns [gputide.ErrSchemaDrift] for
// anything else and [gputide.ErrEmpty] for a document without a day.
func decode(source string, r io.Reader) (*envelope, error) {
	var doc envelope
	dec := xml.NewDecoder(r)
	if err := dec.Decode(&doc); err != nil {
		return nil, unread(source, err)
	}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unread(source, err)
		}
		if _, ok := tok.(xml.StartElement); ok {
			return nil, unread(source, errors.New("a second root element"))
		}
	}
	if len(doc.Days) == 0 {
		return nil, fmt.Errorf("%s: %w: no day", source, gputide.ErrEmpty)
	}
	return &doc, nil
}

// unread returns err as drift, unless it is the reader's own failure.
func unread(source string, err error) error {
	if _, ok := errors.AsType[*gputide.FetchError](err); ok {
		return err
	}
	return &gputide.DriftError{Source: source, Path: "/", Want: "a gesmes Envelope", Got: "something else", Err: err}
}
