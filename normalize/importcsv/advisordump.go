package importcsv

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gputide/gputide"
)

// maxAdvisor bounds the spot advisor's document in bytes, which is held in
// memory: it had 922 KB in 2025.
const maxAdvisor = 64 << 20

// advisorDoc is the spot advisor's own document: savings and the index of an
// interruption range by region, operating system and type. It holds no time.
//
// Source: https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json
type advisorDoc struct {
	Ranges []struct {
		Index int    `json:"index"`
		Label string `json:"label"`
	} `json:"ranges"`
	Regions map[string]map[string]map[string]struct {
		Savings *int64 `json:"s"`
		Range   *int   `json:"r"`
	} `json:"spot_advisor"`
}

// advisorDump takes the signals of a dump, at the moment that was told.
func (r *Reader) advisorDump(ctx context.Context, a *advisor) error {
	if r.opt.At.IsZero() {
		return &gputide.HintError{
			Err:  fmt.Errorf("%w: the document does not say when it was read", gputide.ErrInvalid),
			Hint: "tell the moment with --at",
		}
	}
	text, err := io.ReadAll(io.LimitReader(r.json, maxAdvisor+1))
	if err != nil {
		return err
	}
	if len(text) > maxAdvisor {
		return fmt.Errorf("%w: JSON of more than %d bytes", gputide.ErrTooLarge, maxAdvisor)
	}
	var doc advisorDoc
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("%w: %w", gputide.ErrInvalid, err)
	}
	if len(doc.Regions) == 0 || len(doc.Ranges) == 0 {
		return fmt.Errorf("%w: no regions or ranges: not the spot advisor's document", gputide.ErrInvalid)
	}
	labels := make(map[int]string, len(doc.Ranges))
	for _, rg := range doc.Ranges {
		labels[rg.Index] = rg.Label
	}
	at := r.opt.At.UTC().Format(time.RFC3339)
	for _, region := range slices.Sorted(maps.Keys(doc.Regions)) {
		for _, system := range slices.Sorted(maps.Keys(doc.Regions[region])) {
			for _, typ := range slices.Sorted(maps.Keys(doc.Regions[region][system])) {
				if err := r.count(ctx); err != nil {
					return err
				}
				v := doc.Regions[region][system][typ]
				cells := make([]string, advCells)
				cells[advTime], cells[advProvider], cells[advRegion], cells[advType], cells[advOS] = at, a.r.p.Provider, region, typ, system
				if v.Savings != nil {
					cells[advSavings] = strconv.FormatInt(*v.Savings, 10)
				}
				if v.Range != nil {
					cells[advLabel] = labels[*v.Range]
					cells[advBand] = bandOf(labels[*v.Range])
				}
				if reason := a.add(cells); reason != "" {
					r.tally.note(r.tally.Rows, reason, fmt.Appendf(nil, "%s %s %s", region, system, typ))
				}
			}
		}
	}
	return nil
}

// bandOf returns the band that a label names; empty when it names none.
func bandOf(label string) string {
	for band := int64(0); ; band++ {
		switch gputide.SignalLabel(gputide.SignalInterruption, band) {
		case "":
			return ""
		case label:
			return strconv.FormatInt(band, 10)
		}
	}
}
