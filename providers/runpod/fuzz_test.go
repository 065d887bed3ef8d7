package runpod

import (
	"encoding/json"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// FuzzRows proves that no row makes a price that is none, or too many offers.
func FuzzRows(f *testing.F) {
	f.Add([]byte(`{"id":"X","secureCloud":true,"securePrice":1e-9,"secureSpotPrice":"1","maxGpuCount":8,"lp1s":{"stockStatus":"Low"}}`))
	f.Add([]byte(`{"id":"A","listed":true,"gpuAvailability":[{"gpuTypeId":"X","available":true,"stockStatus":null}]}`))
	f.Add([]byte(`{"id":null,"maxGpuCount":-1,"communityCloud":true,"maxGpuCountCommunityCloud":1e9}`))
	f.Fuzz(func(t *testing.T, row []byte) {
		c := new(providertest.Collector)
		b := gputide.NewBatch("runpod", providertest.Moment(), c)
		addType(b, row)
		_ = addDataCenters(b, []json.RawMessage{row})
		if most := 4 * maxCount; len(c.Offers) > most {
			t.Errorf("%d offers of one row", len(c.Offers))
		}
		for _, o := range c.Offers {
			if v, err := gputide.ParseAmount(o.Price.Amount); err != nil || v.Sign() <= 0 || o.Key.InstanceType == "" {
				t.Errorf("price %q of %q", o.Price.Amount, o.Key.Canonical())
			}
		}
		for _, s := range c.Signals {
			if gputide.SignalLabel(s.Name, s.Value) == "" {
				t.Errorf("signal %s %d", s.Name, s.Value)
			}
		}
	})
}
