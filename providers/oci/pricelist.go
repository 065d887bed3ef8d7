package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	metricGPU = "GPU Per Hour"

	// categoryGPU begins the category of GPU parts of the public cloud; others
	// are of Compute Cloud@Customer.
	categoryGPU = "Compute - GPU"
)

// list reads the GPU shapes of the table with the prices of the price list API.
func (r *run) list(ctx context.Context) ([]string, error) {
	var rows []product
	readable, priced, last := 0, 0, "no GPU part"
	url, err := r.items(ctx, sourceList, listURL, func(raw json.RawMessage) error {
		var p product
		if err := json.Unmarshal(raw, &p); err != nil || p.PartNumber == "" {
			last = "no part number"
			p = product{}
		} else {
			readable++
		}
		if p.MetricName == metricGPU {
			if _, why := p.amount(); why == "" {
				priced++
			} else {
				last = why
			}
		}
		rows = append(rows, p)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case readable == 0 || priced == 0:
		return nil, drift(sourceList, "$.items[]", "parts with metric "+metricGPU+" and a price in "+currency,
			fmt.Sprintf("none of %d: %s", len(rows), last))
	}
	seen := make(map[string]unitPrice)
	for i := range rows {
		r.addPart(&rows[i], seen)
	}
	return []string{url}, nil
}

// addPart adds the offers of the shapes that are billed by one part.
func (r *run) addPart(p *product, seen map[string]unitPrice) {
	shapes := r.table.byPart[p.PartNumber]
	if len(shapes) == 0 {
		r.leaveOut(p)
		return
	}
	var u unitPrice
	if u.amount, u.reason = p.amount(); u.reason == "" && p.MetricName != metricGPU {
		u = unitPrice{reason: "not_per_gpu_hour"}
	}
	if old, twice := seen[p.PartNumber]; twice && old == u {
		r.b.Omit(sourceList, "twin", 1)
		return
	}
	seen[p.PartNumber] = u
	for _, k := range shapes {
		if u.reason != "" {
			r.skip(sourceList, k.shape, &k.preemptible, u.reason, p.PartNumber)
			continue
		}
		r.addGPU(sourceList, k.shape, &k.preemptible, u.amount, k.part, k.spec())
	}
}

// leaveOut counts a part that no shape of the table is billed by. A new GPU part
// may be that of any shape.
func (r *run) leaveOut(p *product) {
	switch {
	case p.PartNumber == "" || p.MetricName == "":
		r.skipUnknown(sourceList, "bad_row", p.PartNumber)
	case p.MetricName != metricGPU:
		r.b.Omit(sourceList, "other_product", 1)
	case !strings.HasPrefix(p.ServiceCategory, categoryGPU):
		r.b.Omit(sourceList, "cloud_at_customer", 1)
	case shapeless(p.PartNumber):
		r.b.Omit(sourceList, "no_public_shape", 1)
	default:
		r.skipUnknown(sourceList, "unknown_part", p.PartNumber)
	}
}
