package runpod

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gputide/gputide"
)

// required lists the fields of a GPU type without which nothing is concluded.
func required() []string {
	return []string{
		"id", "displayName", "memoryInGb", "secureCloud", "communityCloud", "maxGpuCount",
		"securePrice", "communityPrice", "secureSpotPrice", "communitySpotPrice",
	}
}

// lost returns drift when a required field is in no row at all.
func lost(rows []json.RawMessage) error {
	seen := make(map[string]bool)
	for _, row := range rows {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(row, &fields) // what is no object has no fields
		for name := range fields {
			seen[name] = true
		}
	}
	for _, name := range required() {
		if !seen[name] {
			return drift("data.gpuTypes[]."+name, "it in some row", fmt.Sprintf("none of %d rows", len(rows)))
		}
	}
	return nil
}

// addType adds what one row says: per cloud, count and market one offer. It
// reports whether the row has the known form.
func addType(b *gputide.Batch, row json.RawMessage) bool {
	var t gpuType
	if err := json.Unmarshal(row, &t); err != nil || t.ID == "" {
		skip(b, "bad_row", string(row))
		return false
	}
	var specs []*gputide.Spec // by count; both clouds share them
	for _, c := range [...]struct {
		tier    string
		offered *bool // it decides: a price beside false is a stale one
		most    *int
		prices  [2]json.RawMessage // in the order of info().Markets
	}{
		{secure, t.SecureCloud, t.MaxSecure, [2]json.RawMessage{t.SecurePrice, t.SecureSpotPrice}},
		{community, t.CommunityCloud, t.MaxCommunity, [2]json.RawMessage{t.CommunityPrice, t.CommunitySpotPrice}},
	} {
		if c.most == nil {
			c.most = t.MaxGpuCount
		}
		switch {
		case c.offered == nil:
			skip(b, "no_cloud_flag", t.ID)
		case !*c.offered:
			b.Omit(source, "not_offered", int64(len(c.prices)))
		case c.most == nil || *c.most < 1 || *c.most > maxCount:
			skip(b, "bad_count", t.ID)
		default:
			if c.tier == secure {
				addPodStock(b, t.ID, *c.most, row)
			}
			for n := 1; n <= *c.most; n++ {
				if len(specs) < n {
					specs = append(specs, t.spec(n))
				}
				for i, m := range info().Markets {
					addOffer(b, specs[n-1], m, c.tier, string(c.prices[i]))
				}
			}
		}
	}
	return true
}

func addOffer(b *gputide.Batch, spec *gputide.Spec, m gputide.Market, tier, price string) {
	key := gputide.Key{
		InstanceType: spec.InstanceType, Market: m, Tier: tier, Stat: gputide.StatList, Currency: "USD",
	}
	if r, err := gputide.ParseAmount(price); err != nil || r.Sign() <= 0 {
		b.Skip(source, key, "no_price", price)
		return
	}
	b.Add(gputide.RawOffer{
		Source: source, Key: key, Spec: spec,
		Price: gputide.Published{Amount: price, Unit: gputide.PerHour, Basis: gputide.BasisAccelerator},
	})
}

// skip counts a row that does not say which offers it stands for.
func skip(b *gputide.Batch, reason, detail string) {
	for _, m := range info().Markets {
		b.SkipUnknown(source, gputide.Scope{Market: m}, reason, detail)
	}
}

// spec describes n cards: of the machine around them nothing is published.
func (t *gpuType) spec(n int) *gputide.Spec {
	d := gputide.Device{
		Name: t.ID, Kind: gputide.DeviceGPU, Count: gputide.NewCount(uint32(n), 1), MemoryGB: t.MemoryInGb,
	}
	if t.DisplayName != "" { // it says the form factor, which the id may lack
		d.Other = []string{t.DisplayName}
	}
	if strings.Contains(t.ID, " MIG ") { // "… MIG 1g.24gb": the count is of slices, the memory of one slice
		d.Share = gputide.ShareMIG
	}
	return &gputide.Spec{Source: source, InstanceType: instanceType(t.ID, n), Device: d}
}

func instanceType(id string, n int) string { return fmt.Sprintf("%s×%d", id, n) }
