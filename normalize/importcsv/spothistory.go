package importcsv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/gputide/gputide"
)

// maxJSON bounds a JSON document in bytes, unpacked.
const maxJSON = 256 << 20

// spotPrice is one entry of the answer of DescribeSpotPriceHistory, as the AWS
// command line prints it.
//
// Source: https://docs.aws.amazon.com/cli/latest/reference/ec2/describe-spot-price-history.html
type spotPrice struct {
	Zone    string `json:"AvailabilityZone"`
	ZoneID  string `json:"AvailabilityZoneId"`
	Type    string `json:"InstanceType"`
	Product string `json:"ProductDescription"`
	Price   string `json:"SpotPrice"`
	Time    string `json:"Timestamp"`
}

// The words of rows that have no column for them: the answer is of AWS, all of
// it is spot, and in dollars but for China.
const (
	spotProvider = "aws"
	spotMarket   = "spot"
	spotCurrency = "USD"
	chinaPrefix  = "cn-"
	chinaSpot    = "CNY"
)

// regionOfZone cuts the region out of the name of a zone: us-east-1 out of
// us-east-1b, us-west-2 out of the local zone us-west-2-lax-1a.
var regionOfZone = regexp.MustCompile(`^[a-z]{2}(?:-[a-z]+)+-[0-9]+`)

// spotHistory passes on the prices of a dump: one answer or several, one after
// another.
func (r *Reader) spotHistory(ctx context.Context, pass func(*gputide.ImportRow) bool) error {
	t := r.teller(pass)
	dec := json.NewDecoder(r.json)
	for documents := 0; ; documents++ {
		err := openList(dec, "SpotPriceHistory")
		if errors.Is(err, io.EOF) && documents > 0 {
			return nil
		}
		if err != nil {
			return badJSON(dec, err)
		}
		more, err := r.spotList(ctx, dec, t)
		if err != nil || !more {
			return err
		}
		if err := closeObject(dec); err != nil {
			return badJSON(dec, err)
		}
	}
}

// spotList passes on the entries of one list and reads its end.
func (r *Reader) spotList(ctx context.Context, dec *json.Decoder, t *teller) (bool, error) {
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return false, badJSON(dec, err)
		}
		if err := r.count(ctx); err != nil {
			return false, err
		}
		reason, more := r.spotEntry(raw, t)
		if reason != "" {
			r.tally.note(r.tally.Rows, reason, raw)
		}
		if !more {
			return false, nil
		}
	}
	_, err := dec.Token()
	if err != nil {
		return false, badJSON(dec, err)
	}
	return true, nil
}

func (r *Reader) spotEntry(raw []byte, t *teller) (Reason, bool) {
	var p spotPrice
	if err := json.Unmarshal(raw, &p); err != nil {
		return ReasonColumns, true
	}
	region := regionOfZone.FindString(p.Zone)
	if region == "" {
		return ReasonRegion, true
	}
	cells := make([]string, commonCells)
	cells[colTime], cells[colProvider], cells[colRegion], cells[colZone] = p.Time, spotProvider, region, p.Zone
	cells[colType], cells[colMarket], cells[colPrice], cells[colCurrency] = p.Type, spotMarket, p.Price, spotCurrency
	cells[colOS] = strings.TrimSuffix(p.Product, " (Amazon VPC)")
	if strings.HasPrefix(region, chinaPrefix) {
		cells[colCurrency] = chinaSpot
	}
	if p.ZoneID != "" {
		cells[colZone] = p.ZoneID
	}
	if p.Time == "" {
		return ReasonTime, true
	}
	return t.tell(cells)
}

// openList reads up to the first element of a list that is a field of an object
// and skips the fields before it.
func openList(dec *json.Decoder, name string) error {
	if err := want(dec, json.Delim('{')); err != nil {
		return err
	}
	for dec.More() {
		field, err := dec.Token()
		if err != nil {
			return err
		}
		if field == name {
			return want(dec, json.Delim('['))
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: no field %q", gputide.ErrInvalid, name)
}

// closeObject skips the rest of an object.
func closeObject(dec *json.Decoder) error {
	for dec.More() {
		if _, err := dec.Token(); err != nil {
			return err
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return err
		}
	}
	return want(dec, json.Delim('}'))
}

func want(dec *json.Decoder, delim json.Delim) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	if token != delim {
		return fmt.Errorf("%w: %v where %s should be", gputide.ErrInvalid, token, delim)
	}
	return nil
}

// badJSON says where a document is broken, or that it is beyond its bound.
func badJSON(dec *json.Decoder, err error) error {
	if dec.InputOffset() >= maxJSON || errors.Is(err, gputide.ErrTooLarge) {
		return &gputide.HintError{
			Err:  fmt.Errorf("%w: JSON of more than %d bytes", gputide.ErrTooLarge, maxJSON),
			Hint: "split the file and import its parts",
		}
	}
	if errors.Is(err, io.EOF) && dec.InputOffset() == 0 {
		return fmt.Errorf("%w: the file is empty", gputide.ErrEmpty)
	}
	if errors.Is(err, gputide.ErrInvalid) {
		return fmt.Errorf("JSON after byte %d: %w", dec.InputOffset(), err)
	}
	return fmt.Errorf("%w: JSON after byte %d: %w", gputide.ErrInvalid, dec.InputOffset(), err)
}
