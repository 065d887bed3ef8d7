package scaleway

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// maxCards bounds the cards of one instance: a larger number is a misread field.
const maxCards = 64

// serverType is an instance type of the instances API.
type serverType struct {
	Arch string   `json:"arch"`
	CPUs *float64 `json:"ncpus"`
	RAM  *float64 `json:"ram"` // bytes
	GPU  *uint32  `json:"gpu"`
	Card *struct {
		Manufacturer string   `json:"gpu_manufacturer"`
		Name         string   `json:"gpu_name"`
		Memory       *float64 `json:"gpu_memory"` // bytes, of one card
	} `json:"gpu_info"`
	Network struct {
		Internal *float64 `json:"sum_internal_bandwidth"` // bit/s
	} `json:"network"`
	EndOfService *bool `json:"end_of_service"`
}

// types reads the instance types of one zone by name.
func (p *Provider) types(ctx context.Context, b *gputide.Batch, z zone) (map[string]*gputide.Spec, error) {
	rows, _, err := p.servers(ctx, sourceTypes, typesURL, z)
	if err != nil {
		return nil, err
	}
	specs := make(map[string]*gputide.Spec, len(rows))
	bad := int64(0)
	for name, raw := range rows {
		var t serverType
		if err := json.Unmarshal(raw, &t); err != nil || t.GPU == nil || *t.GPU > maxCards || t.EndOfService == nil || (*t.GPU > 0 && t.Card == nil) {
			bad++
			continue
		}
		specs[name] = t.spec(name)
	}
	if len(specs) == 0 {
		return nil, drift(sourceTypes, "$.servers.*", "types of the known form", fmt.Sprintf("none of %d", len(rows)))
	}
	b.Omit(sourceTypes, "bad_row", bad)
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		b.Spec(*specs[name])
	}
	return specs, nil
}

func (t *serverType) spec(name string) *gputide.Spec {
	s := &gputide.Spec{
		Source: sourceTypes, InstanceType: name, VCPU: t.CPUs, CPUArch: t.Arch, MemoryGiB: gib(t.RAM),
		OnDemand: new(!*t.EndOfService),
	}
	if bits := t.Network.Internal; bits != nil && *bits > 0 {
		s.NetworkGbps = new(*bits / 1e9)
	}
	if *t.GPU > 0 {
		s.Device = gputide.Device{
			Name: t.Card.Name, Other: []string{name}, Vendor: t.Card.Manufacturer, Kind: gputide.DeviceGPU,
			Count: gputide.NewCount(*t.GPU, 1), MemoryGB: gib(t.Card.Memory), Share: gputide.ShareWhole,
		}
	}
	return s
}

// stock reads how many instances of each type a zone has, in words.
func (p *Provider) stock(ctx context.Context, b *gputide.Batch, z zone) ([]string, error) {
	rows, urls, err := p.servers(ctx, sourceStock, stockURL, z)
	if err != nil {
		return nil, err
	}
	levels := make(map[string]int64, len(rows))
	for name, raw := range rows {
		var row struct {
			Availability string `json:"availability"`
		}
		if err := json.Unmarshal(raw, &row); err != nil {
			continue // it has no level
		}
		if level, ok := levelOf(row.Availability); ok {
			levels[name] = level
		}
	}
	if len(levels) == 0 {
		return nil, drift(sourceStock, "$.servers.*.availability", "a known word", fmt.Sprintf("none of %d", len(rows)))
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		level, ok := levels[name]
		if !ok {
			b.SkipUnknown(sourceStock, gputide.Scope{Part: z.name, Signal: gputide.SignalAvailability}, "bad_stock", name)
			continue
		}
		b.Signal(gputide.Signal{
			Source: sourceStock, Part: z.name, Name: gputide.SignalAvailability, Value: level,
			Key: gputide.Key{Region: z.region, Zone: z.name, InstanceType: name, Market: gputide.OnDemand},
		})
	}
	return urls, nil
}

func levelOf(word string) (level int64, ok bool) {
	switch word {
	case "available":
		return gputide.AvailabilityYes, true
	case "scarce":
		return gputide.AvailabilityLow, true
	case "shortage":
		return gputide.AvailabilityNone, true
	}
	return 0, false
}

// servers reads a list of the instances API, whose rows stand under their names.
func (p *Provider) servers(ctx context.Context, source, pattern string, z zone) (rows map[string]json.RawMessage, urls []string, err error) {
	rows = make(map[string]json.RawMessage)
	urls, err = p.pages(ctx, source, pattern, z, func(resp *fetch.Response) (int, int, error) {
		var page struct {
			Servers map[string]json.RawMessage `json:"servers"`
		}
		if err := decode(source, resp, &page); err != nil {
			return 0, 0, err
		}
		total, err := announced(source, resp)
		if err != nil {
			return 0, 0, err
		}
		if page.Servers == nil {
			return 0, 0, drift(source, "$.servers", "an object", "none")
		}
		before := len(rows)
		maps.Copy(rows, page.Servers)
		if len(rows) != before+len(page.Servers) {
			return 0, 0, drift(source, "$.servers", "types that no page before has", "one twice")
		}
		return len(page.Servers), total, nil
	})
	return rows, urls, err
}
