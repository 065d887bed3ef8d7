package runpod

import (
	"encoding/json"
	"fmt"

	"github.com/gputide/gputide"
)

// addPodStock adds the stock of secure pods of up to most cards. A row without
// the answer, or with null for it, says nothing of that count.
func addPodStock(b *gputide.Batch, id string, most int, row json.RawMessage) {
	var answers map[string]json.RawMessage
	_ = json.Unmarshal(row, &answers) // a row of a GPU type is an object
	for n := 1; n <= min(most, mostStock); n++ {
		answer, there := answers[stockAlias(n)]
		if !there || string(answer) == "null" {
			continue
		}
		var s stock
		if err := json.Unmarshal(answer, &s); err != nil {
			b.SkipUnknown(source, stockScope(), "bad_stock", string(answer))
			continue
		}
		s.add(b, id, n, "")
	}
}

// addDataCenters adds the stock of each card in each listed data centre. A data
// centre is secure cloud, and its stock is given without a count: it holds for
// one card.
func addDataCenters(b *gputide.Batch, rows []json.RawMessage) error {
	read := 0
	for _, row := range rows {
		var dc dataCenter
		switch err := json.Unmarshal(row, &dc); {
		case err != nil || dc.ID == "" || dc.Listed == nil:
			b.SkipUnknown(source, stockScope(), "bad_row", string(row))
			continue
		case !*dc.Listed:
			b.Omit(source, "unlisted_data_centre", 1)
		default:
			for _, g := range dc.GPUAvailability {
				g.add(b, g.GPUTypeID, 1, dc.ID)
			}
		}
		read++
	}
	if read == 0 {
		return drift("data.dataCenters", "rows with id and listed", fmt.Sprintf("none of %d rows", len(rows)))
	}
	return nil
}

func stockScope() gputide.Scope { return gputide.Scope{Signal: gputide.SignalAvailability} }

// add adds one stock status. A null one means none to be had now; a word that
// is not known here is no signal.
func (s *stock) add(b *gputide.Batch, id string, n int, region string) {
	key := gputide.Key{InstanceType: instanceType(id, n), Tier: secure}
	level, known := map[string]int64{
		"":       gputide.AvailabilityNone,
		"Low":    gputide.AvailabilityLow,
		"Medium": gputide.AvailabilityMedium,
		"High":   gputide.AvailabilityHigh,
	}[s.StockStatus]
	switch {
	case !known || id == "":
		b.SkipUnknown(source, stockScope(), "bad_stock", id+" "+s.StockStatus)
	case s.Available != nil && !*s.Available:
		b.Stock(source, key, gputide.AvailabilityNone, region)
	case s.StockStatus == "" && s.Available != nil:
		b.Stock(source, key, gputide.AvailabilityYes, region)
	default:
		b.Stock(source, key, level, region)
	}
}
