package alibaba

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// adviceSignals are the signals that advice gives.
func adviceSignals() []string { return []string{gputide.SignalInterruption, gputide.SignalSavings} }

// adviceAnswer is the answer of DescribeSpotAdvice. A zone and the resources may
// stand in different elements of the list; then the zone of these is not known.
type adviceAnswer struct {
	AvailableSpotZones *struct {
		AvailableSpotZone []struct {
			ZoneID    string `json:"ZoneId"`
			Resources struct {
				Resource []advisedType `json:"AvailableSpotResource"`
			} `json:"AvailableSpotResources"`
		}
	}
}

type advisedType struct {
	InstanceType string
	Discount     string `json:"AverageSpotDiscount"` // "20": the price is on average 20 % of that on demand
	Rate         string `json:"InterruptionRate"`
	Range        string `json:"InterruptRateDesc"` // "0-3%"
}

// advice reads how often spot instances of a region were interrupted in the last
// 30 days, and how far below on-demand their prices were.
func (r *run) advice(ctx context.Context, region string) error {
	var answer adviceAnswer
	url, err := r.ask(ctx, sourceAdvice, region, "DescribeSpotAdvice", map[string]string{"RegionId": region}, &answer)
	if err != nil {
		return err
	}
	if answer.AvailableSpotZones == nil {
		return drift(sourceAdvice, "$.AvailableSpotZones", "an object", "none")
	}
	read, bad := 0, 0
	for _, z := range answer.AvailableSpotZones.AvailableSpotZone {
		for _, row := range z.Resources.Resource {
			read++
			if row.InstanceType == "" {
				bad++
			}
			r.advise(region, z.ZoneID, &row)
		}
	}
	switch {
	case read == 0:
		return fmt.Errorf("%s: %w: AvailableSpotZones of %s", sourceAdvice, gputide.ErrEmpty, region)
	case read == bad:
		return drift(sourceAdvice, "$.AvailableSpotZones.AvailableSpotZone[].AvailableSpotResources.AvailableSpotResource[].InstanceType", "it in some row", "none")
	}
	for _, s := range signalScopes(region, adviceSignals()...) {
		r.b.Done(sourceAdvice, s, url)
	}
	return nil
}

// advise adds the signals of one type.
func (r *run) advise(region, zone string, row *advisedType) {
	key := gputide.Key{Region: region, Zone: zone, InstanceType: row.InstanceType, Market: gputide.Spot}
	band, banded := bandOf(row.Range, row.Rate)
	share, err := strconv.ParseInt(row.Discount, 10, 32)
	for _, s := range []struct {
		name  string
		value int64
		ok    bool
	}{
		{gputide.SignalInterruption, band, banded},
		{gputide.SignalSavings, 100 - share, err == nil && share > 0},
	} {
		if s.ok && row.InstanceType != "" {
			r.b.Signal(gputide.Signal{Source: sourceAdvice, Key: key, Name: s.name, Value: s.value})
			continue
		}
		scope := signalScopes(region, s.name)[0]
		r.b.SkipUnknown(sourceAdvice, scope, "bad_row", fmt.Sprintf("%s %+v", zone, *row))
	}
}

// bandOf returns the band of interruptions that a range of percents lies in. One
// that spans several is placed by its rate, where that lies in it.
func bandOf(text, rate string) (band int64, ok bool) {
	low, high, ok := strings.Cut(strings.TrimSuffix(text, "%"), "-")
	from, err1 := strconv.Atoi(low)
	to, err2 := strconv.Atoi(high)
	if !ok || err1 != nil || err2 != nil || from < 0 || to <= from || to > 100 {
		return 0, false
	}
	const width, last = 5, 4
	if first, end := min(from/width, last), min((to-1)/width, last); first == end {
		return int64(first), true
	}
	at, err := strconv.ParseFloat(rate, 64)
	if err != nil || !(at >= float64(from) && at <= float64(to)) {
		return 0, false
	}
	return int64(min(int(at)/width, last)), true
}
