package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const advisorURL = "https://" + advisorHost + "/spot-advisor-data.json"

// maxExcess bounds how far spot may stand above on-demand, in percent. It does
// stand above it: p5.48xlarge in ca-central-1 had savings of -62 in 2025-06.
const maxExcess = 10_000

// advisorData is the data of the Spot Instance Advisor: savings in percent and
// the interruption band by region, operating system and type.
type advisorData struct {
	Ranges []struct {
		Index int    `json:"index"`
		Label string `json:"label"`
	} `json:"ranges"`
	Regions map[string]map[string]map[string]struct {
		Savings *int64 `json:"s"`
		Band    *int   `json:"r"`
	} `json:"spot_advisor"`
}

// advisorSystems are the operating systems of the advisor.
func advisorSystems() map[string]string {
	return map[string]string{"Linux": "linux", "Windows": "windows"}
}

// advisorSignals are the signals it gives.
func advisorSignals() []string { return []string{gputide.SignalInterruption, gputide.SignalSavings} }

// advisor reads the interruption bands and savings of all regions.
func (r *run) advisor(ctx context.Context) {
	var data advisorData
	url, err := r.http.JSON(ctx, fetch.Request{Source: sourceAdvisor, URL: advisorURL}, &data)
	if errors.Is(err, gputide.ErrNotInFixture) {
		r.b.Source(sourceAdvisor, gputide.SourceSkipped, err)
		return
	}
	var bands map[int]int64
	if err == nil {
		bands, err = data.bands()
	}
	if err == nil && len(data.Regions) == 0 {
		err = drift(sourceAdvisor, "spot_advisor", "regions", "none")
	}
	if err != nil {
		var scopes []gputide.Scope
		for _, name := range advisorSignals() {
			scopes = append(scopes, gputide.Scope{Market: gputide.Spot, Signal: name})
		}
		r.fail(sourceAdvisor, err, scopes...)
		return
	}
	for _, region := range slices.Sorted(maps.Keys(data.Regions)) {
		if len(r.cfg.Regions) == 0 || slices.Contains(r.cfg.Regions, region) {
			r.advise(region, url, &data, bands)
		}
	}
	r.count(nil)
}

// bands returns the band of each index of the file. The labels say what a band
// is; the upper bounds beside them do not fit the labels (5, 11, 16, 22, 100).
func (d *advisorData) bands() (map[int]int64, error) {
	out := make(map[int]int64, len(d.Ranges))
	for _, rg := range d.Ranges {
		band := int64(-1)
		for v := range int64(5) {
			if gputide.SignalLabel(gputide.SignalInterruption, v) == rg.Label {
				band = v
			}
		}
		if band < 0 {
			return nil, drift(sourceAdvisor, "ranges[].label", "a known band", rg.Label)
		}
		if _, twice := out[rg.Index]; twice {
			return nil, drift(sourceAdvisor, "ranges[].index", "one range per index", fmt.Sprint(rg.Index))
		}
		out[rg.Index] = band
	}
	if len(out) == 0 {
		return nil, drift(sourceAdvisor, "ranges", "the bands", "none")
	}
	return out, nil
}

// advise takes the signals of one region.
func (r *run) advise(region, url string, data *advisorData, bands map[int]int64) {
	scope := gputide.Scope{Partition: partitionOf(region), Region: region, Market: gputide.Spot}
	systems := data.Regions[region]
	for _, system := range slices.Sorted(maps.Keys(systems)) {
		os := advisorSystems()[system]
		if os == "" {
			os = strings.ToLower(system)
		}
		for _, typ := range slices.Sorted(maps.Keys(systems[system])) {
			v := systems[system][typ]
			key := gputide.Key{Partition: scope.Partition, Region: region, InstanceType: typ, Market: gputide.Spot, OS: os}
			band, known := int64(0), false
			if v.Band != nil {
				band, known = bands[*v.Band]
			}
			if known {
				r.b.Signal(gputide.Signal{Source: sourceAdvisor, Key: key, Name: gputide.SignalInterruption, Value: band})
			} else {
				r.skipSignal(scope, gputide.SignalInterruption, typ)
			}
			if v.Savings != nil && *v.Savings <= 100 && *v.Savings > -maxExcess {
				r.b.Signal(gputide.Signal{Source: sourceAdvisor, Key: key, Name: gputide.SignalSavings, Value: *v.Savings})
			} else {
				r.skipSignal(scope, gputide.SignalSavings, typ)
			}
		}
	}
	for _, name := range advisorSignals() {
		scope.Signal = name
		r.b.Done(sourceAdvisor, scope, url)
	}
}

func (r *run) skipSignal(scope gputide.Scope, name, typ string) {
	scope.Signal = name
	r.b.SkipUnknown(sourceAdvisor, scope, "bad_row", typ)
}
